//! Compactions: what summaries stand for in an assembly.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use super::{Writer, object};
use crate::{
    envelope::{Fate, ItemDecision, ItemRecord, TargetRecord},
    item::ItemContent,
    standard::{
        CompactionId, CompactionMethod, CompactionTrigger, ContextCompaction, ContextSummary, ItemId, OmissionReason,
        RecordReference, SummaryId, VERSION,
    },
};

/// What a summary of a turn leaves out.
const LOSS: &str = "tool calls, their results and the wording of the turn are not in its summary";

impl Writer<'_> {
    /// Returns the items that summaries stand for, with their tokens.
    fn summed_up<'t>(&'t self, target: &'t TargetRecord) -> Vec<(&'t ItemRecord, u64)> {
        let summed_up = |decision: &'t ItemDecision| match &decision.fate {
            Fate::Omitted { reason: OmissionReason::SupersededBySummary, tokens, .. } => {
                Some((*self.items.get(&decision.item)?, *tokens))
            }
            _ => None,
        };
        target.outcome.decisions.iter().filter_map(summed_up).collect()
    }

    /// Returns the items that are in and sum up others, with their tokens.
    fn summing_up<'t>(&'t self, target: &'t TargetRecord) -> Vec<(&'t ItemRecord, u64)> {
        let blocks = target.outcome.blocks.iter();
        let inside: HashMap<_, _> = blocks.filter_map(|block| Some((block.item.as_ref()?, block.tokens))).collect();
        let summaries = self.parcel.document.items.iter().filter(|item| item.is_summary);
        summaries.filter_map(|item| Some((item, *inside.get(&item.id)?))).collect()
    }

    fn summary_id(&self, target: &TargetRecord, item: &ItemRecord) -> String {
        format!("{}/{}", self.named("summary", target.outcome.target), item.id.as_str())
    }

    pub(super) fn compaction(&self, target: &TargetRecord) -> Option<ContextCompaction> {
        let covered = self.summed_up(target);
        let summaries = self.summing_up(target);
        let (first, _) = summaries.first()?;
        if covered.is_empty() {
            return None;
        }
        let outcome = &target.outcome;
        let before: u64 = covered.iter().map(|(_, tokens)| tokens).sum();
        let after: u64 = summaries.iter().map(|(_, tokens)| tokens).sum();
        let all: Vec<_> = summaries.iter().map(|(item, _)| self.summary_id(target, item)).collect();
        let coverage = json!({
            "items_covered": covered.len(),
            "estimated_tokens_before": before,
            "estimated_tokens_after": after,
        });
        Some(ContextCompaction {
            schema_version: VERSION.to_owned(),
            compaction_id: CompactionId::new(self.named("compaction", outcome.target)).expect("it is not empty"),
            scope: self.parcel.document.scope.as_str().to_owned(),
            source_item_refs: covered.iter().map(|(item, _)| self.item_ref(&item.id)).collect(),
            method: CompactionMethod::ExtractiveSummary,
            created_at: self.parcel.document.created_at,
            summary_ref: Some(RecordReference::Id(self.summary_id(target, first))),
            trigger: Some(CompactionTrigger::TokenPressure),
            coverage: Some(object(coverage)),
            validation: Some(unreviewed()),
            replacement_policy: Some("summary_replaces_source_in_this_assembly".to_owned()),
            loss_notes: vec![LOSS.to_owned()],
            metadata: object(json!({"summaries": all})),
            more: Map::new(),
        })
    }

    /// Returns the summaries that are in, each with what it stands for.
    pub(super) fn summaries(&self, target: &TargetRecord) -> Vec<ContextSummary> {
        let covered = self.summed_up(target);
        let text = |id: &ItemId| match &self.given.get(id)?.content {
            ItemContent::Text { text, .. } => Some(Value::String(text.clone())),
            ItemContent::Entries(_) => None,
        };
        let summary = |(item, _): (&ItemRecord, u64)| {
            let of_turn = covered.iter().filter(|(step, _)| step.origin.commit == item.origin.commit);
            let sources: Vec<_> = of_turn.map(|(step, _)| self.item_ref(&step.id)).collect();
            ContextSummary {
                schema_version: VERSION.to_owned(),
                summary_id: SummaryId::new(self.summary_id(target, item)).expect("it is not empty"),
                content: text(&item.id).unwrap_or(Value::Null),
                summary_kind: Some("turn".to_owned()),
                coverage: Some(object(json!({"items_covered": sources.len()}))),
                freshness: Some(RecordReference::Id("as_of_its_turn".to_owned())),
                validation: Some(unreviewed()),
                refresh_policy: Some(RecordReference::Id("when_its_turn_is_summed_up_anew".to_owned())),
                source_item_refs: sources,
                loss_notes: vec![LOSS.to_owned()],
                open_questions: Vec::new(),
                metadata: Map::new(),
                more: Map::new(),
            }
        };
        self.summing_up(target).into_iter().map(summary).collect()
    }
}

/// Says that nobody looked at it.
fn unreviewed() -> RecordReference {
    RecordReference::Object(object(json!({"status": "unreviewed"})))
}
