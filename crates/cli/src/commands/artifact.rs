//! `ctx artifact`: bytes by themselves.

use clap::{Args, Subcommand};
use contexture::{
    Contexture,
    core::{ArtifactId, ArtifactPrefix},
    wire::MeasuredArtifact,
};

use crate::{
    destination::{Destination, DraftFile},
    error::{Error, Result},
    input::{Input, OpenInput},
    invocation::Invocation,
    output::{self, Output, Shape},
};

const EXAMPLES: &str = "\
Examples:
  ctx artifact put screenshot.png
      prints its id: art- and what `b3sum` prints for the same bytes
  ctx artifact get art-6437 -o screenshot.png
  ctx artifact stat art-6437";

/// Stores, writes and measures artifacts: immutable bytes named by their BLAKE3
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Artifact {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Stores bytes of any size and prints their id
    Put {
        /// The bytes: a file, or `-` for standard input
        #[arg(value_name = "FILE", value_parser = Input::parser())]
        file: Input,
    },
    /// Writes the bytes of an artifact, checked on the way
    Get {
        /// The artifact
        #[arg(value_name = "ID")]
        id: ArtifactPrefix,
        /// Shows secrets as they are instead of placeholders; the journal tells who did so
        #[arg(long)]
        reveal: bool,
        /// Where to write them; a file appears once it is whole
        #[arg(short, long, value_name = "FILE", default_value = "-", value_parser = Destination::parser())]
        output: Destination,
    },
    /// Shows what is known of an artifact without reading it
    Stat {
        /// The artifact
        #[arg(value_name = "ID")]
        id: ArtifactPrefix,
    },
}

impl Artifact {
    pub(crate) async fn run(self, invocation: &Invocation, output: &mut Output) -> Result<()> {
        match self.action {
            Action::Put { file } => put(invocation, file, output).await,
            Action::Get { id, reveal, output: destination } => {
                destination.check(output, "artifact")?;
                let engine = invocation.open_disclosing(reveal).await?;
                let id = engine.find_artifact(&id).await?;
                output.tell_masked(engine.secrets().in_artifact(id).await?, reveal);
                engine.record_reveal(format!("artifact get {id}")).await?;
                get(&engine, id, &destination, output).await?;
                // Other bytes than the id names came out.
                if let Some(content) = engine.withheld_artifact(id).await? {
                    output.status(format_args!("Note: {}.", output::printable(&content.to_string())));
                }
                Ok(())
            }
            Action::Stat { id } => {
                let engine = invocation.open().await?;
                let id = engine.find_artifact(&id).await?;
                stat(&engine, id, output).await
            }
        }
    }
}

async fn put(invocation: &Invocation, file: Input, output: &mut Output) -> Result<()> {
    let OpenInput { reader, size } = file.open()?;
    let engine = invocation.open().await?;
    let reader = output.progress("Storing", size).track(reader);
    let stored = engine.put_artifact(reader).await.map_err(|error| Error::about(file, error))?;
    match output.shape() {
        Shape::Text => output.line(stored.id),
        Shape::Json => output.document(MeasuredArtifact::from(&stored)),
    }
}

async fn get(engine: &Contexture, id: ArtifactId, destination: &Destination, output: &mut Output) -> Result<()> {
    let failed = |error| destination.failed(error);
    let Destination::File(path) = destination else {
        return engine.get_artifact(id, output.data()).await.map(drop).map_err(failed);
    };
    let total = engine.stat_artifact(id).await?.size;
    let mut draft = DraftFile::start(path)?;
    let size = {
        let mut sink = output.progress("Writing", Some(total)).track(draft.file());
        engine.get_artifact(id, &mut sink).await.map_err(failed)?
    };
    draft.publish()?;
    match output.shape() {
        Shape::Json => output.document(MeasuredArtifact { id, size, new_bytes: None })?,
        Shape::Text => output.status(format_args!("Wrote {} to {destination}.", output::size(size))),
    }
    Ok(())
}

async fn stat(engine: &Contexture, id: ArtifactId, output: &mut Output) -> Result<()> {
    let stat = engine.stat_artifact(id).await?;
    if output.shape() == Shape::Json {
        return output.document(stat);
    }
    let mut fields = vec![("artifact", stat.id.to_string()), ("size", output::size(stat.size))];
    fields.push(("stored", format!("{} as {}", output::size(stat.stored_bytes), stat.encoding)));
    if stat.parts > 0 {
        fields.push(("parts", output::count(stat.parts)));
    }
    for (name, value) in fields {
        let strong = output.palette.strong;
        output.line(format_args!("{strong}{name:<10}{strong:#} {value}"))?;
    }
    Ok(())
}
