//! `ctx demo`: what one does with it day by day, run for real in a store, a home and a repository that are thrown away.

mod repository;
mod stage;

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use clap::Args;
use contexture::{Location, core::Timestamp, private};
use contexture_capture::{Homes, Runtime};

use crate::{
    destination::DraftFile,
    error::{Error, Result},
    invocation::Invocation,
    output::Output,
    postgres_variables::PostgresVariables,
};
use stage::{Setting, Stage};

/// What an agent wrote down of its session, as Claude Code does.
const SESSION: &str = include_str!("demo/session.jsonl");
/// What a reviewer's agent said and did.
const REVIEW: &str = include_str!("demo/review.jsonl");
const SUMMARY: &str = include_str!("demo/summary.txt");
/// Where Claude Code keeps the session.
const SESSION_FILE: &str = "home/.claude/projects/relay/0b9d6c1a-8f0e-4a55-9c53-6d1f6b1d2f10.jsonl";

const EXAMPLES: &str = "\
Examples:
  ctx demo
  ctx demo --keep /tmp/demo && ctx --store /tmp/demo/store log --graph
  ctx --store postgres://ctx@localhost/contexture demo
      in a schema of its own, with the copy of step 8 in a directory";

/// Walks through the important commands in a throw-away store
///
/// An agent's session is taken in, looked at, led back to from a line of code, continued in another agent, forked, summed
/// up, assembled for a model and moved to another store. Every command that is shown is run, and what follows it is what
/// it printed.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Demo {
    /// Keeps the store and the files in this directory, which must be new or empty
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
}

impl Demo {
    pub(crate) async fn run(self, invocation: &Invocation, output: &mut Output) -> Result<()> {
        let now = invocation.now()?;
        let mut stage = Stage::new(output, now, setting(invocation)?);
        if let Some(directory) = self.keep {
            set_up(&directory, now)?;
            play(&mut stage).await?;
            let files = directory.display();
            return match stage.location()? {
                Location::Directory(_) => stage.say(&format!("The store and the files are in {files}")),
                server @ Location::Postgres(_) => {
                    stage.say(&format!("The files are in {files}, and the store is at"))?;
                    stage.say(&server.to_string())
                }
            };
        }
        let unwritable = |source| Error::Write { path: env::temp_dir(), source };
        let private = <fs::Permissions as std::os::unix::fs::PermissionsExt>::from_mode(0o700);
        let directory = tempfile::Builder::new().permissions(private).tempdir().map_err(unwritable)?;
        set_up(directory.path(), now)?;
        let played = play(&mut stage).await;
        // What is on a server does not go away with the directory, and must go however the walk ended.
        if let Location::Postgres(_) = stage.location()? {
            stage.open().await?.destroy_store().await?;
        }
        played?;
        stage.say("The store of this walk is gone; `ctx demo --keep DIR` keeps it.")
    }
}

/// Chooses the store of the walk: a directory below the current one, or a schema of the database that was named.
fn setting(invocation: &Invocation) -> Result<Setting> {
    let postgres = invocation.environment.postgres.clone();
    let homes = Homes::default().with(Runtime::CLAUDE_CODE, "home/.claude").with(Runtime::CODEX, "home/.codex");
    let named = invocation.globals.store.as_ref().or(invocation.environment.store.as_ref());
    match (invocation.location()?, named) {
        (Location::Postgres(_), Some(url)) => {
            let mut store = url.clone();
            store.push(if url.to_string_lossy().contains('?') { "&" } else { "?" });
            // The last of equal settings counts.
            let made_at = invocation.now()?.as_micros();
            store.push(format!("schema=ctx_demo_{:x}_{:x}", made_at.cast_unsigned(), std::process::id()));
            Ok(Setting { store, postgres, homes })
        }
        _ => Ok(Setting { store: "store".into(), postgres: PostgresVariables::default(), homes }),
    }
}

/// Fills a directory and enters it.
fn set_up(directory: &Path, now: Timestamp) -> Result<()> {
    let unwritable = |source| Error::Write { path: directory.to_owned(), source };
    private::create_directory(directory).map_err(unwritable)?;
    if fs::read_dir(directory).map_err(unwritable)?.next().is_some() {
        return Err(Error::NotEmpty { path: directory.to_owned() });
    }
    env::set_current_dir(directory).map_err(unwritable)?;
    let here = env::current_dir().and_then(fs::canonicalize).map_err(unwritable)?;
    let files = [
        (SESSION_FILE, told(SESSION, &here, now)),
        ("review.jsonl", told(REVIEW, &here, now)),
        ("summary.txt", SUMMARY.to_owned()),
        (repository::FILE, repository::before()),
    ];
    files.iter().try_for_each(|(name, content)| write(name, content))
}

/// Says of a session where it was and when; its records say so many minutes ago.
fn told(session: &str, here: &Path, now: Timestamp) -> String {
    let here = here.to_string_lossy().replace('\\', "\\\\").replace('"', "\\\"");
    let mut told = session.replace("@HERE", &here);
    for minutes in [48, 41, 33, 19] {
        told = told.replace(&format!("\"@{minutes}\""), &format!("\"{}\"", ago(now, minutes)));
    }
    told
}

/// Returns a moment some minutes before another.
fn ago(now: Timestamp, minutes: i64) -> Timestamp {
    Timestamp::from_micros(now.as_micros().saturating_sub(minutes * 60_000_000)).unwrap_or(now)
}

fn write(name: &str, content: &str) -> Result<()> {
    let path = Path::new(name);
    let unwritable = |source| Error::Write { path: path.to_owned(), source };
    private::create_directory(path.parent().unwrap_or(Path::new("."))).map_err(unwritable)?;
    let mut file = DraftFile::start(path)?;
    file.write_all(content.as_bytes())?;
    file.publish()
}

async fn play(stage: &mut Stage<'_>) -> Result<()> {
    stage.say("Contexture keeps what agents know as commits. This walk has a store, a home and a")?;
    stage.say("repository of its own.")?;
    capture(stage).await?;
    lead_back(stage).await?;
    go_on(stage).await?;
    sum_up(stage).await?;
    assemble(stage).await?;
    copy(stage).await?;
    stage.scene("Now with your own agents:")?;
    stage.prompt("ctx init")?;
    stage.prompt("ctx sessions")?;
    stage.prompt("ctx --help")?;
    stage.say("")
}

async fn capture(stage: &mut Stage<'_>) -> Result<()> {
    stage.scene("1. An agent hunts a flaky test. What it writes down is taken in, a commit for each turn.")?;
    stage.run(32, &["import"]).await?;
    stage.say("  `ctx init` has your agents do so by themselves, while they work.")?;
    stage.scene("2. What did it do, and what was said?")?;
    stage.run(32, &["sessions"]).await?;
    stage.run(32, &["log", "last"]).await?;
    stage.run(32, &["cat", "last", "-n", "4"]).await.map(drop)
}

/// Leads a line of the repository back to the conversation, if there is a git.
async fn lead_back(stage: &mut Stage<'_>) -> Result<()> {
    stage.scene("3. Why is this line there? The answer is the conversation that wrote it.")?;
    let unwritable = |source| Error::Write { path: repository::FILE.into(), source };
    let (begun, changed) = (stage.ago(60), stage.ago(32));
    let is_made = repository::make(begun).map_err(unwritable)?;
    write(repository::FILE, repository::AFTER)?;
    if is_made && repository::commit("Give the server more time", changed).map_err(unwritable)? {
        return stage.run(30, &["blame", "tests/resume.rs:6"]).await.map(drop);
    }
    stage.say("  That needs git, which is not here.")
}

async fn go_on(stage: &mut Stage<'_>) -> Result<()> {
    stage.scene("4. The conversation goes on in another agent: the same text, calls and results.")?;
    stage.run(25, &["resume", "last", "--in", "codex", "--print"]).await?;
    stage.scene("5. A reviewer wants another fix and goes on from before this one. Nothing is copied.")?;
    stage.run(25, &["fork", "last~1", "--head", "review"]).await?;
    let reviewer = ["--principal", "grace@desk", "--summary", "Waits for the port: no slower"];
    let command = [&["checkpoint", "--head", "review"], reviewer.as_slice(), &["review.jsonl"]].concat();
    stage.run(19, &command).await.map(drop)
}

async fn sum_up(stage: &mut Stage<'_>) -> Result<()> {
    stage.scene("6. A summary takes the place of a long history, which stays. ○ is a turn, ◆ a compaction.")?;
    stage.run(12, &["compact", "review", "--summary", "summary.txt", "--loss", "the output of the 20 runs"]).await?;
    stage.run(0, &["log", "--graph", "--all"]).await.map(drop)
}

async fn assemble(stage: &mut Stage<'_>) -> Result<()> {
    stage.scene("7. A model is given what fits a budget, and an envelope says what and why.")?;
    let budget = ["--max-tokens", "1200", "-o", "request.json"];
    let command = [&["assemble", "resume", "--commit", "last", "--trigger", "Go on."], budget.as_slice()].concat();
    stage.run(0, &command).await?;
    stage.run(0, &["envelope", "show", "last"]).await.map(drop)
}

async fn copy(stage: &mut Stage<'_>) -> Result<()> {
    stage.scene("8. The chains move to another store as one file. Ids are digests, so they stay the same.")?;
    stage.run(0, &["export", "--all", "-o", "chains.bundle"]).await?;
    stage.run(0, &["--store", "copy", "import-bundle", "chains.bundle"]).await?;
    let here = stage.run(0, &["resolve", "grace@desk"]).await?;
    let there = stage.run(0, &["--store", "copy", "resolve", "grace@desk"]).await?;
    if here != there {
        return Err(Error::Unequal { what: "the last commit of review" });
    }
    stage.scene("9. Every byte and every link in the copy is checked.")?;
    stage.run(0, &["--store", "copy", "fsck"]).await.map(drop)
}
