//! What an orchestrator is told: what the user wants, whom it sent where, and what they said when they were done.

use std::collections::{HashMap, HashSet};

use contexture_core::{ChannelMessage, MessageSequence, Participant, ParticipantKey, ParticipantKind, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::{COMPLETION_TOPIC, said};

/// The topic of a message by which an orchestrator sends agents to work: `agents`, and `phase` and `reason` where it gives
/// them, are in its data.
pub const ROUTING_TOPIC: &str = "ROUTING";

/// What an orchestrator is told.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct RoutingView {
    /// What a user said last, or else what the channel begins with.
    pub user_request: Option<String>,
    /// What all agents are done with, the oldest first.
    pub routing_history: Vec<RoutingStep>,
    /// What agents are still at; nothing where the orchestrator is to decide.
    pub current_routing: Option<RoutingStep>,
}

/// Agents that were sent to work.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct RoutingStep {
    /// The message by which they were sent.
    pub turn_id: String,
    /// The phase of the work.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
    /// The agents.
    pub agents: Vec<String>,
    /// What those said that are done.
    pub completions: Vec<AgentCompletion>,
    /// Why they were sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// When.
    pub timestamp: Timestamp,
}

/// What an agent said when it was done.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct AgentCompletion {
    /// The agent.
    pub agent: String,
    /// What it said.
    pub message: String,
    /// When.
    pub timestamp: Timestamp,
}

impl RoutingView {
    /// Makes what an orchestrator is told of the messages up to a place. Nothing is changed by looking.
    pub fn of(
        orchestrator: &Participant,
        participants: &[Participant],
        messages: &[ChannelMessage],
        through: MessageSequence,
    ) -> Self {
        let slugs: HashMap<&ParticipantKey, &str> =
            participants.iter().map(|participant| (&participant.key, participant.slug.as_str())).collect();
        let users: HashSet<&ParticipantKey> = participants
            .iter()
            .filter(|participant| participant.kind == ParticipantKind::User)
            .map(|participant| &participant.key)
            .collect();
        let seen = messages.iter().filter(|message| {
            let header = &message.record.header;
            message.record.sequence <= through && header.replay.is_replayable() && header.is_visible_to(orchestrator)
        });
        let (mut request, mut first) = (None, None);
        let mut steps: Vec<RoutingStep> = Vec::new();
        for message in seen {
            let header = &message.record.header;
            first = first.or_else(|| said::text(message));
            if users.contains(&header.sender) {
                request = message.text().map(str::to_owned).or(request);
            } else if header.topic.as_str() == ROUTING_TOPIC && header.sender == orchestrator.key {
                steps.extend(step(message));
            } else if header.topic.as_str() == COMPLETION_TOPIC
                && let Some(agent) = slugs.get(&header.sender)
            {
                complete(&mut steps, agent, message);
            }
        }
        let current = steps.iter().rposition(|step| !step.is_complete()).map(|index| steps.remove(index));
        Self { user_request: request.or(first), routing_history: steps, current_routing: current }
    }
}

impl RoutingStep {
    /// Tells whether every agent is done.
    pub fn is_complete(&self) -> bool {
        self.agents.iter().all(|agent| self.has_completed(agent))
    }

    fn has_completed(&self, agent: &str) -> bool {
        self.completions.iter().any(|completion| completion.agent == agent)
    }
}

fn step(message: &ChannelMessage) -> Option<RoutingStep> {
    let data = message.body.as_ref()?.data.as_ref()?;
    let text = |name: &str| data.get(name).and_then(Value::as_str).map(str::to_owned);
    let agents: Vec<String> =
        data.get("agents")?.as_array()?.iter().filter_map(Value::as_str).map(str::to_owned).collect();
    let phase = message.record.header.phase.as_ref().map(|phase| phase.as_str().to_owned()).or_else(|| text("phase"));
    (!agents.is_empty()).then(|| RoutingStep {
        turn_id: message.record.id.as_str().to_owned(),
        phase,
        agents,
        completions: Vec::new(),
        reason: text("reason"),
        timestamp: message.record.at,
    })
}

/// Counts a completion for the newest step that is not complete and has the agent; once for each.
fn complete(steps: &mut [RoutingStep], agent: &str, message: &ChannelMessage) {
    let is_at_it = |step: &&mut RoutingStep| !step.is_complete() && step.agents.iter().any(|known| known == agent);
    if let Some(step) = steps.iter_mut().rev().find(is_at_it).filter(|step| !step.has_completed(agent)) {
        step.completions.push(AgentCompletion {
            agent: agent.to_owned(),
            message: said::text(message).unwrap_or_default(),
            timestamp: message.record.at,
        });
    }
}
