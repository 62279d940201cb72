//! Following a channel: every message once, in order, as it comes.

use std::{sync::Arc, time::Duration};

use contexture_core::{ChannelId, MessageSequence};
use contexture_store::channel::{MessageFilter, MessageOrder, MessageQuery};
use tokio::sync::watch;

use super::{Channel, MessagePage};
use crate::{Contexture, Result};

/// How long to wait at first before looking for what other programs have said, and how long at most.
const WAITS: (Duration, Duration) = (Duration::from_millis(20), Duration::from_millis(250));

/// Tells those who follow channels in this program that something was said.
#[derive(Clone)]
pub(crate) struct ChannelNews(Arc<watch::Sender<u64>>);

/// Whoever follows a channel.
///
/// What this program says is noticed at once; what others say, by looking now and then, less often while nothing happens.
/// Either way the place of the last message that was seen decides what comes next, so nothing is left out and nothing
/// comes twice.
pub struct Following {
    engine: Contexture,
    channel: ChannelId,
    query: MessageQuery,
    news: watch::Receiver<u64>,
    wait: Duration,
}

impl Default for ChannelNews {
    fn default() -> Self {
        Self(Arc::new(watch::Sender::new(0)))
    }
}

impl ChannelNews {
    pub(super) fn tell(&self) {
        self.0.send_modify(|told| *told = told.wrapping_add(1));
    }
}

impl ChannelNews {
    /// Returns what hears of it.
    pub(super) fn listen(&self) -> watch::Receiver<u64> {
        self.0.subscribe()
    }
}

impl Channel<'_> {
    /// Follows the messages after a place that pass the filter.
    pub fn follow(&self, filter: MessageFilter, after: Option<MessageSequence>) -> Following {
        let query = MessageQuery { filter, after, through: None, order: MessageOrder::Oldest };
        let news = self.engine.channel_news().listen();
        Following { engine: self.engine.clone(), channel: self.id, query, news, wait: WAITS.0 }
    }
}

impl Following {
    /// Returns the place of the last message that was seen.
    pub fn position(&self) -> Option<MessageSequence> {
        self.query.after
    }

    /// Returns up to `limit` messages that came since, as soon as there are some. Giving up the wait loses nothing.
    pub async fn next(&mut self, limit: u32) -> Result<MessagePage> {
        loop {
            self.news.borrow_and_update();
            let page = self.engine.channel(self.channel).messages(&self.query, limit).await?;
            if let Some(last) = page.messages.last() {
                self.query.after = Some(last.record.sequence);
                self.wait = WAITS.0;
                return Ok(page);
            }
            // The sender lives as long as the engine, which this holds.
            if let Ok(told) = tokio::time::timeout(self.wait, self.news.changed()).await {
                drop(told);
            } else {
                self.wait = (self.wait * 2).min(WAITS.1);
            }
        }
    }
}
