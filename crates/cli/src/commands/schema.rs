//! `ctx schema`: what the documents of `--json` look like.

use clap::{
    Args,
    builder::{PossibleValue, PossibleValuesParser, TypedValueParser},
};
use contexture::wire::{DocumentKind, ListedDocument};

use crate::{
    error::Result,
    output::{Output, Shape},
};

const EXAMPLES: &str = "\
Examples:
  ctx schema
      which documents there are, and which commands print them
  ctx schema shown-commit
      what `ctx show --json` prints
  ctx schema failure --json > failure.schema.json";

/// Prints the JSON schemas of what commands print with --json
///
/// Every document says the version of its shape in `schema`. Fields may be added to a version; what would break a reader
/// is another version.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Schema {
    /// The document; without it, all are listed
    #[arg(value_name = "NAME", value_parser = kind(), hide_possible_values = true)]
    name: Option<&'static DocumentKind>,
}

impl Schema {
    pub(crate) fn run(self, output: &mut Output) -> Result<()> {
        match self.name {
            Some(kind) => show(kind, output),
            None => list(output),
        }
    }
}

fn show(kind: &DocumentKind, output: &mut Output) -> Result<()> {
    let schema = kind.schema();
    let written = match output.shape() {
        Shape::Json => serde_json::to_string(&schema),
        Shape::Text => serde_json::to_string_pretty(&schema),
    };
    output.lines(written.expect("a schema has a JSON form"))
}

fn list(output: &mut Output) -> Result<()> {
    let width = DocumentKind::all().iter().map(|kind| kind.name.len()).max().unwrap_or(0);
    for kind in DocumentKind::all() {
        match output.shape() {
            Shape::Json => output.document(ListedDocument::from(kind))?,
            Shape::Text => {
                let (strong, faint) = (output.palette.strong, output.palette.faint);
                let DocumentKind { name, about, commands, .. } = kind;
                let commands = commands.join(", ");
                output.line(format_args!("{strong}{name:<width$}{strong:#}  {about} {faint}({commands}){faint:#}"))?;
            }
        }
    }
    Ok(())
}

/// Reads the name of a document, and tells shells which there are.
fn kind() -> impl TypedValueParser<Value = &'static DocumentKind> {
    let names = DocumentKind::all().iter().map(|kind| PossibleValue::new(kind.name).help(kind.about));
    PossibleValuesParser::new(names).try_map(|name| DocumentKind::find(&name).ok_or("no document"))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;
    use crate::args;

    #[test]
    fn every_document_names_commands_that_exist() {
        let program = args::Args::command();
        for command in DocumentKind::all().iter().flat_map(|kind| kind.commands).filter(|command| **command != "any") {
            let words = command.split(' ').filter(|word| !word.starts_with('-'));
            words.fold(&program, |found, word| {
                found.find_subcommand(word).unwrap_or_else(|| panic!("there is no command {command}"))
            });
        }
    }
}
