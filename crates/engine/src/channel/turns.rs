//! Participants and their turns.

use std::time::Duration;

use contexture_core::{
    AgentCursor, AgentTurn, BegunTurn, ChannelMessage, EnvelopeId, MessageSequence, Participant, ParticipantKey,
    ReplayPolicy, SummaryText, TurnEnding, TurnId, TurnPrefix, TurnRefusal,
};
use contexture_store::{
    Error as StoreError,
    channel::{self, ChannelError, MessageFilter, MessageOrder, MessageQuery, NewTurn},
};
use futures_util::FutureExt as _;
use tracing::{Instrument as _, debug_span};

use super::{Channel, MessagePage};
use crate::{
    Contexture, Error, Result,
    reference::{MAX_CANDIDATES, only},
};

/// How long to wait before asking again whether an agent is free, if nothing is heard of it.
const ASK_AGAIN: Duration = Duration::from_millis(100);

/// Who has to do with a message. It tells no cursor.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SeenBy {
    /// The agents that were offered it.
    pub offered_to: Vec<ParticipantKey>,
    /// Those of them that have acknowledged it.
    pub acknowledged_by: Vec<ParticipantKey>,
}

impl Channel<'_> {
    /// Registers a participant, or changes what is known of who has the key. Returns whether anything changed.
    pub async fn register(&self, participant: Participant) -> Result<bool> {
        let engine = self.engine;
        let writing = engine.store.write(engine.scope(), (self.id, participant), |tx, (id, participant)| {
            channel::register(tx, id, participant).boxed()
        });
        let span = debug_span!("register_participant", channel = %self.id);
        let registered: Result<_, StoreError> = writing.instrument(span).await;
        Ok(registered?)
    }

    /// Returns the participants, by key.
    pub async fn participants(&self) -> Result<Vec<Participant>> {
        let engine = self.engine;
        Ok(engine.store.read(engine.scope(), self.id, |tx, id| channel::participants(tx, id).boxed()).await?)
    }

    /// Returns how far an agent is. Nobody else needs to know; [`Channel::seen_by`] is for all.
    pub async fn cursor(&self, agent: ParticipantKey) -> Result<AgentCursor> {
        let engine = self.engine;
        let reading = engine
            .store
            .read(engine.scope(), (self.id, agent), |tx, (id, agent)| channel::cursor_of(tx, id, agent).boxed());
        Ok(reading.await?)
    }

    /// Sets the cursor of an agent back, so that what comes after is offered to it once more.
    pub async fn rewind(
        &self,
        agent: ParticipantKey,
        to: Option<MessageSequence>,
        reason: &SummaryText,
    ) -> Result<AgentCursor> {
        let engine = self.engine;
        let guard = engine.guard().await?;
        let reason = SummaryText::new(guard.mask(reason.as_str()))?;
        let writing =
            engine.store.write(engine.scope(), (self.id, agent, to, reason), |tx, (id, agent, to, reason)| {
                channel::rewind(tx, id, agent, *to, reason.clone()).boxed()
            });
        let rewound: Result<_, StoreError> = writing.instrument(debug_span!("rewind", channel = %self.id)).await;
        Ok(rewound?)
    }

    /// Returns up to `limit` of the messages that a turn offers beside the one to answer: those of others that the agent
    /// sees, after a place and in order.
    pub async fn offered(&self, turn: &AgentTurn, after: Option<MessageSequence>, limit: u32) -> Result<MessagePage> {
        let viewer = self.participants().await?.into_iter().find(|one| one.key == turn.agent);
        let filter = MessageFilter { replay: Some(ReplayPolicy::Replayable), ..MessageFilter::default() };
        let (after, through) = (after.max(turn.after), Some(turn.through));
        let mut query = MessageQuery { filter, after, through, order: MessageOrder::Oldest };
        loop {
            let mut page = self.messages(&query, limit).await?;
            let last = page.messages.last().map(|last| last.record.sequence);
            page.messages.retain(|ChannelMessage { record, .. }| {
                record.sequence != turn.trigger
                    && record.header.sender != turn.agent
                    && viewer.as_ref().is_none_or(|viewer| record.header.is_visible_to(viewer))
            });
            if !page.messages.is_empty() || !page.has_more {
                return Ok(page);
            }
            query.after = last;
        }
    }

    /// Says of messages whom they were offered to and who has acknowledged them.
    pub async fn seen_by(&self, messages: &[ChannelMessage]) -> Result<Vec<SeenBy>> {
        let engine = self.engine;
        let reading = engine.store.read(engine.scope(), self.id, |tx, id| {
            async move { Ok::<_, StoreError>((channel::cursors(tx, id).await?, channel::participants(tx, id).await?)) }
                .boxed()
        });
        let (cursors, participants) = reading.await?;
        let seen = |message: &ChannelMessage| {
            let (mut seen, header) = (SeenBy::default(), &message.record.header);
            let sequence = Some(message.record.sequence);
            for cursor in &cursors {
                let viewer = participants.iter().find(|one| one.key == cursor.agent);
                let is_shown = header.sender != cursor.agent
                    && header.replay.is_replayable()
                    && viewer.is_none_or(|viewer| header.is_visible_to(viewer));
                if is_shown && cursor.offered >= sequence {
                    seen.offered_to.push(cursor.agent.clone());
                    if cursor.acknowledged >= sequence {
                        seen.acknowledged_by.push(cursor.agent.clone());
                    }
                }
            }
            seen
        };
        Ok(messages.iter().map(seen).collect())
    }
}

impl Contexture {
    /// Begins a turn of an agent: freezes what it is offered. Refused while the agent is in another turn.
    pub async fn begin_turn(&self, new: NewTurn) -> Result<BegunTurn> {
        let span = debug_span!("begin_turn", channel = %new.channel);
        let writing = self.store.write(self.scope(), new, |tx, new| channel::begin(tx, new).boxed());
        let begun: Result<_, StoreError> = writing.instrument(span).await;
        let begun = begun?;
        self.channel_news().tell();
        Ok(begun)
    }

    /// Begins a turn like [`Contexture::begin_turn`], and waits so long at most while the agent is in another one.
    pub async fn begin_turn_within(&self, new: NewTurn, patience: Duration) -> Result<BegunTurn> {
        let deadline = tokio::time::Instant::now() + patience;
        let mut news = self.channel_news().listen();
        loop {
            news.borrow_and_update();
            match self.begin_turn(new.clone()).await {
                Err(error) if is_held(&error) && tokio::time::Instant::now() < deadline => {
                    // Whether something was heard or not, it is asked again.
                    let _heard = tokio::time::timeout(ASK_AGAIN, news.changed()).await;
                }
                begun => return begun,
            }
        }
    }

    /// Notes which envelope was really sent to a model in a turn.
    pub async fn note_injected_turn(&self, turn: TurnId, envelope: EnvelopeId) -> Result<AgentTurn> {
        let writing = self
            .store
            .write(self.scope(), (turn, envelope), |tx, (turn, envelope)| channel::inject(tx, turn, envelope).boxed());
        let noted: Result<_, StoreError> = writing.instrument(debug_span!("note_injected_turn", turn = %turn)).await;
        Ok(noted?)
    }

    /// Ends a turn. To end it once more in the same way changes nothing.
    pub async fn finish_turn(&self, turn: TurnId, ending: TurnEnding) -> Result<AgentTurn> {
        let ending = match ending {
            TurnEnding::Acknowledge { through } => TurnEnding::Acknowledge { through },
            TurnEnding::Fail { reason } => {
                let guard = self.guard().await?;
                TurnEnding::Fail { reason: SummaryText::new(guard.mask(reason.as_str()))? }
            }
        };
        let writing = self.store.write(self.scope(), (turn, ending), |tx, (turn, ending)| {
            channel::finish(tx, turn, ending.clone()).boxed()
        });
        let ended: Result<_, StoreError> = writing.instrument(debug_span!("finish_turn", turn = %turn)).await;
        let ended = ended?;
        self.channel_news().tell();
        Ok(ended)
    }

    /// Returns a turn.
    pub async fn turn(&self, id: TurnId) -> Result<AgentTurn> {
        Ok(self.store.glance(self.scope(), id, |tx, id| channel::show_turn(tx, id).boxed()).await?)
    }

    /// Returns the turn that an abbreviated id names.
    pub async fn find_turn(&self, prefix: &TurnPrefix) -> Result<TurnId> {
        let finding = self.store.glance(self.scope(), (prefix.first(), prefix.last()), |tx, (first, last)| {
            channel::turn_ids_between(tx, first, last, MAX_CANDIDATES).boxed()
        });
        Ok(only("turn", prefix, &finding.await?)?)
    }
}

fn is_held(error: &Error) -> bool {
    matches!(error, Error::Store(StoreError::Channel(ChannelError::Refused(refusal)))
        if matches!(**refusal, TurnRefusal::Held { .. }))
}
