//! `ctx recipe list`: which recipes there are, and where they come from.

use std::path::Path;

use clap::Args;
use contexture::wire::{ListedRecipe, RecipeOrigin, RecipeProvenance, RecipeSummary};
use unicode_width::UnicodeWidthStr as _;

use crate::{
    error::Result,
    invocation::Invocation,
    output::{self, Output, Shape},
    recipes::{Located, Origin, Recipes},
};

const EXAMPLES: &str = "\
Examples:
  ctx recipe list
  ctx recipe list --json | jq -r 'select(.origin == \"project\").name'";

/// Lists the recipes that are found by name, and where they come from
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct List {}

impl List {
    pub(crate) fn run(invocation: &Invocation, output: &mut Output) -> Result<()> {
        let located = Recipes::of(invocation)?.list()?;
        if output.shape() == Shape::Json {
            for located in located {
                let (summary, provenance) = (summary(&located), provenance(&located.origin));
                output.document(ListedRecipe { name: located.name, provenance, summary })?;
            }
            return Ok(());
        }
        let name_width = located.iter().map(|located| located.name.width()).max().unwrap_or(0);
        let origins: Vec<_> = located.iter().map(|located| origin_text(&located.origin)).collect();
        let origin_width = origins.iter().map(|origin| origin.width()).max().unwrap_or(0);
        for (located, origin) in located.iter().zip(origins) {
            let name_pad = " ".repeat(name_width - located.name.width());
            let origin_pad = " ".repeat(origin_width - origin.width());
            let strong = output.palette.strong;
            let about = match summary(located) {
                RecipeSummary::Good { description, .. } => output::first_line(&description).into_owned(),
                RecipeSummary::Bad { error } => format!("not good: {error}"),
            };
            let line = format!(
                "{strong}{}{strong:#}{name_pad}  {}{origin_pad}  {about}",
                output::printable(&located.name),
                output::printable(&origin)
            );
            output.line(line.trim_end())?;
        }
        Ok(())
    }
}

/// Reads a recipe; one that is not good is listed too.
fn summary(located: &Located) -> RecipeSummary {
    match located.read() {
        Ok(Ok(recipe)) => RecipeSummary::Good { digest: recipe.digest(), description: recipe.description },
        Ok(Err(refusal)) => RecipeSummary::Bad { error: refusal.to_string() },
        Err(error) => RecipeSummary::Bad { error: error.to_string() },
    }
}

/// Says where a recipe comes from.
pub(super) fn provenance(origin: &Origin) -> RecipeProvenance {
    let path = origin.path().map(|path| path.display().to_string());
    let origin = match origin {
        Origin::Project(_) => RecipeOrigin::Project,
        Origin::User(_) => RecipeOrigin::User,
        Origin::BuiltIn(_) => RecipeOrigin::BuiltIn,
        Origin::Given(_) => RecipeOrigin::Given,
    };
    RecipeProvenance { origin, path }
}

/// Tells a person where a recipe comes from.
pub(super) fn origin_text(origin: &Origin) -> String {
    match origin.path().map(Path::display) {
        Some(path) => path.to_string(),
        None if matches!(origin, Origin::BuiltIn(_)) => "built in".to_owned(),
        None => "standard input".to_owned(),
    }
}
