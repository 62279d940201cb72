//! `ctx assemble --packs`: texts with priorities under a budget.

use contexture_assembly::{
    Candidate, CandidateOutcome, Decision, Inclusion, Limits, Measured, Omission, Shortening, TokenCount, TokenCounter,
    packs::{self, AssembledPacks, PackRequest},
};
use unicode_width::UnicodeWidthStr as _;

use crate::{
    error::{Error, Result},
    input::Input,
    output::{self, Output, Shape},
};

/// Largest request that is read.
const MAX_REQUEST_MEBIBYTES: u64 = 64;
/// Cells of the bar that shows how full the budget is.
const BAR_CELLS: usize = 30;

pub(super) fn run(input: Input, counter: &dyn TokenCounter, output: &mut Output) -> Result<()> {
    let Some(json) = input.read_up_to(MAX_REQUEST_MEBIBYTES * 1024 * 1024)? else {
        return Err(Error::LargePacks { input, max_mebibytes: MAX_REQUEST_MEBIBYTES });
    };
    let request = PackRequest::parse(counter, &json).map_err(|source| Error::Packs { input, source })?;
    let assembled = packs::assemble(counter, &request);
    match output.shape() {
        Shape::Json => {
            output.line(serde_json::to_string(&assembled.report()).expect("texts and numbers have a JSON form"))
        }
        Shape::Text => tell_person(&assembled, request.limits, counter, output),
    }
}

fn tell_person(
    assembled: &AssembledPacks,
    limits: Limits,
    counter: &dyn TokenCounter,
    output: &mut Output,
) -> Result<()> {
    output.line(format_args!("{} ({})", budget(assembled), counter.name()))?;
    let guard = assembled.selection.guard;
    let (before, after) = (output::count(guard.before.get()), output::count(guard.after.get()));
    let max_chars = output::counted(limits.max_chars.get(), "character");
    let selected = if guard.is_applied() { format!("; {before} were selected") } else { String::new() };
    output.line(format_args!("{after} of {max_chars}{selected}"))?;

    let decisions = &assembled.selection.decisions;
    let ids: Vec<_> = decisions.iter().map(|decision| output::first_line(decision.candidate.id.as_str())).collect();
    let width = ids.iter().map(|id| id.width()).max().unwrap_or(0);
    let (mut inside, mut outside) = (Vec::new(), Vec::new());
    for (Decision { candidate, outcome }, id) in decisions.iter().zip(&ids) {
        let pad = " ".repeat(width - id.width());
        let start = format!("  {0}{id}{0:#}{pad}  {1:<8}", output.palette.id, candidate.priority);
        match outcome {
            CandidateOutcome::Included(inclusion) => inside.push(format!("{start}  {}", included(inclusion))),
            CandidateOutcome::Omitted(omission) => {
                outside.push(format!("{start}  {}", omitted(candidate, *omission, limits)));
            }
        }
    }
    for (title, lines) in [("In", inside), ("Out", outside)] {
        if !lines.is_empty() {
            let strong = output.palette.strong;
            output.line("")?;
            output.line(format_args!("{strong}{title}{strong:#}"))?;
            lines.iter().try_for_each(|line| output.line(line))?;
        }
    }
    Ok(())
}

/// Tells how full the budget is.
fn budget(assembled: &AssembledPacks) -> String {
    let tokens = assembled.tokens.get();
    let Some(max) = assembled.max_tokens.map(TokenCount::get) else {
        return format!("{}, no budget", output::counted(tokens, "token"));
    };
    let bar = output::bar(tokens, max, BAR_CELLS);
    let over = assembled.over_budget();
    let over = if over == TokenCount::ZERO {
        String::new()
    } else {
        format!(", {} over: only required packs are left", output::count(over.get()))
    };
    format!("{bar} {} of {}{over}", output::count(tokens), output::counted(max, "token"))
}

fn included(inclusion: &Inclusion) -> String {
    let Inclusion { variant, text, shortened } = inclusion;
    let tokens = output::counted(text.tokens().get(), "token");
    match shortened {
        None => format!("{variant:<7}  {tokens}"),
        Some(Shortening::Compacted) => format!("{variant:<7}  {tokens}, for the limit of characters"),
        Some(Shortening::Cut) => {
            format!("{variant:<7}  {tokens}, cut after {}", output::counted(text.chars().get(), "character"))
        }
    }
}

/// Tells why a pack is out, with what it would have needed.
fn omitted(candidate: &Candidate, omission: Omission, limits: Limits) -> String {
    let needs = |length: fn(&Measured) -> u64, noun: &str| {
        let full = candidate.full.as_ref().map(|full| output::counted(length(full), noun));
        let compact = candidate.compact.as_ref().map(|compact| format!("{} compact", output::count(length(compact))));
        full.into_iter().chain(compact).collect::<Vec<_>>().join(" or ")
    };
    match omission {
        Omission::Empty => "has no text".to_owned(),
        Omission::Budget { left, .. } => {
            format!("needs {}; {} left", needs(|text| text.tokens().get(), "token"), output::count(left.tokens.get()))
        }
        Omission::Summarized => "a summary stands for it".to_owned(),
        Omission::Needless => "what it sums up is in".to_owned(),
        Omission::MaxChars => {
            let max_chars = output::count(limits.max_chars.get());
            format!("needs {}; no room in {max_chars}", needs(|text| text.chars().get(), "character"))
        }
    }
}
