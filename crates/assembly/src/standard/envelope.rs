//! Envelopes: one snapshot of context.

use contexture_core::Timestamp;

use super::{ContextEnvelopeId, ContextScope, Lifecycle, RecordReference, object::object};

object! {
    /// A snapshot of context for a turn, a task, a session, a call of a tool, a review or a handoff.
    ContextEnvelope {
        required {
            /// The version of the standard.
            schema_version: String,
            /// Its id.
            context_id: ContextEnvelopeId,
            /// What it is for.
            scope: ContextScope,
            /// How far it has come.
            lifecycle: Lifecycle,
            /// When it was made.
            created_at: Timestamp,
        }
        optional {
            /// What made it.
            producer: RecordReference,
            /// What was held to.
            budget_ref: RecordReference,
        }
        lists {
            /// Users, agents, models and services.
            actor_refs: RecordReference,
            /// Sessions, threads, turns and tasks.
            runtime_refs: RecordReference,
            /// What was available.
            surface_refs: RecordReference,
            /// What was selected or injected.
            item_refs: RecordReference,
            /// How it was selected.
            selection_refs: RecordReference,
            /// How it was put in order.
            assembly_refs: RecordReference,
            /// Where it became visible.
            injection_refs: RecordReference,
            /// What was replaced by something shorter.
            compaction_refs: RecordReference,
            /// What was missing.
            missing_context_refs: RecordReference,
            /// What was decided elsewhere.
            policy_refs: RecordReference,
            /// What proves it.
            evidence_refs: RecordReference,
            /// What was measured.
            telemetry_refs: RecordReference,
        }
    }
}
