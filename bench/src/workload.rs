//! What is done to a store while the clock runs, whichever engine holds it.

use std::{
    io::{self, Write},
    sync::Arc,
    time::{Duration, Instant},
};

use contexture::{
    CheckpointContent, Contexture, Moment, Stop,
    core::{CommitId, HeadName, Principal, Timestamp},
};

use crate::{Result, payload::Payloads, rows::as_f64, subject};

pub(crate) const WRITERS: u64 = 64;
pub(crate) const PER_WRITER: u64 = 200;

/// Makes one checkpoint on the head `main`.
pub(crate) async fn checkpoint(store: &Contexture, line: Vec<u8>) -> Result<Duration> {
    let start = Instant::now();
    store.checkpoint(subject::checkpoint(Some("main"), None)?, CheckpointContent::Bytes(line)).await?;
    Ok(start.elapsed())
}

/// Returns what each of many writers writes.
pub(crate) fn shares(payloads: &Payloads) -> Vec<Vec<Vec<u8>>> {
    let share = |writer| (0..PER_WRITER).map(|n| payloads.line(writer * PER_WRITER + n)).collect();
    (0..WRITERS).map(share).collect()
}

/// Lets many writers write at once, each on a head of its own; returns checkpoints per second.
pub(crate) async fn write_at_once(store: &Contexture, shares: Vec<Vec<Vec<u8>>>) -> Result<f64> {
    let start = Instant::now();
    let mut tasks = tokio::task::JoinSet::new();
    for (writer, lines) in shares.into_iter().enumerate() {
        let store = store.clone();
        tasks.spawn(async move {
            let head = format!("session/{writer}");
            for line in lines {
                store.checkpoint(subject::checkpoint(Some(&head), None)?, CheckpointContent::Bytes(line)).await?;
            }
            Result::Ok(())
        });
    }
    while let Some(done) = tasks.join_next().await {
        done??;
    }
    Ok(as_f64(WRITERS * PER_WRITER) / start.elapsed().as_secs_f64())
}

/// A chain of 10,000 commits that hold 50 MB.
pub(crate) struct Chain {
    store: Contexture,
    tip: CommitId,
}

impl Chain {
    pub(crate) const COMMITS: u64 = 10_000;
    pub(crate) const COMMIT_BYTES: usize = 5_000;
    pub(crate) const BYTES: u64 = Self::COMMITS * Self::COMMIT_BYTES as u64;

    pub(crate) async fn grow(store: Contexture) -> Result<Self> {
        subject::grow(&store, "main", &Arc::new(Payloads::new(Self::COMMIT_BYTES)), 0, Self::COMMITS).await?;
        let tip = store.head(&HeadName::new("main")?).await?.ok_or("the chain has no tip")?;
        Ok(Self { store, tip })
    }

    pub(crate) async fn write_to(&self, sink: &mut (dyn Write + Send)) -> Result<()> {
        self.store.materialize(Some(self.tip), Stop::Root, None).await?.write_to(sink).await?;
        Ok(())
    }

    /// Materializes everything into nothing.
    pub(crate) async fn materialize(&self) -> Result<Duration> {
        let mut sink = Counting(0, io::sink());
        let start = Instant::now();
        self.write_to(&mut sink).await?;
        let elapsed = start.elapsed();
        let bytes = sink.0;
        if bytes == Self::BYTES {
            Ok(elapsed)
        } else {
            Err(format!("materialized {bytes} bytes of {}", Self::BYTES).into())
        }
    }
}

/// Resolves an instant before the newest commit, a different one for each n.
pub(crate) async fn resolve(store: &Contexture, newest: Timestamp, n: u64) -> Result<Duration> {
    // Instants spread over the life of the chain, so that no page of the index stays the favourite.
    let back = i64::try_from(n * 9973 % 60_000_000)?;
    let at = Timestamp::from_micros(newest.as_micros() - back).unwrap_or(newest);
    let moment = Moment { principal: Principal::new(subject::PRINCIPAL)?, at };
    let start = Instant::now();
    store.resolve(&moment).await?;
    Ok(start.elapsed())
}

/// Counts what is written to it.
struct Counting<W>(u64, W);

impl<W: Write> Write for Counting<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.1.write(bytes)?;
        self.0 += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.1.flush()
    }
}
