//! `ctx compact`: a summary takes the place of a history.

use clap::Args;
use contexture::{
    Compaction, Reference,
    core::{Annotation, Format, HeadName, LossNote, SummaryText},
};

use super::checkpoint::print_made;
use crate::{
    error::{Error, Result},
    input::Input,
    invocation::Invocation,
    output::Output,
    provenance::ProvenanceArgs,
    values,
};

/// Largest summary; one that replaces a history has no business to be as large as it.
const MAX_SUMMARY_MEBIBYTES: u64 = 64;

const EXAMPLES: &str = "\
Examples:
  ctx compact main --summary summary.txt --loss 'the exact stack traces'
      `main` moves to the compaction; from here on it starts with the summary
  ctx compact ctx-8d3f --summary - --head branch/short < summary.txt
  ctx materialize main --stop root
      shows that the history before a compaction is still there";

/// Records a summary that replaces a history from here on
///
/// Plain text becomes an entry of the chain's format. The history before it stays reachable.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Compact {
    /// The last commit that the summary replaces; a head moves to the compaction
    #[arg(value_name = "ID|HEAD")]
    commit: Reference,
    /// The summary: a file, or `-` for standard input
    #[arg(long, value_name = "FILE", value_parser = Input::parser())]
    summary: Input,
    /// The format of the summary [default: the chain's]
    #[arg(long, value_name = "F")]
    format: Option<Format>,
    /// Something that the summary is known to leave out
    #[arg(long = "loss", value_name = "NOTE", value_parser = values::text)]
    losses: Vec<LossNote>,
    /// The head to move to the compaction [default: the head that was named]
    #[arg(long, value_name = "NAME")]
    head: Option<HeadName>,
    #[command(flatten)]
    provenance: ProvenanceArgs,
}

impl Compact {
    pub(crate) async fn run(self, invocation: &Invocation, output: &mut Output) -> Result<()> {
        let input = self.summary;
        let summary = input
            .read_up_to(MAX_SUMMARY_MEBIBYTES * 1024 * 1024)?
            .ok_or_else(|| Error::LargeSummary { input: input.clone(), max_mebibytes: MAX_SUMMARY_MEBIBYTES })?;
        let engine = invocation.open_as(self.provenance.principal.as_ref()).await?;
        let (commit, named) = engine.find_with_head(&self.commit).await?;
        let compaction = Compaction {
            commit,
            annotations: annotation(&summary).into_iter().collect(),
            summary,
            format: self.format,
            losses: self.losses,
            provenance: self.provenance.resolve(&invocation.environment)?,
            head: self.head.or(named),
        };
        let made = engine.compact(compaction).await.map_err(|error| Error::about_summary(input, error))?;
        print_made(&made, output)
    }
}

/// Takes a summary that is plain text as what to say about the compaction, so that a log shows it.
fn annotation(summary: &[u8]) -> Option<Annotation> {
    let text = std::str::from_utf8(summary).ok()?.trim();
    let text = SummaryText::new(text).ok()?;
    (!text.as_str().starts_with(['{', '['])).then_some(Annotation::Summary { text })
}
