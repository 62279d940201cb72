//! `ctx recipe show`: a recipe with all that holds in it.

use std::path::PathBuf;

use clap::Args;
use contexture::wire::ShownRecipe;

use crate::{
    error::{Error, Result},
    invocation::Invocation,
    output::{Output, Shape},
    recipes::{self, Recipes},
};

const EXAMPLES: &str = "\
Examples:
  ctx recipe show review
  ctx recipe show agent.json > recipe.toml
      writes a contextStrategy as a recipe
  ctx recipe show review --json | jq .recipe.budget";

/// Shows a recipe as TOML, with what holds where it says nothing
///
/// What is printed is read as the same recipe. With --json it comes with its digest and with where it lies.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Show {
    /// The recipe: its name, or its file; `-` is standard input
    #[arg(value_name = "NAME|FILE")]
    recipe: PathBuf,
}

impl Show {
    pub(crate) fn run(self, invocation: &Invocation, output: &mut Output) -> Result<()> {
        let (provenance, recipe) = Recipes::of(invocation)?.find(&self.recipe, output)?.recipe()?;
        match output.shape() {
            Shape::Json => output.document(ShownRecipe { provenance, digest: recipe.digest(), recipe }),
            Shape::Text => {
                let origin = recipes::origin_text(&provenance);
                output.remark(format_args!("From {origin}, {}.", recipe.digest().short()));
                let toml = recipe.to_toml().expect("numbers of a recipe that was read fit into TOML");
                writeln!(output.data(), "{}", toml.trim_end()).map_err(Error::Stdout)
            }
        }
    }
}
