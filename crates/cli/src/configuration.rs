//! The user's configuration, `config.toml` where the user keeps settings.

use std::path::Path;

use serde::Deserialize;

use crate::{
    error::{Error, Result},
    private_file::PrivateFile,
};

/// What the file is called.
pub(crate) const FILE: &str = "config.toml";

/// What it may say. It has no text form, because it may hold a password.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Configuration {
    /// Where the store is, when nobody says.
    pub(crate) store: Option<String>,
}

impl Configuration {
    /// Reads the file in a directory. Where there is none, nothing is said.
    pub(crate) fn read(directory: &Path) -> Result<Option<(PrivateFile, Self)>> {
        let path = directory.join(FILE);
        let Some((file, text)) = PrivateFile::read(&path)? else { return Ok(None) };
        // What the parser says may hold a part of the file.
        let wrong = |error: toml::de::Error| {
            let line = error.span().map_or(1, |span| text[..span.start.min(text.len())].matches('\n').count() + 1);
            Error::Configuration { path: path.clone(), line }
        };
        let configuration = toml::from_str(&text).map_err(wrong)?;
        file.demand_authorship()?;
        Ok(Some((file, configuration)))
    }
}
