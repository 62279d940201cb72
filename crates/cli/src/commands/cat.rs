//! `ctx cat`: a conversation to be read.

use std::collections::VecDeque;

use clap::Args;
use contexture::{Entries, Reference, wire::EntryDocument};

use crate::{
    conversation::{Conversation, ShownDetail},
    error::Result,
    invocation::Invocation,
    last_session::or_last,
    output::{Output, Shape},
    values::StopAt,
};

const EXAMPLES: &str = "\
Examples:
  ctx cat
      the last session of this repository; `ctx cat 2` is the second of `ctx sessions`
  ctx cat main
      what an agent knows at `main`, from the last compaction on
  ctx cat main -n 4 --full
      the last four turns with everything that tools were given and answered
  ctx cat main --stop root
      all that was ever said, compacted or not
  ctx cat main --json
      the entries for a program, one a line, whichever runtime wrote them";

/// Shows a conversation to be read
///
/// What is long is folded: thinking, tool calls and results, instructions. Changes to files are shown as such.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Cat {
    /// The commit, or the session [default: the last session here]
    #[arg(value_name = "ID|HEAD|SESSION")]
    commit: Option<Reference>,
    /// Unfolds everything
    #[arg(long)]
    full: bool,
    /// How far back to go: to the nearest `compaction` or snapshot, to the `root`, or to an ancestor, each included
    #[arg(long, value_name = "compaction|root|ID", default_value = "compaction")]
    stop: StopAt,
    /// Shows only so many turns, the last ones; with --json, entries
    #[arg(short = 'n', value_name = "LAST")]
    last: Option<usize>,
}

impl Cat {
    pub(crate) async fn run(self, invocation: &Invocation, output: &mut Output) -> Result<()> {
        let engine = invocation.open().await?;
        let commit = engine.find(&or_last(self.commit, &engine, output).await?).await?;
        let stop = self.stop.resolve(&engine).await?;
        let entries = engine.entries(Some(commit), stop).await?;
        output.page(invocation.environment.pager().as_ref());
        let detail = if self.full { ShownDetail::Full } else { ShownDetail::Folded };
        read(entries, CatReading { detail, last: self.last }, output).await
    }
}

/// What to show of a conversation.
pub(crate) struct CatReading {
    pub(crate) detail: ShownDetail,
    /// How much of its end; all of it when nothing is said.
    pub(crate) last: Option<usize>,
}

/// Shows the entries of a chain as they are read.
pub(crate) async fn read(entries: Entries, reading: CatReading, output: &mut Output) -> Result<()> {
    match output.shape() {
        Shape::Json => read_documents(entries, reading.last, output).await,
        Shape::Text => read_turns(entries, reading, output).await,
    }
}

async fn read_turns(mut entries: Entries, reading: CatReading, output: &mut Output) -> Result<()> {
    let mut tail = LastEntries::new(reading.last);
    let mut conversation = Conversation::new(output.palette, output.columns(), reading.detail);
    let mut is_first = true;
    let mut show = |turn: String, output: &mut Output| {
        if !std::mem::take(&mut is_first) {
            output.line("")?;
        }
        output.lines(turn)
    };
    while let Some(content) = entries.next().await? {
        for turn in conversation.tell(content).into_iter().filter_map(|turn| tail.take(turn)) {
            show(turn, output)?;
        }
    }
    let last = conversation.finish().and_then(|turn| tail.take(turn));
    for turn in last.into_iter().chain(tail.held) {
        show(turn, output)?;
    }
    Ok(())
}

async fn read_documents(mut entries: Entries, last: Option<usize>, output: &mut Output) -> Result<()> {
    let mut tail = LastEntries::new(last);
    while let Some(content) = entries.next().await? {
        for document in EntryDocument::all_of(content).into_iter().filter_map(|document| tail.take(document)) {
            output.document(document)?;
        }
    }
    for document in tail.held {
        output.document(document)?;
    }
    Ok(())
}

/// Holds back what may not be among the last.
struct LastEntries<T> {
    last: Option<usize>,
    held: VecDeque<T>,
}

impl<T> LastEntries<T> {
    fn new(last: Option<usize>) -> Self {
        Self { last, held: VecDeque::new() }
    }

    /// Takes the next and returns it when all are wanted.
    fn take(&mut self, next: T) -> Option<T> {
        let Some(last) = self.last else { return Some(next) };
        self.held.push_back(next);
        if self.held.len() > last {
            self.held.pop_front();
        }
        None
    }
}
