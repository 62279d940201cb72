//! Artifacts: bytes of any size, stored once, checked on the way out.

use std::io;

use contexture::{Contexture, Encoding, Error, StoreError, StoredArtifact};
use contexture_core::{ArtifactId, JournalKind};

use crate::{Backend, Harness, artifact, journal, noise, say, stored};

/// Largest artifact that is one row.
const HOT: usize = 256 * 1024;
const MIB: usize = 1024 * 1024;

async fn put(store: &Contexture, bytes: &[u8]) -> StoredArtifact {
    store.put_artifact(io::Cursor::new(bytes.to_vec())).await.unwrap()
}

async fn stored_records(store: &Contexture) -> Vec<String> {
    let records = journal(store).await.into_iter();
    records.filter(|record| record.kind == JournalKind::ArtifactStored).map(|record| record.subject).collect()
}

pub async fn content_of_any_size_comes_back_bit_equal<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    for len in [0, 1, HOT - 1, HOT, HOT + 1, 2 * HOT, 5 * MIB + 3] {
        for content in [noise("1", len).into_bytes(), vec![b'x'; len]] {
            let id = ArtifactId::of(&content);
            let put = put(&store, &content).await;
            assert_eq!((put.id, put.size), (id, len as u64));
            assert!(artifact(&store, id).await == content, "{len} bytes come back changed");
            let stat = store.stat_artifact(id).await.unwrap();
            assert_eq!((stat.id, stat.size), (id, len as u64));
            assert_eq!((stat.encoding == Encoding::Parts, stat.parts > 1), (len > HOT, len > HOT));
            assert!(stat.stored_bytes <= stat.size);
        }
    }
}

pub async fn text_is_stored_smaller_than_it_is<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    for len in [HOT, MIB] {
        let id = stored(&store, &b"all work and no play\n".repeat(len / 21)).await;
        let stat = store.stat_artifact(id).await.unwrap();
        assert!(stat.stored_bytes < stat.size / 4, "{stat:?}");
    }
}

pub async fn identical_content_is_stored_once<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    for len in [1, HOT, 3 * MIB] {
        let content = noise("2", len).into_bytes();
        assert_eq!(put(&store, &content).await.new_bytes, len as u64);
        let before = journal(&store).await;
        assert_eq!(put(&store, &content).await.new_bytes, 0);
        assert_eq!(journal(&store).await, before);
    }
}

pub async fn a_near_copy_adds_little<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let content = noise("3", 8 * MIB).into_bytes();
    put(&store, &content).await;
    let middle = content.len() / 2;
    let near_copies = [
        [b"in front".as_slice(), &content].concat(),
        [&content[..middle], b"inserted", &content[middle..]].concat(),
        [&content[..middle], &content[middle + 1000..]].concat(),
        [&content, b"behind".as_slice()].concat(),
    ];
    for near_copy in near_copies {
        let put = put(&store, &near_copy).await;
        // The cut moves at most from one chunk to the next before both copies are cut alike again.
        assert!(put.new_bytes <= 3 * HOT as u64, "{put:?}");
        assert!(artifact(&store, put.id).await == near_copy);
    }
}

pub async fn each_artifact_stored_by_itself_is_in_the_journal_once<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let turn = noise("4", MIB).into_bytes();
    let contents = [Vec::new(), b"small".to_vec(), turn.repeat(3), turn.repeat(4)];
    let (mut expected, mut new_bytes) = (Vec::new(), Vec::new());
    for content in contents {
        let put = put(&store, &content).await;
        expected.push(put.id.to_string());
        new_bytes.push(put.new_bytes);
        stored(&store, &content).await;
    }
    assert_eq!(new_bytes[3], 0, "the last is made of parts that are all there");
    assert_eq!(stored_records(&store).await, expected);
}

pub async fn the_content_of_a_commit_is_an_artifact<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let draft = say("one");
    let id = ArtifactId::of(&draft.content);
    draft.clone().commit(&store).await;
    assert_eq!(artifact(&store, id).await, draft.content);
    assert_eq!(put(&store, &draft.content).await.new_bytes, 0);
    // Somebody has stored it by itself now.
    assert_eq!(stored_records(&store).await, [id.to_string()]);
}

pub async fn a_missing_artifact_is_named<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let missing = ArtifactId::of(b"nobody stored this");
    let refusals = [
        store.stat_artifact(missing).await.map(drop).unwrap_err(),
        store.get_artifact(missing, &mut io::sink()).await.map(drop).unwrap_err(),
    ];
    for error in refusals {
        assert!(matches!(error, Error::Store(StoreError::NoArtifact(id)) if id == missing), "{error:?}");
    }
}

pub async fn a_damaged_artifact_is_an_error_and_never_wrong_bytes<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    for len in [10, HOT, 2 * MIB] {
        let id = stored(&store, &noise("5", len).into_bytes()).await;
        harness.backend.damage_artifact(id).await;
        let mut out = Vec::new();
        let error = store.get_artifact(id, &mut out).await.unwrap_err();
        assert!(matches!(error, Error::Store(StoreError::DamagedArtifact(_))), "{error:?}");
        assert_eq!(out, b"", "bytes of {len} came out unchecked");
    }
}

pub async fn a_reader_that_fails_stores_no_artifact<B: Backend>() {
    struct Fails;
    impl io::Read for Fails {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::ErrorKind::ConnectionReset.into())
        }
    }
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let start = noise("6", 2 * MIB).into_bytes();
    let failing = io::Read::chain(io::Cursor::new(start.clone()), Fails);
    let error = store.put_artifact(failing).await.unwrap_err();
    assert!(matches!(error, Error::Store(StoreError::Input(_))), "{error:?}");
    assert_eq!(stored_records(&store).await, Vec::<String>::new());
    let error = store.stat_artifact(ArtifactId::of(&start)).await.unwrap_err();
    assert!(matches!(error, Error::Store(StoreError::NoArtifact(_))), "{error:?}");
}
