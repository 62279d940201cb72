//! The surface: which items a target may be given at all.

use std::collections::HashMap;

use crate::{
    candidate::RunPart,
    digest::Digest,
    envelope::{Fate, Inputs, ItemDecision},
    item::{Item, Redaction},
    recipe::TargetSpec,
    standard::{OmissionReason, RedactionState},
};

/// The items that a target may see, and those that it does not get whatever the budget.
pub(super) struct Surface<'i> {
    /// With their places among all items.
    pub(super) visible: Vec<(usize, &'i Item)>,
    pub(super) hidden: Vec<ItemDecision>,
}

impl<'i> Surface<'i> {
    pub(super) fn of(inputs: &'i Inputs, target: TargetSpec) -> Self {
        let mut surface = Self { visible: Vec::new(), hidden: Vec::new() };
        let firsts = firsts(inputs, target);
        for (place, item) in inputs.items.iter().enumerate() {
            if !item.is_visible_to(target.audience) {
                surface.hide(item, OmissionReason::NotVisibleToTarget, format!("not visible to {}", target.audience));
                continue;
            }
            let is_blocked = |redaction: &Redaction| redaction.state == RedactionState::PolicyBlocked;
            if item.redaction.as_ref().is_some_and(is_blocked) {
                surface.hide(item, OmissionReason::PolicyBlocked, "a policy keeps it from everybody".to_owned());
                continue;
            }
            // Steps may repeat each other, and digests of all of them would take long.
            let first = if item.part == RunPart::Alone { firsts.get(&content_digest(item)) } else { None };
            match first {
                Some(first) if first.id != item.id => {
                    surface.hide(item, OmissionReason::Duplicate, format!("says the same as {}", first.id.as_str()));
                }
                _ => surface.visible.push((place, item)),
            }
        }
        surface
    }

    fn hide(&mut self, item: &Item, reason: OmissionReason, note: String) {
        self.hidden.push(ItemDecision { item: item.id.clone(), fate: Fate::Omitted { reason, note, tokens: 0 } });
    }
}

/// Returns of all items that say the same the one that matters most, or comes first.
fn firsts(inputs: &Inputs, target: TargetSpec) -> HashMap<Digest, &Item> {
    let mut firsts: HashMap<Digest, &Item> = HashMap::new();
    let alone = inputs.items.iter().filter(|item| item.part == RunPart::Alone && item.is_visible_to(target.audience));
    for item in alone {
        let rank = |item: &Item| (item.priority, item.segment, item.place);
        let first = firsts.entry(content_digest(item)).or_insert(item);
        if rank(item) < rank(first) {
            *first = item;
        }
    }
    firsts
}

fn content_digest(item: &Item) -> Digest {
    Digest::of(&serde_json::to_vec(&item.content).expect("content has text keys"))
}
