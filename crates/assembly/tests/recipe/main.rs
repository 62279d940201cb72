//! Recipes: what is read, what is refused and in which words, and what is written back.

mod docs;
mod laws;
mod mistakes;
mod reading;
mod strategy;

use contexture_assembly::recipe::{Recipe, RecipeRefusal, Syntax};

/// Reads a recipe that must be good.
fn read(syntax: Syntax, text: &str) -> Recipe {
    Recipe::parse(syntax, text.as_bytes(), "file").unwrap_or_else(|refusal| panic!("{}", lines_of(&refusal).join("\n")))
}

/// Returns what is said about a recipe that must not be good.
fn refused(syntax: Syntax, text: &str) -> Vec<String> {
    lines_of(&Recipe::parse(syntax, text.as_bytes(), "file").expect_err("it has mistakes"))
}

fn lines_of(refusal: &RecipeRefusal) -> Vec<String> {
    match refusal {
        RecipeRefusal::Mistakes { mistakes } => mistakes.iter().map(ToString::to_string).collect(),
        RecipeRefusal::Utf8(error) => vec![refusal.to_string(), error.to_string()],
        RecipeRefusal::Toml(error) => vec![refusal.to_string(), error.to_string()],
        RecipeRefusal::Json(error) => vec![refusal.to_string(), error.to_string()],
    }
}
