//! Ways to look at a store, whole values at a time.

use std::collections::BTreeMap;

use contexture::{Contexture, Head, HeadMove, LogStart, Materialized, Stop, StoredCommit};
use contexture_core::{ArtifactId, CommitId, HeadName, JournalKind, JournalRecord, Noted};

/// Small, so that every look at more than a few things goes over several pages.
const PAGE: u32 = 7;

/// Everything that can be seen of a space.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Observed {
    /// The commits, newest first.
    pub commits: Vec<StoredCommit>,
    /// What was ever said about each, where something was.
    pub notes: BTreeMap<CommitId, Vec<Noted>>,
    /// The heads in name order.
    pub heads: Vec<Head>,
    /// The moves of every head that ever was, newest first.
    pub moves: BTreeMap<HeadName, Vec<HeadMove>>,
    /// The journal, oldest first.
    pub journal: Vec<JournalRecord>,
}

/// Looks at everything.
pub async fn observe(store: &Contexture) -> Observed {
    let journal = journal(store).await;
    let commits = commits(store, LogStart::Everything).await;
    let mut notes = BTreeMap::new();
    for commit in &commits {
        let history = store.annotation_history(commit.id).await.unwrap();
        if !history.is_empty() {
            notes.insert(commit.id, history);
        }
    }
    let mut moves = BTreeMap::new();
    for record in journal.iter().filter(|record| record.kind == JournalKind::HeadMoved) {
        let name = HeadName::new(record.subject.clone()).unwrap();
        let log = head_log(store, &name).await;
        moves.insert(name, log);
    }
    Observed { commits, notes, heads: heads(store).await, moves, journal }
}

/// Returns the whole journal, oldest first.
pub async fn journal(store: &Contexture) -> Vec<JournalRecord> {
    let mut records: Vec<JournalRecord> = Vec::new();
    loop {
        let page = store.journal_after(records.last().map_or(0, |last| last.seq), PAGE).await.unwrap();
        if page.is_empty() {
            return records;
        }
        records.extend(page);
    }
}

/// Returns the ids that a walk yields, in its order.
pub async fn walked(store: &Contexture, start: LogStart) -> Vec<CommitId> {
    commits(store, start).await.iter().map(|commit| commit.id).collect()
}

async fn commits(store: &Contexture, start: LogStart) -> Vec<StoredCommit> {
    let mut walk = store.walk(start).await.unwrap();
    let mut commits = Vec::new();
    loop {
        let page = walk.next(PAGE).await.unwrap();
        if page.is_empty() {
            return commits;
        }
        commits.extend(page);
    }
}

/// Returns the heads in name order.
pub async fn heads(store: &Contexture) -> Vec<Head> {
    let mut heads: Vec<Head> = Vec::new();
    loop {
        let page = store.heads("", heads.last().map(|last| &last.name), PAGE).await.unwrap();
        if page.is_empty() {
            return heads;
        }
        heads.extend(page);
    }
}

async fn head_log(store: &Contexture, name: &HeadName) -> Vec<HeadMove> {
    let mut moves: Vec<HeadMove> = Vec::new();
    loop {
        let page = store.head_log(name, moves.last().map_or(u64::MAX, |last| last.seq), PAGE).await.unwrap();
        if page.is_empty() {
            return moves;
        }
        moves.extend(page);
    }
}

/// Returns what a commit materializes to and what was counted in it.
pub async fn materialized(store: &Contexture, commit: CommitId, stop: Stop) -> (Vec<u8>, Materialized) {
    let mut bytes = Vec::new();
    let materialization = store.materialize(Some(commit), stop, None).await.unwrap();
    let counted = materialization.write_to(&mut bytes).await.unwrap();
    (bytes, counted)
}

/// Returns the bytes of an artifact.
pub async fn artifact(store: &Contexture, id: ArtifactId) -> Vec<u8> {
    let mut bytes = Vec::new();
    let size = store.get_artifact(id, &mut bytes).await.unwrap();
    assert_eq!(size, bytes.len() as u64);
    bytes
}

/// Stores bytes as an artifact and returns its id.
pub async fn stored(store: &Contexture, bytes: &[u8]) -> ArtifactId {
    store.put_artifact(std::io::Cursor::new(bytes.to_vec())).await.unwrap().id
}

/// Returns the bundle of some commits and heads.
pub async fn exported(store: &Contexture, commits: &[CommitId], heads: &[HeadName]) -> Vec<u8> {
    let mut bundle = Vec::new();
    store.export(commits, heads, &mut bundle).await.unwrap();
    bundle
}
