//! Attacks: what a stranger's repository, session, event or name could do to who runs the program, and does not.

#[expect(dead_code, reason = "the tests of the scanner use more of it")]
#[path = "../../../secrets/tests/suite/generate.rs"]
mod generate;
#[path = "../cli/harness.rs"]
mod harness;
#[expect(dead_code, reason = "the tests of damage use more of it")]
#[path = "../cli/sqlite_place.rs"]
mod sqlite_place;

mod acknowledged;
mod bounds;
mod clones;
mod collecting;
mod forty_secrets;
mod hook_deadline;
mod modes;
mod passwords;
mod purging;
mod redaction;
mod seal_keys;
mod terminal;

pub(crate) use sqlite_place::Place;
