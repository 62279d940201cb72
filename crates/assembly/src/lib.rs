//! The pure pipeline that turns context items into a prompt.
//!
//! Nothing here does I/O or reads a clock: the same items, limits and counter give the same prompt.

mod counter;
mod measure;
mod vocabulary;

mod budget;
mod candidate;
pub mod packs;
pub mod recipe;

pub mod standard;

pub use budget::{
    Budget, Decision, Guard, Inclusion, Limits, Omission, Outcome, RunOutcome, RunRule, SegmentRule, Selection,
    Shorten, Shortening, select, select_in,
};
pub use candidate::{Candidate, CandidateId, Measured, Place, Priority, RunPart, Variant};
pub use counter::{Chars4, ClaudeEstimate, TokenCounter, UnknownCounter, counter, counters};
pub use measure::{CharCount, Size, TokenCount};
