//! Documents: sessions that are written anew each time, whole or element by element.

use contexture_core::CommitKind;
use contexture_formats::{
    codec::Outline,
    thread::{LanePlace, Start},
};
use contexture_store::source::SourceSegment;

use super::{Repetition, Steps, open::OpenStep};

impl Steps {
    /// Takes a document that is the session as it is now, in the place of what it was before.
    pub(crate) fn take_whole(&mut self, outline: &Outline, bytes: &[u8]) {
        self.learn(&outline.facts);
        self.last_at = outline.at.unwrap_or(self.last_at);
        if self.lanes.is_empty() {
            self.begin_lane(&Start::Root, None);
        }
        let kind = if self.lanes[0].state.tip.is_some() { CommitKind::Snapshot } else { CommitKind::Delta };
        let place = LanePlace {
            lane: 0,
            start: None,
            cut_before: false,
            cut_after: true,
            is_compaction: false,
            turn: self.lanes[0].state.turns.newest().map_or(1, |turn| turn.saturating_add(1)),
            leaf: None,
        };
        let step = self.lanes[0].step.insert(OpenStep::new(kind, Vec::new()));
        step.add(self.framing, &place, outline, bytes, Some(0));
        self.end_step(0);
    }

    /// Stores what lies between the stretches of a document that are part of commits.
    pub(crate) fn fill_gaps(&mut self, document: &[u8], known: Vec<SourceSegment>) {
        self.segments.extend(known);
        self.segments.sort_unstable_by_key(|segment| segment.start);
        let mut gaps = Vec::new();
        let mut at = 0;
        for segment in &self.segments {
            gaps.push(at..segment.start);
            at = segment.start + segment.length;
        }
        gaps.push(at..document.len() as u64);
        for gap in gaps.into_iter().filter(|gap| gap.start < gap.end) {
            let place = |at: u64| usize::try_from(at).expect("a document that is held has places that are counted");
            let content = self.screen(document[place(gap.start)..place(gap.end)].to_vec(), Repetition::Likely);
            let artifact = *content.id();
            self.segments.push(SourceSegment {
                start: gap.start,
                length: gap.end - gap.start,
                artifact,
                part_start: 0,
            });
            // What separates elements is the same nearly everywhere.
            if !self.asides.iter().any(|aside| *aside.id() == artifact) {
                self.asides.push(content);
            }
        }
    }
}
