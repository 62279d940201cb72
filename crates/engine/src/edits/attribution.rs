//! Which call a line comes from, by all that is known of it: one, several, or none.

use std::collections::{HashMap, HashSet};

use contexture_core::RuntimeSessionId;
use contexture_formats::edit::{Extent, Line};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    FoundEdit, Nearness, Trace, Within,
    block_scores::{BlockScore, FileLines, letters},
    line_writers::text_of,
    reformatted::{WrittenText, essence},
};

/// Fewest letters of a block that is known again in another file: a line alone is written in many.
const MIN_MOVED_LETTERS: usize = 40;
/// Bytes that lines are compared with, all lines together.
const MAX_COMPARED_BYTES: usize = 256 * 1024 * 1024;
/// Lines between one without words and the neighbour that it belongs to.
const MAX_APART: usize = 8;
/// Fewest lines of one.
const MIN_MOVED_LINES: usize = 2;

/// How a line agrees with what a call wrote.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MatchGrade {
    /// It says the same, however it is indented.
    Exact,
    /// It was laid out anew: cut, joined, or with other quotation marks, commas and brackets.
    Reformatted,
    /// It is much like the line that the call wrote beside the same neighbour.
    Near,
}

/// What is known of the call that a line comes from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum LineFinding {
    /// None is known.
    #[default]
    Nothing,
    /// This edit wrote it.
    Written {
        /// The edit, by its place among those found.
        edit: usize,
        /// How the line agrees with it.
        grade: MatchGrade,
    },
    /// Each of these may have written it, and nothing says which.
    Ambiguous {
        /// The edits, by their places among those found; there are at least two.
        edits: Vec<usize>,
        /// How the line agrees with them.
        grade: MatchGrade,
    },
}

/// What lines are judged by.
pub(super) struct Attribution<'t> {
    trace: &'t Trace,
    edits: &'t [FoundEdit],
    /// For each line the edit that the order of edits of its file speaks for.
    by_order: Vec<Option<usize>>,
    /// Where each line stands in the file.
    places: Vec<usize>,
    file: FileLines,
    essences: Vec<String>,
    scores: Vec<HashMap<usize, BlockScore>>,
    dead: &'t HashSet<usize>,
}

impl<'t> Attribution<'t> {
    pub(super) fn new(
        trace: &'t Trace,
        edits: &'t [FoundEdit],
        by_order: Vec<Option<usize>>,
        dead: &'t HashSet<usize>,
    ) -> Self {
        let own = || trace.lines.iter().map(|line| text_of(trace, &line.text));
        let (texts, places): (Vec<String>, Vec<usize>) = if trace.around.is_empty() {
            (own().collect(), (0..trace.lines.len()).collect())
        } else {
            let places = trace.lines.iter().map(|line| line.place.unwrap_or(usize::MAX));
            (trace.around.iter().map(|text| text_of(trace, text)).collect(), places.collect())
        };
        let file = FileLines::new(texts.iter().map(String::as_str));
        let scores = edits.iter().map(|found| file.scores(&found.edit)).collect();
        let essences = texts.iter().map(|text| essence(text)).collect();
        Self { trace, edits, by_order, places, file, essences, scores, dead }
    }

    /// Judges every line.
    pub(super) fn findings(&self) -> Vec<LineFinding> {
        let written = self.written();
        let repeated = self.repeated();
        let judge = |line: usize| {
            // One without words belongs to its neighbour.
            if !self.trace.lines[line].text.contains(char::is_alphanumeric) || repeated.contains(&line) {
                return LineFinding::Nothing;
            }
            let found = self.exact(line);
            if found != LineFinding::Nothing || self.is_in_an_edit(line) {
                return found;
            }
            let place = self.places[line];
            let stretch = |edit: usize| written.get(&edit)?.stretch(&self.essences, place);
            let found = self.best(line, MatchGrade::Reformatted, &stretch);
            if found != LineFinding::Nothing {
                return found;
            }
            let is_there = |text: &str| self.essences.iter().any(|known| known == text);
            self.best(line, MatchGrade::Near, &|edit| written.get(&edit)?.likeness(&self.essences, place, is_there))
        };
        let mut findings: Vec<LineFinding> = (0..self.trace.lines.len()).map(judge).collect();
        self.adopt(&mut findings);
        findings
    }

    /// Returns what the edits of the file have written, of the newest as far as comparing them is no long work.
    fn written(&self) -> HashMap<usize, WrittenText> {
        let mut edits: Vec<usize> = (0..self.edits.len())
            .filter(|edit| self.edits[*edit].nearness != Nearness::Elsewhere && !self.dead.contains(edit))
            .collect();
        edits.sort_by_key(|edit| std::cmp::Reverse(self.edits[*edit].at));
        let mut written = HashMap::new();
        let mut left = MAX_COMPARED_BYTES / self.trace.lines.len().max(1);
        for edit in edits {
            let text = WrittenText::of(&self.edits[edit].edit);
            let Some(rest) = left.checked_sub(text.len()) else { break };
            left = rest;
            written.insert(edit, text);
        }
        written
    }

    /// Finds who wrote a line as it is.
    fn exact(&self, line: usize) -> LineFinding {
        let score = |edit: usize| self.score(edit, line);
        let grade = MatchGrade::Exact;
        let by_order = self.by_order[line].filter(|edit| !self.dead.contains(edit));
        let Some(first) = by_order else {
            return self.moved(line);
        };
        let own = score(first).unwrap_or_default();
        if matches!(self.trace.within, Within::Chain(_)) {
            return LineFinding::Written { edit: first, grade };
        }
        let is_rival = |edit: &usize| {
            let found = &self.edits[*edit];
            let Some(score) = score(*edit).filter(|_| *edit != first && self.is_possible(*edit, line)) else {
                return false;
            };
            if self.is_one_session(*edit, first) {
                return false;
            }
            match found.nearness {
                Nearness::Elsewhere => is_moved(score) && score.letters > 2 * own.letters,
                // What stands in a file of the same name elsewhere says less than what stands in the file itself.
                Nearness::Alike => score > own || score == own && self.edits[first].nearness == Nearness::Alike,
                Nearness::Same => score >= own && !self.is_repetition(*edit, line) && !self.was_taken_out(*edit, line),
            }
        };
        let rivals: Vec<usize> = (0..self.edits.len()).filter(is_rival).collect();
        if rivals.is_empty() {
            return LineFinding::Written { edit: first, grade };
        }
        LineFinding::Ambiguous {
            edits: std::iter::once(first).chain(self.one_for_each_session(rivals)).collect(),
            grade,
        }
    }

    /// Finds who wrote a line into another file, with enough of what stands around it.
    fn moved(&self, line: usize) -> LineFinding {
        let score = |edit: usize| {
            let is_elsewhere = self.edits[edit].nearness == Nearness::Elsewhere;
            self.score(edit, line).filter(|score| is_elsewhere && is_moved(*score)).map(|score| score.letters)
        };
        self.best(line, MatchGrade::Exact, &score)
    }

    /// Finds the edit that a measure speaks for most; several sessions that it speaks for alike are all possible.
    fn best(&self, line: usize, grade: MatchGrade, measure: &dyn Fn(usize) -> Option<usize>) -> LineFinding {
        let rank = |edit: usize| {
            let is_own = self.edits[edit].nearness != Nearness::Elsewhere;
            let is_allowed = is_own || grade == MatchGrade::Exact;
            measure(edit).filter(|_| is_allowed && self.is_possible(edit, line)).map(|measured| (is_own, measured))
        };
        let ranked: Vec<(usize, (bool, usize))> =
            (0..self.edits.len()).filter_map(|edit| Some((edit, rank(edit)?))).collect();
        let Some(top) = ranked.iter().map(|(_, rank)| *rank).max() else { return LineFinding::Nothing };
        let tops = ranked.iter().filter(|(_, rank)| *rank == top).map(|(edit, _)| *edit).collect();
        let tops = self.one_for_each_session(tops);
        match &tops[..] {
            [edit] => LineFinding::Written { edit: *edit, grade },
            _ => LineFinding::Ambiguous { edits: tops, grade },
        }
    }

    /// Keeps the newest edit of each session.
    fn one_for_each_session(&self, mut edits: Vec<usize>) -> Vec<usize> {
        edits.sort_by_key(|edit| std::cmp::Reverse(self.edits[*edit].at));
        let mut kept: Vec<usize> = Vec::new();
        for edit in edits {
            if !kept.iter().any(|known| self.is_one_session(*known, edit)) {
                kept.push(edit);
            }
        }
        kept
    }

    /// Gives lines without words to the neighbour whose call wrote them too, where the order of edits has found nothing.
    fn adopt(&self, findings: &mut [LineFinding]) {
        let count = findings.len();
        let pairs = (1..count).map(|line| (line, line - 1)).chain((1..count).rev().map(|line| (line - 1, line)));
        for (line, beside) in pairs {
            let text = self.trace.lines[line].text.trim();
            let is_beside = self.places[line].abs_diff(self.places[beside]) <= MAX_APART;
            if text.contains(char::is_alphanumeric) || findings[line] != LineFinding::Nothing || !is_beside {
                continue;
            }
            let wrote = |edit: &usize| {
                self.edits[*edit]
                    .edit
                    .lines
                    .iter()
                    .any(|line| matches!(line, Line::Added(added) if added.trim() == text))
            };
            let adopted = match &findings[beside] {
                LineFinding::Written { edit, .. } => wrote(edit),
                LineFinding::Ambiguous { edits, .. } => edits.iter().all(wrote),
                LineFinding::Nothing => false,
            };
            if adopted && self.trace.lines[line].until == self.trace.lines[beside].until {
                findings[line] = findings[beside].clone();
            }
        }
    }

    /// Returns the lines that the file says more often than calls have written them, but for those that stand where a
    /// call put them: somebody else has repeated them.
    fn repeated(&self) -> HashSet<usize> {
        let mut by_text: HashMap<String, Vec<usize>> = HashMap::new();
        for (number, line) in self.trace.lines.iter().enumerate() {
            let text = text_of(self.trace, &line.text);
            if text.contains(char::is_alphanumeric) && self.file.count(&text) > 1 && self.by_order[number].is_some() {
                by_text.entry(text).or_default().push(number);
            }
        }
        let mut repeated = HashSet::new();
        for (text, lines) in by_text {
            let there = self.file.count(&text);
            let written: usize = self.edits.iter().map(|found| times_written(found, &text)).sum();
            if written >= there {
                continue;
            }
            let score = |line: usize| {
                let edits = (0..self.edits.len()).filter(|edit| self.edits[*edit].nearness != Nearness::Elsewhere);
                edits.filter_map(|edit| self.score(edit, line)).max().unwrap_or_default()
            };
            // All that say it are compared, also those that were not asked for.
            let scores = self.all_scores(&text);
            let worst = scores.get(written.saturating_sub(1)).copied().unwrap_or_default();
            let next = scores.get(written).copied().unwrap_or_default();
            let is_repeated = |line: &usize| score(*line) < worst || score(*line) == next;
            repeated.extend(lines.into_iter().filter(is_repeated));
        }
        repeated
    }

    /// Returns the best scores of all lines of the file that say a text, best first.
    fn all_scores(&self, text: &str) -> Vec<BlockScore> {
        let in_file = || (0..self.edits.len()).filter(|edit| self.edits[*edit].nearness != Nearness::Elsewhere);
        let essence = essence(text);
        let says = |place: &usize| self.essences[*place] == essence;
        let best = |place: usize| {
            in_file().filter_map(|edit| self.scores[edit].get(&place).copied()).max().unwrap_or_default()
        };
        let mut scores: Vec<BlockScore> = (0..self.essences.len()).filter(says).map(best).collect();
        scores.sort_by(|a, b| b.cmp(a));
        scores
    }

    fn score(&self, edit: usize, line: usize) -> Option<BlockScore> {
        self.scores[edit].get(&self.places[line]).copied()
    }

    /// Tells whether an edit of the file has written or taken out the line as it is: then it was not laid out anew.
    fn is_in_an_edit(&self, line: usize) -> bool {
        let in_file = |edit: &usize| self.edits[*edit].nearness != Nearness::Elsewhere;
        (0..self.edits.len()).filter(in_file).any(|edit| self.score(edit, line).is_some())
    }

    /// Tells whether an edit can have written a line: it was made before the line was there, and did not fail.
    fn is_possible(&self, edit: usize, line: usize) -> bool {
        !self.dead.contains(&edit) && self.trace.lines[line].until.is_none_or(|until| self.edits[edit].at < until)
    }

    fn is_one_session(&self, one: usize, other: usize) -> bool {
        let session =
            |edit: usize| -> Option<&RuntimeSessionId> { self.edits[edit].commit.commit.provenance.session.as_ref() };
        session(one) == session(other)
    }

    /// Tells whether an edit may have found the line where it put it.
    fn is_repetition(&self, edit: usize, line: usize) -> bool {
        let Edited { is_added, is_removed, is_whole } = edited(&self.edits[edit], self.trace, line);
        is_added && (is_removed || is_whole)
    }

    /// Tells whether somebody took a line out of the file after an edit had written it.
    fn was_taken_out(&self, edit: usize, line: usize) -> bool {
        let at = self.edits[edit].at;
        let later =
            self.edits.iter().enumerate().filter(|(number, found)| {
                !self.dead.contains(number) && found.at > at && found.nearness == Nearness::Same
            });
        later
            .map(|(_, found)| edited(found, self.trace, line))
            .any(|Edited { is_added, is_removed, is_whole }| !is_added && (is_removed || is_whole))
    }
}

/// What an edit does to a line.
struct Edited {
    is_added: bool,
    is_removed: bool,
    is_whole: bool,
}

fn edited(found: &FoundEdit, trace: &Trace, line: usize) -> Edited {
    let text = text_of(trace, &trace.lines[line].text);
    let says = |added: &str| added.trim() == text;
    Edited {
        is_added: found.edit.lines.iter().any(|line| matches!(line, Line::Added(added) if says(added))),
        is_removed: found.edit.lines.iter().any(|line| matches!(line, Line::Removed(removed) if says(removed))),
        is_whole: found.edit.extent == Extent::Whole,
    }
}

fn is_moved(score: BlockScore) -> bool {
    score.letters >= MIN_MOVED_LETTERS && score.lines >= MIN_MOVED_LINES
}

/// Counts how often a call has put a line into the file.
fn times_written(found: &FoundEdit, text: &str) -> usize {
    if found.nearness == Nearness::Elsewhere {
        return 0;
    }
    found.edit.lines.iter().filter(|line| matches!(line, Line::Added(added) if added.trim() == text)).count()
}

/// Tells whether a text is worth to be looked for by itself.
pub(super) fn is_distinct(text: &str) -> bool {
    letters(text) >= 12
}
