//! A turn with everything that a turn can have, made with the types that exports are made with.

use contexture_assembly::standard::{
    AssemblyBlock, AssemblyId, Audience, Binding, BlockId, BudgetId, CompactionId, CompactionMethod, CompactionTrigger,
    ContentMode, ContextAssembly, ContextBudget, ContextCompaction, ContextEnvelope, ContextEnvelopeId, ContextEvent,
    ContextInjection, ContextInjectionId, ContextItem, ContextKind, ContextScope, ContextSelection, ContextSummary,
    ContextSurface, ContextWindow, EventId, Export, InjectionPoint, ItemId, Lifecycle, MissingContext,
    MissingContextId, MissingStatus, OmissionReason, Omitted, OmittedRef, OverflowStrategy, RankingSignal,
    RecordReference, RedactionState, SegmentId, SelectionId, Selector, SelectorKind, SelectorShape, Severity, SourceId,
    SourceRef, SummaryId, SurfaceId, SurfaceKind, Truncation, VERSION, WindowId, WindowSegment,
};
use contexture_core::{EventKind, Timestamp};
use serde_json::{Map, Number, Value, json};

/// Returns an export that reaches the highest level, even strictly.
pub(crate) fn export() -> Export {
    let mut export = Export::new(outside("program", "example"), time());
    let system = export.add_content(b"You are careful.\n");
    let file = export.add_content(b"fn main() {}\n");
    let key = export.add_content(b"KEY=****\n");
    let sent = export.add_content(b"\xFF\x00You are careful.\nfn main() {}\nKEY=****\n");

    export.add(source("src-main", file.to_string(), Binding::Live));
    export.add(source("src-turns", "sha256:".to_owned() + &"0".repeat(64), Binding::Pinned));
    for (id, kind) in [
        ("item-system", ContextKind::SystemPrompt),
        ("item-main", ContextKind::FileExcerpt),
        ("item-key", ContextKind::ToolResult),
        ("item-log", ContextKind::ToolResult),
    ] {
        export.add(item(id, kind));
    }
    export.add(surface()).add(selection()).add(budget()).add(window());
    export.add(assembly([system.to_string(), file.to_string(), key.to_string()]));
    export.add(ContextInjection {
        schema_version: VERSION.to_owned(),
        injection_id: ContextInjectionId::new("inj-1").unwrap(),
        assembly_id: AssemblyId::new("asm-1").unwrap(),
        target: Audience::Model,
        injection_point: InjectionPoint::MessageHistory,
        created_at: time(),
        native_id: Some("msg-1".to_owned()),
        final_ref: Some(RecordReference::Id(sent.to_string())),
        hash: Some(sent.to_string()),
        visibility: vec![Audience::Model],
        metadata: Map::new(),
        more: Map::new(),
    });
    export.add(compaction()).add(summary()).add(missing()).add(envelope());
    for (event, subject) in [
        (EventKind::SurfaceCreated, "sur-1"),
        (EventKind::SelectionCompleted, "sel-1"),
        (EventKind::BudgetApplied, "bud-1"),
        (EventKind::AssemblyCreated, "asm-1"),
        (EventKind::RedactionApplied, "item-key"),
        (EventKind::InjectionApplied, "inj-1"),
        (EventKind::CompactionCompleted, "com-1"),
        (EventKind::MissingDetected, "mis-1"),
        (EventKind::MissingRequested, "mis-1"),
    ] {
        export.add(happened(event, subject));
    }
    export
}

/// Returns the export as JSON.
pub(crate) fn value() -> Value {
    serde_json::from_slice(&export().to_json()).unwrap()
}

pub(crate) fn time() -> Timestamp {
    "2026-11-15T20:10:00Z".parse().unwrap()
}

fn id(text: &str) -> RecordReference {
    RecordReference::Id(text.to_owned())
}

fn ids(texts: &[&str]) -> Vec<RecordReference> {
    texts.iter().map(|text| id(text)).collect()
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(fields) => fields,
        other => panic!("{other} is no object"),
    }
}

fn outside(kind: &str, id: &str) -> RecordReference {
    RecordReference::Object(object(json!({"kind": kind, "id": id})))
}

fn source(id: &str, digest: String, binding: Binding) -> SourceRef {
    let selector = SelectorShape {
        r#type: Some(SelectorKind::LineRange),
        metadata: Map::new(),
        more: object(json!({"start": 1, "end": 1})),
    };
    let source = SourceRef {
        schema_version: VERSION.to_owned(),
        source_id: SourceId::new(id).unwrap(),
        uri: format!("file:///src/{id}"),
        source_kind: "file".to_owned(),
        selector: Some(Selector::One(selector)),
        digest: Some(digest),
        authority: None,
        license: None,
        retrieved_at: Some(time()),
        modified_at: None,
        provenance_refs: vec![outside("tool_call", "call-1")],
        external_mappings: Vec::new(),
        metadata: Map::new(),
        more: Map::new(),
    };
    source.bound(binding)
}

fn item(id: &str, context_kind: ContextKind) -> ContextItem {
    let is_secret = id == "item-key";
    ContextItem {
        schema_version: VERSION.to_owned(),
        item_id: ItemId::new(id).unwrap(),
        context_kind,
        content_mode: ContentMode::Inline,
        visibility: vec![Audience::Model, Audience::Reviewer],
        title: Some(id.to_owned()),
        content: Some(json!({"lines": ["success"], "success": true})),
        content_ref: None,
        mime_type: None,
        language: None,
        token_estimate: Some(4),
        byte_size: Some(13),
        freshness: None,
        trust_level: None,
        sensitivity: None,
        redaction_state: Some(if is_secret { RedactionState::Masked } else { RedactionState::None }),
        priority: Number::from_f64(0.5),
        created_at: Some(time()),
        source_refs: ids(&["src-main"]),
        metadata: Map::new(),
        more: if is_secret { object(json!({"redaction_method": "pattern"})) } else { Map::new() },
    }
}

fn surface() -> ContextSurface {
    ContextSurface {
        schema_version: VERSION.to_owned(),
        surface_id: SurfaceId::new("sur-1").unwrap(),
        scope: "turn".to_owned(),
        created_at: time(),
        surface_kind: Some(SurfaceKind::TurnSurface),
        producer: Some(id("example")),
        expires_at: None,
        available_source_refs: ids(&["src-main", "src-turns"]),
        available_item_refs: ids(&["item-system", "item-main", "item-key", "item-log"]),
        capability_refs: ids(&["tool:read"]),
        policy_refs: vec![outside("policy", "pol-1")],
        visibility: vec![Audience::Model],
        metadata: Map::new(),
        more: Map::new(),
    }
}

fn selection() -> ContextSelection {
    let signals = [(RankingSignal::Relevance, Number::from_f64(0.9).unwrap())].into();
    let omitted = Omitted {
        item_ref: id("item-log"),
        reason: OmissionReason::BudgetLimit,
        metadata: Map::new(),
        more: Map::new(),
    };
    ContextSelection {
        schema_version: VERSION.to_owned(),
        selection_id: SelectionId::new("sel-1").unwrap(),
        surface_id: SurfaceId::new("sur-1").unwrap(),
        created_at: time(),
        query: None,
        intent: None,
        ranking_signals: Some([("item-main".to_owned(), signals)].into()),
        selection_policy: Some(id("by-priority")),
        budget_ref: Some(id("bud-1")),
        rationale: None,
        actor_ref: None,
        model_ref: None,
        candidate_item_refs: ids(&["item-system", "item-main", "item-key", "item-log"]),
        selected_item_refs: ids(&["item-system", "item-main", "item-key"]),
        omitted_item_refs: vec![OmittedRef::Omitted(omitted)],
        metadata: Map::new(),
        more: object(json!({"session_id": "ses-1", "attempt_id": "att-1"})),
    }
}

fn budget() -> ContextBudget {
    let truncation = Truncation {
        item_ref: Some(id("item-log")),
        strategy: Some(OverflowStrategy::DeferToRetrieval),
        tokens_before: Some(4000),
        tokens_after: Some(0),
        reason: Some(OmissionReason::BudgetLimit),
        metadata: Map::new(),
        more: Map::new(),
    };
    let segment = WindowSegment {
        segment_id: SegmentId::new("seg-1").unwrap(),
        role: Some("user".to_owned()),
        target: Some(Audience::Model),
        reserved_tokens: Some(10),
        actual_tokens: Some(12),
        order: Some(0),
        item_refs: ids(&["item-main"]),
        truncation_records: Vec::new(),
        metadata: Map::new(),
        more: Map::new(),
    };
    ContextBudget {
        schema_version: VERSION.to_owned(),
        budget_id: BudgetId::new("bud-1").unwrap(),
        target: Audience::Model,
        created_at: time(),
        max_tokens: Some(100),
        reserved_tokens: None,
        max_bytes: None,
        max_items: None,
        actual_tokens: Some(12),
        actual_bytes: None,
        actual_items: None,
        overflow_strategy: Some(OverflowStrategy::DeferToRetrieval),
        truncation_records: vec![truncation],
        window_segments: vec![segment],
        metadata: object(json!({"token_counter": "chars4"})),
        more: Map::new(),
    }
}

fn window() -> ContextWindow {
    ContextWindow {
        schema_version: VERSION.to_owned(),
        window_id: WindowId::new("win-1").unwrap(),
        target: Audience::Model,
        created_at: time(),
        budget_ref: Some(id("bud-1")),
        segments: ids(&["seg-1"]),
        metadata: Map::new(),
        more: Map::new(),
    }
}

fn assembly(hashes: [String; 3]) -> ContextAssembly {
    let items = ["item-system", "item-main", "item-key"];
    let blocks = items.into_iter().zip(hashes).zip(0..).map(|((item, hash), position)| AssemblyBlock {
        block_id: BlockId::new(format!("blk-{position}")).unwrap(),
        content_ref: Some(id(&hash)),
        wrapper: None,
        position: Some(position),
        token_estimate: Some(4),
        hash: Some(hash),
        redaction_state: Some(if position == 2 { RedactionState::Masked } else { RedactionState::None }),
        item_refs: ids(&[item]),
        visibility: vec![Audience::Model],
        metadata: Map::new(),
        more: Map::new(),
    });
    ContextAssembly {
        schema_version: VERSION.to_owned(),
        assembly_id: AssemblyId::new("asm-1").unwrap(),
        target: Audience::Model,
        ordered_blocks: blocks.collect(),
        created_at: time(),
        wrapping_policy: None,
        separator_policy: None,
        budget_ref: Some(id("bud-1")),
        redaction_state: Some(RedactionState::Masked),
        visibility: vec![Audience::Model],
        source_item_refs: ids(&items),
        metadata: Map::new(),
        more: Map::new(),
    }
}

fn compaction() -> ContextCompaction {
    ContextCompaction {
        schema_version: VERSION.to_owned(),
        compaction_id: CompactionId::new("com-1").unwrap(),
        scope: "session".to_owned(),
        source_item_refs: vec![outside("turn", "turn-1"), id("item-log")],
        method: CompactionMethod::RollingSummary,
        created_at: time(),
        summary_ref: Some(id("sum-1")),
        trigger: Some(CompactionTrigger::TokenPressure),
        coverage: Some(object(json!({"status": "complete", "items_covered": 2}))),
        validation: Some(RecordReference::Object(object(json!({"status": "approved"})))),
        replacement_policy: Some("until_review".to_owned()),
        loss_notes: vec!["the exact output of the log".to_owned()],
        metadata: Map::new(),
        more: Map::new(),
    }
}

fn summary() -> ContextSummary {
    ContextSummary {
        schema_version: VERSION.to_owned(),
        summary_id: SummaryId::new("sum-1").unwrap(),
        content: json!("The build fails."),
        summary_kind: Some("rolling".to_owned()),
        coverage: Some(object(json!({"items_covered": 2}))),
        freshness: Some(id("fresh")),
        validation: None,
        refresh_policy: Some(id("on_change")),
        source_item_refs: vec![outside("turn", "turn-1")],
        loss_notes: vec!["the exact output of the log".to_owned()],
        open_questions: vec!["Which port?".to_owned()],
        metadata: Map::new(),
        more: Map::new(),
    }
}

fn missing() -> MissingContext {
    MissingContext {
        schema_version: VERSION.to_owned(),
        missing_id: MissingContextId::new("mis-1").unwrap(),
        scope: "turn".to_owned(),
        question: "Which port?".to_owned(),
        severity: Severity::High,
        status: MissingStatus::Requested,
        created_at: time(),
        needed_for: Some("the answer".to_owned()),
        requested_from: Some(id("user")),
        candidate_sources: vec![object(json!({"kind": "file", "hint": "deploy.toml"}))],
        blocked_actions: vec!["final_answer".to_owned()],
        resolution_refs: Vec::new(),
        metadata: Map::new(),
        more: Map::new(),
    }
}

fn envelope() -> ContextEnvelope {
    ContextEnvelope {
        schema_version: VERSION.to_owned(),
        context_id: ContextEnvelopeId::new("env-1").unwrap(),
        scope: ContextScope::Turn,
        lifecycle: Lifecycle::Injected,
        created_at: time(),
        producer: Some(id("example")),
        budget_ref: Some(id("bud-1")),
        actor_refs: vec![outside("user", "ada")],
        runtime_refs: vec![outside("session", "ses-1"), outside("turn", "turn-2")],
        surface_refs: ids(&["sur-1"]),
        item_refs: ids(&["item-system", "item-main", "item-key"]),
        selection_refs: ids(&["sel-1"]),
        assembly_refs: ids(&["asm-1"]),
        injection_refs: ids(&["inj-1"]),
        compaction_refs: ids(&["com-1"]),
        missing_context_refs: ids(&["mis-1"]),
        policy_refs: vec![outside("policy", "pol-1")],
        evidence_refs: Vec::new(),
        telemetry_refs: vec![RecordReference::Object(object(json!({"trace_id": "4bf92f35"})))],
        metadata: Map::new(),
        more: object(json!({"session_id": "ses-1", "turn_id": "turn-2"})),
    }
}

fn happened(kind: EventKind, subject: &str) -> ContextEvent {
    ContextEvent {
        schema_version: VERSION.to_owned(),
        event_id: EventId::new(format!("{kind}/{subject}")).unwrap(),
        event_type: kind.try_into().unwrap(),
        source: "example".to_owned(),
        time: time(),
        subject: Some(subject.to_owned()),
        context_id: Some(ContextEnvelopeId::new("env-1").unwrap()),
        runtime_id: None,
        session_id: Some("ses-1".to_owned()),
        thread_id: None,
        turn_id: None,
        task_id: None,
        run_id: None,
        attempt_id: None,
        step_id: None,
        tool_call_id: None,
        action_id: None,
        evidence_id: None,
        data: None,
        policy_refs: Vec::new(),
        evidence_refs: Vec::new(),
        telemetry_refs: Vec::new(),
        metadata: Map::new(),
        more: Map::new(),
    }
}
