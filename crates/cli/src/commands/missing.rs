//! `ctx missing`: what is known not to be there.

use clap::{Args, Subcommand};
use contexture::{
    MissingFilter as Filter,
    assembly::standard::{MissingContext, MissingStatus},
    core::{MissingPrefix, Stream},
};

use crate::{
    error::Result,
    invocation::Invocation,
    output::{self, Output, Shape},
};

const EXAMPLES: &str = "\
Examples:
  ctx missing list
  ctx missing list --stream \"main resume\" --status resolved
  ctx missing resolve mis-8d3f --with art-41c0 --note \"the file was moved\"
  ctx missing resolve mis-8d3f --status declined";

/// Lists and settles what assemblies could not find or fit
///
/// A gap is raised when a file or artifact cannot be read or a required item does not fit. Open ones are told to
/// the model in the prompts of the same stream, by recipes that have the source `missing`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Missing {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Lists gaps, the newest first
    List {
        /// Only those with this status
        #[arg(long, value_name = "S", default_value = "open")]
        status: MissingStatus,
        /// Whatever their status
        #[arg(long, conflicts_with = "status")]
        all: bool,
        /// Only those of this stream
        #[arg(long, value_name = "S")]
        stream: Option<Stream>,
        /// Shows so many at most
        #[arg(short = 'n', value_name = "N", default_value_t = 50)]
        limit: u32,
    },
    /// Says what became of a gap
    Resolve {
        /// The gap: its id, or the first digits of it
        #[arg(value_name = "ID")]
        id: MissingPrefix,
        /// What became of it
        #[arg(long, value_name = "S", default_value = "resolved")]
        status: MissingStatus,
        /// What answers it, such as an artifact or a commit; can be given several times
        #[arg(long = "with", value_name = "REF")]
        with: Vec<String>,
        /// What is to be remembered about it
        #[arg(long, value_name = "TEXT")]
        note: Option<String>,
    },
}

impl Missing {
    pub(crate) async fn run(self, invocation: &Invocation, output: &mut Output) -> Result<()> {
        let engine = invocation.open().await?;
        match self.action {
            Action::List { status, all, stream, limit } => {
                let status = (!all).then(|| contexture::core::GapStatus::new(status.as_str())).transpose();
                let status = status.map_err(contexture::Error::from)?;
                let found = engine.list_missing(&Filter { status, stream, ..Filter::default() }, None, limit).await?;
                if found.is_empty() && output.shape() == Shape::Text {
                    output.status("Nothing is missing.");
                }
                for stored in found {
                    let record = engine.missing_record(&stored)?;
                    match output.shape() {
                        Shape::Json => output.document(record)?,
                        Shape::Text => {
                            let (id, faint) = (output.palette.id, output.palette.faint);
                            let when = output::relative(engine.now(), record.created_at);
                            let MissingContext { severity, status, question, .. } = &record;
                            let short = stored.missing.id.short();
                            output.line(format_args!(
                                "{id}{short}{id:#}  {severity:<8}  {status:<8}  {faint}{when}{faint:#}\n    {question}"
                            ))?;
                        }
                    }
                }
                Ok(())
            }
            Action::Resolve { id, status, with, note } => {
                let id = engine.find_missing(&id).await?;
                let record = engine.settle_missing(id, status, with, note).await?;
                match output.shape() {
                    Shape::Json => output.document(record),
                    Shape::Text => output.line(format_args!("{id} is {}", record.status)),
                }
            }
        }
    }
}
