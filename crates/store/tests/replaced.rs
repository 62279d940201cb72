//! A store whose files are taken away while it is open acknowledges nothing more.
#![cfg(unix)]

use std::{fs, path::Path};

use contexture_core::{Actor, SpaceName, Timestamp};
use contexture_store::{
    Disclosure, Error, Result, Scope, Store,
    artifact::{self, Hot},
    journal,
};
use futures_util::{FutureExt as _, future};

const DATABASE: &str = "contexture.db";

/// What somebody does to the directory of a store.
type Harm = fn(&Path);

/// All of it, in words.
const HARMS: &[(&str, Harm)] = &[
    ("the directory is deleted", |store| fs::remove_dir_all(store).unwrap()),
    ("the directory is renamed", |store| fs::rename(store, store.with_extension("old")).unwrap()),
    ("the database is deleted", |store| fs::remove_file(store.join(DATABASE)).unwrap()),
    ("the database is replaced by a copy of itself", |store| {
        fs::copy(store.join(DATABASE), store.join("copy")).unwrap();
        fs::rename(store.join("copy"), store.join(DATABASE)).unwrap();
    }),
    ("the directory is replaced", |store| {
        fs::remove_dir_all(store).unwrap();
        fs::create_dir(store).unwrap();
        fs::write(store.join(DATABASE), b"").unwrap();
    }),
    ("the log is deleted", |store| fs::remove_file(store.join("contexture.db-wal")).unwrap()),
    ("the index of the log is deleted", |store| fs::remove_file(store.join("contexture.db-shm")).unwrap()),
];

fn scope() -> Scope {
    Scope {
        space: SpaceName::new("default").unwrap(),
        actor: Actor::new("tester").unwrap(),
        now: Timestamp::from_micros(0).unwrap(),
        disclosure: Disclosure::Masked,
        opener: None,
    }
}

async fn put(store: &Store, content: &str) -> Result<()> {
    let hot = Hot::encode(content.as_bytes().to_vec());
    let writing = store.write(scope(), hot, |tx, hot| {
        async move {
            artifact::put(tx, hot).await?;
            artifact::announce(tx, hot.id()).await
        }
        .boxed()
    });
    writing.await
}

/// Opens a store in both ways, each with a write and a read behind it.
async fn stores() -> Vec<(tempfile::TempDir, Store)> {
    let mut stores = Vec::new();
    for is_alone in [false, true] {
        let directory = tempfile::tempdir().unwrap();
        let place = directory.path().join("store");
        let store =
            if is_alone { Store::open_alone(place.as_path()).await } else { Store::open(place.as_path()).await };
        let store = store.unwrap();
        put(&store, "before").await.unwrap();
        store.read(scope(), (), |tx, ()| journal::tip(tx).boxed()).await.unwrap();
        stores.push((directory, store));
    }
    stores
}

#[tokio::test]
async fn nothing_is_acknowledged_that_others_would_not_find() {
    for (harm, harmed) in HARMS {
        for (directory, store) in stores().await {
            harmed(&directory.path().join("store"));
            let first = put(&store, "after").await;
            assert!(matches!(first, Err(Error::Replaced { .. })), "{harm}: {first:?}");
            let second = put(&store, "later").await;
            assert!(matches!(second, Err(Error::Poisoned { .. })), "{harm}: {second:?}");
        }
    }
}

#[tokio::test]
async fn a_group_that_is_synced_apart_is_not_acknowledged_either() {
    for (harm, harmed) in HARMS {
        let (directory, store) = stores().await.swap_remove(0);
        harmed(&directory.path().join("store"));
        let contents: Vec<String> = (0..64).map(|number| format!("content {number}")).collect();
        let writing = contents.iter().map(|content| put(&store, content));
        let ended = future::join_all(writing).await;
        assert!(ended.iter().all(Result::is_err), "{harm}: {ended:?}");
    }
}

#[tokio::test]
async fn nothing_is_read_from_files_that_are_gone() {
    for (harm, harmed) in HARMS {
        for (directory, store) in stores().await {
            let place = directory.path().join("store");
            harmed(&place);
            let listed = || fs::read_dir(&place).map_or(0, Iterator::count);
            let files = listed();
            let read = store.read(scope(), (), |tx, ()| journal::tip(tx).boxed()).await;
            assert!(matches!(read, Err(Error::Replaced { .. })), "{harm}: {read:?}");
            let glanced = store.glance(scope(), (), |tx, ()| journal::tip(tx).boxed()).await;
            assert!(matches!(glanced, Err(Error::Replaced { .. })), "{harm}: {glanced:?}");
            assert_eq!(listed(), files, "{harm}: looking makes no files");
        }
    }
}

#[tokio::test]
async fn a_store_that_stays_where_it_is_goes_on_through_the_folding_of_its_log() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(directory.path()).await.unwrap();
    // More than the log holds before it is folded in, with others that come and go.
    for number in 0..40 {
        put(&store, &format!("{number} {}", "0123456789abcdef".repeat(10_000 + number))).await.unwrap();
        let other = Store::open(directory.path()).await.unwrap();
        put(&other, &format!("other {number}")).await.unwrap();
    }
    let tip = store.read(scope(), (), |tx, ()| journal::tip(tx).boxed()).await.unwrap();
    // The space itself is the first.
    assert_eq!(tip.map(|(seq, _)| seq), Some(81));
}
