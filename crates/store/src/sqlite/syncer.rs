//! Syncing beside writing: while one group is made durable, the next one runs already.

use std::{
    fs::{File, OpenOptions},
    io,
    path::{Path, PathBuf},
    sync::{
        Arc, OnceLock,
        atomic::{AtomicUsize, Ordering},
        mpsc,
    },
    thread,
};

use super::{files::OpenFiles, log_file};
use crate::{
    Error, Result,
    job::{self, Group},
};

/// Groups that may wait for a sync beside the one that is being synced. One sync serves them all.
const MAX_WAITING: usize = 1;

/// A handle on the thread that syncs the log and answers. Dropping it ends the thread after the groups handed over.
pub(super) struct Syncer {
    groups: Option<mpsc::SyncSender<Group>>,
    thread: Option<thread::JoinHandle<()>>,
    /// Groups that are not answered yet.
    pending: Arc<AtomicUsize>,
    failure: Arc<OnceLock<Arc<Error>>>,
}

impl Syncer {
    /// Starts to sync the log of a database.
    pub(super) fn start(database: &Path, files: OpenFiles) -> io::Result<Self> {
        let (groups, queue) = mpsc::sync_channel(MAX_WAITING);
        let (pending, failure) = (Arc::<AtomicUsize>::default(), Arc::<OnceLock<_>>::default());
        let task = Task {
            log: LogFile { path: log_file(database), file: None },
            files,
            pending: Arc::clone(&pending),
            failure: Arc::clone(&failure),
        };
        let thread = thread::Builder::new().name("ctx-syncer".into()).spawn(move || task.serve(&queue))?;
        Ok(Self { groups: Some(groups), thread: Some(thread), pending, failure })
    }

    /// Takes a group that is committed, to answer it once it is durable.
    pub(super) fn hand_over(&self, group: Group) {
        self.pending.fetch_add(1, Ordering::Relaxed);
        // The thread ends only when this handle does, or by a panic; then its jobs are dropped, which their submitters see
        // as a closed store.
        let _gone = self.groups.as_ref().map(|groups| groups.send(group));
    }

    /// Tells whether a group that was handed over is not answered yet.
    pub(super) fn is_busy(&self) -> bool {
        self.pending.load(Ordering::Acquire) > 0
    }

    /// Returns the failure of a sync after which nothing must be written any more.
    pub(super) fn poison(&self) -> Option<Arc<Error>> {
        self.failure.get().cloned()
    }

    /// Waits until all that was handed over is answered. Returns the failure, if a sync has failed.
    pub(super) fn end(self) -> Option<Arc<Error>> {
        let failure = Arc::clone(&self.failure);
        drop(self);
        failure.get().cloned()
    }
}

impl Drop for Syncer {
    fn drop(&mut self) {
        self.groups = None;
        if let Some(thread) = self.thread.take() {
            // A panic was already seen by every submitter as a closed store.
            drop(thread.join());
        }
    }
}

/// What the thread works with.
struct Task {
    log: LogFile,
    files: OpenFiles,
    pending: Arc<AtomicUsize>,
    failure: Arc<OnceLock<Arc<Error>>>,
}

impl Task {
    fn serve(mut self, queue: &mpsc::Receiver<Group>) {
        while let Ok(first) = queue.recv() {
            let mut groups = vec![first];
            groups.extend(queue.try_iter());
            let (synced, count) = (self.sync(), groups.len());
            for group in groups {
                job::answer_group(group, &synced);
            }
            // Not before: an answer of the writer's own must not come between these.
            self.pending.fetch_sub(count, Ordering::Release);
        }
    }

    /// Makes durable what is committed, unless an earlier sync has failed.
    fn sync(&mut self) -> Result<()> {
        if let Some(failure) = self.failure.get() {
            return Err(Error::Poisoned { source: Arc::clone(failure) });
        }
        let synced = self.log.sync();
        // A log that lies elsewhere may have been synced, or there may be none.
        let checked = self.files.check();
        let ended = checked.and_then(|()| synced.map_err(|error| Error::Disk { source: Arc::new(error) }));
        ended.inspect_err(|failure| {
            self.failure.get_or_init(|| Arc::new(failure.again()));
        })
    }
}

/// The write-ahead log, opened a second time: SQLite syncs it only together with a commit.
struct LogFile {
    path: PathBuf,
    file: Option<File>,
}

impl LogFile {
    fn sync(&mut self) -> io::Result<()> {
        // It is there, for something was written to it; SQLite keeps it while a connection is open.
        let file = match self.file.take() {
            Some(file) => file,
            None => open(&self.path)?,
        };
        self.file.insert(file).sync_data()
    }
}

/// Makes durable what is in the log of a database, if it has one.
pub(super) fn sync_log_of(database: &Path) -> io::Result<()> {
    match open(&log_file(database)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        opened => opened?.sync_data(),
    }
}

fn open(log: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).open(log)
}
