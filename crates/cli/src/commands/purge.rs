//! `ctx purge`: content goes for good.

mod spooled;

use clap::Args;
use contexture::{
    Contexture, Erasure, Filter, HeadReach, PurgePlan, PurgeTarget, PurgedFile, Purging, Reference,
    core::{ArtifactPrefix, CommitId, EnvelopeId, Fingerprint, RuntimeSessionId},
    wire::PurgeReport,
};

use crate::{
    error::{Error, Result},
    invocation::Invocation,
    output::{self, Output, Shape},
};

const EXAMPLES: &str = "\
Examples:
  ctx purge main~2 --dry-run
      says what would go: one turn, and whom else it concerns
  ctx purge main~2 --reason 'customer data' --yes
  ctx purge review
      every turn of the head `review` back to where other heads join
  ctx purge session/0199a1b2
      every turn of that session, those of its agents too
  ctx purge --secret 3f9c0a1b2c3d4e5f
      one secret wherever it is; what was said around it stays
  ctx purge --finish
      overwrites what an earlier purge could not";

/// Session ids are written so where heads could be meant.
const SESSION: &str = "session/";
/// Ids that are shown of many.
const SHOWN: usize = 8;

/// Removes content for good: a turn, a head, a session, an artifact or one secret
///
/// The content goes; its id, size, time, the reason and who asked stay, and history keeps its shape. What was made from
/// it goes too: summaries and labels, entries of the search index, and inputs and renderings of envelopes. Then the
/// store's files are written anew, so that nothing of it is left in them. The same bytes do not come back by an import.
///
/// A commit stands for its own content; a head for every commit back to where another head joins; a session for every
/// commit that carries its id. Turns that repeat the content in other words or other bytes are not found: search for
/// them. Files that agents wrote are theirs and stay; their paths are printed. Backups and bundles are not reached.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Purge {
    /// What to purge; `session/ID` is a session
    #[arg(value_name = "COMMIT|HEAD|SESSION|ARTIFACT", required_unless_present_any = ["secret", "finish"])]
    what: Option<String>,
    /// Purges one secret, by its fingerprint
    #[arg(long, value_name = "FINGERPRINT", conflicts_with = "what")]
    secret: Option<Fingerprint>,
    /// Purges all that leads to the head, though other heads lead to it too
    #[arg(long, requires = "what")]
    all_of_it: bool,
    /// Why, as the journal and everybody who asks for the content is told
    #[arg(long, value_name = "TEXT", default_value = "no reason was given")]
    reason: String,
    #[command(flatten)]
    consent: PurgeConsent,
    /// Overwrites what earlier purges could not, because somebody else used the store
    #[arg(long, conflicts_with_all = ["what", "secret", "dry_run"])]
    finish: bool,
}

/// Whether what is shown is to go.
#[derive(Debug, Args)]
struct PurgeConsent {
    /// Says what would go, and changes nothing
    #[arg(long, conflicts_with = "yes")]
    dry_run: bool,
    /// Purges without asking
    #[arg(short, long)]
    yes: bool,
}

impl Purge {
    pub(crate) async fn run(self, invocation: &Invocation, output: &mut Output) -> Result<()> {
        let engine = invocation.open().await?;
        if self.finish {
            return finish(&engine, None, Vec::new(), output).await;
        }
        let target = self.target(&engine).await?;
        let plan = {
            let bar = output.progress("Looking", None);
            let mut advance = |Purging { done, total }| bar.advance("artifacts", done, total);
            engine.plan_purge(&target, &mut advance).await?
        };
        let spooled = spooled::holding(&engine, invocation, &target, &plan, output).await?;
        if output.shape() == Shape::Text {
            show(&plan, output)?;
            for path in spooled::paths(&spooled) {
                let (strong, path) = (output.palette.strong, output::printable(&path));
                output.line(format_args!("{strong}{:<10}{strong:#} {path} goes", "spool"))?;
            }
        }
        if self.consent.dry_run || plan.is_empty() && spooled.is_empty() {
            if output.shape() == Shape::Json {
                let spooled = spooled::paths(&spooled);
                output.document(PurgeReport { plan, spooled, done: false, erasure: None })?;
            } else {
                output.status(if self.consent.dry_run { "Nothing was changed." } else { "There is nothing to purge." });
            }
            return Ok(());
        }
        if !self.consent.yes && !output.confirms("Purge this for good?")? {
            output.status("Nothing was changed.");
            return Ok(());
        }
        // First, so that nobody takes it in again.
        spooled::remove(&spooled)?;
        let plan = {
            let bar = output.progress("Purging", None);
            let mut advance = |Purging { done, total }| bar.advance("artifacts", done, total);
            engine.purge(&target, &self.reason, &mut advance).await?
        };
        finish(&engine, Some(plan), spooled::paths(&spooled), output).await
    }

    /// Finds what is meant.
    async fn target(&self, engine: &Contexture) -> Result<PurgeTarget> {
        if let Some(fingerprint) = self.secret {
            return Ok(PurgeTarget::Secret(fingerprint));
        }
        let text = self.what.as_deref().unwrap_or_default();
        if text.starts_with("art-")
            && let Ok(prefix) = text.parse::<ArtifactPrefix>()
        {
            return Ok(PurgeTarget::Artifact(engine.find_artifact(&prefix).await?));
        }
        if let Some(session) = session(engine, text.strip_prefix(SESSION)).await? {
            return Ok(session);
        }
        let reference = text.parse::<Reference>();
        if let Ok(reference) = &reference {
            if let Some(name) = reference.as_head()
                && engine.head(name).await?.is_some()
            {
                let reach = if self.all_of_it { HeadReach::All } else { HeadReach::Own };
                return Ok(PurgeTarget::Head { name: name.clone(), reach });
            }
            if let Ok(commit) = engine.find(reference).await {
                return Ok(PurgeTarget::Commit(commit));
            }
        }
        let nothing = || Error::NothingToPurge { text: text.to_owned() };
        session(engine, Some(text)).await?.ok_or_else(nothing)
    }
}

/// Returns the session of an id, if it has commits.
async fn session(engine: &Contexture, id: Option<&str>) -> Result<Option<PurgeTarget>> {
    let Some(session) = id.and_then(|id| RuntimeSessionId::new(id).ok()) else { return Ok(None) };
    let filter = Filter { session: Some(session.clone()), ..Filter::default() };
    let has_commits = !engine.list(&filter, None, 1).await?.is_empty();
    Ok(has_commits.then_some(PurgeTarget::Session(session)))
}

/// Overwrites what was purged and says how that went.
async fn finish(
    engine: &Contexture,
    purged: Option<PurgePlan>,
    spooled: Vec<String>,
    output: &mut Output,
) -> Result<()> {
    let erasure = {
        let _bar = output.progress("Overwriting", None);
        engine.erase_purged().await?
    };
    if output.shape() == Shape::Json {
        let plan = purged.clone().unwrap_or_default();
        output.document(PurgeReport { plan, spooled, done: true, erasure: Some(erasure) })?;
    } else if let Some(plan) = &purged {
        output.status(format_args!("Purged {}.", taken(plan)));
        for PurgedFile { machine, path } in &plan.files {
            let path = output::printable(path);
            output.status(format_args!("The file it came from is still there: {path} on {machine}."));
        }
    }
    match erasure {
        Erasure::Complete => {
            output.status("No file of the store holds it.");
            Ok(())
        }
        Erasure::InUse | Erasure::NoRights => Err(Error::NotErased { erasure }),
    }
}

/// Says what goes and whom it concerns.
fn show(plan: &PurgePlan, output: &mut Output) -> Result<()> {
    if plan.is_empty() {
        return output.line("nothing");
    }
    let mut fields = vec![("goes", taken(plan))];
    fields.push(("commits", listed(plan.commits.iter().map(CommitId::short))));
    fields.push(("shared by", listed(plan.sharing_commits.iter().map(CommitId::short))));
    fields.push(("heads", listed(plan.heads.iter().map(ToString::to_string))));
    fields.push(("envelopes", listed(plan.envelopes.iter().map(EnvelopeId::short))));
    if plan.unopened_artifacts > 0 {
        let unopened = output::counted(plan.unopened_artifacts, "artifact");
        fields.push(("unopened", format!("{unopened}, of which all originals go: this machine cannot open them")));
    }
    if plan.kept_commits > 0 {
        let kept = output::counted(plan.kept_commits, "commit");
        fields.push(("stays", format!("{kept} that other heads lead to; `--all-of-it` takes them too")));
    }
    for (name, value) in fields.into_iter().filter(|(_, value)| !value.is_empty()) {
        let strong = output.palette.strong;
        output.line(format_args!("{strong}{name:<10}{strong:#} {value}"))?;
    }
    for PurgedFile { machine, path } in &plan.files {
        let (strong, path) = (output.palette.strong, output::printable(path));
        output.line(format_args!("{strong}{:<10}{strong:#} {path} on {machine} is not touched", "file"))?;
    }
    Ok(())
}

/// Counts what goes.
fn taken(plan: &PurgePlan) -> String {
    let mut parts = Vec::new();
    if plan.artifacts > 0 {
        parts.push(format!("{} ({})", output::counted(plan.artifacts, "artifact"), output::size(plan.bytes)));
    }
    if plan.masked_artifacts > 0 {
        parts.push(format!("a secret in {}", output::counted(plan.masked_artifacts, "artifact")));
    }
    if plan.sealed_artifacts > 0 {
        parts.push(format!(
            "the encrypted original of a secret in {}",
            output::counted(plan.sealed_artifacts, "artifact")
        ));
    }
    if plan.annotations + plan.records > 0 {
        parts.push(output::counted(plan.annotations + plan.records, "statement"));
    }
    parts.join(", ")
}

fn listed(ids: impl ExactSizeIterator<Item = String>) -> String {
    let more = ids.len().saturating_sub(SHOWN);
    let mut shown: Vec<String> = ids.take(SHOWN).collect();
    if more > 0 {
        shown.push(format!("and {more} more"));
    }
    shown.join(", ")
}
