//! `ctx log`: history, newest first, as turns or as commits, in a list or a graph.

use std::collections::HashSet;

use clap::Args;
use contexture::{
    Contexture, LogStart, LoggedTurn, Reference, StoredCommit,
    core::CommitId,
    wire::{HeadsByCommit, TurnDocument},
};
use renderdag::{Ancestor, GraphRowRenderer, Renderer};

use crate::{
    commit_text::CommitText,
    conversation,
    error::Result,
    invocation::Invocation,
    output::{Output, Shape},
    turn_text::TurnText,
};

/// Commits that are read at once.
const COMMITS_PER_PAGE: u32 = 64;

const EXAMPLES: &str = "\
Examples:
  ctx log
      the turns of this repository's sessions: what was asked, what was done, in which files, what came of it
  ctx log last -n 5
      the last five turns of the last session here
  ctx log --graph
      with forks (○), compactions (◆) and snapshots (■)
  ctx log --all --json
      every commit of the space, also those that no head reaches, for a program";

/// Shows history turn by turn, newest first
///
/// A turn is a request and all that was done until the next one; the commits that were made at its tool calls are folded
/// into it. Without an argument it starts, in a repository, at the sessions that were begun in it and at heads of chains
/// that name no directory; outside of one, at all heads, or where there are none, at everything. What happened last comes
/// first, whenever it was taken in.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Log {
    /// Where to start
    #[arg(value_name = "ID|HEAD|SESSION")]
    starts: Vec<Reference>,
    /// Draws the graph of parents
    #[arg(long)]
    graph: bool,
    /// Shows everything, of every directory, also what no head reaches
    #[arg(long, conflicts_with = "starts")]
    all: bool,
    #[command(flatten)]
    folding: Folding,
    /// Shows so many turns or commits at most
    #[arg(short = 'n', value_name = "N")]
    limit: Option<u64>,
    /// Takes one line for a turn or commit, also with --graph and --steps
    #[arg(long)]
    oneline: bool,
}

/// Whether turns are shown or the commits that they consist of.
#[derive(Debug, Args)]
struct Folding {
    /// Shows each commit by itself
    #[arg(long)]
    steps: bool,
    /// Shows turns with --json too, where commits are shown otherwise
    #[arg(long, conflicts_with = "steps")]
    turns: bool,
}

/// What is written between entries, and what draws the graph.
struct LogPage {
    graph: Option<Box<dyn Renderer<CommitId, Output = String> + Send>>,
    is_oneline: bool,
    /// Whether an empty line belongs before the next entry, if there is one.
    apart: bool,
}

impl Log {
    pub(crate) async fn run(self, invocation: &Invocation, output: &mut Output) -> Result<()> {
        let engine = invocation.open().await?;
        let labels = HeadsByCommit::load(&engine).await?;
        let Some(start) = self.start(&engine, &labels).await? else {
            let project = engine.project().unwrap_or_else(|| ".".as_ref()).display();
            output.status(format_args!("Nothing happened in {project} yet; `ctx log --all` shows what did elsewhere."));
            return Ok(());
        };
        if let Some(project) = engine.project().filter(|_| self.starts.is_empty() && !self.all) {
            output.status(format_args!("The history of {}; `--all` shows that of every project.", project.display()));
        }
        let is_steps = self.folding.steps || (output.shape() == Shape::Json && !self.folding.turns);
        output.page(invocation.environment.pager().as_ref());
        let was_empty = if is_steps {
            self.steps(&engine, start, &labels, output).await?
        } else {
            self.turns(&engine, start, &labels, output).await?
        };
        if was_empty && self.limit != Some(0) {
            output.status(invocation.emptiness()?);
        }
        Ok(())
    }

    /// Shows commits. Tells whether there was none.
    async fn steps(
        &self,
        engine: &Contexture,
        start: LogStart,
        labels: &HeadsByCommit,
        output: &mut Output,
    ) -> Result<bool> {
        let mut walk = engine.walk(start).await?;
        let (palette, mut left, mut was_empty) = (output.palette, self.limit.unwrap_or(u64::MAX), true);
        let text = CommitText { palette: &palette, labels, now: engine.now() };
        let mut page = self.page(self.oneline);
        loop {
            let size = u32::try_from(left).unwrap_or(u32::MAX).min(COMMITS_PER_PAGE);
            let commits = if size > 0 { walk.next(size).await? } else { Vec::new() };
            if commits.is_empty() {
                return Ok(was_empty);
            }
            was_empty = false;
            left -= commits.len() as u64;
            for stored in commits {
                if output.shape() == Shape::Json {
                    output.document(labels.document(stored))?;
                    continue;
                }
                let gist = conversation::words(engine, &stored).await;
                let words =
                    if self.oneline { text.line(&stored, Some(&gist)) } else { text.block(&stored, Some(&gist)) };
                let parents = match page.graph {
                    Some(_) => drawn_parents(engine, |it| walk.reaches(it), &stored, &[]).await?,
                    None => Vec::new(),
                };
                page.show(stored.id, parents, text.glyph(stored.commit.kind), words, output)?;
            }
        }
    }

    /// Shows turns. Tells whether there was none.
    async fn turns(
        &self,
        engine: &Contexture,
        start: LogStart,
        labels: &HeadsByCommit,
        output: &mut Output,
    ) -> Result<bool> {
        let marked: HashSet<CommitId> = labels.commits().into_iter().collect();
        let mut walk = engine.turns(start, marked).await?;
        let palette = output.palette;
        let now = engine.now();
        let text = TurnText { palette: &palette, labels, now, columns: output.table_columns() };
        let glyphs = CommitText { palette: &palette, labels, now };
        let is_oneline = self.oneline || !self.graph;
        let (mut page, mut shown) = (self.page(is_oneline), 0);
        while shown < self.limit.unwrap_or(u64::MAX)
            && let Some(turn) = walk.next().await?
        {
            shown += 1;
            if output.shape() == Shape::Json {
                output.document(TurnDocument::new(turn, labels))?;
                continue;
            }
            let words = if is_oneline { text.line(&turn) } else { text.block(&turn) };
            let LoggedTurn { commits, .. } = &turn;
            let parents = match page.graph {
                Some(_) => drawn_parents(engine, |it| walk.reaches(it), turn.first(), commits).await?,
                None => Vec::new(),
            };
            page.show(turn.last().id, parents, glyphs.glyph(turn.last().commit.kind), words, output)?;
        }
        Ok(shown == 0)
    }

    fn page(&self, is_oneline: bool) -> LogPage {
        let row_height = if is_oneline { 1 } else { 2 };
        let graph = || -> Box<dyn Renderer<CommitId, Output = String> + Send> {
            Box::new(GraphRowRenderer::new().output().with_min_row_height(row_height).build_box_drawing())
        };
        LogPage { graph: self.graph.then(graph), is_oneline, apart: false }
    }

    /// Returns where to start; nothing when nothing happened in the project.
    async fn start(&self, engine: &Contexture, labels: &HeadsByCommit) -> Result<Option<LogStart>> {
        if self.all {
            return Ok(Some(LogStart::Timeline));
        }
        let mut commits = Vec::new();
        for reference in &self.starts {
            commits.push(engine.find(reference).await?);
        }
        if self.starts.is_empty() && engine.project().is_some() {
            commits = engine.tips_here().await?;
            let is_empty = commits.is_empty() && !engine.heads("", None, 1).await?.is_empty();
            return Ok((!is_empty).then_some(LogStart::Commits(commits)));
        }
        if self.starts.is_empty() {
            commits = labels.commits();
        }
        Ok(Some(if commits.is_empty() { LogStart::Timeline } else { LogStart::Commits(commits) }))
    }
}

impl LogPage {
    /// Shows an entry that goes on from others.
    fn show(
        &mut self,
        id: CommitId,
        parents: Vec<Ancestor<CommitId>>,
        glyph: String,
        words: String,
        output: &mut Output,
    ) -> Result<()> {
        if self.apart {
            output.line("")?;
        }
        let Some(graph) = &mut self.graph else {
            output.lines(words)?;
            self.apart = !self.is_oneline;
            return Ok(());
        };
        let words = if self.is_oneline { words } else { words + "\n\n" };
        let row = graph.next_row(id, parents, glyph, words);
        self.apart = row.ends_with("\n\n");
        output.lines(row.trim_end_matches('\n'))
    }
}

/// Returns the lines to draw from a commit: to its parent, and to what it, or what is folded into its entry, merges where
/// the log comes by there.
async fn drawn_parents(
    engine: &Contexture,
    reaches: impl Fn(&StoredCommit) -> bool,
    first: &StoredCommit,
    folded: &[StoredCommit],
) -> Result<Vec<Ancestor<CommitId>>> {
    let mut parents: Vec<_> = first.commit.parent.into_iter().collect();
    for merged in first.commit.merges.iter().chain(folded.iter().flat_map(|stored| &stored.commit.merges)) {
        if !parents.contains(merged) && reaches(&engine.show(*merged).await?) {
            parents.push(*merged);
        }
    }
    Ok(parents.into_iter().map(Ancestor::Parent).collect())
}
