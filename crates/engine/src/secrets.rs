//! Secrets in what is stored: they are found on the way in, and shown to nobody who does not ask for exact bytes.

mod guard;
mod handle;
mod marker;
mod places;
mod policy;
mod scan;
mod screened_reader;
mod seal;

use std::sync::{Arc, OnceLock, atomic::AtomicBool};

use contexture_core::FingerprintKey;
use contexture_secrets::{Scanner, UserRules};
use contexture_store::{
    OpenSealed,
    secret_policy::{self, StoredPolicy},
};
use futures_util::FutureExt as _;

pub use guard::{ScreenedContent, SecretGuard, SecretRecord};
pub use handle::Secrets;
pub(crate) use marker::SecretMarker;
pub use places::{Reveal, SecretCommit, SecretPlaces};
pub use policy::{SecretPolicy, SecretTreatment};
pub use scan::ScannedSecrets;
pub(crate) use screened_reader::ScreenedReader;
pub(crate) use seal::ReducedPatch;
pub use seal::{SealKey, SealKeyError, SealRecipient};

use crate::{Contexture, Error, Result};

/// Fills 32 bytes with what nobody can guess. The library never makes random numbers of its own.
pub type Entropy = Arc<dyn Fn(&mut [u8; 32]) + Send + Sync>;

/// Looks for the key of a sealed space on this machine.
pub type Keyring = Arc<dyn Fn(&SealRecipient) -> Option<SealKey> + Send + Sync>;

/// What a program gives the library for secrets.
#[derive(Clone)]
pub struct SecretMeans {
    /// What keys are made with.
    pub entropy: Entropy,
    /// Where the keys of sealed spaces are.
    pub keyring: Keyring,
}

impl SecretMeans {
    /// Returns the means of a program that has no keys of sealed spaces.
    pub fn without_keys(entropy: impl Fn(&mut [u8; 32]) + Send + Sync + 'static) -> Self {
        Self { entropy: Arc::new(entropy), keyring: Arc::new(|_| None) }
    }
}

impl Contexture {
    /// Returns what looks through content before it is stored in the space.
    ///
    /// Fails when the space seals secrets and this machine has no key of it.
    pub async fn guard(&self) -> Result<Arc<SecretGuard>> {
        if let Some(guard) = self.known_guard() {
            return Ok(guard);
        }
        let stored = self.store.glance(self.scope(), (), |tx, ()| secret_policy::find(tx).boxed()).await?;
        let guard = Arc::new(self.make_guard(stored)?);
        self.remember_guard(Some(Arc::clone(&guard)));
        Ok(guard)
    }

    /// Keeps the policy that came about when the first secret was masked, where nothing else is stored with it.
    pub(crate) async fn settle_guard(&self, guard: &Arc<SecretGuard>) -> Result<()> {
        if guard.seq.is_some() || !guard.is_used() {
            return Ok(());
        }
        let settling = self.store.write(self.scope(), Arc::clone(guard), |tx, guard| guard.settle(tx).boxed());
        self.heeding_policy(settling).await
    }

    /// Has the next one that stores something read the policy again.
    pub fn forget_guard(&self) {
        self.remember_guard(None);
    }

    /// Returns what storing came to. A guard that was not made for the policy as it is now is not used again.
    pub async fn heeding_policy<T>(&self, storing: impl Future<Output = Result<T>>) -> Result<T> {
        let stored = storing.await;
        let is_first = self.known_guard().is_some_and(|guard| guard.seq.is_none() && guard.is_used());
        if is_first || matches!(stored, Err(Error::PolicyChanged)) {
            self.remember_guard(None);
        }
        stored
    }

    fn make_guard(&self, stored: Option<StoredPolicy>) -> Result<SecretGuard> {
        let entropy = Arc::clone(&self.secret_means().entropy);
        let (seq, policy) = match stored {
            Some(StoredPolicy { seq, document }) => (Some(seq), SecretPolicy::from_json(&document)?),
            None => (None, SecretPolicy::marking(&entropy)),
        };
        let seal = match policy.treatment {
            SecretTreatment::Mark => None,
            SecretTreatment::Seal { recipient } => {
                Some((self.secret_means().keyring)(&recipient).ok_or(Error::NoSealKey { recipient })?)
            }
        };
        let key = policy.fingerprint_key(seal.as_ref());
        let scanner = match &policy.rules {
            None => common_scanner(),
            Some(rules) => Arc::new(Scanner::with_rules(&UserRules::parse(rules).map_err(Error::SecretRules)?)),
        };
        let key = FingerprintKey::derive(&key);
        let source = self.source();
        Ok(SecretGuard { scanner, seq, policy, key, seal, entropy, source, is_used: AtomicBool::new(false) })
    }
}

/// Returns the scanner without rules of anybody's own, which is made once.
fn common_scanner() -> Arc<Scanner> {
    static COMMON: OnceLock<Arc<Scanner>> = OnceLock::new();
    Arc::clone(COMMON.get_or_init(|| Arc::new(Scanner::new())))
}

/// Returns what opens the sealed content of a handle's space, where this machine has the key.
pub(crate) async fn opener(engine: &Contexture) -> Result<Option<Arc<dyn OpenSealed>>> {
    Ok(seal::opener(seal_key(engine).await?.as_ref()))
}

/// Returns what this machine has of the key of a sealed space.
pub(crate) async fn seal_key(engine: &Contexture) -> Result<Option<SealKey>> {
    let stored = engine.store.glance(engine.scope(), (), |tx, ()| secret_policy::find(tx).boxed()).await?;
    let Some(StoredPolicy { document, .. }) = stored else { return Ok(None) };
    Ok(match SecretPolicy::from_json(&document)?.treatment {
        SecretTreatment::Mark => None,
        SecretTreatment::Seal { recipient } => (engine.secret_means().keyring)(&recipient),
    })
}
