//! `ctx check`: are these records of the Agent Context standard, and what are they good for?

use clap::{
    Args,
    builder::{PossibleValue, PossibleValuesParser, TypedValueParser},
};
use contexture::wire::CheckedRecords;
use contexture_assembly::check::{self, CheckReport, Fault, Level, Strictness};

use crate::{
    error::{Error, Result},
    input::Input,
    output::{self, Output, Shape},
};

/// Largest file that is read.
const MAX_FILE_MEBIBYTES: u64 = 64;
/// How many faults of a level a person is shown.
const MAX_SHOWN: usize = 20;

const EXAMPLES: &str = "\
Examples:
  ctx check export.json
      says which level the records reach, and what stands against each level above
  ctx check export.json --level L3
      the same, and exits with 0 only when all of it can be replayed
  ctx check records.jsonl --strict --json
      one document with every fault

Levels:
  L0  readable    every record has the fields and types that the standard demands
  L1  turn trace  every step of a turn is there, and everything that a record names
  L2  lifecycle   an event for every change; nothing replaced, redacted or changed in silence
  L3  replayable  what was sent can be made again from the file, byte for byte";

/// Checks records of the Agent Context standard and says which level they reach
///
/// FILE is one record, a JSON array of records, records one a line, or an export with the contents that its records
/// name. Every fault is named by its place. The exit code is 1 when the records do not reach L0, or the level that
/// --level demands.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Check {
    /// The file to check
    #[arg(value_name = "FILE", value_parser = Input::parser())]
    file: Input,
    /// The level that must be reached
    #[arg(long, value_name = "LEVEL", default_value = "L0", value_parser = level())]
    level: Level,
    /// Counts what the standard only recommends: its words, its fields, and those that should be there
    #[arg(long)]
    strict: bool,
}

impl Check {
    pub(crate) fn run(self, output: &mut Output) -> Result<()> {
        let Self { file, level: demanded, strict } = self;
        let Some(bytes) = file.read_up_to(MAX_FILE_MEBIBYTES * 1024 * 1024)? else {
            return Err(Error::LargeRecords { input: file, max_mebibytes: MAX_FILE_MEBIBYTES });
        };
        let report = check::check(&bytes, if strict { Strictness::Recommended } else { Strictness::Demanded });
        match output.shape() {
            Shape::Json => output.document(CheckedRecords::of(&report, demanded, strict))?,
            Shape::Text => tell_person(&report, output)?,
        }
        if report.level < Some(demanded) {
            return Err(Error::BelowLevel { input: file, demanded });
        }
        Ok(())
    }
}

fn tell_person(report: &CheckReport, output: &mut Output) -> Result<()> {
    let strong = output.palette.strong;
    let reached = report.level.map_or("not readable".to_owned(), |level| format!("{level} {}", level.name()));
    let records = match report.records.values().sum() {
        0 => "no record".to_owned(),
        records => {
            let kinds = output::counted(report.records.len() as u64, "kind");
            format!("{} of {kinds}", output::counted(records, "record"))
        }
    };
    output.line(format_args!("{strong}{reached}{strong:#}: {records}"))?;
    for level in Level::ALL {
        let faults: Vec<_> = report.faults.iter().filter(|fault| fault.level == *level).collect();
        if !faults.is_empty() {
            let count = output::counted(faults.len() as u64, "fault");
            output.line("")?;
            output.line(format_args!("{strong}{level} {}{strong:#}: {count}", level.name()))?;
            list(&faults, output)?;
        }
    }
    if !report.notes.is_empty() {
        let count = output::counted(report.notes.len() as u64, "note");
        output.line("")?;
        output.line(format_args!("{count}, which --strict counts as faults"))?;
        list(&report.notes.iter().collect::<Vec<_>>(), output)?;
    }
    if report.left_out > 0 {
        output.line("")?;
        output.line(format_args!("{} more were found.", output::count(report.left_out)))?;
    }
    Ok(())
}

fn list(faults: &[&Fault], output: &mut Output) -> Result<()> {
    let id = output.palette.id;
    for fault in faults.iter().take(MAX_SHOWN) {
        let path = output::printable(&fault.path).into_owned();
        let problem = output::printable(&fault.problem.to_string()).replace('\n', " ");
        output.line(format_args!("  {id}{path}{id:#}: {problem}"))?;
    }
    match faults.len().saturating_sub(MAX_SHOWN) {
        0 => Ok(()),
        more => output.line(format_args!("  and {} more; --json lists them", output::count(more as u64))),
    }
}

/// Reads a level, with or without its letter.
fn level() -> impl TypedValueParser<Value = Level> {
    let values = Level::ALL.iter().map(|level| {
        let word = level.as_str();
        PossibleValue::new(word).alias(word.trim_start_matches('L'))
    });
    PossibleValuesParser::new(values).try_map(|text| format!("L{}", text.trim_start_matches('L')).parse::<Level>())
}
