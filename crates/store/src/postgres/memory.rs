//! What is remembered of spaces between transactions, so that a writer need not ask for what it has just written.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use contexture_core::{ChainDigest, SpaceName};

use crate::{job::Group, sql::Entrance};

/// Most spaces that are remembered.
const MOST_SPACES: usize = 64;

/// How this program left spaces when it last wrote to them. Others may have written since.
#[derive(Default)]
pub(super) struct Memory {
    spaces: Mutex<HashMap<SpaceName, Remembered>>,
}

/// How a space was left.
struct Remembered {
    entrance: Option<Entrance>,
    tip: Option<(u64, ChainDigest)>,
    /// Whether nobody else wrote to the space between the last two transactions, so that it pays to take that for granted.
    is_alone: bool,
}

/// What a transaction may go on from.
pub(super) enum Recalled {
    /// Everything that the jobs will look for is known, and nobody else seems to write.
    All(Entrance),
    /// Something, which holds if the journal still ends where it did.
    Some(Entrance),
    /// Nothing.
    Nothing,
}

impl Memory {
    /// Takes out what is remembered of a space for these jobs.
    pub(super) fn recall(&self, space: &SpaceName, group: &Group) -> Recalled {
        let mut spaces = self.spaces();
        let Some((entrance, is_alone)) =
            spaces.get_mut(space).and_then(|known| Some((known.entrance.take()?, known.is_alone)))
        else {
            return Recalled::Nothing;
        };
        let mut look_ups = group.iter().flat_map(|job| job.foresight().look_ups());
        if is_alone && entrance.journal_tip.is_some() && look_ups.all(|look_up| entrance.known.covers(look_up)) {
            Recalled::All(entrance)
        } else {
            Recalled::Some(entrance)
        }
    }

    /// Compares where the journal of a space ends with where it was left.
    pub(super) fn compare(&self, space: &SpaceName, tip: Option<(u64, ChainDigest)>) {
        if let Some(known) = self.spaces().get_mut(space) {
            known.is_alone = known.tip == tip;
        }
    }

    /// Keeps how a space was left.
    pub(super) fn remember(&self, space: &SpaceName, entrance: Option<Entrance>) {
        let Some(mut entrance) = entrance.filter(|entrance| entrance.name == *space) else {
            return;
        };
        entrance.known.keep_journaled();
        let mut spaces = self.spaces();
        if spaces.len() >= MOST_SPACES && !spaces.contains_key(space) {
            spaces.clear();
        }
        let known = spaces.entry(space.clone()).or_insert(Remembered { entrance: None, tip: None, is_alone: true });
        known.tip = entrance.journal_tip;
        known.entrance = Some(entrance);
    }

    /// Forgets everything.
    pub(super) fn clear(&self) {
        self.spaces().clear();
    }

    fn spaces(&self) -> MutexGuard<'_, HashMap<SpaceName, Remembered>> {
        self.spaces.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
