//! What became of the items for one target: selection, budget, window, assembly.

use serde_json::{Map, json};

use super::{TRIGGER, Writer, object, ranking, reference, traits};
use crate::{
    envelope::{Block, Fate, SegmentOutcome, TargetRecord},
    recipe::TargetSpec,
    standard::{
        AssemblyBlock, AssemblyId, BlockId, BudgetId, ContextAssembly, ContextBudget, ContextSelection, ContextWindow,
        OmissionReason, Omitted, OmittedRef, RecordReference, RedactionState, SegmentId, SelectionId, SurfaceId,
        Truncation, VERSION, WindowId, WindowSegment,
    },
};

impl Writer<'_> {
    pub(super) fn selection(&self, target: &TargetRecord) -> ContextSelection {
        let outcome = &target.outcome;
        let (mut selected, mut omitted) = (Vec::new(), Vec::new());
        let mut metadata = self.other_ids();
        for decision in &outcome.decisions {
            let item_ref = self.item_ref(&decision.item);
            match &decision.fate {
                Fate::Included { .. } => selected.push(item_ref),
                Fate::Omitted { reason, note, tokens } => {
                    if *reason == OmissionReason::Custom {
                        metadata.insert("reason".to_owned(), note.as_str().into());
                    }
                    omitted.push(OmittedRef::Omitted(Omitted {
                        item_ref,
                        reason: *reason,
                        metadata: object(json!({"note": note, "tokens": tokens})),
                        more: Map::new(),
                    }));
                }
            }
        }
        ContextSelection {
            schema_version: VERSION.to_owned(),
            selection_id: SelectionId::new(self.named("selection", outcome.target)).expect("it is not empty"),
            surface_id: SurfaceId::new(format!("{}/surface", self.id)).expect("it is not empty"),
            created_at: self.parcel.document.created_at,
            query: self.parcel.document.items.iter().find(|item| item.id.as_str() == TRIGGER).and_then(|item| {
                let given = self.given.get(&item.id)?;
                traits::plain_text(given).map(str::to_owned)
            }),
            intent: Some(self.intent()),
            ranking_signals: Some(self.ranking(target)),
            selection_policy: Some(self.policy()),
            budget_ref: Some(RecordReference::Id(self.named("budget", outcome.target))),
            rationale: Some(self.rationale(target)),
            actor_ref: Some(reference("actor", self.parcel.document.actor.clone())),
            model_ref: None,
            candidate_item_refs: outcome.decisions.iter().map(|decision| self.item_ref(&decision.item)).collect(),
            selected_item_refs: selected,
            omitted_item_refs: omitted,
            metadata,
            more: self.correlation(),
        }
    }

    pub(super) fn budget(&self, target: &TargetRecord) -> ContextBudget {
        let outcome = &target.outcome;
        let document = &self.parcel.document;
        let cut = |decision: &crate::envelope::ItemDecision| match &decision.fate {
            Fate::Included { cut_from: Some(before), tokens, .. } => Some(Truncation {
                item_ref: Some(self.item_ref(&decision.item)),
                strategy: Some(self.parcel.inputs.recipe.budget.overflow),
                tokens_before: Some(*before),
                tokens_after: Some(*tokens),
                reason: Some(OmissionReason::BudgetLimit),
                metadata: Map::new(),
                more: Map::new(),
            }),
            _ => None,
        };
        let metadata = json!({
            "token_counter": document.counter.name,
            "token_counter_version": document.counter.version,
            "over_budget_tokens": outcome.over_budget_tokens,
            "recipe": document.recipe.name,
            "max_chars": outcome.limits.max_chars,
            "max_search_ms": self.parcel.inputs.recipe.budget.max_search_ms,
            "visibility": ranking::visibility(target),
        });
        ContextBudget {
            schema_version: VERSION.to_owned(),
            budget_id: BudgetId::new(self.named("budget", outcome.target)).expect("it is not empty"),
            target: outcome.target.audience,
            created_at: document.created_at,
            max_tokens: outcome.limits.max_tokens,
            reserved_tokens: outcome.limits.reserved_tokens,
            max_bytes: outcome.limits.max_bytes,
            max_items: outcome.limits.max_items,
            actual_tokens: Some(outcome.total.tokens),
            actual_bytes: Some(outcome.total.bytes),
            actual_items: Some(outcome.total.items),
            overflow_strategy: Some(self.parcel.inputs.recipe.budget.overflow),
            truncation_records: outcome.decisions.iter().filter_map(cut).collect(),
            window_segments: (0u64..)
                .zip(&outcome.segments)
                .map(|(order, segment)| self.segment(target, segment, order))
                .collect(),
            metadata: object(metadata),
            more: Map::new(),
        }
    }

    fn segment(&self, target: &TargetRecord, segment: &SegmentOutcome, order: u64) -> WindowSegment {
        let inside = target.outcome.blocks.iter().filter(|block| block.segment == segment.name);
        WindowSegment {
            segment_id: SegmentId::new(self.segment_id(target.outcome.target, segment)).expect("it is not empty"),
            role: None,
            target: Some(target.outcome.target.audience),
            reserved_tokens: Some(segment.reserve),
            actual_tokens: Some(segment.total.tokens),
            order: Some(order),
            item_refs: inside.filter_map(|block| block.item.as_ref()).map(|item| self.item_ref(item)).collect(),
            truncation_records: Vec::new(),
            metadata: object(
                json!({"name": segment.name, "stability": segment.stability, "overflow": segment.overflow}),
            ),
            more: Map::new(),
        }
    }

    fn segment_id(&self, target: TargetSpec, segment: &SegmentOutcome) -> String {
        format!("{}/{}", self.named("segment", target), segment.name)
    }

    pub(super) fn window(&self, target: &TargetRecord) -> ContextWindow {
        let outcome = &target.outcome;
        let report = &outcome.window;
        ContextWindow {
            schema_version: VERSION.to_owned(),
            window_id: WindowId::new(self.named("window", outcome.target)).expect("it is not empty"),
            target: outcome.target.audience,
            created_at: self.parcel.document.created_at,
            budget_ref: Some(RecordReference::Id(self.named("budget", outcome.target))),
            segments: outcome
                .segments
                .iter()
                .map(|segment| RecordReference::Id(self.segment_id(outcome.target, segment)))
                .collect(),
            metadata: object(json!({
                "lasting_blocks": report.lasting_blocks,
                "lasting_bytes": report.lasting_bytes,
                "lasting_tokens": report.lasting_tokens,
                "turns_left_out": report.turns_left_out,
            })),
            more: Map::new(),
        }
    }

    pub(super) fn assembly(&self, target: &TargetRecord) -> ContextAssembly {
        let outcome = &target.outcome;
        let block = |(position, block): (u64, &Block)| AssemblyBlock {
            block_id: BlockId::new(self.named("block", format_args!("{}/{position}", outcome.target)))
                .expect("it is not empty"),
            content_ref: Some(RecordReference::Id(block.digest.to_string())),
            wrapper: None,
            position: Some(position),
            token_estimate: Some(block.tokens),
            hash: Some(block.digest.to_string()),
            redaction_state: Some(self.redaction_of(block.item.as_ref())),
            item_refs: block.item.iter().map(|item| self.item_ref(item)).collect(),
            visibility: vec![outcome.target.audience],
            metadata: Map::new(),
            more: Map::new(),
        };
        ContextAssembly {
            schema_version: VERSION.to_owned(),
            assembly_id: AssemblyId::new(self.named("assembly", outcome.target)).expect("it is not empty"),
            target: outcome.target.audience,
            ordered_blocks: (0u64..).zip(&outcome.blocks).map(block).collect(),
            created_at: self.parcel.document.created_at,
            wrapping_policy: Some(RecordReference::Id("fenced".to_owned())),
            separator_policy: None,
            budget_ref: Some(RecordReference::Id(self.named("budget", outcome.target))),
            redaction_state: Some(
                outcome
                    .blocks
                    .iter()
                    .map(|block| self.redaction_of(block.item.as_ref()))
                    .find(|state| *state != RedactionState::None)
                    .unwrap_or(RedactionState::None),
            ),
            visibility: vec![outcome.target.audience],
            source_item_refs: outcome
                .blocks
                .iter()
                .filter_map(|block| block.item.as_ref())
                .map(|item| self.item_ref(item))
                .collect(),
            metadata: object(json!({
                "rendering": outcome.target.rendering,
                "rendering_hash": outcome.rendering.digest.to_string(),
            })),
            more: Map::new(),
        }
    }
}
