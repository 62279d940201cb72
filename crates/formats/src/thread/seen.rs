//! Where the records so far went, as far as somebody may still refer to them.

use std::collections::{HashMap, VecDeque};

use contexture_core::packed;
use serde::{Deserialize, Serialize, Serializer};

/// Records whose lane is remembered. Who refers further back is taken to follow the record before.
const MAX_REMEMBERED: usize = 1 << 20;
/// Records whose lane is remembered when the rest of a file is read another time: the newest, all of them.
const REMEMBERED_LATER: usize = 256;
/// Turns that are remembered then, by what they began with and the last that was said in them.
const TURNS_REMEMBERED: usize = 128;
/// Records that are remembered of the end of a turn. Runtimes may note something after what others refer to.
const ENDS_REMEMBERED: usize = 3;

/// Records of one turn that came one after the other. Every capture of a session reads and writes hundreds of them.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "SeenForm")]
pub(super) struct SeenRun {
    pub(super) lane: u32,
    pub(super) turn: u32,
    pub(super) ids: Vec<u64>,
}

/// How they are written: their lane, their turn and all their ids, or one record with its lane and turn.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum SeenForm {
    Run(u32, u32, String),
    One(u64, u32, u32),
}

impl TryFrom<SeenForm> for SeenRun {
    type Error = &'static str;

    fn try_from(form: SeenForm) -> Result<Self, Self::Error> {
        match form {
            SeenForm::Run(lane, turn, ids) => {
                let ids = packed::unpack(&ids).ok_or("these are no ids")?;
                Ok(Self { lane, turn, ids: ids.into_iter().map(u64::from_le_bytes).collect() })
            }
            SeenForm::One(id, lane, turn) => Ok(Self { lane, turn, ids: vec![id] }),
        }
    }
}

impl Serialize for SeenRun {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let ids = packed::pack(self.ids.iter().map(|id| id.to_le_bytes()));
        SeenForm::Run(self.lane, self.turn, ids).serialize(serializer)
    }
}

/// Lanes and turns of records, by a hash of their id.
#[derive(Debug, Clone, Default)]
pub(super) struct Seen {
    pub(super) places: HashMap<u64, (u32, u32)>,
    pub(super) order: VecDeque<u64>,
}

impl Seen {
    /// Returns what somebody may still refer to. A turn of hundreds of calls must not hide the turns before it, to which
    /// people go back.
    pub(super) fn recent(&self) -> Vec<SeenRun> {
        let mut runs: Vec<SeenRun> = Vec::new();
        let mut beginning = None;
        for (count, id) in self.order.iter().rev().enumerate() {
            let Some(&(lane, turn)) = self.places.get(id) else { continue };
            if runs.last().is_none_or(|run| (run.lane, run.turn) != (lane, turn)) {
                if let Some(run) = runs.last_mut() {
                    run.ids.extend(beginning.take());
                }
                if runs.len() == TURNS_REMEMBERED && count >= REMEMBERED_LATER {
                    break;
                }
                runs.push(SeenRun { lane, turn, ids: Vec::new() });
            }
            match runs.last_mut() {
                Some(run) if count < REMEMBERED_LATER || run.ids.len() < ENDS_REMEMBERED => run.ids.push(*id),
                _ => beginning = Some(*id),
            }
        }
        if let Some(run) = runs.last_mut() {
            run.ids.extend(beginning);
        }
        for run in &mut runs {
            run.ids.reverse();
        }
        runs.reverse();
        runs
    }

    pub(super) fn insert(&mut self, id: u64, lane: u32, turn: u32) {
        // Lines that are there twice keep their first place.
        if self.places.contains_key(&id) {
            return;
        }
        self.places.insert(id, (lane, turn));
        self.order.push_back(id);
        if self.order.len() > MAX_REMEMBERED
            && let Some(oldest) = self.order.pop_front()
        {
            self.places.remove(&oldest);
        }
    }
}

/// FNV-1a: stable over versions, because it is kept.
pub(super) fn hash(id: &str) -> u64 {
    id.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
