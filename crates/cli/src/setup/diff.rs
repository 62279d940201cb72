//! What a change does to a text, line by line.

use crate::output::Palette;

/// How many lines that stay are shown around those that do not.
const CONTEXT: usize = 3;
/// Comparing takes time and space for each pair of lines; beyond this, a change is shown as one of all lines.
const MOST_PAIRS: usize = 4_000_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Line<'t> {
    Kept(&'t str),
    Removed(&'t str),
    Added(&'t str),
}

/// Returns the lines of a unified difference, without those that name the files.
pub(super) fn unified(before: &str, after: &str, palette: &Palette) -> Vec<String> {
    let lines = compare(&before.lines().collect::<Vec<_>>(), &after.lines().collect::<Vec<_>>());
    let changed: Vec<usize> = (0..lines.len()).filter(|at| !matches!(lines[*at], Line::Kept(_))).collect();
    let Some((&first, rest)) = changed.split_first() else { return Vec::new() };
    let mut hunks = vec![(first, first + 1)];
    for &at in rest {
        let (_, end) = hunks.last_mut().expect("there is a first");
        if at - *end <= 2 * CONTEXT {
            *end = at + 1;
        } else {
            hunks.push((at, at + 1));
        }
    }
    let mut shown = Vec::new();
    for (first, after) in hunks {
        let (start, end) = (first.saturating_sub(CONTEXT), (after + CONTEXT).min(lines.len()));
        let old = |line: &&Line<'_>| !matches!(line, Line::Added(_));
        let new = |line: &&Line<'_>| !matches!(line, Line::Removed(_));
        let range = |is_there: &dyn Fn(&&Line<'_>) -> bool| {
            let length = lines[start..end].iter().filter(|line| is_there(line)).count();
            let skipped = lines[..start].iter().filter(|line| is_there(line)).count();
            format!("{},{length}", if length == 0 { skipped } else { skipped + 1 })
        };
        let Palette { faint, added, removed, .. } = palette;
        shown.push(format!("{faint}@@ -{} +{} @@{faint:#}", range(&old), range(&new)));
        shown.extend(lines[start..end].iter().map(|line| match line {
            Line::Kept(text) => format!(" {text}"),
            Line::Removed(text) => format!("{removed}-{text}{removed:#}"),
            Line::Added(text) => format!("{added}+{text}{added:#}"),
        }));
    }
    shown
}

fn compare<'t>(before: &[&'t str], after: &[&'t str]) -> Vec<Line<'t>> {
    let head = before.iter().zip(after).take_while(|(old, new)| old == new).count();
    let (before_rest, after_rest) = (&before[head..], &after[head..]);
    let tail = before_rest.iter().rev().zip(after_rest.iter().rev()).take_while(|(old, new)| old == new).count();
    let (old, kept_tail) = before_rest.split_at(before_rest.len() - tail);
    let new = &after_rest[..after_rest.len() - tail];
    let mut lines: Vec<_> = before[..head].iter().copied().map(Line::Kept).collect();
    lines.extend(middle(old, new));
    lines.extend(kept_tail.iter().copied().map(Line::Kept));
    lines
}

/// Compares what is neither at the start nor at the end the same, by the longest common subsequence.
fn middle<'t>(old: &[&'t str], new: &[&'t str]) -> Vec<Line<'t>> {
    let all = || old.iter().copied().map(Line::Removed).chain(new.iter().copied().map(Line::Added)).collect();
    if old.len().saturating_mul(new.len()) > MOST_PAIRS {
        return all();
    }
    let width = new.len() + 1;
    let mut common = vec![0_u32; (old.len() + 1) * width];
    for (i, old_line) in old.iter().enumerate().rev() {
        for (j, new_line) in new.iter().enumerate().rev() {
            common[i * width + j] = if old_line == new_line {
                common[(i + 1) * width + j + 1] + 1
            } else {
                common[(i + 1) * width + j].max(common[i * width + j + 1])
            };
        }
    }
    let mut lines = Vec::with_capacity(old.len() + new.len());
    let (mut i, mut j) = (0, 0);
    while i < old.len() || j < new.len() {
        if i < old.len() && j < new.len() && old[i] == new[j] {
            lines.push(Line::Kept(old[i]));
            (i, j) = (i + 1, j + 1);
        } else if i < old.len() && (j == new.len() || common[(i + 1) * width + j] >= common[i * width + j + 1]) {
            lines.push(Line::Removed(old[i]));
            i += 1;
        } else {
            lines.push(Line::Added(new[j]));
            j += 1;
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_shown_with_the_lines_around_them() {
        let before = (1..=20).map(|line| line.to_string()).collect::<Vec<_>>().join("\n");
        let after = before.replace("\n5\n", "\nfive\n").replace("\n18\n", "\n18\n18b\n");
        let shown = unified(&before, &after, &Palette::default()).join("\n");
        assert_eq!(
            shown,
            "@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n@@ -16,5 +16,6 @@\n 16\n 17\n 18\n+18b\n 19\n 20"
        );
    }

    #[test]
    fn a_new_text_is_all_added_and_an_equal_one_tells_nothing() {
        assert_eq!(unified("", "a\nb\n", &Palette::default()), ["@@ -0,0 +1,2 @@", "+a", "+b"]);
        assert!(unified("a\n", "a\n", &Palette::default()).is_empty());
    }
}
