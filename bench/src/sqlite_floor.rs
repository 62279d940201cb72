//! What SQLite itself takes: the least that many writers can ask of it for the same bytes and the same sync.

use std::{path::Path, sync::mpsc, thread, time::Duration};

use rusqlite::Connection;
use tokio::sync::oneshot;

use crate::{Failure, Result, rows::as_f64};

/// Longest wait for writers that were just answered. As long as the store under measurement waits.
const GATHER_TIME: Duration = Duration::from_micros(200);

/// A row that somebody waits for.
struct Insert {
    body: Vec<u8>,
    committed: oneshot::Sender<()>,
}

/// Lets many writers insert at once into one table without an index, in groups of one transaction; returns inserts per
/// second.
pub(crate) async fn insert_at_once(directory: &Path, shares: Vec<Vec<Vec<u8>>>) -> Result<f64> {
    std::fs::create_dir_all(directory)?;
    let connection = Connection::open(directory.join("plain.db"))?;
    // As the store under measurement has them.
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "cache_size", -16 * 1024)?;
    connection.execute_batch("CREATE TABLE plain (key INTEGER PRIMARY KEY, body BLOB NOT NULL) STRICT")?;
    let count: usize = shares.iter().map(Vec::len).sum();
    let (inserts, queue) = mpsc::channel();
    let writer = thread::spawn(move || serve(&connection, &queue));
    let start = std::time::Instant::now();
    let mut tasks = tokio::task::JoinSet::new();
    for lines in shares {
        let inserts = inserts.clone();
        tasks.spawn(async move {
            for body in lines {
                let (committed, answer) = oneshot::channel();
                inserts.send(Insert { body, committed }).map_err(|_| "the floor's writer is gone")?;
                answer.await?;
            }
            Result::Ok(())
        });
    }
    drop(inserts);
    while let Some(done) = tasks.join_next().await {
        done??;
    }
    let elapsed = start.elapsed();
    writer.join().map_err(|_| Failure::from("the floor's writer panicked"))??;
    Ok(as_f64(count as u64) / elapsed.as_secs_f64())
}

/// Commits what waits, in one transaction, until nobody is left. Groups are made as the store makes its own.
fn serve(connection: &Connection, queue: &mpsc::Receiver<Insert>) -> rusqlite::Result<()> {
    let mut last_group = 0;
    while let Ok(first) = queue.recv() {
        let mut group = vec![first];
        group.extend(queue.try_iter());
        while group.len() < last_group / 2
            && let Ok(next) = queue.recv_timeout(GATHER_TIME)
        {
            group.push(next);
            group.extend(queue.try_iter());
        }
        last_group = group.len();
        connection.execute_batch("BEGIN IMMEDIATE")?;
        for Insert { body, .. } in &group {
            connection.prepare_cached("INSERT INTO plain (body) VALUES (?1)")?.execute([body])?;
        }
        connection.execute_batch("COMMIT")?;
        // Whoever has gone away needs no answer.
        for insert in group {
            let _gone = insert.committed.send(());
        }
    }
    Ok(())
}
