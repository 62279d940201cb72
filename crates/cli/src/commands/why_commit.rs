//! `ctx why-commit`: from a git commit to the context that made it.

use std::path::Path;

use clap::Args;
use contexture::wire::{ChangedFile, CommitContribution, CommitOrigin};

use crate::{
    conversation::{self, Detail},
    error::{Error, Result, Untraced},
    git::{FileChange, GitCommit, GitId, Repository},
    invocation::Invocation,
    origin::{Finder, Origin, Record, Teller, WantedLine, git_document},
    output::{self, Output, Palette, Shape},
};

/// Files that are listed.
const MAX_FILES_SHOWN: usize = 20;
/// Files whose lines are led back.
const MAX_FILES_TRACED: usize = 100;
/// Contexts whose stories are told.
const MAX_STORIES: usize = 3;

const EXAMPLES: &str = "\
Examples:
  ctx why-commit
      which context made the last commit, what was asked for, and how to go on from there
  ctx why-commit 1a2b3c4 --full
  ctx why-commit HEAD~3 --json

How sure it is:
  recorded    the commit names its context (`Context-Id: ctx-…` in its message)
  edit found  tool calls wrote the lines of the commit before it was made
  guess       the author's agent worked in this repository within the hour before";

/// Shows which context made a git commit
///
/// Goes by the commit's `Context-Id`, or else by the tool calls that wrote its lines, or else by author and time, and says
/// by which of them.
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

/// A context and how many lines of each file it made.
struct Contribution {
    origin: Origin,
    lines: u64,
    texts: Vec<String>,
    /// The files, by their places.
    files: Vec<usize>,
}

impl WhyCommit {
    pub(crate) async fn run(self, invocation: &Invocation, output: &mut Output) -> Result<()> {
        let here = Path::new(".");
        let repository = Repository::containing(here)?.ok_or(Error::NoRepository)?;
        let revision = &self.revision;
        let id = repository.find(revision)?.ok_or_else(|| Untraced::NoRevision { revision: revision.clone() })?;
        let changes = repository.changes(&id)?;
        let engine = invocation.open().await?;
        let mut finder = Finder::new(&engine, invocation, Some(&repository))?;
        finder.learn(std::slice::from_ref(&id)).await?;
        let contributions = contributions(&mut finder, &id, &changes, output).await?;
        let Some(git) = finder.known(&id) else {
            return Err(Untraced::NoRevision { revision: revision.clone() }.into());
        };
        output.page(invocation.environment.pager().as_ref());
        match output.shape() {
            Shape::Json => tell_program(&finder, git, &changes, &contributions, output).await?,
            Shape::Text => {
                let detail = if self.full { Detail::Full } else { Detail::Folded };
                let teller = Teller::new(output, engine.now(), detail);
                tell_person(&finder, git, &changes, &contributions, (&teller, output)).await?;
            }
        }
        match contributions.is_empty() {
            false => Ok(()),
            true if git.0.parents > 1 => Err(Untraced::MergeWithoutContext { commit: id.short().to_owned() }.into()),
            true => Err(Untraced::NoContext { what: format!("git commit {}", id.short()) }.into()),
        }
    }
}

/// Finds the contexts of a git commit, those of most lines first.
async fn contributions(
    finder: &mut Finder<'_>,
    id: &GitId,
    changes: &[FileChange],
    output: &Output,
) -> Result<Vec<Contribution>> {
    let mut contributions: Vec<Contribution> = Vec::new();
    for (number, change) in changes.iter().enumerate().take(MAX_FILES_TRACED) {
        let wanted: Vec<_> = change.lines.iter().map(|text| WantedLine { text, commit: Some(id) }).collect();
        if wanted.is_empty() {
            continue;
        }
        let file = finder.file(Path::new(&change.path));
        let found = finder.find(&file, &wanted, output).await?;
        for (line, origin) in found.lines.iter().enumerate().filter_map(|(line, origin)| Some((line, (*origin)?))) {
            let origin = &found.contexts[origin];
            let same = |known: &&mut Contribution| {
                known.origin.commit == origin.commit && known.origin.certainty == origin.certainty
            };
            let text = change.lines[line].clone();
            if let Some(known) = contributions.iter_mut().find(same) {
                known.lines += 1;
                if known.origin.is_like(origin) {
                    known.texts.push(text);
                }
                if known.files.last() != Some(&number) {
                    known.files.push(number);
                }
            } else {
                let origin = origin.clone();
                contributions.push(Contribution { origin, lines: 1, texts: vec![text], files: vec![number] });
            }
        }
    }
    if contributions.is_empty()
        && let Some(origin) = finder.without_edit(id).await?
    {
        contributions.push(Contribution { origin, lines: 0, texts: Vec::new(), files: Vec::new() });
    }
    // A stable order: those of equally many lines stay as the files are.
    contributions.sort_by_key(|contribution| std::cmp::Reverse(contribution.lines));
    Ok(contributions)
}

async fn tell_program(
    finder: &Finder<'_>,
    git: &(GitCommit, Record),
    changes: &[FileChange],
    contributions: &[Contribution],
    output: &mut Output,
) -> Result<()> {
    let mut contexts = Vec::new();
    for Contribution { origin, lines, files, .. } in contributions {
        let files = files.iter().map(|number| changes[*number].path.clone()).collect();
        let story = finder.story(origin).await?.into();
        contexts.push(CommitContribution { files, lines: *lines, story });
    }
    let files = changes.iter().map(ChangedFile::from).collect();
    output.document(CommitOrigin { git: git_document(git), files, contexts })
}

async fn tell_person(
    finder: &Finder<'_>,
    git: &(GitCommit, Record),
    changes: &[FileChange],
    contributions: &[Contribution],
    (teller, output): (&Teller, &mut Output),
) -> Result<()> {
    let Palette { faint, .. } = output.palette;
    let mut lines = teller.git(git, None);
    lines.extend(told_files(changes, contributions, teller));
    let shown = if teller.detail == Detail::Full { contributions.len() } else { MAX_STORIES };
    for Contribution { origin, texts, .. } in contributions.iter().take(shown) {
        lines.push(String::new());
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        lines.extend(teller.story(&finder.story(origin).await?, &texts));
    }
    if contributions.len() > shown {
        let more = output::counted((contributions.len() - shown) as u64, "more context");
        lines.extend([String::new(), format!("  {faint}… {more}; --full tells all{faint:#}")]);
    }
    lines.into_iter().try_for_each(|line| output.line(line))
}

/// Tells the files of a commit, each with the contexts of its lines.
fn told_files(changes: &[FileChange], contributions: &[Contribution], teller: &Teller) -> Vec<String> {
    let Palette { id, added, removed, faint, .. } = teller.palette;
    let shown = if teller.detail == Detail::Full { changes.len() } else { MAX_FILES_SHOWN };
    let name = |change: &FileChange| conversation::clip(&conversation::clean(&change.path).replace('\n', " "), 48);
    let width = changes.iter().take(shown).map(|change| name(change).chars().count()).max().unwrap_or(0);
    let told = |(number, change): (usize, &FileChange)| {
        let counts = match (change.added, change.removed) {
            (Some(plus), Some(minus)) => format!("{added}+{plus}{added:#} {removed}-{minus}{removed:#}"),
            _ => "no text".to_owned(),
        };
        let contexts = contributions.iter().filter(|contribution| contribution.files.contains(&number));
        let contexts = contexts.map(|contribution| format!("{id}{}{id:#}", contribution.origin.commit.short()));
        let words = [format!("{:<width$}", name(change)), counts].into_iter().chain(contexts);
        words.collect::<Vec<_>>().join("  ")
    };
    let mut lines: Vec<String> = changes.iter().enumerate().take(shown).map(told).collect();
    if changes.len() > shown {
        lines.push(format!("{faint}… {}{faint:#}", output::counted((changes.len() - shown) as u64, "more file")));
    }
    teller.field("files", lines)
}
