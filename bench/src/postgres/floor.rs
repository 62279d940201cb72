//! What PostgreSQL itself takes: the least that a client can ask of the server for the same.

use std::time::{Duration, Instant};

use tokio_postgres::{Client, NoTls, Statement};

use crate::{Result, rows::as_f64};

/// A connection with prepared statements on a table that holds bytes and nothing else.
pub(crate) struct Floor {
    client: Client,
    insert: Statement,
    read: Statement,
    answer: Statement,
}

impl Floor {
    /// Makes an empty table. Its bytes are neither compressed nor moved out of their rows, and nothing indexes them.
    pub(crate) async fn create(url: &str) -> Result<Self> {
        let table = "DROP TABLE IF EXISTS plain; CREATE TABLE plain (body BYTEA NOT NULL); \
                     ALTER TABLE plain ALTER COLUMN body SET STORAGE PLAIN";
        connect(url).await?.batch_execute(table).await?;
        Self::open(url).await
    }

    /// Opens one more connection to the table.
    pub(crate) async fn open(url: &str) -> Result<Self> {
        let client = connect(url).await?;
        let insert = client.prepare("INSERT INTO plain (body) VALUES ($1)").await?;
        let read = client.prepare("SELECT body FROM plain").await?;
        let answer = client.prepare("SELECT 1").await?;
        Ok(Self { client, insert, read, answer })
    }

    /// Inserts a row and waits until it is committed.
    pub(crate) async fn insert(&self, body: &[u8]) -> Result<Duration> {
        let start = Instant::now();
        self.client.execute(&self.insert, &[&body]).await?;
        Ok(start.elapsed())
    }

    /// Reads all rows, which hold so many bytes.
    pub(crate) async fn read(&self, expected: u64) -> Result<Duration> {
        let start = Instant::now();
        let rows = self.client.query(&self.read, &[]).await?;
        let bytes: usize = rows.iter().map(|row| row.get::<_, &[u8]>(0).len()).sum();
        let elapsed = start.elapsed();
        if bytes as u64 == expected { Ok(elapsed) } else { Err(format!("read {bytes} bytes of {expected}").into()) }
    }

    /// Asks for a constant.
    pub(crate) async fn round_trip(&self) -> Result<Duration> {
        let start = Instant::now();
        self.client.query_one(&self.answer, &[]).await?;
        Ok(start.elapsed())
    }
}

/// Lets many writers insert at once, each on a connection of its own; returns inserts per second.
pub(crate) async fn insert_at_once(url: &str, shares: Vec<Vec<Vec<u8>>>) -> Result<f64> {
    let mut connections = vec![Floor::create(url).await?];
    while connections.len() < shares.len() {
        connections.push(Floor::open(url).await?);
    }
    let count: usize = shares.iter().map(Vec::len).sum();
    let start = Instant::now();
    let mut tasks = tokio::task::JoinSet::new();
    for (floor, lines) in connections.into_iter().zip(shares) {
        tasks.spawn(async move {
            for line in lines {
                floor.insert(&line).await?;
            }
            Result::Ok(())
        });
    }
    while let Some(done) = tasks.join_next().await {
        done??;
    }
    Ok(as_f64(count as u64) / start.elapsed().as_secs_f64())
}

async fn connect(url: &str) -> Result<Client> {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
    // What ends the connection is reported to whoever waits for an answer on it.
    tokio::spawn(async move { drop(connection.await) });
    Ok(client)
}
