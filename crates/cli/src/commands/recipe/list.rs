//! `ctx recipe list`: which recipes there are, and where they come from.

use clap::Args;
use contexture::wire::{ListedRecipe, RecipeSummary};
use contexture_assembly::recipe::{Recipe, RecipeRefusal};
use unicode_width::UnicodeWidthStr as _;

use crate::{
    error::Result,
    invocation::Invocation,
    output::{self, Output, Shape},
    recipes::{self, FoundRecipe, Recipes},
};

/// Columns of a short digest.
const DIGEST_COLUMNS: usize = 14;

const EXAMPLES: &str = "\
Examples:
  ctx recipe list
  ctx recipe list --json | jq -r 'select(.origin == \"project\").name'";

/// Lists the recipes that are found by name, and where they come from
///
/// A recipe of the project that nobody trusts does not count; the one that counts instead comes after it.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct List {}

impl List {
    pub(crate) fn run(invocation: &Invocation, output: &mut Output) -> Result<()> {
        let found = Recipes::of(invocation)?.list(output)?;
        if output.shape() == Shape::Json {
            for FoundRecipe { name, provenance, content, .. } in found {
                output.document(ListedRecipe { name, provenance, summary: summary(content) })?;
            }
            return Ok(());
        }
        let name_width = found.iter().map(|found| found.name.width()).max().unwrap_or(0);
        let origins: Vec<_> = found.iter().map(|found| recipes::origin_text(&found.provenance)).collect();
        let origin_width = origins.iter().map(|origin| origin.width()).max().unwrap_or(0);
        for (FoundRecipe { name, content, .. }, origin) in found.into_iter().zip(origins) {
            let name_pad = " ".repeat(name_width - name.width());
            let origin_pad = " ".repeat(origin_width - origin.width());
            let strong = output.palette.strong;
            let (digest, about) = match summary(content) {
                RecipeSummary::Good { description, digest } => {
                    (digest.short(), output::first_line(&description).into_owned())
                }
                RecipeSummary::Bad { error } => (String::new(), format!("not good: {error}")),
            };
            let line = format!(
                "{strong}{}{strong:#}{name_pad}  {origin}{origin_pad}  {digest:<DIGEST_COLUMNS$}  {about}",
                output::printable(&name),
            );
            output.line(line.trim_end())?;
        }
        Ok(())
    }
}

/// Tells what a recipe says; one that is not good is listed too.
fn summary(content: Result<Result<Recipe, RecipeRefusal>>) -> RecipeSummary {
    match content {
        Ok(Ok(recipe)) => RecipeSummary::Good { digest: recipe.digest(), description: recipe.description },
        Ok(Err(refusal)) => RecipeSummary::Bad { error: refusal.to_string() },
        Err(error) => RecipeSummary::Bad { error: error.to_string() },
    }
}
