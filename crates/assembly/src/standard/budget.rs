//! Budgets and windows: how much there may be, and in which segments.

use contexture_core::Timestamp;

use super::{
    Audience, BudgetId, OmissionReason, OverflowStrategy, RecordReference, SegmentId, WindowId, object::object,
};

object! {
    /// Limits, and what was measured against them.
    ContextBudget {
        required {
            /// The version of the standard.
            schema_version: String,
            /// Its id.
            budget_id: BudgetId,
            /// For whom.
            target: Audience,
            /// When it was made.
            created_at: Timestamp,
        }
        optional {
            /// How many tokens there may be.
            max_tokens: u64,
            /// How many tokens are kept free.
            reserved_tokens: u64,
            /// How many bytes there may be.
            max_bytes: u64,
            /// How many items there may be.
            max_items: u64,
            /// How many tokens there are.
            actual_tokens: u64,
            /// How many bytes there are.
            actual_bytes: u64,
            /// How many items there are.
            actual_items: u64,
            /// What happens to what does not fit.
            overflow_strategy: OverflowStrategy,
        }
        lists {
            /// What was shortened.
            truncation_records: Truncation,
            /// How the window is divided.
            window_segments: WindowSegment,
        }
    }
}

object! {
    /// The segments of a window in their order.
    ContextWindow {
        required {
            /// The version of the standard.
            schema_version: String,
            /// Its id.
            window_id: WindowId,
            /// For whom.
            target: Audience,
            /// When it was made.
            created_at: Timestamp,
        }
        optional {
            /// The budget that it keeps to.
            budget_ref: RecordReference,
        }
        lists {
            /// The segments.
            segments: RecordReference,
        }
    }
}

object! {
    /// A part of a window.
    WindowSegment {
        required {
            /// Its id.
            segment_id: SegmentId,
        }
        optional {
            /// Whose voice it is in; the standard leaves the words open.
            role: String,
            /// For whom.
            target: Audience,
            /// How many tokens are kept for it.
            reserved_tokens: u64,
            /// How many tokens it has.
            actual_tokens: u64,
            /// Where it stands.
            order: u64,
        }
        lists {
            /// What is in it.
            item_refs: RecordReference,
            /// What was shortened.
            truncation_records: Truncation,
        }
    }
}

object! {
    /// Something that was shortened.
    Truncation {
        required {}
        optional {
            /// The item.
            item_ref: RecordReference,
            /// In which way.
            strategy: OverflowStrategy,
            /// How many tokens it had.
            tokens_before: u64,
            /// How many tokens it has.
            tokens_after: u64,
            /// Why.
            reason: OmissionReason,
        }
        lists {}
    }
}
