//! What nothing refers to is removed, and nothing else is, whoever writes meanwhile.

use std::{
    io::{self, Cursor, Read},
    sync::mpsc,
    time::Duration,
};

use contexture::{CollectMode, Collected, Collection, Contexture, Error, KeptUnreferenced, StoreError};
use contexture_core::{ArtifactId, JournalKind};
use contexture_store::artifact;
use futures_util::future;

use crate::{Backend, Harness, head, journal, noise, say, stored, write};

const MIB: usize = 1 << 20;
const DAY: Duration = Duration::from_hours(24);

async fn collect(store: &Contexture, grace: Duration) -> Collected {
    let mut steps = Vec::new();
    let collection = Collection { grace, mode: CollectMode::Remove };
    let collected = store.collect(collection, &mut |step| steps.push(step)).await.unwrap();
    assert!(steps.iter().all(|step| step.done <= step.total));
    collected
}

/// Counts what nothing refers to, in a store in which nothing is wrong.
async fn unreferenced(store: &Contexture) -> (u64, u64) {
    let report = store.fsck(&mut |_| {}).await.unwrap();
    assert_eq!(report.problems, []);
    let unreferenced = report.unreferenced.unwrap();
    (unreferenced.artifacts, unreferenced.bytes)
}

/// Begins to store content and breaks off at its end, as a program that is killed does.
async fn break_off(store: &Contexture, content: &str) {
    struct Fails;
    impl Read for Fails {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::ErrorKind::ConnectionReset.into())
        }
    }
    let failing = Cursor::new(content.to_owned().into_bytes()).chain(Fails);
    let error = store.put_artifact(failing).await.unwrap_err();
    assert!(matches!(error, Error::Store(StoreError::Input(_))), "{error:?}");
}

pub async fn what_nothing_refers_to_goes_once_it_is_old<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    say("one").onto("main").commit(&store).await;
    break_off(&store, &noise("left", 9 * MIB)).await;
    let (artifacts, bytes) = unreferenced(&store).await;
    assert!(artifacts > 60 && bytes > 4 << 20, "{artifacts} artifacts of {bytes} bytes are left");
    let young = collect(&store, DAY).await;
    let kept = KeptUnreferenced { too_young: artifacts, too_young_bytes: bytes, ..KeptUnreferenced::default() };
    assert_eq!(young, Collected { kept, ..Collected::default() });
    harness.clock.advance(DAY + Duration::from_secs(1));
    let dry_run = Collection { grace: DAY, mode: CollectMode::DryRun };
    let would = store.collect(dry_run, &mut |_| {}).await.unwrap();
    assert_eq!(unreferenced(&store).await, (artifacts, bytes));
    let done = collect(&store, DAY).await;
    assert_eq!((done, done.artifacts, done.bytes), (would, artifacts, bytes));
    assert!(done.stored_bytes > 0 && done.kept == KeptUnreferenced::default());
    assert_eq!(unreferenced(&store).await, (0, 0));
    let records = journal(&store).await;
    let told: u64 = records
        .iter()
        .filter(|record| record.kind == JournalKind::ArtifactsCollected)
        .map(|record| record.subject.parse::<u64>().unwrap())
        .sum();
    assert_eq!(told, artifacts);
    let seq = records.last().unwrap().seq;
    assert_eq!(collect(&store, Duration::ZERO).await, Collected::default());
    assert_eq!(journal(&store).await.last().unwrap().seq, seq, "a collection of nothing is no change");
}

pub async fn what_is_referred_to_or_was_stored_by_itself_stays<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let shared = noise("shared", 3 * MIB);
    let large = write("text", shared.clone()).onto("main").commit(&store).await;
    let small = say("one").onto("main").commit(&store).await;
    let alone = stored(&store, b"alone").await;
    let large_alone = stored(&store, noise("alone", MIB).as_bytes()).await;
    // Some of what is left is shared with what stays.
    break_off(&store, &(shared.clone() + &noise("left", 9 * MIB))).await;
    let whole = noise("whole", MIB) + &shared;
    let scope = store.scope();
    let unused = artifact::put_stream(store.store(), &scope, Cursor::new(whole.into_bytes())).await.unwrap();
    harness.clock.advance(Duration::from_secs(1));
    let collected = collect(&store, Duration::ZERO).await;
    assert!(collected.artifacts > 60, "{collected:?}");
    let kept =
        KeptUnreferenced { by_themselves: 2, by_themselves_bytes: 5 + MIB as u64, ..KeptUnreferenced::default() };
    assert_eq!(collected.kept, kept);
    let error = store.stat_artifact(unused.id).await.unwrap_err();
    assert!(matches!(error, Error::Store(StoreError::NoArtifact(id)) if id == unused.id), "{error:?}");
    assert_eq!(crate::artifact(&store, large_alone).await, noise("alone", MIB).into_bytes());
    assert_eq!(crate::artifact(&store, alone).await, b"alone");
    assert_eq!(crate::artifact(&store, ArtifactId::of(shared.as_bytes())).await, shared.into_bytes());
    assert_eq!(unreferenced(&store).await, (2, 5 + MIB as u64));
    assert_eq!(store.head(&head("main")).await.unwrap(), Some(small));
    assert!(store.show(large).await.is_ok());
    assert_eq!(collect(&store, Duration::ZERO).await.artifacts, 0);
}

pub async fn what_was_left_and_is_stored_by_itself_then_stays<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let scope = store.scope();
    for content in [b"small".to_vec(), noise("large", MIB).into_bytes()] {
        let left = artifact::put_stream(store.store(), &scope, Cursor::new(content.clone())).await.unwrap();
        assert_eq!(stored(&store, &content).await, left.id);
        assert_eq!(stored(&store, &content).await, left.id);
        harness.clock.advance(DAY * 2);
        assert_eq!(collect(&store, DAY).await.artifacts, 0);
        assert_eq!(crate::artifact(&store, left.id).await, content);
    }
    let stored = journal(&store).await.into_iter().filter(|record| record.kind == JournalKind::ArtifactStored).count();
    assert_eq!(stored, 2);
}

pub async fn what_was_left_and_is_found_again_is_young<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let content = noise("left", 9 * MIB);
    break_off(&store, &content).await;
    let (artifacts, _) = unreferenced(&store).await;
    harness.clock.advance(DAY * 2);
    break_off(&store, &content).await;
    assert_eq!(collect(&store, DAY).await.kept.too_young, artifacts);
    harness.clock.advance(DAY * 2);
    let scope = store.scope();
    let left = artifact::put_stream(store.store(), &scope, Cursor::new(b"small".to_vec())).await.unwrap();
    harness.clock.advance(DAY * 2);
    // A checkpoint that finds it refers to it at once; another program that only found it is given as long as if it were new.
    let scope = store.scope();
    artifact::put_stream(store.store(), &scope, Cursor::new(b"small".to_vec())).await.unwrap();
    let collected = collect(&store, DAY).await;
    assert_eq!((collected.artifacts, collected.kept.too_young), (artifacts, 1));
    assert_eq!(crate::artifact(&store, left.id).await, b"small");
}

/// Gives some bytes, and the others only when somebody says so.
struct Halting {
    first: Cursor<Vec<u8>>,
    go_on: mpsc::Receiver<()>,
    rest: Cursor<Vec<u8>>,
}

impl Read for Halting {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.first.read(buffer)?;
        if count > 0 {
            return Ok(count);
        }
        if self.rest.position() == 0 {
            // Whoever says so is gone only when the test has failed.
            self.go_on.recv().map_err(io::Error::other)?;
        }
        self.rest.read(buffer)
    }
}

pub async fn who_takes_longer_than_the_grace_is_told<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let content = noise("slow", 10 * MIB).into_bytes();
    let (say_so, go_on) = mpsc::channel();
    let reader = Halting {
        first: Cursor::new(content[..9 * MIB].to_vec()),
        go_on,
        rest: Cursor::new(content[9 * MIB..].to_vec()),
    };
    let slow = tokio::spawn({
        let store = store.clone();
        async move { store.put_artifact(reader).await }
    });
    let mut removed = 0;
    while removed == 0 {
        harness.clock.advance(Duration::from_secs(1));
        removed = collect(&store, Duration::ZERO).await.artifacts;
        tokio::task::yield_now().await;
    }
    say_so.send(()).unwrap();
    let error = slow.await.unwrap().unwrap_err();
    let id = ArtifactId::of(&content);
    assert!(matches!(error, Error::Store(StoreError::PartRemoved { artifact, .. }) if artifact == id), "{error:?}");
    unreferenced(&store).await;
    assert_eq!(stored(&store, &content).await, id);
    assert_eq!(crate::artifact(&store, id).await, content);
}

/// Stores content until no collection was in the way, and returns how often it was.
async fn insist(store: &Contexture, name: &str, content: &str) -> u64 {
    let mut refused = 0;
    loop {
        match write("text", content.to_owned()).onto(name).send(store).await {
            Ok(_) => return refused,
            Err(Error::Store(StoreError::PartRemoved { .. } | StoreError::NoArtifact(_))) => refused += 1,
            Err(error) => panic!("{error:?}"),
        }
    }
}

pub async fn writers_and_collections_go_on_beside_each_other<B: Backend>() {
    const WRITERS: usize = 6;
    const ROUNDS: usize = 5;
    let harness = Harness::<B>::new().await;
    let (store, other) = (harness.open().await, harness.open().await);
    let shared = noise("shared", MIB);
    let content = |writer: usize, round: usize| match (writer + round) % 3 {
        0 => format!("small {writer} {round}"),
        // Several writers store the same at the same time.
        1 => shared.clone() + &noise(&format!("round {round}"), MIB),
        _ => noise(&format!("writer {writer}"), MIB) + &shared + &round.to_string(),
    };
    let content = &content;
    let writing = (0..WRITERS).map(|writer| {
        let store = if writer % 2 == 0 { &store } else { &other };
        async move {
            for round in 0..ROUNDS {
                // Somebody else gives up in the middle of the same.
                if writer == 0 {
                    break_off(store, &(content(1, round) + &noise("more", 4 * MIB))).await;
                }
                insist(store, &format!("writer-{writer}"), &content(writer, round)).await;
            }
        }
    });
    let done = future::join_all(writing);
    let collecting = async {
        let mut collections = 0;
        loop {
            // What was stored a moment ago is old.
            harness.clock.advance(Duration::from_millis(1));
            collect(if collections % 2 == 0 { &other } else { &store }, Duration::from_millis(1)).await;
            collections += 1;
            tokio::task::yield_now().await;
        }
    };
    futures_util::pin_mut!(done, collecting);
    future::select(done, collecting).await;
    harness.clock.advance(DAY);
    collect(&store, Duration::ZERO).await;
    assert_eq!(unreferenced(&store).await, (0, 0));
    for writer in 0..WRITERS {
        for round in 0..ROUNDS {
            let content = content(writer, round).into_bytes();
            assert!(
                crate::artifact(&store, ArtifactId::of(&content)).await == content,
                "writer {writer}, round {round}"
            );
        }
    }
}
