//! `ctx export`: chains as one portable file.

use std::io::Write;

use clap::Args;
use contexture::{
    Contexture, EnvelopeFilter, Error as EngineError, ExportSummary, Filter, Reference,
    core::{CommitId, HeadName},
};

use crate::{
    destination::{Destination, DraftFile},
    error::{Error, Result},
    invocation::Invocation,
    last_session::or_last,
    output::{self, Output, Shape},
};

const EXAMPLES: &str = "\
Examples:
  ctx export main -o main.bundle
  ctx export main --masked -o main.bundle
      without the secrets in it; ids stay the same
  ctx export --all -o - | ssh other-host ctx import-bundle -
      everything, to another machine";

/// Writes commits with all that leads to them as one self-verifying file
///
/// Heads that are named go along, and so do the envelopes made from the commits. `ctx import-bundle` takes the file in; ids stay the same.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Export {
    /// What to export [default: the last session here]
    #[arg(value_name = "ID|HEAD|SESSION")]
    starts: Vec<Reference>,
    /// Exports every commit, all heads, and the envelopes that were made from no commit
    #[arg(long, conflicts_with = "starts")]
    all: bool,
    /// Exports secrets as they are; without it, a chain with secrets in it is refused. The journal tells who did so
    #[arg(long)]
    reveal: bool,
    /// Leaves content with secrets in it out: its id goes along, and its masked form to show for it
    #[arg(long, conflicts_with = "reveal")]
    masked: bool,
    /// Where to write it; a file appears once it is whole
    #[arg(short, long, value_name = "FILE", value_parser = Destination::parser())]
    output: Destination,
}

impl Export {
    pub(crate) async fn run(mut self, invocation: &Invocation, output: &mut Output) -> Result<()> {
        self.output.check(output, "bundle")?;
        let engine = invocation.open_disclosing(self.reveal).await?;
        if self.starts.is_empty() && !self.all {
            self.starts.push(or_last(None, &engine, output).await?);
        }
        let chosen = self.chosen(&engine).await?;
        let failed = |error| self.output.failed(error);
        let Destination::File(path) = &self.output else {
            let summary = chosen.export(&engine, self.masked, output.data()).await.map_err(failed)?;
            engine.record_reveal(format!("export {}", self.words())).await?;
            output.flush()?;
            output.remark(summary_text(&summary, &self.output));
            return Ok(());
        };
        let mut draft = DraftFile::start(path)?;
        let sink = output.progress("Exporting", None).track(draft.file());
        let summary = chosen.export(&engine, self.masked, sink).await.map_err(failed)?;
        engine.record_reveal(format!("export {}", self.words())).await?;
        draft.publish()?;
        match output.shape() {
            Shape::Json => output.document(summary)?,
            Shape::Text => output.status(summary_text(&summary, &self.output)),
        }
        Ok(())
    }

    /// Returns what was asked for.
    fn words(&self) -> String {
        if self.all {
            return "--all".to_owned();
        }
        self.starts.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
    }

    async fn chosen(&self, engine: &Contexture) -> Result<Chosen> {
        if self.all {
            let is_empty = engine.list(&Filter::default(), None, 1).await?.is_empty()
                && engine.heads("", None, 1).await?.is_empty()
                && engine.envelopes().list(&EnvelopeFilter::default(), None, 1).await?.is_empty();
            if is_empty {
                return Err(Error::NoHeads);
            }
            return Ok(Chosen::Everything);
        }
        let (mut commits, mut heads) = (Vec::new(), Vec::new());
        for reference in &self.starts {
            match engine.find_with_head(reference).await? {
                (_, Some(head)) => heads.push(head),
                (commit, None) => commits.push(commit),
            }
        }
        Ok(Chosen::From(commits, heads))
    }
}

/// What goes into the bundle.
enum Chosen {
    Everything,
    From(Vec<CommitId>, Vec<HeadName>),
}

impl Chosen {
    async fn export<W: Write + Send>(
        &self,
        engine: &Contexture,
        masked: bool,
        sink: W,
    ) -> Result<ExportSummary, EngineError> {
        match self {
            Self::Everything if masked => engine.export_all_masked(sink).await,
            Self::Everything => engine.export_all(sink).await,
            Self::From(commits, heads) if masked => engine.export_masked(commits, heads, sink).await,
            Self::From(commits, heads) => engine.export(commits, heads, sink).await,
        }
    }
}

fn summary_text(summary: &ExportSummary, destination: &Destination) -> String {
    let ExportSummary { commits, artifacts, artifact_bytes, annotations, heads, envelopes, left_out_artifacts } =
        summary;
    let envelopes =
        if *envelopes > 0 { format!(", {}", output::counted(*envelopes, "envelope")) } else { String::new() };
    let left_out = if *left_out_artifacts > 0 {
        format!(" The content of {} is left out.", output::counted(*left_out_artifacts, "artifact"))
    } else {
        String::new()
    };
    format!(
        "Exported {}, {} ({}), {}{envelopes} and {} to {destination}.{left_out}",
        output::counted(*commits, "commit"),
        output::counted(*artifacts, "artifact"),
        output::size(*artifact_bytes),
        output::counted(*annotations, "annotation"),
        output::counted(*heads, "head"),
    )
}
