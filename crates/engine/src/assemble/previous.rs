//! The assembly before: what an assembly is compared with.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, PoisonError},
};

use contexture_assembly::{
    Digest,
    envelope::{Block, Envelope, ItemRecord, Prefix},
    pipeline::RememberedItems,
    recipe::TargetSpec,
    standard::ItemId,
};
use contexture_core::{EnvelopeId, SpaceName, Stream};
use contexture_store::Error as StoreError;
use serde::Deserialize;

use crate::{AssemblyProblem, Contexture, Error, Result};

/// Assemblies that a handle remembers: a session assembles from a few streams in turn.
const MAX_REMEMBERED: usize = 16;
/// Bytes of prepared items that a handle remembers, of all streams together.
const MAX_ITEM_BYTES: usize = 16 * 1024 * 1024;

/// An assembly, as far as the next one of its stream needs it.
#[derive(Debug, Deserialize)]
pub(super) struct PreviousAssembly {
    pub(super) attempt: u64,
    pub(super) turn: Digest,
    targets: Vec<PreviousTarget>,
    items: Vec<PreviousItem>,
}

#[derive(Debug, Deserialize)]
struct PreviousItem {
    id: ItemId,
    origin: PreviousOrigin,
}

#[derive(Debug, Deserialize)]
struct PreviousOrigin {
    digest: Digest,
}

/// How the items of an assembly differ from those of the one before.
#[derive(Debug, Default)]
pub(super) struct SurfaceChanges<'c> {
    pub(super) added: Vec<&'c ItemId>,
    pub(super) updated: Vec<&'c ItemId>,
    pub(super) removed: Vec<&'c ItemId>,
}

#[derive(Debug, Deserialize)]
struct PreviousTarget {
    target: TargetSpec,
    blocks: Vec<Block>,
}

/// What the next assemblies need of the last ones, the newest last.
#[derive(Debug, Default)]
pub(crate) struct RememberedAssemblies {
    /// Envelopes never change, so what is here is right.
    envelopes: Mutex<VecDeque<(EnvelopeId, Arc<PreviousAssembly>)>>,
    /// What was prepared for the last assembly of a stream.
    items: Mutex<VecDeque<StreamItems>>,
}

#[derive(Debug)]
struct StreamItems {
    space: SpaceName,
    stream: Stream,
    bytes: usize,
    items: Arc<RememberedItems>,
}

impl StreamItems {
    fn is_of(&self, space: &SpaceName, stream: &Stream) -> bool {
        self.stream == *stream && self.space == *space
    }
}

impl PreviousAssembly {
    pub(super) fn of(document: &Envelope) -> Self {
        let target = |record: &contexture_assembly::envelope::TargetRecord| PreviousTarget {
            target: record.outcome.target,
            blocks: record.outcome.blocks.clone(),
        };
        let targets = document.targets.iter().map(target).collect();
        let items = document
            .items
            .iter()
            .map(|item| PreviousItem { id: item.id.clone(), origin: PreviousOrigin { digest: item.origin.digest } });
        Self { attempt: document.attempt, turn: document.turn, targets, items: items.collect() }
    }

    /// Compares its items with those of the next assembly.
    pub(super) fn changes<'c>(&'c self, items: &'c [ItemRecord]) -> SurfaceChanges<'c> {
        let mut changes = SurfaceChanges::default();
        let mut before: HashMap<&ItemId, Digest> =
            self.items.iter().map(|item| (&item.id, item.origin.digest)).collect();
        for item in items {
            match before.remove(&item.id) {
                None => changes.added.push(&item.id),
                Some(digest) if digest != item.origin.digest => changes.updated.push(&item.id),
                Some(_) => {}
            }
        }
        let is_gone = |item: &&PreviousItem| before.contains_key(&item.id);
        changes.removed.extend(self.items.iter().filter(is_gone).map(|item| &item.id));
        changes
    }

    /// Tells how much of what a target is given now it was given then.
    pub(super) fn prefix(&self, id: EnvelopeId, target: TargetSpec, blocks: &[Block]) -> Option<Prefix> {
        let before = self.targets.iter().find(|before| before.target == target)?;
        Some(Prefix::between(id, &before.blocks, blocks))
    }
}

impl RememberedAssemblies {
    pub(super) fn remember(&self, id: EnvelopeId, assembly: Arc<PreviousAssembly>) {
        // What is remembered is whole at any time, so one that panicked leaves nothing half done.
        let mut remembered = self.envelopes.lock().unwrap_or_else(PoisonError::into_inner);
        remembered.retain(|(known, _)| *known != id);
        if remembered.len() == MAX_REMEMBERED {
            remembered.pop_front();
        }
        remembered.push_back((id, assembly));
    }

    fn find(&self, id: EnvelopeId) -> Option<Arc<PreviousAssembly>> {
        let remembered = self.envelopes.lock().unwrap_or_else(PoisonError::into_inner);
        remembered.iter().find(|(known, _)| *known == id).map(|(_, assembly)| Arc::clone(assembly))
    }

    pub(super) fn remember_items(&self, space: &SpaceName, stream: Stream, items: RememberedItems) {
        let bytes = items.bytes();
        let mut remembered = self.items.lock().unwrap_or_else(PoisonError::into_inner);
        remembered.retain(|known| !known.is_of(space, &stream));
        if bytes > MAX_ITEM_BYTES {
            return;
        }
        let mut held: usize = remembered.iter().map(|known| known.bytes).sum();
        while held + bytes > MAX_ITEM_BYTES || remembered.len() == MAX_REMEMBERED {
            held -= remembered.pop_front().map_or(0, |oldest| oldest.bytes);
        }
        remembered.push_back(StreamItems { space: space.clone(), stream, bytes, items: Arc::new(items) });
    }

    /// Returns what the last assembly of a stream prepared.
    pub(super) fn items(&self, space: &SpaceName, stream: &Stream) -> Option<Arc<RememberedItems>> {
        let remembered = self.items.lock().unwrap_or_else(PoisonError::into_inner);
        remembered.iter().find(|known| known.is_of(space, stream)).map(|known| Arc::clone(&known.items))
    }
}

impl Contexture {
    /// Returns the last assembly of a stream.
    pub(super) async fn previous(&self, stream: &Stream) -> Result<Option<(EnvelopeId, Arc<PreviousAssembly>)>> {
        let Some(latest) = self.envelopes().latest(stream, None).await? else { return Ok(None) };
        if let Some(remembered) = self.remembered_assemblies().find(latest.id) {
            return Ok(Some((latest.id, remembered)));
        }
        let mut bytes = Vec::new();
        match self.get_artifact(latest.document, &mut bytes).await {
            // With nothing to compare with, the assembly stands alone.
            Err(Error::Store(StoreError::Withheld(_))) => return Ok(None),
            got => drop(got?),
        }
        let read = serde_json::from_slice(&bytes);
        let assembly = read.map_err(|source| AssemblyProblem::Envelope { envelope: latest.id, source })?;
        Ok(Some((latest.id, Arc::new(assembly))))
    }
}
