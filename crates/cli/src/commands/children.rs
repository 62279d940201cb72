//! `ctx children`: the commits that continue a commit.

use clap::Args;
use contexture::{Reference, wire::HeadsByCommit};

use crate::{
    commit_text::CommitText,
    conversation,
    error::Result,
    invocation::Invocation,
    output::{Output, Shape},
};

const EXAMPLES: &str = "\
Examples:
  ctx children ctx-8d3f
  ctx children main~1 --json";

/// Lists the commits whose parent is the given one, in the order they were made
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Children {
    /// The parent
    #[arg(value_name = "ID|HEAD")]
    commit: Reference,
    /// Lists so many at most
    #[arg(short = 'n', value_name = "N", default_value_t = 1000)]
    limit: u32,
}

impl Children {
    pub(crate) async fn run(self, invocation: &Invocation, output: &mut Output) -> Result<()> {
        let engine = invocation.open().await?;
        let parent = engine.find(&self.commit).await?;
        let labels = HeadsByCommit::load(&engine).await?;
        let palette = output.palette;
        let text = CommitText { palette: &palette, labels: &labels, now: engine.now() };
        for stored in engine.children(parent, self.limit).await? {
            match output.shape() {
                Shape::Text => {
                    let gist = conversation::gist(&engine, &stored).await;
                    output.line(text.line(&stored, gist.as_deref()))?;
                }
                Shape::Json => output.document(labels.document(stored))?,
            }
        }
        Ok(())
    }
}
