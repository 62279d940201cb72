//! A record on its way into the store, piece by piece.

use contexture::{Contexture, PieceReader};
use contexture_core::{ArtifactId, Format};
use tokio::{sync::mpsc, task::JoinHandle};

use crate::Result;

/// Pieces that may wait for the store.
const PIECES_WAITING: usize = 4;

/// A record that is being stored.
pub(crate) struct StoringRecord {
    pieces: mpsc::Sender<Vec<u8>>,
    storing: JoinHandle<contexture::Result<ArtifactId>>,
}

impl StoringRecord {
    pub(crate) fn begin(engine: &Contexture, format: &Format) -> Self {
        let (pieces, waiting) = mpsc::channel(PIECES_WAITING);
        let (engine, format) = (engine.clone(), format.clone());
        let reader = PieceReader::new(waiting);
        let storing = tokio::spawn(async move { engine.put_content(&format, reader).await });
        Self { pieces, storing }
    }

    /// Adds bytes. That nobody takes them any more is told at the end.
    pub(crate) async fn push(&mut self, bytes: Vec<u8>) -> Result<()> {
        // The receiver goes away only when storing failed.
        _ = self.pieces.send(bytes).await;
        Ok(())
    }

    /// Waits until the record is durable and returns what it is stored as.
    pub(crate) async fn finish(self) -> Result<ArtifactId> {
        drop(self.pieces);
        let stored = self.storing.await.map_err(|_| contexture_store::Error::Closed)?;
        Ok(stored?)
    }
}
