//! Events: what happened to context.

use contexture_core::Timestamp;
use serde_json::{Map, Value};

use super::{ContextEnvelopeId, EventId, EventType, RecordReference, object::object};

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
