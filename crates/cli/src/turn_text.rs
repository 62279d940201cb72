//! Turns as people read them in a log.

use std::{fmt::Write as _, path::Path};

use contexture::{
    LoggedTurn, TurnOutcome,
    core::{CommitId, CommitKind, Count, HeadName, Timestamp},
    wire::HeadsByCommit,
};
use unicode_width::UnicodeWidthStr as _;

use crate::{
    conversation::{self, clip},
    output::{self, Palette},
};

/// Files that are named in a line.
const NAMED_FILES: usize = 3;
/// From so many columns on, a line has room for the session.
const WIDE: usize = 110;
/// Letters that are shown of a session's id.
const SESSION_LETTERS: usize = 8;
/// Fewest columns in which it is worth while to say what came of a request.
const LEAST_OUTCOME: usize = 14;

/// How turns are shown.
pub(crate) struct TurnText<'a> {
    pub(crate) palette: &'a Palette,
    pub(crate) labels: &'a HeadsByCommit,
    pub(crate) now: Timestamp,
    pub(crate) columns: usize,
}

impl TurnText<'_> {
    /// Tells a turn in one line: its id, when, what was asked, and what came of it.
    pub(crate) fn line(&self, turn: &LoggedTurn) -> String {
        let Palette { id, faint, head, .. } = self.palette;
        let last = turn.last();
        let age = format!("{:>4}", output::age(self.now, last.commit.created_at));
        let mut line = format!("{id}{}{id:#} {faint}{age}{faint:#}  ", last.id.short());
        let mut left = self.columns.saturating_sub(last.id.short().width() + age.width() + 3);
        if self.columns >= WIDE {
            let session = last.commit.provenance.session.as_ref();
            let session: String =
                session.map(|id| id.as_str().chars().take(SESSION_LETTERS).collect()).unwrap_or_default();
            let session = output::first_line(&session).into_owned();
            let gap = " ".repeat(SESSION_LETTERS.saturating_sub(session.width()) + 2);
            write!(line, "{faint}{session}{faint:#}{gap}").expect("a string takes all that is written");
            left = left.saturating_sub(session.width() + gap.width());
        }
        let marks = self.marks(turn);
        if !marks.is_empty() {
            let marks = clip(&format!("({})", marks.join(", ")), left / 2);
            write!(line, "{head}{marks}{head:#} ").expect("a string takes all that is written");
            left = left.saturating_sub(marks.width() + 1);
        }
        let request = Self::request(turn);
        let outcome = told(&turn.outcome, Telling::Brief);
        let room = left.saturating_sub(request.width() + 2).max(left * 2 / 5);
        if outcome.is_empty() || room < LEAST_OUTCOME {
            line.push_str(&clip(&request, left));
            return line;
        }
        let outcome = clip(&outcome, room);
        let request = clip(&request, left.saturating_sub(outcome.width() + 2));
        format!("{line}{request}  {faint}{outcome}{faint:#}")
    }

    /// Tells a turn in a few lines.
    pub(crate) fn block(&self, turn: &LoggedTurn) -> String {
        let Palette { id, head, faint, compaction, snapshot, .. } = self.palette;
        let last = turn.last();
        let mut title = format!("{id}{}{id:#}", last.id.short());
        match last.commit.kind {
            CommitKind::Delta => {}
            CommitKind::Compaction => {
                write!(title, " {compaction}compaction{compaction:#}").expect("a string takes all that is written");
            }
            CommitKind::Snapshot => {
                write!(title, " {snapshot}snapshot{snapshot:#}").expect("a string takes all that is written");
            }
        }
        let heads = self.labels.of(&last.id);
        if !heads.is_empty() {
            let names: Vec<_> = heads.iter().map(|name| format!("{head}{name}{head:#}")).collect();
            write!(title, " ({})", names.join(", ")).expect("a string takes all that is written");
        }
        let when = output::relative(self.now, last.commit.created_at);
        let mut facts: Vec<String> = last.commit.provenance.principal.iter().map(ToString::to_string).collect();
        facts.push(when);
        let messages: u64 = turn.commits.iter().filter_map(|it| it.commit.message_count).map(Count::get).sum();
        if messages > 0 {
            facts.push(output::counted(messages, "message"));
        }
        if turn.commits.len() > 1 {
            facts.push(output::counted(turn.commits.len() as u64, "step"));
        }
        let mut lines = vec![title, format!("{faint}{}{faint:#}", facts.join(", "))];
        let outcome = told(&turn.outcome, Telling::Whole);
        if outcome.is_empty() || turn.request.is_some() {
            lines.push(clip(&Self::request(turn), self.columns));
        }
        if !outcome.is_empty() {
            lines.push(format!("{faint}{}{faint:#}", clip(&outcome, self.columns)));
        }
        let merges: Vec<_> =
            turn.commits.iter().flat_map(|stored| &stored.commit.merges).map(CommitId::short).collect();
        if !merges.is_empty() {
            lines.push(format!("{faint}brings back {}{faint:#}", merges.join(", ")));
        }
        lines.join("\n")
    }

    /// Returns what was asked, or else what is known: no turn is without words.
    fn request(turn: &LoggedTurn) -> String {
        let request = turn.request.as_deref().map(output::headline).unwrap_or_default();
        let request = request.trim();
        match (request, told(&turn.outcome, Telling::Brief)) {
            ("", outcome) if outcome.is_empty() => {
                let last = turn.last();
                let messages: u64 = turn.commits.iter().filter_map(|it| it.commit.message_count).map(Count::get).sum();
                conversation::without_words(messages, &last.commit.format)
            }
            ("", _) => "(goes on)".to_owned(),
            (request, _) => request.to_owned(),
        }
    }

    /// Returns what marks a turn in a line: heads that people made, and compactions.
    fn marks(&self, turn: &LoggedTurn) -> Vec<String> {
        let last = turn.last();
        let kind = match last.commit.kind {
            CommitKind::Delta => None,
            CommitKind::Compaction | CommitKind::Snapshot => Some(last.commit.kind.to_string()),
        };
        let is_made = |name: &&HeadName| {
            !["session/", "principal/", "thread/"].iter().any(|moved| name.as_str().starts_with(moved))
        };
        kind.into_iter().chain(self.labels.of(&last.id).iter().filter(is_made).map(ToString::to_string)).collect()
    }
}

/// How much of an outcome is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Telling {
    /// As much as fits into a part of a line.
    Brief,
    /// Tools by their names.
    Whole,
}

/// Tells what was done: the calls, the files, and what was said last.
fn told(outcome: &TurnOutcome, telling: Telling) -> String {
    let mut facts = Vec::new();
    let more = if outcome.is_cut { " or more" } else { "" };
    match (outcome.calls(), telling) {
        (0, _) => {}
        (calls, Telling::Brief) => facts.push(output::counted(calls, "call") + more),
        (_, Telling::Whole) => {
            let tool = |tool: &contexture::ToolUse| match tool.calls {
                1 => output::first_line(&tool.name).into_owned(),
                calls => format!("{calls} {}", output::first_line(&tool.name)),
            };
            facts.push(outcome.tools.iter().map(tool).collect::<Vec<_>>().join(", ") + more);
        }
    }
    if !outcome.files.is_empty() {
        let name = |path: &String| {
            let name =
                Path::new(path).file_name().map_or_else(|| path.clone(), |name| name.to_string_lossy().into_owned());
            output::first_line(&name).into_owned()
        };
        let mut files: Vec<String> = outcome.files.iter().take(NAMED_FILES).map(name).collect();
        match outcome.files.len().saturating_sub(NAMED_FILES) {
            0 => {}
            more => files.push(format!("{more} more")),
        }
        facts.push(files.join(", "));
    }
    facts.extend(outcome.said.as_deref().map(output::headline));
    if facts.is_empty() { String::new() } else { format!("▸ {}", facts.join(" · ")) }
}
