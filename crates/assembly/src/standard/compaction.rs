//! Compactions and summaries: what was replaced by something shorter, and by what.

use contexture_core::Timestamp;
use serde_json::{Map, Value};

use super::{CompactionId, CompactionMethod, CompactionTrigger, RecordReference, SummaryId, object::object};

object! {
    /// The replacement of context by something shorter.
    ContextCompaction {
        required {
            /// The version of the standard.
            schema_version: String,
            /// Its id.
            compaction_id: CompactionId,
            /// What it is for; the standard leaves the word open here.
            scope: String,
            /// What was replaced.
            source_item_refs: Vec<RecordReference>,
            /// How.
            method: CompactionMethod,
            /// When.
            created_at: Timestamp,
        }
        optional {
            /// By what.
            summary_ref: RecordReference,
            /// Why.
            trigger: CompactionTrigger,
            /// How detailed it is.
            coverage: Map<String, Value>,
            /// Who looked at it.
            validation: RecordReference,
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
    ContextSummary {
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
            /// How detailed it is.
            coverage: Map<String, Value>,
            /// How new it is.
            freshness: RecordReference,
            /// Who looked at it.
            validation: RecordReference,
            /// When it is to be made anew.
            refresh_policy: RecordReference,
        }
        lists {
            /// What it stands for.
            source_item_refs: RecordReference,
            /// What was lost.
            loss_notes: String,
            /// What is still to be answered.
            open_questions: String,
        }
    }
}
