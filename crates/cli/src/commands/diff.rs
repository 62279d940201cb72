//! `ctx diff`: what one chain has that another has not, or what changed between two envelopes.

use std::collections::BTreeMap;

use clap::Args;
use contexture::{
    ChainDifference, ChainSide, Contexture, Error as EngineError, Reference, StoreError,
    core::CommitId,
    wire::{ComparedChains, HeadsByCommit},
};

use super::envelope;
use crate::{
    conversation,
    error::Result,
    invocation::Invocation,
    last_session::or_last,
    output::{self, Output, Shape},
    turn_text::TurnText,
    values::EnvelopeName,
};

/// Turns that are shown of a side where nobody says how many.
const USUAL_TURNS: usize = 20;
/// Files that are shown of each group.
const MAX_FILES: usize = 50;

const EXAMPLES: &str = "\
Examples:
  ctx diff main review
      the turns that only one of them has, and the files that only one or both changed
  ctx diff 1 2
      the same for the last two sessions here
  ctx diff --envelopes last~1 last
      what came into a model's context, and what went out, since the assembly before

The files are those that tool calls were to change, as far as the calls name them.";

/// Shows what one chain has that another has not
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Diff {
    /// The one, such as the older
    #[arg(value_name = "A")]
    before: String,
    /// The other [default: the last session here; with --envelopes, the last envelope]
    #[arg(value_name = "B")]
    after: Option<String>,
    /// Compares two envelopes: A and B are ids, `last`, `last~N` or `last:STREAM`
    #[arg(long)]
    envelopes: bool,
    /// Shows so many turns of each at most
    #[arg(short = 'n', value_name = "N", default_value_t = USUAL_TURNS)]
    limit: usize,
}

impl Diff {
    pub(crate) async fn run(self, invocation: &Invocation, output: &mut Output) -> Result<()> {
        let engine = invocation.open().await?;
        let is_envelope = |text: &String| text.starts_with("env-");
        if self.envelopes || (is_envelope(&self.before) && self.after.as_ref().is_none_or(is_envelope)) {
            let before = envelope::find(&engine, &envelope_name(&self.before)?).await?;
            let after = envelope::find(&engine, &envelope_name(self.after.as_deref().unwrap_or("last"))?).await?;
            return envelope::diff::tell(&engine, before, after, None, output).await;
        }
        let before = engine.find(&self.before.parse()?).await?;
        let named = self.after.as_deref().map(str::parse::<Reference>).transpose()?;
        let after = engine.find(&or_last(named, &engine, output).await?).await?;
        let difference = engine.compare(before, after).await?;
        let labels = HeadsByCommit::load(&engine).await?;
        if output.shape() == Shape::Json {
            return output.document(ComparedChains::new(difference, &labels));
        }
        output.page(invocation.environment.pager().as_ref());
        self.tell(&engine, &difference, &labels, output).await
    }

    async fn tell(
        &self,
        engine: &Contexture,
        difference: &ChainDifference,
        labels: &HeadsByCommit,
        output: &mut Output,
    ) -> Result<()> {
        let ChainDifference { base, before, after } = difference;
        output.line(relation(engine, *base, before, after).await?)?;
        let (added, removed) = (output.palette.added, output.palette.removed);
        for (side, name, style) in [(before, &self.before, removed), (after, &name_of(self.after.as_deref()), added)] {
            if side.turns.is_empty() {
                continue;
            }
            let own = output::counted(side.commits, "commit");
            let more = if side.is_cut { " or more" } else { "" };
            let turns = output::counted(side.turns.len() as u64, "turn");
            output.line("")?;
            output.line(format_args!("{style}only {}{style:#}: {turns}{more}, {own}", output::first_line(name)))?;
            let palette = output.palette;
            let columns = output.table_columns().saturating_sub(2);
            let text = TurnText { palette: &palette, labels, now: engine.now(), columns };
            for turn in side.turns.iter().take(self.limit) {
                output.line(format_args!("  {}", text.line(turn)))?;
            }
            if side.turns.len() > self.limit {
                let left = output::counted((side.turns.len() - self.limit) as u64, "earlier turn");
                output.line(format_args!("  and {left}; -n {} shows them", side.turns.len()))?;
            }
        }
        files(&before.files, &after.files, [&self.before, &name_of(self.after.as_deref())], output)
    }
}

fn envelope_name(text: &str) -> Result<EnvelopeName> {
    let unknown = |_| EngineError::from(StoreError::NoMatch { noun: "envelope", prefix: text.to_owned() });
    Ok(text.parse::<EnvelopeName>().map_err(unknown)?)
}

fn name_of(after: Option<&str>) -> String {
    after.unwrap_or("last").to_owned()
}

/// Says where two chains meet.
async fn relation(
    engine: &Contexture,
    base: Option<CommitId>,
    before: &ChainSide,
    after: &ChainSide,
) -> Result<String> {
    let (one, other) = (before.tip.short(), after.tip.short());
    let Some(base) = base else {
        return Ok(format!("{one} and {other} have no commit in common."));
    };
    Ok(match (before.commits, after.commits) {
        (0, 0) => format!("{one} is the same commit on both sides."),
        (0, ahead) => format!("{other} goes on from {one} with {}.", output::counted(ahead, "commit")),
        (ahead, 0) => format!("{one} goes on from {other} with {}.", output::counted(ahead, "commit")),
        _ => {
            let stored = engine.show(base).await?;
            let when = output::relative(engine.now(), stored.commit.created_at);
            let words = conversation::words(engine, &stored).await;
            format!("{one} and {other} go apart after {}, {when}: {words}", base.short())
        }
    })
}

/// Shows the files that both and only one of them changed.
fn files(
    before: &BTreeMap<String, u64>,
    after: &BTreeMap<String, u64>,
    names: [&str; 2],
    output: &mut Output,
) -> Result<()> {
    let both: Vec<&String> = before.keys().filter(|path| after.contains_key(*path)).collect();
    let only = |one: &BTreeMap<String, u64>, other: &BTreeMap<String, u64>| -> Vec<String> {
        one.keys().filter(|path| !other.contains_key(*path)).cloned().collect()
    };
    let (of_before, of_after) = (only(before, after), only(after, before));
    let (added, removed, strong) = (output.palette.added, output.palette.removed, output.palette.strong);
    let both = both.into_iter().cloned().collect();
    let groups = [
        (both, "both changed".to_owned(), "~", strong),
        (of_before, format!("only {} changed", output::first_line(names[0])), "-", removed),
        (of_after, format!("only {} changed", output::first_line(names[1])), "+", added),
    ];
    for (paths, title, sign, style) in groups {
        if paths.is_empty() {
            continue;
        }
        output.line("")?;
        output.line(format_args!("{strong}{title}{strong:#}"))?;
        for path in paths.iter().take(MAX_FILES) {
            output.line(format_args!("  {style}{sign} {}{style:#}", output::first_line(path)))?;
        }
        if paths.len() > MAX_FILES {
            output.line(format_args!("  and {}", output::counted((paths.len() - MAX_FILES) as u64, "more file")))?;
        }
    }
    Ok(())
}
