//! From envelopes to records of the standard: each stage of the pipeline has its record.

mod compaction;
mod ranking;
mod stages;
mod traits;

use std::collections::{BTreeSet, HashMap, HashSet};

use contexture_core::Timestamp;
use serde_json::{Map, Number, Value, json};

use crate::{
    candidate::Priority,
    envelope::{Envelope, Fate, Inputs, ItemRecord},
    item::{Hold, Item, Redaction},
    pipeline::AssembledTarget,
    standard::{
        self, Audience, Binding, ContentMode, ContextEnvelope, ContextEnvelopeId, ContextEvent, ContextInjection,
        ContextItem, ContextKind, ContextScope, ContextSurface, Export, ItemId, Lifecycle, MissingContext,
        RecordReference, RedactionState, SourceId, SourceRef, SurfaceId, SurfaceKind, VERSION,
    },
};

/// The item that says what the model is asked now.
const TRIGGER: &str = "trigger";

/// All that belongs to an envelope.
#[derive(Debug, Clone)]
pub struct Parcel {
    /// Its id.
    pub id: contexture_core::EnvelopeId,
    /// What it says.
    pub document: Envelope,
    /// What it was made of.
    pub inputs: Inputs,
    /// What it gives each target, made again.
    pub assembled: Vec<AssembledTarget>,
    /// Where it became visible.
    pub injections: Vec<ContextInjection>,
    /// What was sent, where that is not what was assembled.
    pub sent: Vec<Vec<u8>>,
    /// What is missing.
    pub missing: Vec<MissingContext>,
    /// What happened to it.
    pub events: Vec<ContextEvent>,
}

/// Writes envelopes as records of the standard, with all contents that the records name.
pub fn export(parcels: &[Parcel], producer: &str, at: Timestamp) -> Export {
    let mut export = Export::new(RecordReference::Id(producer.to_owned()), at);
    // What happened to a gap comes with each envelope that has it.
    let mut told = HashSet::new();
    for parcel in parcels {
        let writer = Writer::new(parcel);
        writer.write(&mut export);
        for event in parcel.events.iter().filter(|event| told.insert(event.event_id.as_str())) {
            export.add(event.clone());
        }
    }
    export
}

struct Writer<'p> {
    parcel: &'p Parcel,
    id: String,
    /// What the items were made of.
    given: HashMap<&'p ItemId, &'p Item>,
    /// What became of the items.
    items: HashMap<&'p ItemId, &'p ItemRecord>,
    /// The tokens of each item, where it has most.
    tokens: HashMap<&'p ItemId, u64>,
}

impl<'p> Writer<'p> {
    fn new(parcel: &'p Parcel) -> Self {
        let mut tokens: HashMap<&ItemId, u64> = HashMap::new();
        for decision in parcel.document.targets.iter().flat_map(|target| &target.outcome.decisions) {
            let (Fate::Included { tokens: found, .. } | Fate::Omitted { tokens: found, .. }) = &decision.fate;
            let most = tokens.entry(&decision.item).or_default();
            *most = (*most).max(*found);
        }
        Self {
            id: parcel.id.to_string(),
            given: parcel.inputs.items.iter().map(|item| (&item.id, item)).collect(),
            items: parcel.document.items.iter().map(|item| (&item.id, item)).collect(),
            tokens,
            parcel,
        }
    }

    fn write(&self, export: &mut Export) {
        let document = &self.parcel.document;
        for item in &document.items {
            export.add(self.source(item)).add(self.item(item));
        }
        export.add(self.surface());
        for target in &document.targets {
            let spec = target.outcome.target;
            export.add(self.selection(target)).add(self.budget(target)).add(self.window(target));
            if let Some(made) = self.parcel.assembled.iter().find(|made| made.outcome.target == spec) {
                for fragment in &made.fragments {
                    export.add_content(fragment.as_bytes());
                }
                export.add_content(&made.bytes);
            }
            export.add(self.assembly(target));
            if let Some(compaction) = self.compaction(target) {
                for summary in self.summaries(target) {
                    export.add(summary);
                }
                export.add(compaction);
            }
        }
        for (item, replaced) in document.chain_compactions() {
            export.add(self.chain_summary(item, replaced)).add(self.chain_compaction(item, replaced));
        }
        for sent in &self.parcel.sent {
            export.add_content(sent);
        }
        for missing in &self.parcel.missing {
            export.add(missing.clone());
        }
        for injection in &self.parcel.injections {
            export.add(injection.clone());
        }
        export.add(self.envelope());
    }

    fn named(&self, kind: &str, of: impl std::fmt::Display) -> String {
        format!("{}/{kind}/{of}", self.id)
    }

    fn item_ref(&self, id: &crate::standard::ItemId) -> RecordReference {
        RecordReference::Id(self.named("item", id.as_str()))
    }

    fn source(&self, item: &ItemRecord) -> SourceRef {
        let mut metadata = Map::new();
        if let Some(commit) = item.origin.commit {
            metadata.insert("commit".to_owned(), commit.to_string().into());
        }
        let source = SourceRef {
            schema_version: VERSION.to_owned(),
            source_id: SourceId::new(self.named("source", item.id.as_str())).expect("it is not empty"),
            uri: item.origin.uri.clone(),
            source_kind: item.origin.kind.clone(),
            selector: self.given.get(&item.id).and_then(|given| traits::selector(given)),
            digest: Some(item.origin.digest.to_string()),
            authority: Some(traits::authority(item, &self.parcel.document)),
            license: None,
            retrieved_at: Some(self.parcel.document.created_at),
            modified_at: match item.origin.hold {
                Hold::Pinned => self.given.get(&item.id).and_then(|given| given.at),
                Hold::Live => None,
            },
            provenance_refs: Vec::new(),
            external_mappings: Vec::new(),
            metadata,
            more: Map::new(),
        };
        source.bound(match item.origin.hold {
            Hold::Pinned => Binding::Pinned,
            Hold::Live => Binding::Live,
        })
    }

    fn item(&self, item: &ItemRecord) -> ContextItem {
        let mut metadata =
            object(json!({"segment": item.segment, "priority": item.priority, "is_summary": item.is_summary}));
        let title = item.title.clone().unwrap_or_else(|| item.id.as_str().to_owned());
        if item.kind == ContextKind::Custom {
            metadata.insert("context_kind".to_owned(), title.clone().into());
        }
        let given = self.given.get(&item.id);
        ContextItem {
            schema_version: VERSION.to_owned(),
            item_id: ItemId::new(self.named("item", item.id.as_str())).expect("it is not empty"),
            context_kind: item.kind,
            content_mode: ContentMode::Ref,
            visibility: item.visibility.clone().unwrap_or_else(|| Audience::ALL.to_vec()),
            title: Some(title),
            content: None,
            content_ref: Some(reference("content", item.origin.digest.to_string())),
            mime_type: given.map(|given| traits::media_type(given).to_owned()),
            language: None,
            token_estimate: self.tokens.get(&item.id).copied(),
            byte_size: given.map(|given| traits::byte_size(given)),
            freshness: Some(traits::freshness(item, self.made_at(item))),
            trust_level: item.trust.clone(),
            sensitivity: Some(traits::sensitivity(item).to_owned()),
            redaction_state: Some(item.redaction.as_ref().map_or(RedactionState::None, |redaction| redaction.state)),
            priority: Some(Number::from(match item.priority {
                Priority::Required => 3,
                Priority::High => 2,
                Priority::Medium => 1,
                Priority::Low => 0,
            })),
            created_at: Some(self.made_at(item)),
            source_refs: vec![RecordReference::Id(self.named("source", item.id.as_str()))],
            metadata,
            more: item.redaction.as_ref().map(redacted).unwrap_or_default(),
        }
    }

    /// Returns what was done to what nobody may see in an item.
    fn redaction_of(&self, id: Option<&ItemId>) -> RedactionState {
        let item = id.and_then(|id| self.items.get(id));
        item.and_then(|item| item.redaction.as_ref()).map_or(RedactionState::None, |redaction| redaction.state)
    }

    /// Returns when an item was made, or else when it was read.
    fn made_at(&self, item: &ItemRecord) -> Timestamp {
        let given = self.given.get(&item.id);
        given.and_then(|given| given.at).unwrap_or(self.parcel.document.created_at)
    }

    fn surface(&self) -> ContextSurface {
        let document = &self.parcel.document;
        let unread = document.unread.as_ref().map(
            |unread| json!({"turns": unread.turns, "first": unread.first.to_string(), "last": unread.last.to_string()}),
        );
        ContextSurface {
            schema_version: VERSION.to_owned(),
            surface_id: SurfaceId::new(format!("{}/surface", self.id)).expect("it is not empty"),
            scope: document.scope.as_str().to_owned(),
            created_at: document.created_at,
            surface_kind: Some(match document.scope {
                ContextScope::Turn => SurfaceKind::TurnSurface,
                ContextScope::Task => SurfaceKind::TaskSurface,
                ContextScope::Session => SurfaceKind::SessionSurface,
                ContextScope::ToolInvocation => SurfaceKind::ToolSurface,
                ContextScope::Review => SurfaceKind::ReviewSurface,
                ContextScope::Handoff => SurfaceKind::HandoffSurface,
                ContextScope::Custom => SurfaceKind::Custom,
            }),
            producer: Some(self.producer()),
            expires_at: None,
            available_source_refs: document
                .items
                .iter()
                .map(|item| RecordReference::Id(self.named("source", item.id.as_str())))
                .collect(),
            available_item_refs: document.items.iter().map(|item| self.item_ref(&item.id)).collect(),
            capability_refs: Vec::new(),
            policy_refs: Vec::new(),
            visibility: document.targets.iter().map(|target| target.outcome.target.audience).collect(),
            metadata: {
                let mut metadata = unread.map(|unread| object(json!({"unread": unread}))).unwrap_or_default();
                if document.scope == ContextScope::Custom {
                    metadata.insert("surface_kind".to_owned(), document.recipe.name.as_str().into());
                }
                metadata
            },
            more: Map::new(),
        }
    }

    fn envelope(&self) -> ContextEnvelope {
        let document = &self.parcel.document;
        let specs = || document.targets.iter().map(|target| target.outcome.target);
        let all = |kind: &str| specs().map(|spec| RecordReference::Id(self.named(kind, spec))).collect();
        let blocks = document.targets.iter().flat_map(|target| &target.outcome.blocks);
        let mut known = HashSet::new();
        let items = blocks.filter_map(|block| block.item.as_ref()).filter(|item| known.insert(*item));
        let items: Vec<RecordReference> = items.map(|item| self.item_ref(item)).collect();
        let runtime =
            document.correlation.iter().map(|(key, id)| reference(key.strip_suffix("_id").unwrap_or(key), id.clone()));
        let commit = document.commit.map(|commit| reference("commit", commit.to_string()));
        let compacted = document.targets.iter().filter_map(|target| self.compaction(target));
        ContextEnvelope {
            schema_version: VERSION.to_owned(),
            context_id: ContextEnvelopeId::new(self.id.clone()).expect("it is not empty"),
            scope: document.scope,
            lifecycle: if self.parcel.injections.is_empty() { Lifecycle::Assembled } else { Lifecycle::Injected },
            created_at: document.created_at,
            producer: Some(self.producer()),
            budget_ref: specs().next().map(|spec| RecordReference::Id(self.named("budget", spec))),
            actor_refs: vec![reference("actor", document.actor.clone())],
            runtime_refs: runtime.chain(commit).chain([reference("stream", document.stream.clone())]).collect(),
            surface_refs: vec![RecordReference::Id(format!("{}/surface", self.id))],
            item_refs: items,
            selection_refs: all("selection"),
            assembly_refs: all("assembly"),
            injection_refs: self
                .parcel
                .injections
                .iter()
                .map(|injection| RecordReference::Id(injection.injection_id.as_str().to_owned()))
                .collect(),
            compaction_refs: compacted
                .chain(document.chain_compactions().map(|(item, replaced)| self.chain_compaction(item, replaced)))
                .map(|compaction| RecordReference::Id(compaction.compaction_id.as_str().to_owned()))
                .collect(),
            missing_context_refs: self
                .parcel
                .missing
                .iter()
                .map(|missing| RecordReference::Id(missing.missing_id.as_str().to_owned()))
                .collect(),
            policy_refs: self.policies(),
            evidence_refs: std::iter::once(document.inputs)
                .chain(document.targets.iter().map(|target| target.artifact))
                .map(|artifact| reference("artifact", artifact.to_string()))
                .collect(),
            telemetry_refs: Vec::new(),
            metadata: {
                let mut metadata = object(json!({
                    "stream": document.stream,
                    "attempt": document.attempt,
                    "recipe": document.recipe.name,
                    "recipe_digest": document.recipe.digest.to_string(),
                    "token_counter": document.counter.name,
                    "token_counter_version": document.counter.version,
                    "pipeline": document.pipeline,
                }));
                if document.scope == ContextScope::Custom {
                    metadata.insert("scope".to_owned(), document.recipe.name.as_str().into());
                }
                metadata.extend(self.other_ids());
                metadata
            },
            more: self.correlation(),
        }
    }

    /// Returns who decided what nobody may see.
    fn policies(&self) -> Vec<RecordReference> {
        let redactions = self.parcel.document.items.iter().filter_map(|item| item.redaction.as_ref());
        let policies: BTreeSet<_> = redactions.flat_map(|redaction| &redaction.policies).collect();
        policies.into_iter().map(|policy| reference("policy", policy.as_str())).collect()
    }

    fn correlation(&self) -> Map<String, Value> {
        let ids = self.parcel.document.correlation.iter().filter(|(key, _)| standard::is_runtime_id(key));
        ids.map(|(key, id)| (key.clone(), Value::String(id.clone()))).collect()
    }

    /// Returns the ids of the caller's runtime that the standard has no field for.
    fn other_ids(&self) -> Map<String, Value> {
        let ids = self.parcel.document.correlation.iter().filter(|(key, _)| !standard::is_runtime_id(key));
        let ids: Map<String, Value> = ids.map(|(key, id)| (key.clone(), Value::String(id.clone()))).collect();
        if ids.is_empty() { ids } else { object(json!({"correlation": ids})) }
    }

    fn producer(&self) -> RecordReference {
        let producer = &self.parcel.document.producer;
        reference("program", format!("{}/{}", producer.name, producer.version))
    }

    fn policy(&self) -> RecordReference {
        reference("policy", format!("recipe:{}", self.parcel.document.recipe.name))
    }
}

/// Says how something was redacted, in the fields that the standard names beside its schema.
fn redacted(redaction: &Redaction) -> Map<String, Value> {
    let policies: Vec<_> = redaction.policies.iter().map(|policy| json!({"kind": "policy", "id": policy})).collect();
    object(json!({"redaction_method": redaction.method, "policy_refs": policies}))
}

/// Names something outside of the records.
fn reference(kind: &str, id: impl Into<String>) -> RecordReference {
    RecordReference::Object(object(json!({"kind": kind, "id": id.into()})))
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(object) => object,
        _ => Map::new(),
    }
}
