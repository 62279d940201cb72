//! Threading: which conversation each record of a session file belongs to.
//!
//! A file is one sequence of records, but a person goes back and asks something else, two programs write at once, and
//! agents start others whose lines lie between their own. Each of these conversations is a lane. A lane is cut into
//! turns, and where it leaves another lane says after which turn.

use std::collections::{BTreeSet, HashMap, VecDeque};

use contexture_core::packed;
use serde::{Deserialize, Serialize, Serializer};

use crate::codec::{Link, Outline, RecordMark, Rewind};

/// Records whose lane is remembered. Who refers further back is taken to follow the record before.
const MAX_REMEMBERED: usize = 1 << 20;
/// Records whose lane is remembered when the rest of a file is read another time: the newest, all of them.
const REMEMBERED_LATER: usize = 256;
/// Turns that are remembered then, by what they began with and the last that was said in them.
const TURNS_REMEMBERED: usize = 128;
/// Sessions that are remembered of a file. The next ones in it are not told from those before.
const MAX_SESSIONS: usize = 1024;
/// Records that are remembered of the end of a turn. Runtimes may note something after what others refer to.
const ENDS_REMEMBERED: usize = 3;

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

/// Records of one turn that came one after the other. Every capture of a session reads and writes hundreds of them.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "SeenForm")]
struct SeenRun {
    lane: u32,
    turn: u32,
    ids: Vec<u64>,
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
struct Seen {
    places: HashMap<u64, (u32, u32)>,
    order: VecDeque<u64>,
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

impl Seen {
    /// Returns what somebody may still refer to. A turn of hundreds of calls must not hide the turns before it, to which
    /// people go back.
    fn recent(&self) -> Vec<SeenRun> {
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

    fn insert(&mut self, id: u64, lane: u32, turn: u32) {
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

fn as_u32(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// FNV-1a: stable over versions, because it is kept.
fn hash(id: &str) -> u64 {
    id.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::Facts;

    #[test]
    fn a_turn_that_others_go_back_to_is_known_after_one_of_many_records() {
        let calls: Vec<String> = (0..2000).map(|number| format!("a2x{number}")).collect();
        let script = |back: &str| threaded(&format!("u1 b1 x1 y1 z1 u2 {} u3<{back}", calls.join(" ")));
        for back in ["u1", "x1", "z1"] {
            assert_eq!(script(back).last().unwrap(), "0 after 1: | u3", "after {back}");
        }
    }

    #[test]
    fn what_was_seen_is_read_in_both_forms() {
        let state = |seen: &str| {
            let text = format!(r#"{{"lanes":[],"current":0,"seen":{seen},"opened":null}}"#);
            serde_json::from_str::<ThreadState>(&text).map(|state| Threader::resume(state).state())
        };
        let packed = state(r#"[[0,5,"AQAAAAAAAAACAAAAAAAAAA"],[1,2,"AwAAAAAAAAA"]]"#).unwrap();
        assert_eq!(packed, state("[[1,0,5],[2,0,5],[3,1,2]]").unwrap());
        assert_eq!(packed, serde_json::from_str(&serde_json::to_string(&packed).unwrap()).unwrap());
        assert!(state(r#"[[0,5,"AQAAAA"]]"#).is_err());
    }

    /// Threads records written as `id<parent`: `u` prompts, `a` answers, `c` compacts, `s` sums up; `@key` is a side
    /// lane, `!n` takes n turns back, `:s` names the session, and `=x` says that the session is at x. Returns lanes with their records, cuts as `|` and starts in brackets.
    fn threaded<'s>(script: &'s str) -> Vec<String> {
        let mut threader = Threader::default();
        let mut lanes: Vec<String> = Vec::new();
        let split = |word: &'s str, at: char| -> (&'s str, Option<String>) {
            word.split_once(at).map_or((word, None), |(word, rest)| (word, Some(rest.to_owned())))
        };
        for word in script.split_whitespace() {
            let (word, leaf) = split(word, '=');
            let (word, session) = split(word, ':');
            let (word, key) = split(word, '@');
            let (id, link) = match word.split_once('<') {
                None => (word, Link::Previous),
                Some((id, "")) => (id, Link::Root),
                Some((id, parent)) => (id, Link::To(parent.to_owned())),
            };
            let mark = match id.as_bytes()[0] {
                b'u' if key.is_none() => RecordMark::Turn(None),
                b'c' => RecordMark::Compaction { after: None },
                b'!' => RecordMark::Rewind(Rewind::Turns(id[1..].parse().unwrap())),
                _ => RecordMark::None,
            };
            let outline = Outline {
                id: Some(id.to_owned()),
                link,
                lane: key,
                mark,
                has_summary: id.starts_with('s'),
                is_answer: id.starts_with('a'),
                leaf,
                facts: Facts { session, ..Facts::default() },
                ..Outline::default()
            };
            let Placement::Lane(place) = threader.place(&outline) else {
                continue;
            };
            if let Some(start) = place.start {
                lanes.push(match start {
                    Start::Root => "root:".to_owned(),
                    Start::Side { key } => format!("side {key}:"),
                    Start::Branch { lane, turn, with_prompt } => {
                        format!("{lane} after {turn}{}:", if with_prompt { " with prompt" } else { "" })
                    }
                });
            }
            let lane = &mut lanes[place.lane];
            let compaction = if place.is_compaction { "*" } else { "" };
            let (before, after) = (if place.cut_before { " |" } else { "" }, if place.cut_after { " |" } else { "" });
            let leaf = place.leaf.map_or_else(String::new, |leaf| format!("={leaf}"));
            *lane = format!("{lane}{before} {compaction}{id}{leaf}{after}");
            threader = Threader::resume(threader.state());
        }
        lanes
    }

    #[test]
    fn a_plain_conversation_is_cut_where_somebody_asks() {
        assert_eq!(threaded("m1 u1 a1 a2 u2 a3"), ["root: m1 u1 a1 a2 | u2 a3"]);
    }

    #[test]
    fn parallel_answers_stay_together() {
        assert_eq!(threaded("u1< a1<u1 a2<a1 r1<a1 r2<a2 a3<r2 u2<a3"), ["root: u1 a1 a2 r1 r2 a3 | u2"]);
    }

    #[test]
    fn going_back_makes_a_branch() {
        let lanes = ["root: u1 a1 | u2 a2", "0 after 1: | u3 a3 | u4"];
        assert_eq!(threaded("u1< a1<u1 u2<a1 a2<u2 u3<a1 a3<u3 u4<a3"), lanes);
        assert_eq!(threaded("u1< a1<u1 u2< a2<u2"), ["root: u1 a1", "root: u2 a2"]);
    }

    #[test]
    fn a_prompt_after_an_answered_prompt_shares_only_the_prompt() {
        let lanes = ["root: u1 a1 | u2 a2", "0 after 1 with prompt: | u3 a3"];
        assert_eq!(threaded("u1< a1<u1 u2<a1 a2<u2 u3<u2 a3<u3"), lanes);
    }

    #[test]
    fn two_who_write_at_once_get_a_lane_each() {
        let lanes = ["root: u1 a1 | u2 a2 | u4", "0 after 1: | u3 a3 | u5"];
        assert_eq!(threaded("u1< a1<u1 u2<a1 u3<a1 a2<u2 a3<u3 u4<a2 u5<a3"), lanes);
    }

    #[test]
    fn side_chains_have_lanes_of_their_own() {
        let lanes = ["root: u1 a1 r1 a2", "side x: b1 b2"];
        assert_eq!(threaded("u1< a1<u1 b1<@x b2<b1@x r1<a1 a2<r1"), lanes);
        // Old versions do not name them.
        assert_eq!(threaded("u1< a1<u1 b1<@ b2<b1@ r1<a1"), ["root: u1 a1 r1", "side b1: b1 b2"]);
    }

    #[test]
    fn a_compaction_is_a_step_of_its_own() {
        assert_eq!(threaded("u1< a1<u1 c1< s1<c1 a2<s1 u2<a2"), ["root: u1 a1 | *c1 s1 | a2 | u2"]);
        assert_eq!(threaded("u1 a1 s1 a2"), ["root: u1 a1 | *s1 | a2"]);
    }

    #[test]
    fn what_follows_a_compaction_without_a_summary_is_a_step_of_its_own() {
        assert_eq!(threaded("u1 a1 c1 n1 a2 n2 a3 u2"), ["root: u1 a1 | *c1 n1 | a2 n2 a3 | u2"]);
        assert_eq!(threaded("u1 a1 c1 n1 s1 a2"), ["root: u1 a1 | *c1 n1 s1 | a2"]);
    }

    #[test]
    fn a_session_that_begins_after_another_has_a_lane_of_its_own() {
        let two = ["root: n1 u1 a1", "root: n2 u2 a2 | u3"];
        assert_eq!(threaded("n1<:A u1:A a1:A n2<:B u2:B a2 u3:B"), two);
        // A copy names what it was copied from, first or in between, and goes on with it.
        assert_eq!(threaded("n1<:B n2<:A u1 a1 n3<:A u2 a2"), ["root: n1 n2 u1 a1 n3 | u2 a2"]);
        assert_eq!(threaded("u1<:A a1<u1:A u2<a1:B a2<u2:B n1<:A"), ["root: u1 a1 | u2 a2 n1"]);
        // A compaction begins nothing, whatever session it names.
        assert_eq!(threaded("u1<:A a1:A c1<:B s1<c1:B"), ["root: u1 a1 | *c1 s1 |"]);
    }

    #[test]
    fn the_record_that_a_session_is_at_tells_its_lane() {
        let lanes = ["root: u1 a1 | u2 a2", "0 after 1: | u3 n1=0 n2=1 n3"];
        assert_eq!(threaded("u1< a1<u1 u2<a1 a2<u2 u3<a1 n1=a2 n2=u3 n3=nobody"), lanes);
    }

    #[test]
    fn turns_that_are_taken_back_stay_behind() {
        assert_eq!(threaded("u1 a1 u2 a2 !1 u3 a3"), ["root: u1 a1 | u2 a2", "0 after 1: | u3 a3"]);
        assert_eq!(threaded("u1 a1 !5 u3"), ["root: u1 a1", "0 after 0: u3"]);
    }

    #[test]
    fn who_follows_somebody_unknown_follows_the_record_before() {
        assert_eq!(threaded("u1< a1<u1 a2<nobody u2<a2"), ["root: u1 a1 a2 | u2"]);
    }
}
