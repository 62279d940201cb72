//! Reading messages, in bounded pages.

use contexture_core::{ChannelMessage, MessageBody};
use contexture_store::{
    Error as StoreError, artifact,
    channel::{self, LocatedMessage, MessageFilter, MessageOrder, MessageQuery, MessageReference},
};
use futures_util::FutureExt as _;
use tracing::{Instrument as _, debug_span};

use super::Channel;
use crate::{Contexture, Result};

/// Messages that are looked up in one query.
const ROWS_PER_QUERY: u32 = 64;
/// Bytes of content after which a page ends.
const MAX_PAGE_BYTES: u64 = 8 * 1024 * 1024;

/// Some messages of a channel.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MessagePage {
    /// The messages.
    pub messages: Vec<ChannelMessage>,
    /// Whether there may be more than these: the limit was reached, or they are so large that the page ends here.
    pub has_more: bool,
}

impl Channel<'_> {
    /// Returns up to `limit` messages, and fewer when they are large. Go on after the last of them, or, when the newest
    /// come first, before it.
    pub async fn messages(&self, query: &MessageQuery, limit: u32) -> Result<MessagePage> {
        self.page(query.clone(), limit).instrument(debug_span!("read_messages", channel = %self.id)).await
    }

    async fn page(&self, mut query: MessageQuery, limit: u32) -> Result<MessagePage> {
        let engine = self.engine;
        let (mut page, mut bytes) = (MessagePage::default(), 0);
        loop {
            let left = limit - u32::try_from(page.messages.len()).unwrap_or(limit);
            let rows = left.min(ROWS_PER_QUERY);
            if rows == 0 {
                page.has_more = true;
                return Ok(page);
            }
            let args = (self.id, query.clone(), rows);
            let reading = engine
                .store
                .read(engine.scope(), args, |tx, (id, query, rows)| channel::messages(tx, id, query, *rows).boxed());
            let found: Result<Vec<LocatedMessage>, StoreError> = reading.await;
            let found = found?;
            let is_last = found.len() < rows as usize;
            for located in found {
                bytes += located.located.size;
                if bytes > MAX_PAGE_BYTES && !page.messages.is_empty() {
                    page.has_more = true;
                    return Ok(page);
                }
                let sequence = located.record.sequence;
                match query.order {
                    MessageOrder::Oldest => query.after = Some(sequence),
                    MessageOrder::Newest => query.through = contexture_core::MessageSequence::new(sequence.get() - 1),
                }
                page.messages.push(read(engine, located).await?);
            }
            // Before the first message there is none.
            if is_last || query.order == MessageOrder::Newest && query.through.is_none() {
                return Ok(page);
            }
        }
    }

    /// Returns a message.
    pub async fn message(&self, message: &MessageReference) -> Result<ChannelMessage> {
        let engine = self.engine;
        let args = (self.id, message.clone());
        let finding =
            engine.store.read(engine.scope(), args, |tx, (id, message)| channel::find_located(tx, id, message).boxed());
        let located: Result<LocatedMessage, StoreError> = finding.await;
        read(engine, located?).await
    }

    /// Returns the last message that passes the filter.
    pub async fn last(&self, filter: MessageFilter) -> Result<Option<ChannelMessage>> {
        let query = MessageQuery { filter, order: MessageOrder::Newest, ..MessageQuery::default() };
        Ok(self.messages(&query, 1).await?.messages.pop())
    }

    /// Returns how many messages there are.
    pub async fn count(&self, query: &MessageQuery) -> Result<u64> {
        let engine = self.engine;
        let counting = engine
            .store
            .read(engine.scope(), (self.id, query.clone()), |tx, (id, query)| channel::count(tx, id, query).boxed());
        Ok(counting.await?)
    }
}

async fn read(engine: &Contexture, found: LocatedMessage) -> Result<ChannelMessage> {
    let LocatedMessage { record, located } = found;
    let body = match artifact::read(&engine.store, &engine.scope(), located).await {
        Ok(bytes) => Some(MessageBody::decode(&bytes).map_err(|error| {
            let what = format!("message {} of {} cannot be read: {error}", record.sequence, record.channel);
            StoreError::Damaged { what }
        })?),
        Err(StoreError::Withheld(_)) => None,
        Err(error) => return Err(error.into()),
    };
    Ok(ChannelMessage { record, body })
}
