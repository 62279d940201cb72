//! Records that are too large to be read: each is a commit by itself, whose bytes are stored already.

use contexture_core::{ArtifactId, CommitKind};
use contexture_formats::{
    codec::Outline,
    thread::{Placement, Start},
};
use contexture_store::source::SourceSegment;

use super::{
    Steps,
    open::{OpenRun, OpenStep},
};

impl Steps {
    /// Takes a record that is stored as it is.
    pub(crate) fn take_kept(&mut self, length: u64, artifact: ArtifactId, start: u64) {
        // Nothing is known of it, so it follows the record before it.
        let Placement::Lane(place) = self.threader.place(&Outline::default()) else {
            self.segments.push(SourceSegment { start, length, artifact, part_start: 0 });
            return;
        };
        let lane = place.lane;
        if let Some(begins) = &place.start {
            let shared = self.begin_lane(begins, None);
            self.lanes[lane].step = (!shared.is_empty()).then(|| OpenStep::new(CommitKind::Delta, shared));
        }
        self.end_step(lane);
        let stretch = OpenRun { start, length, offset: 0 };
        self.lanes[lane].step = Some(OpenStep::kept(CommitKind::Delta, place.turn, stretch, artifact));
        self.end_step(lane);
    }

    /// Takes a document that is stored as it is, in the place of what it was before.
    pub(crate) fn take_kept_document(&mut self, length: u64, artifact: ArtifactId) {
        if self.lanes.is_empty() {
            self.begin_lane(&Start::Root, None);
        }
        let state = &self.lanes[0].state;
        let kind = if state.tip.is_some() { CommitKind::Snapshot } else { CommitKind::Delta };
        let turn = state.turns.newest().map_or(1, |turn| turn.saturating_add(1));
        let stretch = OpenRun { start: 0, length, offset: 0 };
        self.lanes[0].step = Some(OpenStep::kept(kind, turn, stretch, artifact));
        self.end_step(0);
    }
}
