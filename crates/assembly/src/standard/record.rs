//! Records of any kind, with the names that the standard gives their kinds.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    Assembly, Budget, Compaction, Envelope, Event, Injection, Item, MissingContext, Selection, SourceRef, Summary,
    Surface, Window,
    shape::{Field, Shape, Shaped},
};
use crate::vocabulary::vocabulary;

macro_rules! records {
    ($($(#[$doc:meta])* $name:ident = $word:literal, $id:ident, $has_schema:literal;)+) => {
        /// A record of any kind, which its JSON names: `{"type": "context_item", "record": {…}}`.
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "type", content = "record")]
        pub enum Record {
            $($(#[$doc])* #[serde(rename = $word)] $name(Box<$name>)),+
        }

        vocabulary! {
            /// A kind of record.
            Object {
                $($(#[$doc])* $name = $word),+
            }
        }

        $(impl From<$name> for Record {
            fn from(record: $name) -> Self {
                Self::$name(Box::new(record))
            }
        })+

        impl Record {
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
                let shape = match self { $(Self::$name => $name::SHAPE),+ };
                match shape {
                    Shape::Fields(fields) => fields,
                    _ => &[],
                }
            }

            /// Reads such a record and writes it again.
            pub(crate) fn rewrite(self, record: &Value) -> Result<Value, serde_json::Error> {
                match self {
                    $(Self::$name => serde_json::to_value($name::deserialize(record)?)),+
                }
            }
        }
    };
}

records! {
    /// A snapshot of context.
    Envelope = "context_envelope", context_id, true;
    /// What was available.
    Surface = "context_surface", surface_id, true;
    /// A unit of context.
    Item = "context_item", item_id, true;
    /// Where an item comes from.
    SourceRef = "context_source_ref", source_id, true;
    /// What was chosen, and what was not.
    Selection = "context_selection", selection_id, true;
    /// Limits, and what was measured.
    Budget = "context_budget", budget_id, true;
    /// The segments of a window.
    Window = "context_window", window_id, false;
    /// Blocks in their order.
    Assembly = "context_assembly", assembly_id, true;
    /// What became visible.
    Injection = "context_injection", injection_id, false;
    /// What was replaced by something shorter.
    Compaction = "context_compaction", compaction_id, true;
    /// What stands for longer context.
    Summary = "context_summary", summary_id, false;
    /// A gap that is known.
    MissingContext = "missing_context", missing_id, true;
    /// Something that happened.
    Event = "context_event", event_id, true;
}
