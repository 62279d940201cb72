//! What spoke for and against the items of a selection, and why it came out as it did.

use std::collections::BTreeMap;

use serde_json::{Number, Value, json};

use super::Writer;
use crate::{
    candidate::{Priority, RunPart},
    envelope::{Fate, TargetRecord},
    standard::{OmissionReason, RankingSignal},
};

/// The signals of the items, by their ids.
type Signals = BTreeMap<String, BTreeMap<RankingSignal, Number>>;

impl Writer<'_> {
    /// Returns what the budget stage went by: how much an item matters, how new it is, what it costs, and whether a policy
    /// or another item stands against it. Shares are between 0 and 1.
    pub(super) fn ranking(&self, target: &TargetRecord) -> Signals {
        let turns = self.given.values().filter_map(|item| match item.part {
            RunPart::Step(turn) | RunPart::Summary(turn) => Some(turn),
            RunPart::Alone => None,
        });
        let newest = turns.max().unwrap_or(0);
        let mut signals = Signals::new();
        for decision in &target.outcome.decisions {
            let Some(item) = self.items.get(&decision.item) else { continue };
            let (tokens, reason) = match &decision.fate {
                Fate::Included { tokens, .. } => (*tokens, None),
                Fate::Omitted { tokens, reason, .. } => (*tokens, Some(*reason)),
            };
            let mut of_item = BTreeMap::from([
                (RankingSignal::TokenCost, Number::from(tokens)),
                (RankingSignal::RuntimeNeed, share(need(item.priority))),
                (RankingSignal::PolicyAllow, flag(reason != Some(OmissionReason::PolicyBlocked))),
                (RankingSignal::DedupeScore, flag(reason != Some(OmissionReason::Duplicate))),
            ]);
            match self.given.get(&decision.item).map(|given| given.part) {
                Some(RunPart::Step(turn) | RunPart::Summary(turn)) => {
                    let recency = (turn * 1000).checked_div(newest).unwrap_or(1000);
                    of_item.insert(RankingSignal::Recency, share(u32::try_from(recency).unwrap_or(1000)));
                }
                Some(RunPart::Alone) | None => {}
            }
            signals.insert(self.named("item", decision.item.as_str()), of_item);
        }
        signals
    }

    /// Says in a sentence how a selection was made.
    pub(super) fn rationale(&self, target: &TargetRecord) -> String {
        let decisions = &target.outcome.decisions;
        let inside = decisions.iter().filter(|decision| matches!(decision.fate, Fate::Included { .. })).count();
        format!(
            "what is required first, then by priority and place while there is room, of the conversation the newest end \
             without holes: {inside} of {} items, {} tokens by {}",
            decisions.len(),
            target.outcome.total.tokens,
            self.parcel.document.counter.name,
        )
    }

    /// Says what a selection is for.
    pub(super) fn intent(&self) -> String {
        let recipe = &self.parcel.inputs.recipe;
        if recipe.description.is_empty() { recipe.name.clone() } else { recipe.description.clone() }
    }
}

/// Says who may see the target's items, and how many it may not see.
pub(super) fn visibility(target: &TargetRecord) -> Value {
    let is_hidden = |fate: &Fate| matches!(fate, Fate::Omitted { reason: OmissionReason::NotVisibleToTarget, .. });
    let hidden = target.outcome.decisions.iter().filter(|decision| is_hidden(&decision.fate)).count();
    json!({"audience": target.outcome.target.audience, "hidden_items": hidden})
}

/// Returns how much the runtime needs something, in thousandths.
fn need(priority: Priority) -> u32 {
    match priority {
        Priority::Required => 1000,
        Priority::High => 750,
        Priority::Medium => 500,
        Priority::Low => 250,
    }
}

/// Returns a share of so many thousandths.
fn share(thousandths: u32) -> Number {
    Number::from_f64(f64::from(thousandths) / 1000.0).unwrap_or_else(|| Number::from(0))
}

fn flag(holds: bool) -> Number {
    Number::from(u64::from(holds))
}
