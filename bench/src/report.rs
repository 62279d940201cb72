//! The table that people read.

use std::fmt::Write as _;

use crate::{
    growth::{Curve, Curves},
    peers::LangGraph,
    rows::{Bar, Row},
};

/// Everything that one run found.
pub(crate) struct Report<'r> {
    pub(crate) machine: String,
    pub(crate) rows: Vec<Row>,
    pub(crate) curves: &'r Curves,
    pub(crate) peers: Option<&'r LangGraph>,
}

impl Report<'_> {
    /// Returns the table of ratios.
    pub(crate) fn table(&self) -> String {
        let mut text = String::from("| what | ours | beside | ratio | bar | |\n|---|---|---|---|---|---|\n");
        for row in &self.rows {
            let bar = match row.bar {
                Bar::AtMost(bar) => format!("≤ {bar}"),
                Bar::AtLeast(bar) => format!("≥ {bar}"),
            };
            let verdict = if row.ratio.is_nan() {
                "not measured"
            } else if row.bar.met(row.ratio) {
                "met"
            } else {
                "**missed**"
            };
            // Writing to a String cannot fail.
            let _written =
                writeln!(text, "| {} | {} | {} | {:.2} | {bar} | {verdict} |", row.what, row.ours, row.peer, row.ratio);
        }
        text
    }

    /// Returns the whole page.
    pub(crate) fn markdown(&self) -> String {
        let mut text = String::from("# Results\n\n");
        let versions = self.peers.map_or_else(
            || "The Python peers were left out of this run.".to_owned(),
            |peers| {
                let listed: Vec<_> = peers.versions.iter().map(|(name, version)| format!("{name} {version}")).collect();
                format!("Peer: {}.", listed.join(", "))
            },
        );
        let _written = write!(
            text,
            "Written by `cargo xtask bench`; every figure in the tables comes from one run. Why a bar is missed was looked into separately.\n\
             Machine: {}.\n{versions}\n\
             Durable means that the bytes were synced before the call returned; both sides pay for it.\n\
             Times are medians; a row measured in rounds shows the median round.\n\n{}\n",
            self.machine,
            self.table()
        );
        for row in self.rows.iter().filter(|row| !row.ratio.is_nan() && !row.bar.met(row.ratio)) {
            let _written = writeln!(text, "**Missed: {}.** {}\n", row.what, row.if_missed);
        }
        text.push_str("## Growth\n\nOne chain, measured at each size. Microseconds, medians.\n\n");
        text.push_str("![Time of one operation by commits in the chain](growth.svg)\n\n");
        text.push_str(
            "| commits | checkpoint | fork | resolve | log, last five | bytes in the database per commit |\n",
        );
        text.push_str("|---|---|---|---|---|---|\n");
        for (at, (commits, checkpoint)) in self.curves.checkpoint.iter().enumerate() {
            let cell = |curve: &Curve| curve.get(at).map_or_else(String::new, |(_, value)| format!("{value:.1}"));
            let _written = writeln!(
                text,
                "| {commits} | {checkpoint:.1} | {} | {} | {} | {} |",
                cell(&self.curves.fork),
                cell(&self.curves.resolve),
                cell(&self.curves.last_five),
                cell(&self.curves.bytes_per_commit)
            );
        }
        let peers = [("plain", &self.curves.langgraph_plain), ("delta", &self.curves.langgraph_delta)];
        for (channel, curve) in peers.into_iter().filter(|(_, curve)| !curve.is_empty()) {
            let points: Vec<_> = curve.iter().map(|(depth, micros)| format!("{micros:.0} µs at {depth}")).collect();
            let _written =
                writeln!(text, "\nLangGraph's `update_state` with its {channel} channel, mean: {}.", points.join(", "));
        }
        text
    }
}
