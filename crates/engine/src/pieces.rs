//! Bytes that one task sends and a blocking reader takes: how a stream reaches the thread that stores it.

use std::io::{self, Read};

use tokio::sync::mpsc;

/// Reads what another task sends.
pub(crate) struct PieceReader {
    waiting: mpsc::Receiver<Vec<u8>>,
    piece: io::Cursor<Vec<u8>>,
}

impl PieceReader {
    pub(crate) fn new(waiting: mpsc::Receiver<Vec<u8>>) -> Self {
        Self { waiting, piece: io::Cursor::default() }
    }
}

impl Read for PieceReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let count = self.piece.read(buffer)?;
            if count > 0 || buffer.is_empty() {
                return Ok(count);
            }
            match self.waiting.blocking_recv() {
                Some(piece) => self.piece = io::Cursor::new(piece),
                None => return Ok(0),
            }
        }
    }
}
