//! Lines of a file and the contexts that made them.

use std::{
    ffi::OsStr,
    fs, io,
    ops::RangeInclusive,
    path::{Path, PathBuf},
};

use contexture::{FileKind, FileRefusal, ProjectDirectory, TracedFile, read_named, wire::BlamedLines};

use super::{
    ContextOrigin, IndexProgress, LineOrigin, OriginFinder, RecordingCommit, Untraced,
    finder::{LineOrigins, WantedLine},
};
use crate::{BlamedLine, Git, GitRepository, Result};

/// Largest file that is read.
const MAX_FILE_BYTES: u64 = 16 * 1024 * 1024;
/// Lines around those that were asked for: a brace alone says nothing of where it comes from, what is beside it does.
const AROUND: u64 = 8;
/// Lines of a file that are compared as a whole with what calls wrote.
const MAX_LINES_AROUND: usize = 20_000;

/// A file and what of it is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineTarget {
    /// The file.
    pub path: PathBuf,
    /// The numbers of the lines, from 1; all when there are none.
    pub lines: Option<RangeInclusive<u64>>,
}

/// A file with its lines, and where it is.
#[derive(Debug, Clone)]
pub struct LineSubject {
    /// As it was named.
    name: String,
    repository: Option<GitRepository>,
    /// From the top of the repository; outside of one, only the name.
    inside: PathBuf,
    path: PathBuf,
    lines: Vec<String>,
}

/// What was found of lines of a file.
#[derive(Debug, Clone)]
pub struct BlamedFile {
    /// The file, as it was named.
    pub name: String,
    /// From the top of the repository; outside of one, only the name.
    pub path: String,
    /// The lines that were asked for, cut where their origin changes.
    pub runs: Vec<LineRun>,
    /// The contexts that runs name by their place.
    pub contexts: Vec<ContextOrigin>,
    /// Whether there was more to look at than was looked at.
    pub is_cut: bool,
}

/// Lines that follow each other and have one origin.
#[derive(Debug, Clone)]
pub struct LineRun {
    /// The lines. There is at least one.
    pub lines: Vec<BlamedLine>,
    /// Their origin.
    pub origin: LineOrigin,
}

impl LineTarget {
    /// Reads a file with lines behind it, as in `FILE:7-9`. A file that is called so goes first.
    pub fn parse(text: &OsStr, is_file: impl Fn(&Path) -> bool) -> Result<Self, Untraced> {
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
            _ => Err(Untraced::Lines { text: lines.to_owned() }),
        }
    }
}

impl LineSubject {
    /// Reads a file.
    pub fn read(git: &Git, typed: &Path) -> Result<Self> {
        let unreadable = |source: io::Error| Untraced::Read { path: typed.to_owned(), source };
        let content = content(typed).map_err(|refusal| match refusal {
            FileRefusal::Unreadable(source) => unreadable(source),
            source => Untraced::Refused { path: typed.to_owned(), source },
        })?;
        let path = fs::canonicalize(typed).map_err(unreadable)?;
        let lines = String::from_utf8_lossy(&content).lines().map(str::to_owned).collect();
        let repository = git.repository(path.parent().unwrap_or(&path))?;
        let inside = repository.as_ref().and_then(|repository| path.strip_prefix(&repository.root).ok());
        let inside = inside.map_or_else(|| PathBuf::from(path.file_name().unwrap_or_default()), Path::to_owned);
        let name = typed.to_string_lossy().into_owned();
        Ok(Self { name, repository, inside, path, lines })
    }

    /// Returns what the file is called, as it was named.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the repository that the file lies in.
    pub fn repository(&self) -> Option<&GitRepository> {
        self.repository.as_ref()
    }

    /// Returns the lines that are asked for; nothing when there are none at all.
    pub fn range(&self, lines: Option<RangeInclusive<u64>>) -> Result<Option<RangeInclusive<u64>>, Untraced> {
        let count = self.lines.len() as u64;
        match lines {
            None if count == 0 => Ok(None),
            None => Ok(Some(1..=count)),
            Some(lines) if *lines.end() > count => {
                Err(Untraced::NoLine { file: self.name.clone(), line: *lines.end(), count })
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

impl OriginFinder<'_> {
    /// Finds the origins of lines of a file, which must be there. The finder must be that of the file's repository.
    pub async fn blame(
        &mut self,
        subject: &LineSubject,
        asked: &RangeInclusive<u64>,
        progress: IndexProgress<'_>,
    ) -> Result<BlamedFile> {
        let blamed = subject.blamed(asked)?;
        let ids: Vec<_> = blamed.iter().filter_map(|line| line.commit.clone()).collect();
        self.learn(&ids).await?;
        let file = match subject.repository {
            Some(_) => self.file(&subject.inside),
            None => TracedFile {
                places: vec![subject.path.to_string_lossy().into_owned()],
                inside: subject.inside.to_string_lossy().into_owned(),
            },
        };
        // Lines of a file that is too long stand by themselves.
        let is_short = subject.lines.len() <= MAX_LINES_AROUND;
        let place = |line: &BlamedLine| usize::try_from(line.number).ok().and_then(|number| number.checked_sub(1));
        let wanted: Vec<_> = blamed
            .iter()
            .map(|line| WantedLine { text: &line.text, commit: line.commit.as_ref(), place: place(line) })
            .collect();
        let around = if is_short { &subject.lines[..] } else { &[] };
        let found = self.find(&file, (around, &wanted), progress).await?;
        let runs = runs(&blamed, &found, asked);
        let path = subject.inside.to_string_lossy().into_owned();
        Ok(BlamedFile { name: subject.name.clone(), path, runs, contexts: found.contexts, is_cut: found.is_cut })
    }

    /// Tells lines as programs read it.
    pub async fn lines_document(&self, file: &BlamedFile, run: &LineRun) -> Result<BlamedLines> {
        let (mut story, mut candidates) = (None, Vec::new());
        match &run.origin {
            LineOrigin::Unknown => {}
            LineOrigin::Known(origin) => story = Some(self.story(&file.contexts[*origin]).await?.into()),
            LineOrigin::Ambiguous(origins) => {
                for origin in origins {
                    candidates.push(self.story(&file.contexts[*origin]).await?.into());
                }
            }
        }
        Ok(BlamedLines {
            file: file.name.clone(),
            first_line: run.first(),
            last_line: run.last(),
            lines: run.lines.iter().map(|line| line.text.clone()).collect(),
            git: run.git(self).cloned().map(Into::into),
            candidates,
            story,
        })
    }
}

impl LineRun {
    /// Returns the number of the first line.
    pub fn first(&self) -> u64 {
        self.lines.first().map_or(0, |line| line.number)
    }

    /// Returns the number of the last line.
    pub fn last(&self) -> u64 {
        self.lines.last().map_or(0, |line| line.number)
    }

    /// Returns what the lines say.
    pub fn texts(&self) -> Vec<&str> {
        self.lines.iter().map(|line| line.text.as_str()).collect()
    }

    /// Returns the git commit that the lines came with.
    pub fn git<'g>(&self, finder: &'g OriginFinder<'_>) -> Option<&'g RecordingCommit> {
        finder.known(self.lines.first()?.commit.as_ref()?)
    }
}

/// Reads a file. What has a name in somebody's repository may be a link that they made, so it must not lead out.
fn content(typed: &Path) -> Result<Vec<u8>, FileRefusal> {
    let Some(name) = typed.file_name() else { return Err(FileRefusal::NotRegular(FileKind::Directory)) };
    let directory = typed.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let project = ProjectDirectory::around(directory).map_err(FileRefusal::Unreadable)?;
    if project.is_repository() {
        project.read(Path::new(name), MAX_FILE_BYTES)
    } else {
        read_named(typed, MAX_FILE_BYTES)
    }
}

/// Cuts the lines that were asked for where their origin changes.
fn runs(blamed: &[BlamedLine], found: &LineOrigins, asked: &RangeInclusive<u64>) -> Vec<LineRun> {
    let mut runs: Vec<LineRun> = Vec::new();
    let mut start = 0;
    let of = |place: usize| (blamed[place].commit.as_ref(), &found.lines[place]);
    for end in 1..=blamed.len() {
        if end < blamed.len()
            && of(end) == of(end - 1)
            && asked.contains(&blamed[end].number) == asked.contains(&blamed[end - 1].number)
        {
            continue;
        }
        if asked.contains(&blamed[start].number) {
            runs.push(LineRun { lines: blamed[start..end].to_vec(), origin: found.lines[start].clone() });
        }
        start = end;
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_stand_behind_the_file_unless_a_file_is_called_so() {
        let parse = |text: &str| LineTarget::parse(OsStr::new(text), |path| path == Path::new("odd:7"));
        let target = |path: &str, lines| LineTarget { path: path.into(), lines };
        assert_eq!(parse("a.rs").unwrap(), target("a.rs", None));
        assert_eq!(parse("a.rs:7").unwrap(), target("a.rs", Some(7..=7)));
        assert_eq!(parse("a:b:7-9").unwrap(), target("a:b", Some(7..=9)));
        assert_eq!(parse("odd:7").unwrap(), target("odd:7", None));
        assert_eq!(parse("odd:7:2").unwrap(), target("odd:7", Some(2..=2)));
        assert_eq!(parse("a:b").unwrap(), target("a:b", None));
        for text in ["a:0", "a:9-7", "a:1-2-3", "a:-", "a:7-", "a:99999999999999999999"] {
            assert!(matches!(parse(text), Err(Untraced::Lines { .. })), "{text}");
        }
    }
}
