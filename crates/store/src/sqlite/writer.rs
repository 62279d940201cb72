//! The writer thread: takes waiting jobs together, runs them in one transaction, pays for one fsync.

use std::{
    io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError, mpsc},
    thread,
    time::{Duration, Instant},
};

use super::{
    connection::{LogSync, SqliteConnection},
    files::OpenFiles,
    syncer::{self, Syncer},
    wait,
};
use crate::{
    Error, Result,
    job::{self, Group, GroupConnection as _, Job, Kept},
};

/// Most jobs in one transaction. Bounds how long the first of them waits for the last.
const MAX_GROUP: usize = 256;
/// Longest wait for writers that are expected to come back. Less than a sync takes.
const GATHER_TIME: Duration = Duration::from_micros(200);

/// A handle on the writer thread. Dropping it ends the thread after the jobs already submitted.
pub(super) struct Writer {
    jobs: Option<mpsc::Sender<Box<dyn Job>>>,
    thread: Mutex<Option<thread::JoinHandle<()>>>,
}

impl Writer {
    pub(super) fn start(connection: SqliteConnection, path: PathBuf, files: OpenFiles) -> io::Result<Self> {
        let (jobs, queue) = mpsc::channel();
        let syncer = Syncer::start(&path, files.clone())?;
        let mut place = WritePlace { connection, path, files };
        let thread =
            thread::Builder::new().name("ctx-writer".into()).spawn(move || serve(&mut place, syncer, &queue))?;
        Ok(Self { jobs: Some(jobs), thread: Mutex::new(Some(thread)) })
    }

    pub(super) fn submit(&self, job: Box<dyn Job>) -> Result<()> {
        let jobs = self.jobs.as_ref().ok_or(Error::Closed)?;
        jobs.send(job).map_err(|_| Error::Closed)
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.jobs = None;
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            // A panic of the writer was already seen by every submitter as a closed store.
            drop(thread.join());
        }
    }
}

/// Where groups are written.
pub(super) struct WritePlace {
    pub(super) connection: SqliteConnection,
    pub(super) path: PathBuf,
    pub(super) files: OpenFiles,
}

fn serve(place: &mut WritePlace, syncer: Syncer, queue: &mpsc::Receiver<Box<dyn Job>>) {
    let mut last_group = 0;
    while let Ok(first) = queue.recv() {
        let mut group = gather(first, queue, last_group);
        last_group = group.len();
        // A caller who is alone is answered sooner by a commit that syncs. But an answer must not overtake the sync of what
        // it rests on.
        let sync = if group.len() > 1 || syncer.is_busy() { LogSync::Apart } else { LogSync::WithCommit };
        let committed = match syncer.poison() {
            Some(failure) => Err(Error::Poisoned { source: failure }),
            None => wait::to_end(try_group(place, &mut group, sync)),
        };
        match (committed, sync) {
            (Ok(()), LogSync::Apart) => syncer.hand_over(group),
            (ended, _) => job::answer_group(group, &ended),
        }
    }
    if syncer.end().is_none() {
        fold_long_log(&mut place.connection, &place.path);
    }
}

/// Runs a group in one transaction, durable, and answers those who wait.
pub(super) async fn serve_group(place: &mut WritePlace, mut group: Group) {
    let committed = try_group(place, &mut group, LogSync::WithCommit).await;
    job::answer_group(group, &committed);
}

/// Runs a group in one transaction. An error means that nothing of the group was acknowledged.
async fn try_group(place: &mut WritePlace, group: &mut Group, sync: LogSync) -> Result<()> {
    if let Some(failure) = place.connection.poison() {
        return Err(Error::Poisoned { source: failure });
    }
    let ended = commit_durably(place, group, sync).await;
    if sync == LogSync::WithCommit || ended.is_err() {
        // Where the sync is somebody else's, so is the look. A failure may come from files that are gone.
        place.files.check().map_err(|error| place.connection.fail(error))?;
    }
    ended
}

async fn commit_durably(place: &mut WritePlace, group: &mut Group, sync: LogSync) -> Result<()> {
    let WritePlace { connection, path, .. } = place;
    connection.sync_log(sync)?;
    let changes = connection.changes();
    commit_group(connection, group).await?;
    if sync == LogSync::WithCommit && connection.changes() == changes {
        // Such a commit syncs nothing. What the answers rest on may be what another program is about to sync.
        let synced = syncer::sync_log_of(path).map_err(|error| Error::Disk { source: Arc::new(error) });
        synced.map_err(|error| connection.fail(error))?;
    }
    Ok(())
}

/// Does before a store is closed what would cost the next program time.
pub(super) fn fold_long_log(connection: &mut SqliteConnection, path: &Path) {
    if connection.poison().is_none() && super::is_log_long(path) {
        // A log left long costs the next opener time, not data, so a failure here is not an error.
        drop(connection.fold_log());
    }
}

/// Takes the jobs that wait, and those about to come.
///
/// Writers that were just answered together come back together. To begin with the first of them alone would make it
/// pay for a sync while all others wait, so a group that follows a larger one gives them a moment.
fn gather(first: Box<dyn Job>, queue: &mpsc::Receiver<Box<dyn Job>>, last_group: usize) -> Group {
    let mut group = vec![first];
    group.extend(queue.try_iter().take(MAX_GROUP - 1));
    let deadline = Instant::now() + GATHER_TIME;
    while group.len() < last_group / 2 {
        let left = deadline.saturating_duration_since(Instant::now());
        let Ok(job) = queue.recv_timeout(left) else {
            break;
        };
        group.push(job);
        group.extend(queue.try_iter().take(MAX_GROUP - group.len()));
    }
    group
}

async fn commit_group(connection: &mut SqliteConnection, group: &mut Group) -> Result<()> {
    let ended = async {
        connection.begin_write().await?;
        let mut entrance = connection.recall()?;
        match job::run_group(connection, group, &mut entrance).await? {
            Kept::Something(_) => {
                connection.remember(entrance)?;
                connection.commit()
            }
            Kept::Nothing => connection.roll_back().await,
        }
    };
    let ended = ended.await;
    if ended.is_err() {
        connection.forget();
        // SQLite may have rolled back by itself; then there is nothing to roll back and it says so.
        drop(connection.roll_back().await);
    }
    ended
}
