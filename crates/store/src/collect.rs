//! Removes what nothing refers to.
//!
//! Content is stored before something refers to it, in transactions of their own when it is large; a program that is killed
//! in between leaves pieces. They are found by reading, beside those who write, and removed in small transactions each of
//! which makes sure again that nothing refers to what it removes: writers of a space exclude each other. What is younger
//! than a grace stays, because somebody may be about to refer to it.

mod batch;
mod survey;

use std::time::Duration;

use contexture_core::Timestamp;
use futures_util::FutureExt as _;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Result, Scope, Store,
    rendering::{self, DroppedRenderings},
};
use batch::{Batch, Removed};
use survey::Survey;

/// What is to be removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Collection {
    /// How old what nothing refers to must be.
    pub grace: Duration,
    /// Whether it is removed.
    pub mode: CollectMode,
}

/// Whether what is found is removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CollectMode {
    /// It is.
    Remove,
    /// It is only counted.
    DryRun,
}

impl Collection {
    /// How old what nothing refers to must be unless somebody says otherwise: more than any import takes.
    pub const GRACE: Duration = Duration::from_hours(24);
}

/// What a collection removed, or would remove.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Collected {
    /// How many artifacts; the parts of large ones are artifacts of their own.
    pub artifacts: u64,
    /// Bytes of their content; those of an artifact in parts count once, with its parts.
    pub bytes: u64,
    /// Bytes that it took in the store.
    pub stored_bytes: u64,
    /// What nothing refers to either, but stays.
    pub kept: KeptUnreferenced,
    /// Translations that nobody has used within the grace.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub renderings: u64,
    /// Bytes that those took.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub rendering_bytes: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// What nothing refers to and stays all the same.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KeptUnreferenced {
    /// Artifacts younger than the grace.
    pub too_young: u64,
    /// Bytes of their content.
    pub too_young_bytes: u64,
    /// Artifacts that somebody stored by themselves, and what is left of those that were purged.
    pub by_themselves: u64,
    /// Bytes of their content.
    pub by_themselves_bytes: u64,
}

/// How far a collection has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CollectProgress {
    /// What it is at.
    pub phase: CollectPhase,
    /// How much of that is done.
    pub done: u64,
    /// How much there is; at least `done`.
    pub total: u64,
}

/// What a collection is at, in its order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CollectPhase {
    /// The search for what refers to artifacts, in rows.
    Search,
    /// The removal, in artifacts.
    Removal,
}

impl CollectPhase {
    /// Returns the words for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Search => "rows",
            Self::Removal => "unreferenced artifacts",
        }
    }
}

/// Removes the artifacts of a space that nothing refers to, or counts them.
///
/// What is removed is gone for good with each batch, so a collection that is stopped has done a part of its work.
pub async fn collect(
    store: &Store,
    scope: &Scope,
    collection: Collection,
    progress: &mut (dyn FnMut(CollectProgress) + Send),
) -> Result<Collected> {
    let stored_before = cutoff(scope.now, collection.grace);
    let mut survey = Survey::of(store, scope, stored_before, progress).await?;
    let DroppedRenderings { count: renderings, stored_bytes: rendering_bytes } =
        drop_renderings(store, scope, collection.mode, stored_before).await?;
    if collection.mode == CollectMode::DryRun {
        return Ok(Collected { renderings, rendering_bytes, ..survey.collected });
    }
    let mut removed = Removed::default();
    let total = survey.unreferenced.len();
    // Whatever consists of others came after them; it goes first, then nothing refers to them.
    let mut left: Vec<i64> = survey.unreferenced.descending().collect();
    loop {
        let before = removed.artifacts;
        let mut referred_to = Vec::new();
        for keys in left.chunks(batch::MAX_ARTIFACTS) {
            let batch = Batch { keys: keys.to_vec(), seq: survey.seq, stored_before };
            let ended = batch.run(store, scope, &mut survey.referenced).await?;
            survey.seq = ended.seq;
            referred_to.extend(ended.referred_to);
            removed += ended.removed;
            progress(CollectProgress { phase: CollectPhase::Removal, done: removed.artifacts, total });
            store.make_way().await?;
        }
        if removed.artifacts == before || referred_to.is_empty() {
            break;
        }
        left = referred_to;
    }
    let Removed { artifacts, bytes, stored_bytes } = removed;
    Ok(Collected { artifacts, bytes, stored_bytes, kept: survey.collected.kept, renderings, rendering_bytes })
}

/// Drops the translations that nobody has used since a moment, or counts them. Nothing is written when there are none.
async fn drop_renderings(store: &Store, scope: &Scope, mode: CollectMode, since: i64) -> Result<DroppedRenderings> {
    let counting = store.read(scope.clone(), since, |tx, since| rendering::unused_since(tx, *since).boxed());
    let unused = counting.await?;
    if mode == CollectMode::DryRun || unused.count == 0 {
        return Ok(unused);
    }
    store.write(scope.clone(), since, |tx, since| rendering::drop_unused(tx, *since).boxed()).await
}

/// Returns the time before which what goes was stored, in microseconds.
fn cutoff(now: Timestamp, grace: Duration) -> i64 {
    now.as_micros().saturating_sub(i64::try_from(grace.as_micros()).unwrap_or(i64::MAX))
}
