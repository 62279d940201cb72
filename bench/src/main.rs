//! Measures Contexture beside its peers, all in one run on one machine.
//!
//! Prints a table, writes it to `RESULTS.md` and draws how costs grow as `growth.svg`.

mod growth;
mod machine;
mod payload;
mod peers;
mod plot;
mod report;
mod rows;
mod sample;
mod subject;

use std::path::PathBuf;

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
    /// Measures only these; without it everything is measured and the results are written.
    #[arg(long, value_delimiter = ',')]
    only: Vec<Part>,
    /// Leaves the Python peers out.
    #[arg(long)]
    no_peers: bool,
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
    /// Growth curves and resolve.
    Growth,
}

#[tokio::main]
async fn main() -> Result<()> {
    let arguments = Arguments::parse();
    std::fs::create_dir_all(&arguments.scratch)?;
    let scratch = tempfile::tempdir_in(&arguments.scratch)?;
    let payloads = payload::Payloads::new(4096);
    let peers = if arguments.no_peers { None } else { Some(peers::langgraph(scratch.path(), &payloads)?) };
    let wanted = |part| arguments.only.is_empty() || arguments.only.contains(&part);
    let mut rows = Vec::new();
    if wanted(Part::Checkpoint) {
        rows.push(rows::single_writer(scratch.path(), &payloads, arguments.rounds, peers.as_ref()).await?);
    }
    if wanted(Part::Writers) {
        rows.push(rows::many_writers(scratch.path(), &payloads, arguments.rounds, peers.as_ref()).await?);
    }
    if wanted(Part::Depth) {
        rows.extend(rows::depth_and_fork(scratch.path(), &payloads, arguments.rounds).await?);
    }
    if wanted(Part::Materialize) {
        rows.push(rows::materialize(scratch.path(), arguments.rounds).await?);
    }
    let mut curves = growth::Curves::default();
    if wanted(Part::Growth) {
        curves = growth::measure(scratch.path(), &payloads, arguments.deepest, peers.as_ref()).await?;
        rows.push(rows::resolve(&curves));
    }
    let report = report::Report { machine: machine::describe(), rows, curves: &curves, peers: peers.as_ref() };
    print!("{}", report.table());
    if arguments.only.is_empty() {
        std::fs::write(arguments.results.join("RESULTS.md"), report.markdown())?;
        plot::draw(&arguments.results.join("growth.svg"), &curves)?;
    }
    Ok(())
}
