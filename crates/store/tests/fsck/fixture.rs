//! A small store with something of everything in it, and the means to damage it.

use std::io::Cursor;

use contexture_core::{
    Actor, Annotation, ArtifactId, Commit, CommitId, CommitKind, Format, HeadName, IdempotencyKey, Principal,
    Provenance, SpaceName, SummaryText, Timestamp, Trigger,
};
use contexture_store::{
    Disclosure, Result, Scope, Store, Tx, annotation,
    artifact::{self, Hot},
    commit, fsck,
    fsck::{FsckProblem, FsckReport},
    head::{self, Expect},
    request,
};
use futures_util::FutureExt as _;
use tempfile::TempDir;

/// Name of the database file in the store's directory.
pub(crate) const FILE: &str = "contexture.db";

/// Lines and positions: `root`, `second`, `compaction`, `merge` on line 1; `fork`, `large` on line 2, forked off
/// `second`; `snapshot` on line 3.
///
/// Journal records: 1 space, 2 root, 3 second, 4 compaction, 5 fork, 6 large, 7 merge, 8 snapshot, 9 to 12 heads,
/// 13 annotation, 14 artifact.
pub(crate) struct Fixture {
    directory: TempDir,
    pub(crate) store: Store,
    pub(crate) scope: Scope,
    pub(crate) root: CommitId,
    pub(crate) second: CommitId,
    pub(crate) compaction: CommitId,
    pub(crate) merge: CommitId,
    pub(crate) fork: CommitId,
    pub(crate) large: CommitId,
    pub(crate) snapshot: CommitId,
    /// The artifact in parts.
    pub(crate) large_artifact: ArtifactId,
}

pub(crate) fn scope(space: &str) -> Scope {
    Scope {
        space: SpaceName::new(space).unwrap(),
        actor: Actor::new("ada").unwrap(),
        now: "2026-11-15T20:10:00Z".parse().unwrap(),
        disclosure: Disclosure::Masked,
        opener: None,
    }
}

pub(crate) fn head_name(name: &str) -> HeadName {
    HeadName::new(name).unwrap()
}

/// Returns bytes that do not compress and do not repeat.
pub(crate) fn noise(bytes: usize) -> Vec<u8> {
    let mut state = 1u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state.to_be_bytes()[0]
    };
    std::iter::repeat_with(&mut next).take(bytes).collect()
}

/// A commit that adds to another, with an artifact made of its label.
pub(crate) fn delta(label: &str, parent: Option<CommitId>) -> Commit {
    Commit {
        parent,
        kind: CommitKind::Delta,
        artifact: ArtifactId::of(label.as_bytes()),
        format: Format::new("text").unwrap(),
        provenance: Provenance { principal: Some(Principal::new("ada").unwrap()), ..Provenance::default() },
        trigger: Trigger::Explicit,
        merges: Vec::new(),
        message_count: None,
        token_count: None,
        created_at: Timestamp::from_micros(1_800_000_000_000_000).unwrap(),
    }
}

/// Stores a commit and the artifact that [`delta`] gave it.
pub(crate) async fn insert(tx: &mut Tx<'_>, label: &str, commit: &Commit) -> Result<CommitId> {
    artifact::put(tx, &Hot::encode(label.as_bytes().to_vec())).await?;
    Ok(commit::insert(tx, commit).await?.0)
}

/// Stores a chain of commits, all with one artifact.
pub(crate) async fn chain(tx: &mut Tx<'_>, commits: usize) -> Result<Vec<CommitId>> {
    artifact::put(tx, &Hot::encode(b"same".to_vec())).await?;
    let mut ids: Vec<CommitId> = Vec::new();
    while ids.len() < commits {
        ids.push(commit::insert(tx, &delta("same", ids.last().copied())).await?.0);
    }
    Ok(ids)
}

impl Fixture {
    pub(crate) async fn new() -> Self {
        let directory = TempDir::new().unwrap();
        let store = Store::open(directory.path()).await.unwrap();
        let scope = scope("default");
        let large_artifact = artifact::put_stream(&store, &scope, Cursor::new(noise(1_000_000))).await.unwrap().id;
        let writing = store.write(scope.clone(), large_artifact, |tx, large| history(tx, *large).boxed());
        let commits = writing.await.unwrap();
        store.write(scope.clone(), commits, |tx, commits| surroundings(tx, *commits).boxed()).await.unwrap();
        let [root, second, compaction, fork, large, merge, snapshot] = commits;
        Self { directory, store, scope, root, second, compaction, merge, fork, large, snapshot, large_artifact }
    }

    pub(crate) async fn check(&self) -> FsckReport {
        fsck::check(&self.store, &self.scope, &mut |_| {}).await.unwrap()
    }

    /// Runs statements behind the store's back and returns what the checker then finds.
    pub(crate) async fn problems_after(&self, statements: &str) -> Vec<FsckProblem> {
        let connection = self.connection();
        connection.execute_batch(statements).unwrap();
        assert!(connection.changes() > 0, "the statement must change something");
        self.check().await.problems
    }

    pub(crate) fn connection(&self) -> rusqlite::Connection {
        let connection = rusqlite::Connection::open(self.directory.path().join(FILE)).unwrap();
        connection.pragma_update(None, "foreign_keys", false).unwrap();
        connection
    }

    /// Returns a copy of the store in which a page of the database is overwritten.
    pub(crate) async fn with_page_overwritten(self, page: usize) -> Self {
        self.connection().query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
        let mut database = std::fs::read(self.directory.path().join(FILE)).unwrap();
        let page_bytes = usize::from(u16::from_be_bytes([database[16], database[17]]));
        database[(page - 1) * page_bytes..page * page_bytes].fill(0x5a);
        let directory = TempDir::new().unwrap();
        std::fs::write(directory.path().join(FILE), database).unwrap();
        let store = Store::open(directory.path()).await.unwrap();
        Self { directory, store, ..self }
    }
}

async fn history(tx: &mut Tx<'_>, large: ArtifactId) -> Result<[CommitId; 7]> {
    let root = insert(tx, "root", &delta("root", None)).await?;
    let second = insert(tx, "second", &delta("second", Some(root))).await?;
    let summary = Commit { kind: CommitKind::Compaction, ..delta("compaction", Some(second)) };
    let compaction = insert(tx, "compaction", &summary).await?;
    let fork = insert(tx, "fork", &delta("fork", Some(second))).await?;
    let big = Commit { artifact: large, ..delta("", Some(fork)) };
    let (large_commit, _) = commit::insert(tx, &big).await?;
    let merging = Commit { merges: vec![large_commit], ..delta("merge", Some(compaction)) };
    let merge = insert(tx, "merge", &merging).await?;
    let whole = Commit { kind: CommitKind::Snapshot, ..delta("snapshot", None) };
    let snapshot = insert(tx, "snapshot", &whole).await?;
    Ok([root, second, compaction, fork, large_commit, merge, snapshot])
}

async fn surroundings(tx: &mut Tx<'_>, history: [CommitId; 7]) -> Result<()> {
    let [root, second, _, _, large, merge, _] = history;
    head::set(tx, &head_name("main"), merge, Expect::Absent).await?;
    head::set(tx, &head_name("side"), large, Expect::Absent).await?;
    head::set(tx, &head_name("gone"), root, Expect::Absent).await?;
    head::delete(tx, &head_name("gone"), Expect::At(root)).await?;
    let text = SummaryText::new("half way").unwrap();
    annotation::add(tx, &second, Annotation::Summary { text }).await?;
    let alone = Hot::encode(b"alone".to_vec());
    artifact::put(tx, &alone).await?;
    artifact::announce(tx, alone.id()).await?;
    request::remember(tx, &IdempotencyKey::new("try-1").unwrap(), &[7; 32], &root).await
}
