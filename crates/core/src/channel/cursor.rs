//! Cursors: how far an agent was offered, was told, and has acknowledged a channel, and the only steps that move them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{AgentTurn, MessageSequence, TurnPlace, TurnState};
use crate::{Actor, ChannelId, Count, EnvelopeId, ParticipantKey, RuntimeSessionId, SummaryText, Timestamp, TurnId};

/// How far an agent is in a channel.
///
/// *Offered* is what was in a view, *injected* what a model was really sent, which is to have been read, and *acknowledged*
/// what is done with, which is to have been processed. None follows from another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AgentCursor {
    /// The channel.
    pub channel: ChannelId,
    /// Whose it is.
    pub agent: ParticipantKey,
    /// How often it was changed.
    pub version: Count,
    /// The last message that was ever in a view of the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offered: Option<MessageSequence>,
    /// What a model was last sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub injected: Option<InjectedTurn>,
    /// The last message that is done with, and with it all before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acknowledged: Option<MessageSequence>,
    /// How many turns have offered what is not acknowledged.
    pub offers: Count,
    /// How many turns the agent has begun.
    pub turns: Count,
    /// The turn that goes on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open: Option<TurnId>,
    /// Where the agent's last turn that did not fail began and ended.
    #[serde(default)]
    pub marks: TurnMarks,
    /// When it was last set back, and why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rewound: Option<CursorRewind>,
}

/// A cursor that is set back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CursorRewind {
    /// The last message that counts as acknowledged then; none when nothing does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<MessageSequence>,
    /// Why.
    pub reason: SummaryText,
    /// By whom.
    pub by: Actor,
    /// When.
    pub at: Timestamp,
}

/// Where an agent's turns began and ended, as places in the channel: what came after is new since then.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TurnMarks {
    /// The last message that was there when its last turn began. A turn that failed or expired did not begin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_agent_start: Option<MessageSequence>,
    /// The last message that was there when its last turn was acknowledged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_task_end: Option<MessageSequence>,
}

/// What a model was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InjectedTurn {
    /// In which turn.
    pub turn: TurnId,
    /// Through which message.
    pub through: MessageSequence,
    /// In which envelope.
    pub envelope: EnvelopeId,
}

/// What a turn begins with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnBeginning {
    /// The message to answer.
    pub trigger: MessageSequence,
    /// The last message of the channel.
    pub through: MessageSequence,
    /// Who runs it.
    pub holder: Actor,
    /// Where it runs.
    pub place: Option<TurnPlace>,
    /// The session that it goes on with there.
    pub session: Option<RuntimeSessionId>,
    /// The time.
    pub now: Timestamp,
    /// From when on it counts as given up.
    pub expires_at: Timestamp,
}

/// How a turn ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TurnEnding {
    /// What was offered is done with: all of it, or up to a message.
    Acknowledge {
        /// The last message that is done with; the last that was offered when nothing is said.
        through: Option<MessageSequence>,
    },
    /// Nothing came of it.
    Fail {
        /// Why.
        reason: SummaryText,
    },
}

/// A turn that began.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BegunTurn {
    /// The turn.
    pub turn: AgentTurn,
    /// The one in whose place it began, because nobody had finished it in time.
    pub expired: Option<AgentTurn>,
}

/// Says why a cursor does not move.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TurnRefusal {
    /// The agent is at work in the channel.
    #[error("{agent} is in turn {turn}, which {holder} began at {since} and holds until {expires_at}")]
    Held {
        /// Who is at work.
        agent: ParticipantKey,
        /// In which turn.
        turn: TurnId,
        /// Who began it.
        holder: Actor,
        /// When.
        since: Timestamp,
        /// Until when nobody else can.
        expires_at: Timestamp,
    },
    /// The message to answer is done with.
    #[error("{agent} has acknowledged message {trigger}, and all through {acknowledged}")]
    Acknowledged {
        /// Who.
        agent: ParticipantKey,
        /// The message to answer.
        trigger: MessageSequence,
        /// The last that is done with.
        acknowledged: MessageSequence,
    },
    /// The channel has no such message.
    #[error("there is no message {asked}; the last is {last}")]
    NoMessage {
        /// The message that was named.
        asked: MessageSequence,
        /// The last that there is.
        last: MessageSequence,
    },
    /// What was to be acknowledged was not in the turn.
    #[error("message {asked} was not offered in turn {turn}: that was what came after {after} through {through}")]
    NotOffered {
        /// The message that was named.
        asked: MessageSequence,
        /// The turn.
        turn: TurnId,
        /// The number of the last message that was not offered.
        after: u64,
        /// The last that was.
        through: MessageSequence,
    },
    /// The turn is over, and ended otherwise.
    #[error("turn {turn} is over: it is {state}")]
    Over {
        /// The turn.
        turn: TurnId,
        /// How it ended.
        state: &'static str,
    },
    /// A cursor can only be set back.
    #[error("the cursor of {agent} is at {acknowledged}, and can only be set back from there, not to {asked}")]
    NotBack {
        /// Whose cursor.
        agent: ParticipantKey,
        /// Where it is.
        acknowledged: u64,
        /// Where it was to be set.
        asked: u64,
    },
}

impl AgentCursor {
    /// Returns the cursor of somebody who is new in a channel.
    pub fn new(channel: ChannelId, agent: ParticipantKey) -> Self {
        let zero = Count::saturating(0);
        Self {
            channel,
            agent,
            version: zero,
            offered: None,
            injected: None,
            acknowledged: None,
            offers: zero,
            turns: zero,
            open: None,
            marks: TurnMarks::default(),
            rewound: None,
        }
    }

    /// Begins a turn. `open` is the turn that goes on, if one does: when its time is over it expires.
    pub fn begin(&mut self, open: Option<&AgentTurn>, beginning: TurnBeginning) -> Result<BegunTurn, TurnRefusal> {
        let TurnBeginning { trigger, through, holder, place, session, now, expires_at } = beginning;
        if trigger > through {
            return Err(TurnRefusal::NoMessage { asked: trigger, last: through });
        }
        if let Some(acknowledged) = self.acknowledged.filter(|acknowledged| trigger <= *acknowledged) {
            return Err(TurnRefusal::Acknowledged { agent: self.agent.clone(), trigger, acknowledged });
        }
        let expired = self.expire(open, now)?;
        self.change();
        self.turns = next(self.turns);
        self.offers = next(self.offers);
        let turn = AgentTurn {
            id: TurnId::of(&self.channel, self.turns, &self.agent),
            channel: self.channel,
            agent: self.agent.clone(),
            number: self.turns,
            trigger,
            after: self.acknowledged,
            through,
            delivery: self.offers,
            marks: self.marks,
            begun_at: now,
            expires_at,
            holder,
            place,
            session,
            envelope: None,
            state: TurnState::Open,
        };
        self.open = Some(turn.id);
        self.offered = self.offered.max(Some(through));
        self.marks.last_agent_start = Some(through);
        Ok(BegunTurn { turn, expired })
    }

    /// Notes what a model was sent in a turn that goes on.
    pub fn inject(&mut self, turn: &AgentTurn, envelope: EnvelopeId) -> Result<AgentTurn, TurnRefusal> {
        if turn.envelope == Some(envelope) {
            return Ok(turn.clone());
        }
        self.expect_open(turn)?;
        self.change();
        self.injected = Some(InjectedTurn { turn: turn.id, through: turn.through, envelope });
        Ok(AgentTurn { envelope: Some(envelope), ..turn.clone() })
    }

    /// Ends a turn. `last` is the last message of the channel. To end it once more in the same way changes nothing.
    pub fn finish(
        &mut self,
        turn: &AgentTurn,
        ending: TurnEnding,
        last: MessageSequence,
        now: Timestamp,
    ) -> Result<AgentTurn, TurnRefusal> {
        match (ending, &turn.state) {
            (TurnEnding::Acknowledge { through }, TurnState::Acknowledged { through: before, .. })
                if through.unwrap_or(turn.through) == *before =>
            {
                Ok(turn.clone())
            }
            (TurnEnding::Fail { .. }, TurnState::Failed { .. } | TurnState::Expired { .. }) => Ok(turn.clone()),
            (TurnEnding::Acknowledge { through }, _) => {
                self.expect_open(turn)?;
                let through = through.unwrap_or(turn.through);
                if Some(through) <= turn.after || through > turn.through {
                    let after = MessageSequence::number(turn.after);
                    return Err(TurnRefusal::NotOffered {
                        asked: through,
                        turn: turn.id,
                        after,
                        through: turn.through,
                    });
                }
                self.change();
                self.open = None;
                self.acknowledged = Some(through);
                // What was left over was offered already.
                self.offers = if through == turn.through { Count::saturating(0) } else { self.offers };
                self.marks.last_task_end = Some(last);
                Ok(AgentTurn { state: TurnState::Acknowledged { through, at: now }, ..turn.clone() })
            }
            (TurnEnding::Fail { reason }, _) => {
                self.expect_open(turn)?;
                self.change();
                Ok(self.give_up(turn, TurnState::Failed { reason, at: now }))
            }
        }
    }

    /// Sets the cursor back, so that what comes after is offered once more. Returns the turn that expired by it, if one did.
    pub fn rewind(&mut self, open: Option<&AgentTurn>, rewind: CursorRewind) -> Result<Option<AgentTurn>, TurnRefusal> {
        let (to, now) = (rewind.to, rewind.at);
        if to >= self.acknowledged {
            let (acknowledged, asked) = (MessageSequence::number(self.acknowledged), MessageSequence::number(to));
            return Err(TurnRefusal::NotBack { agent: self.agent.clone(), acknowledged, asked });
        }
        let expired = self.expire(open, now)?;
        self.change();
        self.acknowledged = to;
        self.offers = self.offers.max(Count::saturating(1));
        self.marks.last_agent_start = self.marks.last_agent_start.min(to);
        self.marks.last_task_end = self.marks.last_task_end.min(to);
        self.rewound = Some(rewind);
        Ok(expired)
    }

    /// Gives up the turn that goes on when its time is over; refuses when it is not.
    fn expire(&mut self, open: Option<&AgentTurn>, now: Timestamp) -> Result<Option<AgentTurn>, TurnRefusal> {
        let Some(turn) = open else { return Ok(None) };
        if now < turn.expires_at {
            return Err(TurnRefusal::Held {
                agent: self.agent.clone(),
                turn: turn.id,
                holder: turn.holder.clone(),
                since: turn.begun_at,
                expires_at: turn.expires_at,
            });
        }
        Ok(Some(self.give_up(turn, TurnState::Expired { at: now })))
    }

    /// Has a turn end as if it had never begun.
    fn give_up(&mut self, turn: &AgentTurn, state: TurnState) -> AgentTurn {
        self.open = None;
        self.marks = turn.marks;
        AgentTurn { state, ..turn.clone() }
    }

    fn expect_open(&self, turn: &AgentTurn) -> Result<(), TurnRefusal> {
        if self.open == Some(turn.id) && turn.state == TurnState::Open {
            return Ok(());
        }
        Err(TurnRefusal::Over { turn: turn.id, state: turn.state.as_str() })
    }

    fn change(&mut self) {
        self.version = next(self.version);
    }
}

fn next(count: Count) -> Count {
    Count::saturating(count.get() + 1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(number: u64) -> MessageSequence {
        MessageSequence::new(number).unwrap()
    }

    fn time(micros: i64) -> Timestamp {
        Timestamp::from_micros(micros).unwrap()
    }

    fn cursor() -> AgentCursor {
        AgentCursor::new(ChannelId::of(b"{}"), ParticipantKey::new("dev").unwrap())
    }

    fn beginning(trigger: u64, through: u64, now: i64) -> TurnBeginning {
        TurnBeginning {
            trigger: at(trigger),
            through: at(through),
            holder: Actor::new("ada").unwrap(),
            place: None,
            session: None,
            now: time(now),
            expires_at: time(now + 10),
        }
    }

    fn failure() -> TurnEnding {
        TurnEnding::Fail { reason: SummaryText::new("no answer").unwrap() }
    }

    fn back(to: Option<MessageSequence>, now: i64) -> CursorRewind {
        let (reason, by) = (SummaryText::new("look again").unwrap(), Actor::new("ada").unwrap());
        CursorRewind { to, reason, by, at: time(now) }
    }

    #[test]
    fn only_a_durable_end_moves_what_is_acknowledged() {
        let mut cursor = cursor();
        let BegunTurn { turn, expired } = cursor.begin(None, beginning(2, 3, 0)).unwrap();
        assert_eq!((cursor.offered, cursor.acknowledged, expired), (Some(at(3)), None, None));
        let turn = cursor.inject(&turn, EnvelopeId::of(b"{}")).unwrap();
        assert_eq!((cursor.injected.map(|injected| injected.through), cursor.acknowledged), (Some(at(3)), None));
        let done = cursor.finish(&turn, TurnEnding::Acknowledge { through: None }, at(5), time(1)).unwrap();
        assert_eq!((cursor.acknowledged, cursor.open), (Some(at(3)), None));
        assert_eq!(cursor.marks, TurnMarks { last_agent_start: Some(at(3)), last_task_end: Some(at(5)) });
        let before = cursor.clone();
        let again = cursor.finish(&done, TurnEnding::Acknowledge { through: Some(at(3)) }, at(9), time(2));
        assert_eq!((again, cursor), (Ok(done), before));
    }

    #[test]
    fn what_failed_or_expired_is_offered_again_with_a_count() {
        let mut cursor = cursor();
        let first = cursor.begin(None, beginning(1, 1, 0)).unwrap().turn;
        let failed = cursor.finish(&first, failure(), at(1), time(1)).unwrap();
        assert_eq!((failed.state.as_str(), cursor.marks), ("failed", TurnMarks::default()));
        let second = cursor.begin(None, beginning(1, 2, 5)).unwrap().turn;
        assert_eq!((second.delivery.get(), second.after, second.number.get()), (2, None, 2));
        let held = cursor.clone().begin(Some(&second), beginning(1, 2, 14));
        assert!(matches!(held, Err(TurnRefusal::Held { turn, .. }) if turn == second.id));
        let third = cursor.begin(Some(&second), beginning(1, 2, 15)).unwrap();
        assert_eq!(third.expired.unwrap().state, TurnState::Expired { at: time(15) });
        assert_eq!(third.turn.delivery.get(), 3);
        let late = cursor.finish(&second, TurnEnding::Acknowledge { through: None }, at(2), time(16));
        assert!(matches!(late, Err(TurnRefusal::Over { .. })), "{late:?}");
        cursor.finish(&third.turn, TurnEnding::Acknowledge { through: None }, at(2), time(16)).unwrap();
        let fourth = cursor.begin(None, beginning(3, 3, 17)).unwrap().turn;
        assert_eq!((fourth.delivery.get(), fourth.after), (1, Some(at(2))));
    }

    #[test]
    fn nothing_is_acknowledged_that_was_not_offered() {
        let mut cursor = cursor();
        let turn = cursor.begin(None, beginning(1, 4, 0)).unwrap().turn;
        let beyond = cursor.finish(&turn, TurnEnding::Acknowledge { through: Some(at(5)) }, at(9), time(1));
        assert!(matches!(beyond, Err(TurnRefusal::NotOffered { .. })));
        cursor.finish(&turn, TurnEnding::Acknowledge { through: Some(at(2)) }, at(9), time(1)).unwrap();
        let again = cursor.begin(None, beginning(2, 9, 2));
        assert!(matches!(again, Err(TurnRefusal::Acknowledged { .. })));
        let turn = cursor.begin(None, beginning(3, 9, 2)).unwrap().turn;
        assert_eq!((turn.after, turn.delivery.get()), (Some(at(2)), 2));
        assert!(matches!(cursor.begin(Some(&turn), beginning(10, 9, 99)), Err(TurnRefusal::NoMessage { .. })));
    }

    #[test]
    fn a_cursor_is_only_set_back_and_not_under_a_turn() {
        let mut cursor = cursor();
        let turn = cursor.begin(None, beginning(4, 4, 0)).unwrap().turn;
        cursor.finish(&turn, TurnEnding::Acknowledge { through: None }, at(6), time(1)).unwrap();
        for to in [Some(at(4)), Some(at(5))] {
            assert!(matches!(cursor.rewind(None, back(to, 2)), Err(TurnRefusal::NotBack { .. })));
        }
        let held = cursor.begin(None, beginning(5, 6, 2)).unwrap().turn;
        assert!(matches!(cursor.rewind(Some(&held), back(Some(at(1)), 3)), Err(TurnRefusal::Held { .. })));
        let expired = cursor.rewind(Some(&held), back(Some(at(1)), 12)).unwrap();
        assert_eq!(expired.map(|turn| turn.id), Some(held.id));
        assert_eq!((cursor.acknowledged, cursor.offered), (Some(at(1)), Some(at(6))));
        assert_eq!(cursor.marks, TurnMarks { last_agent_start: Some(at(1)), last_task_end: Some(at(1)) });
        cursor.rewind(None, back(None, 13)).unwrap();
        assert_eq!(cursor.begin(None, beginning(1, 6, 14)).unwrap().turn.after, None);
    }

    /// A step that somebody tries, whether or not it can be done.
    #[derive(Debug, Clone, Copy)]
    enum Step {
        Post,
        Wait(i64),
        Begin { trigger: u64 },
        Inject,
        Acknowledge { through: Option<u64> },
        Fail,
        Rewind { to: u64 },
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let step = prop_oneof![
            3 => Just(Step::Post),
            1 => (1..25i64).prop_map(Step::Wait),
            3 => (1..12u64).prop_map(|trigger| Step::Begin { trigger }),
            1 => Just(Step::Inject),
            2 => prop::option::of(1..12u64).prop_map(|through| Step::Acknowledge { through }),
            1 => Just(Step::Fail),
            1 => (0..12u64).prop_map(|to| Step::Rewind { to }),
        ];
        prop::collection::vec(step, 0..80)
    }

    /// What a cursor must come to, without any of its means: places are plain numbers and turns are ranges.
    #[derive(Debug, Default)]
    struct Model {
        last: u64,
        now: i64,
        acknowledged: u64,
        offered: u64,
        offers: u64,
        /// After which message, through which, and until when.
        open: Option<(u64, u64, i64)>,
        is_injected: bool,
    }

    impl Model {
        /// Does a step, and tells whether it can be done.
        fn step(&mut self, step: Step) -> bool {
            let is_free = self.open.is_none_or(|(_, _, until)| self.now >= until);
            match step {
                Step::Post => self.last += 1,
                Step::Wait(micros) => self.now += micros,
                Step::Begin { trigger } if trigger > self.acknowledged && trigger <= self.last && is_free => {
                    self.open = Some((self.acknowledged, self.last, self.now + 10));
                    (self.offered, self.offers, self.is_injected) =
                        (self.last.max(self.offered), self.offers + 1, false);
                }
                Step::Inject if self.open.is_some() => self.is_injected = true,
                Step::Acknowledge { through } => {
                    let Some((after, offered, _)) = self.open else { return false };
                    let through = through.unwrap_or(offered);
                    if through <= after || through > offered {
                        return false;
                    }
                    (self.open, self.acknowledged) = (None, through);
                    self.offers = if through == offered { 0 } else { self.offers };
                }
                Step::Fail if self.open.is_some() => self.open = None,
                Step::Rewind { to } if to < self.acknowledged && is_free => {
                    (self.open, self.acknowledged, self.offers) = (None, to, self.offers.max(1));
                }
                Step::Begin { .. } | Step::Inject | Step::Fail | Step::Rewind { .. } => return false,
            }
            true
        }
    }

    proptest! {
        #[test]
        fn a_cursor_comes_to_what_its_model_comes_to(steps in steps()) {
            let (mut model, mut cursor, mut open) = (Model::default(), cursor(), None::<AgentTurn>);
            for step in steps {
                let (before, now) = (cursor.clone(), model.now);
                let outcome = match step {
                    Step::Post | Step::Wait(_) => Ok(open.clone()),
                    Step::Begin { trigger } => match MessageSequence::new(model.last) {
                        None => Err(None),
                        Some(last) => {
                            let begun = cursor.begin(open.as_ref(), beginning(trigger, last.get(), now));
                            begun.map(|begun| Some(begun.turn)).map_err(Some)
                        }
                    },
                    Step::Inject => match &open {
                        None => Err(None),
                        Some(turn) => cursor.inject(turn, EnvelopeId::of(b"{}")).map(Some).map_err(Some),
                    },
                    Step::Acknowledge { through } => match &open {
                        None => Err(None),
                        Some(turn) => {
                            let ending = TurnEnding::Acknowledge { through: through.map(at) };
                            cursor.finish(turn, ending, at(model.last), time(now)).map(|_| None).map_err(Some)
                        }
                    },
                    Step::Fail => match &open {
                        None => Err(None),
                        Some(turn) => cursor.finish(turn, failure(), at(model.last), time(now)).map(|_| None).map_err(Some),
                    },
                    Step::Rewind { to } => {
                        cursor.rewind(open.as_ref(), back(MessageSequence::new(to), now)).map(|_| None).map_err(Some)
                    }
                };
                let can = model.step(step);
                prop_assert_eq!(outcome.is_ok(), can, "{:?} gave {:?}", step, outcome);
                if let Ok(turn) = outcome {
                    open = turn;
                } else {
                    prop_assert_eq!(&cursor, &before, "what is refused changes nothing");
                }
                prop_assert_eq!(MessageSequence::number(cursor.acknowledged), model.acknowledged);
                prop_assert_eq!(MessageSequence::number(cursor.offered), model.offered);
                prop_assert_eq!(cursor.offers.get(), model.offers);
                prop_assert_eq!(cursor.open, open.as_ref().map(|turn| turn.id));
                prop_assert!(cursor.acknowledged <= cursor.offered, "nothing is done with that was not offered");
                if let Some(turn) = &open {
                    let (after, through, until) = model.open.unwrap();
                    prop_assert_eq!((MessageSequence::number(turn.after), turn.through, turn.expires_at), (after, at(through), time(until)));
                    prop_assert_eq!((turn.delivery.get(), turn.envelope.is_some()), (model.offers, model.is_injected));
                }
            }
        }
    }
}
