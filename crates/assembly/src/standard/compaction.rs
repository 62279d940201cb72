//! Compactions and summaries: what was replaced by something shorter, and by what.

use contexture_core::Timestamp;
use serde_json::{Map, Value};

use super::{CompactionId, CompactionMethod, CompactionTrigger, Reference, SummaryId, object::object};

object! {
    /// The replacement of context by something shorter.
    Compaction {
        required {
            /// The version of the standard.
            schema_version: String,
            /// Its id.
            compaction_id: CompactionId,
            /// What it is for; the standard leaves the word open here.
            scope: String,
            /// What was replaced.
            source_item_refs: Vec<Reference>,
            /// How.
            method: CompactionMethod,
            /// When.
            created_at: Timestamp,
        }
        optional {
            /// By what.
            summary_ref: Reference,
            /// Why.
            trigger: CompactionTrigger,
            /// How much of it is told.
            coverage: Map<String, Value>,
            /// Who looked at it.
            validation: Reference,
            /// For how long it holds.
            replacement_policy: String,
        }
        lists {
            /// What was lost.
            loss_notes: String,
        }
    }
}

object! {
    /// What stands for longer context.
    Summary {
        required {
            /// The version of the standard.
            schema_version: String,
            /// Its id.
            summary_id: SummaryId,
            /// What it says.
            content: Value,
        }
        optional {
            /// What kind it is; the standard leaves the words open.
            summary_kind: String,
            /// How much of it is told.
            coverage: Map<String, Value>,
            /// How new it is.
            freshness: Reference,
            /// Who looked at it.
            validation: Reference,
            /// When it is to be made anew.
            refresh_policy: Reference,
        }
        lists {
            /// What it stands for.
            source_item_refs: Reference,
            /// What was lost.
            loss_notes: String,
            /// What is still to be answered.
            open_questions: String,
        }
    }
}
