//! `ctx import-bundle`: takes in what `ctx export` wrote.

use clap::Args;
use contexture::{ImportSummary, core::HeadName};

use crate::{
    error::{Error, Result},
    input::Input,
    invocation::Invocation,
    output::{self, Output, Shape},
};

const EXAMPLES: &str = "\
Examples:
  ctx import-bundle chains.bundle
  ctx --store ./copy import-bundle - < chains.bundle";

/// Most heads that are named of those that fared alike.
const MAX_NAMED: usize = 5;

/// Takes in a file that `ctx export` wrote
///
/// Nothing is stored before all of the file is proven whole; taking it in again changes nothing. A head moves only
/// forward: one that points to something the file does not continue stays where it is.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ImportBundle {
    /// The file, or `-` for standard input
    #[arg(value_name = "FILE", value_parser = Input::parser())]
    file: Input,
}

impl ImportBundle {
    pub(crate) async fn run(self, invocation: &Invocation, output: &mut Output) -> Result<()> {
        let (bundle, size) = self.file.open_seekable()?;
        let engine = invocation.open().await?;
        let bundle = output.progress("Reading", size).track(bundle);
        let summary = engine.import_bundle(bundle).await.map_err(|error| Error::about(self.file, error))?;
        if output.shape() == Shape::Json {
            return output.document(summary);
        }
        let ImportSummary {
            commits,
            new_commits,
            new_annotations,
            envelopes,
            new_envelopes,
            purged_artifacts,
            left_out_artifacts,
            moved_heads,
            kept_heads,
        } = summary;
        output.status(format_args!(
            "Took in {} of {} and {}.",
            output::count(new_commits),
            output::counted(commits, "commit"),
            output::counted(new_annotations, "annotation"),
        ));
        if envelopes > 0 {
            output.status(format_args!(
                "Took in {} of {}.",
                output::count(new_envelopes),
                output::counted(envelopes, "envelope")
            ));
        }
        if purged_artifacts > 0 {
            let artifacts = output::counted(purged_artifacts, "artifact");
            output.status(format_args!("The content of {artifacts} was purged here and stays so."));
        }
        if left_out_artifacts > 0 {
            let artifacts = output::counted(left_out_artifacts, "artifact");
            output.status(format_args!(
                "{artifacts} came without the original content, masked where there is a form to show."
            ));
        }
        tell_heads("made or moved", &moved_heads, output);
        tell_heads("left where they are, because they went another way", &kept_heads, output);
        Ok(())
    }
}

/// Tells what became of heads: how many they are, the first of them, and where the rest is.
fn tell_heads(fate: &str, heads: &[HeadName], output: &mut Output) {
    if heads.is_empty() {
        return;
    }
    output.status(format_args!("{} {fate}:", output::counted(heads.len() as u64, "head")));
    for head in heads.iter().take(MAX_NAMED) {
        output.status(format_args!("  {head}"));
    }
    if let Some(more) = heads.len().checked_sub(MAX_NAMED).filter(|more| *more > 0) {
        output.status(format_args!("  and {} more: `ctx head list` shows all", output::count(more as u64)));
    }
}
