//! Stores and bundles that earlier versions wrote are read for ever.

use std::{fs, path::PathBuf};

use contexture::{Contexture, EnvelopeFilter, Expect, Stop};
use contexture_core::{ArtifactId, CommitId, HeadName, MissingId, SpaceName};
use contexture_testkit::{
    Backend, Harness, SqliteBackend, artifact, assert_whole, block_on, materialized, postgres::PostgresBackend,
};

/// The tips of the two chains.
const HEADS: [(&str, &str); 2] =
    [("main", "ctx-510f9d09f034d2de609692505913d3c5"), ("review", "ctx-6d0aa6fc14ce1a4d934949aa28a3e118")];
/// BLAKE3 of what `main` materializes to, since the compaction and from the root.
const CONVERSATIONS: [(Stop, &str); 2] = [
    (Stop::Compaction, "art-a3004e2a5ed84682a540bd607538f15f7065312af9a1377801ec4e95f547fae0"),
    (Stop::Root, "art-661a611536d0017281ff2666b6c151635d2d55b12616a36b2af6c5cf91b3a569"),
];

/// The documents of the envelopes, oldest first. The second is made from no commit.
const DOCUMENTS: [&str; 2] = [r#"{"turn":1}"#, r#"{"turn":2}"#];
/// Their ids.
const ENVELOPES: [&str; 2] = ["env-eaeaa22c263e63f7b40a97afa63a82fd", "env-f3950e9b998d54ee7c01a9b381180f17"];

fn fixture(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

/// Opens a copy of a store that an earlier version wrote.
async fn open(harness: &Harness<SqliteBackend>, version: &str) -> Contexture {
    fs::create_dir_all(harness.backend.directory()).unwrap();
    let file = fixture(version).join("contexture.db");
    fs::copy(file, harness.backend.directory().join("contexture.db")).unwrap();
    harness.open().await
}

async fn assert_chains(store: &Contexture) {
    let observed = assert_whole(store, &SpaceName::new("default").unwrap()).await;
    assert_eq!(observed.commits.len(), 6);
    for (head, tip) in HEADS {
        let at = store.head(&HeadName::new(head).unwrap()).await.unwrap();
        assert_eq!(at, Some(tip.parse().unwrap()), "{head}");
    }
    let main: CommitId = HEADS[0].1.parse().unwrap();
    for (stop, digest) in CONVERSATIONS {
        let (bytes, _) = materialized(store, main, stop).await;
        assert_eq!(ArtifactId::of(&bytes).to_string(), digest, "{stop:?}");
    }
    let tip = store.show(main).await.unwrap();
    assert_eq!(tip.annotations.tags.iter().map(ToString::to_string).collect::<Vec<_>>(), ["big"]);
}

async fn assert_envelopes(store: &Contexture) {
    let mut listed = store.envelopes().list(&EnvelopeFilter::default(), None, 10).await.unwrap();
    listed.reverse();
    assert_eq!(listed.iter().map(|envelope| envelope.id.to_string()).collect::<Vec<_>>(), ENVELOPES);
    let main: CommitId = HEADS[0].1.parse().unwrap();
    assert_eq!([listed[0].commit, listed[1].commit], [Some(main), None]);
    for (envelope, document) in listed.iter().zip(DOCUMENTS) {
        assert_eq!(artifact(store, envelope.document).await, document.as_bytes());
        let attached = store.envelope_artifacts(envelope.id).await.unwrap();
        assert_eq!(attached, [ArtifactId::of(b"frozen input")]);
        assert_eq!(store.injections(envelope.id, 0, 10).await.unwrap().len(), 1);
        assert_eq!(store.envelope_events(envelope.id, 0, 10).await.unwrap().len(), 1);
    }
    let states = DOCUMENTS.map(|document| store.missing(MissingId::of(document.as_bytes())));
    let states = futures_util::future::join_all(states).await;
    let states: Vec<_> = states.into_iter().map(|state| state.unwrap().missing.status.to_string()).collect();
    assert_eq!(states, ["open", "resolved"]);
}

#[test]
fn stores_of_earlier_versions_open_whole() {
    block_on(async {
        for version in ["v1", "v3", "v4", "v5", "v6"] {
            let harness = Harness::<SqliteBackend>::new().await;
            let store = open(&harness, version).await;
            assert_chains(&store).await;
            if ["v4", "v5", "v6"].contains(&version) {
                assert_envelopes(&store).await;
            }
        }
    });
}

#[test]
fn a_store_of_version_3_takes_in_envelopes() {
    block_on(async {
        let harness = Harness::<SqliteBackend>::new().await;
        let store = open(&harness, "v3").await;
        let imported = store.import_bundle(fs::File::open(fixture("v4/chain.bundle")).unwrap()).await.unwrap();
        assert_eq!((imported.new_commits, imported.new_envelopes), (0, 2));
        assert_chains(&store).await;
        assert_envelopes(&store).await;
    });
}

#[test]
fn a_store_of_version_3_on_postgresql_goes_to_the_newest() {
    block_on(async {
        let harness = Harness::<PostgresBackend>::new().await;
        let store = harness.open().await;
        store.import_bundle(fs::File::open(fixture("v1/chain.bundle")).unwrap()).await.unwrap();
        drop(store);
        let (server, schema) = (harness.backend.server(), harness.backend.schema());
        server.psql(&format!("SET search_path = {schema}; {}", back_to_version_4(["BIGINT", "TEXT", "BYTEA"])));
        // What version 4 added is taken away again.
        let tables = ["envelopes", "envelope_artifacts", "injections", "missing", "events", "token_counts"];
        let tables = tables.map(|table| format!("{schema}.{table}")).join(", ");
        server.psql(&format!("DROP TABLE {tables}; UPDATE {schema}.contexture_store SET version = 3"));
        let store = harness.open().await;
        assert_chains(&store).await;
        store.import_bundle(fs::File::open(fixture("v4/chain.bundle")).unwrap()).await.unwrap();
        assert_envelopes(&store).await;
        assert_chains(&store).await;
    });
}

/// Returns statements that bring heads and their log to where version 4 had them, with the engine's names of number, text
/// and bytes.
fn back_to_version_4([number, text, bytes]: [&str; 3]) -> String {
    format!(
        "CREATE TABLE old_reflog (space {number} NOT NULL, head {text} NOT NULL, seq {number} NOT NULL, \
             from_commit {bytes}, to_commit {bytes}, actor {text} NOT NULL, at {number} NOT NULL, \
             PRIMARY KEY (space, head, seq)); \
         INSERT INTO old_reflog SELECT space, head, seq, from_commit, to_commit, actor, at FROM reflog; \
         CREATE TABLE old_heads (space {number} NOT NULL, name {text} NOT NULL, commit_id {bytes} NOT NULL, \
             moved_at {number} NOT NULL, PRIMARY KEY (space, name)); \
         INSERT INTO old_heads SELECT space, name, commit_id, moved_at FROM heads WHERE commit_id IS NOT NULL; \
         DROP TABLE reflog; DROP TABLE heads; \
         ALTER TABLE old_reflog RENAME TO reflog; ALTER TABLE old_heads RENAME TO heads; \
         ALTER TABLE injections DROP COLUMN withheld; \
         ALTER TABLE missing DROP COLUMN withheld; ALTER TABLE events DROP COLUMN withheld; \
         DROP TABLE findings; DROP TABLE sealed_originals; DROP TABLE withheld; DROP TABLE secret_policies; \
         DROP TABLE secret_scans; ALTER TABLE annotations DROP COLUMN withheld; \
         DROP INDEX parts_by_part; DROP INDEX journal_of_stored; DROP TABLE renderings; \
         DROP TABLE session_bindings; DROP TABLE turns; DROP TABLE cursors; DROP TABLE participants; \
         DROP TABLE message_mentions; DROP TABLE messages; DROP TABLE channels; \
         ALTER TABLE artifacts DROP COLUMN stored_at; ALTER TABLE artifacts DROP COLUMN has_findings;"
    )
}

/// Makes heads that are moved and deleted, one of them again.
async fn move_heads_about(store: &Contexture) {
    let [main, review] = HEADS.map(|(_, tip)| tip.parse::<CommitId>().unwrap());
    let (gone, back) = (HeadName::new("gone").unwrap(), HeadName::new("back").unwrap());
    for head in [&gone, &back] {
        store.set_head(head, main, Expect::Absent).await.unwrap();
        store.set_head(head, review, Expect::At(main)).await.unwrap();
        store.delete_head(head, Expect::At(review)).await.unwrap();
    }
    store.set_head(&back, main, Expect::Absent).await.unwrap();
}

/// Checks that a store whose heads were brought back to version 4 is as it was, and can be gone on with.
async fn assert_heads_come_back<B: Backend>(harness: &Harness<B>, bring_back: impl Fn()) {
    let store = harness.open().await;
    store.import_bundle(fs::File::open(fixture("v4/chain.bundle")).unwrap()).await.unwrap();
    move_heads_about(&store).await;
    let space = SpaceName::new("default").unwrap();
    let before = assert_whole(&store, &space).await;
    drop(store);
    bring_back();
    let store = harness.open().await;
    assert_eq!(assert_whole(&store, &space).await, before);
    let gone = HeadName::new("gone").unwrap();
    assert_eq!(store.head(&gone).await.unwrap(), None);
    store.set_head(&gone, HEADS[0].1.parse().unwrap(), Expect::Absent).await.unwrap();
    let log = store.head_log(&gone, u64::MAX, 10).await.unwrap();
    assert_eq!(log[1..], before.moves[&gone]);
    assert_whole(&store, &space).await;
}

#[test]
fn heads_and_their_logs_come_through_to_version_5() {
    block_on(async {
        let harness = Harness::<SqliteBackend>::new().await;
        let database = harness.backend.directory().join("contexture.db");
        assert_heads_come_back(&harness, || {
            let connection = rusqlite::Connection::open(&database).unwrap();
            let back = back_to_version_4(["INTEGER", "TEXT", "BLOB"]);
            connection.execute_batch(&format!("{back} PRAGMA user_version = 4")).unwrap();
        })
        .await;
    });
}

#[test]
fn heads_and_their_logs_come_through_to_version_5_on_postgresql() {
    block_on(async {
        let harness = Harness::<PostgresBackend>::new().await;
        let (server, schema) = (harness.backend.server(), harness.backend.schema());
        assert_heads_come_back(&harness, || {
            let back = back_to_version_4(["BIGINT", "TEXT", "BYTEA"]);
            let mark = "UPDATE contexture_store SET version = 4";
            server.psql(&format!("SET search_path = {schema}; {back} {mark}"));
        })
        .await;
    });
}

#[test]
fn a_bundle_of_version_2_is_taken_in_whole() {
    block_on(async {
        let harness = Harness::<SqliteBackend>::new().await;
        let store = harness.open().await;
        let imported = store.import_bundle(fs::File::open(fixture("v4/chain.bundle")).unwrap()).await.unwrap();
        assert_eq!((imported.new_commits, imported.new_envelopes), (6, 2));
        assert_chains(&store).await;
        assert_envelopes(&store).await;
    });
}

#[test]
fn a_bundle_of_version_1_is_taken_in_whole() {
    block_on(async {
        let harness = Harness::<SqliteBackend>::new().await;
        let store = harness.open().await;
        let imported = store.import_bundle(fs::File::open(fixture("v1/chain.bundle")).unwrap()).await.unwrap();
        assert_eq!((imported.commits, imported.new_commits), (6, 6));
        assert_chains(&store).await;
    });
}
