//! Writes to a store from a process of its own, so that tests can kill it, multiply it and break its disk.
//!
//! `ctx-test-writer STORE HEAD loop COUNT TASKS BYTES` checks in as fast as it can, COUNT times (0 means for ever) in
//! each of TASKS tasks. `ctx-test-writer STORE HEAD serve` does what each line of its input says. Every outcome is a line
//! of output as soon as it is known: `ack ID`, `done NUMBER` or `failed KIND: MESSAGE`.

use std::{
    env,
    io::{self, BufRead as _, Write as _},
    process::ExitCode,
};

use contexture::{Contexture, Error, Expect, Location, Options, Snapshot, Stop};
use contexture_core::{Actor, CommitId, HeadName, Provenance, SpaceName};
use contexture_testkit::{Draft, TestClock, block_on, noise, say};
use futures_util::future;

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let [store, head, mode @ ..] = arguments.as_slice() else {
        return usage();
    };
    block_on(async {
        let store = match open(store.parse().expect("it is the place of a store")).await {
            Ok(store) => store,
            Err(error) => {
                report(Err(error));
                return ExitCode::FAILURE;
            }
        };
        match mode {
            ["loop", count, tasks, bytes] => {
                let [count, tasks, bytes] = [count, tasks, bytes].map(|number| number.parse().unwrap());
                let start =
                    |task| tokio::spawn(write_on(store.clone(), (*head).to_owned(), Load { task, count, bytes }));
                let tasks: Vec<_> = (0..tasks).map(start).collect();
                future::try_join_all(tasks).await.expect("no task panics");
            }
            ["serve"] => serve(&store, head).await,
            _ => return usage(),
        }
        ExitCode::SUCCESS
    })
}

fn usage() -> ExitCode {
    eprintln!("usage: ctx-test-writer STORE HEAD (loop COUNT TASKS BYTES | serve)");
    ExitCode::from(2)
}

async fn open(location: Location) -> Result<Contexture, Error> {
    let options = Options {
        location,
        space: SpaceName::new("default")?,
        actor: Actor::new("writer")?,
        clock: TestClock::fixed().reader(),
        secrets: contexture_testkit::known_secrets(),
    };
    Contexture::open(options).await
}

/// What one task writes.
struct Load {
    task: usize,
    count: usize,
    bytes: usize,
}

impl Load {
    fn draft(&self, head: &str, n: usize) -> Draft {
        let name = format!("{head} {} {n}", self.task);
        // No two commits share their noise, so nothing is stored once for several.
        say(&format!("{name} {}", noise(&name, self.bytes))).onto(head)
    }
}

/// Tasks of their own report in the order in which the store answers them.
async fn write_on(store: Contexture, head: String, load: Load) {
    let mut n = 0;
    while load.count == 0 || n < load.count {
        report(load.draft(&head, n).send(&store).await.map(|made| WriteOutcome::Ack(made.id)));
        n += 1;
        // An answer that is there at once must not keep the other tasks from their turn.
        tokio::task::yield_now().await;
    }
}

async fn serve(store: &Contexture, name: &str) {
    let head = HeadName::new(name).unwrap();
    for (n, line) in io::stdin().lock().lines().enumerate() {
        let line = line.unwrap();
        let outcome = match line.split(' ').collect::<Vec<_>>().as_slice() {
            ["checkpoint", bytes] => {
                let load = Load { task: 0, count: 1, bytes: bytes.parse().unwrap() };
                load.draft(name, n).send(store).await.map(|made| WriteOutcome::Ack(made.id))
            }
            ["expect", at] => {
                let expect = if *at == "absent" { Expect::Absent } else { Expect::At(at.parse().unwrap()) };
                let draft = say(&format!("{} {n}", std::process::id())).onto(name).expecting(expect);
                draft.send(store).await.map(|made| WriteOutcome::Ack(made.id))
            }
            ["keyed", key] => {
                let sent = say(key).onto(name).key(key).send(store).await;
                sent.map(|made| WriteOutcome::Ack(made.id))
            }
            ["snapshot"] => snapshot(store, &head).await.map(WriteOutcome::Ack),
            ["read"] => read(store, &head).await.map(WriteOutcome::Done),
            other => panic!("{other:?} is no command"),
        };
        report(outcome);
    }
}

async fn snapshot(store: &Contexture, head: &HeadName) -> Result<CommitId, Error> {
    let commit = store.head(head).await?.expect("a head to take a snapshot of");
    let request = Snapshot { commit, provenance: Provenance::default(), head: None, annotations: Vec::new() };
    Ok(store.snapshot(request).await?.id)
}

async fn read(store: &Contexture, head: &HeadName) -> Result<u64, Error> {
    let commit = store.head(head).await?;
    let materialized = store.materialize(commit, Stop::Root, None).await?.write_to(&mut io::sink()).await?;
    Ok(materialized.commits)
}

enum WriteOutcome {
    /// This commit is durable.
    Ack(CommitId),
    /// So many commits were read.
    Done(u64),
}

fn report(outcome: Result<WriteOutcome, Error>) {
    let mut out = io::stdout().lock();
    let written = match outcome {
        Ok(WriteOutcome::Ack(id)) => writeln!(out, "ack {id}"),
        Ok(WriteOutcome::Done(number)) => writeln!(out, "done {number}"),
        Err(error) => {
            let kind = match &error {
                Error::Store(store) => format!("{store:?}"),
                other => format!("{other:?}"),
            };
            let kind: String = kind.chars().take_while(|letter| letter.is_alphanumeric()).collect();
            writeln!(out, "failed {kind}: {error}")
        }
    };
    written.and_then(|()| out.flush()).expect("the test reads to the end");
}
