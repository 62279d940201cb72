//! The handle through which everything is done.

use std::sync::Arc;

use contexture_core::{Actor, SpaceName, Timestamp};
use contexture_store::{Disclosure, Location, Scope, Store, spaces};
use futures_util::FutureExt as _;
use tracing::{Instrument as _, debug_span};

use crate::{
    Result,
    assemble::{RememberedAssemblies, RememberedTurns},
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
}

/// A handle on one space of a store. Clones share the store.
#[derive(Clone)]
pub struct Contexture {
    pub(crate) store: Store,
    space: SpaceName,
    actor: Actor,
    clock: Clock,
    disclosure: Disclosure,
    remembered_assemblies: Arc<RememberedAssemblies>,
    remembered_turns: Arc<RememberedTurns>,
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
        let Options { location: _, space, actor, clock } = options;
        let (remembered_assemblies, remembered_turns) = Default::default();
        let disclosure = Disclosure::Masked;
        Self { store, space, actor, clock, disclosure, remembered_assemblies, remembered_turns }
    }

    /// Returns a handle on another space of the same store.
    #[must_use]
    pub fn in_space(&self, space: SpaceName) -> Self {
        Self { space, ..self.clone() }
    }

    /// Returns a handle on the same space for somebody else, as whom the journal then records what is done.
    #[must_use]
    pub fn acting_as(&self, actor: Actor) -> Self {
        Self { actor, ..self.clone() }
    }

    /// Returns a handle that shows this much of secrets. A new handle masks them.
    ///
    /// Whoever hands exact content to somebody says so with [`Contexture::record_reveal`].
    #[must_use]
    pub fn disclosing(&self, disclosure: Disclosure) -> Self {
        // What was read with secrets in it must not be remembered for who may not see them.
        let (remembered_assemblies, remembered_turns) = Default::default();
        Self { disclosure, remembered_assemblies, remembered_turns, ..self.clone() }
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

    /// Returns how much of secrets this handle shows.
    pub fn disclosure(&self) -> Disclosure {
        self.disclosure
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
        Scope { space, actor, now: self.now(), disclosure: self.disclosure }
    }
}
