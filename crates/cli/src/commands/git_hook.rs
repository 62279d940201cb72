//! `ctx git-hook`: what the hooks of a git repository call, so that commits name the context they were made in.

use std::{ffi::OsString, path::Path, time::Duration};

use clap::{Args, Subcommand};
use contexture::{
    Contexture,
    core::{Annotation, CommitId, LabelKey, SummaryText},
};
use contexture_capture::{BoundSession, CONTEXT_TRAILER};

use crate::{error::Result, invocation::Invocation};

/// Git calls its hooks in the repository.
const HERE: &str = ".";
/// The label of a context that names the git commits made in it.
const LABEL: &str = "git-commit";
/// How long the agent may take to write down the call that makes the commit.
const FLUSH_LIMIT: Duration = Duration::from_secs(2);
/// How long all of it may take.
const LIMIT: Duration = Duration::from_secs(5);

/// Ties the commits of a git repository to the context they are made in
///
/// The hooks that `ctx init --git` installs call this. It never keeps a commit from being made.
#[derive(Debug, Args)]
pub(crate) struct GitHook {
    #[command(subcommand)]
    hook: Hook,
}

#[derive(Debug, Subcommand)]
enum Hook {
    /// Adds the trailer `Context-Id` to the message of a commit that an agent makes, or somebody beside an agent
    PrepareCommitMsg {
        /// The file that holds the message, and what else git tells
        #[arg(value_name = "ARGUMENT", required = true)]
        arguments: Vec<OsString>,
    },
    /// Notes the commit that was made in the context it names
    PostCommit,
}

impl GitHook {
    pub(crate) async fn run(self, invocation: &Invocation) {
        let (during, done) = match &self.hook {
            Hook::PrepareCommitMsg { arguments } => {
                let name = arguments.first().cloned().unwrap_or_default();
                ("git-hook prepare-commit-msg", tokio::time::timeout(LIMIT, add_trailer(invocation, name)).await)
            }
            Hook::PostCommit => ("git-hook post-commit", tokio::time::timeout(LIMIT, note_commit(invocation)).await),
        };
        let problem = match done {
            Ok(Ok(())) => return,
            Ok(Err(error)) => error.told(),
            Err(_) => format!("it was not done within {LIMIT:?}"),
        };
        if let Ok(recorder) = invocation.recorder() {
            recorder.write_down(during, None, &problem, false);
        }
    }
}

async fn add_trailer(invocation: &Invocation, message: OsString) -> Result<()> {
    let config = invocation.capture_config()?;
    let Some(bound) = BoundSession::find(&config, None)? else { return Ok(()) };
    let Some(commit) = bound.flush(&config, FLUSH_LIMIT).await? else { return Ok(()) };
    let trailer = format!("{CONTEXT_TRAILER}: {commit}");
    // A message that is amended keeps what it names.
    let words = ["interpret-trailers", "--in-place", "--if-exists", "addIfDifferent", "--trailer", &trailer];
    let words: Vec<OsString> = words.into_iter().map(OsString::from).chain([message]).collect();
    Invocation::git().ask(Path::new(HERE), "add the trailer", &words)?;
    Ok(())
}

/// Labels the contexts that the last commit names with its id.
async fn note_commit(invocation: &Invocation) -> Result<()> {
    let format = format!("--format=%H%n%(trailers:key={CONTEXT_TRAILER},valueonly)");
    let told = Invocation::git().ask(Path::new(HERE), "read the commit", &["log", "-1", "--no-color", &format])?;
    let told = String::from_utf8_lossy(&told);
    let mut lines = told.lines().map(str::trim).filter(|line| !line.is_empty());
    let Some(made) = lines.next() else { return Ok(()) };
    let named: Vec<CommitId> = lines.filter_map(|line| line.parse().ok()).collect();
    if named.is_empty() {
        return Ok(());
    }
    let config = invocation.capture_config()?;
    let bound = BoundSession::find(&config, None)?;
    let config = bound.map_or_else(|| Ok(config.clone()), |bound| config.for_session(&bound.session))?;
    let engine = config.open_promptly().await?;
    for commit in named {
        label(&engine, commit, made).await?;
    }
    Ok(())
}

async fn label(engine: &Contexture, commit: CommitId, made: &str) -> Result<()> {
    let key = LabelKey::new(LABEL).expect("the word is a legal key");
    let before = engine.show(commit).await?.annotations.labels.get(&key).map(ToString::to_string).unwrap_or_default();
    if before.split(' ').any(|known| known == made) {
        return Ok(());
    }
    let value = SummaryText::new(format!("{before} {made}").trim()).map_err(contexture::Error::from)?;
    engine.annotate(commit, vec![Annotation::Label { key, value }]).await?;
    Ok(())
}
