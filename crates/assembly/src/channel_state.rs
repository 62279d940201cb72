//! The state of a channel: what its messages come to, folded topic by topic.
//!
//! A state knows the message that it is derived from, so whoever restarts folds what came after. What several report is
//! kept for each of them: one who approves never erases what another rejects. Everything in it has a bound, and what was
//! left out leaves a receipt.

mod bounded;
mod custom;
mod reported;
mod rules;
mod sections;
mod summary;

use std::collections::BTreeMap;

use contexture_core::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use bounded::{StateReceipt, StateReceipts};
pub use custom::{CustomState, ReducedValue};
pub use reported::{BySender, Reported};
pub use rules::{StateReducer, StateRules, TopicReducer};
pub use sections::{
    CheckedCriterion, CriterionEvidence, DebugState, PlanState, ProgressState, TaskState, ValidationState,
};

/// The topic that states are published under.
pub const STATE_TOPIC: &str = "STATE_SNAPSHOT";
/// Who publishes them.
pub const STATE_SENDER: &str = "state-snapshotter";
/// The topics that every state is folded from.
pub const STATE_TOPICS: [&str; 6] = [
    "ISSUE_OPENED",
    "PLAN_READY",
    "WORKER_PROGRESS",
    "IMPLEMENTATION_READY",
    "VALIDATION_RESULT",
    "INVESTIGATION_COMPLETE",
];

/// The version of what is published.
const VERSION: u32 = 1;

/// A message, as far as a state follows from it.
#[derive(Debug, Clone, Copy)]
pub struct StateEvent<'e> {
    /// Its place in the channel.
    pub sequence: u64,
    /// Its id.
    pub id: &'e str,
    /// Its topic.
    pub topic: &'e str,
    /// Who sent it.
    pub sender: &'e str,
    /// When.
    pub at: Timestamp,
    /// What it says.
    pub text: Option<&'e str>,
    /// What belongs to it.
    pub data: Option<&'e Value>,
    /// What is known about it.
    pub metadata: Option<&'e Value>,
}

/// What the messages of a channel come to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChannelSnapshot {
    /// The version of this form.
    pub version: u32,
    /// The channel.
    pub cluster_id: String,
    /// The message that changed it last.
    pub source_message_id: String,
    /// The place of that message: whoever goes on folds what comes after.
    pub source_sequence: u64,
    /// When that message was sent.
    pub updated_at: Timestamp,
    /// What is to be done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<Reported<TaskState>>,
    /// How.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<Reported<PlanState>>,
    /// How far each is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress: Option<BySender<ProgressState>>,
    /// What each validator found; together they approve only when all do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub validation: Option<BySender<ValidationState>>,
    /// What each investigation found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub debug: Option<BySender<DebugState>>,
    /// What other topics come to, by the names that the rules give them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub custom: BTreeMap<String, CustomState>,
}

/// Whether a message changed a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StateChange {
    /// It did, so the state is to be published.
    Changed,
    /// What it says is in the state already, or nothing follows from it.
    Same,
}

impl ChannelSnapshot {
    /// Returns the state of a channel without messages.
    pub fn empty(channel: impl Into<String>) -> Self {
        Self {
            version: VERSION,
            cluster_id: channel.into(),
            source_message_id: String::new(),
            source_sequence: 0,
            updated_at: Timestamp::from_micros(0).expect("1970 is a time"),
            task: None,
            plan: None,
            progress: None,
            validation: None,
            debug: None,
            custom: BTreeMap::new(),
        }
    }

    /// Reads a state that was published; nothing where it is none of this version.
    pub fn read(data: &Value) -> Option<Self> {
        let state = Self::deserialize(data).ok()?;
        (state.version == VERSION).then_some(state)
    }

    /// Folds a message into it. Messages up to the one that it is derived from change nothing.
    pub fn apply(&mut self, rules: &StateRules, event: &StateEvent<'_>) -> StateChange {
        if event.sequence <= self.source_sequence {
            return StateChange::Same;
        }
        let change = match event.topic {
            "ISSUE_OPENED" => reported::replace(&mut self.task, TaskState::of(event), event),
            "PLAN_READY" => reported::replace(&mut self.plan, PlanState::of(event), event),
            "WORKER_PROGRESS" | "IMPLEMENTATION_READY" => {
                reported::of_sender(&mut self.progress, ProgressState::of(event), event, |_, newest| newest.clone())
            }
            "VALIDATION_RESULT" => {
                reported::of_sender(&mut self.validation, ValidationState::of(event), event, |all, _| {
                    ValidationState::together(all)
                })
            }
            "INVESTIGATION_COMPLETE" => {
                reported::of_sender(&mut self.debug, DebugState::of(event), event, |_, newest| newest.clone())
            }
            _ => StateChange::Same,
        };
        let change = rules.reducers(event.topic).fold(change, |change, reducer| {
            match custom::apply(&mut self.custom, reducer, event) {
                StateChange::Changed => StateChange::Changed,
                StateChange::Same => change,
            }
        });
        if change == StateChange::Changed {
            event.id.clone_into(&mut self.source_message_id);
            self.source_sequence = event.sequence;
            self.updated_at = event.at;
        }
        change
    }

    /// Says it in a few lines.
    pub fn to_text(&self) -> String {
        summary::lines(self).join("\n")
    }

    /// Returns it as the data of a message.
    pub fn to_data(&self) -> Value {
        serde_json::to_value(self).expect("a state has text keys")
    }
}
