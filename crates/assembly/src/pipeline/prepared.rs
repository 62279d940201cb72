//! Items made ready: their JSON, and what they say to each target, each worked out once.

use std::sync::Arc;

use super::remembered::RememberedItems;
use crate::{
    candidate::{Measured, RunPart},
    counts::TokenCounts,
    digest::Digest,
    envelope::Inputs,
    item::{Item, ItemContent},
    measure::{CharCount, Size, TokenCount},
    render::{Fence, Fragment, Renderer},
    shared_text::SharedText,
    standard::ItemId,
};

/// A budget that is full, of which [`PreparedItems::fill`] tells the share.
pub const FULL: u64 = 1000;

/// Bytes that the JSON of most items has at most.
const JSON_BYTES: usize = 16 * 1024;

/// What is worked out of the items of some inputs, in their order.
///
/// Sources are read one after the other, and a history until it fills its budget: what was prepared of items that stay
/// is not prepared again, nor what is as it was in the assembly before.
#[derive(Debug, Default)]
pub struct PreparedItems {
    /// Absent where no word was chosen yet.
    fence: Option<Fence>,
    items: Vec<PreparedItem>,
    /// How many of the items are known not to hold the word of the fence.
    unforged: usize,
    /// What the assembly before prepared.
    before: Option<Arc<RememberedItems>>,
}

#[derive(Debug, Clone)]
pub(super) struct PreparedItem {
    pub(super) json: Arc<[u8]>,
    /// By the targets of the recipe; nothing where it was not rendered yet.
    pub(super) texts: Vec<ItemTexts>,
    /// Its place in the assembly before, where it was the same there.
    pub(super) place_before: Option<usize>,
}

/// What an item says to a target; nothing where it is hidden or says nothing.
#[derive(Debug, Clone, Default)]
pub(super) struct ItemTexts {
    pub(super) full: Option<ItemText>,
    pub(super) compact: Option<ItemText>,
}

#[derive(Debug, Clone)]
pub(super) struct ItemText {
    pub(super) text: SharedText,
    images: u64,
    /// As the counter of the recipe has them.
    pub(super) lengths: Option<(TokenCount, CharCount)>,
}

impl PreparedItems {
    /// Prepares all items of some inputs.
    pub fn of(inputs: &Inputs) -> Self {
        let mut prepared = Self::default();
        prepared.update(inputs);
        prepared
    }

    /// Starts to prepare the items of an assembly that follows another one.
    pub fn after(before: Option<Arc<RememberedItems>>) -> Self {
        Self { before, ..Self::default() }
    }

    /// Returns an item of the assembly before.
    pub fn item_before(&self, id: &ItemId) -> Option<&Item> {
        self.before.as_ref()?.item(id)
    }

    /// Returns what the next assembly need not prepare again.
    pub fn into_remembered(self, inputs: Inputs) -> Option<RememberedItems> {
        let Self { fence: Some(fence), items, .. } = self else { return None };
        Some(RememberedItems::new(fence, inputs, items))
    }

    /// Prepares the items that were added to the inputs.
    pub fn update(&mut self, inputs: &Inputs) {
        let added = inputs.items.get(self.items.len()..).unwrap_or_default();
        // One buffer for all, because a vector that grows with its item is moved several times.
        let mut buffer = Vec::with_capacity(JSON_BYTES);
        for item in added {
            let known = self.before.as_ref().and_then(|before| before.find(item));
            let json = if let Some((_, known)) = known {
                Arc::clone(&known.json)
            } else {
                buffer.clear();
                serde_json::to_writer(&mut buffer, item).expect("an item has text keys");
                Arc::from(buffer.as_slice())
            };
            let place_before = known.map(|(place, _)| place);
            self.items.push(PreparedItem { json, texts: Vec::new(), place_before });
        }
        self.choose_fence(&inputs.stream);
        let Self { fence: Some(fence), items, before, .. } = self else { return };
        let targets = &inputs.recipe.targets;
        let before = before.as_ref().filter(|before| before.has_texts_of(fence, targets));
        for (prepared, item) in items.iter_mut().zip(&inputs.items).filter(|(prepared, _)| prepared.texts.is_empty()) {
            if let (Some(place), Some(before)) = (prepared.place_before, before) {
                prepared.texts.clone_from(before.texts(place));
                continue;
            }
            prepared.texts = targets
                .iter()
                .map(|target| {
                    let renderer = Renderer {
                        rendering: target.rendering,
                        fence,
                        session: &inputs.session,
                        provider: inputs.pipeline.provider(),
                    };
                    if item.is_visible_to(target.audience) {
                        ItemTexts::of(&renderer, item)
                    } else {
                        ItemTexts::default()
                    }
                })
                .collect();
        }
    }

    /// Forgets all but the first items, as the inputs do.
    pub fn truncate(&mut self, items: usize) {
        self.items.truncate(items);
        self.unforged = self.unforged.min(items);
        // A word that was passed over may be in none of what is left.
        if self.fence.as_ref().is_some_and(|fence| !fence.is_first()) {
            (self.fence, self.unforged) = (None, 0);
            self.forget_texts();
        }
    }

    /// Sorts the items of the inputs into the order of the window.
    pub fn sort(&mut self, inputs: &mut Inputs) {
        self.update(inputs);
        let items = std::mem::take(&mut inputs.items).into_iter();
        let mut pairs: Vec<_> = items.zip(std::mem::take(&mut self.items)).collect();
        pairs.sort_by_key(|(item, _)| (item.segment, item.place));
        (inputs.items, self.items) = pairs.into_iter().unzip();
    }

    /// Returns the digests of all texts that are to be counted and are not known, so that counts can be fetched.
    pub fn uncounted(&mut self, counts: &TokenCounts<'_>) -> Vec<Digest> {
        let texts = self.items.iter_mut().flat_map(|item| &mut item.texts);
        let texts = texts.flat_map(|texts| texts.full.iter_mut().chain(&mut texts.compact));
        let mut digests: Vec<Digest> = texts
            .filter(|text| text.lengths.is_none())
            .map(|text| text.text.digest())
            .filter(|digest| !counts.knows(digest))
            .collect();
        digests.sort_unstable();
        digests.dedup();
        digests
    }

    /// Tells which share of the budget the steps of a run fill, for the target of which they fill least. Where that is
    /// more than [`FULL`], older ones need not be read.
    pub fn fill(&mut self, inputs: &Inputs, segment: usize, counts: &TokenCounts<'_>) -> u64 {
        let share = |size: u64, max: Option<u64>| max.map_or(0, |max| size.saturating_mul(FULL) / max.max(1));
        let fills = inputs.recipe.targets.iter().enumerate().map(|(index, target)| {
            let limits = inputs.recipe.budget.limits_for(target.audience);
            let is_step = |item: &Item| item.segment == segment && matches!(item.part, RunPart::Step(_));
            let steps = inputs.items.iter().zip(&mut self.items).filter(|(item, _)| is_step(item));
            let sizes = steps.filter_map(|(_, prepared)| prepared.texts.get_mut(index)?.full.as_mut()?.size(counts));
            let size = sizes.fold(Size::default(), |sum, size| sum + size);
            let tokens = share(size.tokens.get(), limits.max_tokens);
            let chars = share(size.chars.get(), limits.max_chars);
            tokens.max(chars).max(share(size.bytes, limits.max_bytes)).max(share(size.items, limits.max_items))
        });
        fills.min().unwrap_or(0)
    }

    /// Writes the inputs as they are kept: what serializing them gives, of parts that are there.
    pub fn to_json(&self, inputs: &Inputs) -> Vec<u8> {
        fn field(json: &mut Vec<u8>, name: &str, value: &impl serde::Serialize) {
            json.extend_from_slice(name.as_bytes());
            serde_json::to_writer(json, value).expect("inputs have text keys");
        }
        let Inputs { recipe, stream, session, items: _, unread, unread_messages, pipeline } = inputs;
        let length: usize = self.items.iter().map(|item| item.json.len() + 1).sum();
        let mut json = Vec::with_capacity(length + 4096);
        field(&mut json, "{\"recipe\":", recipe);
        field(&mut json, ",\"stream\":", stream);
        field(&mut json, ",\"session\":", session);
        json.extend_from_slice(b",\"items\":[");
        for (n, item) in self.items.iter().enumerate() {
            if n > 0 {
                json.push(b',');
            }
            json.extend_from_slice(&item.json);
        }
        json.push(b']');
        if let Some(unread) = unread {
            field(&mut json, ",\"unread\":", unread);
        }
        if let Some(unread) = unread_messages {
            field(&mut json, ",\"unread_messages\":", unread);
        }
        if !pipeline.is_first() {
            field(&mut json, ",\"pipeline\":", pipeline);
        }
        json.push(b'}');
        json
    }

    /// Returns what stands around texts.
    pub(super) fn fence(&self) -> &Fence {
        self.fence.as_ref().expect("an update chooses one")
    }

    /// Returns what an item says to a target, by their places.
    pub(super) fn texts(&self, item: usize, target: usize) -> ItemTexts {
        self.items.get(item).and_then(|item| item.texts.get(target)).cloned().unwrap_or_default()
    }

    /// Takes the first word that is in none of the items.
    fn choose_fence(&mut self, stream: &str) {
        let fence = self.fence.get_or_insert_with(|| Fence::first(stream));
        let mut is_other = false;
        while self.items[self.unforged..].iter().any(|item| fence.is_in(&item.json)) {
            *fence = fence.next();
            (self.unforged, is_other) = (0, true);
        }
        self.unforged = self.items.len();
        if is_other {
            self.forget_texts();
        }
    }

    /// Forgets what was rendered: the fence is in it.
    fn forget_texts(&mut self) {
        for item in &mut self.items {
            item.texts.clear();
        }
    }
}

impl ItemTexts {
    fn of(renderer: &Renderer<'_>, item: &Item) -> Self {
        let text = |content: &ItemContent| {
            if content.is_blank() {
                return None;
            }
            let Fragment { text, images } = renderer.fragment(Some(item), content);
            Some(ItemText { text: text.into(), images, lengths: None })
        };
        Self { full: text(&item.content), compact: item.compact.as_ref().and_then(text) }
    }

    /// Returns both texts with their lengths.
    pub(super) fn measured(self, counts: &TokenCounts<'_>) -> (Option<Measured>, Option<Measured>) {
        let measured = |text: Option<ItemText>| text.and_then(|text| text.measured(counts));
        (measured(self.full), measured(self.compact))
    }
}

impl ItemText {
    fn lengths(&mut self, counts: &TokenCounts<'_>) -> (TokenCount, CharCount) {
        let Self { text, images, lengths } = self;
        *lengths.get_or_insert_with(|| (counts.with_images(text, *images), CharCount::of(text)))
    }

    fn size(&mut self, counts: &TokenCounts<'_>) -> Option<Size> {
        let (tokens, chars) = self.lengths(counts);
        let bytes = self.text.len() as u64;
        (bytes > 0).then_some(Size { tokens, chars, bytes, items: 1 })
    }

    fn measured(mut self, counts: &TokenCounts<'_>) -> Option<Measured> {
        let (tokens, chars) = self.lengths(counts);
        Measured::with_lengths(self.text, tokens, chars)
    }
}
