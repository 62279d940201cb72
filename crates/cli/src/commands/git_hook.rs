//! `ctx git-hook`: what the hooks of a git repository call, so that commits name the context they were made in.

use std::{ffi::OsString, path::Path, process, time::Duration};

use clap::{Args, Subcommand};
use contexture_capture::{self as capture, MessageTrailers, Watchdog};

use crate::{error::Result, invocation::Invocation};

/// Git calls its hooks in the repository.
const HERE: &str = ".";
/// How long the agent may take to write down the call that makes the commit.
const FLUSH_LIMIT: Duration = Duration::from_secs(2);
/// How long all of it may take.
const LIMIT: Duration = Duration::from_secs(5);

/// When the commit is made without it, whatever it waits for.
const HARD_LIMIT: Duration = Duration::from_secs(6);

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
        /// Names the agent too, by the trailer `Assisted-by`
        #[arg(long)]
        assisted_by: bool,
        /// The file that holds the message, and what else git tells
        #[arg(value_name = "ARGUMENT", required = true)]
        arguments: Vec<OsString>,
    },
    /// Notes the commit that was made in the context it names
    PostCommit,
}

impl GitHook {
    pub(crate) async fn run(self, invocation: &Invocation) {
        // Git and files are waited for on this thread, which no other limit reaches.
        let theirs = invocation.clone();
        let duty = move || {
            if let Ok(recorder) = theirs.recorder() {
                recorder.write_down("git-hook", None, &format!("it was not done within {HARD_LIMIT:?}"), false);
            }
        };
        let _watchdog = Watchdog::start(HARD_LIMIT, duty, || process::exit(0));
        let (during, done) = match &self.hook {
            Hook::PrepareCommitMsg { assisted_by, arguments } => {
                let name = (arguments.first().cloned().unwrap_or_default(), *assisted_by);
                ("git-hook prepare-commit-msg", tokio::time::timeout(LIMIT, add_trailer(invocation, name)).await)
            }
            Hook::PostCommit => ("git-hook post-commit", tokio::time::timeout(LIMIT, note_commit(invocation)).await),
        };
        let problem = match done {
            Ok(Ok(())) => return,
            Ok(Err(error)) => error.in_one_line(),
            Err(_) => format!("it was not done within {LIMIT:?}"),
        };
        if let Ok(recorder) = invocation.recorder() {
            recorder.write_down(during, None, &problem, false);
        }
    }
}

async fn add_trailer(invocation: &Invocation, (message, names_agent): (OsString, bool)) -> Result<()> {
    let (config, here) = (invocation.capture_config()?, Path::new(HERE));
    let request = MessageTrailers { message, names_agent, patience: FLUSH_LIMIT };
    capture::add_context_trailer(&config, &Invocation::git(), here, request).await?;
    Ok(())
}

async fn note_commit(invocation: &Invocation) -> Result<()> {
    let git = Invocation::git();
    let Some(made) = git.last_made(Path::new(HERE))? else { return Ok(()) };
    Ok(made.note(&invocation.capture_config()?).await?)
}
