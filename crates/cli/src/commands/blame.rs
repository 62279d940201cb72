//! `ctx blame`: from lines of a file to the context that made them.

use std::{ffi::OsString, io, ops::RangeInclusive, path::Path};

use clap::{Args, ValueEnum};
use contexture_capture::{
    BlamedFile, LineOrigin, LineRun, LineSubject, LineTarget, OriginFinder, OriginStory, RecordingCommit, Untraced,
};

use super::search;
use crate::{
    conversation::{self, ShownDetail},
    error::{Error, Result},
    invocation::Invocation,
    origin::{Teller, range_text, sureness},
    output::{self, Output, Palette, Shape},
};

/// Columns that the name of a git author may take.
const AUTHOR_COLUMNS: usize = 16;

const EXAMPLES: &str = "\
Examples:
  ctx blame src/main.rs:42
      which request led to this line, what the agent thought, the edit itself, and how to go on from there
  ctx blame src/main.rs:40-60
  ctx blame src/main.rs
      where every line comes from, in short; --full tells all of it
  ctx blame src/main.rs:42 --json
  ctx blame src/main.rs --format agent-trace
      which lines come from which context, as a record of Agent Trace

How sure it is:
  recorded     the git commit of the line names its context (`Context-Id: ctx-…` in its message)
  edit found   a tool call wrote this text before it was committed, into this file or, with what is around it, another
  reformatted  the text was only laid out anew since a tool call wrote it
  near         the text is much like what a tool call wrote beside the same neighbour
  ambiguous    several sessions may have made it; all of them are named
Author and time alone are no evidence.";

/// Shows which context made the lines of a file
///
/// Git tells which commit a line came with; the commit's `Context-Id`, or else the tool calls that edited the file, tell
/// which context that was. Lines that are not committed yet, and files outside git, are led back by their edits.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Blame {
    /// The file, and which of its lines
    #[arg(value_name = "FILE[:LINE[-LINE]]")]
    target: OsString,
    /// Tells the whole story of every line, and unfolds what is long
    #[arg(long)]
    full: bool,
    /// Writes a record that other tools read [default: words]
    #[arg(long, value_enum, value_name = "F", conflicts_with = "full")]
    format: Option<BlameFormat>,
}

/// A record that other tools read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum BlameFormat {
    /// Agent Trace 0.1.0
    AgentTrace,
}

impl Blame {
    pub(crate) async fn run(self, invocation: &Invocation, output: &mut Output) -> Result<()> {
        let target = LineTarget::parse(&self.target, Path::is_file)?;
        let subject = LineSubject::read(&Invocation::git(), &target.path)?;
        let Some(asked) = subject.range(target.lines.clone())? else {
            output.status(format_args!("{} is empty.", subject.name()));
            return Ok(());
        };
        let engine = invocation.open().await?;
        let mut finder = OriginFinder::new(&engine, subject.repository().cloned())?;
        let blamed = finder.blame(&subject, &asked, &mut search::progress(output)).await?;
        if let Some(BlameFormat::AgentTrace) = self.format {
            let trace = finder.agent_trace(&blamed, engine.now()).await?;
            let written = serde_json::to_vec(&trace).map_err(io::Error::from);
            let written = written.and_then(|json| output.data().write_all(&[&json[..], b"\n"].concat()));
            return written.map_err(Error::Stdout);
        }
        output.page(invocation.environment.pager().as_ref());
        let detail = if self.full { ShownDetail::Full } else { ShownDetail::Folded };
        match output.shape() {
            Shape::Json => {
                for run in &blamed.runs {
                    output.document(finder.lines_document(&blamed, run).await?)?;
                }
            }
            Shape::Text if self.full || target.lines.is_some() => {
                let teller = Teller::new(output, engine.now(), detail);
                tell_all(&finder, &blamed, (&teller, output)).await?;
            }
            Shape::Text => tell_briefly(&finder, &blamed, output).await?,
        }
        if blamed.is_cut {
            output.status("Some edits may be older than what was looked at.");
        }
        if blamed.runs.iter().any(|run| run.origin != LineOrigin::Unknown) {
            Ok(())
        } else {
            Err(Untraced::NoContext { what: target_text(subject.name(), &asked) }.into())
        }
    }
}

async fn tell_all(
    finder: &OriginFinder<'_>,
    blamed: &BlamedFile,
    (teller, output): (&Teller, &mut Output),
) -> Result<()> {
    let Palette { strong, .. } = output.palette;
    let BlamedFile { name, runs, contexts, .. } = blamed;
    for (number, run) in runs.iter().enumerate() {
        if number > 0 {
            output.line("")?;
        }
        output.line(format_args!("{strong}{}{strong:#}", target_text(name, &(run.first()..=run.last()))))?;
        let mut lines = teller.file_lines(run.first(), &run.texts());
        lines.push(String::new());
        match run.git(finder) {
            Some(git) => {
                let shown = match run.origin {
                    LineOrigin::Known(origin) => Some(contexts[origin].commit),
                    LineOrigin::Unknown | LineOrigin::Ambiguous(_) => None,
                };
                lines.extend(teller.git(git, shown));
            }
            None if finder.has_repository() => {
                lines.extend(teller.field("git", vec!["not committed yet".to_owned()]));
            }
            None => {}
        }
        match &run.origin {
            LineOrigin::Known(origin) => {
                let story = finder.story(&contexts[*origin]).await?;
                lines.extend(teller.story(&story, &run.texts()));
            }
            LineOrigin::Ambiguous(origins) => {
                lines.extend(teller.ambiguous(origins.len()));
                for origin in origins {
                    lines.push(String::new());
                    lines.extend(teller.story(&finder.story(&contexts[*origin]).await?, &run.texts()));
                }
            }
            LineOrigin::Unknown => lines.extend(teller.field("context", vec!["none is known".to_owned()])),
        }
        for line in lines {
            output.line(line)?;
        }
    }
    Ok(())
}

async fn tell_briefly(finder: &OriginFinder<'_>, blamed: &BlamedFile, output: &mut Output) -> Result<()> {
    let BlamedFile { runs, contexts, .. } = blamed;
    let Palette { id, faint, .. } = output.palette;
    let columns = output.columns();
    let range = |run: &LineRun| range_text(run.first(), run.last());
    let width = runs.iter().map(|run| range(run).len()).max().unwrap_or(0);
    let mut stories: Vec<Option<OriginStory>> = Vec::new();
    stories.resize_with(contexts.len(), || None);
    for run in runs {
        let (context, about) = match &run.origin {
            LineOrigin::Known(origin) => {
                let origin = *origin;
                if stories[origin].is_none() {
                    stories[origin] = Some(finder.story(&contexts[origin]).await?);
                }
                let story = stories[origin].as_ref();
                let request = story.and_then(|story| story.request.as_ref());
                let asked = request.map(|request| output::first_line(&conversation::clean(&request.text)).into_owned());
                let origin = &contexts[origin];
                let context = format!("{id}{}{id:#}  {:<11}", origin.commit.short(), sureness(origin));
                (context, asked.unwrap_or_default())
            }
            LineOrigin::Ambiguous(origins) => {
                let names: Vec<_> = origins.iter().map(|origin| contexts[*origin].commit.short()).collect();
                (format!("{:<CONTEXT_COLUMNS$}", "ambiguous"), names.join(" or "))
            }
            LineOrigin::Unknown => (format!("{faint}{:<CONTEXT_COLUMNS$}{faint:#}", "no context known"), String::new()),
        };
        let git = match run.git(finder) {
            Some(RecordingCommit { commit, .. }) => {
                let author =
                    conversation::clip(&conversation::clean(&commit.author).replace('\n', " "), AUTHOR_COLUMNS);
                format!("{} {author}", commit.id.short())
            }
            None if finder.has_repository() => "not committed".to_owned(),
            None => String::new(),
        };
        let room = columns.saturating_sub(width + 2 + CONTEXT_COLUMNS + 2 + SHORT_GIT_COLUMNS + 2);
        let about = conversation::clip(&about, room.max(20));
        let line = format!("{:>width$}  {context}  {faint}{git:<SHORT_GIT_COLUMNS$}{faint:#}  {about}", range(run));
        output.line(line.trim_end())?;
    }
    Ok(())
}

/// Columns of a context and how sure it is.
const CONTEXT_COLUMNS: usize = 27;
/// Columns of a short id, a space and an author.
const SHORT_GIT_COLUMNS: usize = 10 + 1 + AUTHOR_COLUMNS;

fn target_text(file: &str, lines: &RangeInclusive<u64>) -> String {
    format!("{file}:{}", range_text(*lines.start(), *lines.end()))
}
