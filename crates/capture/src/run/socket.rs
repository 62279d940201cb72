//! The socket of a run: what the agent starts asks there what the agent knows at this moment.
//!
//! A connection is one question and one answer, each a line of JSON.

use std::{
    fs::{self, File, Permissions},
    io::{self, BufRead as _, BufReader, Write as _},
    os::{
        fd::AsRawFd as _,
        unix::{fs::PermissionsExt as _, net::UnixStream},
    },
    path::{Path, PathBuf},
    time::Duration,
};

use contexture_core::{CommitId, GivenSessionId};
use serde::{Deserialize, Serialize};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _},
    net::{UnixListener, unix::SocketAddr},
    sync::{mpsc, oneshot},
};

use super::directory::RunDirectory;

/// Longest question that is read.
const MAX_QUESTION_BYTES: u64 = 4096;
/// Longest path of a socket that every system takes.
const MAX_SOCKET_PATH_BYTES: usize = 100;
/// Name of the socket in its directory.
pub(super) const SOCKET: &str = "socket";
/// How long somebody may take to ask.
const PATIENCE: Duration = Duration::from_secs(2);

/// Where a run can be asked. It goes away with the value.
pub struct RunSocket {
    /// Held for its `Drop`.
    _directory: RunDirectory,
    path: PathBuf,
    listener: UnixListener,
    asked: mpsc::Sender<CurrentQuestioner>,
    waiting: mpsc::Receiver<CurrentQuestioner>,
}

/// A path of a socket that is short enough for the system, which takes no more than about a hundred bytes.
struct ReachablePath {
    path: PathBuf,
    /// The directory, held open because the path goes by its number.
    _directory: Option<File>,
}

impl ReachablePath {
    fn of(socket: &Path) -> io::Result<Self> {
        let (Some(directory), Some(name)) = (socket.parent(), socket.file_name()) else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        if socket.as_os_str().len() <= MAX_SOCKET_PATH_BYTES {
            return Ok(Self { path: socket.to_owned(), _directory: None });
        }
        let directory = File::open(directory)?;
        let path = Path::new("/proc/self/fd").join(directory.as_raw_fd().to_string()).join(name);
        Ok(Self { path, _directory: Some(directory) })
    }
}

/// Somebody who waits for the current commit.
pub type CurrentQuestioner = oneshot::Sender<CurrentAnswer>;

/// What can be asked.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "snake_case")]
enum Question {
    /// The commit that is the agent's understanding now.
    Current,
}

/// What is answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum CurrentAnswer {
    /// The commit.
    Known {
        /// Its id.
        commit: CommitId,
        /// The session that it is of.
        session: GivenSessionId,
    },
    /// None is known.
    Unknown {
        /// Why not.
        error: String,
    },
}

impl RunSocket {
    /// Opens one that only this user can reach, in a directory of its own in a place. Directories there of runs that were
    /// killed are removed.
    pub fn open(place: &Path) -> io::Result<Self> {
        let directory = RunDirectory::make(place)?;
        let path = directory.path().join(SOCKET);
        let reachable = ReachablePath::of(&path)?;
        let listener = UnixListener::bind(&reachable.path)?;
        // Until now its directory has kept others away.
        fs::set_permissions(&reachable.path, Permissions::from_mode(0o600))?;
        let (asked, waiting) = mpsc::channel(16);
        Ok(Self { _directory: directory, path, listener, asked, waiting })
    }

    /// Returns where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Waits until somebody asks.
    pub async fn next(&mut self) -> CurrentQuestioner {
        loop {
            tokio::select! {
                accepted = self.listener.accept() => self.serve(accepted),
                Some(asked) = self.waiting.recv() => return asked,
            }
        }
    }

    fn serve(&self, accepted: io::Result<(tokio::net::UnixStream, SocketAddr)>) {
        // Who could not be heard goes on without an answer.
        let Ok((stream, _)) = accepted else { return };
        let asked = self.asked.clone();
        tokio::spawn(async move { answer(stream, asked).await });
    }
}

async fn answer(mut stream: tokio::net::UnixStream, asked: mpsc::Sender<CurrentQuestioner>) {
    let (reading, mut writing) = stream.split();
    let mut line = String::new();
    let mut reading = tokio::io::BufReader::new(reading.take(MAX_QUESTION_BYTES));
    let Ok(Ok(_)) = tokio::time::timeout(PATIENCE, reading.read_line(&mut line)).await else { return };
    let answer = match serde_json::from_str(&line) {
        Ok(Question::Current) => {
            let (reply, waiting) = oneshot::channel();
            if asked.send(reply).await.is_err() {
                return;
            }
            let Ok(answer) = waiting.await else { return };
            answer
        }
        Err(problem) => CurrentAnswer::Unknown { error: format!("the question is not understood: {problem}") },
    };
    let mut line = serde_json::to_vec(&answer).expect("an answer has a JSON form");
    line.push(b'\n');
    // Who has gone needs no answer.
    _ = writing.write_all(&line).await;
}

/// Connects to a socket, however long its path is.
pub(super) fn connect(socket: &Path) -> io::Result<UnixStream> {
    let reachable = ReachablePath::of(socket)?;
    UnixStream::connect(&reachable.path)
}

/// Asks a run for the commit that is its agent's understanding now.
pub(crate) fn ask(socket: &Path, limit: Duration) -> io::Result<CurrentAnswer> {
    let mut stream = connect(socket)?;
    stream.set_read_timeout(Some(limit))?;
    stream.set_write_timeout(Some(limit))?;
    let mut question = serde_json::to_vec(&Question::Current)?;
    question.push(b'\n');
    stream.write_all(&question)?;
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line)?;
    Ok(serde_json::from_str(&line)?)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[tokio::test]
    async fn who_asks_is_answered_and_the_socket_is_private() {
        let place = tempfile::tempdir().unwrap();
        // Longer than a path of a socket can be.
        let place = place.path().join("long".repeat(50));
        let mut socket = RunSocket::open(&place).unwrap();
        let path = socket.path().to_owned();
        let directory = path.parent().unwrap().to_owned();
        assert_eq!(directory.metadata().unwrap().permissions().mode() & 0o777, 0o700);
        let theirs = path.clone();
        let asking = tokio::task::spawn_blocking(move || ask(&theirs, Duration::from_secs(20)));
        let expected = CurrentAnswer::Unknown { error: "nothing was said yet".to_owned() };
        socket.next().await.send(expected.clone()).unwrap();
        assert_eq!(asking.await.unwrap().unwrap(), expected);
        let theirs = path.clone();
        let odd = tokio::task::spawn_blocking(move || {
            let mut stream = connect(&theirs).unwrap();
            stream.write_all(b"{\"ask\":\"the way\"}\n").unwrap();
            io::read_to_string(stream).unwrap()
        });
        let odd = tokio::select! {
            odd = odd => odd.unwrap(),
            _ = socket.next() => unreachable!("that is no question"),
        };
        assert!(odd.starts_with("{\"error\":"), "{odd}");
        drop(socket);
        assert!(!directory.exists());
    }
}
