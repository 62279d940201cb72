//! How well the text that a call wrote agrees with a file around a line.

use std::collections::HashMap;

use contexture_formats::edit::{Edit, Line};

/// Places of one line in an edit that are looked at.
const MAX_PLACES: usize = 64;

/// How much of what a call wrote stands in the file without a gap around a line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct BlockScore {
    /// Letters and digits of the lines that agree.
    pub(super) letters: usize,
    /// The lines that agree.
    pub(super) lines: usize,
}

/// The lines of a file that are not blank, by numbers that stand for what they say.
pub(super) struct FileLines {
    numbers: HashMap<String, u32>,
    /// For each line of the file its place among those that are not blank.
    places: Vec<Option<usize>>,
    lines: Vec<(u32, usize)>,
}

impl FileLines {
    pub(super) fn new<'l>(texts: impl Iterator<Item = &'l str>) -> Self {
        let mut file = Self { numbers: HashMap::new(), places: Vec::new(), lines: Vec::new() };
        for text in texts.map(str::trim) {
            if text.is_empty() {
                file.places.push(None);
                continue;
            }
            let next = u32::try_from(file.numbers.len()).unwrap_or(u32::MAX);
            let number = *file.numbers.entry(text.to_owned()).or_insert(next);
            file.places.push(Some(file.lines.len()));
            file.lines.push((number, letters(text)));
        }
        file
    }

    /// Returns how often the file says a line.
    pub(super) fn count(&self, text: &str) -> usize {
        let Some(number) = self.numbers.get(text) else { return 0 };
        self.lines.iter().filter(|(known, _)| known == number).count()
    }

    /// Returns for each line of the file that a call wrote, by its place, how much stands around it as in the call.
    pub(super) fn scores(&self, edit: &Edit) -> HashMap<usize, BlockScore> {
        let mut written: Vec<(Option<u32>, bool)> = Vec::new();
        for line in &edit.lines {
            let (text, is_added) = match line {
                Line::Added(text) => (text.trim(), true),
                Line::Same(text) => (text.trim(), false),
                Line::Place(_) => ("", false),
                Line::Removed(_) => continue,
            };
            match (text.is_empty(), line) {
                // What stands on both sides of a gap does not follow each other.
                (_, Line::Place(_)) => written.push((None, false)),
                (true, _) => {}
                (false, _) => written.push((self.numbers.get(text).copied(), is_added)),
            }
        }
        let mut places: HashMap<u32, Vec<usize>> = HashMap::new();
        for (place, (number, _)) in written.iter().enumerate() {
            if let Some(number) = number {
                let known = places.entry(*number).or_default();
                if known.len() < MAX_PLACES {
                    known.push(place);
                }
            }
        }
        if places.is_empty() {
            return HashMap::new();
        }
        let before = self.runs(&places, (0..self.lines.len()).collect(), |place| place.checked_sub(1));
        let after = self.runs(&places, (0..self.lines.len()).rev().collect(), |place| place.checked_add(1));
        let best = |line: usize| {
            let own = self.lines[line].1;
            let both = |(place, up): (&usize, &BlockScore)| {
                let down = after[line].get(place)?;
                let is_added = written[*place].1;
                is_added
                    .then(|| BlockScore { letters: up.letters + down.letters - own, lines: up.lines + down.lines - 1 })
            };
            before[line].iter().filter_map(both).max()
        };
        let scored = |(line, place): (usize, &Option<usize>)| Some((line, place.and_then(best)?));
        self.places.iter().enumerate().filter_map(scored).collect()
    }

    /// Returns for each line and each place in the edit where it stands how much agrees up to there, in one direction.
    fn runs(
        &self,
        places: &HashMap<u32, Vec<usize>>,
        order: Vec<usize>,
        previous: impl Fn(usize) -> Option<usize>,
    ) -> Vec<HashMap<usize, BlockScore>> {
        let mut runs: Vec<HashMap<usize, BlockScore>> = vec![HashMap::new(); self.lines.len()];
        let mut last: Option<usize> = None;
        for line in order {
            let (number, letters) = self.lines[line];
            let mut own = HashMap::new();
            for place in places.get(&number).into_iter().flatten() {
                let run = last.zip(previous(*place)).and_then(|(last, place)| runs[last].get(&place)).copied();
                let run = run.unwrap_or_default();
                own.insert(*place, BlockScore { letters: run.letters + letters, lines: run.lines + 1 });
            }
            runs[line] = own;
            last = Some(line);
        }
        runs
    }
}

/// Counts the letters and digits of a text.
pub(super) fn letters(text: &str) -> usize {
    text.chars().filter(|letter| letter.is_alphanumeric()).count()
}

#[cfg(test)]
mod tests {
    use contexture_formats::edit::Extent;

    use super::*;

    #[test]
    fn a_line_counts_with_what_stands_around_it_as_it_was_written() {
        let file = FileLines::new(["one()", "two()", "", "three()", "two()", "four()"].into_iter());
        let added = |text: &str| Line::Added(text.to_owned());
        let lines = vec![Line::Same("one()".into()), added("  two()"), added("three()"), added("other()")];
        let edit = Edit { path: None, extent: Extent::Part, lines };
        let score = |letters, lines| Some(BlockScore { letters, lines });
        let scores = file.scores(&edit);
        let scores: Vec<_> = (0..6).map(|line| scores.get(&line).copied()).collect();
        assert_eq!(scores, [None, score(11, 3), None, score(11, 3), score(3, 1), None]);
        assert_eq!((file.count("two()"), file.count("five()")), (2, 0));
    }
}
