//! `ctx envelope diff`: what changed from one assembly to another.

use std::collections::{BTreeMap, HashMap};

use contexture::{
    Contexture,
    assembly::{
        envelope::{Envelope, Fate, Prefix, TargetRecord},
        recipe::TargetSpec,
    },
    core::EnvelopeId,
    wire::{EnvelopeDifference, RemovedItem},
};

use super::chosen;
use crate::{
    error::Result,
    output::{self, Output, Shape},
};

pub(crate) async fn tell(
    engine: &Contexture,
    before: EnvelopeId,
    after: EnvelopeId,
    target: Option<TargetSpec>,
    output: &mut Output,
) -> Result<()> {
    let (old, new) = (engine.envelope_document(before).await?, engine.envelope_document(after).await?);
    for made in chosen(after, &new, target)? {
        let spec = made.outcome.target;
        let Some(was) = old.targets.iter().find(|was| was.outcome.target == spec) else {
            output.status(format_args!("{} has no {spec} to compare with.", before.short()));
            continue;
        };
        let difference = difference((before, &old, was), (after, &new, made));
        match output.shape() {
            Shape::Json => output.document(difference)?,
            Shape::Text => tell_person(&difference, output)?,
        }
    }
    Ok(())
}

fn difference(
    (before, old, was): (EnvelopeId, &Envelope, &TargetRecord),
    (after, new, made): (EnvelopeId, &Envelope, &TargetRecord),
) -> EnvelopeDifference {
    let inside = |record: &TargetRecord| -> BTreeMap<String, String> {
        let blocks = record.outcome.blocks.iter();
        blocks.filter_map(|block| Some((block.item.as_ref()?.as_str().to_owned(), block.digest.to_string()))).collect()
    };
    let (then, now) = (inside(was), inside(made));
    let decided: HashMap<&str, &Fate> =
        made.outcome.decisions.iter().map(|decision| (decision.item.as_str(), &decision.fate)).collect();
    let reason = |item: &str| match decided.get(item) {
        Some(Fate::Omitted { reason, note, .. }) => format!("{reason}: {note}"),
        Some(Fate::Included { .. }) => "in".to_owned(),
        None => match &new.unread {
            Some(_) if item.starts_with("ctx-") => "older than what was read".to_owned(),
            _ => "no longer given by a source".to_owned(),
        },
    };
    let mut settings = Vec::new();
    let mut compare = |name: &str, before: String, after: String| {
        if before != after {
            settings.push(format!("{name}: {before} → {after}"));
        }
    };
    compare("recipe", old.recipe.name.clone(), new.recipe.name.clone());
    compare("recipe text", old.recipe.digest.short(), new.recipe.digest.short());
    compare("counter", old.counter.name.clone(), new.counter.name.clone());
    let commit = |document: &Envelope| document.commit.map_or("none".to_owned(), |commit| commit.short());
    compare("commit", commit(old), commit(new));
    let limit = |record: &TargetRecord| record.outcome.limits.max_tokens.map_or("none".to_owned(), output::count);
    compare("budget", limit(was), limit(made));
    EnvelopeDifference {
        before,
        after,
        target: made.outcome.target,
        tokens_before: was.outcome.total.tokens,
        tokens_after: made.outcome.total.tokens,
        prefix: Prefix::between(before, &was.outcome.blocks, &made.outcome.blocks),
        added: now.keys().filter(|item| !then.contains_key(*item)).cloned().collect(),
        removed: then
            .keys()
            .filter(|item| !now.contains_key(*item))
            .map(|item| RemovedItem { item: item.clone(), reason: reason(item) })
            .collect(),
        changed: now
            .iter()
            .filter(|(item, digest)| then.get(*item).is_some_and(|was| was != *digest))
            .map(|(item, _)| item.clone())
            .collect(),
        settings,
    }
}

fn tell_person(difference: &EnvelopeDifference, output: &mut Output) -> Result<()> {
    let EnvelopeDifference {
        before,
        after,
        target,
        tokens_before,
        tokens_after,
        prefix,
        added,
        removed,
        changed,
        settings,
    } = difference;
    let strong = output.palette.strong;
    output.line(format_args!(
        "{strong}{target}{strong:#}  {} {} → {} {}",
        before.short(),
        output::counted(*tokens_before, "token"),
        after.short(),
        output::counted(*tokens_after, "token")
    ))?;
    settings.iter().try_for_each(|setting| output.line(format_args!("  {setting}")))?;
    let same = format!("{}, {}", output::counted(prefix.tokens, "token"), output::size(prefix.bytes));
    match &prefix.broken {
        None => output.line(format_args!("  both begin with {same}, and one goes on where the other ends"))?,
        Some(broken) => {
            let name = |item: &Option<_>| {
                item.as_ref().map_or_else(
                    || "the mark of what was left out".to_owned(),
                    |item: &contexture::assembly::standard::ItemId| item.as_str().to_owned(),
                )
            };
            let (was, is) = (name(&broken.before), name(&broken.after));
            let broken_by = if was == is { format!("{is} changed") } else { format!("{is} stands where {was} stood") };
            output.line(format_args!("  both begin with {same}; then {broken_by}, in {}", broken.segment))?;
        }
    }
    let (plus, minus) = (output.palette.added, output.palette.removed);
    for item in added {
        output.line(format_args!("{plus}+ {item}{plus:#}"))?;
    }
    for RemovedItem { item, reason } in removed {
        output.line(format_args!("{minus}- {item}{minus:#}  {reason}"))?;
    }
    changed.iter().try_for_each(|item| output.line(format_args!("~ {item}")))
}
