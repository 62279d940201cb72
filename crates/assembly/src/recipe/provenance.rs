//! Where a recipe comes from, which decides how far the files that it names are read.

use contexture_core::vocabulary;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where a recipe comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "origin", rename_all = "kebab-case")]
pub enum RecipeProvenance {
    /// The project's: whoever wrote the project wrote it.
    Project {
        /// Its file.
        path: String,
        /// What the user says of it.
        trust: RecipeTrust,
    },
    /// The user's.
    User {
        /// Its file.
        path: String,
    },
    /// The program's.
    BuiltIn,
    /// A person handed it over.
    Given {
        /// Its file, if it is in one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        path: Option<String>,
    },
}

vocabulary! {
    /// What the user says of a recipe of a project.
    RecipeTrust {
        /// It is trusted as it is.
        Trusted = "trusted",
        /// It was named by the path of its file, which is enough to use it.
        Named = "named",
        /// It is not what was trusted.
        Changed = "changed",
        /// Nothing.
        Untrusted = "untrusted",
    }
}

/// Who names a file, and so where it may lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileNamer {
    /// The project: only inside it, whoever may read what lies outside.
    Project,
    /// A person: anywhere.
    Person,
}

impl RecipeProvenance {
    /// Tells who names the files that the recipe names. Those of the program are names that a project gives its files.
    pub fn file_namer(&self) -> FileNamer {
        match self {
            Self::Project { .. } | Self::BuiltIn => FileNamer::Project,
            Self::User { .. } | Self::Given { .. } => FileNamer::Person,
        }
    }

    /// Returns the path of its file, if it is in one.
    pub fn path(&self) -> Option<&str> {
        match self {
            Self::Project { path, .. } | Self::User { path } | Self::Given { path: Some(path) } => Some(path),
            Self::BuiltIn | Self::Given { path: None } => None,
        }
    }

    /// Returns what the user says of it; nothing where nobody has to.
    pub fn trust(&self) -> Option<RecipeTrust> {
        match self {
            Self::Project { trust, .. } => Some(*trust),
            Self::User { .. } | Self::BuiltIn | Self::Given { .. } => None,
        }
    }
}
