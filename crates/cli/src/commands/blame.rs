//! `ctx blame`: from lines of a file to the context that made them.

use std::{
    ffi::OsString,
    fs, io,
    ops::RangeInclusive,
    path::{Path, PathBuf},
};

use clap::Args;
use contexture::{TracedFile, wire::BlamedLines};

use crate::{
    conversation::{self, Detail},
    error::{Error, Result, Untraced},
    git::{BlamedLine, Repository},
    input::Input,
    invocation::Invocation,
    origin::{Finder, Origins, Story, Teller, WantedLine, git_document, told_range},
    output::{self, Output, Palette, Shape},
};

/// Largest file that is read.
const MAX_FILE_MEBIBYTES: u64 = 16;
/// Lines around those that were asked for: a brace alone says nothing of where it comes from, what is beside it does.
const AROUND: u64 = 8;
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

How sure it is:
  recorded    the git commit of the line names its context (`Context-Id: ctx-…` in its message)
  edit found  a tool call wrote this text into this file before it was committed
  guess       the author's agent worked in this repository within the hour before";

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
}

/// Lines that follow each other and have one origin.
struct Run<'r> {
    lines: &'r [BlamedLine],
    origin: Option<usize>,
}

/// A file and what of it is asked for.
#[derive(Debug, PartialEq, Eq)]
struct Target {
    path: PathBuf,
    lines: Option<RangeInclusive<u64>>,
}

/// A file with its lines, and where it is.
struct Subject {
    /// As it was typed.
    name: String,
    repository: Option<Repository>,
    /// From the top of the repository; outside of one, only the name.
    inside: PathBuf,
    path: PathBuf,
    lines: Vec<String>,
}

impl Blame {
    pub(crate) async fn run(self, invocation: &Invocation, output: &mut Output) -> Result<()> {
        let target = Target::parse(&self.target, Path::is_file)?;
        let subject = Subject::read(&target.path)?;
        let asked = subject.range(target.lines.clone())?;
        let Some(asked) = asked else {
            output.status(format_args!("{} is empty.", subject.name));
            return Ok(());
        };
        let blamed = subject.blamed(&asked)?;
        let engine = invocation.open().await?;
        let mut finder = Finder::new(&engine, invocation, subject.repository.as_ref())?;
        let ids: Vec<_> = blamed.iter().filter_map(|line| line.commit.clone()).collect();
        finder.learn(&ids).await?;
        let file = match &subject.repository {
            Some(_) => finder.file(&subject.inside),
            None => TracedFile {
                places: vec![subject.path.to_string_lossy().into_owned()],
                inside: subject.inside.to_string_lossy().into_owned(),
            },
        };
        let wanted: Vec<_> =
            blamed.iter().map(|line| WantedLine { text: &line.text, commit: line.commit.as_ref() }).collect();
        let found = finder.find(&file, &wanted, output).await?;
        let runs = runs(&blamed, &found, &asked);
        let is_known = runs.iter().any(|run| run.origin.is_some());
        output.page(invocation.environment.pager().as_ref());
        let detail = if self.full { Detail::Full } else { Detail::Folded };
        match output.shape() {
            Shape::Json => tell_program(&finder, &subject.name, &runs, &found, output).await?,
            Shape::Text if self.full || target.lines.is_some() => {
                let teller = Teller::new(output, engine.now(), detail);
                tell_all(&finder, &subject.name, &runs, &found, (&teller, output)).await?;
            }
            Shape::Text => tell_briefly(&finder, &runs, &found, output).await?,
        }
        if found.is_cut {
            output.status("Some edits may be older than what was looked at.");
        }
        if is_known { Ok(()) } else { Err(Untraced::NoContext { what: told_target(&subject.name, &asked) }.into()) }
    }
}

async fn tell_program(
    finder: &Finder<'_>,
    file: &str,
    runs: &[Run<'_>],
    found: &Origins,
    output: &mut Output,
) -> Result<()> {
    for run in runs {
        let story = match run.origin {
            Some(origin) => Some(finder.story(&found.contexts[origin]).await?.into()),
            None => None,
        };
        output.document(BlamedLines {
            file: file.to_owned(),
            first_line: run.first(),
            last_line: run.last(),
            lines: run.texts().into_iter().map(str::to_owned).collect(),
            git: run.git(finder).map(git_document),
            story,
        })?;
    }
    Ok(())
}

async fn tell_all(
    finder: &Finder<'_>,
    file: &str,
    runs: &[Run<'_>],
    found: &Origins,
    (teller, output): (&Teller, &mut Output),
) -> Result<()> {
    let Palette { strong, .. } = output.palette;
    for (number, run) in runs.iter().enumerate() {
        if number > 0 {
            output.line("")?;
        }
        output.line(format_args!("{strong}{}{strong:#}", told_target(file, &(run.first()..=run.last()))))?;
        let mut lines = teller.file_lines(run.first(), &run.texts());
        lines.push(String::new());
        match run.git(finder) {
            Some(git) => lines.extend(teller.git(git, run.origin.map(|origin| found.contexts[origin].commit))),
            None if finder.repository.is_some() => {
                lines.extend(teller.field("git", vec!["not committed yet".to_owned()]));
            }
            None => {}
        }
        match run.origin {
            Some(origin) => {
                let story = finder.story(&found.contexts[origin]).await?;
                lines.extend(teller.story(&story, &run.texts()));
            }
            None => lines.extend(teller.field("context", vec!["none is known".to_owned()])),
        }
        for line in lines {
            output.line(line)?;
        }
    }
    Ok(())
}

async fn tell_briefly(finder: &Finder<'_>, runs: &[Run<'_>], found: &Origins, output: &mut Output) -> Result<()> {
    let Palette { id, faint, .. } = output.palette;
    let columns = output.columns();
    let range = |run: &Run<'_>| told_range(run.first(), run.last());
    let width = runs.iter().map(|run| range(run).len()).max().unwrap_or(0);
    let mut stories: Vec<Option<Story>> = Vec::new();
    stories.resize_with(found.contexts.len(), || None);
    for run in runs {
        let (context, about) = match run.origin {
            Some(origin) => {
                if stories[origin].is_none() {
                    stories[origin] = Some(finder.story(&found.contexts[origin]).await?);
                }
                let story = stories[origin].as_ref();
                let request = story.and_then(|story| story.request.as_ref());
                let asked = request.map(|request| output::first_line(&conversation::clean(&request.text)).into_owned());
                let origin = &found.contexts[origin];
                let context = format!("{id}{}{id:#}  {:<10}", origin.commit.short(), origin.certainty.word());
                (context, asked.unwrap_or_default())
            }
            None => (format!("{faint}{:<26}{faint:#}", "no context known"), String::new()),
        };
        let git = match run.git(finder) {
            Some((commit, _)) => {
                let author =
                    conversation::clip(&conversation::clean(&commit.author).replace('\n', " "), AUTHOR_COLUMNS);
                format!("{} {author}", commit.id.short())
            }
            None if finder.repository.is_some() => "not committed".to_owned(),
            None => String::new(),
        };
        let room = columns.saturating_sub(width + 2 + 26 + 2 + SHORT_GIT_COLUMNS + 2);
        let about = conversation::clip(&about, room.max(20));
        let line = format!("{:>width$}  {context}  {faint}{git:<SHORT_GIT_COLUMNS$}{faint:#}  {about}", range(run));
        output.line(line.trim_end())?;
    }
    Ok(())
}

/// Columns of a short id, a space and an author.
const SHORT_GIT_COLUMNS: usize = 10 + 1 + AUTHOR_COLUMNS;

impl Run<'_> {
    fn first(&self) -> u64 {
        self.lines.first().map_or(0, |line| line.number)
    }

    fn last(&self) -> u64 {
        self.lines.last().map_or(0, |line| line.number)
    }

    fn texts(&self) -> Vec<&str> {
        self.lines.iter().map(|line| line.text.as_str()).collect()
    }

    fn git<'g>(&self, finder: &'g Finder<'_>) -> Option<&'g (crate::git::GitCommit, crate::origin::Record)> {
        finder.known(self.lines.first()?.commit.as_ref()?)
    }
}

/// Cuts the lines that were asked for where their origin changes.
fn runs<'r>(blamed: &'r [BlamedLine], found: &Origins, asked: &RangeInclusive<u64>) -> Vec<Run<'r>> {
    let mut runs: Vec<Run<'r>> = Vec::new();
    let mut start = 0;
    let of = |place: usize| (blamed[place].commit.as_ref(), found.lines[place]);
    for end in 1..=blamed.len() {
        if end < blamed.len()
            && of(end) == of(end - 1)
            && asked.contains(&blamed[end].number) == asked.contains(&blamed[end - 1].number)
        {
            continue;
        }
        if asked.contains(&blamed[start].number) {
            runs.push(Run { lines: &blamed[start..end], origin: found.lines[start] });
        }
        start = end;
    }
    runs
}

impl Target {
    /// Reads a file with lines behind it. A file that is called so goes first.
    fn parse(text: &OsString, is_file: impl Fn(&Path) -> bool) -> Result<Self> {
        let whole = Self { path: PathBuf::from(text), lines: None };
        if is_file(&whole.path) {
            return Ok(whole);
        }
        let Some((path, lines)) = text.to_str().and_then(|text| text.rsplit_once(':')) else { return Ok(whole) };
        if lines.is_empty() || lines.contains(|letter: char| !letter.is_ascii_digit() && letter != '-') {
            return Ok(whole);
        }
        let (first, last) = lines.split_once('-').unwrap_or((lines, lines));
        match (first.parse::<u64>(), last.parse::<u64>()) {
            (Ok(first), Ok(last)) if 1 <= first && first <= last => {
                Ok(Self { path: PathBuf::from(path), lines: Some(first..=last) })
            }
            _ => Err(Untraced::Lines { text: lines.to_owned() }.into()),
        }
    }
}

impl Subject {
    fn read(typed: &Path) -> Result<Self> {
        let input = Input::File(typed.to_owned());
        let unreadable = |source: io::Error| Error::Read { input: input.clone(), source };
        let path = fs::canonicalize(typed).map_err(unreadable)?;
        let metadata = fs::metadata(&path).map_err(unreadable)?;
        if metadata.is_dir() {
            return Err(Error::Directory { path: typed.to_owned() });
        }
        if metadata.len() > MAX_FILE_MEBIBYTES * 1024 * 1024 {
            return Err(Error::LargeInput { input, max_mebibytes: MAX_FILE_MEBIBYTES });
        }
        let content = fs::read(&path).map_err(unreadable)?;
        let lines = String::from_utf8_lossy(&content).lines().map(str::to_owned).collect();
        let repository = Repository::containing(path.parent().unwrap_or(&path))?;
        let inside = repository.as_ref().and_then(|repository| path.strip_prefix(&repository.root).ok());
        let inside = inside.map_or_else(|| PathBuf::from(path.file_name().unwrap_or_default()), Path::to_owned);
        let name = output::printable(&typed.to_string_lossy()).into_owned();
        Ok(Self { name, repository, inside, path, lines })
    }

    /// Returns the lines that are asked for; nothing when there are none at all.
    fn range(&self, lines: Option<RangeInclusive<u64>>) -> Result<Option<RangeInclusive<u64>>> {
        let count = self.lines.len() as u64;
        match lines {
            None if count == 0 => Ok(None),
            None => Ok(Some(1..=count)),
            Some(lines) if *lines.end() > count => {
                Err(Untraced::NoLine { file: self.name.clone(), line: *lines.end(), count }.into())
            }
            Some(lines) => Ok(Some(lines)),
        }
    }

    /// Returns the lines and some around them, with their git commits.
    fn blamed(&self, asked: &RangeInclusive<u64>) -> Result<Vec<BlamedLine>> {
        let first = asked.start().saturating_sub(AROUND).max(1);
        let last = asked.end().saturating_add(AROUND).min(self.lines.len() as u64);
        if let Some(repository) = &self.repository
            && repository.knows(&self.inside)?
        {
            return repository.blame(&self.inside, first..=last);
        }
        let numbered = (1..).zip(&self.lines).filter(|(number, _)| (first..=last).contains(number));
        Ok(numbered.map(|(number, text)| BlamedLine { number, text: text.clone(), commit: None }).collect())
    }
}

fn told_target(file: &str, lines: &RangeInclusive<u64>) -> String {
    format!("{file}:{}", told_range(*lines.start(), *lines.end()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_stand_behind_the_file_unless_a_file_is_called_so() {
        let parse = |text: &str| Target::parse(&OsString::from(text), |path| path == Path::new("odd:7"));
        let target = |path: &str, lines| Target { path: path.into(), lines };
        assert_eq!(parse("a.rs").unwrap(), target("a.rs", None));
        assert_eq!(parse("a.rs:7").unwrap(), target("a.rs", Some(7..=7)));
        assert_eq!(parse("a:b:7-9").unwrap(), target("a:b", Some(7..=9)));
        assert_eq!(parse("odd:7").unwrap(), target("odd:7", None));
        assert_eq!(parse("odd:7:2").unwrap(), target("odd:7", Some(2..=2)));
        assert_eq!(parse("a:b").unwrap(), target("a:b", None));
        for text in ["a:0", "a:9-7", "a:1-2-3", "a:-", "a:7-", "a:99999999999999999999"] {
            assert!(matches!(parse(text), Err(Error::Untraced(Untraced::Lines { .. }))), "{text}");
        }
    }
}
