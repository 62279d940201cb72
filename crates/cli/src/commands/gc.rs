//! `ctx gc`: removes what nothing refers to.

use std::{str::FromStr, time::Duration};

use clap::Args;
use contexture::{
    CollectMode, CollectProgress, Collected, Collection, Contexture, KeptUnreferenced, wire::CollectedArtifacts,
};
use jiff::{Span, SpanRelativeTo};

use crate::{
    error::Result,
    invocation::Invocation,
    output::{self, Output, Shape},
};

const EXAMPLES: &str = "\
Examples:
  ctx gc --dry-run
      says what would go
  ctx gc
  ctx gc --grace 0s --shrink
      after a large import was given up, when nobody else writes: all that it left goes,
      and the file becomes smaller";

/// Removes what nothing refers to
///
/// Large content is stored piece by piece before a commit refers to it, so a program that is killed in between leaves
/// pieces that nothing refers to. The next try uses them again; what nobody tries again goes with this command. Nothing
/// goes that a commit, an envelope, an imported file or a larger artifact refers to, nor what `ctx artifact put` stored.
///
/// Others may read and write meanwhile. What is younger than the grace stays, because somebody may be about to refer to it.
/// In a store that is a directory the room is used again by what is stored next; `--shrink` gives it back to the disk.
/// PostgreSQL sees to that by itself.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Gc {
    /// Says what would go, and removes nothing
    #[arg(long)]
    dry_run: bool,
    /// How old what goes must be: such as `36h` or `7 days`
    #[arg(long, value_name = "DURATION", default_value = "24h")]
    grace: Grace,
    /// Writes the store's file anew without the room that nothing takes; nobody can write meanwhile
    #[arg(long, conflicts_with = "dry_run")]
    shrink: bool,
}

/// How old what nothing refers to must be.
#[derive(Debug, Clone, Copy)]
struct Grace(Duration);

/// Says that a text is no span of time.
#[derive(Debug, thiserror::Error)]
#[error("write 24h, 30m or \"7 days\"")]
struct GraceError;

/// What takes longer than this between storing content and referring to it is seldom but happens.
const SHORT_GRACE: Duration = Duration::from_hours(1);

impl FromStr for Grace {
    type Err = GraceError;

    fn from_str(text: &str) -> Result<Self, GraceError> {
        let span: Span = text.parse().map_err(|_| GraceError)?;
        let duration = span.to_duration(SpanRelativeTo::days_are_24_hours()).map_err(|_| GraceError)?;
        duration.try_into().map(Self).map_err(|_| GraceError)
    }
}

impl Gc {
    pub(crate) async fn run(self, invocation: &Invocation, output: &mut Output) -> Result<()> {
        let Self { dry_run, grace: Grace(grace), shrink } = self;
        let engine = invocation.open().await?;
        if !dry_run && grace < SHORT_GRACE {
            output.status(
                "With so short a grace, whoever is storing large content now may be told to do it again; nothing is damaged.",
            );
        }
        let mode = if dry_run { CollectMode::DryRun } else { CollectMode::Remove };
        let collected = {
            let bar = output.progress("Collecting", None);
            let mut advance = |CollectProgress { phase, done, total }| bar.advance(phase.as_str(), done, total);
            engine.collect(Collection { grace, mode }, &mut advance).await?
        };
        if shrink {
            engine.shrink_store().await?;
        }
        let document = measured(&engine, collected, dry_run).await?;
        match output.shape() {
            Shape::Json => output.document(document)?,
            Shape::Text => say(output, &document),
        }
        Ok(())
    }
}

async fn measured(engine: &Contexture, collected: Collected, dry_run: bool) -> Result<CollectedArtifacts> {
    let (spare_bytes, files) = (engine.spare_bytes().await?, engine.footprint().await?);
    Ok(CollectedArtifacts { dry_run, collected, spare_bytes, files })
}

fn say(output: &mut Output, document: &CollectedArtifacts) {
    let CollectedArtifacts { dry_run, collected, .. } = *document;
    let Collected { artifacts, bytes, stored_bytes, kept, renderings, rendering_bytes } = collected;
    let (verb, size, stored) =
        (if dry_run { "Would remove" } else { "Removed" }, output::size(bytes), output::size(stored_bytes));
    output.status(format_args!("{verb} {} ({size}, {stored} stored).", output::counted(artifacts, "artifact")));
    if renderings > 0 {
        let (count, size) = (output::counted(renderings, "translation"), output::size(rendering_bytes));
        output.status(format_args!("{verb} {count} ({size}) that nobody has asked for since; they are made again."));
    }
    let KeptUnreferenced { too_young, too_young_bytes, by_themselves, by_themselves_bytes } = kept;
    if too_young > 0 {
        let (artifacts, size) = (output::counted(too_young, "artifact"), output::size(too_young_bytes));
        output.status(format_args!(
            "Left {artifacts} ({size}) that nothing refers to and that may be too young to judge."
        ));
    }
    if by_themselves > 0 {
        let (artifacts, size) = (output::counted(by_themselves, "artifact"), output::size(by_themselves_bytes));
        output.status(format_args!("Left {artifacts} ({size}) that somebody stored by themselves."));
    }
    match document.spare_bytes {
        Some(spare) if spare > 0 && !dry_run => {
            let (spare, whole) = (output::size(spare), output::size(document.files.database_bytes));
            output.status(format_args!("Of the file's {whole}, {spare} are free for what is stored next."));
        }
        Some(_) | None => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grace_is_a_span_of_time() {
        let hours = |text: &str| text.parse::<Grace>().map(|Grace(grace)| grace.as_secs_f64() / 3600.0).ok();
        assert_eq!(
            [hours("24h"), hours("0s"), hours("7 days"), hours("30m")],
            [Some(24.0), Some(0.0), Some(168.0), Some(0.5)]
        );
        assert_eq!([hours(""), hours("soon"), hours("-1h"), hours("2h ago")], [None; 4]);
    }
}
