//! The turns of agents.

use std::{str::FromStr, time::Duration};

use clap::{Args, Subcommand};
use contexture::{
    Contexture, MessageReference, NewTurn,
    core::{
        AgentTurn, MessageSequence, ParticipantKey, RuntimeName, RuntimeSessionId, SummaryText, TurnEnding, TurnPlace,
        TurnPrefix, TurnState,
    },
};

use super::{Names, read};
use crate::{
    commands::envelope,
    error::Result,
    output::{Output, Shape},
    values::{self, EnvelopeName},
};

/// Messages that are read at once.
const PER_PAGE: u32 = 200;

const EXAMPLES: &str = "\
Examples:
  turn=$(ctx channel turn begin release --agent dev --json | jq -r 'select(.number).id')
  ctx channel turn finish $turn --ack
  ctx channel turn finish $turn --fail 'the model did not answer'";

/// Begins and ends the turns of agents
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Turn {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Begins a turn and shows what is new to the agent, the message to answer last
    Begin(Box<Begin>),
    /// Notes which envelope a model was really sent
    Injected {
        /// The turn's id
        #[arg(value_name = "TURN")]
        turn: TurnPrefix,
        /// The envelope: its id, or `last`
        #[arg(value_name = "ENV")]
        envelope: EnvelopeName,
    },
    /// Ends a turn; to end it once more in the same way changes nothing
    Finish(Finish),
    /// Shows a turn
    Show {
        /// The turn's id
        #[arg(value_name = "TURN")]
        turn: TurnPrefix,
    },
}

#[derive(Debug, Args)]
struct Begin {
    /// The channel's name or id
    #[arg(value_name = "CHANNEL")]
    channel: String,
    /// Whose turn
    #[arg(long, value_name = "WHO")]
    agent: ParticipantKey,
    /// The message to answer, by place or id [default: the last that is new and for the agent]
    #[arg(long, value_name = "MESSAGE")]
    trigger: Option<MessageReference>,
    /// The runtime in which it runs, such as `claude-code`
    #[arg(long = "in", value_name = "RUNTIME", requires = "directory")]
    runtime: Option<RuntimeName>,
    /// The directory in which it runs
    #[arg(long, value_name = "DIR", requires = "runtime", value_parser = values::text)]
    directory: Option<SummaryText>,
    /// The session that is gone on with, which must be the one that is bound there
    #[arg(long, value_name = "SESSION", requires = "runtime")]
    session: Option<RuntimeSessionId>,
    /// After how long the turn counts as given up, such as `90s`, `30m` or `2h`
    #[arg(long = "for", value_name = "TIME", default_value = "1h")]
    lifetime: Span,
    /// How long to wait while the agent is in another turn
    #[arg(long, value_name = "TIME", default_value = "0s", hide_default_value = true)]
    wait: Span,
}

#[derive(Debug, Args)]
struct Finish {
    /// The turn's id
    #[arg(value_name = "TURN")]
    turn: TurnPrefix,
    /// All that was offered is done with, or all up to `--through`
    #[arg(long, required_unless_present = "fail", conflicts_with = "fail")]
    ack: bool,
    /// The last message that is done with
    #[arg(long, value_name = "SEQUENCE", requires = "ack")]
    through: Option<MessageSequence>,
    /// Nothing came of it, for this reason; it is offered again
    #[arg(long, value_name = "REASON", value_parser = values::text)]
    fail: Option<SummaryText>,
}

/// A time as people write it: a number of seconds, minutes, hours or days.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Span(Duration);

/// Says that a text is no such time.
#[derive(Debug, thiserror::Error)]
#[error("write a number and a unit: 90s, 30m, 2h or 1d")]
struct SpanError;

impl FromStr for Span {
    type Err = SpanError;

    fn from_str(text: &str) -> Result<Self, SpanError> {
        let (number, unit) = text.split_at(text.len().saturating_sub(1));
        let number: u64 = number.parse().map_err(|_| SpanError)?;
        let seconds = match unit {
            "s" => 1,
            "m" => 60,
            "h" => 3600,
            "d" => 86400,
            _ => return Err(SpanError),
        };
        number.checked_mul(seconds).map(|seconds| Self(Duration::from_secs(seconds))).ok_or(SpanError)
    }
}

impl Turn {
    pub(super) async fn run(self, engine: &Contexture, output: &mut Output) -> Result<()> {
        match self.action {
            Action::Begin(begin) => begin.run(engine, output).await,
            Action::Injected { turn, envelope } => {
                let envelope = envelope::find(engine, &envelope).await?;
                let turn = engine.note_injected_turn(engine.find_turn(&turn).await?, envelope).await?;
                tell(turn, output)
            }
            Action::Finish(Finish { turn, ack: _, through, fail }) => {
                let ending = match fail {
                    Some(reason) => TurnEnding::Fail { reason },
                    None => TurnEnding::Acknowledge { through },
                };
                let turn = engine.finish_turn(engine.find_turn(&turn).await?, ending).await?;
                tell(turn, output)
            }
            Action::Show { turn } => {
                let turn = engine.turn(engine.find_turn(&turn).await?).await?;
                if output.shape() == Shape::Json { output.document(turn) } else { describe(&turn, output) }
            }
        }
    }
}

impl Begin {
    async fn run(self, engine: &Contexture, output: &mut Output) -> Result<()> {
        let Self { channel, agent, trigger, runtime, directory, session, lifetime, wait } = self;
        let names = Names::find(engine, &channel).await?;
        let place = runtime.zip(directory).map(|(runtime, directory)| TurnPlace { runtime, directory });
        let (channel, agent) = (names.channel.id, names.key(&agent));
        let new = NewTurn { channel, agent, trigger, place, session, lifetime: lifetime.0 };
        let begun = engine.begin_turn_within(new, wait.0).await?;
        let turn = begun.turn;
        if output.shape() == Shape::Json {
            output.document(&turn)?;
        } else {
            describe(&turn, output)?;
        }
        let (handle, mut after) = (engine.channel(channel), None);
        loop {
            let page = handle.offered(&turn, after, PER_PAGE).await?;
            after = page.messages.last().map(|last| last.record.sequence);
            let has_more = page.has_more && after.is_some();
            read::show(engine, &names, page.messages, output).await?;
            if !has_more {
                break;
            }
        }
        let trigger = handle.message(&MessageReference::Place(turn.trigger)).await?;
        read::show(engine, &names, vec![trigger], output).await
    }
}

pub(super) async fn rewind(
    engine: &Contexture,
    channel: &str,
    agent: &ParticipantKey,
    to: Option<MessageSequence>,
    reason: &SummaryText,
    output: &mut Output,
) -> Result<()> {
    let names = Names::find(engine, channel).await?;
    let cursor = engine.channel(names.channel.id).rewind(names.key(agent), to, reason).await?;
    if output.shape() == Shape::Json {
        return output.document(cursor);
    }
    let next = MessageSequence::number(to) + 1;
    output.status(format_args!("{} is offered message {next} and all that follow again.", names.shown(&cursor.agent)));
    Ok(())
}

fn tell(turn: AgentTurn, output: &mut Output) -> Result<()> {
    if output.shape() == Shape::Json {
        return output.document(turn);
    }
    let (id, agent) = (turn.id.short(), &turn.agent);
    match &turn.state {
        TurnState::Open => output.status(format_args!("Turn {id} of {agent} goes on.")),
        TurnState::Acknowledged { through, .. } => {
            output.status(format_args!("Turn {id} is over: {agent} is done with all through message {through}."));
        }
        TurnState::Failed { .. } | TurnState::Expired { .. } => {
            output.status(format_args!("Turn {id} is over: what {agent} was offered will be offered again."));
        }
    }
    Ok(())
}

fn describe(turn: &AgentTurn, output: &mut Output) -> Result<()> {
    let AgentTurn { id, agent, number, trigger, through, delivery, state, .. } = turn;
    output.line(format_args!("turn      {id}"))?;
    output.line(format_args!("agent     {agent}, turn {}", number.get()))?;
    let from = MessageSequence::number(turn.after) + 1;
    output.line(format_args!("offered   messages {from} to {through}, to answer {trigger}"))?;
    if delivery.get() > 1 {
        output.line(format_args!("delivery  {}: earlier turns did not end well", delivery.get()))?;
    }
    if let Some(session) = &turn.session {
        output.line(format_args!("session   {session}"))?;
    }
    output.line(format_args!("state     {state}"))
}
