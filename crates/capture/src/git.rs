//! Asking git: which commit a line came with, what a commit says and what it changes.

mod blame;
mod changes;
mod made;
mod trailers;

use std::{
    ffi::{OsStr, OsString},
    fmt,
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use contexture_core::Timestamp;

pub use self::{
    blame::BlamedLine,
    changes::FileChange,
    made::{ContextualCommit, MessageTrailers, add_context_trailer},
    trailers::{AMBIGUOUS_TRAILER, ASSISTED_TRAILER, CONTEXT_TRAILER},
};
use crate::{Result, Untraced};

/// Digits of an id that are shown.
const SHORT_ID: usize = 10;

/// The git that is asked.
#[derive(Debug, Clone)]
pub struct Git {
    program: OsString,
}

/// A repository with a working tree.
#[derive(Debug, Clone)]
pub struct GitRepository {
    git: Git,
    /// The top of the working tree, without symbolic links.
    pub root: PathBuf,
}

/// The id of a commit of git.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct GitId(String);

/// A commit of git.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitCommit {
    /// Its id.
    pub id: GitId,
    /// The name of its author.
    pub author: String,
    /// The address of its author.
    pub email: String,
    /// When it was written.
    pub authored_at: Timestamp,
    /// When it was committed.
    pub committed_at: Timestamp,
    /// The first line of its message.
    pub subject: String,
    /// How many commits it follows; a merge follows several.
    pub parents: usize,
    /// What its trailers say of contexts, as it is written there.
    pub context: Vec<String>,
    /// What they say of contexts that it may come from, when it is not known from which.
    pub possible: Vec<String>,
}

/// What git said when it refused.
#[derive(Debug, thiserror::Error)]
#[error("{words}")]
pub struct GitRefusal {
    words: String,
}

impl GitId {
    /// Returns the first digits.
    pub fn short(&self) -> &str {
        self.0.get(..SHORT_ID).unwrap_or(&self.0)
    }

    /// Takes an id that git wrote; the one of all zeros stands for no commit.
    fn of(text: &str) -> Option<Self> {
        text.contains(|digit| digit != '0').then(|| Self(text.to_owned()))
    }
}

impl fmt::Display for GitId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Git {
    /// Asks a program.
    pub fn new(program: impl Into<OsString>) -> Self {
        Self { program: program.into() }
    }

    /// Finds the repository that a directory lies in.
    pub fn repository(&self, directory: &Path) -> Result<Option<GitRepository>> {
        let asked = self.command(directory).args(["rev-parse", "--show-toplevel"]).output().map_err(Untraced::Git)?;
        if !asked.status.success() {
            let refusal = GitRefusal::of(&asked);
            if refusal.words.contains("not a git repository") {
                return Ok(None);
            }
            return Err(Untraced::GitRefused { action: "find the repository", source: refusal }.into());
        }
        let root = path_of(asked.stdout.strip_suffix(b"\n").unwrap_or(&asked.stdout));
        // One that cannot be followed is as good as it is.
        let root = root.canonicalize().unwrap_or(root);
        Ok(Some(GitRepository { git: self.clone(), root }))
    }

    /// Returns the top of the project that a directory lies in: of its repository, or itself where there is none or no git.
    pub fn project_around(&self, directory: PathBuf) -> PathBuf {
        self.repository(&directory).ok().flatten().map_or(directory, |repository| repository.root)
    }

    /// Asks something in a directory and returns what git writes.
    pub fn ask(&self, directory: &Path, action: &'static str, arguments: &[impl AsRef<OsStr>]) -> Result<Vec<u8>> {
        let asked = self.command(directory).args(arguments).output().map_err(Untraced::Git)?;
        if asked.status.success() {
            Ok(asked.stdout)
        } else {
            Err(Untraced::GitRefused { action, source: GitRefusal::of(&asked) }.into())
        }
    }

    /// Prepares git in a directory, with its words in English, because some of them are looked at.
    fn command(&self, directory: &Path) -> Command {
        let mut command = Command::new(&self.program);
        // A repository that came with its settings may name a program there that is to watch its files.
        command
            .args(["-c", "core.fsmonitor=false", "-C"])
            .arg(directory)
            .env("LC_ALL", "C")
            .env("GIT_OPTIONAL_LOCKS", "0")
            .stdin(Stdio::null());
        command
    }
}

impl GitRepository {
    /// Returns where git looks for hooks.
    pub fn hooks(&self) -> Result<PathBuf> {
        let path = self.ask("find its hooks", &["rev-parse", "--git-path", "hooks"])?;
        Ok(self.root.join(path_of(path.strip_suffix(b"\n").unwrap_or(&path))))
    }

    /// Returns the tops of all working trees, this one first.
    pub fn working_trees(&self) -> Result<Vec<PathBuf>> {
        let listed = self.ask("list the working trees", &["worktree", "list", "--porcelain", "-z"])?;
        let mut trees = vec![self.root.clone()];
        for field in listed.split(|byte| *byte == 0) {
            if let Some(tree) = field.strip_prefix(b"worktree ") {
                let tree = path_of(tree);
                if !trees.contains(&tree) {
                    trees.push(tree);
                }
            }
        }
        Ok(trees)
    }

    fn ask(&self, action: &'static str, arguments: &[impl AsRef<OsStr>]) -> Result<Vec<u8>> {
        self.git.ask(&self.root, action, arguments)
    }

    /// Returns the address that commits made here carry.
    pub fn user_email(&self) -> Result<Option<String>> {
        let asked = self.git.command(&self.root).args(["config", "user.email"]).output().map_err(Untraced::Git)?;
        let email = String::from_utf8_lossy(&asked.stdout).trim().to_owned();
        Ok((asked.status.success() && !email.is_empty()).then_some(email))
    }

    /// Returns the commit that a text names; nothing when there is none.
    pub fn find(&self, revision: &str) -> Result<Option<GitId>> {
        let name = format!("{revision}^{{commit}}");
        let mut asking = self.git.command(&self.root);
        asking.args(["rev-parse", "--verify", "--quiet", "--end-of-options", &name]);
        let asked = asking.output().map_err(Untraced::Git)?;
        let id = String::from_utf8_lossy(&asked.stdout).trim().to_owned();
        Ok(if asked.status.success() { GitId::of(&id) } else { None })
    }

    /// Returns what commits say, in the order of their ids.
    pub fn commits(&self, ids: &[GitId]) -> Result<Vec<GitCommit>> {
        const ACTION: &str = "read commits";
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let format = "--format=%H%x1f%P%x1f%at%x1f%ct%x1f%ae%x1f%an%x1f%s%x1f%B";
        let mut asking = self.git.command(&self.root);
        asking.args(["log", "-z", "--no-walk=unsorted", "--stdin", "--no-show-signature", "--no-color", format]);
        let mut child = asking
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(Untraced::Git)?;
        if let Some(mut input) = child.stdin.take() {
            let names = ids.iter().map(|id| id.0.as_str()).collect::<Vec<_>>().join("\n");
            // Git reads all names before it writes, and says what is wrong when it stops early.
            let _written = input.write_all(names.as_bytes());
        }
        let asked = child.wait_with_output().map_err(Untraced::Git)?;
        if !asked.status.success() {
            return Err(Untraced::GitRefused { action: ACTION, source: GitRefusal::of(&asked) }.into());
        }
        let records = asked.stdout.split(|byte| *byte == 0).filter(|record| !record.is_empty());
        let commit = |record: &[u8]| {
            commit_of(&String::from_utf8_lossy(record)).ok_or_else(|| Untraced::GitRefused {
                action: ACTION,
                source: GitRefusal { words: "its answer cannot be read".to_owned() },
            })
        };
        Ok(records.map(commit).collect::<Result<_, Untraced>>()?)
    }
}

impl GitRefusal {
    fn of(asked: &Output) -> Self {
        let words = String::from_utf8_lossy(&asked.stderr);
        let words = words.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("it said nothing");
        let words = words.trim_start_matches("fatal: ").to_owned();
        Self { words }
    }
}

fn commit_of(record: &str) -> Option<GitCommit> {
    let mut fields = record.trim_start_matches('\n').splitn(8, '\u{1f}');
    let mut next = || fields.next();
    let (id, parents, authored_at, committed_at) = (GitId::of(next()?)?, next()?, time_of(next()?)?, time_of(next()?)?);
    let (email, author, subject) = (next()?.to_owned(), next()?.to_owned(), next()?.to_owned());
    let trailers = trailers::origin_trailers(next()?, false);
    let values =
        |key: &str| trailers.iter().filter(|trailer| trailer.key == key).map(|trailer| trailer.value.clone()).collect();
    let (context, possible) = (values(CONTEXT_TRAILER), values(AMBIGUOUS_TRAILER));
    let parents = parents.split_whitespace().count();
    Some(GitCommit { id, author, email, authored_at, committed_at, subject, parents, context, possible })
}

fn time_of(seconds: &str) -> Option<Timestamp> {
    Timestamp::from_micros(seconds.parse::<i64>().ok()?.checked_mul(1_000_000)?)
}

#[cfg(unix)]
fn path_of(bytes: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt as _;
    PathBuf::from(OsStr::from_bytes(bytes))
}

#[cfg(not(unix))]
fn path_of(bytes: &[u8]) -> PathBuf {
    PathBuf::from(String::from_utf8_lossy(bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_is_read_field_by_field() {
        let record = "\nabc\u{1f}p q\u{1f}60\u{1f}120\u{1f}a@b\u{1f}Ada\u{1f}Fix it\u{1f}Fix it\n\nContext-Id: ctx-1 \n\
                      * more\nContext-Id: ctx-2\nContext-Ambiguous: ctx-3\n";
        let at = |seconds: i64| Timestamp::from_micros(seconds * 1_000_000).unwrap();
        let expected = GitCommit {
            id: GitId("abc".into()),
            author: "Ada".into(),
            email: "a@b".into(),
            authored_at: at(60),
            committed_at: at(120),
            subject: "Fix it".into(),
            parents: 2,
            context: vec!["ctx-1".into(), "ctx-2".into()],
            possible: vec!["ctx-3".into()],
        };
        assert_eq!(commit_of(record), Some(expected));
        assert_eq!(commit_of("abc\u{1f}"), None);
        assert_eq!(GitId::of("0000"), None);
    }
}
