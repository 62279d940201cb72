//! The socket of a run: what the agent starts asks there what the agent knows at this moment.
//!
//! A connection is one question and one answer, each a line of JSON.

use std::{
    fs::{self, Permissions},
    io::{self, BufRead as _, BufReader, Write as _},
    os::unix::{fs::PermissionsExt as _, net::UnixStream},
    path::{Path, PathBuf},
    time::Duration,
};

use contexture_core::{CommitId, GivenSessionId};
use serde::{Deserialize, Serialize};
use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _},
    net::{UnixListener, unix::SocketAddr},
    sync::{mpsc, oneshot},
};

/// Longest question that is read.
const MAX_QUESTION_BYTES: u64 = 4096;
/// How long somebody may take to ask.
const PATIENCE: Duration = Duration::from_secs(2);

/// Where a run can be asked. It goes away with the value.
pub struct RunSocket {
    /// Held for its `Drop`.
    _directory: TempDir,
    path: PathBuf,
    listener: UnixListener,
    asked: mpsc::Sender<CurrentQuestioner>,
    waiting: mpsc::Receiver<CurrentQuestioner>,
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
    /// Opens one that only this user can reach, below a directory for temporary files.
    pub fn open(temporary: &Path) -> io::Result<Self> {
        // A path that is too long for a socket is so because of where temporary files go.
        Self::open_in(temporary).or_else(|_| Self::open_in(Path::new("/tmp")))
    }

    fn open_in(place: &Path) -> io::Result<Self> {
        let private = Permissions::from_mode(0o700);
        let directory = tempfile::Builder::new().prefix("ctx-run-").permissions(private).tempdir_in(place)?;
        let path = directory.path().join("socket");
        let listener = UnixListener::bind(&path)?;
        // Until now its directory has kept others away.
        fs::set_permissions(&path, Permissions::from_mode(0o600))?;
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

/// Asks a run for the commit that is its agent's understanding now.
pub(crate) fn ask(socket: &Path, limit: Duration) -> io::Result<CurrentAnswer> {
    let mut stream = UnixStream::connect(socket)?;
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
    use super::*;

    #[tokio::test]
    async fn who_asks_is_answered_and_the_socket_is_private() {
        let mut socket = RunSocket::open(&std::env::temp_dir()).unwrap();
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
            let mut stream = UnixStream::connect(theirs).unwrap();
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
