//! The records of the Agent Context standard, version 0.1.1.
//!
//! Fields that the standard does not name are kept as they are, so a record of somebody else comes out as it went in;
//! only lists and objects without anything in them are left out, and times are written with microseconds.

mod object;
pub(crate) mod shape;

mod id;
mod reference;
mod vocabularies;

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

pub use assembly::{AssemblyBlock, ContextAssembly, ContextInjection};
pub use budget::{ContextBudget, ContextWindow, Truncation, WindowSegment};
pub use compaction::{ContextCompaction, ContextSummary};
pub use digest::{ContentDigest, NotADigest};
pub use envelope::ContextEnvelope;
pub use event::{ContextEvent, EventType, NoEventType};
pub use export::{Export, ExportVersion, ExportedContent};
pub use id::{
    AssemblyId, BlockId, BudgetId, CompactionId, ContextEnvelopeId, ContextInjectionId, EmptyId, EventId, ItemId,
    MissingContextId, SegmentId, SelectionId, SourceId, SummaryId, SurfaceId, WindowId,
};
pub use item::ContextItem;
pub use missing::MissingContext;
pub use record::{Object, StandardRecord};
pub use reference::RecordReference;
pub use selection::{ContextSelection, Omitted, OmittedRef};
pub use source::{Binding, Selector, SelectorShape, SourceRef};
pub use surface::ContextSurface;
pub use vocabularies::{
    Audience, CompactionMethod, CompactionTrigger, ContentMode, ContextKind, ContextScope, InjectionPoint, Lifecycle,
    MissingStatus, OmissionReason, OverflowStrategy, RankingSignal, RedactionState, SelectorKind, Severity,
    SurfaceKind,
};

/// The version of the standard that records are written in.
pub const VERSION: &str = "0.1.1";

/// Ids of a runtime, which every record may carry.
const RUNTIME_IDS: [&str; 6] = ["session_id", "thread_id", "turn_id", "task_id", "run_id", "attempt_id"];
/// Ids of a runtime that events may carry besides.
const EVENT_IDS: [&str; 5] = ["runtime_id", "step_id", "tool_call_id", "action_id", "evidence_id"];

/// Tells whether a field of this name is the id of something in a runtime, which every record may carry.
pub fn is_runtime_id(name: &str) -> bool {
    RUNTIME_IDS.contains(&name)
}

/// Tells whether a field of this name is the id of something in a runtime, which events may carry.
pub fn is_event_id(name: &str) -> bool {
    is_runtime_id(name) || EVENT_IDS.contains(&name)
}
