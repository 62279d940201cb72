//! Recipes as programs read them.

use contexture_assembly::recipe::{Recipe, RecipeProvenance, RecipeRefusal};
use contexture_core::{ArtifactId, vocabulary};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A recipe that is found by name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ListedRecipe {
    /// Its name.
    pub name: String,
    /// Where it comes from.
    #[serde(flatten)]
    pub provenance: RecipeProvenance,
    /// What it says.
    #[serde(flatten)]
    pub summary: RecipeSummary,
}

/// A recipe with all that holds in it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ShownRecipe {
    /// Where it comes from.
    #[serde(flatten)]
    pub provenance: RecipeProvenance,
    /// The digest of its canonical JSON.
    pub digest: ArtifactId,
    /// The recipe.
    pub recipe: Recipe,
}

/// What is wrong with a recipe.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CheckedRecipe {
    /// What was read, as it was named.
    pub file: String,
    /// Where it comes from.
    #[serde(flatten)]
    pub provenance: RecipeProvenance,
    /// Whether it can be used.
    pub good: bool,
    /// Its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The digest of its canonical JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<ArtifactId>,
    /// What is wrong with it.
    pub mistakes: Vec<RecipeMistake>,
}

/// A recipe of a project that is trusted, or could be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TrustedRecipe {
    /// The top of the project.
    pub project: String,
    /// Its file, from there.
    pub path: String,
    /// The digest of its canonical JSON.
    pub digest: ArtifactId,
    /// What becomes of it.
    pub state: TrustState,
    /// What it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The files that it names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files: Option<Vec<String>>,
}

vocabulary! {
    /// How a recipe of a project stands with the user.
    TrustState {
        /// It is what was trusted.
        Trusted = "trusted",
        /// It was never trusted.
        New = "new",
        /// It is not what was trusted.
        Changed = "changed",
        /// There is no such file any more.
        Gone = "gone",
        /// It is not trusted any more.
        Revoked = "revoked",
    }
}

/// What a recipe is for, or why it cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum RecipeSummary {
    /// It can be used.
    Good {
        /// What it is for.
        description: String,
        /// The digest of its canonical JSON.
        digest: ArtifactId,
    },
    /// It cannot.
    Bad {
        /// Why.
        error: String,
    },
}

/// Something that is wrong with a recipe.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RecipeMistake {
    /// Where.
    #[serde(flatten)]
    pub place: MistakePlace,
    /// What.
    pub problem: String,
}

/// Where something is wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum MistakePlace {
    /// In the text.
    Line {
        /// The line, from 1.
        line: usize,
        /// The character of the line, from 1.
        column: usize,
    },
    /// In what it says.
    Path {
        /// The field, such as `segments[0].name`.
        path: String,
    },
    /// Everywhere.
    Whole {},
}

impl CheckedRecipe {
    /// Tells what came of reading a recipe.
    pub fn of(file: String, provenance: RecipeProvenance, read: Result<Recipe, RecipeRefusal>) -> Self {
        match read {
            Ok(recipe) => {
                let digest = Some(recipe.digest());
                Self { file, provenance, good: true, name: Some(recipe.name), digest, mistakes: Vec::new() }
            }
            Err(refusal) => {
                let mistakes = RecipeMistake::all_of(refusal);
                Self { file, provenance, good: false, name: None, digest: None, mistakes }
            }
        }
    }
}

impl RecipeMistake {
    /// Tells the mistakes of a recipe one by one.
    pub fn all_of(refusal: RecipeRefusal) -> Vec<Self> {
        let what = refusal.to_string();
        match refusal {
            RecipeRefusal::Mistakes { mistakes } => mistakes
                .into_iter()
                .map(|mistake| Self {
                    place: MistakePlace::Path { path: mistake.path },
                    problem: mistake.problem.to_string(),
                })
                .collect(),
            RecipeRefusal::Utf8(error) => {
                vec![Self { place: MistakePlace::Whole {}, problem: format!("{what}: {error}") }]
            }
            RecipeRefusal::Toml(error) => {
                let place = MistakePlace::Line { line: error.line, column: error.column };
                vec![Self { place, problem: format!("{what}: {}", error.message) }]
            }
            RecipeRefusal::Json(error) => {
                let (line, column, text) = (error.line(), error.column(), error.to_string());
                let message = text.strip_suffix(&format!(" at line {line} column {column}")).unwrap_or(&text);
                vec![Self { place: MistakePlace::Line { line, column }, problem: format!("{what}: {message}") }]
            }
        }
    }
}
