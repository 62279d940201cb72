//! Events: what happened while something was assembled, sent or exported.

use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    sync::Arc,
};

use contexture_assembly::{
    Digest, Redaction,
    envelope::{Envelope, Fate, ItemDecision},
    standard::{self, ContextInjection, MissingContext, OmissionReason},
};
use contexture_core::{ArtifactId, EnvelopeId, EventKind, Fingerprint, RuleId, Stream, Subject, Timestamp};
use contexture_store::{JsonText, event::Event};
use serde::Serialize;
use serde_json::Value;

use super::{
    keep::missing_record,
    previous::{PreviousAssembly, SurfaceChanges},
};
use crate::{NewEvent, Result};

/// Items that an event names; the rest is counted.
const MAX_LISTED: usize = 50;

/// What is known of an event beside what all events have.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum EventData<'e> {
    /// Items were found.
    Surface { items: usize, unread_turns: Option<u64> },
    /// Items are there that were not, are not what they were, or are no more.
    Change { of: String, items: &'e [String], count: usize },
    /// The surface of the assembly before became another one.
    Update { of: String, added: usize, updated: usize, removed: usize },
    /// Items are chosen for a target.
    Choice { candidates: usize },
    /// A summary stands for items or turns.
    Summary { compaction: String },
    /// A summary stands for turns of the chain.
    ChainCompaction { turns_covered: u64 },
    /// Items were chosen for a target.
    Selection { selected: u64, omitted: u64 },
    /// They were held against a budget.
    Budget { max_tokens: Option<u64>, actual_tokens: u64, over_budget_tokens: u64, counter: &'e str },
    /// They were rendered.
    Assembly { bytes: u64, hash: Digest },
    /// Summaries stand for some of them.
    Compaction { items_covered: usize },
    /// Something was done to what nobody may see.
    Redaction { redaction: &'e Redaction },
    /// Placeholders stand for secrets.
    Secrets { redaction: Redaction, secrets: BTreeSet<(&'e RuleId, Fingerprint)>, places: usize },
    /// Content was removed for good.
    Removal(&'e RemovedContent<'e>),
    /// Something is missing, or is no more.
    Missing(&'e MissingContext),
    /// Nothing was assembled.
    Failure { reason: String, recipe: &'e str },
    /// A target was given what was assembled.
    Injection(&'e ContextInjection),
    /// Records were written.
    Export { records: usize },
}

/// What events of one moment have in common.
pub(crate) struct EventDraft<'d> {
    pub(crate) source: String,
    pub(crate) at: Timestamp,
    pub(crate) envelope: Option<EnvelopeId>,
    pub(crate) correlation: &'d BTreeMap<String, String>,
}

/// An event as the standard writes it.
#[derive(Serialize)]
struct EventRecord<'e> {
    schema_version: &'static str,
    event_id: String,
    event_type: &'static str,
    source: &'e str,
    time: Timestamp,
    subject: &'e str,
    #[serde(skip_serializing_if = "Option::is_none")]
    context_id: Option<EnvelopeId>,
    #[serde(flatten)]
    correlation: BTreeMap<&'e str, &'e str>,
    data: &'e EventData<'e>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    metadata: BTreeMap<&'e str, BTreeMap<&'e str, &'e str>>,
}

impl EventDraft<'_> {
    /// Makes an event that can be kept.
    pub(crate) fn event(&self, kind: EventKind, subject: &str, data: &EventData<'_>) -> Result<NewEvent> {
        let identity = value(&(kind.as_str(), subject, self.at, self.envelope, data));
        let digest = Digest::of(identity.to_string().as_bytes()).to_string();
        let ids = self.correlation.iter().map(|(key, id)| (key.as_str(), id.as_str()));
        let (correlation, others): (BTreeMap<_, _>, BTreeMap<_, _>) =
            ids.partition(|(key, _)| standard::is_event_id(key));
        let metadata = if others.is_empty() { BTreeMap::new() } else { BTreeMap::from([("correlation", others)]) };
        let record = EventRecord {
            schema_version: standard::VERSION,
            event_id: format!("evt-{}", &digest["blake3:".len()..][..32]),
            event_type: kind.as_str(),
            source: &self.source,
            time: self.at,
            subject,
            context_id: self.envelope,
            correlation,
            data,
            metadata,
        };
        // The ids of a runtime may have any names, and events are kept with their fields in order.
        let document = value(&record);
        let subject = document["subject"].as_str().unwrap_or_default();
        Ok(NewEvent { kind, subject: Subject::new(subject)?, document: json_text(&document)? })
    }
}

/// Says what happened while an envelope was made.
pub(super) fn of_assembly(
    document: &Envelope,
    id: EnvelopeId,
    source: String,
    before: Option<&(EnvelopeId, Arc<PreviousAssembly>)>,
) -> Result<Vec<NewEvent>> {
    let correlation = &document.correlation;
    let draft = EventDraft { source, at: document.created_at, envelope: Some(id), correlation };
    let unread_turns = document.unread.as_ref().map(|unread| unread.turns);
    let surface = EventData::Surface { items: document.items.len(), unread_turns };
    let mut events = vec![draft.event(EventKind::SurfaceCreated, &format!("{id}/surface"), &surface)?];
    if let Some((previous, before)) = before {
        changes(&draft, document, id, (*previous, before), &mut events)?;
    }
    for target in &document.targets {
        let outcome = &target.outcome;
        let of = |record: &str| format!("{id}/{record}/{}", outcome.target);
        let choice = EventData::Choice { candidates: outcome.decisions.len() };
        events.push(draft.event(EventKind::SelectionStarted, &of("selection"), &choice)?);
        let is_in = |decision: &&ItemDecision| matches!(decision.fate, Fate::Included { .. });
        let selected = outcome.decisions.iter().filter(is_in).count() as u64;
        let selection = EventData::Selection { selected, omitted: outcome.decisions.len() as u64 - selected };
        events.push(draft.event(EventKind::SelectionCompleted, &of("selection"), &selection)?);
        let budget = EventData::Budget {
            max_tokens: outcome.limits.max_tokens,
            actual_tokens: outcome.total.tokens,
            over_budget_tokens: outcome.over_budget_tokens,
            counter: &document.counter.name,
        };
        events.push(draft.event(EventKind::BudgetApplied, &of("budget"), &budget)?);
        let assembly = EventData::Assembly { bytes: outcome.rendering.bytes, hash: outcome.rendering.digest };
        events.push(draft.event(EventKind::AssemblyCreated, &of("assembly"), &assembly)?);
        let is_summed_up = |decision: &&ItemDecision| {
            matches!(decision.fate, Fate::Omitted { reason: OmissionReason::SupersededBySummary, .. })
        };
        let items_covered = outcome.decisions.iter().filter(is_summed_up).count();
        if items_covered > 0 {
            let compaction = EventData::Compaction { items_covered };
            events.push(draft.event(EventKind::CompactionStarted, &of("compaction"), &compaction)?);
            events.push(draft.event(EventKind::CompactionCompleted, &of("compaction"), &compaction)?);
            let blocks: HashSet<_> = outcome.blocks.iter().filter_map(|block| block.item.as_ref()).collect();
            for item in document.items.iter().filter(|item| item.is_summary && blocks.contains(&item.id)) {
                let summary = EventData::Summary { compaction: of("compaction") };
                let subject = format!("{}/{}", of("summary"), item.id.as_str());
                events.push(draft.event(EventKind::SummaryCreated, &subject, &summary)?);
            }
        }
    }
    for (item, replaced) in document.chain_compactions() {
        let of = |record: &str| format!("{id}/{record}/{}", item.id.as_str());
        let compaction = EventData::ChainCompaction { turns_covered: replaced.commits };
        events.push(draft.event(EventKind::CompactionStarted, &of("compaction"), &compaction)?);
        events.push(draft.event(EventKind::CompactionCompleted, &of("compaction"), &compaction)?);
        let summary = EventData::Summary { compaction: of("compaction") };
        events.push(draft.event(EventKind::SummaryCreated, &of("summary"), &summary)?);
    }
    for item in &document.items {
        let Some(redaction) = &item.redaction else { continue };
        let subject = format!("{id}/item/{}", item.id.as_str());
        events.push(draft.event(EventKind::RedactionApplied, &subject, &EventData::Redaction { redaction })?);
    }
    let stream = Stream::new(document.stream.clone())?;
    for record in &document.gaps {
        let missing = missing_record(record, &stream, document.scope.as_str(), document.created_at);
        events.push(draft.event(EventKind::MissingDetected, &record.id.to_string(), &EventData::Missing(&missing))?);
    }
    Ok(events)
}

/// Says how the surface differs from that of the assembly before.
fn changes(
    draft: &EventDraft<'_>,
    document: &Envelope,
    id: EnvelopeId,
    (previous, before): (EnvelopeId, &PreviousAssembly),
    events: &mut Vec<NewEvent>,
) -> Result<()> {
    let SurfaceChanges { added, updated, removed } = before.changes(&document.items);
    let surface = format!("{id}/surface");
    let of = || format!("{previous}/surface");
    if !(added.is_empty() && updated.is_empty() && removed.is_empty()) {
        let update = EventData::Update { of: of(), added: added.len(), updated: updated.len(), removed: removed.len() };
        events.push(draft.event(EventKind::SurfaceUpdated, &surface, &update)?);
    }
    for (kind, envelope, changed) in [
        (EventKind::ItemAdded, id, added),
        (EventKind::ItemUpdated, id, updated),
        (EventKind::ItemRemoved, previous, removed),
    ] {
        if changed.is_empty() {
            continue;
        }
        let listed = changed.iter().take(MAX_LISTED);
        let items: Vec<String> = listed.map(|item| format!("{envelope}/item/{}", item.as_str())).collect();
        let change = EventData::Change { of: of(), items: &items, count: changed.len() };
        events.push(draft.event(kind, &surface, &change)?);
    }
    Ok(())
}

/// What was removed of an artifact.
#[derive(Debug, Serialize)]
pub(crate) struct RemovedContent<'r> {
    pub(crate) artifact: ArtifactId,
    pub(crate) reason: &'r str,
    pub(crate) redaction: Redaction,
    /// Which secret it was, if it was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) secret: Option<RemovedSecret>,
}

/// A secret that was removed, without its value.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct RemovedSecret {
    pub(crate) rule: RuleId,
    pub(crate) fingerprint: Fingerprint,
}

/// Says that content was removed for good.
pub(crate) fn of_removal(removed: &RemovedContent<'_>, source: String, at: Timestamp) -> Result<Event> {
    let none = BTreeMap::new();
    let draft = EventDraft { source, at, envelope: None, correlation: &none };
    let subject = removed.artifact.to_string();
    Ok(stored(draft.event(EventKind::RedactionApplied, &subject, &EventData::Removal(removed))?))
}

/// Makes an event of no envelope.
pub(crate) fn stored(event: NewEvent) -> Event {
    let NewEvent { kind, subject, document } = event;
    Event { kind, subject, envelope: None, document }
}

pub(super) fn json_text<T: Serialize>(value: &T) -> Result<JsonText> {
    let text = serde_json::to_string(value).expect("a record has text keys");
    Ok(JsonText::new(text)?)
}

fn value<T: Serialize>(record: &T) -> Value {
    serde_json::to_value(record).expect("a record has text keys")
}
