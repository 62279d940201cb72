//! Whether all that agents said is in the store, and repairing what can be repaired: what `ctx doctor` asks. The answers
//! are documents of `contexture::wire`, or become one.

mod completeness;
mod open_sessions;
mod repair;
mod retention;
mod spool;
#[cfg(test)]
mod tests;
mod troubles;

pub use self::{
    completeness::{ComparedSession, ComparisonTerms, SessionCompleteness},
    open_sessions::OpenSessions,
};

const DAY_MICROS: i64 = 24 * 60 * 60 * 1_000_000;
