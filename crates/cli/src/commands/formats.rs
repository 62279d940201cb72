//! `ctx formats`: the formats that are known by name.

use clap::Args;
use contexture::{
    formats::{self, KnownFormat},
    wire::FormatDocument,
};

use crate::{
    error::Result,
    output::{Output, Shape},
};

const EXAMPLES: &str = "\
Examples:
  ctx formats
  ctx checkpoint --format my-agent-v1 --head main turn.bin
      other names are stored as they are, and joined byte after byte";

/// Lists the formats that are known by name, and how their parts are joined
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Formats {}

impl Formats {
    pub(crate) fn run(output: &mut Output) -> Result<()> {
        let width = formats::known().iter().map(|format| format.name.len()).max().unwrap_or(0);
        for format in formats::known() {
            match output.shape() {
                Shape::Json => output.document(FormatDocument::from(format))?,
                Shape::Text => {
                    let KnownFormat { name, description, rule, .. } = format;
                    let strong = output.palette.strong;
                    output.line(format_args!("{strong}{name:<width$}{strong:#}  {rule:<10}  {description}"))?;
                }
            }
        }
        Ok(())
    }
}
