//! One row of the table, and how its figures compare.

use std::collections::BTreeMap;

use crate::{
    Result,
    peers::{LangGraphPostgres, Measurement, Ways},
    rows::{self, Bar},
    sample::median,
};

/// What a figure counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    Micros,
    PerSecond,
    MegabytesPerSecond,
}

impl Unit {
    /// Returns how much longer one thing takes than another.
    fn times(self, figure: f64, other: f64) -> f64 {
        match self {
            Self::Micros => figure / other,
            Self::PerSecond | Self::MegabytesPerSecond => other / figure,
        }
    }

    fn text(self, figure: f64) -> String {
        match self {
            Self::Micros => format!("{figure:.0} µs"),
            Self::PerSecond => format!("{figure:.0} per second"),
            Self::MegabytesPerSecond => format!("{figure:.0} MB/s"),
        }
    }
}

/// What one round found, of both sides that took turns.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Round {
    pub(crate) ours: f64,
    pub(crate) floor: f64,
}

/// Contexture beside PostgreSQL itself and LangGraph's saver.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) what: String,
    pub(crate) unit: Unit,
    /// What is asked of PostgreSQL itself.
    pub(crate) floor: &'static str,
    pub(crate) rounds: Vec<Round>,
    pub(crate) peer: Peer,
}

impl Row {
    pub(crate) const HEADER: &str = "\
        | what | ours | PostgreSQL itself | we take | LangGraph's saver, conversation kept | it takes \
        | LangGraph's saver, newest state only | it takes |\n\
        |---|---|---|---|---|---|---|---|\n";

    /// Returns how we compare with the saver in its best way that keeps the conversation, as a row with a bar.
    pub(crate) fn against_saver(&self, what: &'static str, bar: Bar, if_missed: &'static str) -> rows::Row {
        let ours = self.middle(|round| round.ours);
        let fastest = fastest(&self.peer.conversation, self.unit);
        rows::Row {
            what,
            ours: self.unit.text(ours),
            peer: fastest.map_or_else(
                || "not measured".to_owned(),
                |(way, figure)| format!("LangGraph saver, conversation kept ({way}): {}", self.unit.text(figure)),
            ),
            ratio: fastest.map_or(f64::NAN, |(_, figure)| self.unit.times(ours, figure)),
            bar,
            if_missed,
        }
    }

    fn middle(&self, side: fn(&Round) -> f64) -> f64 {
        median(self.rounds.iter().map(side).collect())
    }

    /// Returns the row as Markdown. A saver is compared with us, and we with PostgreSQL itself.
    pub(crate) fn markdown(&self) -> String {
        let ours = self.middle(|round| round.ours);
        let longer = median(self.rounds.iter().map(|round| self.unit.times(round.ours, round.floor)).collect());
        let beside = |rounds: &Rounds| match fastest(rounds, self.unit) {
            Some((way, figure)) => {
                format!("{} ({way}) | {:.2} × as long", self.unit.text(figure), self.unit.times(figure, ours))
            }
            None => "– | –".to_owned(),
        };
        format!(
            "| {} | {} | {}: {} | {longer:.2} × as long | {} | {} |\n",
            self.what,
            self.unit.text(ours),
            self.floor,
            self.unit.text(self.middle(|round| round.floor)),
            beside(&self.peer.conversation),
            beside(&self.peer.newest_only)
        )
    }
}

/// The figures of each way to use the saver, round by round.
type Rounds = BTreeMap<String, Vec<f64>>;

/// What LangGraph's saver was measured at; nothing where it has no equivalent or was left out.
#[derive(Debug, Default)]
pub(crate) struct Peer {
    newest_only: Rounds,
    conversation: Rounds,
    pub(crate) versions: BTreeMap<String, String>,
}

impl Peer {
    /// Takes one more round, if there is a saver.
    pub(crate) fn measure(&mut self, saver: Option<&LangGraphPostgres<'_>>, measurement: Measurement) -> Result<()> {
        let Some(saver) = saver else { return Ok(()) };
        let Ways { versions, newest_only, conversation } = saver.measure(measurement)?;
        for (rounds, figures) in [(&mut self.newest_only, newest_only), (&mut self.conversation, conversation)] {
            for (way, figure) in figures {
                rounds.entry(way).or_default().push(figure);
            }
        }
        self.versions = versions;
        Ok(())
    }
}

/// Returns the way whose median round is the fastest.
fn fastest(rounds: &Rounds, unit: Unit) -> Option<(&str, f64)> {
    let medians = rounds.iter().map(|(way, figures)| (way.as_str(), median(figures.clone())));
    medians.min_by(|(_, one), (_, other)| unit.times(*one, *other).total_cmp(&1.0))
}
