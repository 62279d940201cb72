//! The handle through which everything is done.

use std::{
    path::Path,
    sync::{Arc, PoisonError, RwLock},
};

use contexture_core::{Actor, SpaceName, Timestamp};
use contexture_store::{Disclosure, Location, OpenSealed, Scope, Store, spaces};
use futures_util::FutureExt as _;
use tracing::{Instrument as _, debug_span};

use crate::{
    ProjectScope, Result,
    assemble::{RememberedAssemblies, RememberedTurns},
    channel::ChannelNews,
    secrets::{self, SecretGuard, SecretMeans},
};

/// Tells the time. The library never reads a clock of its own.
pub type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// How to open a store.
#[derive(Clone)]
pub struct Options {
    /// Where it is.
    pub location: Location,
    /// The tenant to work in.
    pub space: SpaceName,
    /// Who works, as the journal records it.
    pub actor: Actor,
    /// What tells the time.
    pub clock: Clock,
    /// What keys are made with, and where they are.
    pub secrets: SecretMeans,
}

/// A handle on one space of a store. Clones share the store.
#[derive(Clone)]
pub struct Contexture {
    pub(crate) store: Store,
    space: SpaceName,
    actor: Actor,
    clock: Clock,
    secret_means: SecretMeans,
    disclosure: Disclosure,
    opener: Option<Arc<dyn OpenSealed>>,
    guard: Arc<RwLock<Option<Arc<SecretGuard>>>>,
    remembered_assemblies: Arc<RememberedAssemblies>,
    remembered_turns: Arc<RememberedTurns>,
    project: Option<Arc<ProjectScope>>,
    channel_news: ChannelNews,
}

impl Contexture {
    /// Opens a store, making it if need be.
    pub async fn open(options: Options) -> Result<Self> {
        Ok(Self::on(Store::open(options.location.clone()).instrument(debug_span!("open")).await?, options))
    }

    /// Opens a store for a program that does one thing and ends: nothing is done beside something else, and less is set up.
    pub async fn open_alone(options: Options) -> Result<Self> {
        Ok(Self::on(Store::open_alone(options.location.clone()).instrument(debug_span!("open")).await?, options))
    }

    fn on(store: Store, options: Options) -> Self {
        let Options { location: _, space, actor, clock, secrets: secret_means } = options;
        let (remembered_assemblies, remembered_turns) = Default::default();
        Self {
            store,
            space,
            actor,
            clock,
            secret_means,
            disclosure: Disclosure::Masked,
            opener: None,
            guard: Arc::default(),
            remembered_assemblies,
            remembered_turns,
            project: None,
            channel_news: ChannelNews::default(),
        }
    }

    /// Returns a handle for somebody who stands in a project: `last` and the numbers of sessions count its sessions only.
    ///
    /// A session is of the project when it was begun in one of its directories or below it. Without a project, all are.
    #[must_use]
    pub fn standing_in(&self, project: Option<ProjectScope>) -> Self {
        Self { project: project.map(Arc::new), ..self.clone() }
    }

    /// Returns the directory of the project that the handle stands in.
    pub fn project(&self) -> Option<&Path> {
        self.project.as_ref().map(|project| project.top())
    }

    /// Returns the project that the handle stands in.
    pub(crate) fn project_scope(&self) -> Option<Arc<ProjectScope>> {
        self.project.clone()
    }

    /// Returns a handle on another space of the same store.
    #[must_use]
    pub fn in_space(&self, space: SpaceName) -> Self {
        Self { space, opener: None, guard: Arc::default(), ..self.clone() }
    }

    /// Returns a handle on the same space for somebody else, as whom the journal then records what is done.
    #[must_use]
    pub fn acting_as(&self, actor: Actor) -> Self {
        Self { actor, ..self.clone() }
    }

    /// Returns a handle that masks secrets, as a new one does.
    #[must_use]
    pub fn masking(&self) -> Self {
        self.disclosing(Disclosure::Masked, None)
    }

    /// Returns a handle that shows content as it came, as far as this machine can open what was sealed.
    ///
    /// Whoever hands what it reads to somebody says so with [`Contexture::record_reveal`].
    pub async fn exact(&self) -> Result<Self> {
        let opener = secrets::opener(self).await?;
        Ok(self.disclosing(Disclosure::Exact, opener))
    }

    fn disclosing(&self, disclosure: Disclosure, opener: Option<Arc<dyn OpenSealed>>) -> Self {
        // What was read with secrets in it must not be remembered for who may not see them.
        let (remembered_assemblies, remembered_turns) = Default::default();
        Self { disclosure, opener, remembered_assemblies, remembered_turns, ..self.clone() }
    }

    /// Gives the store up where the program ends, which is faster than closing it. What was acknowledged is durable.
    pub fn leave(self) {
        self.store.leave();
    }

    /// Removes the store with everything in it, for good. Nobody else may be using it.
    pub async fn destroy_store(self) -> Result<()> {
        Ok(self.store.destroy().await?)
    }

    /// Returns the tenants of the store.
    pub async fn spaces(&self) -> Result<Vec<spaces::Space>> {
        Ok(self.store.read(self.scope(), (), |tx, ()| spaces::list(tx).boxed()).await?)
    }

    /// Returns the time.
    pub fn now(&self) -> Timestamp {
        (self.clock)()
    }

    /// Returns the store, for the crates that add operations of their own, such as capture. They run jobs of its table
    /// modules under [`Contexture::scope`], as the methods here do.
    pub fn store(&self) -> &Store {
        &self.store
    }

    pub(crate) fn space(&self) -> &SpaceName {
        &self.space
    }

    pub(crate) fn actor(&self) -> &Actor {
        &self.actor
    }

    pub(crate) fn secret_means(&self) -> &SecretMeans {
        &self.secret_means
    }

    pub(crate) fn known_guard(&self) -> Option<Arc<SecretGuard>> {
        self.guard.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn remember_guard(&self, guard: Option<Arc<SecretGuard>>) {
        *self.guard.write().unwrap_or_else(PoisonError::into_inner) = guard;
    }

    /// Returns how much of secrets this handle shows.
    pub fn disclosure(&self) -> Disclosure {
        self.disclosure
    }

    /// Returns what tells those who follow channels that something was said.
    pub(crate) fn channel_news(&self) -> &ChannelNews {
        &self.channel_news
    }

    /// Returns what the handles on the store remember of assemblies.
    pub(crate) fn remembered_assemblies(&self) -> &RememberedAssemblies {
        &self.remembered_assemblies
    }

    /// Returns what the handles on the store remember of turns that were read for assemblies.
    pub(crate) fn remembered_turns(&self) -> &Arc<RememberedTurns> {
        &self.remembered_turns
    }

    /// Returns in whose name and when a job is run.
    pub fn scope(&self) -> Scope {
        let (space, actor) = (self.space.clone(), self.actor.clone());
        Scope { space, actor, now: self.now(), disclosure: self.disclosure, opener: self.opener.clone() }
    }
}
