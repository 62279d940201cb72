//! Assemblies and injections: what was put in order for a target, and where it became visible.

use contexture_core::Timestamp;

use super::{
    AssemblyId, Audience, BlockId, ContextInjectionId, InjectionPoint, RecordReference, RedactionState, object::object,
};

object! {
    /// Blocks in their order, for a target.
    ContextAssembly {
        required {
            /// The version of the standard.
            schema_version: String,
            /// Its id.
            assembly_id: AssemblyId,
            /// For whom.
            target: Audience,
            /// The blocks.
            ordered_blocks: Vec<AssemblyBlock>,
            /// When it was made.
            created_at: Timestamp,
        }
        optional {
            /// What stands around a block.
            wrapping_policy: RecordReference,
            /// What stands between blocks.
            separator_policy: RecordReference,
            /// The budget that it keeps to.
            budget_ref: RecordReference,
            /// What was done to what may not be seen.
            redaction_state: RedactionState,
        }
        lists {
            /// Who may see it.
            visibility: Audience,
            /// The items that it was made of.
            source_item_refs: RecordReference,
        }
    }
}

object! {
    /// A block of an assembly.
    AssemblyBlock {
        required {
            /// Its id.
            block_id: BlockId,
        }
        optional {
            /// Its content.
            content_ref: RecordReference,
            /// What stands around it.
            wrapper: RecordReference,
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
            item_refs: RecordReference,
            /// Who may see it.
            visibility: Audience,
        }
    }
}

object! {
    /// Context that became visible to a target. It is never inferred from a selection.
    ContextInjection {
        required {
            /// The version of the standard.
            schema_version: String,
            /// Its id.
            injection_id: ContextInjectionId,
            /// What became visible.
            assembly_id: AssemblyId,
            /// To whom.
            target: Audience,
            /// Where.
            injection_point: InjectionPoint,
            /// When.
            created_at: Timestamp,
        }
        optional {
            /// What the target's own system calls it.
            native_id: String,
            /// The bytes that were sent.
            final_ref: RecordReference,
            /// The digest of the bytes that were sent.
            hash: String,
        }
        lists {
            /// Who may see it.
            visibility: Audience,
        }
    }
}
