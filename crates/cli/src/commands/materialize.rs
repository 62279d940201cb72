//! `ctx materialize`: a chain becomes the conversation it stands for.

use clap::Args;
use contexture::{Materialized, core::Format};

use crate::{
    destination::{Destination, Draft},
    error::Result,
    invocation::Invocation,
    output::{self, Output, Shape},
    values::{Start, StopAt},
};

const EXAMPLES: &str = "\
Examples:
  ctx materialize main > conversation.jsonl
      what an agent must read to go on from `main`
  ctx materialize main --stop root -o everything.jsonl
      every entry since the beginning, compacted or not
  ctx materialize main --stop ctx-8d3f
      only what came since that commit, that commit included
  ctx materialize none
      a fresh start: the conversation of no commit is empty";

/// Writes the conversation of a commit
///
/// The stored bytes are joined as their format asks; they stream through bounded memory at any length.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Materialize {
    /// The commit, or `none` for an empty conversation
    #[arg(value_name = "ID|HEAD|none")]
    commit: Start,
    /// How far back to go: to the nearest `compaction` or snapshot, to the `root`, or to an ancestor, each included
    #[arg(long, value_name = "compaction|root|ID", default_value = "compaction")]
    stop: StopAt,
    /// The format to give it in [default: its own]
    #[arg(long, value_name = "F")]
    format: Option<Format>,
    /// Where to write it; a file appears once it is whole
    #[arg(short, long, value_name = "FILE", default_value = "-", value_parser = Destination::parser())]
    output: Destination,
}

impl Materialize {
    pub(crate) async fn run(self, invocation: &Invocation, output: &mut Output) -> Result<()> {
        self.output.check(output, "conversation")?;
        let engine = invocation.open().await?;
        let commit = match &self.commit {
            Start::Nothing => None,
            Start::At(reference) => Some(engine.find(reference).await?),
        };
        let stop = self.stop.resolve(&engine).await?;
        let materialization = engine.materialize(commit, stop, self.format).await?;
        let failed = |error| self.output.failed(error);
        let Destination::File(path) = &self.output else {
            let counted = materialization.write_to(output.data()).await.map_err(failed)?;
            output.flush()?;
            output.remark(told(&counted));
            return Ok(());
        };
        let mut draft = Draft::start(path)?;
        let counted = {
            let mut sink = output.progress("Writing", None).track(draft.file());
            materialization.write_to(&mut sink).await.map_err(failed)?
        };
        draft.publish()?;
        match output.shape() {
            Shape::Json => output.document(&counted)?,
            Shape::Text => output.status(told(&counted)),
        }
        Ok(())
    }
}

/// Tells what came out.
fn told(counted: &Materialized) -> String {
    let Materialized { commits, messages, bytes, tokens, .. } = counted;
    let messages = messages.map(|messages| output::counted(messages, "message") + ", ").unwrap_or_default();
    format!(
        "Materialized {}, {messages}{}, about {} tokens.",
        output::counted(*commits, "commit"),
        output::size(*bytes),
        output::about(*tokens),
    )
}
