//! `ctx why-commit`: from a git commit to the context that made it.

use std::path::Path;

use clap::Args;
use contexture_capture::{
    CommitContexts, CommitSubject, ContextContribution, FileChange, OriginFinder, UnclearContribution, Untraced,
};

use super::search;
use crate::{
    conversation::{self, ShownDetail},
    error::Result,
    invocation::Invocation,
    origin::Teller,
    output::{self, Output, Palette, Shape},
};

/// Files that are listed.
const MAX_FILES_SHOWN: usize = 20;
/// Contexts whose stories are told.
const MAX_STORIES: usize = 3;

const EXAMPLES: &str = "\
Examples:
  ctx why-commit
      which context made the last commit, what was asked for, and how to go on from there
  ctx why-commit 1a2b3c4 --full
  ctx why-commit HEAD~3 --json

How sure it is:
  recorded     the commit names its context (`Context-Id: ctx-…` in its message)
  edit found   tool calls wrote the lines of the commit before it was made
  reformatted  the lines were only laid out anew since tool calls wrote them
  near         the lines are much like what tool calls wrote beside the same neighbours
  ambiguous    several sessions may have made it; all of them are named
Author and time alone are no evidence.";

/// Shows which context made a git commit
///
/// Goes by the commit's `Context-Id`, or else by the tool calls that wrote its lines, and says by which of them.
/// Where several sessions remain possible it names all of them.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct WhyCommit {
    /// The git commit
    #[arg(value_name = "REV", default_value = "HEAD")]
    revision: String,
    /// Tells the stories of all contexts, and unfolds what is long
    #[arg(long)]
    full: bool,
}

impl WhyCommit {
    pub(crate) async fn run(self, invocation: &Invocation, output: &mut Output) -> Result<()> {
        let subject = CommitSubject::read(&Invocation::git(), Path::new("."), &self.revision)?;
        let engine = invocation.open().await?;
        let mut finder = OriginFinder::new(&engine, Some(subject.repository().clone()))?;
        let found = finder.contexts_of(subject, &mut search::progress(output)).await?;
        output.page(invocation.environment.pager().as_ref());
        match output.shape() {
            Shape::Json => output.document(finder.commit_document(&found).await?)?,
            Shape::Text => {
                let detail = if self.full { ShownDetail::Full } else { ShownDetail::Folded };
                let teller = Teller::new(output, engine.now(), detail);
                tell_person(&finder, &found, (&teller, output)).await?;
            }
        }
        let commit = &found.git.commit;
        match found.contributions.is_empty() && found.unclear.is_empty() {
            false => Ok(()),
            true if commit.parents > 1 => {
                Err(Untraced::MergeWithoutContext { commit: commit.id.short().to_owned() }.into())
            }
            true => Err(Untraced::NoContext { what: format!("git commit {}", commit.id.short()) }.into()),
        }
    }
}

async fn tell_person(
    finder: &OriginFinder<'_>,
    found: &CommitContexts,
    (teller, output): (&Teller, &mut Output),
) -> Result<()> {
    let Palette { faint, .. } = output.palette;
    let CommitContexts { git, changes, contributions, unclear } = found;
    let mut lines = teller.git(git, None);
    lines.extend(file_lines(changes, contributions, teller));
    let shown = if teller.detail == ShownDetail::Full { contributions.len() } else { MAX_STORIES };
    for ContextContribution { origin, texts, .. } in contributions.iter().take(shown) {
        lines.push(String::new());
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        lines.extend(teller.story(&finder.story(origin).await?, &texts));
    }
    if contributions.len() > shown {
        let more = output::counted((contributions.len() - shown) as u64, "more context");
        lines.extend([String::new(), format!("  {faint}… {more}; --full tells all{faint:#}")]);
    }
    for UnclearContribution { origins, lines: count, .. } in unclear {
        lines.push(String::new());
        if *count > 0 {
            lines.extend(teller.field("lines", vec![output::counted(*count, "line")]));
        }
        lines.extend(teller.ambiguous(origins.len()));
        for origin in origins {
            lines.push(String::new());
            lines.extend(teller.story(&finder.story(origin).await?, &[]));
        }
    }
    lines.into_iter().try_for_each(|line| output.line(line))
}

/// Tells the files of a commit, each with the contexts of its lines.
fn file_lines(changes: &[FileChange], contributions: &[ContextContribution], teller: &Teller) -> Vec<String> {
    let Palette { id, added, removed, faint, .. } = teller.palette;
    let shown = if teller.detail == ShownDetail::Full { changes.len() } else { MAX_FILES_SHOWN };
    let name = |change: &FileChange| conversation::clip(&conversation::clean(&change.path).replace('\n', " "), 48);
    let width = changes.iter().take(shown).map(|change| name(change).chars().count()).max().unwrap_or(0);
    let line = |(number, change): (usize, &FileChange)| {
        let counts = match (change.added, change.removed) {
            (Some(plus), Some(minus)) => format!("{added}+{plus}{added:#} {removed}-{minus}{removed:#}"),
            _ => "no text".to_owned(),
        };
        let contexts = contributions.iter().filter(|contribution| contribution.files.contains(&number));
        let contexts = contexts.map(|contribution| format!("{id}{}{id:#}", contribution.origin.commit.short()));
        let words = [format!("{:<width$}", name(change)), counts].into_iter().chain(contexts);
        words.collect::<Vec<_>>().join("  ")
    };
    let mut lines: Vec<String> = changes.iter().enumerate().take(shown).map(line).collect();
    if changes.len() > shown {
        lines.push(format!("{faint}… {}{faint:#}", output::counted((changes.len() - shown) as u64, "more file")));
    }
    teller.field("files", lines)
}
