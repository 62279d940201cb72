//! `ctx export`: chains as one portable file.

use clap::Args;
use contexture::{ExportSummary, Reference};

use crate::{
    commit_text::HeadLabels,
    destination::{Destination, Draft},
    error::{Error, Result},
    invocation::Invocation,
    output::{self, Output, Shape},
    values,
};

const EXAMPLES: &str = "\
Examples:
  ctx export main -o main.bundle
  ctx export --all -o - | ssh other-host ctx import-bundle -
      everything that the heads reach, to another machine";

/// Writes commits with all that leads to them as one self-verifying file
///
/// Heads that are named go along. `ctx import-bundle` takes the file in; ids stay the same.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Export {
    /// What to export
    #[arg(value_name = "ID|HEAD", required_unless_present = "all")]
    starts: Vec<Reference>,
    /// Exports all heads
    #[arg(long, conflicts_with = "starts")]
    all: bool,
    /// Where to write it; a file appears once it is whole
    #[arg(short, long, value_name = "FILE", value_parser = Destination::parser())]
    output: Destination,
}

impl Export {
    pub(crate) async fn run(self, invocation: &Invocation, output: &mut Output) -> Result<()> {
        self.output.check(output, "bundle")?;
        let engine = invocation.open().await?;
        let (mut commits, mut heads) = (Vec::new(), Vec::new());
        if self.all {
            heads = HeadLabels::load(&engine).await?.into_names();
            if heads.is_empty() {
                return Err(Error::NoHeads);
            }
        }
        for reference in &self.starts {
            match values::find(&engine, reference).await? {
                (_, Some(head)) => heads.push(head),
                (commit, None) => commits.push(commit),
            }
        }
        let failed = |error| self.output.failed(error);
        let Destination::File(path) = &self.output else {
            let summary = engine.export(&commits, &heads, output.data()).await.map_err(failed)?;
            output.flush()?;
            output.remark(told(&summary, &self.output));
            return Ok(());
        };
        let mut draft = Draft::start(path)?;
        let sink = output.progress("Exporting", None).track(draft.file());
        let summary = engine.export(&commits, &heads, sink).await.map_err(failed)?;
        draft.publish()?;
        match output.shape() {
            Shape::Json => output.document(summary)?,
            Shape::Text => output.status(told(&summary, &self.output)),
        }
        Ok(())
    }
}

fn told(summary: &ExportSummary, destination: &Destination) -> String {
    let ExportSummary { commits, artifacts, artifact_bytes, annotations, heads } = summary;
    format!(
        "Exported {}, {} ({}), {} and {} to {destination}.",
        output::counted(*commits, "commit"),
        output::counted(*artifacts, "artifact"),
        output::size(*artifact_bytes),
        output::counted(*annotations, "annotation"),
        output::counted(*heads, "head"),
    )
}
