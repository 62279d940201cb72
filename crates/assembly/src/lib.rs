//! The pure pipeline that turns context items into a prompt.
//!
//! Nothing here does I/O or reads a clock: the same items, limits and counter give the same prompt.

mod counter;
mod measure;
mod mistake;
mod nearest;
mod reader;

mod budget;
mod candidate;
pub mod channel_state;
pub mod channel_view;
mod counts;
mod digest;
pub mod envelope;
mod item;
pub mod metrics;
pub mod packs;
pub mod pipeline;
pub mod recipe;
pub mod records;
pub mod render;
mod shared_text;
mod shorten;
pub mod topic_block;

pub mod check;
pub mod standard;

pub use budget::{
    Budget, CandidateOutcome, Decision, Guard, Inclusion, Limits, Omission, RunOutcome, RunRule, SegmentRule,
    Selection, Shorten, Shortening, select, select_in,
};
pub use candidate::{Candidate, CandidateId, Measured, Priority, PromptPlace, RunPart, Variant};
pub use counter::{Chars4, ClaudeEstimate, OpenAi, TokenCounter, UnknownCounter, counter, counters};
pub use counts::TokenCounts;
pub use digest::{Digest, NoDigest};
pub use item::{Hold, Item, ItemContent, ItemOrigin, Redaction, ReplacedTurns, Voice};
pub use measure::{CharCount, Size, TokenCount};
pub use mistake::{ActualValue, Mistake, MistakeKind};
pub use nearest::nearest;
pub use shared_text::SharedText;
