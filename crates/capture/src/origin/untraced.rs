//! Why something cannot be led back to its context.

use std::{io, path::PathBuf};

use contexture::{Coded, ErrorCode, FileRefusal};

use crate::GitRefusal;

/// Why something cannot be led back to its context.
#[derive(Debug, thiserror::Error)]
pub enum Untraced {
    /// Git cannot be asked.
    #[error("cannot ask git")]
    Git(#[source] io::Error),
    /// Git refused.
    #[error("git cannot {action}")]
    GitRefused {
        /// What it was asked for.
        action: &'static str,
        /// What it said.
        source: GitRefusal,
    },
    /// A repository is needed.
    #[error("this directory is in no git repository")]
    NoRepository,
    /// A text names no commit of git.
    #[error("{revision:?} names no git commit")]
    NoRevision {
        /// The text.
        revision: String,
    },
    /// A file cannot be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file is not one to be read.
    #[error("cannot read {}: {source}", path.display())]
    Refused {
        /// The file.
        path: PathBuf,
        /// Why.
        source: FileRefusal,
    },
    /// A text names no lines.
    #[error("{text:?} names no lines: they count from 1, as in FILE:7 or FILE:7-9")]
    Lines {
        /// The text.
        text: String,
    },
    /// A file is shorter than was thought.
    #[error("{file} has {} line{}, so there is no line {line}", grouped(*count), if *count == 1 { "" } else { "s" })]
    NoLine {
        /// The file.
        file: String,
        /// The line.
        line: u64,
        /// How many there are.
        count: u64,
    },
    /// Nothing tells which context made something.
    #[error("no context is known that made {what}")]
    NoContext {
        /// What it is.
        what: String,
    },
    /// A merge names no context, and changes nothing by itself.
    #[error("git commit {commit} is a merge and records no context")]
    MergeWithoutContext {
        /// The merge.
        commit: String,
    },
}

impl Coded for Untraced {
    fn code(&self) -> ErrorCode {
        match self {
            Self::Git(_) => ErrorCode::GitFailed,
            Self::GitRefused { .. } => ErrorCode::GitRefused,
            Self::NoRepository => ErrorCode::NoRepository,
            Self::NoRevision { .. } => ErrorCode::NoRevision,
            Self::Read { .. } => ErrorCode::CannotRead,
            Self::Refused { source, .. } => source.code(),
            Self::Lines { .. } => ErrorCode::BadLines,
            Self::NoLine { .. } => ErrorCode::NoLine,
            Self::NoContext { .. } | Self::MergeWithoutContext { .. } => ErrorCode::NoContext,
        }
    }
}

/// Writes a number with its thousands apart.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut groups: Vec<&str> = Vec::new();
    let mut rest = digits.as_str();
    while rest.len() > 3 {
        let (before, group) = rest.split_at(rest.len() - 3);
        groups.push(group);
        rest = before;
    }
    groups.push(rest);
    groups.reverse();
    groups.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_stand_apart() {
        assert_eq!([0, 999, 1000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
    }
}
