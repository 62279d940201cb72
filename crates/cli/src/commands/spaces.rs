//! `ctx spaces`: the tenants of the store.

use clap::Args;

use crate::{
    error::Result,
    invocation::Invocation,
    output::{self, Output, Shape},
};

const EXAMPLES: &str = "\
Examples:
  ctx spaces
  ctx --space team-b log
      a space comes to be when something is written to it";

/// Lists the spaces of the store: tenants that see nothing of each other
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Spaces {}

impl Spaces {
    pub(crate) async fn run(self, invocation: &Invocation, output: &mut Output) -> Result<()> {
        let engine = invocation.open().await?;
        let spaces = engine.spaces().await?;
        let width = spaces.iter().map(|space| space.name.as_str().len()).max().unwrap_or(0);
        for space in spaces {
            if output.shape() == Shape::Json {
                output.document(space)?;
                continue;
            }
            let (strong, faint) = (output.palette.strong, output.palette.faint);
            let made = output::relative(engine.now(), space.created_at);
            let name = space.name.as_str();
            output.line(format_args!("{strong}{name:<width$}{strong:#}  {faint}made {made}{faint:#}"))?;
        }
        Ok(())
    }
}
