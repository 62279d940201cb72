//! Which edit wrote which line, as edits come, newest first.

use std::{collections::HashSet, path::Path};

use contexture_formats::edit::{Extent, Line};

use super::{FoundEdit, Nearness, Trace, TracedLine, Within};

/// What is known of the lines so far.
pub(super) struct LineWriters<'t> {
    lines: Vec<Sought<'t>>,
    /// Whether the chain is known to have made the file, so that likeness is enough.
    is_chain: bool,
    edits: Vec<FoundEdit>,
}

/// A line and what is known of it: by edits of the file itself, and by edits of files like it.
struct Sought<'t> {
    line: &'t TracedLine,
    text: String,
    same: State,
    alike: State,
}

/// What is known of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Nothing yet.
    Open,
    /// An edit wrote it with all of the file, and may have repeated it.
    Held(usize),
    /// This edit wrote it.
    Settled(usize),
    /// No edit wrote it: when the file was last written, it was not there.
    Unknown,
}

/// What an edit says of a line.
enum LineVerdict {
    Wrote,
    Repeated,
    /// It was not there afterwards.
    Absent,
    Nothing,
}

impl<'t> LineWriters<'t> {
    pub(super) fn new(trace: &'t Trace) -> Self {
        let sought = |line: &'t TracedLine| Sought {
            line,
            text: text_of(trace, &line.text),
            same: State::Open,
            alike: State::Open,
        };
        Self {
            lines: trace.lines.iter().map(sought).collect(),
            is_chain: matches!(trace.within, Within::Chain(_)),
            edits: Vec::new(),
        }
    }

    /// Tells whether older edits can say nothing more.
    pub(super) fn is_done(&self) -> bool {
        self.lines.iter().filter(|line| line.is_telling()).all(|line| line.same.is_final())
    }

    /// Tells whether an edit says something of a line that is not settled.
    pub(super) fn wants(&self, found: &FoundEdit) -> bool {
        let (added, removed) = texts(found);
        let is_near = self.is_near(found);
        self.lines.iter().any(|line| {
            let state = if is_near { line.same } else { line.alike };
            !state.is_final() && !matches!(line.verdict(found, &added, &removed), LineVerdict::Nothing)
        })
    }

    /// Takes what an edit says of the lines.
    pub(super) fn take(&mut self, found: FoundEdit) {
        let (added, removed) = texts(&found);
        let (is_near, number) = (self.is_near(&found), self.edits.len());
        for line in &mut self.lines {
            let verdict = line.verdict(&found, &added, &removed);
            let state = if is_near { &mut line.same } else { &mut line.alike };
            *state = match (*state, verdict) {
                (State::Open | State::Held(_), LineVerdict::Wrote) => State::Settled(number),
                (State::Open | State::Held(_), LineVerdict::Repeated) => State::Held(number),
                (State::Held(writer), LineVerdict::Absent) => State::Settled(writer),
                // It was taken out and has come back by something that is not known: an older edit may have written it
                // all the same, unless the whole file was written without it.
                (State::Open, LineVerdict::Absent) if found.edit.extent == Extent::Whole => State::Unknown,
                (state, _) => state,
            };
        }
        self.edits.push(found);
    }

    /// Keeps an edit that says nothing of any line as it is: lines may have changed since.
    pub(super) fn set_aside(&mut self, found: FoundEdit) {
        self.edits.push(found);
    }

    /// Returns for each line the edit that the order of edits speaks for, and all edits.
    pub(super) fn finish(self) -> (Vec<Option<usize>>, Vec<FoundEdit>) {
        let writer = |line: &Sought<'_>| line.same.writer().or_else(|| line.alike.writer());
        (self.lines.iter().map(writer).collect(), self.edits)
    }

    fn is_near(&self, found: &FoundEdit) -> bool {
        self.is_chain || found.nearness == Nearness::Same
    }
}

impl Sought<'_> {
    /// Tells whether the text says more than that something ends here.
    fn is_telling(&self) -> bool {
        self.text.contains(char::is_alphanumeric)
    }

    fn verdict(&self, found: &FoundEdit, added: &HashSet<&str>, removed: &HashSet<&str>) -> LineVerdict {
        let is_later = self.line.until.is_some_and(|until| found.at >= until);
        if is_later || !self.is_telling() {
            return LineVerdict::Nothing;
        }
        let is_removed = removed.contains(self.text.as_str());
        match (added.contains(self.text.as_str()), found.edit.extent) {
            // What goes out and comes in again was there before.
            (true, Extent::Part) if is_removed => LineVerdict::Repeated,
            (true, Extent::Part) => LineVerdict::Wrote,
            (true, Extent::Whole) => LineVerdict::Repeated,
            (false, Extent::Whole) => LineVerdict::Absent,
            (false, Extent::Part) if is_removed => LineVerdict::Absent,
            (false, Extent::Part) => LineVerdict::Nothing,
        }
    }
}

impl State {
    fn is_final(self) -> bool {
        matches!(self, Self::Settled(_) | Self::Unknown)
    }

    fn writer(self) -> Option<usize> {
        match self {
            Self::Held(writer) | Self::Settled(writer) => Some(writer),
            Self::Open | Self::Unknown => None,
        }
    }
}

/// Returns the lines that an edit adds and those that it removes. Indentation does not count: formatters change it.
fn texts(found: &FoundEdit) -> (HashSet<&str>, HashSet<&str>) {
    let (mut added, mut removed) = (HashSet::new(), HashSet::new());
    for line in &found.edit.lines {
        match line {
            Line::Added(text) => added.insert(text.trim()),
            Line::Removed(text) => removed.insert(text.trim()),
            Line::Same(_) | Line::Place(_) => false,
        };
    }
    (added, removed)
}

/// Returns what a line of the file says, as calls write it.
pub(super) fn text_of(trace: &Trace, line: &str) -> String {
    let is_notebook = Path::new(&trace.file.inside).extension().is_some_and(|extension| extension == "ipynb");
    if is_notebook { unquoted(line) } else { line.trim().to_owned() }
}

/// Returns the line of a cell that a line of a notebook's JSON holds.
fn unquoted(line: &str) -> String {
    let line = line.trim().trim_end_matches(',');
    serde_json::from_str::<String>(line).map_or_else(|_| line.to_owned(), |text| text.trim().to_owned())
}
