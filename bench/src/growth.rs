//! How costs grow with the number of commits in one chain.

use std::{path::Path, sync::Arc, time::Instant};

use contexture::{CheckpointContent, Contexture, LogStart, core::HeadName};

use crate::{
    Result,
    payload::Payloads,
    peers::{LangGraph, Point},
    rows::as_f64,
    sample::Samples,
    subject, workload,
};

const PROBES: u64 = 200;

/// Microseconds of an operation by the number of commits before it.
pub(crate) type Curve = Vec<(u64, f64)>;

/// One curve per operation.
#[derive(Debug, Default)]
pub(crate) struct Curves {
    pub(crate) checkpoint: Curve,
    pub(crate) fork: Curve,
    pub(crate) resolve: Curve,
    pub(crate) last_five: Curve,
    pub(crate) bytes_per_commit: Curve,
    /// LangGraph through its graph, plain and delta channels.
    pub(crate) langgraph_plain: Curve,
    pub(crate) langgraph_delta: Curve,
}

/// Grows one chain step by step and measures at each step.
pub(crate) async fn measure(
    scratch: &Path,
    payloads: &Payloads,
    deepest: u64,
    peers: Option<&LangGraph>,
) -> Result<Curves> {
    let store = subject::open(scratch.join("growth").as_path()).await?;
    let small = Arc::new(Payloads::new(256));
    let mut curves = Curves::default();
    let mut commits = 0;
    let mut step = 1000;
    loop {
        let target = step.min(deepest);
        eprintln!("Growing one chain to {target} commits …");
        subject::grow(&store, "main", &small, commits, target - commits).await?;
        commits = target;
        probe(&store, payloads, commits, &mut curves).await?;
        if commits == deepest {
            break;
        }
        step *= 10;
    }
    if let Some(peers) = peers {
        let curve = |points: &[Point]| points.iter().map(|point| (point.depth, point.mean_us)).collect();
        curves.langgraph_plain = curve(&peers.growth.graph_plain.points);
        curves.langgraph_delta = curve(&peers.growth.graph_delta.points);
    }
    Ok(curves)
}

async fn probe(store: &Contexture, payloads: &Payloads, commits: u64, curves: &mut Curves) -> Result<()> {
    let tip = store.head(&HeadName::new("main")?).await?.ok_or("the chain has no tip")?;
    let (mut checkpoint, mut fork, mut resolve, mut last_five) =
        (Samples::default(), Samples::default(), Samples::default(), Samples::default());
    let newest = store.show(tip).await?.commit.created_at;
    for n in 0..PROBES {
        let id = commits * 1000 + n;
        let start = Instant::now();
        store.checkpoint(subject::checkpoint(Some("main"), None)?, CheckpointContent::Bytes(payloads.line(id))).await?;
        checkpoint.push(start.elapsed());
        let start = Instant::now();
        let request = subject::checkpoint(Some(&format!("fork-{id}")), Some(tip))?;
        store.checkpoint(request, CheckpointContent::Bytes(payloads.line(id + PROBES))).await?;
        fork.push(start.elapsed());
        resolve.push(workload::resolve(store, newest, n).await?);
        let start = Instant::now();
        store.walk(LogStart::Commits(vec![tip])).await?.next(5).await?;
        last_five.push(start.elapsed());
    }
    let size = store.footprint().await?.database_bytes;
    curves.checkpoint.push((commits, checkpoint.median()));
    curves.fork.push((commits, fork.median()));
    curves.resolve.push((commits, resolve.median()));
    curves.last_five.push((commits, last_five.median()));
    curves.bytes_per_commit.push((commits, as_f64(size) / as_f64(commits)));
    Ok(())
}
