//! The recipes that come with the program.

use super::{Recipe, Syntax};

/// A recipe that comes with the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BuiltIn {
    /// What it is called.
    pub name: &'static str,
    /// Its text, in TOML.
    pub text: &'static str,
}

const BUILT_IN: [BuiltIn; 3] = [
    BuiltIn { name: "prompt", text: include_str!("built_in/prompt.toml") },
    BuiltIn { name: "resume", text: include_str!("built_in/resume.toml") },
    BuiltIn { name: "review", text: include_str!("built_in/review.toml") },
];

/// Lists the recipes that come with the program, by name.
pub fn built_in() -> [BuiltIn; 3] {
    BUILT_IN
}

impl BuiltIn {
    /// Reads it.
    pub fn recipe(self) -> Recipe {
        Recipe::parse(Syntax::Toml, self.text.as_bytes(), self.name).expect("a test reads every one of them")
    }
}
