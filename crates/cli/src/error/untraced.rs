//! Why lines or git commits cannot be led back to their contexts.

use super::verdict::Verdict;
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
    pub(super) fn verdict(&self) -> Verdict {
        match self {
            Self::GitRefused { .. } => Verdict::failed("git-refused"),
            Self::NoRevision { .. } => Verdict::usage("no-revision").hint("`git log --oneline` shows the commits"),
            Self::Lines { .. } => Verdict::usage("bad-lines"),
            Self::NoLine { count: 0, .. } => Verdict::usage("no-line"),
            Self::NoLine { file, .. } => {
                Verdict::usage("no-line").hint(format!("`ctx blame {file}` shows all of them"))
            }
            Self::NoContext { .. } => {
                Verdict::failed("no-context").hint("`ctx import` takes in what your agents have kept; then ask again")
            }
            Self::MergeWithoutContext { commit } => {
                Verdict::failed("no-context").hint(format!("ask for what it merges: `ctx why-commit {commit}^2`"))
            }
        }
    }
}
