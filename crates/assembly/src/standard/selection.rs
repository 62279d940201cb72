//! Selections: what was chosen from a surface, and what was not.

use std::collections::BTreeMap;

use contexture_core::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Number;

use super::{OmissionReason, RankingSignal, RecordReference, SelectionId, SurfaceId, object::object};

object! {
    /// What was considered, chosen and left out, and why.
    ContextSelection {
        required {
            /// The version of the standard.
            schema_version: String,
            /// Its id.
            selection_id: SelectionId,
            /// What was chosen from.
            surface_id: SurfaceId,
            /// When it was made.
            created_at: Timestamp,
        }
        optional {
            /// What was looked for.
            query: String,
            /// What for.
            intent: String,
            /// What spoke for or against each item, by its id.
            ranking_signals: BTreeMap<String, BTreeMap<RankingSignal, Number>>,
            /// By which rules.
            selection_policy: RecordReference,
            /// Within which budget.
            budget_ref: RecordReference,
            /// Why, in words.
            rationale: String,
            /// Who chose.
            actor_ref: RecordReference,
            /// Which model chose, or was chosen for.
            model_ref: RecordReference,
        }
        lists {
            /// Everything that was considered.
            candidate_item_refs: RecordReference,
            /// What was chosen.
            selected_item_refs: RecordReference,
            /// What was left out.
            omitted_item_refs: OmittedRef,
        }
    }
}

/// Something that was left out, with or without a reason.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum OmittedRef {
    /// The item alone.
    Id(String),
    /// The item and the reason.
    Omitted(Omitted),
}

object! {
    /// An item that was left out.
    Omitted {
        required {
            /// The item.
            item_ref: RecordReference,
            /// The reason.
            reason: OmissionReason,
        }
        optional {}
        lists {}
    }
}
