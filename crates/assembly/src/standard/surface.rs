//! Surfaces: what was there to select from.

use contexture_core::Timestamp;

use super::{Audience, RecordReference, SurfaceId, SurfaceKind, object::object};

object! {
    /// The context that was available before selection.
    ContextSurface {
        required {
            /// The version of the standard.
            schema_version: String,
            /// Its id.
            surface_id: SurfaceId,
            /// What it is for; the standard leaves the word open here.
            scope: String,
            /// When it was made.
            created_at: Timestamp,
        }
        optional {
            /// What it was gathered for.
            surface_kind: SurfaceKind,
            /// What made it.
            producer: RecordReference,
            /// When it is no longer good.
            expires_at: Timestamp,
        }
        lists {
            /// Where items come from.
            available_source_refs: RecordReference,
            /// The items.
            available_item_refs: RecordReference,
            /// What could be done.
            capability_refs: RecordReference,
            /// What was decided elsewhere.
            policy_refs: RecordReference,
            /// Who may see it.
            visibility: Audience,
        }
    }
}
