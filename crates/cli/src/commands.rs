//! One file per command: its arguments, its help, and what it does.

pub(crate) mod annotate;
pub(crate) mod artifact;
pub(crate) mod checkpoint;
pub(crate) mod children;
pub(crate) mod compact;
pub(crate) mod completions;
pub(crate) mod demo;
pub(crate) mod export;
pub(crate) mod fork;
pub(crate) mod formats;
pub(crate) mod fsck;
pub(crate) mod head;
pub(crate) mod import;
pub(crate) mod import_bundle;
pub(crate) mod journal;
pub(crate) mod list;
pub(crate) mod log;
pub(crate) mod man;
pub(crate) mod materialize;
pub(crate) mod resolve;
pub(crate) mod resume;
pub(crate) mod show;
pub(crate) mod snapshot;
pub(crate) mod spaces;
pub(crate) mod stats;
pub(crate) mod store;
