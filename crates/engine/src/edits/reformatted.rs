//! Lines that a formatter or a hand has changed since a call wrote them.

use std::collections::HashMap;

use contexture_formats::edit::{Edit, Line};

/// Fewest letters of a stretch that is taken for a text that was only laid out anew.
const MIN_REFORMATTED: usize = 16;
/// Fewest letters of a line that is compared with others like it.
const MIN_NEAR: usize = 12;
/// How much of a line must be as it was written, in percent.
const NEAR_PERCENT: usize = 70;
/// Places of a line in what a call wrote that are looked at.
const MAX_PLACES: usize = 16;

/// What a call wrote, without what formatters change.
pub(super) struct WrittenText {
    whole: String,
    lines: Vec<String>,
}

impl WrittenText {
    pub(super) fn of(edit: &Edit) -> Self {
        let added = |line: &Line| match line {
            Line::Added(text) => Some(essence(text)),
            Line::Same(_) | Line::Removed(_) | Line::Place(_) => None,
        };
        let lines: Vec<String> = edit.lines.iter().filter_map(added).filter(|line| !line.is_empty()).collect();
        Self { whole: lines.concat(), lines }
    }

    /// Returns how many bytes it has.
    pub(super) fn len(&self) -> usize {
        self.whole.len()
    }

    /// Returns how many letters around a line of a file stand in the text without a gap, if those are enough to know it by.
    pub(super) fn stretch(&self, file: &[String], line: usize) -> Option<usize> {
        let own = file.get(line).filter(|own| !own.is_empty())?;
        let mut best = 0;
        let mut from = 0;
        for _ in 0..MAX_PLACES {
            let Some(found) = self.whole.get(from..).and_then(|rest| rest.find(own.as_str())) else { break };
            let start = from + found;
            let end = start + own.len();
            let before = around(file[..line].iter().rev(), &self.whole[..start], |text, line| text.strip_suffix(line));
            let after = around(file[line + 1..].iter(), &self.whole[end..], |text, line| text.strip_prefix(line));
            best = best.max(own.len() + before + after);
            from = start + self.whole[start..].chars().next().map_or(1, char::len_utf8);
        }
        (best >= MIN_REFORMATTED).then_some(best)
    }

    /// Returns in percent how much a line is like one that the call wrote, if a neighbour of that one is its neighbour.
    /// Lines that are in the file as they were written are nobody else's.
    pub(super) fn likeness(&self, file: &[String], line: usize, is_there: impl Fn(&str) -> bool) -> Option<usize> {
        let own = file.get(line).filter(|own| own.chars().count() >= MIN_NEAR)?;
        let beside = |lines: &[String], place: usize, step: isize| -> Option<String> {
            let mut place = place.checked_add_signed(step)?;
            while lines.get(place)?.is_empty() {
                place = place.checked_add_signed(step)?;
            }
            lines.get(place).cloned()
        };
        let is_anchored = |place: usize| {
            [-1, 1].into_iter().any(|step| {
                let (theirs, ours) = (beside(&self.lines, place, step), beside(file, line, step));
                theirs.is_some() && theirs == ours
            })
        };
        let places = self.lines.iter().enumerate().filter(|(place, text)| !is_there(text) && is_anchored(*place));
        places.map(|(_, text)| alike(own, text)).max().filter(|percent| *percent >= NEAR_PERCENT)
    }
}

/// Returns a line without what formatters change: space, quotation marks, commas, semicolons and brackets.
pub(super) fn essence(line: &str) -> String {
    let is_layout = |letter: char| letter.is_whitespace() || "'\"`,;(){}".contains(letter);
    line.chars().filter(|letter| !is_layout(*letter)).collect()
}

/// Returns how many letters of the lines that follow each other a text goes on with.
fn around<'l>(
    lines: impl Iterator<Item = &'l String>,
    mut text: &str,
    strip: impl for<'t> Fn(&'t str, &str) -> Option<&'t str>,
) -> usize {
    let mut letters = 0;
    for line in lines {
        match strip(text, line) {
            Some(rest) => (text, letters) = (rest, letters + line.len()),
            None => break,
        }
    }
    letters
}

/// Compares two lines by the pairs of letters that they have in common, in percent.
fn alike(one: &str, other: &str) -> usize {
    let pairs = |text: &str| -> HashMap<(char, char), usize> {
        let mut pairs = HashMap::new();
        for pair in text.chars().zip(text.chars().skip(1)) {
            *pairs.entry(pair).or_insert(0) += 1;
        }
        pairs
    };
    let (one, other) = (pairs(one), pairs(other));
    let all: usize = one.values().chain(other.values()).sum();
    let common: usize = one.iter().map(|(pair, count)| other.get(pair).map_or(0, |known| *count.min(known))).sum();
    (200 * common).checked_div(all).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use contexture_formats::edit::Extent;

    use super::*;

    fn written(lines: &[&str]) -> WrittenText {
        let lines = lines.iter().map(|line| Line::Added((*line).to_owned())).collect();
        WrittenText::of(&Edit { path: None, extent: Extent::Part, lines })
    }

    fn file(lines: &[&str]) -> Vec<String> {
        lines.iter().map(|line| essence(line)).collect()
    }

    #[test]
    fn a_line_that_was_cut_or_joined_is_known_by_what_stands_around_it() {
        let written = written(&["let answer = ask(question, 'patience');", "use_it(answer)"]);
        let cut = file(&["let answer = ask(", "    question,", "    \"patience\",", ");", "other(question)"]);
        let found: Vec<_> = (0..cut.len()).map(|line| written.stretch(&cut, line)).collect();
        assert_eq!(found, [Some(29), Some(29), Some(29), None, None]);
        let joined = file(&["let answer = ask(question, \"patience\"); use_it(answer);"]);
        assert_eq!(written.stretch(&joined, 0), Some(41));
    }

    #[test]
    fn a_line_that_was_changed_is_near_what_was_written_beside_its_neighbour() {
        let written = written(&["fn connect() {", "    retry_with_patience(open, 3);", "}"]);
        let changed = file(&["fn connect() {", "    retry_with_patience(open, limit);", "}"]);
        assert!(written.likeness(&changed, 1, |_| false).is_some());
        assert!(written.likeness(&changed, 1, |_| true).is_none(), "the line that is like it is there");
        let elsewhere = file(&["fn other() {", "    retry_with_patience(open, limit);", "other()"]);
        assert!(written.likeness(&elsewhere, 1, |_| false).is_none(), "nothing beside it was written beside it");
    }
}
