//! Streams on their way to the thread that stores them.

use std::io::{self, Read};

use contexture_store::artifact::MAX_HOT_BYTES;
use tokio::sync::mpsc;

use crate::{Error, Result};

/// Reads what fits a row, and one byte more if there is more.
pub(crate) async fn read_start(mut reader: Box<dyn Read + Send>) -> Result<(Vec<u8>, Box<dyn Read + Send>)> {
    let start = tokio::task::spawn_blocking(move || {
        let mut start = Vec::new();
        reader.by_ref().take(MAX_HOT_BYTES as u64 + 1).read_to_end(&mut start)?;
        Ok((start, reader))
    });
    start
        .await
        .unwrap_or_else(|panic| Err(io::Error::other(panic)))
        .map_err(|source| Error::Io { attempt: "read the content", source })
}

/// Reads what another task sends.
pub struct PieceReader {
    waiting: mpsc::Receiver<Vec<u8>>,
    piece: io::Cursor<Vec<u8>>,
}

impl PieceReader {
    /// Reads the pieces in the order in which they are sent, to the end of the channel. Only a thread that may block reads.
    pub fn new(waiting: mpsc::Receiver<Vec<u8>>) -> Self {
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
