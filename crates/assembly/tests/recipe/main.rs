//! Recipes: what is read, what is refused and in which words, and what is written back.

mod docs;
mod laws;
mod mistakes;
mod reading;
mod strategy;

use contexture_assembly::recipe::{Recipe, Refusal, Syntax};

/// Reads a recipe that must be good.
fn read(syntax: Syntax, text: &str) -> Recipe {
    Recipe::parse(syntax, text.as_bytes(), "file").unwrap_or_else(|refusal| panic!("{}", told(&refusal).join("\n")))
}

/// Returns what is said about a recipe that must not be good.
fn refused(syntax: Syntax, text: &str) -> Vec<String> {
    told(&Recipe::parse(syntax, text.as_bytes(), "file").expect_err("it has mistakes"))
}

fn told(refusal: &Refusal) -> Vec<String> {
    match refusal {
        Refusal::Mistakes { mistakes } => mistakes.iter().map(ToString::to_string).collect(),
        Refusal::Utf8(error) => vec![refusal.to_string(), error.to_string()],
        Refusal::Toml(error) => vec![refusal.to_string(), error.to_string()],
        Refusal::Json(error) => vec![refusal.to_string(), error.to_string()],
    }
}
