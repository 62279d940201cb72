//! The handles on channels and on one of them.

use contexture_core::{ChannelId, ChannelName, ChannelPrefix, ChannelRecord, ChannelState, MessageSequence};
use contexture_store::{
    Error as StoreError,
    channel::{self, ChannelError, ChannelFilter, ChannelSummary, StoredChannel},
};
use futures_util::FutureExt as _;
use tracing::{Instrument as _, debug_span};

use crate::{
    Contexture, Error, Result,
    reference::{MAX_CANDIDATES, only},
};

/// The channels of a space.
#[derive(Clone, Copy)]
pub struct Channels<'c> {
    engine: &'c Contexture,
}

/// A channel, with everything that can be done in it.
#[derive(Clone, Copy)]
pub struct Channel<'c> {
    pub(super) engine: &'c Contexture,
    pub(super) id: ChannelId,
}

impl Contexture {
    /// Returns the handle on the channels of the space.
    pub fn channels(&self) -> Channels<'_> {
        Channels { engine: self }
    }

    /// Returns the handle on a channel. Whether it is there, its operations tell.
    pub fn channel(&self, id: ChannelId) -> Channel<'_> {
        Channel { engine: self, id }
    }
}

impl Channels<'_> {
    /// Makes a channel.
    pub async fn create(&self, name: ChannelName) -> Result<StoredChannel> {
        let engine = self.engine;
        let record = ChannelRecord { name, created_at: engine.now(), created_by: engine.actor().clone(), fork: None };
        let making = engine.store.write(engine.scope(), record, |tx, record| channel::create(tx, record).boxed());
        let made: Result<_, StoreError> = making.instrument(debug_span!("create_channel")).await;
        Ok(made?)
    }

    /// Returns up to `limit` channels, those made last first, those made before a record of the journal. No message is
    /// read for it.
    pub async fn list(&self, filter: ChannelFilter, before: Option<u64>, limit: u32) -> Result<Vec<ChannelSummary>> {
        let engine = self.engine;
        let listing = engine.store.read(engine.scope(), (filter, before, limit), |tx, &(filter, before, limit)| {
            channel::list(tx, filter, before, limit).boxed()
        });
        Ok(listing.await?)
    }

    /// Returns the channel that a person names: by its name, or by its id, which may be abbreviated.
    pub async fn find(&self, text: &str) -> Result<StoredChannel> {
        let engine = self.engine;
        if let Ok(name) = ChannelName::new(text) {
            let finding = engine.store.glance(engine.scope(), name, |tx, name| channel::find_named(tx, name).boxed());
            if let Some(found) = finding.await? {
                return Ok(found);
            }
        }
        let unknown = || Error::Store(StoreError::Channel(ChannelError::NoSuchName(text.to_owned())));
        let prefix: ChannelPrefix = text.parse().map_err(|_| unknown())?;
        let finding = engine.store.glance(engine.scope(), (prefix.first(), prefix.last()), |tx, (first, last)| {
            channel::ids_between(tx, first, last, MAX_CANDIDATES).boxed()
        });
        match only("channel", &prefix, &finding.await?) {
            Ok(id) => engine.channel(id).get().await,
            Err(StoreError::NoMatch { .. }) => Err(unknown()),
            Err(error) => Err(error.into()),
        }
    }
}

impl Channel<'_> {
    /// Returns its id.
    pub fn id(&self) -> ChannelId {
        self.id
    }

    /// Returns the channel.
    pub async fn get(&self) -> Result<StoredChannel> {
        let engine = self.engine;
        Ok(engine.store.glance(engine.scope(), self.id, |tx, id| channel::require(tx, id).boxed()).await?)
    }

    /// Returns the place of its last message, nothing when there is none.
    pub async fn last_sequence(&self) -> Result<Option<MessageSequence>> {
        let engine = self.engine;
        Ok(engine.store.glance(engine.scope(), self.id, |tx, id| channel::last_sequence(tx, id).boxed()).await?)
    }

    /// Changes what can be done with it. Returns whether it was something else before.
    pub async fn set_state(&self, state: ChannelState) -> Result<bool> {
        let engine = self.engine;
        let setting = engine
            .store
            .write(engine.scope(), (self.id, state), |tx, (id, state)| channel::set_state(tx, id, *state).boxed());
        let set: Result<_, StoreError> = setting.instrument(debug_span!("set_channel_state", channel = %self.id)).await;
        Ok(set?)
    }
}
