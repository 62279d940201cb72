//! The table that people read.

use std::{collections::BTreeMap, fmt::Write as _};

use crate::{
    assembly::{self, BUDGETS, MOST_GROWTH, TURNS},
    growth::{Curve, Curves},
    peers::LangGraph,
    postgres,
    rows::{Bar, Row},
};

/// Everything that one run found.
pub(crate) struct Report<'r> {
    pub(crate) machine: String,
    pub(crate) rows: Vec<Row>,
    pub(crate) curves: &'r Curves,
    pub(crate) peers: Option<&'r LangGraph>,
    pub(crate) assembly: Option<assembly::Section>,
    pub(crate) postgres: Option<postgres::Section>,
}

impl Report<'_> {
    /// Returns the tables of everything that was measured.
    pub(crate) fn tables(&self) -> String {
        let against_bars = (!self.rows.is_empty()).then(|| self.table());
        let tables =
            [against_bars, self.assembly.as_ref().map(assembly_tables), self.postgres.as_ref().map(postgres_table)];
        tables.into_iter().flatten().collect::<Vec<_>>().join("\n")
    }

    /// Returns the table of ratios against bars.
    fn table(&self) -> String {
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
            |peers| format!("Peer: {}.", listed(&peers.versions)),
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
        let _written = write!(text, "\n## Assembly\n\n{}", self.assembly_markdown());
        let _written = write!(text, "\n## PostgreSQL\n\n{}", self.postgres_markdown());
        text
    }

    fn assembly_markdown(&self) -> String {
        let Some(section) = &self.assembly else { return "Assembly was left out of this run.\n".to_owned() };
        let peer = section.peer.as_ref().map_or_else(
            || "The Python peers were left out of this run.".to_owned(),
            |peer| format!("{TRIM_MESSAGES}\nPeer: {}.", listed(&peer.versions)),
        );
        format!("{ASSEMBLY}\n{peer}\n\n{}", assembly_tables(section))
    }

    fn postgres_markdown(&self) -> String {
        let Some(section) = &self.postgres else { return "PostgreSQL was left out of this run.\n".to_owned() };
        let versions = section.rows.iter().map(|row| &row.peer.versions).find(|versions| !versions.is_empty());
        let peer = versions.map_or_else(
            || "The Python peers were left out of this run.".to_owned(),
            |versions| format!("{LANGGRAPH_ON_POSTGRES}\nPeer: {}.", listed(versions)),
        );
        format!("{ON_POSTGRES}\nServer: {}.\n{peer}\n\n{}", section.server, postgres_table(section))
    }
}

const ASSEMBLY: &str = "\
    On the embedded store. A turn is a question, two calls with their results and an answer, about 1,400 tokens by \
    `chars4`, and a commit with a summary. A turn is added before each assembly, and what is measured is the whole call: \
    reading the history, choosing, rendering for Anthropic's API, and keeping the envelope with its frozen inputs, \
    durable. The recipe is the built-in `resume`, its budget shared out alike.\n\
    The bar is for histories of sessions, beside one of a tenth of the length. The bar for channels is not measured: there \
    are none yet.\n\
    A search ranks everything that it finds, so what it takes grows with the number of turns that have the word.\n\
    The counts of `o200k` are kept. The first time is measured at places of the history of which nothing was counted \
    before. The same again finds what it writes in the store already; one turn later it does not.";

const TRIM_MESSAGES: &str = "\
    LangChain's `trim_messages` is given the same messages (strategy `last`) and does less: it starts with all of them in \
    memory as objects, renders nothing and keeps no record. It counts what it considers anew each time. With `tiktoken` \
    it is not measured, because that fetches its vocabulary from the network.";

fn assembly_tables(section: &assembly::Section) -> String {
    let mut text = String::from("| tokens |");
    for turns in TURNS {
        let _written = write!(text, " of {turns} turns |");
    }
    let [.., shorter, longest] = TURNS;
    let _written = writeln!(text, " {longest} beside {shorter} turns | bar | |\n|---|---|---|---|---|---|---|");
    for (budget, times) in BUDGETS.into_iter().zip(&section.times) {
        let [.., with_shorter, with_longest] = times;
        let growth = Bar::AtMost(MOST_GROWTH);
        let ratio = with_longest / with_shorter;
        let verdict = if growth.met(ratio) { "met" } else { "**missed**" };
        let cells: Vec<_> = times.iter().map(|micros| millis(*micros)).collect();
        let _written =
            writeln!(text, "| {budget} | {} | {ratio:.2} | ≤ {MOST_GROWTH} | {verdict} |", cells.join(" | "));
    }
    let [.., budget] = BUDGETS;
    let _written = writeln!(text, "\n| {budget} tokens of {longest} turns | time | texts counted |\n|---|---|---|");
    let [.., [.., plain]] = section.times;
    let _written = writeln!(text, "| counted with `chars4` | {} | – |", millis(plain));
    let _written = writeln!(
        text,
        "| the same, with a search for a word that most turns have | {} | – |",
        millis(section.with_search)
    );
    for counting in &section.counting {
        let _written = writeln!(
            text,
            "| counted with `o200k`, {} | {} | {} |",
            counting.when,
            millis(counting.micros),
            counting.texts
        );
    }
    for (counter, micros) in section.peer.iter().flat_map(|peer| &peer.micros) {
        let _written = writeln!(text, "| LangChain's `trim_messages`, {counter} | {} | – |", millis(*micros));
    }
    text
}

fn millis(micros: f64) -> String {
    format!("{:.1} ms", micros / 1000.0)
}

const ON_POSTGRES: &str = "\
    Measured in the same run, on the same disk; the bar for one writer is in the first table. One private server serves all sides over a loopback port, \
    each in a database of its own, and is durable as PostgreSQL is by default.\n\
    PostgreSQL itself is the least that a client can ask of that server for the same: a prepared statement on one \
    connection, or on as many as there are writers, and a table of one column without an index.";

const LANGGRAPH_ON_POSTGRES: &str = "\
    LangGraph's saver is measured in each way in which it can be used well; the fastest counts and is named. For one \
    writer: a connection or a pipeline, with and without asyncio, and asyncio's pool. For 64 writers: threads with a \
    pool of 64, a connection each or a pipeline each, and asyncio with a pool of 64 and one saver or a saver each.\n\
    Conversation kept: through its delta channel. Newest state only: a checkpoint holds the newest payload and nothing \
    else. Materialize is beside loading the same messages: from the newest snapshot of the delta channel and the 99 \
    messages since, or from one checkpoint that holds them all. It has no question like resolve.";

fn postgres_table(section: &postgres::Section) -> String {
    let rows: String = section.rows.iter().map(postgres::Row::markdown).collect();
    format!("{}{rows}", postgres::Row::HEADER)
}

fn listed(versions: &BTreeMap<String, String>) -> String {
    let listed: Vec<_> = versions.iter().map(|(name, version)| format!("{name} {version}")).collect();
    listed.join(", ")
}
