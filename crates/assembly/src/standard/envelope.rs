//! Envelopes: one snapshot of context.

use contexture_core::Timestamp;

use super::{EnvelopeId, Lifecycle, Reference, Scope, object::object};

object! {
    /// A snapshot of context for a turn, a task, a session, a call of a tool, a review or a handoff.
    Envelope {
        required {
            /// The version of the standard.
            schema_version: String,
            /// Its id.
            context_id: EnvelopeId,
            /// What it is for.
            scope: Scope,
            /// How far it has come.
            lifecycle: Lifecycle,
            /// When it was made.
            created_at: Timestamp,
        }
        optional {
            /// What made it.
            producer: Reference,
            /// What was held to.
            budget_ref: Reference,
        }
        lists {
            /// Users, agents, models and services.
            actor_refs: Reference,
            /// Sessions, threads, turns and tasks.
            runtime_refs: Reference,
            /// What was available.
            surface_refs: Reference,
            /// What was selected or injected.
            item_refs: Reference,
            /// How it was selected.
            selection_refs: Reference,
            /// How it was put in order.
            assembly_refs: Reference,
            /// Where it became visible.
            injection_refs: Reference,
            /// What was replaced by something shorter.
            compaction_refs: Reference,
            /// What was missing.
            missing_context_refs: Reference,
            /// What was decided elsewhere.
            policy_refs: Reference,
            /// What proves it.
            evidence_refs: Reference,
            /// What was measured.
            telemetry_refs: Reference,
        }
    }
}
