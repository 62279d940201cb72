//! `ctx demo`: every important command, run for real in a store that is thrown away.

mod reading;
mod stage;

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use clap::Args;
use contexture::{Location, private};

use crate::{
    destination::DraftFile,
    error::{Error, Result},
    invocation::Invocation,
    output::Output,
    postgres_variables::PostgresVariables,
};
use stage::{Setting, Stage};

/// The conversation of the demonstration: files and what is in them.
const FILES: [(&str, &str); 6] = [
    ("turn-1.jsonl", include_str!("demo/turn-1.jsonl")),
    ("turn-2.jsonl", include_str!("demo/turn-2.jsonl")),
    ("turn-3.jsonl", include_str!("demo/turn-3.jsonl")),
    ("turn-4.jsonl", include_str!("demo/turn-4.jsonl")),
    ("review.jsonl", include_str!("demo/review.jsonl")),
    ("summary.txt", include_str!("demo/summary.txt")),
];

const EXAMPLES: &str = "\
Examples:
  ctx demo
  ctx demo --keep /tmp/demo && ctx --store /tmp/demo/store log --graph
  ctx --store postgres://ctx@localhost/contexture demo
      in a schema of its own, with the copy of step 8 in a directory";

/// Walks through the important commands in a throw-away store
///
/// Every command that is shown is run, and what follows it is what it printed.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Demo {
    /// Keeps the store and the files in this directory, which must be new or empty
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
}

impl Demo {
    pub(crate) async fn run(self, invocation: &Invocation, output: &mut Output) -> Result<()> {
        let mut stage = Stage::new(output, invocation.now()?, setting(invocation)?);
        if let Some(directory) = self.keep {
            set_up(&directory)?;
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
        set_up(directory.path())?;
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
    let named = invocation.globals.store.as_ref().or(invocation.environment.store.as_ref());
    match (invocation.location()?, named) {
        (Location::Postgres(_), Some(url)) => {
            let mut store = url.clone();
            store.push(if url.to_string_lossy().contains('?') { "&" } else { "?" });
            // The last of equal settings counts.
            let made_at = invocation.now()?.as_micros();
            store.push(format!("schema=ctx_demo_{:x}_{:x}", made_at.cast_unsigned(), std::process::id()));
            Ok(Setting { store, postgres })
        }
        _ => Ok(Setting { store: "store".into(), postgres: PostgresVariables::default() }),
    }
}

/// Fills a directory and enters it.
fn set_up(directory: &Path) -> Result<()> {
    let unwritable = |source| Error::Write { path: directory.to_owned(), source };
    private::create_directory(directory).map_err(unwritable)?;
    if fs::read_dir(directory).map_err(unwritable)?.next().is_some() {
        return Err(Error::NotEmpty { path: directory.to_owned() });
    }
    env::set_current_dir(directory).map_err(unwritable)?;
    for (name, content) in FILES {
        DraftFile::start(Path::new(name)).and_then(|mut file| {
            file.write_all(content.as_bytes())?;
            file.publish()
        })?;
    }
    Ok(())
}

async fn play(stage: &mut Stage<'_>) -> Result<()> {
    stage.say("Contexture keeps what an agent knows as commits. This walk has a store of its own.")?;
    check_in(stage).await?;
    fork(stage).await?;
    let tip = compact(stage).await?;
    stage.scene("5. The graph: ○ is a turn, ◆ a compaction.")?;
    stage.run(0, &["log", "--graph"]).await?;
    materialize(stage).await?;
    copy(stage, &tip).await?;
    stage.scene("Now with a conversation of your own:")?;
    stage.prompt("ctx checkpoint --format claude-code-v1 --head main TRANSCRIPT.jsonl")?;
    stage.prompt("ctx log --graph")?;
    stage.prompt("ctx --help")?;
    stage.say("")
}

async fn check_in(stage: &mut Stage<'_>) -> Result<()> {
    stage.scene("1. An agent hunts a flaky test. Each turn of its transcript becomes a commit.")?;
    let found = "The client connects too early";
    let format = ["--format", "claude-code-v1"];
    let first = [&["checkpoint"], format.as_slice(), &["--head", "main", "--summary", found, "turn-1.jsonl"]].concat();
    stage.run(48, &first).await?;
    let cause = "The test sleeps 50 ms and hopes";
    stage.run(41, &["checkpoint", "--head", "main", "--summary", cause, "turn-2.jsonl"]).await?;
    stage.run(33, &["checkpoint", "--head", "main", "turn-3.jsonl"]).await?;
    stage.scene("2. What was not said then can be said later. The commit itself never changes.")?;
    let fix = "Sleeps longer: green, but slower";
    stage.run(32, &["annotate", "main", "--summary", fix, "--tag", "needs-review"]).await.map(drop)
}

async fn fork(stage: &mut Stage<'_>) -> Result<()> {
    stage.scene("3. A reviewer wants another fix and goes on from before this one. Nothing is copied.")?;
    stage.run(25, &["fork", "main~1", "--head", "review"]).await?;
    let fix = "Waits for the port: no slower";
    let reviewer = ["--principal", "grace@desk", "--summary", fix];
    let command = [&["checkpoint", "--head", "review"], reviewer.as_slice(), &["review.jsonl"]].concat();
    stage.run(19, &command).await.map(drop)
}

/// Returns the id of the last commit.
async fn compact(stage: &mut Stage<'_>) -> Result<String> {
    stage.scene("4. A summary takes the place of the long history, and the reviewer's fix is brought back.")?;
    stage.run(12, &["compact", "main", "--summary", "summary.txt", "--loss", "the output of the 20 runs"]).await?;
    let done = "Takes the fix of the review";
    stage.run(6, &["checkpoint", "--head", "main", "--merge", "review", "--summary", done, "turn-4.jsonl"]).await
}

async fn materialize(stage: &mut Stage<'_>) -> Result<()> {
    stage.scene("6. To go on from main, an agent reads what came since the compaction.")?;
    stage.run(0, &["materialize", "main", "-o", "resume.jsonl"]).await?;
    for line in reading::message_lines(&read("resume.jsonl")?) {
        stage.show(&format!("| {line}"))?;
    }
    stage.say("  The turns before it are all still there:")?;
    stage.run(0, &["materialize", "main", "--stop", "root", "-o", "everything.jsonl"]).await?;
    stage.scene("7. What did ada's agent know half an hour ago?")?;
    stage.run(0, &["resolve", "ada@laptop", "--at", "30 minutes ago"]).await.map(drop)
}

async fn copy(stage: &mut Stage<'_>, tip: &str) -> Result<()> {
    stage.scene("8. The chains move to another store as one file. Ids are digests, so they stay the same.")?;
    stage.run(0, &["export", "--all", "-o", "chains.bundle"]).await?;
    stage.run(0, &["--store", "copy", "import-bundle", "chains.bundle"]).await?;
    let copied_tip = stage.run(0, &["--store", "copy", "resolve", "ada@laptop"]).await?;
    stage.run(0, &["--store", "copy", "materialize", "main", "-o", "again.jsonl"]).await?;
    if copied_tip != tip {
        return Err(Error::Unequal { what: "the last commit of main" });
    }
    if read("again.jsonl")? != read("resume.jsonl")? {
        return Err(Error::Unequal { what: "the conversation of main" });
    }
    stage.say("  That is the id of step 4, and again.jsonl equals resume.jsonl byte for byte.")?;
    stage.scene("9. Every byte and every link in the copy is checked.")?;
    stage.run(0, &["--store", "copy", "fsck"]).await.map(drop)
}

fn read(name: &str) -> Result<Vec<u8>> {
    fs::read(name).map_err(|source| Error::Read { input: crate::input::Input::File(name.into()), source })
}
