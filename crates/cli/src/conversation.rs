//! Conversations as people read them: who speaks, what is said, what tools did.
//!
//! What others wrote is indented and cleaned, and what begins at the left edge is ours, so no text can pass for another
//! speaker or steer the terminal.

mod call;
mod gist;
mod speaker;
mod terminal_text;

use std::{
    collections::{HashMap, HashSet},
    hash::{DefaultHasher, Hash as _, Hasher as _},
};

use anstyle::Style;
use contexture::{
    CommitContent, ContentMeaning, StoredCommit,
    core::{BlobSource, CommitId, CommitKind, Entry, EntryPart, Role, Timestamp, ToolInput},
    formats::{
        DisplayItem,
        codec::Rewind,
        display_items,
        edit::{self, Edit, Line},
    },
};

use self::speaker::{Speaker, SpeakerVoice};
pub(crate) use self::{
    gist::{gist, without_words, words},
    terminal_text::{clean, clip, wrap},
};
use crate::output::{self, Palette};

/// Lines that are shown of what a tool answers.
const RESULT_LINES: usize = 5;
/// Lines that are shown of a change.
const CHANGE_LINES: usize = 20;
/// Lines that are shown of what nobody typed.
const META_LINES: usize = 3;

/// How much is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ShownDetail {
    /// What is long is folded to its first lines.
    Folded,
    /// Everything.
    Full,
}

/// Tells a conversation, turn by turn.
pub(crate) struct Conversation {
    palette: Palette,
    columns: usize,
    detail: ShownDetail,
    /// Who speaks, and in which commit.
    speaker: Option<(CommitId, Speaker)>,
    /// The calls that wait for their results, in one line each.
    calls: HashMap<String, String>,
    /// The results in the commit that is shown, by their calls.
    answers: HashMap<String, (Vec<EntryPart>, bool)>,
    /// The calls that were shown with their results.
    answered: HashSet<String>,
    /// The parts that were shown of entries with ids, as digests; runtimes write some entries twice, and the second time
    /// with more.
    seen: HashMap<String, Vec<u64>>,
    turn: Vec<String>,
    /// What the last paragraph of the turn is.
    last: Option<Paragraph>,
    turns: Vec<String>,
}

/// What stands together without an empty line in between.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Paragraph {
    Heading,
    Prose,
    Tool,
}

impl Conversation {
    pub(crate) fn new(palette: Palette, columns: usize, detail: ShownDetail) -> Self {
        Self {
            palette,
            columns,
            detail,
            speaker: None,
            calls: HashMap::new(),
            answers: HashMap::new(),
            answered: HashSet::new(),
            seen: HashMap::new(),
            turn: Vec::new(),
            last: None,
            turns: Vec::new(),
        }
    }

    /// Tells what a commit says and returns the turns that have ended.
    pub(crate) fn tell(&mut self, content: CommitContent) -> Vec<String> {
        let CommitContent { commit, size, said, withheld } = content;
        match said {
            ContentMeaning::Steps { steps, unreadable } => {
                let items = display_items(steps);
                self.answers = answers(&items);
                for item in items {
                    match item {
                        DisplayItem::Entry(entry) => self.entry(&commit, &entry),
                        DisplayItem::Rewind(Rewind::Turns(turns)) => {
                            let turns = output::counted(turns, "turn");
                            self.note(&commit, &format!("[the conversation goes back {turns}]"));
                        }
                        DisplayItem::Rewind(Rewind::Before(_)) => self.note(&commit, "[the conversation goes back]"),
                    }
                }
                if unreadable > 0 {
                    self.note(&commit, &format!("[{} cannot be read]", output::counted(unreadable, "record")));
                }
            }
            ContentMeaning::Text { text, .. } if commit.commit.kind == CommitKind::Compaction => {
                self.summary(&commit, None, &text);
            }
            ContentMeaning::Text { text, .. } => {
                self.heading(&commit, None, Speaker::content_of(&commit));
                self.prose(&text, Style::new());
            }
            ContentMeaning::Withheld => {
                let fate = withheld.map(|content| content.fate()).unwrap_or_default();
                self.note(&commit, &format!("[the content of this turn {}]", output::printable(&fate)));
            }
            ContentMeaning::Opaque { .. } => {
                let (format, artifact) = (&commit.commit.format, commit.commit.artifact);
                self.heading(&commit, None, Speaker::content_of(&commit));
                let size = output::size(size);
                self.prose(
                    &format!("[{format}, {size}; `ctx artifact get {artifact} -o FILE` gives it]"),
                    Style::new(),
                );
            }
        }
        std::mem::take(&mut self.turns)
    }

    /// Tells one change that a tool made to a file, away from the conversation.
    pub(crate) fn tell_edit(mut self, tool: &str, path: &str, lines: &[Line]) -> String {
        self.tool(tool, path);
        self.change(lines);
        self.finish().unwrap_or_default()
    }

    /// Returns the last turn.
    pub(crate) fn finish(mut self) -> Option<String> {
        self.end_turn();
        self.turns.pop()
    }

    fn entry(&mut self, commit: &StoredCommit, entry: &Entry) {
        let new = self.unseen(entry);
        let is_shown = |part: &&EntryPart| self.detail == ShownDetail::Full || !is_inner(part);
        let (results, rest): (Vec<&EntryPart>, Vec<&EntryPart>) =
            new.into_iter().filter(is_shown).partition(|part| matches!(part, EntryPart::ToolResult { .. }));
        // What tools answer belongs to the turn that called them, so it comes before what a user says beside it.
        let parts = if entry.role == Role::Assistant { [rest, results] } else { [results, rest] };
        for part in parts.concat() {
            match part {
                EntryPart::ToolResult { call, .. } if self.answered.contains(call) => {}
                EntryPart::ToolResult { call, content, is_error } => {
                    if self.turn.is_empty() {
                        self.heading(commit, entry.at, Speaker::tool());
                    }
                    self.late_result(call, content, *is_error == Some(true));
                }
                EntryPart::Summary { text } => self.summary(commit, entry.at, text),
                part if is_blank(part) => {}
                part => {
                    self.heading(commit, entry.at, Speaker::of(commit, entry));
                    self.part(entry, part);
                }
            }
        }
    }

    /// Returns the parts of an entry that were not shown yet.
    fn unseen<'e>(&mut self, entry: &'e Entry) -> Vec<&'e EntryPart> {
        let Some(id) = &entry.id else { return entry.parts.iter().collect() };
        let Some(seen) = self.seen.get_mut(id) else {
            self.seen.insert(id.clone(), entry.parts.iter().map(digest).collect());
            return entry.parts.iter().collect();
        };
        let is_new = |part: &&EntryPart| {
            let digest = digest(part);
            let is_new = !seen.contains(&digest);
            if is_new {
                seen.push(digest);
            }
            is_new
        };
        entry.parts.iter().filter(is_new).collect()
    }

    fn part(&mut self, entry: &Entry, part: &EntryPart) {
        let faint = self.palette.faint;
        match part {
            EntryPart::Text { text } if entry.flags.meta || entry.role == Role::System => {
                let lines = wrap(&clean(text), self.columns - 2);
                let lines = self.folded(lines, META_LINES);
                self.paragraph(Paragraph::Prose, lines, 2, faint);
            }
            EntryPart::Text { text } => self.prose(text, Style::new()),
            EntryPart::Thinking { text, .. } if text.trim().is_empty() => {
                self.paragraph(Paragraph::Prose, vec!["[thinking that only its provider can read]".into()], 2, faint);
            }
            EntryPart::Thinking { text, .. } => {
                // A folded thought leaves room for how much more there is.
                let columns = if self.detail == ShownDetail::Full { self.columns - 2 } else { self.columns - 20 };
                let mut lines = wrap(&format!("(thinking) {}", clean(text.trim())), columns);
                if self.detail == ShownDetail::Folded && lines.len() > 1 {
                    let more = output::counted(lines.len() as u64 - 1, "more line");
                    lines.truncate(1);
                    lines[0] = format!("{} … {more}", lines[0]);
                }
                self.paragraph(Paragraph::Prose, lines, 2, faint);
            }
            EntryPart::ToolCall { id, name, input } => self.call(id, name, input),
            EntryPart::Blob { .. }
            | EntryPart::Native { .. }
            | EntryPart::ToolResult { .. }
            | EntryPart::Summary { .. } => {
                self.paragraph(Paragraph::Prose, vec![in_brackets(part)], 2, faint);
            }
        }
    }

    fn prose(&mut self, text: &str, style: Style) {
        let lines = wrap(clean(text).trim_matches('\n'), self.columns - 2);
        self.paragraph(Paragraph::Prose, lines, 2, style);
    }

    fn call(&mut self, id: &str, name: &str, input: &ToolInput) {
        let line = self.tool(name, &call::telling(input));
        let edits = edit::of(input);
        if !edits.is_empty() {
            let change: Vec<Line> = edits.into_iter().flat_map(|Edit { lines, .. }| lines).collect();
            self.change(&change);
        } else if self.detail == ShownDetail::Full {
            let lines = wrap(&clean(&call::all(input)), self.columns - 6);
            self.barred(lines, RESULT_LINES);
        }
        match self.answers.remove(id) {
            Some((content, is_error)) => {
                self.result(&content, is_error);
                self.answered.insert(id.to_owned());
            }
            None => {
                self.calls.insert(id.to_owned(), line);
            }
        }
    }

    /// Tells which tool is called and what that is about, and returns it without colours.
    fn tool(&mut self, name: &str, about: &str) -> String {
        let strong = self.palette.strong;
        let name = clean(name).replace('\n', " ");
        let about = clean(about).replace('\n', " ");
        let line = clip(format!("{name} {about}").trim_end(), self.columns - 4);
        let shown = match line.strip_prefix(&name) {
            Some(about) => format!("▸ {strong}{name}{strong:#}{about}"),
            None => format!("▸ {line}"),
        };
        self.paragraph(Paragraph::Tool, vec![shown], 2, Style::new());
        line
    }

    /// Tells a result away from its call.
    fn late_result(&mut self, call: &str, content: &[EntryPart], is_error: bool) {
        let line = self.calls.remove(call).unwrap_or_else(|| "a tool".to_owned());
        self.answered.insert(call.to_owned());
        self.paragraph(Paragraph::Tool, vec![format!("◂ {line}")], 2, Style::new());
        self.result(content, is_error);
    }

    fn result(&mut self, content: &[EntryPart], is_error: bool) {
        if is_error {
            self.paragraph(Paragraph::Tool, vec!["failed:".to_owned()], 4, self.palette.error);
        } else if self.detail == ShownDetail::Full {
            self.paragraph(Paragraph::Tool, vec!["answered:".to_owned()], 4, self.palette.faint);
        }
        let mut text = String::new();
        for part in content {
            let words = match part {
                EntryPart::Text { text } | EntryPart::Summary { text } | EntryPart::Thinking { text, .. } => {
                    clean(text)
                }
                EntryPart::ToolCall { .. }
                | EntryPart::ToolResult { .. }
                | EntryPart::Blob { .. }
                | EntryPart::Native { .. } => in_brackets(part),
            };
            text.push_str(words.trim_end());
            text.push('\n');
        }
        let mut text = text.trim_matches('\n');
        if let Some(change) = edit::written_out(text) {
            return self.change(&change);
        }
        // Codex puts what it measured before what the command wrote, which is what one wants to see first.
        if self.detail == ShownDetail::Folded
            && text.starts_with("Chunk ID: ")
            && let Some((_, written)) = text.split_once("\nOutput:")
        {
            text = written.trim_matches('\n');
        }
        let lines = match self.detail {
            _ if text.trim().is_empty() => vec!["(no output)".to_owned()],
            ShownDetail::Full => wrap(text, self.columns - 6),
            ShownDetail::Folded => text.lines().map(|line| clip(line, self.columns - 6)).collect(),
        };
        self.barred(lines, RESULT_LINES);
    }

    fn change(&mut self, change: &[Line]) {
        let Palette { added, removed, faint, hint, .. } = self.palette;
        let columns = self.columns - 8;
        let show = |line: &Line| {
            let (style, sign, text) = match line {
                Line::Added(text) => (added, "+ ", text),
                Line::Removed(text) => (removed, "- ", text),
                Line::Same(text) => (Style::new(), "  ", text),
                Line::Place(text) => (hint, "", text),
            };
            let text = clean(text).replace('\n', " ");
            let text = if self.detail == ShownDetail::Full { text } else { clip(&text, columns) };
            format!("{faint}│{faint:#} {style}{sign}{text}{style:#}")
        };
        let lines = change.iter().map(show).collect();
        let lines = self.folded(lines, CHANGE_LINES);
        self.paragraph(Paragraph::Tool, lines, 4, Style::new());
    }

    /// Tells lines with a bar before each.
    fn barred(&mut self, lines: Vec<String>, keep: usize) {
        let lines = lines.into_iter().map(|line| format!("│ {line}").trim_end().to_owned()).collect();
        let lines = self.folded(lines, keep);
        self.paragraph(Paragraph::Tool, lines, 4, self.palette.faint);
    }

    /// Tells the text that stands for all before it, apart from what is said.
    fn summary(&mut self, commit: &StoredCommit, at: Option<Timestamp>, text: &str) {
        let compaction = self.palette.compaction;
        self.heading(commit, at, Speaker::summary());
        let lines = wrap(clean(text).trim_matches('\n'), self.columns - 4);
        let barred = |line: String| format!("{compaction}┃{compaction:#} {line}").trim_end().to_owned();
        self.paragraph(Paragraph::Prose, lines.into_iter().map(barred).collect(), 2, Style::new());
    }

    fn note(&mut self, commit: &StoredCommit, note: &str) {
        if self.speaker.as_ref().is_none_or(|(id, _)| *id != commit.id) {
            self.heading(commit, None, Speaker::content_of(commit));
        }
        self.paragraph(Paragraph::Prose, vec![note.to_owned()], 2, self.palette.faint);
    }

    /// Begins a turn, unless the same speaker goes on in the same commit.
    fn heading(&mut self, commit: &StoredCommit, at: Option<Timestamp>, speaker: Speaker) {
        if self.speaker.as_ref().is_some_and(|(id, current)| *id == commit.id && *current == speaker) {
            return;
        }
        self.end_turn();
        let Palette { strong, user, compaction, faint, id, .. } = self.palette;
        let style = match speaker.voice {
            SpeakerVoice::User => user,
            SpeakerVoice::Summary => compaction,
            SpeakerVoice::Assistant | SpeakerVoice::Other => strong,
        };
        let name = clip(&clean(&speaker.name).replace('\n', " "), self.columns / 2);
        let when = to_the_second(at.unwrap_or(commit.commit.created_at));
        let short = commit.id.short();
        let heading = format!("{style}{name}{style:#}  {faint}{when}{faint:#}  {id}{faint}{short}{faint:#}{id:#}");
        self.turn.push(heading);
        self.last = Some(Paragraph::Heading);
        self.speaker = Some((commit.id, speaker));
    }

    fn paragraph(&mut self, paragraph: Paragraph, lines: Vec<String>, indent: usize, style: Style) {
        let is_apart = match (self.last, paragraph) {
            (None | Some(Paragraph::Heading), _) | (Some(Paragraph::Tool), Paragraph::Tool) => false,
            (Some(Paragraph::Prose | Paragraph::Tool), _) => true,
        };
        if is_apart {
            self.turn.push(String::new());
        }
        for line in lines {
            let indent = if line.is_empty() { 0 } else { indent };
            self.turn.push(format!("{:indent$}{style}{line}{style:#}", ""));
        }
        self.last = Some(paragraph);
    }

    /// Leaves out the lines after the first few, and says how many.
    fn folded(&self, mut lines: Vec<String>, keep: usize) -> Vec<String> {
        // One line is not worth a line that says it is missing.
        if self.detail == ShownDetail::Folded && lines.len() > keep + 1 {
            let left_out = (lines.len() - keep) as u64;
            lines.truncate(keep);
            lines.push(format!("… {}", output::counted(left_out, "more line")));
        }
        lines
    }

    fn end_turn(&mut self) {
        if !self.turn.is_empty() {
            self.turns.push(std::mem::take(&mut self.turn).join("\n"));
        }
        self.speaker = None;
        self.last = None;
    }
}

/// Returns the results among entries, by their calls. The last of a call counts: an early one says that the tool is still
/// at it.
fn answers(items: &[DisplayItem]) -> HashMap<String, (Vec<EntryPart>, bool)> {
    let mut answers = HashMap::new();
    for item in items {
        let DisplayItem::Entry(entry) = item else { continue };
        for part in &entry.parts {
            if let EntryPart::ToolResult { call, content, is_error } = part {
                answers.insert(call.clone(), (content.clone(), *is_error == Some(true)));
            }
        }
    }
    answers
}

/// Returns a number by which a part is known again.
fn digest(part: &EntryPart) -> u64 {
    let mut hasher = DefaultHasher::new();
    serde_json::to_string(part).unwrap_or_default().hash(&mut hasher);
    hasher.finish()
}

/// Tells whether a part is between a runtime and its provider, and says nothing to people.
fn is_inner(part: &EntryPart) -> bool {
    match part {
        EntryPart::Native { .. } => true,
        EntryPart::Thinking { text, .. } => text.trim().is_empty(),
        EntryPart::Text { .. }
        | EntryPart::ToolCall { .. }
        | EntryPart::ToolResult { .. }
        | EntryPart::Blob { .. }
        | EntryPart::Summary { .. } => false,
    }
}

fn is_blank(part: &EntryPart) -> bool {
    match part {
        EntryPart::Text { text } | EntryPart::Summary { text } => text.trim().is_empty(),
        EntryPart::Thinking { text, seal } => text.trim().is_empty() && seal.is_none(),
        EntryPart::ToolCall { .. }
        | EntryPart::ToolResult { .. }
        | EntryPart::Blob { .. }
        | EntryPart::Native { .. } => false,
    }
}

/// Tells what cannot be shown.
fn in_brackets(part: &EntryPart) -> String {
    let line = match part {
        EntryPart::Blob { media_type, source } => {
            let kind = if media_type.starts_with("image/") { "image " } else { "" };
            match source {
                // Four characters stand for three bytes.
                BlobSource::Base64(data) => {
                    let bytes = data.trim_end_matches('=').len() as u64 * 3 / 4;
                    format!("[{kind}{media_type}, {}]", output::size(bytes))
                }
                BlobSource::Url(place) | BlobSource::File(place) => format!("[{kind}{media_type}: {place}]"),
            }
        }
        EntryPart::Native { kind, .. } => format!("[{kind}]"),
        EntryPart::ToolCall { name, .. } => format!("[calls {name}]"),
        EntryPart::ToolResult { .. } => "[result of a tool]".to_owned(),
        EntryPart::Text { text } | EntryPart::Summary { text } | EntryPart::Thinking { text, .. } => text.clone(),
    };
    clean(&line).replace('\n', " ")
}

pub(crate) fn to_the_second(at: Timestamp) -> String {
    let text = at.to_string();
    let (date, time) = text.split_once('T').unwrap_or((&text, ""));
    format!("{date} {}Z", time.get(..8).unwrap_or(time))
}
