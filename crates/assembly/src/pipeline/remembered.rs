//! What one assembly of a stream prepared, for the next one: most of its items are the same.

use std::collections::HashMap;

use super::prepared::{ItemText, ItemTexts, PreparedItem};
use crate::{candidate::RunPart, envelope::Inputs, item::Item, recipe::TargetSpec, render::Fence, standard::ItemId};

/// What was prepared of the conversation of an assembly. Other items are few, and new each time.
///
/// Nothing of it is taken for an item that is not equal in all, and no text where targets or the fence are others: what an
/// assembly gives does not depend on what is remembered.
#[derive(Debug)]
pub struct RememberedItems {
    fence: Fence,
    targets: Vec<TargetSpec>,
    items: Vec<(Item, PreparedItem)>,
    places: HashMap<ItemId, usize>,
}

impl RememberedItems {
    pub(super) fn new(fence: Fence, inputs: Inputs, prepared: Vec<PreparedItem>) -> Self {
        let of_conversation = |(item, _): &(Item, PreparedItem)| item.part != RunPart::Alone;
        let mut items: Vec<_> = inputs.items.into_iter().zip(prepared).filter(of_conversation).collect();
        // Another counter measures otherwise.
        for text in items.iter_mut().flat_map(|(_, prepared)| texts_of(prepared)) {
            text.lengths = None;
        }
        let places = items.iter().enumerate().map(|(place, (item, _))| (item.id.clone(), place)).collect();
        Self { fence, targets: inputs.recipe.targets, items, places }
    }

    /// Returns about how many bytes it holds.
    pub fn bytes(&self) -> usize {
        let held = self.items.iter().map(|(_, prepared)| {
            let texts = prepared.texts.iter().flat_map(|texts| texts.full.iter().chain(&texts.compact));
            // The item itself holds what its JSON does.
            2 * prepared.json.len() + texts.map(|text| text.text.len()).sum::<usize>()
        });
        held.sum()
    }

    pub(super) fn item(&self, id: &ItemId) -> Option<&Item> {
        self.places.get(id).map(|place| &self.items[*place].0)
    }

    /// Returns what was prepared of an item, and its place.
    pub(super) fn find(&self, item: &Item) -> Option<(usize, &PreparedItem)> {
        let place = *self.places.get(&item.id)?;
        let (known, prepared) = &self.items[place];
        (known == item).then_some((place, prepared))
    }

    /// Tells whether what items say was rendered for these targets, with this fence.
    pub(super) fn has_texts_of(&self, fence: &Fence, targets: &[TargetSpec]) -> bool {
        self.fence == *fence && self.targets == targets
    }

    pub(super) fn texts(&self, place: usize) -> &Vec<ItemTexts> {
        &self.items[place].1.texts
    }
}

fn texts_of(prepared: &mut PreparedItem) -> impl Iterator<Item = &mut ItemText> {
    prepared.texts.iter_mut().flat_map(|texts| texts.full.iter_mut().chain(&mut texts.compact))
}
