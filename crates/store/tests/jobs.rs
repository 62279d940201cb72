//! How jobs share the store: in groups, beside readers, beside other programs.

use std::{
    fs,
    path::Path,
    sync::{Arc, Mutex, mpsc},
};

use contexture_core::{Actor, ArtifactId, SpaceName, Timestamp};
use contexture_store::{
    Disclosure, Error, Result, Scope, Store, Tx,
    artifact::{self, Hot},
    journal,
};
use futures_util::{FutureExt as _, future};
use tokio::{sync::Notify, task::JoinHandle};

fn scope() -> Scope {
    Scope {
        space: SpaceName::new("default").unwrap(),
        actor: Actor::new("tester").unwrap(),
        now: Timestamp::from_micros(0).unwrap(),
        disclosure: Disclosure::Masked,
        opener: None,
    }
}

/// Stores an artifact and tells the journal of it, which is the smallest change.
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

async fn tip(store: &Store) -> u64 {
    let tip = store.read(scope(), (), |tx, ()| journal::tip(tx).boxed()).await.unwrap();
    tip.map_or(0, |(seq, _)| seq)
}

/// Counts the transactions in a write-ahead log: the frames that say how large the database is after them.
fn transactions(directory: &Path) -> usize {
    const HEADER: usize = 32;
    const FRAME_HEADER: usize = 24;
    let log = fs::read(directory.join("contexture.db-wal")).unwrap();
    let page = u32::from_be_bytes(log[8..12].try_into().unwrap()) as usize;
    let frames = log[HEADER..].chunks_exact(FRAME_HEADER + page);
    frames.filter(|frame| frame[4..8] != [0; 4]).count()
}

/// A job that keeps its thread until it is let go.
struct Held {
    go: mpsc::Sender<()>,
    job: JoinHandle<Result<u64>>,
}

/// What such a job does.
struct Hold {
    started: mpsc::Sender<()>,
    wait: Mutex<mpsc::Receiver<()>>,
}

impl Hold {
    fn run(&self, tx: &mut Tx<'_>) -> u64 {
        let seen = |tx: &mut Tx<'_>| journal::tip(tx).now_or_never().unwrap().unwrap().map_or(0, |(seq, _)| seq);
        let before = seen(tx);
        self.started.send(()).unwrap();
        self.wait.lock().unwrap().recv().unwrap();
        assert_eq!(seen(tx), before, "the job sees more than one moment");
        before
    }
}

/// Which side of the store a job holds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Reader,
    Writer,
}

impl Held {
    /// Starts a job that looks at the journal before and after it is held, and returns once it is held.
    async fn start(store: &Store, side: Side) -> Self {
        let ((started, has_started), (go, wait)) = (mpsc::channel::<()>(), mpsc::channel::<()>());
        let hold = Hold { started, wait: Mutex::new(wait) };
        let store = store.clone();
        let job = tokio::spawn(async move {
            match side {
                Side::Reader => store.read(scope(), hold, |tx, hold| future::ready(Ok(hold.run(tx))).boxed()).await,
                Side::Writer => store.write(scope(), hold, |tx, hold| future::ready(Ok(hold.run(tx))).boxed()).await,
            }
        });
        tokio::task::yield_now().await;
        has_started.recv().unwrap();
        Self { go, job }
    }

    /// Lets it go and returns the moment that it saw.
    async fn release(self) -> u64 {
        self.go.send(()).unwrap();
        self.job.await.unwrap().unwrap()
    }
}

#[tokio::test]
async fn jobs_that_wait_together_are_one_transaction() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(directory.path()).await.unwrap();
    put(&store, "the space").await.unwrap();
    let before = transactions(directory.path());
    let held = Held::start(&store, Side::Writer).await;
    let contents: Vec<_> = (0..64).map(|n| n.to_string()).collect();
    let line = future::join_all(contents.iter().map(|content| put(&store, content)));
    // The first is polled first, so all have submitted when the writer is let go.
    let (line, _) = future::join(line, held.release()).await;
    line.into_iter().for_each(Result::unwrap);
    assert_eq!(tip(&store).await, 2 + 64);
    assert_eq!(transactions(directory.path()) - before, 1);
}

#[tokio::test]
async fn a_reader_sees_one_moment_and_keeps_nobody_from_writing() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(directory.path()).await.unwrap();
    put(&store, "before").await.unwrap();
    let held = Held::start(&store, Side::Reader).await;
    put(&store, "meanwhile").await.unwrap();
    assert_eq!(tip(&store).await, 3);
    assert_eq!(held.release().await, 2);
}

#[tokio::test]
async fn a_failed_job_leaves_nothing_and_its_neighbours_everything() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(directory.path()).await.unwrap();
    put(&store, "the space").await.unwrap();
    let held = Held::start(&store, Side::Writer).await;
    let jobs = (0..9).map(async |n| {
        let hot = Hot::encode(format!("job {n}").into_bytes());
        let writing = store.write(scope(), (n, hot), |tx, (n, hot)| {
            async move {
                artifact::put(tx, hot).await?;
                artifact::announce(tx, hot.id()).await?;
                if n % 3 == 0 { Err(Error::NoArtifact(*hot.id())) } else { Ok(()) }
            }
            .boxed()
        });
        writing.await.is_ok()
    });
    let (kept, _) = future::join(future::join_all(jobs), held.release()).await;
    assert_eq!(kept, [false, true, true, false, true, true, false, true, true]);
    for (n, kept) in kept.into_iter().enumerate() {
        let id = ArtifactId::of(format!("job {n}").as_bytes());
        let reading = store.read(scope(), id, |tx, id| artifact::exists(tx, id).boxed());
        assert_eq!(reading.await.unwrap(), kept, "job {n}");
    }
    assert_eq!(tip(&store).await, 2 + 6);
}

#[tokio::test]
async fn a_writer_waits_while_another_program_writes() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(directory.path()).await.unwrap();
    put(&store, "before").await.unwrap();
    let other = rusqlite::Connection::open(directory.path().join("contexture.db")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let waiting = tokio::spawn({
        let store = store.clone();
        async move { put(&store, "after").await }
    });
    tokio::task::yield_now().await;
    assert_eq!(tip(&store).await, 2, "readers go on");
    other.execute_batch("COMMIT").unwrap();
    waiting.await.unwrap().unwrap();
    assert_eq!(tip(&store).await, 3);
}

#[tokio::test]
async fn jobs_that_were_submitted_are_done_before_the_store_closes() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(directory.path()).await.unwrap();
    put(&store, "the space").await.unwrap();
    let held = Held::start(&store, Side::Writer).await;
    let submitted = tokio::spawn({
        let store = store.clone();
        async move { put(&store, "submitted").await }
    });
    tokio::task::yield_now().await;
    // Whoever asked has gone away, but the job has not.
    submitted.abort();
    held.release().await;
    drop(store);
    assert_eq!(tip(&Store::open(directory.path()).await.unwrap()).await, 3);
}

/// What a job awaits that is no answer of the engine.
#[derive(Default)]
struct Elsewhere {
    asked: Notify,
    answered: Notify,
}

impl Elsewhere {
    /// Looks at the journal once somewhere else an answer came.
    async fn look(&self, tx: &mut Tx<'_>) -> Result<u64> {
        self.asked.notify_one();
        self.answered.notified().await;
        Ok(journal::tip(tx).await?.map_or(0, |(seq, _)| seq))
    }

    async fn answer(&self) {
        self.asked.notified().await;
        self.answered.notify_one();
    }
}

/// A store for many callers and one for one, each with a space.
async fn shared_and_alone() -> [(Store, tempfile::TempDir); 2] {
    let directories = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let shared = Store::open(directories[0].path()).await.unwrap();
    let alone = Store::open_alone(directories[1].path()).await.unwrap();
    for store in [&shared, &alone] {
        put(store, "the space").await.unwrap();
    }
    let [first, second] = directories;
    [(shared, first), (alone, second)]
}

#[tokio::test]
async fn a_job_that_awaits_something_else_is_waited_for() {
    for (store, _directory) in shared_and_alone().await {
        let elsewhere = Arc::new(Elsewhere::default());
        let args = || Arc::clone(&elsewhere);
        let reading = store.read(scope(), args(), |tx, elsewhere| elsewhere.look(tx).boxed());
        assert_eq!(future::join(reading, elsewhere.answer()).await.0.unwrap(), 2);
        let glancing = store.glance(scope(), args(), |tx, elsewhere| elsewhere.look(tx).boxed());
        assert_eq!(future::join(glancing, elsewhere.answer()).await.0.unwrap(), 2);
        let writing = store.write(scope(), args(), |tx, elsewhere| elsewhere.look(tx).boxed());
        assert_eq!(future::join(writing, elsewhere.answer()).await.0.unwrap(), 2);
        put(&store, "after").await.unwrap();
        assert_eq!(tip(&store).await, 3);
    }
}

#[tokio::test]
async fn a_caller_who_goes_away_in_a_job_leaves_the_store_usable() {
    for (store, _directory) in shared_and_alone().await {
        let elsewhere = Arc::new(Elsewhere::default());
        let glancing = store.glance(scope(), Arc::clone(&elsewhere), |tx, elsewhere| elsewhere.look(tx).boxed());
        tokio::select! {
            biased;
            _ = glancing => panic!("nobody answers"),
            () = elsewhere.asked.notified() => {}
        }
        put(&store, "after").await.unwrap();
        assert_eq!(tip(&store).await, 3);
    }
}
