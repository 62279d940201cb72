//! Events: what happened to context.

use std::{borrow::Cow, fmt, str::FromStr};

use contexture_core::{EventKind, Timestamp, UnknownWord};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{ContextEnvelopeId, EventId, RecordReference, object::object};

object! {
    /// Something that happened to context, with the runtime's own ids.
    ContextEvent {
        required {
            /// The version of the standard.
            schema_version: String,
            /// Its id.
            event_id: EventId,
            /// What happened.
            event_type: EventType,
            /// Where.
            source: String,
            /// When.
            time: Timestamp,
        }
        optional {
            /// To what.
            subject: String,
            /// In which envelope.
            context_id: ContextEnvelopeId,
            /// The runtime.
            runtime_id: String,
            /// The session.
            session_id: String,
            /// The thread.
            thread_id: String,
            /// The turn.
            turn_id: String,
            /// The task.
            task_id: String,
            /// The run.
            run_id: String,
            /// The attempt.
            attempt_id: String,
            /// The step.
            step_id: String,
            /// The call of a tool.
            tool_call_id: String,
            /// The action.
            action_id: String,
            /// The evidence.
            evidence_id: String,
            /// What belongs to it.
            data: Map<String, Value>,
        }
        lists {
            /// What was decided elsewhere.
            policy_refs: RecordReference,
            /// What proves it.
            evidence_refs: RecordReference,
            /// What was measured.
            telemetry_refs: RecordReference,
        }
    }
}

/// A kind of event that the standard has a word for, which it has not for failures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "EventKind", into = "EventKind")]
pub struct EventType(EventKind);

/// Says that the standard has no word for a kind of event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("unknown variant `{0}`, expected one of the standard's")]
pub struct NoEventType(EventKind);

impl EventType {
    /// Returns every type, in the standard's order.
    pub fn all() -> impl Iterator<Item = Self> {
        EventKind::ALL.iter().filter_map(|kind| Self::try_from(*kind).ok())
    }

    /// Returns the word.
    pub const fn as_str(self) -> &'static str {
        self.0.as_str()
    }
}

impl TryFrom<EventKind> for EventType {
    type Error = NoEventType;

    fn try_from(kind: EventKind) -> Result<Self, NoEventType> {
        if kind.is_failure() { Err(NoEventType(kind)) } else { Ok(Self(kind)) }
    }
}

impl From<EventType> for EventKind {
    fn from(EventType(kind): EventType) -> Self {
        kind
    }
}

impl fmt::Display for EventType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for EventType {
    type Err = UnknownWord;

    fn from_str(word: &str) -> Result<Self, UnknownWord> {
        Self::all()
            .find(|known| known.as_str() == word)
            .ok_or_else(|| UnknownWord::new(word, Self::all().map(Self::as_str)))
    }
}

impl JsonSchema for EventType {
    fn schema_name() -> Cow<'static, str> {
        "EventType".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "enum": Self::all().map(Self::as_str).collect::<Vec<_>>()})
    }
}
