//! How an envelope looks to a person.

use std::collections::HashMap;

use contexture::{
    Why,
    assembly::{
        envelope::{Envelope, Fate, GapRecord, ItemRecord, SegmentOutcome, TargetRecord},
        recipe::{Stability, TargetSpec},
        standard::{ItemId, OmissionReason},
    },
    core::{EnvelopeId, Timestamp},
};
use unicode_width::UnicodeWidthStr as _;

use super::{came_from, chosen};
use crate::{
    error::Result,
    output::{self, Output, Palette},
    recipes,
};

/// Cells of the bar of a budget.
const BAR_CELLS: usize = 30;
/// Items of a segment that are listed when not all are asked for.
const FEW: usize = 8;
/// Longest name of an item in a table.
const MAX_NAME: usize = 48;

/// Tells in a few lines how the budgets of an assembly were spent.
pub(crate) fn brief(id: EnvelopeId, document: &Envelope) -> Vec<String> {
    let mut lines = Vec::new();
    for target in &document.targets {
        let out: u64 = target.outcome.segments.iter().map(|segment| segment.omitted.items).sum();
        let left_out = match (out, target.outcome.window.turns_left_out) {
            (0, 0) => String::new(),
            (items, 0) => format!(", {} out", output::counted(items, "item")),
            (_, turns) => format!(", {} left out", output::counted(turns, "turn")),
        };
        lines.push(format!("{} {}{left_out}", target.outcome.target, budget(target, document)));
    }
    lines.extend(document.gaps.iter().map(gap_line));
    lines.push(format!("{id}; `ctx envelope show {}` tells all", id.short()));
    lines
}

/// Tells in a line what is missing.
pub(crate) fn gap_line(record: &GapRecord) -> String {
    format!("Missing ({}): {}", record.gap.severity, output::printable(&record.gap.question))
}

fn budget(target: &TargetRecord, document: &Envelope) -> String {
    let outcome = &target.outcome;
    let tokens = outcome.total.tokens;
    let counter = &document.counter.name;
    let Some(max) = outcome.limits.max_tokens else {
        return format!("{} by {counter}, no budget", output::counted(tokens, "token"));
    };
    let room = max.saturating_sub(outcome.limits.reserved_tokens.unwrap_or(0));
    let bar = output::bar(tokens, room, BAR_CELLS);
    let over = match outcome.over_budget_tokens {
        0 => String::new(),
        over => format!(", {} over: only what is required is in", output::count(over)),
    };
    let reserved = match outcome.limits.reserved_tokens {
        Some(reserved) if reserved > 0 => format!(" ({} kept for the answer)", output::count(reserved)),
        _ => String::new(),
    };
    format!("{bar} {} of {} by {counter}{reserved}{over}", output::count(tokens), output::counted(room, "token"))
}

/// Tells one envelope in a line.
pub(super) fn list_line(id: EnvelopeId, document: &Envelope, now: Timestamp, palette: Palette) -> String {
    let (style, faint) = (palette.id, palette.faint);
    let targets: Vec<_> = document
        .targets
        .iter()
        .map(|target| format!("{} {}", target.outcome.target, output::counted(target.outcome.total.tokens, "token")))
        .collect();
    let attempt = if document.attempt > 1 { format!(", attempt {}", document.attempt) } else { String::new() };
    format!(
        "{style}{}{style:#}  {}  {}  {faint}{}{attempt}{faint:#}",
        id.short(),
        document.stream,
        targets.join(", "),
        output::relative(now, document.created_at),
    )
}

/// Tells all about an envelope.
pub(super) fn tell(
    id: EnvelopeId,
    document: &Envelope,
    target: Option<TargetSpec>,
    all: bool,
    now: Timestamp,
    output: &mut Output,
) -> Result<()> {
    let (style, faint) = (output.palette.id, output.palette.faint);
    output
        .line(format_args!("{style}{id}{style:#}  {faint}{}{faint:#}", output::relative(now, document.created_at)))?;
    let origin = document.recipe.provenance.as_ref().map(recipes::origin_text);
    let mut fields = vec![
        ("recipe", {
            let (name, digest) = (&document.recipe.name, document.recipe.digest.short());
            origin.map_or_else(|| format!("{name}, {digest}"), |origin| format!("{name}, {digest}, {origin}"))
        }),
        ("stream", document.stream.clone()),
        ("counter", format!("{} version {}", document.counter.name, document.counter.version)),
    ];
    if let Some(commit) = document.commit {
        fields.push(("history", came_from(commit, document.head.as_ref().map(contexture::core::HeadName::as_str))));
    }
    if document.attempt > 1 {
        fields.push(("attempt", document.attempt.to_string()));
    }
    if let Some(previous) = document.previous {
        fields.push(("follows", previous.short()));
    }
    fields.extend(document.correlation.iter().map(|(key, value)| (key.as_str(), value.clone())));
    for (name, value) in fields {
        output.line(format_args!("{name:<9} {value}"))?;
    }
    for record in chosen(id, document, target)? {
        tell_target(record, document, all, output)?;
    }
    if !document.gaps.is_empty() {
        heading("Missing", output)?;
        for record in &document.gaps {
            let (id, gap) = (record.id, &record.gap);
            output.line(format_args!("  {style}{}{style:#}  {:<8}  {}", id.short(), gap.severity, gap.question))?;
        }
    }
    Ok(())
}

fn heading(title: &str, output: &mut Output) -> Result<()> {
    let strong = output.palette.strong;
    output.line("")?;
    output.line(format_args!("{strong}{title}{strong:#}"))
}

fn tell_target(record: &TargetRecord, document: &Envelope, all: bool, output: &mut Output) -> Result<()> {
    let outcome = &record.outcome;
    heading(&outcome.target.to_string(), output)?;
    output.line(budget(record, document))?;
    let size = output::size(outcome.rendering.bytes);
    output.line(format_args!(
        "{} in {}, {}",
        output::counted(outcome.total.items, "item"),
        size,
        outcome.rendering.digest
    ))?;
    let room = outcome
        .limits
        .max_tokens
        .map_or(outcome.total.tokens, |max| max.saturating_sub(outcome.limits.reserved_tokens.unwrap_or(0)));
    let width = outcome.segments.iter().map(|segment| segment.name.width()).max().unwrap_or(0);
    for segment in &outcome.segments {
        output.line(segment_line(segment, width, room, record))?;
    }
    if let Some(prefix) = &record.prefix {
        let percent = prefix.tokens * 100 / outcome.total.tokens.max(1);
        let broken = match &prefix.broken {
            None => String::new(),
            Some(broken) => {
                let name = broken.after.as_ref().or(broken.before.as_ref()).map_or("the mark", |item| item.as_str());
                format!("; {name} is the first that differs")
            }
        };
        let tokens = output::counted(prefix.tokens, "token");
        let (of, bytes) = (prefix.of.short(), output::size(prefix.bytes));
        output.line(format_args!("begins with {tokens} ({percent} %, {bytes}) of {of}{broken}"))?;
    }
    for loss in &outcome.losses {
        output.line(format_args!("lost {} × {}", output::count(loss.count), loss.kind))?;
    }
    let items: HashMap<&str, &ItemRecord> = document.items.iter().map(|item| (item.id.as_str(), item)).collect();
    let (mut inside, mut outside) = (Vec::new(), Vec::new());
    for decision in &outcome.decisions {
        let Some(item) = items.get(decision.item.as_str()) else { continue };
        match &decision.fate {
            Fate::Included { .. } => inside.push((*item, &decision.fate)),
            // A summary of what is in anyway is no loss.
            Fate::Omitted { reason: OmissionReason::Duplicate, .. } if item.is_summary => {}
            Fate::Omitted { .. } => outside.push((*item, &decision.fate)),
        }
    }
    for (title, list) in [("In", inside), ("Out", outside)] {
        if list.is_empty() {
            continue;
        }
        heading(title, output)?;
        tell_items(&list, all, output)?;
    }
    if let Some(unread) = &document.unread {
        let turns = output::counted(unread.turns, "older turn");
        output.line(format_args!("  {turns} not read: {} to {}", unread.first.short(), unread.last.short()))?;
    }
    Ok(())
}

fn segment_line(segment: &SegmentOutcome, width: usize, room: u64, record: &TargetRecord) -> String {
    let pad = " ".repeat(width - segment.name.width());
    let bar = output::bar(segment.total.tokens, room, BAR_CELLS);
    let mut notes = vec![segment.stability.to_string()];
    if segment.reserve > 0 {
        notes.push(format!("{} reserved", output::count(segment.reserve)));
    }
    if segment.omitted.items > 0 {
        notes.push(format!("{} out", output::counted(segment.omitted.items, "item")));
    }
    let window = &record.outcome.window;
    if segment.stability == Stability::Append && window.turns_left_out > 0 {
        notes.push(format!("{} left out", output::counted(window.turns_left_out, "turn")));
    }
    format!("  {}{pad}  {bar} {:>9}  {}", segment.name, output::count(segment.total.tokens), notes.join(", "))
}

fn tell_items(list: &[(&ItemRecord, &Fate)], all: bool, output: &mut Output) -> Result<()> {
    let mut shown: HashMap<&str, usize> = HashMap::new();
    let mut hidden: Vec<(&str, usize, u64)> = Vec::new();
    let total: HashMap<&str, usize> = list.iter().fold(HashMap::new(), |mut counts, (item, _)| {
        *counts.entry(item.segment.as_str()).or_default() += 1;
        counts
    });
    let name = |item: &ItemRecord| shortened(&output::first_line(&called(item)));
    let width = list.iter().map(|(item, _)| name(item).width()).max().unwrap_or(0);
    for (item, fate) in list {
        let segment = item.segment.as_str();
        let nth = shown.entry(segment).or_default();
        *nth += 1;
        // The first and the last few say most.
        let count = total[segment];
        let is_shown = all || count <= FEW || *nth <= FEW / 2 || *nth > count - FEW / 2;
        let tokens = match fate {
            Fate::Included { tokens, .. } | Fate::Omitted { tokens, .. } => *tokens,
        };
        if !is_shown {
            match hidden.iter_mut().find(|(name, ..)| *name == segment) {
                Some((_, items, sum)) => (*items, *sum) = (*items + 1, *sum + tokens),
                None => hidden.push((segment, 1, tokens)),
            }
            continue;
        }
        if let Some(place) = hidden.iter().position(|(name, ..)| *name == segment) {
            let (_, items, sum) = hidden.remove(place);
            let faint = output.palette.faint;
            let items = output::counted(items as u64, "more item");
            output.line(format_args!("  {faint}… {items} of {segment}, {}{faint:#}", output::counted(sum, "token")))?;
        }
        let (id, named) = (output.palette.id, name(item));
        let pad = " ".repeat(width - named.width());
        let what = match fate {
            Fate::Included { variant, cut_from, .. } => {
                let cut = cut_from.map_or_else(String::new, |from| format!(", cut from {}", output::count(from)));
                format!("{:<8}  {variant}{cut}", item.priority)
            }
            Fate::Omitted { reason, note, .. } => format!("{reason}: {note}"),
        };
        output.line(format_args!("  {id}{named}{id:#}{pad}  {:>9}  {what}", output::count(tokens)))?;
    }
    Ok(())
}

/// Returns what a person calls an item: its id, with a short one of its commit, and its title.
fn called(item: &ItemRecord) -> String {
    let id = item.id.as_str();
    let short = match (id.split_once('#'), item.origin.commit) {
        (Some((_, number)), Some(commit)) => format!("{}#{number}", commit.short()),
        _ => id.to_owned(),
    };
    match &item.title {
        Some(title) if !item.is_summary && !id.contains(title.as_str()) => format!("{short} {title}"),
        _ => short,
    }
}

fn shortened(name: &str) -> String {
    if name.width() <= MAX_NAME {
        return name.to_owned();
    }
    let mut kept: String = name.chars().take(MAX_NAME - 1).collect();
    kept.push('…');
    kept
}

/// Tells what became of something.
pub(super) fn tell_why(why: &Why, output: &mut Output) -> Result<()> {
    for answer in &why.answers {
        let id = output.palette.id;
        let name = answer.item.as_ref().map(ItemId::as_str).or(answer.title.as_deref()).unwrap_or(&why.thing);
        let fate = match &answer.fate {
            Fate::Included { variant, cut_from, tokens, bytes } => {
                let cut = cut_from.map_or_else(String::new, |from| format!(", cut from {}", output::count(from)));
                let (tokens, bytes) = (output::counted(*tokens, "token"), output::size(*bytes));
                format!("in: {variant}{cut}, {tokens}, {bytes}")
            }
            Fate::Omitted { reason, note, tokens } => {
                let tokens =
                    if *tokens > 0 { format!(" ({})", output::counted(*tokens, "token")) } else { String::new() };
                format!("out: {reason}{tokens}: {note}")
            }
        };
        output.line(format_args!("{id}{name}{id:#}  {}  {fate}", answer.target))?;
    }
    Ok(())
}
