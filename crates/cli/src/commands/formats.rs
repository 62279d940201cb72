//! `ctx formats`: the formats that are known by name.

use clap::Args;
use contexture::formats::{self, KnownFormat};
use serde::Serialize;

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

/// A format, as `--json` tells it.
#[derive(Debug, Serialize)]
struct Listed {
    name: &'static str,
    description: &'static str,
    joined_as: String,
}

impl Formats {
    pub(crate) fn run(output: &mut Output) -> Result<()> {
        let width = formats::known().iter().map(|format| format.name.len()).max().unwrap_or(0);
        for KnownFormat { name, description, rule } in formats::known() {
            match output.shape() {
                Shape::Json => output.document(Listed { name, description, joined_as: rule.to_string() })?,
                Shape::Text => {
                    let strong = output.palette.strong;
                    output.line(format_args!("{strong}{name:<width$}{strong:#}  {rule:<10}  {description}"))?;
                }
            }
        }
        Ok(())
    }
}
