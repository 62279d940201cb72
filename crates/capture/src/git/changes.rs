//! What a commit changes.

use super::{GitId, GitRepository};
use crate::Result;

/// Lines of a commit that are read, all files together.
const MAX_ADDED_LINES: u64 = 50_000;

/// What a commit does to a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    /// From the top of the working tree.
    pub path: String,
    /// How many lines come in; nothing for a file without lines.
    pub added: Option<u64>,
    /// How many lines go.
    pub removed: Option<u64>,
    /// The lines that come in; none when the commit has too many.
    pub lines: Vec<String>,
}

impl GitRepository {
    /// Returns what a commit changes, file by file. A merge changes nothing by itself.
    pub fn changes(&self, commit: &GitId) -> Result<Vec<FileChange>> {
        const ACTION: &str = "tell what the commit changes";
        let id = commit.to_string();
        let compare = |form: &[&str]| {
            let common = ["diff-tree", "--root", "-r", "--no-commit-id", "--find-renames", "--no-ext-diff"];
            self.ask(ACTION, &[&common, form, &[id.as_str()]].concat())
        };
        let mut changes = counted(&compare(&["--numstat", "-z"])?);
        if changes.iter().filter_map(|change| change.added).sum::<u64>() <= MAX_ADDED_LINES {
            let patch = compare(&["--patch", "--unified=0", "--no-color", "--no-textconv"])?;
            // Both answers name the files in the same order.
            for (change, lines) in changes.iter_mut().zip(added(&patch)) {
                change.lines = lines;
            }
        }
        Ok(changes)
    }
}

/// Reads the counts: `added TAB removed TAB path NUL`, and with an empty path the old one and the new one after that.
fn counted(answer: &[u8]) -> Vec<FileChange> {
    let mut changes = Vec::new();
    let mut fields = answer.split(|byte| *byte == 0).map(String::from_utf8_lossy);
    while let Some(field) = fields.next() {
        let mut words = field.splitn(3, '\t');
        let (Some(added), Some(removed), Some(path)) = (words.next(), words.next(), words.next()) else { continue };
        let path = if path.is_empty() { fields.nth(1).map(String::from) } else { Some(path.to_owned()) };
        let Some(path) = path else { continue };
        changes.push(FileChange { path, added: added.parse().ok(), removed: removed.parse().ok(), lines: Vec::new() });
    }
    changes
}

/// Reads the lines that a patch adds, file by file.
fn added(patch: &[u8]) -> Vec<Vec<String>> {
    let mut files: Vec<Vec<String>> = Vec::new();
    let mut is_inside = false;
    for line in patch.split(|byte| *byte == b'\n') {
        if line.starts_with(b"diff --git ") {
            files.push(Vec::new());
            is_inside = false;
        } else if line.starts_with(b"@@") {
            is_inside = true;
        } else if let (true, Some(text), Some(file)) = (is_inside, line.strip_prefix(b"+"), files.last_mut()) {
            file.push(String::from_utf8_lossy(text).into_owned());
        }
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_counted_under_their_new_names() {
        let change = |path: &str, added, removed| FileChange { path: path.into(), added, removed, lines: Vec::new() };
        let answer = b"1\t2\ta b\0-\t-\timage\x000\t0\t\0old\0new\0";
        let expected = [change("a b", Some(1), Some(2)), change("image", None, None), change("new", Some(0), Some(0))];
        assert_eq!(counted(answer), expected);
    }

    #[test]
    fn only_what_stands_in_a_hunk_is_a_line() {
        let patch = b"diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +1,2 @@\n-x\n+y\n+++z\ndiff --git a/b b/b\nBinary files differ\n";
        assert_eq!(added(patch), [vec!["y".to_owned(), "++z".to_owned()], vec![]]);
    }
}
