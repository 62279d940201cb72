//! What tells without opening a file whether it is as it was.

use std::{
    collections::HashMap,
    fs,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

use contexture_core::{CommitId, Format, Machine};
use contexture_store::source;
use futures_util::FutureExt as _;
use serde::{Deserialize, Serialize};

use crate::{Capture, DatabaseEntry, Result};

/// Sources that are read at once.
const SOURCES_PER_PAGE: u32 = 512;

/// A file as its directory describes it: its size, when it was written and changed, and which file it is.
///
/// Whoever writes to a file changes this. Programs can set the time of writing, and nobody but the system that of the last
/// change; so a file whose content is another one under the same stamp was changed behind the back of the file system, or
/// while its clock stood still.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FileStamp {
    bytes: u64,
    /// Seconds and nanoseconds.
    written: (i64, i64),
    changed: (i64, i64),
    /// The file system and the number of the file there.
    file: (u64, u64),
}

/// The files of a machine that were taken in, as they were then.
#[derive(Debug, Default)]
pub struct KnownFiles(HashMap<PathBuf, (FileStamp, KnownFile)>);

/// What is known of a file that was taken in whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownFile {
    /// How it is written.
    pub format: Format,
    /// How many conversations it holds.
    pub lanes: u64,
    /// The last commit of the first of them.
    pub tip: Option<CommitId>,
}

/// What is read of the state of a source.
#[derive(Deserialize)]
struct StampedState {
    stamp: Option<FileStamp>,
    lanes: Vec<StampedLane>,
}

#[derive(Deserialize)]
struct StampedLane {
    tip: Option<CommitId>,
}

impl FileStamp {
    /// Describes a file, if it is a regular one that lies there by itself.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        if DatabaseEntry::at(path).is_some() {
            return None;
        }
        let file = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
        Some(Self {
            bytes: file.len(),
            written: (file.mtime(), file.mtime_nsec()),
            changed: (file.ctime(), file.ctime_nsec()),
            file: (file.dev(), file.ino()),
        })
    }

    /// Tells whether the file has so many bytes.
    pub(crate) fn has_bytes(&self, bytes: u64) -> bool {
        self.bytes == bytes
    }
}

impl KnownFiles {
    /// Returns what is known of a file that is as it was when it was taken in.
    pub(crate) fn unchanged(&self, path: &Path) -> Option<&KnownFile> {
        let (stamp, known) = self.0.get(path)?;
        (FileStamp::of(path)? == *stamp).then_some(known)
    }
}

impl Capture<'_> {
    /// Lists the files of a machine that were taken in whole.
    pub async fn known_files(self, machine: &Machine) -> Result<KnownFiles> {
        let mut known = KnownFiles::default();
        let mut after = (machine.as_str().to_owned(), String::new());
        loop {
            let paging = self.engine.store().read(self.engine.scope(), after.clone(), |tx, (machine, path)| {
                source::list(tx, Some((machine, path)), SOURCES_PER_PAGE).boxed()
            });
            let page = paging.await?;
            let is_last = page.len() < SOURCES_PER_PAGE as usize;
            for source in page {
                if source.machine != *machine {
                    return Ok(known);
                }
                after.1.clone_from(&source.path);
                let Ok(StampedState { stamp: Some(stamp), lanes }) = serde_json::from_str(&source.state) else {
                    continue;
                };
                let tip = lanes.first().and_then(|lane| lane.tip);
                let file = KnownFile { format: source.format, lanes: lanes.len() as u64, tip };
                known.0.insert(source.path.into(), (stamp, file));
            }
            if is_last {
                return Ok(known);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{mem::MaybeUninit, os::fd::OwnedFd, sync::Arc, time::SystemTime};

    use contexture::{Contexture, Location, Options, SecretMeans};
    use contexture_core::{Actor, Principal, SpaceName, Timestamp};

    use rustix::{
        fs::inotify::{self, CreateFlags, Reader, WatchFlags},
        io::Errno,
    };

    use super::*;
    use crate::{FileOutcome, SessionOwner, SessionSearch};

    /// Hears from the system which files of a directory are opened.
    struct Openings(OwnedFd);

    impl Openings {
        fn watch(directory: &Path) -> Self {
            let queue = inotify::init(CreateFlags::NONBLOCK).unwrap();
            inotify::add_watch(&queue, directory, WatchFlags::OPEN).unwrap();
            Self(queue)
        }

        /// Counts them; the directory itself does not count.
        fn count(&self) -> usize {
            let mut buffer = [MaybeUninit::uninit(); 16 * 1024];
            let mut events = Reader::new(&self.0, &mut buffer);
            let mut count = 0;
            loop {
                match events.next() {
                    Ok(event) => count += usize::from(event.file_name().is_some()),
                    Err(Errno::AGAIN) => return count,
                    Err(error) => panic!("{error}"),
                }
            }
        }
    }

    /// Sessions of one machine and the store that they go to.
    struct Machinery {
        directory: tempfile::TempDir,
        engine: Contexture,
        owner: SessionOwner,
    }

    impl Machinery {
        async fn new() -> Self {
            let directory = tempfile::tempdir().unwrap();
            let store = Options {
                location: Location::Directory(directory.path().join("store")),
                space: SpaceName::new("default").unwrap(),
                actor: Actor::new("ada").unwrap(),
                clock: Arc::new(|| Timestamp::from_micros(1_794_736_800_000_000).unwrap()),
                secrets: SecretMeans::without_keys(|bytes| bytes.fill(7)),
            };
            let engine = Contexture::open(store).await.unwrap();
            let owner = SessionOwner {
                principal: Principal::new("ada").unwrap(),
                machine: Machine::new("laptop").unwrap(),
                role: None,
            };
            fs::create_dir(directory.path().join("sessions")).unwrap();
            Self { directory, engine, owner }
        }

        fn session(&self, name: &str, turns: usize) -> PathBuf {
            let path = self.directory.path().canonicalize().unwrap().join("sessions").join(name);
            let turn = |turn: usize| {
                format!(
                    "{{\"role\":\"user\",\"message\":{{\"content\":[{{\"type\":\"text\",\"text\":\"{turn}\"}}]}}}}\n"
                )
            };
            fs::write(&path, (0..turns).map(turn).collect::<String>()).unwrap();
            path
        }

        /// Imports all sessions again. Returns what became of each, and how often one was opened for that.
        async fn import(&self) -> (Vec<FileOutcome>, usize) {
            let place = self.directory.path().canonicalize().unwrap().join("sessions");
            let openings = Openings::watch(&place);
            let capture = Capture::new(&self.engine);
            let known = capture.known_files(&self.owner.machine).await.unwrap();
            let search = SessionSearch { known, ..SessionSearch::default() };
            let found = search.at(std::slice::from_ref(&place)).unwrap();
            let import = capture.import_findings(found, &self.owner, &|_| {}).await.unwrap();
            (import.files.iter().map(|file| file.outcome).collect(), openings.count())
        }
    }

    #[tokio::test]
    async fn only_what_has_changed_is_opened_again() {
        let machinery = Machinery::new().await;
        for session in 0..50 {
            machinery.session(&format!("{session:02}.jsonl"), 2);
        }
        let (outcomes, opened) = machinery.import().await;
        assert_eq!(outcomes, vec![FileOutcome::New; 50]);
        assert!(opened >= 50);
        assert_eq!(machinery.import().await, (vec![FileOutcome::Unchanged; 50], 0));
        machinery.session("07.jsonl", 3);
        machinery.session("50.jsonl", 1);
        let (outcomes, opened) = machinery.import().await;
        let of = |outcome| outcomes.iter().filter(|found| **found == outcome).count();
        assert_eq!((of(FileOutcome::Grown), of(FileOutcome::New), of(FileOutcome::Unchanged)), (1, 1, 49));
        assert!((2..20).contains(&opened), "{opened} files were opened");
        assert_eq!(machinery.import().await.1, 0);
    }

    #[tokio::test]
    async fn a_file_of_the_same_size_and_time_is_opened_when_something_was_done_to_it() {
        let machinery = Machinery::new().await;
        let path = machinery.session("a.jsonl", 2);
        machinery.import().await;
        let written = fs::metadata(&path).unwrap().modified().unwrap();
        let other = fs::read_to_string(&path).unwrap().replace("\"text\":\"1\"", "\"text\":\"7\"");
        fs::write(&path, other).unwrap();
        fs::File::options().write(true).open(&path).unwrap().set_modified(written).unwrap();
        assert_eq!(machinery.import().await.0, [FileOutcome::Rewritten]);
        // A time alone says nothing; the file is read once more and known again.
        fs::File::options().write(true).open(&path).unwrap().set_modified(SystemTime::UNIX_EPOCH).unwrap();
        let (outcomes, opened) = machinery.import().await;
        assert_eq!((outcomes, opened > 0), (vec![FileOutcome::Unchanged], true));
        assert_eq!(machinery.import().await, (vec![FileOutcome::Unchanged], 0));
    }
}
