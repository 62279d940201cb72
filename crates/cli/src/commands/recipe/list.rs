//! `ctx recipe list`: which recipes there are, and where they come from.

use std::path::Path;

use clap::Args;
use contexture::core::ArtifactId;
use serde::Serialize;
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

/// A recipe, as `--json` tells it.
#[derive(Debug, Serialize)]
struct Listed {
    name: String,
    #[serde(flatten)]
    provenance: Provenance,
    #[serde(flatten)]
    content: Content,
}

/// Where a recipe comes from, as `--json` tells it.
#[derive(Debug, Serialize)]
pub(super) struct Provenance {
    origin: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Content {
    Good { description: String, digest: ArtifactId },
    Bad { error: String },
}

impl List {
    pub(crate) fn run(invocation: &Invocation, output: &mut Output) -> Result<()> {
        let located = Recipes::of(invocation)?.list()?;
        if output.shape() == Shape::Json {
            for located in located {
                let (content, provenance) = (Content::of(&located), Provenance::of(&located.origin));
                output.document(Listed { name: located.name, provenance, content })?;
            }
            return Ok(());
        }
        let name_width = located.iter().map(|located| located.name.width()).max().unwrap_or(0);
        let origins: Vec<_> = located.iter().map(|located| told(&located.origin)).collect();
        let origin_width = origins.iter().map(|origin| origin.width()).max().unwrap_or(0);
        for (located, origin) in located.iter().zip(origins) {
            let name_pad = " ".repeat(name_width - located.name.width());
            let origin_pad = " ".repeat(origin_width - origin.width());
            let strong = output.palette.strong;
            let about = match Content::of(located) {
                Content::Good { description, .. } => output::first_line(&description).into_owned(),
                Content::Bad { error } => format!("not good: {error}"),
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

impl Content {
    /// Reads a recipe; one that is not good is listed too.
    fn of(located: &Located) -> Self {
        match located.read() {
            Ok(Ok(recipe)) => Self::Good { digest: recipe.digest(), description: recipe.description },
            Ok(Err(refusal)) => Self::Bad { error: refusal.to_string() },
            Err(error) => Self::Bad { error: error.to_string() },
        }
    }
}

impl Provenance {
    pub(super) fn of(origin: &Origin) -> Self {
        let word = match origin {
            Origin::Project(_) => "project",
            Origin::User(_) => "user",
            Origin::BuiltIn(_) => "built-in",
            Origin::Given(_) => "given",
        };
        Self { origin: word, path: origin.path().map(|path| path.display().to_string()) }
    }
}

/// Tells a person where a recipe comes from.
pub(super) fn told(origin: &Origin) -> String {
    match origin.path().map(Path::display) {
        Some(path) => path.to_string(),
        None if matches!(origin, Origin::BuiltIn(_)) => "built in".to_owned(),
        None => "standard input".to_owned(),
    }
}
