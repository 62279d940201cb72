//! Threading: which conversation each record of a session file belongs to.
//!
//! A file is one sequence of records, but a person goes back and asks something else, two programs write at once, and
//! agents start others whose lines lie between their own. Each of these conversations is a lane. A lane is cut into
//! turns, and where it leaves another lane says after which turn.

mod seen;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use self::seen::{Seen, SeenRun, hash};
use crate::codec::{Link, Outline, RecordMark, Rewind};

/// Sessions that are remembered of a file. The next ones in it are not told from those before.
const MAX_SESSIONS: usize = 1024;

/// Where records go.
#[derive(Debug, Clone, Default)]
pub struct Threader {
    lanes: Vec<Lane>,
    current: usize,
    seen: Seen,
    /// The sessions that records name: a copy keeps the names of what it was copied from.
    sessions: BTreeSet<u64>,
    /// Whether anybody has spoken.
    has_begun: bool,
    /// How the current lane begins, when a rewind has opened it and nobody has written to it yet.
    opened: Option<Start>,
}

/// A conversation in a file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Lane {
    /// What the runtime calls it, when it lies beside the main one.
    key: Option<String>,
    /// How many turns have begun.
    turns: u32,
    /// Whether anybody has spoken in it.
    has_begun: bool,
    /// The record that asks, of the turn at hand.
    prompt: Option<u64>,
    /// Whether anything followed it.
    is_answered: bool,
    /// Whether a compaction has begun and its summary has not come.
    is_compacting: bool,
}

/// Where a record goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Placement {
    /// To no conversation: it only says where the next one leaves off.
    Aside,
    /// To a lane.
    Lane(LanePlace),
}

/// The place of a record in a lane.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LanePlace {
    /// The lane.
    pub lane: usize,
    /// How the lane begins, if it begins here.
    pub start: Option<Start>,
    /// Whether what the lane holds so far is a step of its own.
    pub cut_before: bool,
    /// Whether this record is the end of a step.
    pub cut_after: bool,
    /// Whether the step that begins here puts a summary in the place of all before it.
    pub is_compaction: bool,
    /// The turn of the lane that it belongs to; 0 before anybody asked.
    pub turn: u32,
    /// The lane that the runtime says the session is at, when the record tells.
    pub leaf: Option<usize>,
}

/// How a lane begins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Start {
    /// With nothing before it.
    Root,
    /// Beside the conversation that started it.
    Side {
        /// What the runtime calls it.
        key: String,
    },
    /// After a turn of another lane, and with the prompt of the turn after that if it was left unanswered there.
    Branch {
        /// The other lane.
        lane: usize,
        /// Its last turn that this one shares; 0 is none.
        turn: u32,
        /// Whether the prompt of the next turn is shared too.
        with_prompt: bool,
    },
}

/// What a threader must know to go on with the rest of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadState {
    lanes: Vec<Lane>,
    current: usize,
    seen: Vec<SeenRun>,
    opened: Option<Start>,
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    sessions: BTreeSet<u64>,
}

impl Threader {
    /// Goes on where another left off.
    pub fn resume(state: ThreadState) -> Self {
        let ThreadState { lanes, current, seen, opened, sessions } = state;
        let has_begun = lanes.iter().any(|lane| lane.has_begun);
        let mut threader = Self { lanes, current, seen: Seen::default(), sessions, has_begun, opened };
        for SeenRun { lane, turn, ids } in seen {
            for id in ids {
                threader.seen.insert(id, lane, turn);
            }
        }
        threader
    }

    /// Returns what is needed to go on another time.
    pub fn state(&self) -> ThreadState {
        let (seen, opened) = (self.seen.recent(), self.opened.clone());
        let sessions = self.sessions.clone();
        ThreadState { lanes: self.lanes.clone(), current: self.current, seen, opened, sessions }
    }

    /// Says where the next record goes.
    pub fn place(&mut self, outline: &Outline) -> Placement {
        if let RecordMark::Rewind(rewind) = &outline.mark {
            self.rewind(rewind);
            return Placement::Aside;
        }
        let (lane, start) = self.lane(outline);
        self.current = lane;
        let mut place = self.enter(lane, outline);
        place.start = start;
        place.leaf = outline.leaf.as_deref().and_then(|id| self.main_lane_of(hash(id)));
        self.has_begun |= self.lanes[lane].has_begun;
        if self.sessions.len() < MAX_SESSIONS {
            self.sessions.extend(outline.facts.session.as_deref().map(hash));
        }
        if let Some(id) = &outline.id {
            self.seen.insert(hash(id), as_u32(lane), place.turn);
        }
        Placement::Lane(place)
    }

    /// Finds the lane of a record, making it if need be.
    fn lane(&mut self, outline: &Outline) -> (usize, Option<Start>) {
        if self.lanes.is_empty() {
            let key = outline.lane.clone().filter(|key| !key.is_empty());
            return (self.open(Lane { key, ..Lane::default() }), Some(Start::Root));
        }
        if let Some(start) = self.opened.take() {
            return (self.current, Some(start));
        }
        let is_side = outline.lane.is_some();
        if let Some(key) = outline.lane.as_ref().filter(|key| !key.is_empty()) {
            if let Some(lane) = self.lanes.iter().position(|lane| lane.key.as_ref() == Some(key)) {
                return (lane, None);
            }
            let lane = self.open(Lane { key: Some(key.clone()), ..Lane::default() });
            return (lane, Some(Start::Side { key: key.clone() }));
        }
        match &outline.link {
            Link::Root if is_side => {
                let key = outline.id.clone().unwrap_or_default();
                let lane = self.open(Lane { key: Some(key.clone()), ..Lane::default() });
                (lane, Some(Start::Side { key }))
            }
            Link::Root if self.is_of_another_session(outline) => (self.open(Lane::default()), Some(Start::Root)),
            // A compaction starts a chain of its own, but goes on with the conversation.
            Link::Root if matches!(outline.mark, RecordMark::Turn(_)) && self.lanes[self.current].has_begun => {
                (self.open(Lane::default()), Some(Start::Root))
            }
            Link::Previous | Link::Root => (self.current, None),
            Link::To(parent) => self.follow(outline, hash(parent)),
        }
    }

    /// Tells whether a session begins here that nothing before was of, after a conversation: two were written into one
    /// file.
    fn is_of_another_session(&self, outline: &Outline) -> bool {
        let Some(session) = outline.facts.session.as_deref().map(hash) else { return false };
        let is_new = (1..MAX_SESSIONS).contains(&self.sessions.len()) && !self.sessions.contains(&session);
        let begins = matches!(outline.mark, RecordMark::None | RecordMark::Turn(_)) && !outline.has_summary;
        begins && self.has_begun && is_new
    }

    /// Returns the lane that a record lies in, unless it lies beside the conversation.
    fn main_lane_of(&self, id: u64) -> Option<usize> {
        let (lane, _) = self.seen.places.get(&id)?;
        let lane = *lane as usize;
        self.lanes.get(lane).is_some_and(|lane| lane.key.is_none()).then_some(lane)
    }

    /// Finds the lane of a record by the one that it follows.
    fn follow(&mut self, outline: &Outline, parent: u64) -> (usize, Option<Start>) {
        let Some((lane, turn)) = self.seen.places.get(&parent).copied() else {
            return (self.current, None);
        };
        let lane = lane as usize;
        let known = &self.lanes[lane];
        if !matches!(outline.mark, RecordMark::Turn(_)) {
            return (lane, None);
        }
        // A prompt that follows the prompt of an answered turn takes its answer back.
        let is_second_prompt = turn == known.turns && known.prompt == Some(parent) && known.is_answered;
        if turn == known.turns && !is_second_prompt {
            return (lane, None);
        }
        let start =
            Start::Branch { lane, turn: if is_second_prompt { turn - 1 } else { turn }, with_prompt: is_second_prompt };
        let turns = if is_second_prompt { turn } else { turn.min(known.turns) };
        let key = known.key.clone().map(|key| format!("{key}~{}", self.lanes.len()));
        (self.open(Lane { key, turns, has_begun: true, ..Lane::default() }), Some(start))
    }

    /// Puts a record into its lane.
    fn enter(&mut self, at: usize, outline: &Outline) -> LanePlace {
        let lane = &mut self.lanes[at];
        let mut place = LanePlace {
            lane: at,
            start: None,
            cut_before: false,
            cut_after: false,
            is_compaction: false,
            turn: 0,
            leaf: None,
        };
        match &outline.mark {
            RecordMark::Turn(_) => {
                place.cut_before = lane.has_begun;
                lane.turns += 1;
                lane.has_begun = true;
                lane.prompt = outline.id.as_deref().map(hash);
                lane.is_answered = false;
                lane.is_compacting = false;
            }
            RecordMark::Compaction { .. } => {
                place.cut_before = true;
                place.is_compaction = true;
                place.cut_after = outline.has_summary;
                lane.has_begun = true;
                lane.is_compacting = !outline.has_summary;
            }
            RecordMark::None if outline.has_summary => {
                // Without a boundary before it, the summary is the compaction.
                place.cut_before = !lane.is_compacting;
                place.is_compaction = !lane.is_compacting;
                place.cut_after = true;
                lane.is_compacting = false;
                lane.has_begun = true;
            }
            RecordMark::None | RecordMark::Rewind(_) => {
                // No summary has come, and the conversation goes on.
                place.cut_before = lane.is_compacting && outline.is_answer;
                lane.is_compacting &= !outline.is_answer;
                lane.is_answered |= outline.id.is_some();
            }
        }
        place.turn = lane.turns;
        place
    }

    /// Opens a lane that leaves the current one where a rewind says.
    fn rewind(&mut self, rewind: &Rewind) {
        let Some(left) = self.lanes.get(self.current) else {
            return;
        };
        let turn = match rewind {
            Rewind::Turns(turns) => left.turns.saturating_sub(u32::try_from(*turns).unwrap_or(u32::MAX)),
            Rewind::Before(id) => match self.seen.places.get(&hash(id)) {
                Some((lane, turn)) if *lane as usize == self.current => turn.saturating_sub(1),
                _ => 0,
            },
        };
        let key = left.key.clone().map(|key| format!("{key}~{}", self.lanes.len()));
        let lane = Lane { key, turns: turn, has_begun: turn > 0, ..Lane::default() };
        let start = Start::Branch { lane: self.current, turn, with_prompt: false };
        self.current = self.open(lane);
        self.opened = Some(start);
    }

    fn open(&mut self, lane: Lane) -> usize {
        self.lanes.push(lane);
        self.lanes.len() - 1
    }
}

fn as_u32(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;
