//! A step while records are added to it.

use contexture_core::{ArtifactId, CommitKind, GivenSessionId};
use contexture_formats::{
    Framing,
    codec::{Outline, RecordMark},
    thread::LanePlace,
};
use contexture_store::source::SourceSegment;

use super::{state::Prompt, timing::StepTimes};

/// A step that is not over.
pub(super) struct OpenStep {
    pub(super) kind: CommitKind,
    pub(super) turn: u32,
    pub(super) bytes: Vec<u8>,
    pub(super) runs: Vec<OpenRun>,
    pub(super) lines: u64,
    /// Bytes up to the end of the prompt.
    pub(super) prompt_end: usize,
    pub(super) times: StepTimes,
    pub(super) title: Option<String>,
    pub(super) session: Option<GivenSessionId>,
    /// The artifact that holds all of it, when it is one record that was not read.
    pub(super) kept: Option<ArtifactId>,
}

/// A stretch of the file that lies in a step.
pub(super) struct OpenRun {
    pub(super) start: u64,
    pub(super) length: u64,
    pub(super) offset: u64,
}

impl OpenStep {
    pub(super) fn new(kind: CommitKind, prefix: Vec<u8>) -> Self {
        Self {
            kind,
            turn: 0,
            prompt_end: prefix.len(),
            bytes: prefix,
            runs: Vec::new(),
            lines: 0,
            times: StepTimes::default(),
            title: None,
            session: None,
            kept: None,
        }
    }

    /// Makes a step of one record that is stored as it is.
    pub(super) fn kept(kind: CommitKind, turn: u32, stretch: OpenRun, artifact: ArtifactId) -> Self {
        Self { turn, lines: 1, runs: vec![stretch], kept: Some(artifact), ..Self::new(kind, Vec::new()) }
    }

    /// Returns its records up to what is asked, if that is in it and text.
    pub(super) fn prompt(&self) -> Option<Prompt> {
        let records = str::from_utf8(&self.bytes[..self.prompt_end]).ok()?;
        let asks = self.kind == CommitKind::Delta && !records.is_empty();
        asks.then(|| Prompt { turn: self.turn, records: records.to_owned() })
    }

    /// Takes a record.
    pub(super) fn add(
        &mut self,
        framing: Framing,
        place: &LanePlace,
        outline: &Outline,
        bytes: &[u8],
        start: Option<u64>,
    ) {
        if self.lines > 0 {
            self.bytes.extend_from_slice(&framing.separator());
        }
        let (offset, length) = (self.bytes.len() as u64, bytes.len() as u64);
        self.bytes.extend_from_slice(bytes);
        self.lines += 1;
        self.turn = place.turn;
        self.times.add(outline.at);
        if self.session.is_none() {
            self.session = outline.facts.session.as_deref().map(GivenSessionId::new);
        }
        if let RecordMark::Turn(title) = &outline.mark {
            self.prompt_end = self.bytes.len();
            if self.title.is_none() {
                self.title.clone_from(title);
            }
        }
        let Some(start) = start else { return };
        match self.runs.last_mut() {
            Some(run) if run.start + run.length == start && run.offset + run.length == offset => run.length += length,
            _ => self.runs.push(OpenRun { start, length, offset }),
        }
    }
}

impl OpenRun {
    /// Returns where the stretch lies in the stored step.
    pub(super) fn segment(&self, artifact: ArtifactId, opening: u64) -> SourceSegment {
        SourceSegment { start: self.start, length: self.length, artifact, part_start: opening + self.offset }
    }
}
