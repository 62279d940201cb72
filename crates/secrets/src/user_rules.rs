//! Rules and allow lists of users, in TOML.

mod read;

use crate::{Alphabet, RuleId, RuleIdError};

/// What users add to the table and take from it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UserRules {
    /// Secrets of their own.
    pub rules: Vec<UserRule>,
    /// What is no secret for them.
    pub allow: AllowList,
}

/// A kind of secret that a user describes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserRule {
    /// What findings call it.
    pub id: RuleId,
    /// What it starts with, or what the name contains that it is assigned to.
    pub mark: Mark,
    /// What it, or what follows the prefix, is made of.
    pub alphabet: Alphabet,
    /// The least and greatest number of such characters.
    pub length: (usize, usize),
}

/// How a secret of a user is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mark {
    /// It starts with this.
    Prefix(String),
    /// It is assigned to a name that contains one of these, in small letters without `_` and `-`.
    Keywords(Vec<String>),
}

/// What is no secret although it looks like one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AllowList {
    /// Whole values.
    pub values: Vec<String>,
    /// Starts of values.
    pub prefixes: Vec<String>,
    /// Rules that find nothing.
    pub rules: Vec<RuleId>,
}

/// Lists what is wrong with rules, all of it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
pub struct RuleMistakes(pub Vec<RuleMistake>);

/// Something in rules that is not what it should be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {problem}")]
pub struct RuleMistake {
    /// Where it is; the first line is 1.
    pub line: usize,
    /// What is wrong there.
    pub problem: RuleProblem,
}

/// What is wrong with a part of some rules.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RuleProblem {
    /// The document is no TOML.
    #[error("this is not TOML: {message}")]
    Toml {
        /// What the reader says.
        message: String,
    },
    /// Nothing is known by that name.
    #[error("nothing is known by the name {name:?}; there are {known}")]
    Unknown {
        /// The name.
        name: String,
        /// What is known.
        known: String,
    },
    /// It must be there.
    #[error("the rule has no {field:?}")]
    Missing {
        /// What is.
        field: &'static str,
    },
    /// It is something else.
    #[error("{field:?} must be {expected}")]
    Type {
        /// What it is.
        field: String,
        /// What belongs there.
        expected: &'static str,
    },
    /// It names nothing.
    #[error(transparent)]
    Id(#[from] RuleIdError),
    /// Another rule has that id.
    #[error("there is a rule {id} already")]
    Taken {
        /// The id.
        id: RuleId,
    },
    /// A prefix cannot be searched for.
    #[error("a prefix has three to 64 letters, digits, `_`, `-` and `.`")]
    Prefix,
    /// Keywords cannot be searched for.
    #[error("a keyword has four to 40 letters and digits")]
    Keyword,
    /// A rule needs one of both.
    #[error("a rule has either a prefix or keywords")]
    Mark,
    /// The shortest secret would be too short, or the longest too long.
    #[error(
        "a secret has at least {} characters and at most {}, prefix included",
        UserRule::SHORTEST,
        UserRule::LONGEST
    )]
    Length,
    /// Nothing would be found any more.
    #[error("an allowed prefix has at least four characters")]
    AllowedPrefix,
}

impl UserRule {
    /// Fewest characters of a secret.
    pub const SHORTEST: usize = 16;
    /// Most characters of a secret.
    pub const LONGEST: usize = 2048;
}

impl UserRules {
    /// Reads rules and reports every mistake.
    pub fn parse(text: &str) -> Result<Self, RuleMistakes> {
        read::rules(text)
    }
}
