//! Why lines or git commits cannot be led back to their contexts.

use crate::{git, output};

/// Why something cannot be led back to its context.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Untraced {
    /// Git refused.
    #[error("git cannot {action}")]
    GitRefused { action: &'static str, source: git::Refusal },
    /// A text names no commit of git.
    #[error("{revision:?} names no git commit")]
    NoRevision { revision: String },
    /// A text names no lines.
    #[error("{text:?} names no lines: they count from 1, as in FILE:7 or FILE:7-9")]
    Lines { text: String },
    /// A file is shorter than was thought.
    #[error("{file} has {}, so there is no line {line}", output::counted(*count, "line"))]
    NoLine { file: String, line: u64, count: u64 },
    /// Nothing tells which context made something.
    #[error("no context is known that made {what}")]
    NoContext { what: String },
    /// A merge names no context, and changes nothing by itself.
    #[error("git commit {commit} is a merge and records no context")]
    MergeWithoutContext { commit: String },
}

impl Untraced {
    /// Returns what to do next.
    pub(super) fn hint(&self) -> Option<String> {
        let hint: &str = match self {
            Self::NoRevision { .. } => "`git log --oneline` shows the commits",
            Self::NoLine { file, count, .. } if *count > 0 => &format!("`ctx blame {file}` shows all of them"),
            Self::NoContext { .. } => "`ctx import` takes in what your agents have kept; then ask again",
            Self::MergeWithoutContext { commit } => &format!("ask for what it merges: `ctx why-commit {commit}^2`"),
            Self::GitRefused { .. } | Self::Lines { .. } | Self::NoLine { .. } => return None,
        };
        Some(hint.to_owned())
    }
}
