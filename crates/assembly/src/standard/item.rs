//! Items: the units of context.

use contexture_core::Timestamp;
use serde_json::{Number, Value};

use super::{Audience, ContentMode, ContextKind, ItemId, RecordReference, RedactionState, object::object};

object! {
    /// A unit of context, in the record or elsewhere.
    ContextItem {
        required {
            /// The version of the standard.
            schema_version: String,
            /// Its id.
            item_id: ItemId,
            /// What it is.
            context_kind: ContextKind,
            /// How it carries its content.
            content_mode: ContentMode,
            /// Who may see it.
            visibility: Vec<Audience>,
        }
        optional {
            /// What people call it.
            title: String,
            /// The content, where it is in the record.
            content: Value,
            /// The content, where it is elsewhere.
            content_ref: RecordReference,
            /// The media type of the content.
            mime_type: String,
            /// The language of the content.
            language: String,
            /// About how many tokens it has.
            token_estimate: u64,
            /// How many bytes it has.
            byte_size: u64,
            /// How new it is.
            freshness: RecordReference,
            /// How far it can be trusted; the standard leaves the words open.
            trust_level: String,
            /// How sensitive it is; the standard leaves the words open.
            sensitivity: String,
            /// What was done to what may not be seen.
            redaction_state: RedactionState,
            /// How much it matters.
            priority: Number,
            /// When it was made.
            created_at: Timestamp,
        }
        lists {
            /// Where it comes from.
            source_refs: RecordReference,
        }
    }
}
