//! Surfaces: what was there to select from.

use contexture_core::Timestamp;

use super::{Reference, SurfaceId, SurfaceKind, Target, object::object};

object! {
    /// The context that was available before selection.
    Surface {
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
            producer: Reference,
            /// When it is no longer good.
            expires_at: Timestamp,
        }
        lists {
            /// Where items come from.
            available_source_refs: Reference,
            /// The items.
            available_item_refs: Reference,
            /// What could be done.
            capability_refs: Reference,
            /// What was decided elsewhere.
            policy_refs: Reference,
            /// Who may see it.
            visibility: Target,
        }
    }
}
