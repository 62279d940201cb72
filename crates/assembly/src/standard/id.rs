//! The ids of records: any text that is not empty.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Says that a record needs an id with at least one character.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{noun} needs at least one character")]
pub struct EmptyId {
    noun: &'static str,
}

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident, $noun:literal;)+) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
        #[serde(into = "String", try_from = "String")]
        #[schemars(extend("minLength" = 1))]
        pub struct $name(String);

        impl $name {
            /// Takes a text as such an id.
            pub fn new(text: impl Into<String>) -> Result<Self, EmptyId> {
                let text = text.into();
                if text.is_empty() { Err(EmptyId { noun: $noun }) } else { Ok(Self(text)) }
            }

            /// Borrows the text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl super::shape::Shaped for $name {
            const SHAPE: super::shape::Shape = super::shape::Shape::Id;
        }

        impl TryFrom<String> for $name {
            type Error = EmptyId;

            fn try_from(text: String) -> Result<Self, EmptyId> {
                Self::new(text)
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> Self {
                id.0
            }
        }
    )+};
}

ids! {
    /// Names an envelope.
    ContextEnvelopeId, "the id of an envelope";
    /// Names a surface.
    SurfaceId, "the id of a surface";
    /// Names an item.
    ItemId, "the id of an item";
    /// Names a source.
    SourceId, "the id of a source";
    /// Names a selection.
    SelectionId, "the id of a selection";
    /// Names a budget.
    BudgetId, "the id of a budget";
    /// Names a window.
    WindowId, "the id of a window";
    /// Names a segment of a window.
    SegmentId, "the id of a segment";
    /// Names an assembly.
    AssemblyId, "the id of an assembly";
    /// Names a block of an assembly.
    BlockId, "the id of a block";
    /// Names an injection.
    ContextInjectionId, "the id of an injection";
    /// Names a compaction.
    CompactionId, "the id of a compaction";
    /// Names a summary.
    SummaryId, "the id of a summary";
    /// Names something that is missing.
    MissingContextId, "the id of missing context";
    /// Names an event.
    EventId, "the id of an event";
}
