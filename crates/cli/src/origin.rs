//! Origins as people read them.
//!
//! What others wrote stands in a column of its own, so no text can pass for a field.

use std::collections::HashSet;

use anstyle::Style;
use contexture::{
    FoundEdit, MatchGrade, Reasoning, Thought,
    core::{CommitId, Timestamp},
    formats::edit::Line,
    wire::Certainty,
};
use contexture_capture::{ContextOrigin, OriginStory, RecordingCommit};

use crate::{
    conversation::{self, Conversation, ShownDetail, clean, clip, wrap},
    output::{self, Output, Palette},
};

/// Where what is told begins; its name stands before it.
const INDENT: usize = 12;
/// Lines that are shown of what somebody said.
const MAX_PROSE_LINES: usize = 8;
/// Lines that are shown of a file.
const MAX_FILE_LINES: usize = 12;
/// Lines that are shown of a change before and after what was asked for.
const NEAR_LINES: usize = 4;

/// Writes what is told, field by field.
pub(crate) struct Teller {
    pub(crate) palette: Palette,
    pub(crate) columns: usize,
    pub(crate) now: Timestamp,
    pub(crate) detail: ShownDetail,
}

/// Tells how a context is known.
fn reason(story: &OriginStory) -> &'static str {
    match (story.certainty, &story.edit) {
        (Certainty::Recorded, Some(_)) => "edit found in the chain that the git commit records",
        (Certainty::Recorded, None) => "recorded by the git commit",
        (Certainty::EditFound, _) => match story.grade {
            None | Some(MatchGrade::Exact) => "edit found: a call there wrote this text",
            Some(MatchGrade::Reformatted) => "reformatted: a call there wrote this text, laid out otherwise",
            Some(MatchGrade::Near) => "near: a call there wrote a text much like this one",
        },
        (Certainty::Ambiguous, Some(_)) => "possible: a call there wrote this text, too",
        (Certainty::Ambiguous, None) => "possible: the git commit names it",
    }
}

/// Returns in a word how sure an origin is.
pub(crate) const fn sureness(origin: &ContextOrigin) -> &'static str {
    match (origin.certainty, origin.grade) {
        (Certainty::EditFound, Some(MatchGrade::Reformatted)) => "reformatted",
        (Certainty::EditFound, Some(MatchGrade::Near)) => "near",
        (certainty, _) => certainty.word(),
    }
}

impl Teller {
    pub(crate) fn new(output: &Output, now: Timestamp, detail: ShownDetail) -> Self {
        Self { palette: output.palette, columns: output.columns(), now, detail }
    }

    /// Tells lines of a file with their numbers.
    pub(crate) fn file_lines(&self, first: u64, texts: &[&str]) -> Vec<String> {
        let faint = self.palette.faint;
        let width = (first + texts.len() as u64).to_string().len();
        let keep = if self.detail == ShownDetail::Full { texts.len() } else { kept(texts.len(), MAX_FILE_LINES) };
        let mut lines: Vec<String> = (first..)
            .zip(&texts[..keep])
            .map(|(number, text)| {
                let text = clip(clean(text).replace('\n', " ").trim_end(), self.columns.saturating_sub(width + 5));
                format!("  {faint}{number:>width$} │{faint:#} {text}").trim_end().to_owned()
            })
            .collect();
        lines.extend(self.more(texts.len() - keep).map(|more| format!("  {:>width$} {more}", "")));
        lines
    }

    /// Tells a git commit and what it records.
    pub(crate) fn git(&self, git: &RecordingCommit, shown: Option<CommitId>) -> Vec<String> {
        let RecordingCommit { commit, recorded, possible, unknown } = git;
        let Palette { id, .. } = self.palette;
        let when = conversation::to_the_second(commit.authored_at);
        let about = format!("{id}{}{id:#}, {}, {when}", commit.id.short(), line_of(&commit.author));
        let mut lines = self.field("git", vec![about]);
        lines.extend(self.prose("", &commit.subject, Style::new()));
        let others = recorded.iter().filter(|known| Some(**known) != shown);
        let others: Vec<_> = others.map(|known| format!("{id}{}{id:#}", known.short())).collect();
        if !others.is_empty() {
            lines.extend(self.field("records", others));
        }
        let possible: Vec<_> = possible.iter().map(|known| format!("{id}{}{id:#}", known.short())).collect();
        if !possible.is_empty() {
            lines.extend(self.field("possible", possible));
        }
        let unknown = unknown.iter().map(|text| format!("{}, which is not in this store", line_of(text)));
        let unknown: Vec<_> = unknown.collect();
        if !unknown.is_empty() {
            lines.extend(self.field(if recorded.is_empty() { "records" } else { "and" }, unknown));
        }
        lines
    }

    /// Tells that one of several contexts made something.
    pub(crate) fn ambiguous(&self, count: usize) -> Vec<String> {
        self.field("context", vec![format!("ambiguous: one of these {count}, and nothing says which")])
    }

    /// Tells the context that made something, what led to it, and how to go on from there.
    ///
    /// The texts are the lines that it is about: the change is shown around them.
    pub(crate) fn story(&self, story: &OriginStory, texts: &[&str]) -> Vec<String> {
        let Palette { id, faint, strong, .. } = self.palette;
        let OriginStory { commit, edit, request, reasoning, .. } = story;
        let provenance = &commit.commit.provenance;
        let mut lines = self.field("context", vec![format!("{id}{}{id:#}, {}", commit.id.short(), reason(story))]);
        let agent = provenance.template.as_ref().map_or_else(|| commit.commit.format.to_string(), ToString::to_string);
        let session = provenance.session.as_ref().map(|session| format!(", session {session}")).unwrap_or_default();
        lines.extend(self.field("agent", vec![line_of(&format!("{agent}{session}"))]));
        let at = edit.as_ref().map_or(commit.commit.created_at, |edit| edit.at);
        let when = format!("{} ({})", conversation::to_the_second(at), output::relative(self.now, at));
        let who = provenance.principal.as_ref().map(|principal| format!("{principal}, ")).unwrap_or_default();
        lines.extend(self.field("by", vec![line_of(&format!("{who}{when}"))]));
        if let Some(request) = request {
            lines.extend(self.prose("asked", &request.text, Style::new()));
        }
        if let Some(Reasoning { kind, text }) = reasoning {
            let (name, style) = match kind {
                Thought::Said => ("said", Style::new()),
                Thought::Thinking => ("thought", faint),
            };
            lines.extend(self.prose(name, text, style));
        }
        if let Some(edit) = edit {
            lines.extend(self.edit(edit, texts));
        }
        let (resume, short) = (story.resume_command(), commit.id.short());
        lines.extend(self.field(
            "next",
            vec![
                format!("{strong}{resume}{strong:#} goes on from there"),
                format!("{strong}ctx cat {short}{strong:#} shows the conversation up to there"),
            ],
        ));
        lines
    }

    /// Puts a name before lines. A name that is empty goes on with the field before it.
    pub(crate) fn field(&self, name: &str, lines: Vec<String>) -> Vec<String> {
        let strong = self.palette.strong;
        let width = INDENT - 2;
        let named = |(number, line): (usize, String)| {
            let name = if number == 0 { name } else { "" };
            format!("  {strong}{name:<width$}{strong:#}{line}").trim_end().to_owned()
        };
        lines.into_iter().enumerate().map(named).collect()
    }

    fn prose(&self, name: &str, text: &str, style: Style) -> Vec<String> {
        let lines = wrap(clean(text).trim_matches('\n'), self.columns - INDENT);
        let keep = if self.detail == ShownDetail::Full { lines.len() } else { kept(lines.len(), MAX_PROSE_LINES) };
        let more = self.more(lines.len() - keep);
        let shown = lines.into_iter().take(keep).map(|line| format!("{style}{line}{style:#}"));
        self.field(name, shown.chain(more).collect())
    }

    fn edit(&self, found: &FoundEdit, texts: &[&str]) -> Vec<String> {
        let lines = match self.detail {
            ShownDetail::Full => found.edit.lines.clone(),
            ShownDetail::Folded => near(&found.edit.lines, texts),
        };
        let conversation = Conversation::new(self.palette, self.columns - INDENT, self.detail);
        let text = conversation.tell_edit(&found.tool, found.edit.path.as_deref().unwrap_or_default(), &lines);
        // The field has an indentation of its own.
        let lines = text.lines().map(|line| line.strip_prefix("  ").unwrap_or(line).to_owned());
        self.field("edit", lines.collect())
    }

    fn more(&self, left_out: usize) -> Option<String> {
        let faint = self.palette.faint;
        (left_out > 0).then(|| format!("{faint}… {}{faint:#}", output::counted(left_out as u64, "more line")))
    }
}

/// Returns a range of lines as it is typed.
pub(crate) fn range_text(first: u64, last: u64) -> String {
    if first == last { first.to_string() } else { format!("{first}-{last}") }
}

/// Returns how many of some lines are shown. One line is not worth a line that says it is missing.
fn kept(lines: usize, most: usize) -> usize {
    if lines > most + 1 { most } else { lines }
}

/// Returns a foreign text on one line.
fn line_of(text: &str) -> String {
    clean(text).replace('\n', " ")
}

/// Returns the part of a change that is about some lines.
fn near(lines: &[Line], texts: &[&str]) -> Vec<Line> {
    let wanted: HashSet<&str> = texts.iter().map(|text| text.trim()).filter(|text| !text.is_empty()).collect();
    let is_wanted = |line: &Line| matches!(line, Line::Added(text) if wanted.contains(text.trim()));
    let Some(first) = lines.iter().position(is_wanted) else { return lines.to_vec() };
    let last = lines.iter().rposition(is_wanted).unwrap_or(first).min(first + 3 * NEAR_LINES);
    let (start, end) = (first.saturating_sub(NEAR_LINES), (last + NEAR_LINES + 1).min(lines.len()));
    let place = |left_out: usize| {
        (left_out > 0).then(|| Line::Place(format!("… {}", output::counted(left_out as u64, "more line"))))
    };
    let mut shown: Vec<Line> = place(start).into_iter().collect();
    shown.extend_from_slice(&lines[start..end]);
    shown.extend(place(lines.len() - end));
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_change_is_shown_around_the_lines_that_matter() {
        let lines: Vec<Line> = (1..=30).map(|number| Line::Added(format!("line {number}"))).collect();
        let shown = near(&lines, &["  line 10"]);
        let place = |text: &str| Line::Place(text.to_owned());
        assert_eq!(shown.len(), 11);
        assert_eq!((&shown[0], &shown[1]), (&place("… 5 more lines"), &lines[5]));
        assert_eq!((&shown[9], &shown[10]), (&lines[13], &place("… 16 more lines")));
        assert_eq!(near(&lines, &["other"]), lines);
    }
}
