//! Envelopes in a bundle: which go along, how they are written, how they are taken in.

use std::io::Write;

use contexture_core::EnvelopeId;
use contexture_store::{
    Error as StoreError, Scope, Tx,
    commit::{CommitPlace, Inserted},
    envelope::{self, EnvelopeRecord, StoredEnvelope},
    event::{self, Event},
    injection::{self, Injection},
    journal,
    missing::{self, Missing},
};
use futures_util::FutureExt as _;

use super::{
    artifacts::{BundledArtifact, BundledContents},
    export::Writing,
};
use crate::{Contexture, Result, lines::Reach};

/// Rows that are read in one query.
const PAGE_ROWS: u32 = 256;

/// Whether what belongs to no commit goes along.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Loose {
    Included,
    LeftOut,
}

/// Which envelopes go along: those of commits that do, and, if wanted, those of none.
#[derive(Debug, Clone)]
pub(super) struct BundledCoverage {
    reach: Reach,
    loose: Loose,
    /// The last journal record there was when the bundle was begun. What came later does not go along, because whether
    /// there are envelopes was decided then.
    tip: u64,
}

impl BundledCoverage {
    pub(super) async fn new(tx: &mut Tx<'_>, reach: Reach, loose: Loose) -> Result<Self, StoreError> {
        let tip = journal::tip(tx).await?.map_or(0, |(seq, _)| seq);
        Ok(Self { reach, loose, tip })
    }

    /// Tells whether no envelope goes along and nothing that is missing.
    pub(super) async fn is_empty(&self, tx: &mut Tx<'_>) -> Result<bool, StoreError> {
        if self.loose == Loose::Included && !missing::after(tx, None, 0, 1).await?.is_empty() {
            return Ok(false);
        }
        let mut after = 0;
        loop {
            let page = envelope::after(tx, after, PAGE_ROWS).await?;
            let Some((last, _)) = page.last() else {
                return Ok(true);
            };
            after = last.seq;
            if page.iter().any(|(envelope, place)| self.includes(envelope, *place)) {
                return Ok(false);
            }
        }
    }

    /// Adds what the artifacts of the envelopes are like that go along.
    pub(super) async fn add_contents(&self, tx: &mut Tx<'_>, contents: &mut BundledContents) -> Result<(), StoreError> {
        let mut after = 0;
        loop {
            let page = envelope::after(tx, after, PAGE_ROWS).await?;
            let Some((last, _)) = page.last() else {
                return Ok(());
            };
            after = last.seq;
            for (envelope, _) in page.iter().filter(|(envelope, place)| self.includes(envelope, *place)) {
                let mut artifacts = envelope::artifacts(tx, &envelope.id).await?;
                artifacts.push(envelope.document);
                contents.add(tx, &artifacts).await?;
            }
        }
    }

    fn includes(&self, envelope: &StoredEnvelope, place: Option<CommitPlace>) -> bool {
        let belongs = match (envelope.commit, place) {
            (None, _) => self.loose == Loose::Included,
            (Some(_), Some(at)) => self.reach.get(&at.line).is_some_and(|last| at.position <= *last),
            (Some(_), None) => false,
        };
        belongs && envelope.seq <= self.tip
    }
}

impl Contexture {
    /// Writes the envelopes that go along, in the order in which they were made.
    pub(super) async fn export_envelopes<W: Write + Send>(
        &self,
        scope: &Scope,
        coverage: &BundledCoverage,
        bundle: &mut Writing<W>,
    ) -> Result<()> {
        let mut after = 0;
        loop {
            let reading =
                self.store.read(scope.clone(), after, |tx, after| envelope::after(tx, *after, PAGE_ROWS).boxed());
            let page = reading.await?;
            let Some((last, _)) = page.last() else {
                break;
            };
            after = last.seq;
            for (envelope, place) in page {
                if coverage.includes(&envelope, place) {
                    self.export_envelope(scope, envelope, bundle).await?;
                }
            }
        }
        if coverage.loose == Loose::Included {
            self.export_missing(scope, None, bundle).await?;
        }
        Ok(())
    }

    async fn export_envelope<W: Write + Send>(
        &self,
        scope: &Scope,
        stored: StoredEnvelope,
        bundle: &mut Writing<W>,
    ) -> Result<()> {
        let id = stored.id;
        let envelope = stored.with_artifacts(self.envelopes().artifacts(id).await?);
        for artifact in std::iter::once(&envelope.document).chain(&envelope.artifacts) {
            if bundle.seen.insert(*artifact) {
                let reading = self
                    .store
                    .read(scope.clone(), *artifact, |tx, artifact| BundledArtifact::locate(tx, *artifact).boxed());
                bundle.artifact(&self.store, scope, reading.await?).await?;
            }
        }
        bundle.frames.envelope(&envelope)?;
        bundle.summary.envelopes += 1;
        let mut after = 0;
        loop {
            let page = self.envelopes().injections(id, after, PAGE_ROWS).await?;
            let Some(last) = page.last() else {
                break;
            };
            after = last.seq;
            page.iter().try_for_each(|stored| bundle.frames.injection(&stored.injection))?;
        }
        self.export_missing(scope, Some(id), bundle).await?;
        let mut after = 0;
        loop {
            let page = self.envelopes().events(id, after, PAGE_ROWS).await?;
            let Some(last) = page.last() else {
                return Ok(());
            };
            after = last.seq;
            page.iter().try_for_each(|stored| bundle.frames.event(&stored.event))?;
        }
    }

    async fn export_missing<W: Write + Send>(
        &self,
        scope: &Scope,
        envelope: Option<EnvelopeId>,
        bundle: &mut Writing<W>,
    ) -> Result<()> {
        let mut after = 0;
        loop {
            let reading = self.store.read(scope.clone(), (envelope, after), |tx, (envelope, after)| {
                missing::after(tx, envelope.as_ref(), *after, PAGE_ROWS).boxed()
            });
            let page = reading.await?;
            let Some(last) = page.last() else {
                return Ok(());
            };
            after = last.seq;
            page.iter().try_for_each(|stored| bundle.frames.missing(&stored.missing))?;
        }
    }
}

/// An envelope of a bundle, with what belongs to it.
pub(super) struct Kept {
    envelope: EnvelopeRecord,
    pub(super) injections: Vec<Injection>,
    pub(super) missing: Vec<Missing>,
    pub(super) events: Vec<Event>,
}

impl Kept {
    pub(super) fn new(envelope: EnvelopeRecord) -> Self {
        Self { envelope, injections: Vec::new(), missing: Vec::new(), events: Vec::new() }
    }

    pub(super) fn id(&self) -> EnvelopeId {
        self.envelope.id()
    }

    /// Stores what is not here yet. Tells whether the envelope is new.
    pub(super) async fn write(&self, tx: &mut Tx<'_>) -> Result<Inserted, StoreError> {
        let (id, inserted) = envelope::put(tx, &self.envelope).await?;
        for injection in &self.injections {
            injection::put(tx, injection).await?;
        }
        for missing in &self.missing {
            missing::restore(tx, missing).await?;
        }
        event::restore(tx, &id, &self.events).await?;
        Ok(inserted)
    }
}
