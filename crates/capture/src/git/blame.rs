//! The commits that the lines of a file came with.

use std::{ffi::OsString, ops::RangeInclusive, path::Path};

use super::{GitId, GitRepository};
use crate::Result;

/// A line and the commit that it came with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlamedLine {
    /// Its number.
    pub number: u64,
    /// What it says.
    pub text: String,
    /// Nothing when it is not committed yet.
    pub commit: Option<GitId>,
}

impl GitRepository {
    /// Tells whether git has to do with a file: a path from the top of the working tree.
    pub fn knows(&self, file: &Path) -> Result<bool> {
        let mut arguments: Vec<OsString> = ["--literal-pathspecs", "ls-files", "-z", "--"].map(Into::into).into();
        arguments.push(file.into());
        Ok(!self.ask("list files", &arguments)?.is_empty() && self.find("HEAD")?.is_some())
    }

    /// Returns the commits of some lines of a file that git knows. The lines must be there.
    pub fn blame(&self, file: &Path, lines: RangeInclusive<u64>) -> Result<Vec<BlamedLine>> {
        let range = format!("-L{},{}", lines.start(), lines.end());
        let mut arguments: Vec<OsString> =
            ["blame", "--porcelain", "--no-textconv", &range, "--"].map(Into::into).into();
        arguments.push(file.into());
        Ok(blamed(&self.ask("tell where the lines come from", &arguments)?))
    }
}

/// Reads the answer: for each line its commit and numbers, perhaps what the commit says, and after a tab the line.
fn blamed(answer: &[u8]) -> Vec<BlamedLine> {
    let mut lines = Vec::new();
    let mut current: Option<(Option<GitId>, u64)> = None;
    for line in answer.split(|byte| *byte == b'\n') {
        if let Some(text) = line.strip_prefix(b"\t") {
            if let Some((commit, number)) = current.take() {
                lines.push(BlamedLine { number, text: String::from_utf8_lossy(text).into_owned(), commit });
            }
        } else if current.is_none() {
            let heading = String::from_utf8_lossy(line);
            let mut words = heading.split(' ');
            let (commit, number) = (words.next().and_then(GitId::of), words.nth(1).and_then(|word| word.parse().ok()));
            current = number.map(|number| (commit, number));
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_has_its_commit_and_number() {
        let answer =
            b"aa11 1 3 2\nauthor Ada\nsummary 0 0 0 0\nfilename a\n\tone\naa11 2 4\n\t\ttwo\n0000 5 5 1\n\t\xff\n";
        let line = |number, text: &str, id| BlamedLine { number, text: text.into(), commit: GitId::of(id) };
        assert_eq!(blamed(answer), [line(3, "one", "aa11"), line(4, "\ttwo", "aa11"), line(5, "\u{fffd}", "0")]);
        assert_eq!(blamed(b""), []);
    }
}
