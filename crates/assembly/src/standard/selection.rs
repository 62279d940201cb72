//! Selections: what was chosen from a surface, and what was not.

use std::collections::BTreeMap;

use contexture_core::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Number;

use super::{OmissionReason, RankingSignal, Reference, SelectionId, SurfaceId, object::object};

object! {
    /// What was considered, chosen and left out, and why.
    Selection {
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
            selection_policy: Reference,
            /// Within which budget.
            budget_ref: Reference,
            /// Why, in words.
            rationale: String,
            /// Who chose.
            actor_ref: Reference,
            /// Which model chose, or was chosen for.
            model_ref: Reference,
        }
        lists {
            /// Everything that was considered.
            candidate_item_refs: Reference,
            /// What was chosen.
            selected_item_refs: Reference,
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
            item_ref: Reference,
            /// The reason.
            reason: OmissionReason,
        }
        optional {}
        lists {}
    }
}
