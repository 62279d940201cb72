//! History: the conversation of a chain as items, the newest first, no further back than the budget reaches.

use std::collections::{HashMap, HashSet};

use contexture_assembly::{
    Digest, Hold, Item, ItemContent, ItemOrigin, PromptPlace, RunPart, Voice,
    envelope::{Inputs, UnreadTurns},
    pipeline::{self, PreparedItems},
    recipe::SourceInput,
    standard::{ContextKind, ItemId, OverflowStrategy},
};
use contexture_core::{CommitId, Entry, EntryPart, Role};
use contexture_store::commit::{self, CommitPlace, SummarizedCommit};
use futures_util::{FutureExt as _, future};

use super::{
    Assemble, masked,
    source::{Gathering, Placed},
};
use crate::{Contexture, Result, Stop, Tier, chain::Route, translate::Gathered};

/// Turns that are read at first.
const FIRST_TURNS: u64 = 16;
/// How many times as many are read at most when those do not fill the budget.
const GROWTH: u64 = 8;
/// Older turns of which only the summaries are read, at least.
const SUMMARIES: u64 = 128;
/// How many of those there are for each turn that is read, if that is more.
const SUMMARIES_PER_TURN: u64 = 2;
/// Steps of one turn that have places of their own; a place has room for so many bits.
const STEP_BITS: u32 = 20;

/// Longest title of a step, in characters.
const MAX_TITLE: usize = 80;

/// A history whose newest turns are read.
pub(super) struct StartedHistory<'h> {
    placed: Placed<'h>,
    route: Route,
    stop: Stop,
    /// How many turns may be read.
    allowed: u64,
    /// Whether summaries may stand for turns.
    sums_up: bool,
    newest: ReadTurns,
}

/// Turns at the newest end of a history, and what is known of those before them.
struct ReadTurns {
    turns: u64,
    gathered: Gathered,
    begins_inside: bool,
    unread: Option<UnreadTurns>,
    older: Vec<SummarizedCommit>,
}

/// Reads the newest turns of a source, if it is a history of something.
pub(super) async fn start<'h>(
    engine: &Contexture,
    request: &'h Assemble,
    placed: Placed<'h>,
) -> Result<Option<StartedHistory<'h>>> {
    let SourceInput::History { beyond_compaction, max_turns, .. } = placed.source.input else { return Ok(None) };
    let Some(commit) = request.commit else { return Ok(None) };
    let stop = if beyond_compaction { Stop::Root } else { Stop::Compaction };
    let route = engine.route(commit, stop).await?;
    let allowed = max_turns.map_or(route.commits, |max| max.min(route.commits));
    let segment = &request.recipe.segments[placed.segment];
    let sums_up = segment.overflow.unwrap_or(request.recipe.budget.overflow) == OverflowStrategy::SummarizeOldest;
    let turns = FIRST_TURNS.min(allowed);
    let newest = engine.read_turns(&route, stop, turns, placed.segment, sums_up).await?;
    Ok(Some(StartedHistory { placed, route, stop, allowed, sums_up, newest }))
}

/// Adds a history to inputs, of which it is the last source to be read.
pub(super) async fn read(
    gathering: &mut Gathering<'_>,
    history: StartedHistory<'_>,
    inputs: &mut Inputs,
) -> Result<()> {
    let StartedHistory { placed, route, stop, allowed, sums_up, mut newest } = history;
    let thinking = matches!(placed.source.input, SourceInput::History { thinking: true, .. });
    let engine = gathering.engine;
    let others = inputs.items.len();
    loop {
        let ReadTurns { turns, gathered, begins_inside, unread, older } = newest;
        inputs.items.truncate(others);
        gathering.prepared.truncate(others);
        let maker = ItemMaker { placed: &placed, prepared: &gathering.prepared };
        if sums_up {
            inputs.items.extend(maker.summaries(&gathered));
        }
        inputs.items.extend(maker.steps(gathered, thinking, begins_inside));
        inputs.unread = unread;
        if sums_up {
            inputs.items.extend(older.iter().filter_map(|commit| {
                let summary = commit.summary.as_ref()?;
                Some(maker.summary(commit.id, commit.depth, commit.created_at, summary.as_str()))
            }));
        }
        if turns >= allowed {
            return Ok(());
        }
        gathering.prepared.update(inputs);
        engine.learn(gathering.counts, &mut gathering.prepared).await?;
        let fill = gathering.prepared.fill(inputs, placed.segment, gathering.counts);
        if fill > pipeline::FULL {
            return Ok(());
        }
        let turns = more(turns, fill).min(allowed);
        newest = engine.read_turns(&route, stop, turns, placed.segment, sums_up).await?;
    }
}

/// Returns how many turns probably fill the budget, where so many fill this share of it: a quarter more than by the rule
/// of three, because turns differ.
fn more(turns: u64, fill: u64) -> u64 {
    let enough = turns.saturating_mul(pipeline::FULL).saturating_mul(5) / fill.saturating_mul(4).max(1);
    enough.max(turns + 1).min(turns.saturating_mul(GROWTH))
}

impl Contexture {
    /// Reads the newest turns of a route.
    async fn read_turns(
        &self,
        route: &Route,
        stop: Stop,
        turns: u64,
        segment: usize,
        sums_up: bool,
    ) -> Result<ReadTurns> {
        let window = route.newest(turns);
        // One of them in any case: it is the newest that is not read.
        let described = if sums_up { turns.saturating_mul(SUMMARIES_PER_TURN).max(SUMMARIES) } else { 1 };
        let entries = self.entries_of(&window).remembering(self.remembered_turns());
        let reading = self.gather_along(entries, &window, stop, Tier::Mapped);
        let (gathered, (unread, older)) =
            future::try_join(reading, self.unread(route, turns, segment, described)).await?;
        Ok(ReadTurns { turns, gathered, begins_inside: window.begins_inside, unread, older })
    }

    /// Describes the turns of a route before its newest ones, if there are any, and returns the newest of those.
    async fn unread(
        &self,
        route: &Route,
        read: u64,
        segment: usize,
        described: u64,
    ) -> Result<(Option<UnreadTurns>, Vec<SummarizedCommit>)> {
        let mut left = read.cast_signed();
        let mut before = None;
        for stretch in route.segments.iter().rev() {
            let length = stretch.last - stretch.first + 1;
            if left < length {
                before = Some(commit::LineSegment { last: stretch.last - left, ..*stretch });
                break;
            }
            left -= length;
        }
        let (Some(before), Some(oldest)) = (before, route.segments.front().copied()) else {
            return Ok((None, Vec::new()));
        };
        let turns = route.commits - read;
        let described = u32::try_from(described).unwrap_or(u32::MAX);
        let reading = self.store.read(self.scope(), (before, described, oldest), |tx, &(before, described, oldest)| {
            async move {
                let newest = commit::summaries_back(tx, before, described).await?;
                let oldest = CommitPlace { line: oldest.line, position: oldest.first };
                Ok::<_, contexture_store::Error>((commit::at(tx, oldest).await?, newest))
            }
            .boxed()
        });
        let (first, newest) = reading.await?;
        let last = newest.first().map_or(first.id, |newest| newest.id);
        Ok((Some(UnreadTurns { segment, turns, first: first.id, last }), newest))
    }
}

/// Makes the items of a source.
struct ItemMaker<'m> {
    placed: &'m Placed<'m>,
    /// What was prepared before.
    prepared: &'m PreparedItems,
}

impl ItemMaker<'_> {
    /// Returns the summaries of the turns that were read.
    fn summaries(&self, gathered: &Gathered) -> impl Iterator<Item = Item> {
        gathered.origins.iter().filter_map(|origin| {
            let summary = origin.summary.as_ref()?;
            Some(self.summary(origin.commit, origin.depth, origin.at, summary.as_str()))
        })
    }

    fn summary(&self, commit: CommitId, depth: u64, at: contexture_core::Timestamp, summary: &str) -> Item {
        let content = ItemContent::Text { text: summary.to_owned(), voice: Voice::User, fenced: true };
        let title = format!("of a turn of {at}");
        Item {
            kind: ContextKind::ThreadSummary,
            title: Some(title),
            at: Some(at),
            ..self.item(format!("{commit}#summary"), commit, depth, 0, RunPart::Summary(depth), content)
        }
    }

    /// Returns the steps of a conversation.
    fn steps(&self, gathered: Gathered, thinking: bool, begins_inside: bool) -> Vec<Item> {
        let Gathered { replay, origins, .. } = gathered;
        let mut entries: Vec<(usize, Entry)> = replay.into_entries_from().collect();
        for (_, entry) in &mut entries {
            if !thinking {
                entry.parts.retain(|part| !matches!(part, EntryPart::Thinking { .. }));
            }
            // Neither a model nor a runtime is given these.
            (entry.id, entry.parent, entry.usage) = (None, None, None);
        }
        let mut units = units(entries);
        if begins_inside {
            let called: HashSet<String> = units.iter().flatten().flat_map(|(_, entry)| calls(entry)).collect();
            let orphans =
                |unit: &Vec<(usize, Entry)>| unit.iter().any(|(_, e)| results(e).any(|call| !called.contains(&call)));
            let whole = units.iter().position(|unit| !orphans(unit)).unwrap_or(units.len());
            units.drain(..whole);
        }
        let mut items = Vec::with_capacity(units.len());
        let mut numbers = vec![0u64; origins.len()];
        for unit in units {
            let Some(&(first, _)) = unit.first() else { continue };
            let Some(origin) = origins.get(first) else { continue };
            let number = numbers[first];
            numbers[first] += 1;
            let id = format!("{}#{number}", origin.commit);
            let at = unit.iter().find_map(|(_, entry)| entry.at).or(Some(origin.at));
            let kind = self.placed.source.kind.unwrap_or_else(|| kind(&unit));
            // Of a compaction, the summary stands for what was before it.
            let replaces = origin.replaces.clone().filter(|_| kind == ContextKind::ThreadSummary && number == 0);
            let title = title(&unit);
            let entries = unit.into_iter().map(|(_, entry)| Entry { group: None, ..entry }).collect();
            let part = RunPart::Step(origin.depth);
            let content = ItemContent::Entries(entries);
            items.push(Item {
                at,
                title,
                kind,
                replaces,
                ..self.item(id, origin.commit, origin.depth, number, part, content)
            });
        }
        items
    }

    fn item(&self, id: String, commit: CommitId, depth: u64, number: u64, part: RunPart, content: ItemContent) -> Item {
        let uri = id.clone();
        let id = ItemId::new(id).expect("ids of commits are not empty");
        let before = self.prepared.item_before(&id).filter(|before| before.content == content);
        let (digest, redaction) = if let Some(before) = before {
            (before.origin.digest, before.redaction.clone())
        } else {
            let json = serde_json::to_vec(&content).expect("entries have text keys");
            (Digest::of(&json), masked::redaction(&json))
        };
        let number = number.min((1 << STEP_BITS) - 1);
        let source = self.placed.source;
        Item {
            origin: ItemOrigin { kind: "commit".to_owned(), uri, digest, hold: Hold::Pinned, commit: Some(commit) },
            id,
            kind: source.kind.unwrap_or(ContextKind::SessionHistory),
            segment: self.placed.segment,
            // A run is cut where this is divisible by the highest power of two: between turns rather than inside one.
            place: PromptPlace {
                order: ((depth << STEP_BITS) | number).cast_signed(),
                tie: usize::from(matches!(part, RunPart::Step(_))),
            },
            part,
            priority: source.priority,
            title: None,
            visibility: source.visibility.clone(),
            trust: source.trust.clone(),
            redaction,
            at: None,
            sensitivity: source.sensitivity.clone(),
            media_type: None,
            replaces: None,
            messages: Vec::new(),
            content,
            compact: None,
        }
    }
}

/// Groups entries so that calls and their results are together, and pieces of one answer.
fn units(entries: Vec<(usize, Entry)>) -> Vec<Vec<(usize, Entry)>> {
    let mut answered: HashMap<String, usize> = HashMap::new();
    for (n, (_, entry)) in entries.iter().enumerate() {
        answered.extend(results(entry).map(|call| (call, n)));
    }
    let mut open: HashSet<String> = HashSet::new();
    let mut units: Vec<Vec<(usize, Entry)>> = Vec::new();
    let mut group: Option<String> = None;
    for (n, (origin, entry)) in entries.into_iter().enumerate() {
        let is_piece = entry.group.is_some() && entry.group == group;
        let is_answer = entry.role == Role::Tool || results(&entry).next().is_some();
        let goes_on = is_piece || is_answer || !open.is_empty();
        group.clone_from(&entry.group);
        open.extend(calls(&entry).filter(|call| answered.get(call).is_some_and(|last| *last > n)));
        for result in results(&entry) {
            open.remove(&result);
        }
        match units.last_mut().filter(|_| goes_on) {
            Some(unit) => unit.push((origin, entry)),
            None => units.push(vec![(origin, entry)]),
        }
    }
    units
}

/// Returns what a step is, in a word of the standard.
fn kind(unit: &[(usize, Entry)]) -> ContextKind {
    let parts = || unit.iter().flat_map(|(_, entry)| &entry.parts);
    if parts().any(|part| matches!(part, EntryPart::ToolResult { .. })) {
        ContextKind::ToolResult
    } else if parts().any(|part| matches!(part, EntryPart::Summary { .. })) {
        ContextKind::ThreadSummary
    } else if unit.iter().all(|(_, entry)| entry.role == Role::User && entry.flags.meta) {
        ContextKind::RuntimeState
    } else if unit.iter().all(|(_, entry)| entry.role == Role::User) {
        ContextKind::UserMessage
    } else if unit.iter().all(|(_, entry)| entry.role == Role::System) {
        ContextKind::SystemPrompt
    } else {
        ContextKind::SessionHistory
    }
}

/// Says in a few words who does what in a step.
fn title(unit: &[(usize, Entry)]) -> Option<String> {
    let (_, first) = unit.first()?;
    let said = first.parts.iter().find_map(|part| match part {
        EntryPart::Text { text } | EntryPart::Summary { text } => {
            text.lines().map(str::trim).find(|line| !line.is_empty())
        }
        _ => None,
    });
    let called: Vec<&str> = unit
        .iter()
        .flat_map(|(_, entry)| &entry.parts)
        .filter_map(|part| match part {
            EntryPart::ToolCall { name, .. } => Some(name.as_str()),
            _ => None,
        })
        .collect();
    let summary = match (said, called.as_slice()) {
        (_, [name, ..]) => format!("{} calls {name}", first.role),
        (Some(said), []) => format!("{}: {said}", first.role),
        (None, []) => first.role.to_string(),
    };
    Some(summary.chars().take(MAX_TITLE).collect())
}

fn calls(entry: &Entry) -> impl Iterator<Item = String> + use<'_> {
    entry.parts.iter().filter_map(|part| match part {
        EntryPart::ToolCall { id, .. } => Some(id.clone()),
        _ => None,
    })
}

fn results(entry: &Entry) -> impl Iterator<Item = String> + use<'_> {
    entry.parts.iter().filter_map(|part| match part {
        EntryPart::ToolResult { call, .. } => Some(call.clone()),
        _ => None,
    })
}
