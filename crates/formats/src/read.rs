//! From content that is held whole to what its records say.

use crate::{Codec, RecordProblem, Splitter, codec::RecordStep};

/// What one record says, or why it says nothing.
#[derive(Debug)]
pub struct Reading {
    /// Which record it is; the first is 1.
    pub number: u64,
    /// What it says.
    pub step: Result<RecordStep, RecordProblem>,
}

/// Reads content record by record. White space between records is none.
///
/// An error means that no further record can be told apart; a record that is broken by itself is handed on as such.
pub fn read(codec: &dyn Codec, content: &[u8], sink: &mut impl FnMut(Reading)) -> Result<(), RecordProblem> {
    let mut splitter = Splitter::new(codec.framing(), content.len() as u64);
    let mut take = |record: crate::RawRecord<'_>| {
        if !record.is_blank() {
            sink(Reading { number: record.number, step: codec.step(record.bytes) });
        }
    };
    splitter.push(content, &mut take)?;
    splitter.finish(&mut take)
}
