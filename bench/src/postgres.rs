//! The rows on PostgreSQL.
//!
//! One private server, on the disk of the scratch directory, serves everybody over a loopback port: Contexture, LangGraph
//! and the floor, each in a database of its own, all in the C locale, which is the fastest. It syncs as PostgreSQL does
//! by default. Each row is measured beside the least that a client can ask of that server for the same, taking turns, and
//! each round of it is followed by a round of LangGraph's saver.

mod floor;
mod row;
mod server;

use std::sync::Arc;

use contexture::core::HeadName;

use crate::{
    Result,
    payload::Payloads,
    peers::{LangGraphPostgres, Measurement},
    rows::{self, Bar, as_f64},
    sample::Samples,
    subject,
    workload::{self, Chain, WRITERS},
};
use floor::Floor;
use row::{Peer, Round, Unit};

pub(crate) use row::Row;
pub(crate) use server::{Database, Server};

const SINGLE_OPERATIONS: u64 = 1000;
const PROBES: u64 = 1000;
/// Most commits that resolve is measured among; more take too long to make.
pub(crate) const MOST_COMMITS: u64 = 100_000;

const ONE_WRITER_MISSED: &str = "\
    A checkpoint is one statement and one round trip already, so what is left is the server's work for five tables and \
    their indexes and the sync, of which a plain INSERT shows the least.";

/// What one run found on PostgreSQL.
pub(crate) struct Section {
    pub(crate) server: String,
    pub(crate) rows: Vec<Row>,
    /// What of it has a bar.
    pub(crate) bars: Vec<rows::Row>,
}

/// What the rows are measured on and with.
pub(crate) struct Bench<'b> {
    pub(crate) server: &'b Server,
    pub(crate) payloads: &'b Payloads,
    pub(crate) rounds: usize,
    pub(crate) peer: Option<&'b LangGraphPostgres<'b>>,
}

impl Bench<'_> {
    /// One durable checkpoint of 4 KiB beside one insert of the same bytes, taking turns.
    pub(crate) async fn checkpoint(&self) -> Result<Row> {
        let (mut rounds, mut peer) = (Vec::new(), Peer::default());
        for round in 0..self.rounds {
            eprintln!("Measuring one writer on PostgreSQL …");
            let store = subject::open(self.server.store(&format!("single_{round}"))?).await?;
            let plain = Floor::create(&self.server.url(Database::Floor)).await?;
            let (mut ours, mut floor) = (Samples::default(), Samples::default());
            for n in 0..SINGLE_OPERATIONS {
                let line = self.payloads.line(n);
                floor.push(plain.insert(&line).await?);
                ours.push(workload::checkpoint(&store, line).await?);
            }
            rounds.push(Round { ours: ours.median(), floor: floor.median() });
            peer.measure(self.peer, Measurement::SingleWriter)?;
        }
        let what = "durable checkpoint, one writer, 4 KiB".to_owned();
        Ok(Row { what, unit: Unit::Micros, floor: "INSERT of 4 KiB, committed", rounds, peer })
    }

    /// Returns the bar for one writer.
    pub(crate) fn checkpoint_bar(row: &Row) -> rows::Row {
        row.against_saver("durable checkpoint on PostgreSQL, one writer, 4 KiB", Bar::AtMost(0.8), ONE_WRITER_MISSED)
    }

    /// Many writers at once, each on a head of its own, beside as many connections that insert.
    pub(crate) async fn writers(&self) -> Result<Row> {
        let (mut rounds, mut peer) = (Vec::new(), Peer::default());
        for round in 0..self.rounds {
            eprintln!("Measuring {WRITERS} writers on PostgreSQL …");
            let store = subject::open(self.server.store(&format!("many_{round}"))?).await?;
            let shares = workload::shares(self.payloads);
            let floor = floor::insert_at_once(&self.server.url(Database::Floor), shares.clone()).await?;
            let ours = workload::write_at_once(&store, shares).await?;
            rounds.push(Round { ours, floor });
            peer.measure(self.peer, Measurement::Concurrent)?;
        }
        let what = format!("durable checkpoints, {WRITERS} concurrent writers");
        Ok(Row { what, unit: Unit::PerSecond, floor: "INSERTs on as many connections", rounds, peer })
    }

    /// Materializes 10,000 commits of 5 KB beside reading the same bytes as rows of one table.
    pub(crate) async fn materialize(&self) -> Result<Row> {
        eprintln!("Measuring materialize on PostgreSQL …");
        let chain = Chain::grow(subject::open(self.server.store("materialize")?).await?).await?;
        let payloads = Payloads::new(Chain::COMMIT_BYTES);
        let share = |n| (n..Chain::COMMITS).step_by(100).map(|n| payloads.line(n)).collect();
        let url = self.server.url(Database::Floor);
        floor::insert_at_once(&url, (0..100).map(share).collect()).await?;
        let plain = Floor::open(&url).await?;
        self.server.settle()?;
        let mut rounds = Vec::new();
        for _ in 0..self.rounds {
            let (mut ours, mut floor) = (Samples::default(), Samples::default());
            for _ in 0..3 {
                floor.push(plain.read(Chain::BYTES).await?);
                ours.push(chain.materialize().await?);
            }
            let speed = |samples: &Samples| as_f64(Chain::BYTES) / samples.median();
            rounds.push(Round { ours: speed(&ours), floor: speed(&floor) });
        }
        let mut peer = Peer::default();
        peer.measure(self.peer, Measurement::Load)?;
        let what = "materialize 10,000 commits / 50 MB, native, warm, hot rows".to_owned();
        Ok(Row { what, unit: Unit::MegabytesPerSecond, floor: "SELECT of the same bytes", rounds, peer })
    }

    /// Resolve among so many commits beside one round trip, taking turns. LangGraph's saver has no such question.
    pub(crate) async fn resolve(&self, commits: u64) -> Result<Row> {
        eprintln!("Growing one chain to {commits} commits on PostgreSQL …");
        let store = subject::open(self.server.store("resolve")?).await?;
        subject::grow(&store, "main", &Arc::new(Payloads::new(256)), 0, commits).await?;
        let plain = Floor::create(&self.server.url(Database::Floor)).await?;
        self.server.settle()?;
        let tip = store.head(&HeadName::new("main")?).await?.ok_or("the chain has no tip")?;
        let newest = store.show(tip).await?.commit.created_at;
        let mut rounds = Vec::new();
        for _ in 0..self.rounds {
            let (mut ours, mut floor) = (Samples::default(), Samples::default());
            for n in 0..PROBES {
                floor.push(plain.round_trip().await?);
                ours.push(workload::resolve(&store, newest, n).await?);
            }
            rounds.push(Round { ours: ours.median(), floor: floor.median() });
        }
        let what = format!("resolve among {commits} commits");
        Ok(Row { what, unit: Unit::Micros, floor: "SELECT 1", rounds, peer: Peer::default() })
    }
}
