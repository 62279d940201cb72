//! Missing context: what is known not to be there.

use contexture_core::Timestamp;
use serde_json::{Map, Value};

use super::{MissingContextId, MissingStatus, RecordReference, Severity, object::object};

object! {
    /// A gap that is known.
    MissingContext {
        required {
            /// The version of the standard.
            schema_version: String,
            /// Its id.
            missing_id: MissingContextId,
            /// What it is for; the standard leaves the word open here.
            scope: String,
            /// What is not known.
            question: String,
            /// How much that matters.
            severity: Severity,
            /// What became of it.
            status: MissingStatus,
            /// When it was noticed.
            created_at: Timestamp,
        }
        optional {
            /// What it is needed for.
            needed_for: String,
            /// Who was asked.
            requested_from: RecordReference,
        }
        lists {
            /// Where it may be.
            candidate_sources: Map<String, Value>,
            /// What cannot be done without it.
            blocked_actions: String,
            /// What answered it.
            resolution_refs: RecordReference,
        }
    }
}
