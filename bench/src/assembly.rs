//! Assembly: a context of so many tokens out of histories of different lengths, and its envelope, durable.
//!
//! Every history lies in a store of its own. Before each round a turn is added to it, as in a session that goes on, so
//! that no assembly finds what it writes in the store already.

mod history;

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    time::Instant,
};

use contexture::{
    Assemble, TriggerMessage,
    assembly::recipe::{self, BudgetLimits, Recipe, RecipeProvenance},
    core::{CommitId, Stream},
};

use crate::{
    Result,
    payload::Payloads,
    peers::{self, Python, Trimming},
    rows::{Bar, Row},
    sample::Samples,
    subject, workload,
};
use history::History;

/// Turns in the histories.
pub(crate) const TURNS: [u64; 3] = [100, 1_000, 10_000];
/// Tokens of the budgets.
pub(crate) const BUDGETS: [u64; 3] = [4_000, 20_000, 100_000];
/// What the time with the longest history may be of that with the one before it.
pub(crate) const MOST_GROWTH: f64 = 1.2;
/// How the peer counts that the largest budget is compared with.
const TRIM_COUNTER: &str = "characters / 4";
/// Bytes of a checkpoint that the smallest budget is compared with, and how many there are before the assemblies of a round.
const CHECKPOINT: usize = 4096;
const CHECKPOINTS_PER_ROUND: usize = 8;
/// Assemblies of one round, which follow each other as turns do.
const PER_ROUND: usize = 5;
/// Turns between two places at which everything is counted for the first time; more than are read for one assembly.
const APART: usize = 500;
/// What the model is asked. It has no word that is long enough to be searched for.
const ASKED: &str = "Go on.";
/// What is asked where the search is measured too.
const ASKED_ABOUT: &str = "Why is there a timeout?";

/// What one run found.
pub(crate) struct Section {
    /// Microseconds by budget and history.
    pub(crate) times: [[f64; TURNS.len()]; BUDGETS.len()],
    /// Microseconds of the largest budget and the longest history, with a search for a word of what is asked.
    pub(crate) with_search: f64,
    pub(crate) counting: Vec<Counting>,
    /// Microseconds of one durable checkpoint of 4 KiB in a store of its own, between the assemblies.
    pub(crate) checkpoint: f64,
    pub(crate) peer: Option<Trimming>,
}

impl Section {
    /// Returns the rows that have bars: the largest budget beside a peer, the smallest beside a checkpoint.
    pub(crate) fn rows(&self) -> [Row; 2] {
        let [[.., small], .., [.., large]] = self.times;
        let peer = self.peer.as_ref().and_then(|peer| peer.micros.get(TRIM_COUNTER)).copied();
        let millis = |micros: f64| format!("{:.1} ms", micros / 1000.0);
        [
            Row {
                what: "assembly of 100,000 tokens of 10,000 turns",
                ours: millis(large),
                peer: peer.map_or_else(
                    || "LangChain's `trim_messages` (left out)".to_owned(),
                    |peer| format!("LangChain's `trim_messages`, {TRIM_COUNTER}, in memory {}", millis(peer)),
                ),
                ratio: peer.map_or(f64::NAN, |peer| large / peer),
                bar: Bar::AtMost(0.5),
                if_missed: "\
                    An assembly reads its messages from the store, renders them and keeps them with its envelope, durable. \
                    What the assembly before read and prepared is not read and prepared again; what is left is to compress \
                    the envelope, to render the whole and to wait for the disk, each less than a sixth.",
            },
            Row {
                what: "assembly of 4,000 tokens of 10,000 turns",
                ours: millis(small),
                peer: format!("one durable checkpoint of 4 KiB {:.0} µs", self.checkpoint),
                ratio: small / self.checkpoint,
                bar: Bar::AtMost(12.0),
                if_missed: "An assembly of 4,000 tokens reads 16 turns and 128 summaries and keeps about 300 KB.",
            },
        ]
    }
}

/// An assembly with a counter whose counts are kept.
pub(crate) struct Counting {
    pub(crate) when: &'static str,
    pub(crate) micros: f64,
    /// How many texts were counted, in the last round.
    pub(crate) texts: u64,
}

/// Measures everything.
pub(crate) async fn measure(scratch: &Path, rounds: usize, python: Option<&Python>) -> Result<Section> {
    let mut histories = Vec::new();
    for turns in TURNS {
        eprintln!("Writing a history of {turns} turns …");
        histories.push(History::write(&scratch.join(format!("assembly-{turns}")), turns).await?);
    }
    let peer = match python {
        Some(python) => Some(peers::trim_messages(python, scratch, history::turns(TURNS[2]), BUDGETS[2])?),
        None => None,
    };
    eprintln!("Measuring assembly …");
    let mut samples: [[Samples; TURNS.len()]; BUDGETS.len()] = Default::default();
    let (payloads, mut checkpoints) = (Payloads::new(CHECKPOINT), Samples::default());
    let beside = subject::open(scratch.join("assembly-checkpoints").as_path()).await?;
    // The first round warms everything up.
    for round in 0..=rounds * PER_ROUND {
        for n in (0u64..).take(CHECKPOINTS_PER_ROUND) {
            let took = workload::checkpoint(&beside, payloads.line((round * CHECKPOINTS_PER_ROUND) as u64 + n)).await?;
            if round > 0 {
                checkpoints.push(took);
            }
        }
        for (at, history) in histories.iter_mut().enumerate() {
            let tip = history.go_on().await?;
            for (samples, budget) in samples.iter_mut().zip(BUDGETS) {
                let start = Instant::now();
                history.store.assemble(&request(tip, budget, "chars4", ASKED)?).await?;
                if round > 0 {
                    samples[at].push(start.elapsed());
                }
            }
        }
    }
    let [.., longest] = histories.as_mut_slice() else { return Err("there is no history".into()) };
    let with_search = searching(longest, rounds).await?;
    let counting = counting(longest, rounds).await?;
    let times = samples.map(|row| row.map(|samples| samples.median()));
    Ok(Section { times, with_search, counting, checkpoint: checkpoints.median(), peer })
}

/// Measures the largest budget with a search for a word that is in most turns.
async fn searching(history: &mut History, rounds: usize) -> Result<f64> {
    let mut samples = Samples::default();
    for round in 0..=rounds * PER_ROUND {
        let tip = history.go_on().await?;
        let start = Instant::now();
        history.store.assemble(&request(tip, BUDGETS[2], "chars4", ASKED_ABOUT)?).await?;
        if round > 0 {
            samples.push(start.elapsed());
        }
    }
    Ok(samples.median())
}

/// Measures the first time that texts are counted, the second, and the next turn, each round elsewhere in the history.
async fn counting(history: &History, rounds: usize) -> Result<Vec<Counting>> {
    let whens = ["first time", "the same again", "one turn later"];
    let mut found: [(Samples, u64); 3] = Default::default();
    for round in 0..rounds {
        let at = history.commits.len().checked_sub(2 + round * APART).ok_or("there are too many rounds")?;
        let places = [history.commits[at], history.commits[at], history.commits[at + 1]];
        for ((samples, texts), commit) in found.iter_mut().zip(places) {
            let start = Instant::now();
            let assembled = history.store.assemble(&request(commit, BUDGETS[2], "o200k", ASKED)?).await?;
            samples.push(start.elapsed());
            *texts = assembled.texts_counted;
        }
    }
    let counting = whens.into_iter().zip(found);
    Ok(counting.map(|(when, (samples, texts))| Counting { when, micros: samples.median(), texts }).collect())
}

fn request(commit: CommitId, budget: u64, counter: &str, asked: &str) -> Result<Assemble> {
    Ok(Assemble {
        recipe: resume(budget, counter)?,
        provenance: RecipeProvenance::BuiltIn,
        commit: Some(commit),
        head: None,
        stream: Some(Stream::new(format!("{budget} {counter}"))?),
        trigger: Some(TriggerMessage { text: asked.to_owned(), data: None }),
        items: Vec::new(),
        files: Vec::new(),
        directory: PathBuf::from("/nowhere"),
        channel: None,
        correlation: BTreeMap::new(),
    })
}

/// Returns the built-in recipe for going on with a session, with another budget that is shared out alike.
fn resume(budget: u64, counter: &str) -> Result<Recipe> {
    let built_in = recipe::built_in().into_iter().find(|built_in| built_in.name == "resume");
    let mut recipe = built_in.ok_or("there is no recipe to resume")?.recipe();
    let whole = recipe.budget.limits.max_tokens.ok_or("the recipe has no budget")?;
    for segment in &mut recipe.segments {
        segment.reserve = segment.reserve * budget / whole;
        segment.max_tokens = segment.max_tokens.map(|max| max * budget / whole);
    }
    recipe.budget.limits = BudgetLimits { max_tokens: Some(budget), ..BudgetLimits::default() };
    recipe.counter = Some(counter.to_owned());
    Ok(recipe)
}
