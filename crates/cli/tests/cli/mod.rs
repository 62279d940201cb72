//! The command line as its users see it: every command's words, exit codes and documents, whatever the engine.
//!
//! Clock, principal and machine are fixed, so ids are too.

pub(crate) mod harness;

mod annotate;
mod artifact;
mod assemble;
mod blame;
mod cat;
mod channel;
mod check;
mod checkpoint;
mod compact;
mod completions;
mod damage;
pub(crate) mod demo;
mod diff;
mod doctor;
mod envelope;
mod errors;
mod export;
mod head;
mod hook;
mod import;
mod init;
mod journal;
mod library;
mod list;
mod log;
mod materialize;
mod program;
mod provenance;
mod readme;
mod recipe;
mod resolve;
mod resume;
mod roles;
mod run;
mod schema;
mod search;
mod sessions;
mod show;
mod store;
mod tracing;
mod trust;
mod watch;
