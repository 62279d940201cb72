//! The records of the Agent Context standard, version 0.1.1.
//!
//! Fields that the standard does not name are kept as they are, so a record of somebody else comes out as it went in;
//! only lists and objects without anything in them are left out, and times are written with microseconds.

mod object;
pub(crate) mod shape;

mod id;
mod reference;
mod words;

mod assembly;
mod budget;
mod compaction;
mod envelope;
mod event;
mod item;
mod missing;
mod selection;
mod source;
mod surface;

mod digest;
mod export;
mod record;

pub use assembly::{Assembly, Block, Injection};
pub use budget::{Budget, Truncation, Window, WindowSegment};
pub use compaction::{Compaction, Summary};
pub use digest::{ContentDigest, NotADigest};
pub use envelope::Envelope;
pub use event::Event;
pub use export::{Content, Export, ExportVersion};
pub use id::{
    AssemblyId, BlockId, BudgetId, CompactionId, EmptyId, EnvelopeId, EventId, InjectionId, ItemId, MissingId,
    SegmentId, SelectionId, SourceId, SummaryId, SurfaceId, WindowId,
};
pub use item::Item;
pub use missing::MissingContext;
pub use record::{Object, Record};
pub use reference::Reference;
pub use selection::{Omitted, OmittedRef, Selection};
pub use source::{Binding, Selector, SelectorShape, SourceRef};
pub use surface::Surface;
pub use words::{
    CompactionMethod, CompactionTrigger, ContentMode, ContextKind, EventType, InjectionPoint, Lifecycle, MissingStatus,
    OmissionReason, OverflowStrategy, RankingSignal, RedactionState, Scope, SelectorKind, Severity, SurfaceKind,
    Target,
};

/// The version of the standard that records are written in.
pub const VERSION: &str = "0.1.1";
