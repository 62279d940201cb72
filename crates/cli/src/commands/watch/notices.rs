//! What the system tells of changes in the places where sessions lie.

use std::{
    collections::HashSet,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use contexture_capture::{self as capture, Homes};
use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};
use tokio::{
    sync::mpsc,
    time::{self, Instant},
};

use crate::output::Output;

/// How long nothing must change before the changes are looked at.
const QUIET: Duration = Duration::from_millis(300);
/// How long changes may go on before they are looked at all the same.
const MAX_WAIT: Duration = Duration::from_secs(2);
/// Most changes that are remembered one by one; when there are more, everything is looked at.
const MAX_NOTICES: usize = 1024;

/// Notices changes.
pub(super) struct Notices {
    /// Nothing when the system does not tell; then time does.
    watcher: Option<RecommendedWatcher>,
    changed: mpsc::Receiver<PathBuf>,
    /// Whether something has changed that nobody remembers.
    missed: Arc<AtomicBool>,
    watched: HashSet<PathBuf>,
    has_complained: bool,
}

impl Notices {
    pub(super) fn new() -> Self {
        let (sender, changed) = mpsc::channel(MAX_NOTICES);
        let missed = Arc::new(AtomicBool::new(false));
        let forgotten = Arc::clone(&missed);
        let watcher = notify::recommended_watcher(move |told: notify::Result<Event>| {
            let Ok(Event { kind, paths, .. }) = told else {
                forgotten.store(true, Ordering::Relaxed);
                return;
            };
            // Reading is no change, and this program reads.
            if matches!(kind, EventKind::Access(_)) {
                return;
            }
            for path in paths {
                // What lies in a new directory may have been there before anybody watched it.
                let is_directory = matches!(kind, EventKind::Create(_)) && path.is_dir();
                if sender.try_send(path).is_err() || is_directory {
                    forgotten.store(true, Ordering::Relaxed);
                }
            }
        });
        Self { watcher: watcher.ok(), changed, missed, watched: HashSet::new(), has_complained: false }
    }

    /// Watches the places that have come into being.
    pub(super) fn attend(&mut self, homes: &Homes, output: &mut Output) {
        self.watched.retain(|place| place.exists());
        for place in capture::places(homes) {
            // A database is a file, and its log lies beside it.
            let is_database = place.path.is_file();
            let directory = if is_database { place.path.parent().unwrap_or(&place.path) } else { &place.path };
            if directory.is_dir() && !self.watched.contains(directory) {
                self.watch(
                    directory,
                    if is_database { RecursiveMode::NonRecursive } else { RecursiveMode::Recursive },
                    output,
                );
            }
        }
    }

    fn watch(&mut self, directory: &Path, mode: RecursiveMode, output: &mut Output) {
        let problem = match &mut self.watcher {
            Some(watcher) => watcher.watch(directory, mode).err().map(|error| error.to_string()),
            None => Some("the system does not tell of changes".to_owned()),
        };
        match problem {
            None => {
                self.watched.insert(directory.to_owned());
            }
            Some(problem) if !self.has_complained => {
                self.has_complained = true;
                let place = directory.display();
                output.status(format_args!("Changes below {place} are seen only every now and then: {problem}."));
            }
            Some(_) => {}
        }
    }

    /// Waits for changes until a time. Returns the files that have changed; nothing when it is time to look at everything.
    pub(super) async fn until(&mut self, limit: Instant, homes: &Homes) -> Option<HashSet<PathBuf>> {
        loop {
            let mut changed = HashSet::new();
            let Some(first) = time::timeout_at(limit, self.changed.recv()).await.ok()? else {
                // Nobody will tell.
                time::sleep_until(limit).await;
                return None;
            };
            changed.extend(capture::touched(homes, &first).map(|found| found.path));
            let patience = Instant::now() + MAX_WAIT;
            while Instant::now() < patience && changed.len() < MAX_NOTICES {
                let Ok(Some(next)) = time::timeout(QUIET, self.changed.recv()).await else { break };
                changed.extend(capture::touched(homes, &next).map(|found| found.path));
            }
            if self.missed.swap(false, Ordering::Relaxed) {
                return None;
            }
            if !changed.is_empty() {
                return Some(changed);
            }
        }
    }
}
