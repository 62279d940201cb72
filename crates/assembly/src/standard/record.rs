//! Records of any kind, with the names that the standard gives their kinds.

use contexture_core::vocabulary;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    ContextAssembly, ContextBudget, ContextCompaction, ContextEnvelope, ContextEvent, ContextInjection, ContextItem,
    ContextSelection, ContextSummary, ContextSurface, ContextWindow, MissingContext, SourceRef,
    shape::{Field, Shape, Shaped},
};

macro_rules! records {
    ($($(#[$doc:meta])* $name:ident($record:ident) = $word:literal, $id:ident, $has_schema:literal;)+) => {
        /// A record of any kind, which its JSON names: `{"type": "context_item", "record": {…}}`.
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "type", content = "record")]
        pub enum StandardRecord {
            $($(#[$doc])* #[serde(rename = $word)] $name(Box<$record>)),+
        }

        vocabulary! {
            /// A kind of record.
            Object {
                $($(#[$doc])* $name = $word),+
            }
        }

        $(impl From<$record> for StandardRecord {
            fn from(record: $record) -> Self {
                Self::$name(Box::new(record))
            }
        })+

        impl StandardRecord {
            /// Returns the kind.
            pub const fn object(&self) -> Object {
                match self { $(Self::$name(_) => Object::$name),+ }
            }

            /// Returns the id.
            pub fn id(&self) -> &str {
                match self { $(Self::$name(record) => record.$id.as_str()),+ }
            }
        }

        impl Object {
            /// Returns the field that holds the id of such a record.
            pub const fn id_field(self) -> &'static str {
                match self { $(Self::$name => stringify!($id)),+ }
            }

            /// Tells whether the standard publishes a schema for such records, and not only a list of fields.
            pub(crate) const fn has_schema(self) -> bool {
                match self { $(Self::$name => $has_schema),+ }
            }

            /// Returns the fields of such a record.
            pub(crate) const fn fields(self) -> &'static [Field] {
                let shape = match self { $(Self::$name => $record::SHAPE),+ };
                match shape {
                    Shape::Fields(fields) => fields,
                    _ => &[],
                }
            }

            /// Reads such a record and writes it again.
            pub(crate) fn rewrite(self, record: &Value) -> Result<Value, serde_json::Error> {
                match self {
                    $(Self::$name => serde_json::to_value($record::deserialize(record)?)),+
                }
            }
        }
    };
}

records! {
    /// A snapshot of context.
    Envelope(ContextEnvelope) = "context_envelope", context_id, true;
    /// What was available.
    Surface(ContextSurface) = "context_surface", surface_id, true;
    /// A unit of context.
    Item(ContextItem) = "context_item", item_id, true;
    /// Where an item comes from.
    SourceRef(SourceRef) = "context_source_ref", source_id, true;
    /// What was chosen, and what was not.
    Selection(ContextSelection) = "context_selection", selection_id, true;
    /// Limits, and what was measured.
    Budget(ContextBudget) = "context_budget", budget_id, true;
    /// The segments of a window.
    Window(ContextWindow) = "context_window", window_id, false;
    /// Blocks in their order.
    Assembly(ContextAssembly) = "context_assembly", assembly_id, true;
    /// What became visible.
    Injection(ContextInjection) = "context_injection", injection_id, false;
    /// What was replaced by something shorter.
    Compaction(ContextCompaction) = "context_compaction", compaction_id, true;
    /// What stands for longer context.
    Summary(ContextSummary) = "context_summary", summary_id, false;
    /// A gap that is known.
    MissingContext(MissingContext) = "missing_context", missing_id, true;
    /// Something that happened.
    Event(ContextEvent) = "context_event", event_id, true;
}
