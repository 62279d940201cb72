//! `ctx assemble`: what goes into a prompt, and why the rest does not.

use std::ffi::OsStr;

use clap::{
    Arg, Args, Command,
    builder::{PossibleValue, StringValueParser, TypedValueParser},
};
use contexture_assembly::{
    Candidate, Decision, Inclusion, Limits, Measured, Omission, Outcome, Shortening, TokenCount, TokenCounter, counter,
    counters,
    packs::{self, Assembled, Request},
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

const EXAMPLES: &str = r#"Examples:
  ctx assemble --packs packs.json
      shows what is in with how many tokens, and what is out and why
  ctx assemble --packs - --json < packs.json
      prints the prompt and every decision

Packs:
  {
    "maxTokens": 1000,
    "maxChars": 20000,
    "packs": [
      {"id": "task", "priority": "required", "full": "Fix the test.\n"},
      {"id": "log", "priority": "low", "full": "...", "compact": "2 tests failed.\n"}
    ]
  }
  priority  required, high, medium (if not given) or low; "required": true overrules it
  order     place in the prompt (if not given: the place in the list)
  preserve  true for what is cut last
  Without maxTokens there is no budget. maxChars is 500000 if not given; it counts UTF-16 code units and always
  holds: optional packs become compact or go, then required ones are cut."#;

/// Chooses what goes into a prompt under a budget
///
/// Required packs come first, the others by priority and order: in full where that fits, else compact, else not at all.
/// With --json the output is the prompt and a decision about each pack.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Assemble {
    /// The packs to choose from, as JSON
    #[arg(long, value_name = "FILE", value_parser = Input::parser())]
    packs: Input,
    /// How tokens are counted
    #[arg(long, value_name = "NAME", default_value = "chars4", value_parser = CounterName)]
    counter: &'static dyn TokenCounter,
}

impl Assemble {
    pub(crate) fn run(self, output: &mut Output) -> Result<()> {
        let Self { packs: input, counter } = self;
        let Some(json) = input.read_up_to(MAX_REQUEST_MEBIBYTES * 1024 * 1024)? else {
            return Err(Error::LargePacks { input, max_mebibytes: MAX_REQUEST_MEBIBYTES });
        };
        let request = Request::parse(counter, &json).map_err(|source| Error::Packs { input, source })?;
        let assembled = packs::assemble(counter, &request);
        match output.shape() {
            Shape::Json => {
                output.line(serde_json::to_string(&assembled.report()).expect("texts and numbers have a JSON form"))
            }
            Shape::Text => tell_person(&assembled, request.limits, counter, output),
        }
    }
}

fn tell_person(assembled: &Assembled, limits: Limits, counter: &dyn TokenCounter, output: &mut Output) -> Result<()> {
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
            Outcome::Included(inclusion) => inside.push(format!("{start}  {}", included(inclusion))),
            Outcome::Omitted(omission) => outside.push(format!("{start}  {}", omitted(candidate, *omission, limits))),
        }
    }
    for (title, lines) in [("In", inside), ("Out", outside)] {
        if !lines.is_empty() {
            let strong = output.palette.strong;
            output.line(format_args!("\n{strong}{title}{strong:#}"))?;
            lines.iter().try_for_each(|line| output.line(line))?;
        }
    }
    Ok(())
}

/// Tells how full the budget is.
fn budget(assembled: &Assembled) -> String {
    let tokens = assembled.tokens.get();
    let Some(max) = assembled.max_tokens.map(TokenCount::get) else {
        return format!("{}, no budget", output::counted(tokens, "token"));
    };
    // A budget of nothing has an empty bar until something exceeds it.
    let filled = u128::from(tokens) * BAR_CELLS as u128 / u128::from(max.max(1));
    let filled = usize::try_from(filled).unwrap_or(BAR_CELLS).min(BAR_CELLS);
    let bar = format!("[{}{}]", "█".repeat(filled), "·".repeat(BAR_CELLS - filled));
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
        Omission::Budget { left } => {
            format!("needs {}; {} left", needs(|text| text.tokens().get(), "token"), output::count(left.get()))
        }
        Omission::Summarized => "a summary stands for it".to_owned(),
        Omission::Needless => "what it sums up is in".to_owned(),
        Omission::MaxChars => {
            let max_chars = output::count(limits.max_chars.get());
            format!("needs {}; no room in {max_chars}", needs(|text| text.chars().get(), "character"))
        }
    }
}

/// Reads the name of a counter, and tells shells and help texts which there are.
#[derive(Debug, Clone, Copy)]
struct CounterName;

impl TypedValueParser for CounterName {
    type Value = &'static dyn TokenCounter;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<Self::Value, clap::Error> {
        StringValueParser::new().try_map(|name| counter(&name)).parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(counters().iter().map(|counter| PossibleValue::new(counter.name()))))
    }
}
