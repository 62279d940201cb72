//! JSON records, one a line.

use serde::Serialize;

/// The lines of a session.
#[derive(Debug, Default)]
pub(super) struct WrittenLines(Vec<u8>);

impl WrittenLines {
    pub(super) fn push(&mut self, record: &impl Serialize) {
        serde_json::to_writer(&mut self.0, record).expect("records have text keys and go to memory");
        self.0.push(b'\n');
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.0
    }
}
