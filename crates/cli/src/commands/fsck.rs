//! `ctx fsck`: is everything in the store what it claims to be?

use clap::Args;
use contexture::fsck::{CheckedCounts, Progress};

use crate::{
    error::{Error, Result},
    invocation::Invocation,
    output::{self, Output, Shape},
};

const EXAMPLES: &str = "\
Examples:
  ctx fsck
  ctx fsck --json
      one document with all counts and problems";

/// Checks everything in the space and says what is damaged
///
/// Reads every byte: digests of artifacts and commits, links between them, heads, the chain of the journal. Prints one
/// line per problem and exits with 4 when there is one. It repairs nothing.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Fsck {}

impl Fsck {
    pub(crate) async fn run(self, invocation: &Invocation, output: &mut Output) -> Result<()> {
        let engine = invocation.open().await?;
        let report = {
            let bar = output.progress("Checking", None);
            let mut advance = |Progress { phase, done, total }| bar.advance(phase.as_str(), done, total);
            engine.fsck(&mut advance).await?
        };
        if output.shape() == Shape::Json {
            output.document(&report)?;
        } else {
            for problem in &report.problems {
                output.line(output::printable(&problem.to_string()))?;
            }
        }
        if !report.is_clean() {
            return Err(Error::Unsound { problems: report.problems.len() as u64 + report.problems_left_out });
        }
        if output.shape() == Shape::Text {
            output.status(counts_text(report.checked));
            if let Some(unused) = report.unreferenced.filter(|unused| unused.artifacts > 0) {
                let (artifacts, size) = (output::counted(unused.artifacts, "artifact"), output::size(unused.bytes));
                output.status(format_args!("Nothing refers to {artifacts} ({size}), which is no fault."));
            }
        }
        Ok(())
    }
}

fn counts_text(checked: CheckedCounts) -> String {
    let CheckedCounts { artifacts, bytes, commits, heads, annotations, envelopes, journal_records, .. } = checked;
    let envelopes = if envelopes > 0 { format!(", {}", output::counted(envelopes, "envelope")) } else { String::new() };
    format!(
        "Checked {}, {} ({}), {}, {}{envelopes} and {}: nothing is wrong.",
        output::counted(commits, "commit"),
        output::counted(artifacts, "artifact"),
        output::size(bytes),
        output::counted(heads, "head"),
        output::counted(annotations, "annotation"),
        output::counted(journal_records, "journal record"),
    )
}
