//! Measures Contexture beside its peers, all in one run on one machine.
//!
//! Prints tables, writes them to `RESULTS.md` and draws how costs grow as `growth.svg`.
//!
//! The embedded store is measured first (`rows`, `growth`, `assembly`), then the store on PostgreSQL (`postgres`). What is done to a
//! store while the clock runs is the same for both (`workload`).

mod assembly;
mod growth;
mod hook;
mod import;
mod machine;
mod payload;
mod peers;
mod plot;
mod postgres;
mod report;
mod rows;
mod sample;
mod sqlite_floor;
mod subject;
mod workload;

use std::path::{Path, PathBuf};

use clap::Parser;

/// Anything that stops a benchmark; it is read by a person.
type Failure = Box<dyn std::error::Error + Send + Sync>;
type Result<T> = std::result::Result<T, Failure>;

/// Measures Contexture beside its peers.
#[derive(Debug, Parser)]
struct Arguments {
    /// Directory for throw-away stores; it should be on the disk that you care about.
    #[arg(long, default_value = "target/bench")]
    scratch: PathBuf,
    /// Directory that RESULTS.md and growth.svg are written to.
    #[arg(long, default_value = "bench")]
    results: PathBuf,
    /// Times each timed row is measured; the median round counts.
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Commits in the deepest chain.
    #[arg(long, default_value_t = 1_000_000)]
    deepest: u64,
    /// Directory of real transcripts; with it, import is measured on them too.
    #[arg(long)]
    transcripts: Option<PathBuf>,
    /// Measures only these; without it everything is measured and the results are written.
    #[arg(long, value_delimiter = ',')]
    only: Vec<Part>,
    /// Leaves the Python peers out.
    #[arg(long)]
    no_peers: bool,
    /// Leaves out what is measured on PostgreSQL.
    #[arg(long)]
    no_postgres: bool,
}

impl Arguments {
    fn wants(&self, part: Part) -> bool {
        self.only.is_empty() || self.only.contains(&part)
    }
}

/// A part of the benchmark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Part {
    /// One durable checkpoint.
    Checkpoint,
    /// Many writers at once.
    Writers,
    /// Checkpoints and forks at depth.
    Depth,
    /// Materialization.
    Materialize,
    /// Import of sessions.
    Import,
    /// Hooks of agents.
    Hook,
    /// Growth curves and resolve.
    Growth,
    /// Assembly of contexts.
    Assembly,
    /// One durable checkpoint on PostgreSQL.
    PostgresCheckpoint,
    /// Many writers at once on PostgreSQL.
    PostgresWriters,
    /// Materialization on PostgreSQL.
    PostgresMaterialize,
    /// Resolve on PostgreSQL.
    PostgresResolve,
}

#[tokio::main]
async fn main() -> Result<()> {
    let arguments = Arguments::parse();
    std::fs::create_dir_all(&arguments.scratch)?;
    let scratch = tempfile::tempdir_in(&arguments.scratch)?;
    let payloads = payload::Payloads::new(4096);
    let python = if arguments.no_peers { None } else { Some(peers::Python::install()?) };
    let beside_sqlite = [Part::Checkpoint, Part::Writers, Part::Growth].into_iter().any(|part| arguments.wants(part));
    let peers = match python.as_ref().filter(|_| beside_sqlite) {
        Some(python) => Some(peers::langgraph(python, scratch.path(), &payloads)?),
        None => None,
    };
    let mut rows = Vec::new();
    if arguments.wants(Part::Checkpoint) {
        rows.push(rows::single_writer(scratch.path(), &payloads, arguments.rounds, peers.as_ref()).await?);
    }
    if arguments.wants(Part::Writers) {
        rows.extend(rows::many_writers(scratch.path(), &payloads, arguments.rounds, peers.as_ref()).await?);
    }
    if arguments.wants(Part::Depth) {
        rows.extend(rows::depth_and_fork(scratch.path(), &payloads, arguments.rounds).await?);
    }
    if arguments.wants(Part::Materialize) {
        rows.push(rows::materialize(scratch.path(), arguments.rounds).await?);
    }
    if arguments.wants(Part::Import) {
        rows.extend(import::measure(scratch.path(), arguments.transcripts.as_deref(), arguments.rounds).await?);
    }
    if arguments.wants(Part::Hook) {
        rows.extend(hook::measure(scratch.path(), arguments.rounds)?);
    }
    let mut curves = growth::Curves::default();
    if arguments.wants(Part::Growth) {
        curves = growth::measure(scratch.path(), &payloads, arguments.deepest, peers.as_ref()).await?;
        rows.push(rows::resolve(&curves));
    }
    let assembly = if arguments.wants(Part::Assembly) {
        Some(assembly::measure(scratch.path(), arguments.rounds, python.as_ref()).await?)
    } else {
        None
    };
    rows.extend(assembly.iter().flat_map(assembly::Section::rows));
    let mut postgres = on_postgres(&arguments, scratch.path(), &payloads, python.as_ref()).await?;
    rows.extend(postgres.iter_mut().flat_map(|section| std::mem::take(&mut section.bars)));
    let report = report::Report {
        machine: machine::describe(),
        rows,
        curves: &curves,
        peers: peers.as_ref(),
        assembly,
        postgres,
    };
    print!("{}", report.tables());
    if arguments.only.is_empty() {
        std::fs::write(arguments.results.join("RESULTS.md"), report.markdown())?;
        plot::draw(&arguments.results.join("growth.svg"), &curves)?;
    }
    Ok(())
}

/// Measures the wanted parts on PostgreSQL, if there are any and it is installed.
async fn on_postgres(
    arguments: &Arguments,
    scratch: &Path,
    payloads: &payload::Payloads,
    python: Option<&peers::Python>,
) -> Result<Option<postgres::Section>> {
    let parts = [Part::PostgresCheckpoint, Part::PostgresWriters, Part::PostgresMaterialize, Part::PostgresResolve];
    if arguments.no_postgres || !parts.into_iter().any(|part| arguments.wants(part)) {
        return Ok(None);
    }
    let Some(server) = postgres::Server::start(scratch) else { return Ok(None) };
    let url = server.url(postgres::Database::LangGraph);
    let peer = match python {
        Some(python) => Some(peers::LangGraphPostgres::new(python, url, scratch, payloads)?),
        None => None,
    };
    let bench = postgres::Bench { server: &server, payloads, rounds: arguments.rounds, peer: peer.as_ref() };
    let (mut rows, mut bars) = (Vec::new(), Vec::new());
    if arguments.wants(Part::PostgresCheckpoint) {
        let row = bench.checkpoint().await?;
        bars.push(postgres::Bench::checkpoint_bar(&row));
        rows.push(row);
    }
    if arguments.wants(Part::PostgresWriters) {
        rows.push(bench.writers().await?);
    }
    if arguments.wants(Part::PostgresMaterialize) {
        rows.push(bench.materialize().await?);
    }
    if arguments.wants(Part::PostgresResolve) {
        rows.push(bench.resolve(arguments.deepest.min(postgres::MOST_COMMITS)).await?);
    }
    Ok(Some(postgres::Section { server: server.describe(), rows, bars }))
}
