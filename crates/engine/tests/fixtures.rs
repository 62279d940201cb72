//! Stores and bundles that earlier versions wrote are read for ever.

use std::{fs, path::PathBuf};

use contexture::{Contexture, Stop};
use contexture_core::{ArtifactId, CommitId, HeadName, SpaceName};
use contexture_testkit::{Harness, SqliteBackend, assert_whole, block_on, materialized};

/// The tips of the two chains.
const HEADS: [(&str, &str); 2] =
    [("main", "ctx-510f9d09f034d2de609692505913d3c5"), ("review", "ctx-6d0aa6fc14ce1a4d934949aa28a3e118")];
/// BLAKE3 of what `main` materializes to, since the compaction and from the root.
const CONVERSATIONS: [(Stop, &str); 2] = [
    (Stop::Compaction, "art-a3004e2a5ed84682a540bd607538f15f7065312af9a1377801ec4e95f547fae0"),
    (Stop::Root, "art-661a611536d0017281ff2666b6c151635d2d55b12616a36b2af6c5cf91b3a569"),
];

fn fixture(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/v1").join(name)
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

#[test]
fn a_store_of_version_1_opens_whole() {
    block_on(async {
        let harness = Harness::<SqliteBackend>::new().await;
        fs::create_dir_all(harness.backend.directory()).unwrap();
        fs::copy(fixture("contexture.db"), harness.backend.directory().join("contexture.db")).unwrap();
        assert_chains(&harness.open().await).await;
    });
}

#[test]
fn a_bundle_of_version_1_is_taken_in_whole() {
    block_on(async {
        let harness = Harness::<SqliteBackend>::new().await;
        let store = harness.open().await;
        let imported = store.import_bundle(fs::File::open(fixture("chain.bundle")).unwrap()).await.unwrap();
        assert_eq!((imported.commits, imported.new_commits), (6, 6));
        assert_chains(&store).await;
    });
}
