//! Whether every turn of every session on disk is in the store, for people.

use contexture::{
    Contexture,
    wire::{SessionState, SessionsTally},
};
use contexture_capture::{Capture, ComparisonTerms, SessionCompleteness, SessionFindings, SkippedSession};

use super::problem::{Check, FIX, Problem};
use crate::output::{self, Output};

/// Compares sessions with the store.
pub(super) async fn compare(
    engine: &Contexture,
    found: SessionFindings,
    terms: ComparisonTerms<'_>,
    output: &Output,
) -> SessionCompleteness {
    let total = found.candidates.iter().map(|candidate| candidate.bytes).sum();
    let bar = output.progress("Comparing", Some(total)).counter();
    Capture::new(engine).completeness(found, terms, &|at| bar.set(at)).await
}

pub(super) fn line(sessions: &SessionCompleteness) -> String {
    let all = sessions.total();
    if all.sessions == 0 {
        return "none on disk".to_owned();
    }
    let on_disk = format!("{} on disk ({})", output::count(all.sessions), output::size(all.bytes));
    let is_alone = sessions.runtimes.len() == 1;
    match sessions.is_compared {
        false => format!("{on_disk}, not compared"),
        true if is_alone || all.complete == all.sessions => format!("{on_disk}: {}", tally_text(&all)),
        true => format!("{on_disk}: {} complete", output::count(all.complete)),
    }
}

/// Returns a line for each runtime, when there are several, and one for the files that are no sessions.
pub(super) fn details(sessions: &SessionCompleteness) -> Vec<String> {
    let width = sessions.runtimes.keys().map(String::len).max().unwrap_or_default();
    let line = |(runtime, tally): (&String, &SessionsTally)| {
        let fate = if sessions.is_compared { format!(": {}", tally_text(tally)) } else { String::new() };
        let (sessions, size) = (output::count(tally.sessions), output::size(tally.bytes));
        format!("{runtime:<width$} {sessions:>5} {size:>10}{fate}")
    };
    let mut lines: Vec<String> = Vec::new();
    if sessions.runtimes.len() > 1 {
        lines.extend(sessions.runtimes.iter().map(line));
    }
    let others = sessions.skipped.iter().filter(|file| !file.is_unreadable()).count() as u64;
    if others > 0 {
        let verb = if others == 1 { "is" } else { "are" };
        lines.push(format!("{} beside them {verb} no session", output::counted(others, "file")));
    }
    lines
}

pub(super) fn problems(sessions: &SessionCompleteness) -> Vec<Problem> {
    let all = sessions.total();
    let mut problems = Vec::new();
    let mut tell = |number: u64, (one, many): (&str, &str), command: String| {
        if number > 0 {
            let (sessions, rest) = (output::counted(number, "session"), if number == 1 { one } else { many });
            problems.push(Problem::new(Check::Sessions, format!("{sessions} {rest}"), command));
        }
    };
    tell(all.never, ("was never taken in", "were never taken in"), FIX.to_owned());
    tell(all.behind, ("has more than the store", "have more than the store"), FIX.to_owned());
    let changed = ("was changed since it was taken in", "were changed since they were taken in");
    tell(all.different, changed, FIX.to_owned());
    for session in &sessions.incomplete {
        if let SessionState::Unreadable { problem, is_damage } = &session.state {
            let what = format!("{}: {}", session.candidate.path.display(), output::first_line(problem));
            let command = if *is_damage { "ctx fsck".to_owned() } else { look_at(&session.candidate.path) };
            problems.push(Problem::new(Check::Sessions, what, command));
        }
    }
    for SkippedSession { path, reason } in sessions.skipped.iter().filter(|file| file.is_unreadable()) {
        let what = format!("{}: {}", path.display(), output::first_line(&reason.to_string()));
        problems.push(Problem::new(Check::Sessions, what, look_at(path)));
    }
    problems
}

/// Tells a person how the sessions of a runtime are.
fn tally_text(tally: &SessionsTally) -> String {
    if tally.complete == tally.sessions {
        return "all complete".to_owned();
    }
    let unread = match tally.unread.lines {
        0 => String::new(),
        lines => format!(" by {}", output::counted(lines, "line")),
    };
    let parts = [
        (tally.complete, "complete".to_owned()),
        (tally.live, "being written".to_owned()),
        (tally.behind, format!("behind{unread}")),
        (tally.never, "never taken in".to_owned()),
        (tally.different, "changed since".to_owned()),
        (tally.unreadable, "unreadable".to_owned()),
    ];
    let counted = parts.into_iter().filter(|(number, _)| *number > 0);
    counted.map(|(number, what)| format!("{} {what}", output::count(number))).collect::<Vec<_>>().join(", ")
}

fn look_at(path: &std::path::Path) -> String {
    format!("ls -l {}", path.display())
}
