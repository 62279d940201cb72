//! Which directories are stores, and which are refused by name.

use std::{fs, path::Path};

use contexture_core::{Actor, SpaceName, Timestamp};
use contexture_store::{Disclosure, Error, Scope, Store, journal};
use futures_util::{FutureExt as _, future};

const FILE: &str = "contexture.db";

fn scope() -> Scope {
    Scope {
        space: SpaceName::new("default").unwrap(),
        actor: Actor::new("tester").unwrap(),
        now: Timestamp::from_micros(0).unwrap(),
        disclosure: Disclosure::Masked,
        opener: None,
    }
}

async fn refusal(directory: &Path) -> Error {
    Store::open(directory).await.err().expect("the directory is refused")
}

fn change(directory: &Path, sql: &str) {
    rusqlite::Connection::open(directory.join(FILE)).unwrap().execute_batch(sql).unwrap();
}

#[tokio::test]
async fn a_store_is_made_with_the_directories_that_lead_to_it() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a/b/c");
    let store = Store::open(path.as_path()).await.unwrap();
    assert!(path.join(FILE).is_file());
    let tip = store.read(scope(), (), |tx, ()| journal::tip(tx).boxed()).await.unwrap();
    assert_eq!(tip, None);
}

#[cfg(unix)]
#[tokio::test]
async fn only_the_owner_may_enter_a_new_store() {
    use std::os::unix::fs::PermissionsExt as _;

    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store");
    Store::open(path.as_path()).await.unwrap();
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o700);
}

#[tokio::test]
async fn many_may_make_the_same_store_at_once() {
    // They must meet at the worst moment, which one round seldom shows.
    for round in 0..100 {
        let directory = tempfile::tempdir().unwrap();
        let opened = future::join_all((0..8).map(|_| Store::open(directory.path()))).await;
        for store in opened {
            let store = store.unwrap_or_else(|error| panic!("round {round}: {error}"));
            store.read(scope(), (), |tx, ()| journal::tip(tx).boxed()).await.unwrap();
        }
    }
}

#[tokio::test]
async fn a_store_of_a_newer_program_is_refused_by_its_version() {
    let directory = tempfile::tempdir().unwrap();
    drop(Store::open(directory.path()).await.unwrap());
    change(directory.path(), "PRAGMA user_version = 99");
    let before = fs::read(directory.path().join(FILE)).unwrap();
    let error = refusal(directory.path()).await;
    assert!(
        matches!(&error, Error::Newer { store, found: 99, .. } if *store == directory.path().display().to_string()),
        "{error:?}"
    );
    assert_eq!(fs::read(directory.path().join(FILE)).unwrap(), before);
}

#[tokio::test]
async fn a_database_of_something_else_is_refused_and_left_alone() {
    for sql in ["CREATE TABLE theirs (a)", "PRAGMA application_id = 5", "PRAGMA user_version = 1"] {
        let directory = tempfile::tempdir().unwrap();
        change(directory.path(), sql);
        let file = directory.path().join(FILE);
        let before = fs::read(&file).unwrap();
        let error = refusal(directory.path()).await;
        assert!(matches!(&error, Error::Foreign { store } if *store == file.display().to_string()), "{sql}: {error:?}");
        assert!(fs::read(&file).unwrap() == before, "{sql}: somebody else's file was changed");
    }
}

#[tokio::test]
async fn a_file_that_is_no_database_is_refused_and_left_alone() {
    let directory = tempfile::tempdir().unwrap();
    let content = b"a letter that somebody keeps here\n".repeat(1000);
    fs::write(directory.path().join(FILE), &content).unwrap();
    let error = refusal(directory.path()).await;
    assert!(matches!(error, Error::Damaged { .. } | Error::Foreign { .. }), "{error:?}");
    assert_eq!(fs::read(directory.path().join(FILE)).unwrap(), content);
}

#[tokio::test]
async fn a_store_that_is_cut_off_is_an_error() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(directory.path()).await.unwrap();
    drop(store);
    change(directory.path(), "PRAGMA wal_checkpoint(TRUNCATE)");
    let file = directory.path().join(FILE);
    let whole = fs::read(&file).unwrap();
    fs::write(&file, &whole[..whole.len() / 2]).unwrap();
    // SQLite notices when it opens the file or when it first needs what is gone.
    let error = match Store::open(directory.path()).await {
        Err(error) => error,
        Ok(store) => store.read(scope(), (), |tx, ()| journal::tip(tx).boxed()).await.unwrap_err(),
    };
    assert!(matches!(error, Error::Damaged { .. }), "{error:?}");
}

#[tokio::test]
async fn a_place_that_is_no_directory_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("file");
    fs::write(&file, "").unwrap();
    for path in [file.clone(), file.join("below")] {
        let error = refusal(&path).await;
        assert!(matches!(&error, Error::Open { path: named, .. } if *named == path), "{error:?}");
    }
}
