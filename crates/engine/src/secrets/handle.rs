//! What can be asked of the secrets of a space, and how its policy is set.

use std::collections::BTreeSet;

use contexture_core::{ArtifactId, CommitId, Fingerprint, RuleId};
use contexture_secrets::UserRules;
use contexture_store::{
    commit::LineSegment,
    finding::{self, FoundSecret},
    secret_policy,
};
use futures_util::FutureExt as _;
use tracing::{Instrument as _, debug_span};

use super::{
    policy::{SecretPolicy, SecretTreatment},
    seal::{SealKey, SealRecipient},
};
use crate::{Contexture, Error, Result, Stop};

/// A handle on the secrets of one space. It costs nothing to make.
#[derive(Clone, Copy)]
pub struct Secrets<'e> {
    pub(super) engine: &'e Contexture,
}

impl Contexture {
    /// Returns the handle on what was found secret in the space.
    pub fn secrets(&self) -> Secrets<'_> {
        Secrets { engine: self }
    }
}

impl Secrets<'_> {
    /// Returns how secrets are treated, and the space's own rules.
    pub async fn policy(&self) -> Result<(SecretTreatment, Option<String>)> {
        let policy = self.stored().await?;
        Ok(policy.map_or((SecretTreatment::Mark, None), |policy| (policy.treatment, policy.rules)))
    }

    /// Has secrets marked from now on: bytes stay exact.
    ///
    /// The key of fingerprints is a new one if secrets were sealed before, because the other must not lie in the store.
    pub async fn mark(&self) -> Result<()> {
        self.set(|policy| match policy.treatment {
            SecretTreatment::Mark => policy,
            SecretTreatment::Seal { .. } => {
                let rules = policy.rules;
                SecretPolicy { rules, ..SecretPolicy::marking(&self.engine.secret_means().entropy) }
            }
        })
        .await
    }

    /// Has secrets sealed from now on to whoever has a key.
    pub async fn seal(&self, recipient: SealRecipient) -> Result<()> {
        let treatment = SecretTreatment::Seal { recipient };
        self.set(|policy| SecretPolicy { treatment, fingerprint_key: None, ..policy }).await
    }

    /// Gives the space rules of its own, or takes them away.
    pub async fn set_rules(&self, rules: Option<String>) -> Result<()> {
        if let Some(rules) = &rules {
            UserRules::parse(rules).map_err(Error::SecretRules)?;
        }
        self.set(|policy| SecretPolicy { rules, ..policy }).await
    }

    /// Makes a key to which a space can seal.
    pub fn generate_key(&self) -> SealKey {
        SealKey::generate(&self.engine.secret_means().entropy)
    }

    /// Returns up to `limit` secrets after a fingerprint, in the order of the fingerprints.
    pub async fn list(&self, after: Option<Fingerprint>, limit: u32) -> Result<Vec<FoundSecret>> {
        let engine = self.engine;
        let listing = engine
            .store
            .read(engine.scope(), (after, limit), |tx, (after, limit)| finding::secrets(tx, *after, *limit).boxed());
        Ok(listing.await?)
    }

    /// Returns how many different secrets are in what a commit materializes to, down to a stop.
    pub async fn in_chain(&self, commit: CommitId, stop: Stop) -> Result<u64> {
        let engine = self.engine;
        let route = engine.route(commit, stop).await?;
        let segments: Vec<LineSegment> = route.segments.into();
        let counting = engine.store.read(engine.scope(), segments, |tx, segments| {
            async move {
                let mut found = BTreeSet::new();
                for segment in segments {
                    found.extend(finding::fingerprints_in(tx, *segment).await?);
                }
                Ok(found.len() as u64)
            }
            .boxed()
        });
        counting.await
    }

    /// Returns how many different secrets are in an artifact.
    pub async fn in_artifact(&self, id: ArtifactId) -> Result<u64> {
        let engine = self.engine;
        let found = engine.store.read(engine.scope(), id, |tx, id| finding::of(tx, id).boxed()).await?;
        Ok(found.iter().map(|finding| finding.fingerprint).collect::<BTreeSet<_>>().len() as u64)
    }

    /// Returns the secrets in a text, each as it would be fingerprinted in content; a text without any is taken for one.
    pub async fn fingerprints_of(&self, text: &[u8]) -> Result<Vec<(Option<RuleId>, Fingerprint)>> {
        let guard = self.engine.guard().await?;
        let spans = guard.scanner.scan(text);
        if spans.is_empty() {
            return Ok(vec![(None, guard.fingerprint(text))]);
        }
        let named = |span| (guard.scanner.value(text, span), span.rule.clone());
        Ok(spans.iter().map(named).map(|(value, rule)| (Some(rule), guard.fingerprint(&value))).collect())
    }

    async fn stored(&self) -> Result<Option<SecretPolicy>> {
        let engine = self.engine;
        let stored = engine.store.read(engine.scope(), (), |tx, ()| secret_policy::find(tx).boxed()).await?;
        stored.map(|stored| SecretPolicy::from_json(&stored.document)).transpose()
    }

    async fn set(&self, change: impl FnOnce(SecretPolicy) -> SecretPolicy) -> Result<()> {
        let engine = self.engine;
        let before = self.stored().await?;
        let before = before.unwrap_or_else(|| SecretPolicy::marking(&engine.secret_means().entropy));
        let policy = change(before);
        let word = policy.treatment.as_str();
        let setting = engine.store.write(engine.scope(), (word, policy.to_json()?), |tx, (word, document)| {
            async move { secret_policy::set(tx, word, document).await.map(drop) }.boxed()
        });
        let set: contexture_store::Result<()> = setting.instrument(debug_span!("set_secret_policy")).await;
        engine.forget_guard();
        Ok(set?)
    }
}
