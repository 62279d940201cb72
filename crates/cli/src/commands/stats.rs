//! `ctx stats`: how much the store holds.

use std::fmt;

use clap::Args;
use contexture::{
    core::Timestamp,
    stats::{Footprint, Stats as Measures, Tally},
    wire::SpaceStats,
};

use crate::{
    error::Result,
    invocation::Invocation,
    output::{self, Output, Shape},
};

/// Names that a line lists.
const MAX_NAMES: usize = 5;

const EXAMPLES: &str = "\
Examples:
  ctx stats
  ctx stats --json";

/// Shows how much the space holds and what storing it costs
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Stats {}

impl Stats {
    pub(crate) async fn run(self, invocation: &Invocation, output: &mut Output) -> Result<()> {
        let engine = invocation.open().await?;
        let measured = SpaceStats { space: engine.stats().await?, files: engine.footprint().await? };
        if output.shape() == Shape::Json {
            return output.document(measured);
        }
        for (name, value) in fields(&measured, engine.now()) {
            let strong = output.palette.strong;
            output.line(format_args!("{strong}{name:<12}{strong:#} {value}"))?;
        }
        Ok(())
    }
}

/// Returns what was measured, each with its name, in reading order.
fn fields(measured: &SpaceStats, now: Timestamp) -> Vec<(&'static str, String)> {
    let Measures { commits, lines, forks, heads, artifacts, annotations, requests, envelopes, .. } = &measured.space;
    let mut fields = vec![(
        "commits",
        format!(
            "{} ({}, {}, {})",
            output::count(commits.count),
            output::counted(commits.deltas, "delta"),
            output::counted(commits.compactions, "compaction"),
            output::counted(commits.snapshots, "snapshot"),
        ),
    )];
    if let (Some(first), Some(last)) = (commits.first_at, commits.last_at) {
        let (first, last) = (output::relative(now, first), output::relative(now, last));
        fields.push(("made", format!("first {first}, last {last}")));
    }
    fields.push(("lines", format!("{} ({})", output::count(*lines), output::counted(*forks, "fork"))));
    fields.push(("heads", output::count(*heads)));
    fields.push(("content", output::size(commits.bytes)));
    fields.push(("distinct", format!("{} in {}", output::size(artifacts.row_bytes), rows(artifacts.rows))));
    fields.push(("compressed", output::size(artifacts.stored_bytes)));
    if artifacts.large > 0 {
        let large = output::counted(artifacts.large, "artifact");
        let parts = format!("{} of {}", output::count(artifacts.distinct_parts), output::count(artifacts.parts));
        fields.push(("large", format!("{large} ({}); {parts} parts stored", output::size(artifacts.large_bytes))));
    }
    fields.push(("annotations", output::count(*annotations)));
    fields.push(("keys", output::count(*requests)));
    if *envelopes > 0 {
        fields.push(("envelopes", output::count(*envelopes)));
    }
    fields.push(("journal", output::counted(measured.space.journal_records, "record")));
    let renderings = &measured.space.renderings;
    if !renderings.is_empty() {
        let (count, size) = (output::counted(renderings.count, "translation"), output::size(renderings.stored_bytes));
        fields.push(("renderings", format!("{count} kept ({size})")));
    }
    if let Some(index) = &measured.space.index {
        let (passages, size) = (output::counted(index.passages, "passage"), output::size(index.bytes));
        fields.push(("searchable", format!("{passages} ({size} of text)")));
    }
    fields.push(("principals", tallied(&measured.space.principals)));
    fields.push(("sessions", tallied(&measured.space.sessions)));
    fields.push(("formats", tallied(&measured.space.formats)));
    fields.push(("files", files(&measured.files)));
    fields
}

/// Returns what a store takes on disk.
pub(super) fn files(footprint: &Footprint) -> String {
    let Footprint { database_bytes, log_bytes } = footprint;
    let log = log_bytes.map(|bytes| format!(" and a log of {}", output::size(bytes))).unwrap_or_default();
    format!("{}{log}", output::size(*database_bytes))
}

fn rows(count: u64) -> String {
    output::counted(count, "row")
}

/// Returns how many names there are and the most frequent of them.
fn tallied<T: fmt::Display>(tally: &Tally<T>) -> String {
    let mut names: Vec<_> =
        tally.top.iter().map(|name| format!("{} {}", name.name, output::count(name.commits))).collect();
    if names.len() > MAX_NAMES {
        names.truncate(MAX_NAMES);
        names.push("…".to_owned());
    }
    if names.is_empty() {
        "none".to_owned()
    } else {
        format!("{} ({})", output::count(tally.distinct), names.join(", "))
    }
}
