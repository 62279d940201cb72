//! Assemblies and injections: what was put in order for a target, and where it became visible.

use contexture_core::Timestamp;

use super::{AssemblyId, BlockId, InjectionId, InjectionPoint, RedactionState, Reference, Target, object::object};

object! {
    /// Blocks in their order, for a target.
    Assembly {
        required {
            /// The version of the standard.
            schema_version: String,
            /// Its id.
            assembly_id: AssemblyId,
            /// For whom.
            target: Target,
            /// The blocks.
            ordered_blocks: Vec<Block>,
            /// When it was made.
            created_at: Timestamp,
        }
        optional {
            /// What stands around a block.
            wrapping_policy: Reference,
            /// What stands between blocks.
            separator_policy: Reference,
            /// The budget that it keeps to.
            budget_ref: Reference,
            /// What was done to what may not be seen.
            redaction_state: RedactionState,
        }
        lists {
            /// Who may see it.
            visibility: Target,
            /// The items that it was made of.
            source_item_refs: Reference,
        }
    }
}

object! {
    /// A block of an assembly.
    Block {
        required {
            /// Its id.
            block_id: BlockId,
        }
        optional {
            /// Its content.
            content_ref: Reference,
            /// What stands around it.
            wrapper: Reference,
            /// Where it stands.
            position: u64,
            /// About how many tokens it has.
            token_estimate: u64,
            /// The digest of its bytes.
            hash: String,
            /// What was done to what may not be seen.
            redaction_state: RedactionState,
        }
        lists {
            /// The items that it was made of.
            item_refs: Reference,
            /// Who may see it.
            visibility: Target,
        }
    }
}

object! {
    /// Context that became visible to a target. It is never inferred from a selection.
    Injection {
        required {
            /// The version of the standard.
            schema_version: String,
            /// Its id.
            injection_id: InjectionId,
            /// What became visible.
            assembly_id: AssemblyId,
            /// To whom.
            target: Target,
            /// Where.
            injection_point: InjectionPoint,
            /// When.
            created_at: Timestamp,
        }
        optional {
            /// What the target's own system calls it.
            native_id: String,
            /// The bytes that were sent.
            final_ref: Reference,
            /// The digest of the bytes that were sent.
            hash: String,
        }
        lists {
            /// Who may see it.
            visibility: Target,
        }
    }
}
