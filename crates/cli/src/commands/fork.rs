//! `ctx fork`: a new head at a commit.

use clap::Args;
use contexture::{Reference, core::HeadName, wire::MovedHead};

use crate::{
    error::Result,
    invocation::Invocation,
    last_session::or_last,
    output::{Output, Shape},
};

const EXAMPLES: &str = "\
Examples:
  ctx fork main~2 --head branch/other-fix
  ctx checkpoint --head branch/other-fix turn.jsonl
      goes on from two steps back, beside `main`";

/// Starts a branch: a new head at a commit
///
/// Nothing is copied, at any length of history.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Fork {
    /// Where the branch starts [default: the last session here]
    #[arg(value_name = "ID|HEAD|SESSION")]
    commit: Option<Reference>,
    /// The name of the new head; one that exists is a conflict (exit code 3)
    #[arg(long, value_name = "NAME")]
    head: HeadName,
}

impl Fork {
    pub(crate) async fn run(self, invocation: &Invocation, output: &mut Output) -> Result<()> {
        let engine = invocation.open().await?;
        let target = engine.find(&or_last(self.commit, &engine, output).await?).await?;
        engine.fork(target, &self.head).await?;
        match output.shape() {
            Shape::Json => output.document(MovedHead { name: self.head, from: None, to: Some(target) })?,
            Shape::Text => output.status(format_args!("Head {} starts at {}", self.head, target.short())),
        }
        Ok(())
    }
}
