//! The real agent clients, run without a network against a [`ModelServer`](crate::model_server::ModelServer).
//!
//! `cargo xtask clients` installs them from npm, at the versions that `clients/package.json` names, and the newest beside
//! them, at those that `clients-newest/packages.lock` names.

mod claude_code;
mod client;
mod codex;
mod gemini;
mod installation;
mod pi;
mod process;
mod terminal;
mod workplace;

pub use client::{Client, ClientResume};
pub use installation::ClientRelease;
pub use process::Run;
pub use terminal::Terminal;
pub use workplace::Workplace;
