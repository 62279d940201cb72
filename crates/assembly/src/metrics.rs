//! Figures of an assembly: how large each part is, what was left out and why, and how much of it was sent before.
//!
//! They hold ids, kinds and numbers, and never what anything says.

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    candidate::{Priority, Variant},
    envelope::{Envelope, Fate, ItemDecision, ItemRecord, SegmentOutcome, TargetRecord},
    recipe::{BudgetLimits, TargetSpec},
    standard::{ContextKind, ItemId, OmissionReason},
};

/// The topic that figures are published under.
pub const METRICS_TOPIC: &str = "CONTEXT_METRICS";

/// Figures of an assembly.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ContextMetrics {
    /// The recipe.
    pub recipe: String,
    /// What it continues.
    pub stream: String,
    /// What tokens were counted by.
    pub counter: String,
    /// How long it took, in milliseconds.
    pub took_ms: u64,
    /// How many things are missing.
    pub missing: u64,
    /// What each target was given.
    pub targets: Vec<TargetMetrics>,
    /// What somebody should look at.
    pub alarms: Vec<MetricsAlarm>,
}

/// Figures of what a target was given.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TargetMetrics {
    /// Who, and in which form.
    pub target: TargetSpec,
    /// The limits that held.
    pub limits: BudgetLimits,
    /// Tokens in all.
    pub tokens: u64,
    /// Bytes in all.
    pub bytes: u64,
    /// Tokens that were left; absent where there is no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remaining_tokens: Option<u64>,
    /// Tokens beyond the budget.
    pub over_budget_tokens: u64,
    /// How many items were cut.
    pub truncated: u64,
    /// Leading blocks, bytes and tokens that the assembly before began with too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reused: Option<ReusedPrefix>,
    /// The segments, in their order.
    pub segments: Vec<SegmentMetrics>,
    /// The items, in their order.
    pub packs: Vec<PackMetrics>,
}

/// How much of an assembly the one before began with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReusedPrefix {
    /// In blocks.
    pub blocks: u64,
    /// In bytes.
    pub bytes: u64,
    /// In tokens.
    pub tokens: u64,
}

/// Figures of a segment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SegmentMetrics {
    /// Its name.
    pub name: String,
    /// Items that are in.
    pub items: u64,
    /// Their tokens.
    pub tokens: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Items that are out, as far as they were read.
    pub omitted_items: u64,
    /// Their tokens.
    pub omitted_tokens: u64,
}

/// Figures of an item.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PackMetrics {
    /// Its id.
    pub id: ItemId,
    /// What it is.
    pub kind: ContextKind,
    /// How much it matters.
    pub priority: Priority,
    /// In which form it is in; absent where it is out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<Variant>,
    /// Why it is out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<OmissionReason>,
    /// Its tokens.
    pub tokens: u64,
    /// Its tokens before a part of it was cut.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut_from: Option<u64>,
}

/// Something that somebody should look at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "alarm", rename_all = "snake_case")]
pub enum MetricsAlarm {
    /// No limit of tokens holds for a target.
    BudgetInactive {
        /// Which one.
        target: TargetSpec,
    },
    /// What a target was given has more tokens than it may.
    OverBudget {
        /// Which one.
        target: TargetSpec,
        /// By how many.
        tokens: u64,
    },
}

impl ContextMetrics {
    /// Returns the figures of an envelope that took so long to make.
    pub fn of(envelope: &Envelope, took_ms: u64) -> Self {
        let items: HashMap<&ItemId, &ItemRecord> = envelope.items.iter().map(|item| (&item.id, item)).collect();
        let targets: Vec<TargetMetrics> = envelope.targets.iter().map(|made| TargetMetrics::of(made, &items)).collect();
        let alarms = targets.iter().flat_map(TargetMetrics::alarms).collect();
        Self {
            recipe: envelope.recipe.name.clone(),
            stream: envelope.stream.clone(),
            counter: envelope.counter.name.clone(),
            took_ms,
            missing: envelope.gaps.len() as u64,
            targets,
            alarms,
        }
    }
}

impl TargetMetrics {
    fn of(made: &TargetRecord, items: &HashMap<&ItemId, &ItemRecord>) -> Self {
        let outcome = &made.outcome;
        let max = outcome.limits.max_tokens;
        let room = max.map(|max| max.saturating_sub(outcome.limits.reserved_tokens.unwrap_or(0)));
        let packs: Vec<PackMetrics> =
            outcome.decisions.iter().filter_map(|decision| PackMetrics::of(decision, items)).collect();
        Self {
            target: outcome.target,
            limits: outcome.limits,
            tokens: outcome.total.tokens,
            bytes: outcome.total.bytes,
            remaining_tokens: room.map(|room| room.saturating_sub(outcome.total.tokens)),
            over_budget_tokens: outcome.over_budget_tokens,
            truncated: packs.iter().filter(|pack| pack.cut_from.is_some()).count() as u64,
            reused: made.prefix.as_ref().map(|prefix| ReusedPrefix {
                blocks: prefix.blocks,
                bytes: prefix.bytes,
                tokens: prefix.tokens,
            }),
            segments: outcome.segments.iter().map(SegmentMetrics::of).collect(),
            packs,
        }
    }

    fn alarms(&self) -> impl Iterator<Item = MetricsAlarm> + use<> {
        let (target, tokens) = (self.target, self.over_budget_tokens);
        let inactive = self.limits.max_tokens.is_none().then_some(MetricsAlarm::BudgetInactive { target });
        inactive.into_iter().chain((tokens > 0).then_some(MetricsAlarm::OverBudget { target, tokens }))
    }
}

impl SegmentMetrics {
    fn of(segment: &SegmentOutcome) -> Self {
        Self {
            name: segment.name.clone(),
            items: segment.total.items,
            tokens: segment.total.tokens,
            bytes: segment.total.bytes,
            omitted_items: segment.omitted.items,
            omitted_tokens: segment.omitted.tokens,
        }
    }
}

impl PackMetrics {
    fn of(decision: &ItemDecision, items: &HashMap<&ItemId, &ItemRecord>) -> Option<Self> {
        let item = items.get(&decision.item)?;
        let (variant, reason, tokens, cut_from) = match &decision.fate {
            Fate::Included { variant, cut_from, tokens, .. } => (Some(*variant), None, *tokens, *cut_from),
            Fate::Omitted { reason, tokens, .. } => (None, Some(*reason), *tokens, None),
        };
        let (id, kind, priority) = (item.id.clone(), item.kind, item.priority);
        Some(Self { id, kind, priority, variant, reason, tokens, cut_from })
    }
}
