//! Contexture: version control and assembly for what LLM agents know.
//!
//! [`Contexture`] is a handle on one space of a store; every operation of the product is one of its methods.

mod error;
mod handle;
mod reference;

mod annotate;
mod artifact;
mod bundle;
pub mod capture;
mod chain;
mod checkpoint;
mod compact;
mod entries;
mod excerpt;
mod head;
mod health;
mod history;
mod journal;
mod lines;
mod materialize;
mod pieces;
mod resume;
mod search;
mod translate;
pub mod wire;

pub use bundle::{ExportSummary, ImportSummary, verify_bundle};
pub use checkpoint::{Check, Checkpoint, Checkpointed, Content, Outcome};
pub use compact::{Compaction, Snapshot};
pub use contexture_core as core;
pub use contexture_formats as formats;
pub use contexture_store::{
    Error as StoreError, Location, LocationError, PostgresUrl,
    artifact::{ArtifactStat, Encoding, StoredArtifact},
    commit::{Filter, Moment, PageAfter, StoredCommit},
    fsck,
    head::{Expect, Head, HeadMove},
    inspect,
    search::{Filter as SearchFilter, Kind as PassageKind, Query, QueryError, Request as SearchRequest},
    spaces::Space,
    stats,
};
pub use entries::{CommitContent, Entries, Said};
pub use error::{BundleProblem, Error, Result};
pub use handle::{Clock, Contexture, Options};
pub use history::{LogStart, Walk};
pub use materialize::{Loss, Materialization, Materialized, Piece, Stop, Stretch, Tier};
pub use reference::Reference;
pub use resume::{Resume, Resumed};
pub use search::{Found, FoundPassage, Indexed, Indexing, Snippet};
pub use translate::Translation;
