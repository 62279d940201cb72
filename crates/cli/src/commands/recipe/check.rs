//! `ctx recipe check`: what is wrong with recipes.

use std::path::PathBuf;

use clap::Args;
use contexture::wire::{CheckedRecipe, MistakePlace, RecipeMistake};
use contexture_assembly::recipe::{Recipe, RecipeProvenance, RecipeRefusal};

use crate::{
    error::{Error, Result},
    invocation::Invocation,
    output::{self, Output, Shape},
    recipes::{self, FoundRecipe, Recipes},
};

const EXAMPLES: &str = "\
Examples:
  ctx recipe check recipe.toml
  ctx recipe check .ctx/recipes/*
  ctx recipe check - < agent.json";

/// Checks recipes and says everything that is wrong with them
///
/// Each mistake is a line: the file, where in it, and what is wrong. Exits with 1 when there are any.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Check {
    /// The recipes: their files, or names; `-` is standard input
    #[arg(value_name = "FILE", required = true)]
    recipes: Vec<PathBuf>,
}

impl Check {
    pub(crate) fn run(self, invocation: &Invocation, output: &mut Output) -> Result<()> {
        let recipes = Recipes::of(invocation)?;
        let checked = self.recipes.len() as u64;
        let mut bad = 0;
        for wanted in &self.recipes {
            let FoundRecipe { provenance, input, content, .. } = recipes.find(wanted, output)?;
            let (file, read) = (input.to_string(), content?);
            bad += u64::from(read.is_err());
            match output.shape() {
                Shape::Json => output.document(CheckedRecipe::of(file, provenance, read))?,
                Shape::Text => tell(&output::printable(&file), &provenance, read, output)?,
            }
        }
        if bad == 0 { Ok(()) } else { Err(Error::BadRecipes { bad, checked }) }
    }
}

fn tell(
    file: &str,
    provenance: &RecipeProvenance,
    read: Result<Recipe, RecipeRefusal>,
    output: &mut Output,
) -> Result<()> {
    match read {
        Ok(recipe) => {
            let sources = recipe.segments.iter().map(|segment| segment.sources.len() as u64).sum();
            let segments = output::counted(recipe.segments.len() as u64, "segment");
            let sources = output::counted(sources, "source");
            let (name, digest) = (&recipe.name, recipe.digest().short());
            let trust =
                provenance.trust().map_or_else(String::new, |trust| format!(", {}", recipes::trust_text(trust)));
            output.line(format_args!("{file}: good ({name}, {segments}, {sources}, {digest}{trust})"))
        }
        Err(refusal) => {
            RecipeMistake::all_of(refusal).into_iter().try_for_each(|RecipeMistake { place, problem }| match place {
                MistakePlace::Whole {} => output.line(format_args!("{file}: {problem}")),
                MistakePlace::Line { line, column } => output.line(format_args!("{file}:{line}:{column}: {problem}")),
                MistakePlace::Path { path } => output.line(format_args!("{file}:{path}: {problem}")),
            })
        }
    }
}
