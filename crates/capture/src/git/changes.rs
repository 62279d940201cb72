//! What a commit changes.

use super::{GitId, GitRepository};
use crate::Result;

/// Lines of a commit that are read, all files together.
const MAX_ADDED_LINES: u64 = 50_000;
/// Largest file of a commit that is read.
const MAX_FILE_BYTES: u64 = 4 * 1024 * 1024;

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
    /// The numbers of those lines in the file, from 1.
    pub numbers: Vec<u64>,
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
                (change.numbers, change.lines) = lines.into_iter().unzip();
            }
        }
        Ok(changes)
    }

    /// Returns the lines of a file of a commit; none when it is not there, too large or no text.
    pub fn lines_at(&self, commit: &GitId, path: &str) -> Result<Vec<String>> {
        let name = format!("{commit}:{path}");
        let Ok(size) = self.ask("tell how large a file is", &["cat-file", "-s", &name]) else { return Ok(Vec::new()) };
        let size: Option<u64> = str::from_utf8(&size).ok().and_then(|size| size.trim().parse().ok());
        if size.is_none_or(|size| size > MAX_FILE_BYTES) {
            return Ok(Vec::new());
        }
        let content = self.ask("read a file", &["cat-file", "blob", &name])?;
        Ok(String::from_utf8_lossy(&content).lines().map(str::to_owned).collect())
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
        changes.push(FileChange {
            added: added.parse().ok(),
            removed: removed.parse().ok(),
            ..FileChange::named(path)
        });
    }
    changes
}

/// Reads the lines that a patch adds with their numbers, file by file.
fn added(patch: &[u8]) -> Vec<Vec<(u64, String)>> {
    let mut files: Vec<Vec<(u64, String)>> = Vec::new();
    let (mut is_inside, mut number) = (false, 0);
    for line in patch.split(|byte| *byte == b'\n') {
        if line.starts_with(b"diff --git ") {
            files.push(Vec::new());
            is_inside = false;
        } else if line.starts_with(b"@@") {
            (is_inside, number) = (true, first_line(line).unwrap_or(0));
        } else if let (true, Some(text), Some(file)) = (is_inside, line.strip_prefix(b"+"), files.last_mut()) {
            file.push((number, String::from_utf8_lossy(text).into_owned()));
            number += 1;
        }
    }
    files
}

/// Reads in the heading of a hunk at which line of the new file it begins: `@@ -a,b +c,d @@`.
fn first_line(heading: &[u8]) -> Option<u64> {
    let heading = str::from_utf8(heading).ok()?;
    let (_, after) = heading.split_once('+')?;
    after.split([',', ' ']).next()?.parse().ok()
}

impl FileChange {
    fn named(path: String) -> Self {
        Self { path, added: None, removed: None, lines: Vec::new(), numbers: Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_counted_under_their_new_names() {
        let change = |path: &str, added, removed| FileChange { added, removed, ..FileChange::named(path.to_owned()) };
        let answer = b"1\t2\ta b\0-\t-\timage\x000\t0\t\0old\0new\0";
        let expected = [change("a b", Some(1), Some(2)), change("image", None, None), change("new", Some(0), Some(0))];
        assert_eq!(counted(answer), expected);
    }

    #[test]
    fn only_what_stands_in_a_hunk_is_a_line() {
        let patch = b"diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +3,2 @@ fn +9\n-x\n+y\n+++z\ndiff --git a/b b/b\nBinary files differ\n";
        assert_eq!(added(patch), [vec![(3, "y".to_owned()), (4, "++z".to_owned())], vec![]]);
    }
}
