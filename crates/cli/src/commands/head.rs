//! `ctx head`: names that point to commits.

use clap::{Args, Subcommand};
use contexture::{
    Contexture, Expect, HeadMove, Reference, StoreError,
    core::{CommitId, HeadName},
    wire::MovedHead,
};

use crate::{
    error::Result,
    invocation::Invocation,
    output::{self, Output, Shape},
    values::StartPoint,
};

/// Names that are longer stand out: one of them would push what belongs to the others off the screen.
const NAME_COLUMNS: usize = 46;
/// Heads or moves that are read at once.
const PER_PAGE: u32 = 1000;

const EXAMPLES: &str = "\
Examples:
  ctx head list session/
  ctx head set release ctx-8d3f
  ctx head move main ctx-8d3f --expect ctx-41c0
      moves it only if nobody else did
  ctx head log main
      where `main` was, when, and who moved it";

/// Lists, points, deletes heads and shows where they were
///
/// A head is a name that points to a commit and moves with each checkpoint onto it.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Head {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Lists the heads in name order
    List {
        /// Only those whose names start so
        #[arg(value_name = "PREFIX", default_value = "", hide_default_value = true)]
        prefix: String,
    },
    /// Points a head to a commit and makes it if need be
    Set {
        /// The head
        name: HeadName,
        /// Where to point it
        #[arg(value_name = "ID|HEAD")]
        commit: Reference,
        /// Where it must be now, or `none` if it must not exist; elsewhere is a conflict (exit code 3)
        #[arg(long, value_name = "ID|none")]
        expect: Option<StartPoint>,
    },
    /// Points a head that exists to another commit
    Move {
        /// The head
        name: HeadName,
        /// Where to point it
        #[arg(value_name = "ID|HEAD")]
        commit: Reference,
        /// Where it must be now; elsewhere is a conflict (exit code 3)
        #[arg(long, value_name = "ID")]
        expect: Option<Reference>,
    },
    /// Deletes a head; the commits and its log stay
    Delete {
        /// The head
        name: HeadName,
        /// Where it must be now; elsewhere is a conflict (exit code 3)
        #[arg(long, value_name = "ID")]
        expect: Option<Reference>,
    },
    /// Shows the moves of a head, newest first, also of one that was deleted
    Log {
        /// The head
        name: HeadName,
        /// Shows so many moves at most
        #[arg(short = 'n', value_name = "N")]
        limit: Option<u64>,
    },
}

impl Head {
    pub(crate) async fn run(self, invocation: &Invocation, output: &mut Output) -> Result<()> {
        let engine = invocation.open().await?;
        match self.action {
            Action::List { prefix } => {
                output.page(invocation.environment.pager().as_ref());
                list(&engine, &prefix, output).await
            }
            Action::Set { name, commit, expect } => {
                let expect = match expect {
                    Some(start) => start.expect(&engine).await?,
                    None => Expect::Anything,
                };
                let to = engine.find(&commit).await?;
                let from = engine.set_head(&name, to, expect).await?;
                tell(MovedHead { name, from, to: Some(to) }, output)
            }
            Action::Move { name, commit, expect } => {
                let expect = at(&engine, expect).await?;
                let to = engine.find(&commit).await?;
                let from = engine.move_head(&name, to, expect).await?;
                tell(MovedHead { name, from: Some(from), to: Some(to) }, output)
            }
            Action::Delete { name, expect } => {
                let expect = at(&engine, expect).await?;
                let from = engine.delete_head(&name, expect).await?;
                tell(MovedHead { name, from: Some(from), to: None }, output)
            }
            Action::Log { name, limit } => {
                output.page(invocation.environment.pager().as_ref());
                log(&engine, &name, limit.unwrap_or(u64::MAX), output).await
            }
        }
    }
}

async fn at(engine: &Contexture, expect: Option<Reference>) -> Result<Expect> {
    match expect {
        Some(reference) => Ok(Expect::At(engine.find(&reference).await?)),
        None => Ok(Expect::Anything),
    }
}

async fn list(engine: &Contexture, prefix: &str, output: &mut Output) -> Result<()> {
    let now = engine.now();
    let mut after = None;
    loop {
        let page = engine.heads(prefix, after.as_ref(), PER_PAGE).await?;
        let Some(last) = page.last() else {
            return Ok(());
        };
        after = Some(last.name.clone());
        let columns = |head: &contexture::Head| head.name.as_str().chars().count();
        let width = page.iter().map(columns).filter(|columns| *columns <= NAME_COLUMNS).max().unwrap_or(0);
        for head in page {
            if output.shape() == Shape::Json {
                output.document(head)?;
                continue;
            }
            let (id, green, faint) = (output.palette.id, output.palette.head, output.palette.faint);
            let pad = width.saturating_sub(columns(&head));
            let (name, commit) = (&head.name, head.commit.short());
            let moved = output::relative(now, head.moved_at);
            output.line(format_args!(
                "{green}{name}{green:#}{:pad$}  {id}{commit}{id:#}  {faint}moved {moved}{faint:#}",
                ""
            ))?;
        }
    }
}

fn tell(moved: MovedHead, output: &mut Output) -> Result<()> {
    if output.shape() == Shape::Json {
        return output.document(moved);
    }
    let MovedHead { name, from, to } = moved;
    match (from, to) {
        (Some(from), Some(to)) if from == to => output.status(format_args!("Head {name} is at {}", to.short())),
        (Some(from), Some(to)) => {
            output.status(format_args!("Head {name} moved from {} to {}", from.short(), to.short()));
        }
        (None, Some(to)) => output.status(format_args!("Head {name} starts at {}", to.short())),
        (Some(from), None) => output.status(format_args!("Head {name} is deleted; it was at {}", from.short())),
        (None, None) => output.status(format_args!("Head {name} is deleted.")),
    }
    Ok(())
}

async fn log(engine: &Contexture, name: &HeadName, limit: u64, output: &mut Output) -> Result<()> {
    let now = engine.now();
    let (mut before, mut left) = (u64::MAX, limit);
    while left > 0 {
        let size = u32::try_from(left).unwrap_or(u32::MAX).min(PER_PAGE);
        let page = engine.head_log(name, before, size).await?;
        let Some(last) = page.last() else {
            if before == u64::MAX {
                return Err(contexture::Error::from(StoreError::NoHead(name.clone())).into());
            }
            return Ok(());
        };
        before = last.seq;
        left -= page.len() as u64;
        for moved in page {
            if output.shape() == Shape::Json {
                output.document(moved)?;
                continue;
            }
            let HeadMove { seq, origin, target, actor, at } = moved;
            let (id, faint) = (output.palette.id, output.palette.faint);
            let place = |commit: CommitId| format!("{id}{}{id:#}", commit.short());
            let what = match (origin, target) {
                (None, Some(to)) => format!("made at {}", place(to)),
                (Some(from), Some(to)) => format!("{} to {}", place(from), place(to)),
                (Some(from), None) => format!("deleted, was at {}", place(from)),
                (None, None) => "deleted".to_owned(),
            };
            let when = output::relative(now, at);
            output.line(format_args!("{seq:>6}  {what}  {faint}{actor}, {when}{faint:#}"))?;
        }
    }
    Ok(())
}
