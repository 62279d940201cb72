//! `ctx annotate`: say something about a commit after it was made.

use clap::{ArgGroup, Args};
use contexture::{
    Reference,
    core::{Annotation, SummaryText, Tag},
    wire::HeadsByCommit,
};

use crate::{
    error::{Error, Result},
    input::Input,
    invocation::Invocation,
    output::{self, Output, Shape},
    values::LabelValue,
};

const EXAMPLES: &str = "\
Examples:
  ctx annotate main --summary 'the test races with the server start' --tag root-cause
  ctx annotate ctx-8d3f --untag wip --label reviewed-by=grace
  generate-summary | ctx annotate main --summary -
  ctx annotate main --summary ''
      withdraws the summary; what was said before stays in the history of `ctx show`";

/// Adds a summary, tags or labels to a commit
///
/// Commits never change: annotations are added, the latest wins, and earlier ones are kept with author and time.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[command(group = ArgGroup::new("statement").required(true).multiple(true).args(["summary", "tags", "untags", "labels"]))]
pub(crate) struct Annotate {
    /// The commit
    #[arg(value_name = "ID|HEAD")]
    commit: Reference,
    /// What the agent understood at this point; `-` reads it from standard input
    #[arg(long, value_name = "TEXT|-")]
    summary: Option<String>,
    /// A word to attach
    #[arg(long = "tag", value_name = "T")]
    tags: Vec<Tag>,
    /// A word to take off
    #[arg(long = "untag", value_name = "T")]
    untags: Vec<Tag>,
    /// A label to set
    #[arg(long = "label", value_name = "K=V")]
    labels: Vec<LabelValue>,
}

impl Annotate {
    pub(crate) async fn run(self, invocation: &Invocation, output: &mut Output) -> Result<()> {
        let mut annotations = Vec::new();
        match self.summary.as_deref() {
            None => {}
            Some("-") => annotations.push(Annotation::Summary { text: read_summary()? }),
            Some(text) => annotations.push(Annotation::Summary { text: summary_text(text)? }),
        }
        annotations.extend(self.tags.into_iter().map(|tag| Annotation::Tag { tag }));
        annotations.extend(self.untags.into_iter().map(|tag| Annotation::Untag { tag }));
        annotations.extend(self.labels.into_iter().map(Annotation::from));
        let statements = annotations.len() as u64;
        let engine = invocation.open().await?;
        let id = engine.find(&self.commit).await?;
        engine.annotate(id, annotations).await?;
        if output.shape() == Shape::Json {
            let stored = engine.show(id).await?;
            return output.document(HeadsByCommit::load(&engine).await?.document(stored));
        }
        output.status(format_args!("Annotated {} with {}.", id.short(), output::counted(statements, "statement")));
        Ok(())
    }
}

/// Reads a summary from standard input, without the white space around it.
fn read_summary() -> Result<SummaryText> {
    let input = Input::Stdin;
    // One byte too many is enough to be refused with the number that is allowed.
    let bytes = input.read_up_to(64 * 1024 * 1024)?;
    let bytes = bytes.ok_or_else(|| Error::LargeSummary { input: input.clone(), max_mebibytes: 64 })?;
    let text = String::from_utf8(bytes).map_err(|_| Error::BinarySummary { input })?;
    summary_text(text.trim())
}

fn summary_text(text: &str) -> Result<SummaryText> {
    Ok(SummaryText::new(text).map_err(contexture::Error::from)?)
}
