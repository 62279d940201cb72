//! `ctx log`: history, newest first, as a list or a graph.

use clap::Args;
use contexture::{Contexture, LogStart, Reference, StoredCommit, Walk, core::CommitId, wire::HeadsByCommit};
use renderdag::{Ancestor, GraphRowRenderer, Renderer as _};

use crate::{
    commit_text::CommitText,
    conversation,
    error::Result,
    invocation::Invocation,
    output::{Output, Shape},
};

/// Commits that are read at once.
const COMMITS_PER_PAGE: u32 = 64;

const EXAMPLES: &str = "\
Examples:
  ctx log --graph
      everything that the heads reach, with forks (○), compactions (◆) and snapshots (■)
  ctx log main -n 5 --oneline
      the last five steps of `main`
  ctx log --all --json
      every commit of the space, also those that no head reaches, for a program";

/// Shows history, newest first
///
/// Without an argument it starts at all heads; where there are none, it shows everything.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Log {
    /// Where to start
    #[arg(value_name = "ID|HEAD")]
    starts: Vec<Reference>,
    /// Draws the graph of parents
    #[arg(long)]
    graph: bool,
    /// Shows every commit, also those that no head reaches
    #[arg(long, conflicts_with = "starts")]
    all: bool,
    /// Shows so many commits at most
    #[arg(short = 'n', value_name = "N")]
    limit: Option<u64>,
    /// Takes one line for a commit
    #[arg(long)]
    oneline: bool,
}

impl Log {
    pub(crate) async fn run(self, invocation: &Invocation, output: &mut Output) -> Result<()> {
        let engine = invocation.open().await?;
        let labels = HeadsByCommit::load(&engine).await?;
        let mut walk = engine.walk(self.start(&engine, &labels).await?).await?;
        let mut left = self.limit.unwrap_or(u64::MAX);
        let mut page = walk.next(page_size(left)).await?;
        if page.is_empty() && left > 0 {
            output.status(invocation.emptiness()?);
        }
        output.page(invocation.environment.pager().as_ref());
        let palette = output.palette;
        let text = CommitText { palette: &palette, labels: &labels, now: engine.now() };
        let row_height = if self.oneline { 1 } else { 2 };
        let graph = || GraphRowRenderer::new().output().with_min_row_height(row_height).build_box_drawing();
        let mut graph = self.graph.then(graph);
        // Whether an empty line belongs before the next commit, if there is one.
        let mut apart = false;
        while left > 0 && !page.is_empty() {
            left -= page.len() as u64;
            for stored in page {
                if output.shape() == Shape::Json {
                    output.document(labels.document(stored))?;
                    continue;
                }
                if apart {
                    output.line("")?;
                }
                let gist = conversation::gist(&engine, &stored).await;
                let gist = gist.as_deref();
                let words = if self.oneline { text.line(&stored, gist) } else { text.block(&stored, gist) };
                let Some(graph) = &mut graph else {
                    output.lines(words)?;
                    apart = !self.oneline;
                    continue;
                };
                let parents = drawn_parents(&engine, &walk, &stored).await?;
                let words = if self.oneline { words } else { words + "\n\n" };
                let row = graph.next_row(stored.id, parents, text.glyph(stored.commit.kind), words);
                apart = row.ends_with("\n\n");
                output.lines(row.trim_end_matches('\n'))?;
            }
            page = walk.next(page_size(left)).await?;
        }
        Ok(())
    }

    async fn start(&self, engine: &Contexture, labels: &HeadsByCommit) -> Result<LogStart> {
        if self.all {
            return Ok(LogStart::Everything);
        }
        let mut commits = Vec::new();
        for reference in &self.starts {
            commits.push(engine.find(reference).await?);
        }
        if self.starts.is_empty() {
            commits = labels.commits();
        }
        Ok(if commits.is_empty() { LogStart::Everything } else { LogStart::Commits(commits) })
    }
}

/// Returns the lines to draw from a commit: to its parent, and to what it merges where the log comes by there.
async fn drawn_parents(engine: &Contexture, walk: &Walk, stored: &StoredCommit) -> Result<Vec<Ancestor<CommitId>>> {
    let mut parents: Vec<_> = stored.commit.parent.into_iter().collect();
    for merged in &stored.commit.merges {
        if !parents.contains(merged) && walk.reaches(&engine.show(*merged).await?) {
            parents.push(*merged);
        }
    }
    Ok(parents.into_iter().map(Ancestor::Parent).collect())
}

fn page_size(left: u64) -> u32 {
    u32::try_from(left).unwrap_or(u32::MAX).min(COMMITS_PER_PAGE)
}
