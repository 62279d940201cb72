//! All of it on one screen.

use contexture_capture::Depth;

use super::{
    Examination, agents, completeness,
    problem::{Check, Mark, Problem},
    retention, spool, troubles,
};
use crate::{
    conversation,
    error::Result,
    output::{self, Output},
};

/// Where the lines below that of a check begin.
const INDENT: usize = 15;
/// Most lines below that of a check.
const MAX_DETAILS: usize = 3;
/// Most runtimes that are shown.
const MAX_RUNTIMES: usize = 6;
/// Widest command that the others are aligned with.
const MAX_COMMAND: usize = 24;
/// Most problems that are shown.
const MAX_PROBLEMS: usize = 7;

/// Writes a line for each check, then the problems with what solves them.
pub(super) fn show(examination: &Examination, problems: &[Problem], output: &mut Output) -> Result<()> {
    let Examination { now, store, sessions, hooks, spool, agents, retention, log, .. } = examination;
    let checks = [
        (Check::Store, store.line(), Vec::new()),
        (Check::Sessions, completeness::line(sessions), shortened(completeness::details(sessions), MAX_RUNTIMES)),
        (Check::Hooks, hooks.line(*now), Vec::new()),
        (Check::Spool, spool::line(spool), Vec::new()),
        (Check::Agents, agents::line(agents), Vec::new()),
        (
            Check::Retention,
            retention::line(retention, *now),
            shortened(retention::details(retention, *now), MAX_DETAILS),
        ),
        (Check::Log, troubles::line(log), shortened(troubles::details(log, *now), MAX_DETAILS)),
    ];
    let (well, unwell, faint) = (output.palette.added, output.palette.error, output.palette.faint);
    let (strong, columns) = (output.palette.strong, output.columns());
    for (check, line, details) in checks {
        let (mark, style) = match examination.mark(check, problems) {
            Mark::Well => ("ok", well),
            Mark::Unwell => ("!!", unwell),
            Mark::Unknown => ("--", faint),
        };
        let (title, line) = (check.title(), output::printable(&line).into_owned());
        output.line(format_args!("{style}{mark}{style:#}  {strong}{title:<10}{strong:#} {line}"))?;
        for detail in details {
            let detail = conversation::clip(&output::printable(&detail), columns - INDENT);
            output.line(format_args!("{:INDENT$}{faint}{detail}{faint:#}", ""))?;
        }
    }
    if problems.is_empty() {
        output.status(match examination.depth {
            Depth::Whole => "All is well: everything that agents have said is in the store, byte for byte.",
            Depth::End => "All is well, as far as a quick look can tell.",
        });
        return Ok(());
    }
    output.line("")?;
    output.line(format_args!("{strong}To do:{strong:#}"))?;
    let hint = output.palette.hint;
    let shown = &problems[..problems.len().min(MAX_PROBLEMS)];
    let width = shown.iter().map(|problem| problem.command.len()).filter(|width| *width <= MAX_COMMAND).max();
    let width = width.unwrap_or_default();
    for Problem { what, command, .. } in shown {
        let (what, command) = (output::first_line(what), output::printable(command));
        output.line(format_args!("  {hint}{command:<width$}{hint:#}  {what}"))?;
    }
    if problems.len() > MAX_PROBLEMS {
        output.line(format_args!("  and {} more", problems.len() - MAX_PROBLEMS))?;
    }
    Ok(())
}

/// Keeps the first lines and says how many there were besides.
fn shortened(mut lines: Vec<String>, most: usize) -> Vec<String> {
    if lines.len() > most {
        let more = lines.len() - (most - 1);
        lines.truncate(most - 1);
        lines.push(format!("and {more} more"));
    }
    lines
}
