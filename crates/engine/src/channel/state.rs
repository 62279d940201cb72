//! The state of a channel: published with the messages that change it.

use contexture_assembly::channel_state::{
    ChannelSnapshot, STATE_SENDER, STATE_TOPIC, StateChange, StateEvent, StateRules,
};
use contexture_core::{
    ChannelMessage, MessageBody, MessageDraft, MessageHeader, MessageSequence, ParticipantKey, ReplayPolicy, Topic,
};
use contexture_store::{
    Error as StoreError,
    channel::{AppendedMessage, ChannelError, ExpectLast, MessageFilter, MessageOrder, MessageQuery, MessageReference},
};
use serde_json::Value;
use tracing::{Instrument as _, debug_span};

use super::Channel;
use crate::{Error, Result};

/// How often messages are appended anew because others spoke meanwhile.
const MAX_ATTEMPTS: u32 = 64;
/// Messages that are folded from one page.
const PAGE: u32 = 500;

impl Channel<'_> {
    /// Appends messages like [`Channel::append`] and, in the same transaction, the state that they change. Returns the
    /// messages that were given.
    ///
    /// The state is folded from the one that was published last and what was said since, so nothing is missing in it
    /// whoever wrote before and however that ended. Where nothing changes, nothing is published.
    pub async fn publish(
        &self,
        drafts: Vec<MessageDraft>,
        expect: ExpectLast,
        rules: &StateRules,
    ) -> Result<Vec<AppendedMessage>> {
        let span = debug_span!("publish_messages", channel = %self.id, messages = drafts.len());
        self.publish_folding(drafts, expect, rules).instrument(span).await
    }

    async fn publish_folding(
        &self,
        drafts: Vec<MessageDraft>,
        expect: ExpectLast,
        rules: &StateRules,
    ) -> Result<Vec<AppendedMessage>> {
        if !drafts.iter().any(|draft| rules.concerns(draft.header.topic.as_str())) {
            return self.append(drafts, expect).await;
        }
        let given = drafts.len();
        for _ in 1..MAX_ATTEMPTS {
            let last = self.last_sequence().await?;
            let mut together = drafts.clone();
            together.extend(self.changed_state(&drafts, last, rules).await?);
            let folded = last.map_or(ExpectLast::Nothing, ExpectLast::At);
            let expected = if expect == ExpectLast::Anything { folded } else { expect };
            match self.append(together, expected).await {
                Ok(mut appended) => {
                    appended.truncate(given);
                    return Ok(appended);
                }
                // Somebody else spoke since the state was folded.
                Err(Error::Store(StoreError::Channel(ChannelError::Moved { .. })))
                    if expect == ExpectLast::Anything => {}
                Err(error) => return Err(error),
            }
        }
        self.append(drafts, expect).await
    }

    /// Returns what the messages of the channel come to.
    pub async fn state(&self, rules: &StateRules) -> Result<ChannelSnapshot> {
        let last = self.last_sequence().await?;
        Ok(self.state_through(last, rules).await?.0)
    }

    /// Folds the messages up to one; returns also how far the state was published that it began with.
    async fn state_through(&self, last: Option<MessageSequence>, rules: &StateRules) -> Result<(ChannelSnapshot, u64)> {
        let topic = Topic::new(STATE_TOPIC).expect("it is written as a topic");
        let filter = MessageFilter {
            topic: Some(topic),
            sender: Some(sender()),
            replay: Some(ReplayPolicy::Replayable),
            ..MessageFilter::default()
        };
        let published = self.last(filter).await?;
        let read = |message: ChannelMessage| ChannelSnapshot::read(message.body?.data.as_ref()?);
        let mut state = published.and_then(read).unwrap_or_else(|| ChannelSnapshot::empty(self.id.to_string()));
        let published = state.source_sequence;
        let mut after = MessageSequence::new(published);
        while after < last {
            let query = MessageQuery { after, through: last, order: MessageOrder::Oldest, ..MessageQuery::default() };
            let page = self.messages(&query, PAGE).await?;
            for message in &page.messages {
                fold(&mut state, rules, message);
            }
            after = page.messages.last().map(|message| message.record.sequence);
            if !page.has_more {
                break;
            }
        }
        Ok((state, published))
    }

    /// Returns the state as a message, if it is not the published one once messages are there that come after the last one.
    async fn changed_state(
        &self,
        drafts: &[MessageDraft],
        last: Option<MessageSequence>,
        rules: &StateRules,
    ) -> Result<Option<MessageDraft>> {
        let (mut state, published) = self.state_through(last, rules).await?;
        let mut sequence = MessageSequence::number(last);
        for draft in drafts {
            // What is there already is not appended again, and was folded.
            if let Some(id) = &draft.id
                && self.has(&MessageReference::Id(id.clone())).await?
            {
                continue;
            }
            sequence += 1;
            let metadata = Value::Object(draft.body.metadata.clone());
            let id = draft.id.as_ref().map_or_else(|| format!("#{sequence}"), |id| id.as_str().to_owned());
            let event = StateEvent {
                sequence,
                id: &id,
                topic: draft.header.topic.as_str(),
                sender: draft.header.sender.as_str(),
                at: draft.at.unwrap_or_else(|| self.engine.now()),
                text: draft.body.text.as_deref(),
                data: draft.body.data.as_ref(),
                metadata: Some(&metadata),
            };
            if draft.header.replay.is_replayable() {
                let _changed: StateChange = state.apply(rules, &event);
            }
        }
        if state.source_sequence == published {
            return Ok(None);
        }
        let topic = Topic::new(STATE_TOPIC).expect("it is written as a topic");
        let body = MessageBody { text: Some(state.to_text()), data: Some(state.to_data()), ..MessageBody::default() };
        Ok(Some(MessageDraft { id: None, at: None, header: MessageHeader::new(sender(), topic), body }))
    }

    async fn has(&self, message: &MessageReference) -> Result<bool> {
        match self.message(message).await {
            Ok(_) => Ok(true),
            Err(Error::Store(StoreError::Channel(ChannelError::NoMessage { .. }))) => Ok(false),
            Err(error) => Err(error),
        }
    }
}

fn sender() -> ParticipantKey {
    ParticipantKey::new(STATE_SENDER).expect("it is written as a key")
}

fn fold(state: &mut ChannelSnapshot, rules: &StateRules, message: &ChannelMessage) {
    let record = &message.record;
    let Some(body) = message.body.as_ref().filter(|_| record.header.replay.is_replayable()) else { return };
    let metadata = Value::Object(body.metadata.clone());
    let event = StateEvent {
        sequence: record.sequence.get(),
        id: record.id.as_str(),
        topic: record.header.topic.as_str(),
        sender: record.header.sender.as_str(),
        at: record.at,
        text: body.text.as_deref(),
        data: body.data.as_ref(),
        metadata: Some(&metadata),
    };
    let _changed: StateChange = state.apply(rules, &event);
}
