//! Keeping what was assembled: the envelope, what is missing, and the events of both.

use std::{collections::BTreeSet, sync::Arc};

use contexture_assembly::{
    TokenCounter,
    envelope::{CounterRef, Envelope, Gap, GapRecord, Inputs, ItemRecord, Producer, RecipeRef, TargetRecord},
    pipeline::{AssembledTarget, PreparedItems, Rejected},
    standard::{self, MissingContext, MissingStatus, RecordReference, Severity},
};
use contexture_core::{
    ArtifactId, EnvelopeId, EventKind, GapSeverity, GapStatus, MissingId, RecipeName, Stream, Timestamp,
};
use futures_util::future;
use serde_json::{Map, json};

use super::{
    Assemble, AssembledContext,
    event::{self, EventData, EventDraft},
    previous::PreviousAssembly,
    source::FoundAgain,
    stream, turn_of,
};
use crate::{
    AssemblyProblem, Attachment, Contexture, Envelopes, NewEnvelope, NewMissing, Result, envelope::FreshCounts,
};

/// What makes envelopes.
const PRODUCER: &str = "contexture";
/// Bytes that an envelope usually has for each of its items.
const BYTES_PER_ITEM: usize = 768;
/// Where the record of a gap says of which stream it is; the standard has no field for it.
pub(super) const STREAM: &str = "stream";
/// Where it says what happened.
pub(super) const KIND: &str = "kind";
/// Where it says what it is about.
pub(super) const SUBJECT: &str = "subject";

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
    /// Gaps that are none any more.
    pub(super) found: Vec<FoundAgain>,
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
        let KeptWith { frozen, prepared, tokens, counted, found } = kept;
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
        let turn = turn_of(request);
        let attempt = match &previous {
            Some((_, before)) if before.turn == turn => before.attempt + 1,
            _ => 1,
        };
        let mut known = BTreeSet::new();
        let gaps = gaps.into_iter().map(|gap| GapRecord { id: gap_id(&stream, &gap), gap });
        let gaps: Vec<GapRecord> = gaps.filter(|record| known.insert(record.id)).collect();
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
            recipe: RecipeRef {
                name: request.recipe.name.clone(),
                digest: request.recipe.digest(),
                provenance: Some(request.provenance.clone()),
            },
            head: request.head.clone(),
            commit: request.commit,
            counter: CounterRef { name: tokens.name().to_owned(), version: tokens.version() },
            pipeline: inputs.pipeline,
            inputs: *artifacts[0].id(),
            items: inputs.items.iter().map(|item| ItemRecord::of(item, &inputs)).collect(),
            unread: inputs.unread.clone(),
            targets,
            gaps,
        };
        let mut bytes = Vec::with_capacity(document.items.len() * BYTES_PER_ITEM);
        serde_json::to_writer(&mut bytes, &document).expect("a document has text keys");
        let id = EnvelopeId::of(&bytes);
        let events = event::of_assembly(&document, id, self.source(), previous.as_ref())?;
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
            events,
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
        for FoundAgain { gap, item } in found {
            let item = json!({"kind": "context_item", "id": format!("{}/item/{}", kept.id, item.as_str())});
            self.settle_gap(gap, MissingStatus::Resolved, vec![item], None).await?;
        }
        Ok(AssembledContext { envelope: kept.id, document, renderings, texts_counted })
    }

    /// Keeps that an assembly was rejected: what is missing to make it, and that it failed.
    pub(super) async fn keep_rejection(&self, request: &Assemble, rejected: &Rejected) -> Result<()> {
        let stream = stream(request)?;
        let now = self.now();
        let gap = Gap {
            kind: contexture_assembly::envelope::GapKind::RequiredTooLarge,
            subject: stream.as_str().to_owned(),
            target: None,
            question: format!("How can the recipe {:?} be met? {rejected}.", request.recipe.name),
            severity: Severity::Blocking,
            blocked_actions: vec!["assemble".to_owned()],
            candidates: Vec::new(),
        };
        let record = GapRecord { id: gap_id(&stream, &gap), gap };
        let missing = missing_record(&record, &stream, request.recipe.scope.as_str(), now);
        let draft = EventDraft { source: self.source(), at: now, envelope: None, correlation: &request.correlation };
        let failure = EventData::Failure { reason: rejected.to_string(), recipe: &request.recipe.name };
        let failed = draft.event(EventKind::AssemblyFailed, stream.as_str(), &failure)?;
        let detected =
            draft.event(EventKind::MissingDetected, &record.id.to_string(), &EventData::Missing(&missing))?;
        let missing = NewMissing {
            id: record.id,
            status: GapStatus::new(MissingStatus::Open.as_str())?,
            severity: GapSeverity::new(Severity::Blocking.as_str())?,
            document: event::json_text(&missing)?,
        };
        self.notice_missing(missing, event::stored(failed), event::stored(detected)).await
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

/// Returns the id of a gap: the same for every assembly of a stream that finds it.
pub(super) fn gap_id(stream: &Stream, gap: &Gap) -> MissingId {
    let Gap { kind, subject, target, .. } = gap;
    let content = serde_json::to_vec(&(stream.as_str(), kind, subject, target)).expect("texts have a JSON form");
    MissingId::of(&content)
}

fn new_missing(record: &GapRecord, document: &Envelope) -> Result<NewMissing> {
    let stream = Stream::new(document.stream.clone())?;
    let missing = missing_record(record, &stream, document.scope.as_str(), document.created_at);
    Ok(NewMissing {
        id: record.id,
        status: GapStatus::new(missing.status.as_str())?,
        severity: GapSeverity::new(missing.severity.as_str())?,
        document: event::json_text(&missing)?,
    })
}

/// Writes a gap as the standard does.
pub(super) fn missing_record(record: &GapRecord, stream: &Stream, scope: &str, at: Timestamp) -> MissingContext {
    let GapRecord { id, gap } = record;
    let candidate = |uri: &String| {
        let source = json!({"kind": "uri", "hint": uri});
        source.as_object().cloned().unwrap_or_default()
    };
    let mut metadata = Map::new();
    metadata.insert(KIND.to_owned(), gap.kind.as_str().into());
    metadata.insert(SUBJECT.to_owned(), gap.subject.as_str().into());
    metadata.insert(STREAM.to_owned(), stream.as_str().into());
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
