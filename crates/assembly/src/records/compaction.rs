//! Compactions: what summaries stand for in an assembly.

use std::collections::HashMap;

use contexture_core::{Entry, EntryPart};
use serde_json::{Map, Value, json};

use super::{Writer, object};
use crate::{
    envelope::{Fate, ItemDecision, ItemRecord, TargetRecord},
    item::{ItemContent, ReplacedTurns},
    standard::{
        CompactionId, CompactionMethod, CompactionTrigger, ContextCompaction, ContextSummary, ItemId, OmissionReason,
        RecordReference, SummaryId, VERSION,
    },
};

/// What the summary of a compaction leaves out.
const CHAIN_LOSS: &str =
    "the wording, tool calls and results of what came before are in the chain and not in the summary";
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

impl Writer<'_> {
    fn of_chain(&self, kind: &str, item: &ItemRecord) -> String {
        self.named(kind, item.id.as_str())
    }

    /// Writes a compaction that the chain itself has: what it replaced is not read, and so no item.
    pub(super) fn chain_compaction(&self, item: &ItemRecord, replaced: &ReplacedTurns) -> ContextCompaction {
        let (trigger, told) = match replaced.trigger.as_str() {
            "explicit" => (CompactionTrigger::Manual, None),
            other => (CompactionTrigger::Custom, Some(other)),
        };
        // Whoever wrote the summary did not say how.
        let mut metadata =
            object(json!({"method": "as_recorded", "commit": item.origin.commit.map(|id| id.to_string())}));
        if let Some(told) = told {
            metadata.insert("trigger".to_owned(), told.into());
        }
        ContextCompaction {
            schema_version: VERSION.to_owned(),
            compaction_id: CompactionId::new(self.of_chain("compaction", item)).expect("it is not empty"),
            scope: "session".to_owned(),
            source_item_refs: vec![replaced_turns(replaced)],
            method: CompactionMethod::Custom,
            created_at: self.made_at(item),
            summary_ref: Some(RecordReference::Id(self.of_chain("summary", item))),
            trigger: Some(trigger),
            coverage: Some(self.chain_coverage(item, replaced)),
            validation: Some(unreviewed()),
            replacement_policy: Some("summary_replaces_source_in_the_chain".to_owned()),
            loss_notes: vec![CHAIN_LOSS.to_owned()],
            metadata,
            more: Map::new(),
        }
    }

    /// Writes the summary of such a compaction.
    pub(super) fn chain_summary(&self, item: &ItemRecord, replaced: &ReplacedTurns) -> ContextSummary {
        let said = match self.given.get(&item.id).map(|given| &given.content) {
            Some(ItemContent::Text { text, .. }) => text.clone(),
            Some(ItemContent::Entries(entries)) => summary_text(entries),
            None => String::new(),
        };
        ContextSummary {
            schema_version: VERSION.to_owned(),
            summary_id: SummaryId::new(self.of_chain("summary", item)).expect("it is not empty"),
            content: Value::String(said),
            summary_kind: Some("compaction".to_owned()),
            coverage: Some(self.chain_coverage(item, replaced)),
            freshness: Some(RecordReference::Id("as_of_its_compaction".to_owned())),
            validation: Some(unreviewed()),
            refresh_policy: Some(RecordReference::Id("when_the_chain_is_compacted_anew".to_owned())),
            source_item_refs: vec![replaced_turns(replaced)],
            loss_notes: vec![CHAIN_LOSS.to_owned()],
            open_questions: Vec::new(),
            metadata: object(json!({"item": self.named("item", item.id.as_str())})),
            more: Map::new(),
        }
    }

    fn chain_coverage(&self, item: &ItemRecord, replaced: &ReplacedTurns) -> Map<String, Value> {
        let tokens = self.tokens.get(&item.id).copied().unwrap_or(0);
        object(json!({"commits_covered": replaced.commits, "estimated_tokens_after": tokens}))
    }
}

/// Names the turns that lie before a compaction in its chain.
fn replaced_turns(replaced: &ReplacedTurns) -> RecordReference {
    let ReplacedTurns { commits, last, .. } = replaced;
    RecordReference::Object(object(json!({"kind": "commits", "id": last.to_string(), "commits": commits})))
}

fn summary_text(entries: &[Entry]) -> String {
    let parts = entries.iter().flat_map(|entry| &entry.parts);
    let texts = parts.filter_map(|part| match part {
        EntryPart::Summary { text } => Some(text.as_str()),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n\n")
}

/// Says that nobody looked at it.
fn unreviewed() -> RecordReference {
    RecordReference::Object(object(json!({"status": "unreviewed"})))
}
