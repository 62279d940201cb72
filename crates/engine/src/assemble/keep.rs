//! Keeping what was assembled: the envelope, what is missing, and the events of both.

use std::sync::Arc;

use contexture_assembly::{
    Digest, TokenCounter,
    envelope::{
        CounterRef, Envelope, Fate, Gap, GapRecord, Inputs, ItemDecision, ItemRecord, Producer, RecipeRef, TargetRecord,
    },
    pipeline::{AssembledTarget, PreparedItems, Rejected},
    standard::{self, MissingContext, MissingStatus, OmissionReason, RecordReference, Severity},
};
use contexture_core::{
    ArtifactId, EnvelopeId, EventKind, GapSeverity, GapStatus, MissingId, RecipeName, Stream, Subject, Timestamp,
};
use contexture_store::{JsonText, event::Event};
use futures_util::future;
use serde_json::{Map, Value, json};

use super::{Assemble, AssembledContext, previous::PreviousAssembly, stream, turn_of};
use crate::{
    AssemblyProblem, Attachment, Contexture, Envelopes, NewEnvelope, NewEvent, NewMissing, Result,
    envelope::FreshCounts,
};

/// What makes envelopes.
const PRODUCER: &str = "contexture";
/// Bytes that an envelope usually has for each of its items.
const BYTES_PER_ITEM: usize = 768;

/// What is kept with an assembly beside what came out.
pub(super) struct KeptWith<'k> {
    /// The inputs.
    pub(super) frozen: Attachment,
    /// What was prepared of them.
    pub(super) prepared: PreparedItems,
    /// What tokens were counted by.
    pub(super) tokens: &'k dyn TokenCounter,
    /// What was counted now.
    pub(super) counted: FreshCounts,
}

impl Contexture {
    pub(super) async fn keep_assembly(
        &self,
        request: &Assemble,
        inputs: Inputs,
        assembled: Vec<AssembledTarget>,
        mut gaps: Vec<Gap>,
        kept: KeptWith<'_>,
    ) -> Result<AssembledContext> {
        let KeptWith { frozen, prepared, tokens, counted } = kept;
        let now = self.now();
        let stream = stream(request)?;
        let previous = self.previous(&stream).await?;
        let mut artifacts = vec![frozen];
        let (mut targets, mut renderings) = (Vec::new(), Vec::new());
        for AssembledTarget { outcome, bytes, gaps: missing, .. } in assembled {
            gaps.extend(missing);
            let digest = &outcome.rendering.digest;
            let rendering = Attachment::preparing(ArtifactId::from_bytes(*digest.as_bytes()), bytes.clone());
            let before = previous.as_ref();
            let prefix = before.and_then(|(id, before)| before.prefix(*id, outcome.target, &outcome.blocks));
            renderings.push((outcome.target, bytes));
            targets.push(TargetRecord { outcome, artifact: *rendering.id(), prefix });
            artifacts.push(rendering);
        }
        gaps.dedup();
        let turn = turn_of(request);
        let attempt = match &previous {
            Some((_, before)) if before.turn == turn => before.attempt + 1,
            _ => 1,
        };
        let gaps: Vec<GapRecord> =
            gaps.into_iter().map(|gap| GapRecord { id: gap_id(&stream, &gap, now), gap }).collect();
        let document = Envelope {
            format: Envelope::FORMAT,
            scope: request.recipe.scope,
            created_at: now,
            producer: Producer { name: PRODUCER.to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() },
            actor: self.actor().as_str().to_owned(),
            stream: stream.as_str().to_owned(),
            previous: previous.as_ref().map(|(id, _)| *id),
            attempt,
            turn,
            correlation: request.correlation.clone(),
            recipe: RecipeRef { name: request.recipe.name.clone(), digest: request.recipe.digest() },
            head: request.head.clone(),
            commit: request.commit,
            counter: CounterRef { name: tokens.name().to_owned(), version: tokens.version() },
            inputs: *artifacts[0].id(),
            items: inputs.items.iter().map(|item| ItemRecord::of(item, &inputs)).collect(),
            unread: inputs.unread.clone(),
            targets,
            gaps,
        };
        let mut bytes = Vec::with_capacity(document.items.len() * BYTES_PER_ITEM);
        serde_json::to_writer(&mut bytes, &document).expect("a document has text keys");
        let id = EnvelopeId::of(&bytes);
        let events = events(&document, id, self.source());
        let missing = document.gaps.iter().map(|record| new_missing(record, &document)).collect::<Result<Vec<_>>>()?;
        let texts_counted = counted.counts.len() as u64;
        let new = NewEnvelope {
            document: bytes,
            stream: stream.clone(),
            recipe: RecipeName::new(request.recipe.name.clone())?,
            commit: request.commit,
            created_at: now,
            artifacts,
            injections: Vec::new(),
            missing,
            events: events.into_iter().map(|event| new_event(&event)).collect::<Result<Vec<_>>>()?,
        };
        let envelopes = self.envelopes();
        let keeping = envelopes.keep_counted(new, counted);
        // What was prepared is right whether or not the envelope can be kept, so there is no waiting for that.
        let remembering = async {
            if let Some(items) = prepared.into_remembered(inputs) {
                self.remembered_assemblies().remember_items(self.space(), stream, items);
            }
            PreviousAssembly::of(&document)
        };
        let (kept, remembered) = future::join(keeping, remembering).await;
        let kept = kept?;
        self.remembered_assemblies().remember(kept.id, Arc::new(remembered));
        Ok(AssembledContext { envelope: kept.id, document, renderings, texts_counted })
    }

    /// Keeps that an assembly was rejected: what is missing to make it, and that it failed.
    pub(super) async fn keep_rejection(&self, request: &Assemble, rejected: &Rejected) -> Result<()> {
        let stream = stream(request)?;
        let now = self.now();
        let gap = Gap {
            kind: contexture_assembly::envelope::GapKind::RequiredTooLarge,
            subject: stream.as_str().to_owned(),
            question: format!("How can the recipe {:?} be met? {rejected}.", request.recipe.name),
            severity: Severity::Blocking,
            blocked_actions: vec!["assemble".to_owned()],
            candidates: Vec::new(),
        };
        let record = GapRecord { id: gap_id(&stream, &gap, now), gap };
        let missing = missing_record(&record, request.recipe.scope.as_str(), now);
        let draft = EventDraft { source: self.source(), at: now, envelope: None, correlation: &request.correlation };
        let data = json!({"reason": rejected.to_string(), "recipe": request.recipe.name});
        let failed = draft.event(EventKind::AssemblyFailed, stream.as_str(), data);
        let detected = draft.event(EventKind::MissingDetected, &record.id.to_string(), value(&missing));
        let events =
            [failed, detected].iter().map(|event| Ok(stored(new_event(event)?))).collect::<Result<Vec<_>>>()?;
        let missing = NewMissing {
            id: record.id,
            status: GapStatus::new(MissingStatus::Open.as_str())?,
            severity: GapSeverity::new(Severity::Blocking.as_str())?,
            document: json_text(&missing)?,
        };
        self.record_missing(missing, None, events).await?;
        Ok(())
    }

    /// Says where events happen.
    pub(crate) fn source(&self) -> String {
        format!("{PRODUCER}:{}", self.space())
    }
}

impl Envelopes<'_> {
    /// Returns what an envelope says.
    pub async fn document(&self, id: EnvelopeId) -> Result<Envelope> {
        let stored = self.get(id).await?;
        let mut bytes = Vec::new();
        self.engine.get_artifact(stored.document, &mut bytes).await?;
        Ok(serde_json::from_slice(&bytes).map_err(|source| AssemblyProblem::Envelope { envelope: id, source })?)
    }
}

/// Returns the id of a gap: another one for each assembly that finds it.
fn gap_id(stream: &Stream, gap: &Gap, at: Timestamp) -> MissingId {
    let content = serde_json::to_vec(&(stream.as_str(), at, gap)).expect("a gap has text keys");
    MissingId::of(&content)
}

fn new_missing(record: &GapRecord, document: &Envelope) -> Result<NewMissing> {
    let missing = missing_record(record, document.scope.as_str(), document.created_at);
    Ok(NewMissing {
        id: record.id,
        status: GapStatus::new(missing.status.as_str())?,
        severity: GapSeverity::new(missing.severity.as_str())?,
        document: json_text(&missing)?,
    })
}

/// Writes a gap as the standard does.
fn missing_record(record: &GapRecord, scope: &str, at: Timestamp) -> MissingContext {
    let GapRecord { id, gap } = record;
    let candidate = |uri: &String| {
        let source = json!({"kind": "uri", "hint": uri});
        source.as_object().cloned().unwrap_or_default()
    };
    let mut metadata = Map::new();
    metadata.insert("kind".to_owned(), gap.kind.as_str().into());
    metadata.insert("subject".to_owned(), gap.subject.as_str().into());
    metadata.insert("owner".to_owned(), "caller".into());
    metadata.insert("requested_action".to_owned(), format!("ctx missing resolve {id}").into());
    metadata.insert("summary".to_owned(), gap.question.as_str().into());
    MissingContext {
        schema_version: standard::VERSION.to_owned(),
        missing_id: standard::MissingContextId::new(id.to_string()).expect("an id is not empty"),
        scope: scope.to_owned(),
        question: gap.question.clone(),
        severity: gap.severity,
        status: MissingStatus::Open,
        created_at: at,
        needed_for: Some("assembly".to_owned()),
        requested_from: Some(RecordReference::Id("caller".to_owned())),
        candidate_sources: gap.candidates.iter().map(candidate).collect(),
        blocked_actions: gap.blocked_actions.clone(),
        resolution_refs: Vec::new(),
        metadata,
        more: Map::new(),
    }
}

/// Says what happened while an envelope was made.
fn events(document: &Envelope, id: EnvelopeId, source: String) -> Vec<(EventKind, Value)> {
    let correlation = &document.correlation;
    let draft = EventDraft { source, at: document.created_at, envelope: Some(id), correlation };
    let mut events = vec![draft.event(
        EventKind::SurfaceCreated,
        &format!("{id}/surface"),
        json!({"items": document.items.len(), "unread_turns": document.unread.as_ref().map(|unread| unread.turns)}),
    )];
    for target in &document.targets {
        let outcome = &target.outcome;
        let of = |record: &str| format!("{id}/{record}/{}", outcome.target);
        let omitted = outcome.decisions.len() as u64 - outcome.total.items.min(outcome.decisions.len() as u64);
        events.push(draft.event(
            EventKind::SelectionCompleted,
            &of("selection"),
            json!({"selected": outcome.total.items, "omitted": omitted}),
        ));
        events.push(draft.event(
            EventKind::BudgetApplied,
            &of("budget"),
            json!({
                "max_tokens": outcome.limits.max_tokens,
                "actual_tokens": outcome.total.tokens,
                "over_budget_tokens": outcome.over_budget_tokens,
                "counter": document.counter.name,
            }),
        ));
        events.push(draft.event(
            EventKind::AssemblyCreated,
            &of("assembly"),
            json!({"bytes": outcome.rendering.bytes, "hash": outcome.rendering.digest.to_string()}),
        ));
        let is_summed_up = |decision: &ItemDecision| {
            matches!(decision.fate, Fate::Omitted { reason: OmissionReason::SupersededBySummary, .. })
        };
        let summed_up = outcome.decisions.iter().filter(|decision| is_summed_up(decision)).count();
        if summed_up > 0 {
            let data = json!({"items_covered": summed_up});
            events.push(draft.event(EventKind::CompactionCompleted, &of("compaction"), data));
        }
    }
    for item in document.items.iter().filter(|item| item.redaction.is_some()) {
        let subject = format!("{id}/item/{}", item.id.as_str());
        events.push(draft.event(EventKind::RedactionApplied, &subject, json!({"redaction": item.redaction})));
    }
    for record in &document.gaps {
        let missing = missing_record(record, document.scope.as_str(), document.created_at);
        events.push(draft.event(EventKind::MissingDetected, &record.id.to_string(), value(&missing)));
    }
    events
}

/// What events of one moment have in common.
pub(crate) struct EventDraft<'d> {
    pub(crate) source: String,
    pub(crate) at: Timestamp,
    pub(crate) envelope: Option<EnvelopeId>,
    pub(crate) correlation: &'d std::collections::BTreeMap<String, String>,
}

impl EventDraft<'_> {
    /// Writes an event as the standard does.
    pub(crate) fn event(&self, kind: EventKind, subject: &str, data: Value) -> (EventKind, Value) {
        let identity = json!([kind.as_str(), subject, self.at, self.envelope, data]);
        let digest = Digest::of(identity.to_string().as_bytes()).to_string();
        let mut event = Map::new();
        event.insert("schema_version".to_owned(), standard::VERSION.into());
        event.insert("event_id".to_owned(), format!("evt-{}", &digest["blake3:".len()..][..32]).into());
        event.insert("event_type".to_owned(), kind.as_str().into());
        event.insert("source".to_owned(), self.source.as_str().into());
        event.insert("time".to_owned(), value(&self.at));
        event.insert("subject".to_owned(), subject.into());
        if let Some(envelope) = self.envelope {
            event.insert("context_id".to_owned(), envelope.to_string().into());
        }
        for (key, id) in self.correlation {
            event.insert(key.clone(), id.as_str().into());
        }
        event.insert("data".to_owned(), data);
        (kind, Value::Object(event))
    }
}

/// Makes an event that can be kept.
pub(crate) fn new_event((kind, event): &(EventKind, Value)) -> Result<NewEvent> {
    let subject = event["subject"].as_str().unwrap_or_default();
    Ok(NewEvent { kind: *kind, subject: Subject::new(subject)?, document: json_text(event)? })
}

/// Makes an event of no envelope.
pub(crate) fn stored(event: NewEvent) -> Event {
    let NewEvent { kind, subject, document } = event;
    Event { kind, subject, envelope: None, document }
}

pub(crate) fn json_text<T: serde::Serialize>(value: &T) -> Result<JsonText> {
    let text = serde_json::to_string(value).expect("a record has text keys");
    Ok(JsonText::new(text)?)
}

pub(crate) fn value<T: serde::Serialize>(record: &T) -> Value {
    serde_json::to_value(record).expect("a record has text keys")
}
