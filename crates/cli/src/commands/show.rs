//! `ctx show`: everything that is known of a commit.

use clap::Args;
use contexture::{
    Reference, Stop,
    core::{Annotation, CommitId, Coverage, Noted, Timestamp},
    wire::{CommitDocument, ShownCommit},
};

use crate::{
    commands::cat::{self, CatReading},
    conversation::ShownDetail,
    error::Result,
    invocation::Invocation,
    last_session::or_last,
    output::{self, Output, Shape},
};

const EXAMPLES: &str = "\
Examples:
  ctx show main
  ctx show ctx-8d3f --json
  ctx show main --entries
      what was said in that step";

/// Shows a commit: every field, what was said about it, and what points to it
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Show {
    /// The commit, or the session [default: the last session here]
    #[arg(value_name = "ID|HEAD|SESSION")]
    commit: Option<Reference>,
    /// Shows what its content says instead, as `ctx cat` does
    #[arg(long)]
    entries: bool,
    /// Unfolds everything in the entries
    #[arg(long, requires = "entries")]
    full: bool,
}

impl Show {
    pub(crate) async fn run(self, invocation: &Invocation, output: &mut Output) -> Result<()> {
        let engine = invocation.open().await?;
        let id = engine.find(&or_last(self.commit, &engine, output).await?).await?;
        if self.entries {
            let entries = engine.entries(Some(id), Stop::At(id)).await?;
            output.page(invocation.environment.pager().as_ref());
            let detail = if self.full { ShownDetail::Full } else { ShownDetail::Folded };
            return cat::read(entries, CatReading { detail, last: None }, output).await;
        }
        let shown = ShownCommit::load(&engine, id).await?;
        if output.shape() == Shape::Json {
            return output.document(shown);
        }
        for (name, value) in fields(&shown, engine.now()) {
            let strong = output.palette.strong;
            output.line(format_args!("{strong}{name:<10}{strong:#} {value}"))?;
        }
        print_summaries(&shown, engine.now(), output)
    }
}

/// Returns what is known, each with its name, in reading order.
fn fields(shown: &ShownCommit, now: Timestamp) -> Vec<(&'static str, String)> {
    let CommitDocument { id, commit, seq, depth, annotations, heads, .. } = &shown.commit;
    let provenance = &commit.provenance;
    let mut fields = vec![("commit", id.to_string()), ("type", commit.kind.to_string())];
    fields.push(("parent", commit.parent.map_or("none".to_owned(), |parent| parent.to_string())));
    fields.extend(commit.merges.iter().map(|merged| ("merges", merged.to_string())));
    fields.push(("depth", output::count(*depth)));
    fields.push(("artifact", commit.artifact.to_string()));
    fields.push(("size", shown.size.map_or_else(|| "not in the store".to_owned(), output::size)));
    fields.extend(shown.withheld.iter().map(|content| ("content", output::printable(&content.fate()).into_owned())));
    fields.push(("format", commit.format.to_string()));
    fields.extend(commit.message_count.map(|messages| ("messages", output::count(messages.get()))));
    fields.extend(commit.token_count.map(|tokens| ("tokens", output::count(tokens.get()))));
    fields.push(("created", at(now, commit.created_at)));
    fields.push(("trigger", commit.trigger.to_string()));
    let named = [
        ("template", provenance.template.as_ref().map(ToString::to_string)),
        ("principal", provenance.principal.as_ref().map(ToString::to_string)),
        ("machine", provenance.machine.as_ref().map(ToString::to_string)),
        ("session", provenance.session.as_ref().map(ToString::to_string)),
        ("ticket", provenance.ticket.as_ref().map(ToString::to_string)),
        ("thread", provenance.thread.as_ref().map(ToString::to_string)),
    ];
    fields.extend(named.into_iter().filter_map(|(name, value)| Some((name, value?))));
    fields.push(("journal", format!("record {seq}")));
    fields.push(("children", children(shown.children)));
    fields.extend(heads.iter().map(|head| ("head", head.to_string())));
    fields.extend(annotations.tags.iter().map(|tag| ("tag", tag.to_string())));
    let label = |(key, value)| ("label", format!("{key}={}", output::printable(value)));
    fields.extend(annotations.labels.iter().map(|(key, value)| label((key, value.as_str()))));
    if let Some(coverage) = &annotations.coverage {
        fields.push(("covers", covers(coverage)));
        let losses = coverage.losses.iter();
        fields.extend(losses.map(|loss| ("leaves out", output::first_line(loss.as_str()).into_owned())));
    }
    fields
}

/// Prints every summary there was, the one in force first.
fn print_summaries(shown: &ShownCommit, now: Timestamp, output: &mut Output) -> Result<()> {
    let mut heading = "summary";
    for Noted { annotation, author, at: when } in shown.commit.annotation_history.iter().rev() {
        let Annotation::Summary { text } = annotation else {
            continue;
        };
        let strong = output.palette.strong;
        output.line("")?;
        output.line(format_args!("{strong}{heading}{strong:#} by {author}, {}", at(now, *when)))?;
        let text = if text.as_str().is_empty() { "(withdrawn)" } else { text.as_str() };
        for line in output::printable(text).lines() {
            output.line(format_args!("    {line}"))?;
        }
        heading = "earlier summary";
    }
    Ok(())
}

fn at(now: Timestamp, then: Timestamp) -> String {
    format!("{then} ({})", output::relative(now, then))
}

fn children(count: usize) -> String {
    const MAX_CHILDREN: u32 = ShownCommit::MAX_CHILDREN;
    if count >= MAX_CHILDREN as usize { format!("{MAX_CHILDREN} or more") } else { count.to_string() }
}

fn covers(coverage: &Coverage) -> String {
    let Coverage { first, last, commits, messages, bytes, .. } = coverage;
    let (first, last) = (CommitId::short(first), CommitId::short(last));
    let commits = output::counted(commits.get(), "commit");
    let messages = output::counted(messages.get(), "message");
    format!("{commits} from {first} to {last} with {messages}, {}", output::size(bytes.get()))
}
