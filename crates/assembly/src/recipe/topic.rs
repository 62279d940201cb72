//! Messages of a topic: which of them a source takes.

use contexture_core::{Timestamp, vocabulary};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::SourceInput;
use crate::{
    candidate::Priority,
    mistake::MistakeKind,
    reader::{Fields, Reader, line, positive, text, word},
};

vocabulary! {
    /// Which end of the messages is taken.
    TopicEnd {
        /// The newest ones, in their order.
        Latest = "latest",
        /// The oldest ones.
        Oldest = "oldest",
        /// All, from the oldest on.
        All = "all",
    }
}

/// From where on messages count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Since {
    /// A moment of the work that is known by name.
    Mark(TopicMark),
    /// A time.
    Time(Timestamp),
}

vocabulary! {
    /// A moment of the work that is known by name.
    TopicMark {
        /// The beginning of the channel.
        ClusterStart = "cluster_start",
        /// When the agent's last task ended; the beginning if none did.
        LastTaskEnd = "last_task_end",
        /// When the agent last started; the beginning if it never did.
        LastAgentStart = "last_agent_start",
    }
}

vocabulary! {
    /// What happens when a required topic has no message.
    IfMissing {
        /// It is noted as missing context.
        Note = "note",
        /// Nothing is assembled.
        Fail = "fail",
    }
}

impl IfMissing {
    /// Tells whether it is what happens where nobody says.
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature is serde's")]
    pub(super) fn is_usual(&self) -> bool {
        *self == Self::Note
    }
}

/// What the fields are called that are not called the same everywhere.
#[derive(Debug, Clone, Copy)]
pub(super) struct Spelling {
    pub(super) compact_amount: &'static str,
    pub(super) compact_strategy: &'static str,
    /// What happens when there is no message; only recipes say it.
    pub(super) if_missing: Option<&'static str>,
    /// Another name of `amount`.
    pub(super) limit: Option<&'static str>,
}

/// How recipes spell it.
pub(super) const OWN: Spelling = Spelling {
    compact_amount: "compact_amount",
    compact_strategy: "compact_strategy",
    if_missing: Some("if_missing"),
    limit: None,
};

/// Reads which messages a source takes; nothing where it does not say that well, so that nothing follows from it.
pub(super) fn read(reader: &mut Reader, fields: &mut Fields, spelling: Spelling) -> Option<SourceInput> {
    let mistakes_before = reader.count();
    let topic = reader.required(fields, "topic", line);
    let sender = reader.optional(fields, "sender", line);
    let since = reader.optional(fields, "since", since);
    let strategy = reader.optional(fields, "strategy", word::<TopicEnd>);
    let amount = reader.optional(fields, "amount", positive);
    let limit = spelling.limit.and_then(|name| reader.optional(fields, name, positive));
    let compact_strategy = reader.optional(fields, spelling.compact_strategy, word::<TopicEnd>);
    let compact_amount = reader.optional(fields, spelling.compact_amount, positive);
    let if_missing = spelling.if_missing.and_then(|name| reader.optional(fields, name, word::<IfMissing>));

    let amount = amount.or(limit);
    let strategy = strategy.unwrap_or(if amount.is_some() { TopicEnd::Latest } else { TopicEnd::All });
    let compact_strategy = compact_strategy.unwrap_or(match strategy {
        TopicEnd::Latest | TopicEnd::All => TopicEnd::Latest,
        TopicEnd::Oldest => TopicEnd::Oldest,
    });
    let compact_amount = compact_amount.unwrap_or(1);
    let topic = topic.filter(|_| reader.count() == mistakes_before)?;
    let if_missing = if_missing.unwrap_or(IfMissing::Note);
    Some(SourceInput::Topic { topic, sender, since, strategy, amount, compact_strategy, compact_amount, if_missing })
}

/// Returns how much the messages of a topic matter where nobody says.
pub(super) fn priority(topic: &str) -> Priority {
    match topic {
        "STATE_SNAPSHOT" | "ISSUE_OPENED" | "PLAN_READY" => Priority::Required,
        "VALIDATION_RESULT" | "IMPLEMENTATION_READY" => Priority::High,
        _ => Priority::Medium,
    }
}

/// Which messages a source takes when there is room.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct Messages<'s> {
    topic: &'s str,
    sender: Option<&'s str>,
    since: Option<Since>,
    strategy: TopicEnd,
    amount: Option<u64>,
}

/// Returns which messages a source takes, if it takes any.
pub(super) fn messages(input: &SourceInput) -> Option<Messages<'_>> {
    match input {
        SourceInput::Topic { topic, sender, since, strategy, amount, .. } => {
            Some(Messages { topic, sender: sender.as_deref(), since: *since, strategy: *strategy, amount: *amount })
        }
        SourceInput::System { .. }
        | SourceInput::Instructions { .. }
        | SourceInput::Text { .. }
        | SourceInput::History { .. }
        | SourceInput::Files { .. }
        | SourceInput::Retrieval { .. }
        | SourceInput::Missing
        | SourceInput::Items
        | SourceInput::Channel { .. }
        | SourceInput::SkipHints
        | SourceInput::Trigger => None,
    }
}

/// Reads a mark, a time, or milliseconds since 1970.
fn since(value: Value) -> Result<Since, MistakeKind> {
    if let Value::Number(_) = value {
        let micros = value.as_i64().and_then(|millis| millis.checked_mul(1000));
        let time = micros.and_then(Timestamp::from_micros);
        return time
            .map(Since::Time)
            .ok_or_else(|| MistakeKind::mistyped("a mark, a time or milliseconds since 1970", value));
    }
    let text = text(value)?;
    if let Ok(mark) = text.parse() {
        return Ok(Since::Mark(mark));
    }
    // What begins with a digit was meant to be a time.
    let time = text.parse();
    if text.starts_with(|c: char| c.is_ascii_digit()) {
        return Ok(Since::Time(time?));
    }
    let marks = TopicMark::ALL.iter().map(|mark| mark.as_str());
    time.map(Since::Time)
        .map_err(|_| MistakeKind::word_of(text, marks.chain(["a time such as 2026-11-15T20:10:00Z"]).collect()))
}
