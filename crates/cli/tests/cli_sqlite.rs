//! The command line on SQLite.

mod cli;
#[path = "cli/sqlite.rs"]
mod sqlite;
#[path = "cli/sqlite_place.rs"]
mod sqlite_place;

pub(crate) use sqlite_place::Place;
