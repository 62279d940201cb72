//! `ctx recipe check`: what is wrong with recipes.

use std::path::PathBuf;

use clap::Args;
use contexture::core::ArtifactId;
use contexture_assembly::recipe::{Recipe, RecipeRefusal};
use serde::Serialize;

use crate::{
    error::{Error, Result},
    invocation::Invocation,
    output::{self, Output, Shape},
    recipes::Recipes,
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

/// What was found, as `--json` tells it.
#[derive(Debug, Serialize)]
struct Checked {
    file: String,
    good: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    digest: Option<ArtifactId>,
    mistakes: Vec<Told>,
}

/// A mistake, as `--json` tells it.
#[derive(Debug, Serialize)]
struct Told {
    #[serde(flatten)]
    place: Place,
    problem: String,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Place {
    Whole {},
    Line { line: usize, column: usize },
    Path { path: String },
}

impl Check {
    pub(crate) fn run(self, invocation: &Invocation, output: &mut Output) -> Result<()> {
        let recipes = Recipes::of(invocation)?;
        let checked = self.recipes.len() as u64;
        let mut bad = 0;
        for wanted in &self.recipes {
            let located = recipes.locate(wanted)?;
            let file = located.origin.input().to_string();
            let read = located.read()?;
            bad += u64::from(read.is_err());
            match output.shape() {
                Shape::Json => output.document(document(file, read))?,
                Shape::Text => tell(&output::printable(&file), read, output)?,
            }
        }
        if bad == 0 { Ok(()) } else { Err(Error::BadRecipes { bad, checked }) }
    }
}

fn document(file: String, read: Result<Recipe, RecipeRefusal>) -> Checked {
    match read {
        Ok(recipe) => {
            let digest = Some(recipe.digest());
            Checked { file, good: true, name: Some(recipe.name), digest, mistakes: Vec::new() }
        }
        Err(refusal) => Checked { file, good: false, name: None, digest: None, mistakes: mistakes(refusal) },
    }
}

fn tell(file: &str, read: Result<Recipe, RecipeRefusal>, output: &mut Output) -> Result<()> {
    match read {
        Ok(recipe) => {
            let sources = recipe.segments.iter().map(|segment| segment.sources.len() as u64).sum();
            let segments = output::counted(recipe.segments.len() as u64, "segment");
            let sources = output::counted(sources, "source");
            output.line(format_args!("{file}: good ({}, {segments}, {sources})", recipe.name))
        }
        Err(refusal) => mistakes(refusal).into_iter().try_for_each(|Told { place, problem }| match place {
            Place::Whole {} => output.line(format_args!("{file}: {problem}")),
            Place::Line { line, column } => output.line(format_args!("{file}:{line}:{column}: {problem}")),
            Place::Path { path } => output.line(format_args!("{file}:{path}: {problem}")),
        }),
    }
}

fn mistakes(refusal: RecipeRefusal) -> Vec<Told> {
    let what = refusal.to_string();
    match refusal {
        RecipeRefusal::Mistakes { mistakes } => mistakes
            .into_iter()
            .map(|mistake| Told { place: Place::Path { path: mistake.path }, problem: mistake.problem.to_string() })
            .collect(),
        RecipeRefusal::Utf8(error) => vec![Told { place: Place::Whole {}, problem: format!("{what}: {error}") }],
        RecipeRefusal::Toml(error) => {
            let place = Place::Line { line: error.line, column: error.column };
            vec![Told { place, problem: format!("{what}: {}", error.message) }]
        }
        RecipeRefusal::Json(error) => {
            let (line, column, text) = (error.line(), error.column(), error.to_string());
            let message = text.strip_suffix(&format!(" at line {line} column {column}")).unwrap_or(&text);
            vec![Told { place: Place::Line { line, column }, problem: format!("{what}: {message}") }]
        }
    }
}
