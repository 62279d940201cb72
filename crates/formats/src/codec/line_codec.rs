//! Codecs whose records are lines of JSON, each read by itself.

use super::{Codec, Framing, Outline, RecordStep, tolerant_json};
use crate::RecordProblem;

/// Reads lines with two functions, which need not care about halves of characters.
pub(crate) struct LineCodec {
    pub(super) outline: fn(&[u8]) -> serde_json::Result<Outline>,
    pub(super) step: fn(&[u8]) -> serde_json::Result<RecordStep>,
}

impl Codec for LineCodec {
    fn framing(&self) -> Framing {
        Framing::Lines
    }

    fn outline(&self, record: &[u8]) -> Result<Outline, RecordProblem> {
        tolerant_json::decode(record, self.outline)
    }

    fn step(&self, record: &[u8]) -> Result<RecordStep, RecordProblem> {
        tolerant_json::decode(record, self.step)
    }
}
