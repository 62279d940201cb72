//! `ctx materialize`: a chain becomes the conversation it stands for.

use std::path::PathBuf;

use clap::Args;
use contexture::{
    Materialized, RawContent, Stretch, Tier, TranslationLoss, core::Format, formats::dialogue::LossKind,
    wire::Versioned,
};

use crate::{
    destination::{Destination, DraftFile},
    error::Result,
    invocation::Invocation,
    output::{self, Output, Shape},
    values::{self, StartPoint, StopAt},
};

const EXAMPLES: &str = "\
Examples:
  ctx materialize main > conversation.jsonl
      what an agent must read to go on from `main`
  ctx materialize main --stop root -o everything.jsonl
      every entry since the beginning, compacted or not
  ctx materialize main --format codex-v1 --report losses.json -o rollout.jsonl
      the same conversation for another runtime, and what it loses on the way
  ctx materialize main --stop ctx-8d3f
      only what came since that commit, that commit included
  ctx materialize main --format opencode-v1 --keep -o session.json
      the result is an artifact too: whoever has its id gets the same bytes
  ctx materialize none
      a fresh start: the conversation of no commit is empty";

/// Writes the conversation of a commit
///
/// The stored bytes are joined as their format asks; they stream through bounded memory at any length. In another format
/// the conversation is translated, as faithfully as each of its stretches allows; the report tells how.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Materialize {
    /// The commit, or `none` for an empty conversation
    #[arg(value_name = "ID|HEAD|none")]
    commit: StartPoint,
    /// How far back to go: to the nearest `compaction` or snapshot, to the `root`, or to an ancestor, each included
    #[arg(long, value_name = "compaction|root|ID", default_value = "compaction")]
    stop: StopAt,
    /// The format to give it in [default: its own]
    #[arg(long, value_name = "F")]
    format: Option<Format>,
    /// The best tier allowed: `native` refuses to translate, `mapped` writes every entry anew, `rendered` tells all in one
    /// message, `raw` only says where the content is [default: the best for each stretch]
    #[arg(long, value_name = "TIER", value_parser = values::tier())]
    tier: Option<Tier>,
    /// Shows secrets as they are instead of placeholders; the journal tells who did so
    #[arg(long)]
    reveal: bool,
    /// Stores what comes out as an artifact too, which stays, and says which one
    #[arg(long)]
    keep: bool,
    /// Where to write what came out and what was lost, as JSON
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Where to write it; a file appears once it is whole
    #[arg(short, long, value_name = "FILE", default_value = "-", value_parser = Destination::parser())]
    output: Destination,
}

impl Materialize {
    pub(crate) async fn run(self, invocation: &Invocation, output: &mut Output) -> Result<()> {
        self.output.check(output, "conversation")?;
        let engine = invocation.open_disclosing(self.reveal).await?;
        let commit = match &self.commit {
            StartPoint::Nothing => None,
            StartPoint::At(reference) => Some(engine.find(reference).await?),
        };
        let stop = self.stop.resolve(&engine).await?;
        let materialization = match self.tier {
            None => engine.materialize(commit, stop, self.format).await?,
            Some(best) => engine.materialize_as(commit, stop, self.format, best).await?,
        };
        if let Some(commit) = commit {
            output.tell_masked(engine.secrets().in_chain(commit, stop).await?, self.reveal);
            engine.record_reveal(format!("materialize {commit}")).await?;
        }
        // A report that cannot be written is refused before anything else is.
        let report = self.report.as_deref().map(DraftFile::start).transpose()?;
        let failed = |error| self.output.failed(error);
        let Destination::File(path) = &self.output else {
            let counted = if self.keep {
                engine.keep_materialization(materialization, output.data()).await.map_err(failed)?
            } else {
                materialization.write_to(output.data()).await.map_err(failed)?
            };
            output.flush()?;
            publish_report(report, &counted)?;
            note_withheld(&counted, output);
            for line in describe(&counted) {
                output.remark(line);
            }
            if let Some(line) = stored(&counted).filter(|_| self.keep) {
                output.status(line);
            }
            return Ok(());
        };
        let mut draft = DraftFile::start(path)?;
        let counted = {
            let mut sink = output.progress("Writing", None).track(draft.file());
            if self.keep {
                engine.keep_materialization(materialization, &mut sink).await.map_err(failed)?
            } else {
                materialization.write_to(&mut sink).await.map_err(failed)?
            }
        };
        draft.publish()?;
        publish_report(report, &counted)?;
        match output.shape() {
            Shape::Json => output.document(&counted)?,
            Shape::Text => {
                for line in describe(&counted).into_iter().chain(stored(&counted).filter(|_| self.keep)) {
                    output.status(line);
                }
            }
        }
        Ok(())
    }
}

/// Says what was stored.
fn stored(counted: &Materialized) -> Option<String> {
    Some(format!("Kept as {}", counted.artifact?))
}

/// Says what is missing, to whoever reads the log too: no report may be asked for.
pub(super) fn note_withheld(counted: &Materialized, output: &mut Output) {
    let is_missing = |loss: &&TranslationLoss| matches!(loss.kind, LossKind::ContentWithheld | LossKind::PartWithheld);
    let commits = counted.losses.iter().filter(is_missing).count() as u64;
    if commits > 0 {
        let commits = output::counted(commits, "commit");
        output
            .status(format_args!("Note: content of {commits} was purged or did not come along; `ctx show` says why."));
    }
}

fn publish_report(draft: Option<DraftFile>, counted: &Materialized) -> Result<()> {
    let Some(mut draft) = draft else { return Ok(()) };
    let mut report = serde_json::to_vec(&Versioned::new(counted)).expect("a report has a JSON form");
    report.push(b'\n');
    draft.write_all(&report)?;
    draft.publish()
}

/// Tells what came out, in lines.
pub(super) fn describe(counted: &Materialized) -> Vec<String> {
    let Materialized { commits, messages, bytes, tokens, .. } = counted;
    let messages = messages.map(|messages| output::counted(messages, "message") + ", ").unwrap_or_default();
    let text = format!(
        "Materialized {}, {messages}{}, about {} tokens.",
        output::counted(*commits, "commit"),
        output::size(*bytes),
        output::about(*tokens),
    );
    let mut lines = vec![text];
    if counted.tier != Tier::Native {
        lines.push(translated(counted));
    }
    lines.extend(lost(counted));
    lines.extend(counted.raw.iter().map(raw));
    lines
}

/// Tells of what could not be read what it is and where one of it is.
fn raw(content: &RawContent) -> String {
    let RawContent { description, artifacts } = content;
    let first = artifacts.first().map(|first| format!("; `ctx artifact get {}`", first.artifact)).unwrap_or_default();
    let count = output::counted(artifacts.len() as u64, "artifact");
    format!("Not read: {count} of {}, {}{first}.", description.format, description.what)
}

/// Tells what was left out or changed, if anything was.
fn lost(counted: &Materialized) -> Option<String> {
    let mut losses: Vec<(String, u64)> = Vec::new();
    for loss in &counted.losses {
        let word = loss.kind.as_str().replace('_', " ");
        match losses.iter_mut().find(|(known, _)| *known == word) {
            Some((_, count)) => *count += loss.count,
            None => losses.push((word, loss.count)),
        }
    }
    let losses: Vec<_> = losses.iter().map(|(word, count)| format!("{word} ({})", output::count(*count))).collect();
    (!losses.is_empty()).then(|| format!("Lost or changed: {}.", losses.join(", ")))
}

/// Tells how a conversation was translated.
fn translated(counted: &Materialized) -> String {
    let commits = |stretch: &Stretch| format!("{} of {}", output::counted(stretch.commits, "commit"), stretch.format);
    let stretch = |stretch: &Stretch| format!("{} ({})", commits(stretch), stretch.tier);
    let (kept, mapped) = match counted.segments.as_slice() {
        [first, rest @ ..] if first.tier == Tier::Native => (Some(first), rest),
        all => (None, all),
    };
    let kept = kept.map_or_else(|| "Translated".to_owned(), |kept| format!("Kept {}, translated", commits(kept)));
    format!("{kept} {}.", mapped.iter().map(stretch).collect::<Vec<_>>().join(", "))
}
