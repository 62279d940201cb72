//! Sealing: what is taken out of content is encrypted to the key of a space, so that only its holders see it again.
//!
//! A patch is a sealed box (X25519, XSalsa20-Poly1305) around the artifact's id and what stood where placeholders stand.

use std::{fmt, str::FromStr, sync::Arc};

use contexture_core::{ArtifactId, ByteReplacement};
use contexture_store::OpenSealed;
use crypto_box::{
    PublicKey, SecretKey,
    aead::rand_core::{self, CryptoRng, RngCore},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Entropy;

/// Separates the key of fingerprints from every other use of a sealing key.
const FINGERPRINT_CONTEXT: &str = "contexture fingerprints of a sealed space v1";

/// To whom secrets are sealed: the public half of the key of a space.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(into = "String", try_from = "String")]
#[schemars(with = "String", extend("pattern" = "^[0-9a-f]{64}$"))]
pub struct SealRecipient([u8; 32]);

/// What a machine knows of the key of a sealed space: who stores content needs its writing part, who sees the originals
/// all of it.
#[derive(Clone)]
pub struct SealKey {
    recipient: SealRecipient,
    fingerprints: [u8; 32],
    opening: Option<[u8; 32]>,
}

/// Says why a text is no sealing key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SealKeyError {
    /// A line is missing.
    #[error("the key has no line {0:?}")]
    Missing(&'static str),
    /// A line is not understood.
    #[error("line {0} of the key is not NAME = and 64 hex digits, where NAME is recipient, fingerprints or opening")]
    Line(usize),
    /// Its halves do not belong together.
    #[error("the opening line of the key does not belong to its recipient")]
    Mismatch,
}

impl SealKey {
    /// Makes a new key.
    pub fn generate(entropy: &Entropy) -> Self {
        let mut opening = [0; 32];
        entropy(&mut opening);
        let recipient = SealRecipient(*SecretKey::from_bytes(opening).public_key().as_bytes());
        Self { recipient, fingerprints: blake3::derive_key(FINGERPRINT_CONTEXT, &opening), opening: Some(opening) }
    }

    /// Returns to whom it seals.
    pub fn recipient(&self) -> SealRecipient {
        self.recipient
    }

    /// Returns the part with which content can be stored and nothing opened.
    #[must_use]
    pub fn writing_part(&self) -> Self {
        Self { opening: None, ..self.clone() }
    }

    /// Tells whether it opens what was sealed.
    pub fn can_open(&self) -> bool {
        self.opening.is_some()
    }

    pub(super) fn fingerprint_key(&self) -> [u8; 32] {
        self.fingerprints
    }

    /// Returns the text that is kept in a file.
    pub fn to_text(&self) -> String {
        let line = |name: &str, bytes: &[u8; 32]| format!("{name} = {}\n", hex::encode(bytes));
        let opening = self.opening.map(|opening| line("opening", &opening)).unwrap_or_default();
        format!("{}{}{opening}", line("recipient", &self.recipient.0), line("fingerprints", &self.fingerprints))
    }

    /// Encrypts what was taken out of an artifact.
    pub(super) fn seal(&self, artifact: &ArtifactId, originals: &[ByteReplacement], entropy: &Entropy) -> Vec<u8> {
        let mut message = artifact.as_bytes().to_vec();
        for original in originals {
            for number in [original.start, original.length, original.bytes.len() as u64] {
                message.extend_from_slice(&number.to_le_bytes());
            }
            message.extend_from_slice(&original.bytes);
        }
        let sealed = PublicKey::from_bytes(self.recipient.0).seal(&mut OneTimeKey(entropy), &message);
        sealed.expect("a message in memory is short enough to be encrypted")
    }

    /// Decrypts what was taken out of an artifact; nothing when it was sealed to somebody else or altered.
    fn unseal(&self, artifact: &ArtifactId, patch: &[u8]) -> Option<Vec<ByteReplacement>> {
        let message = SecretKey::from_bytes(self.opening?).unseal(patch).ok()?;
        let mut rest = message.strip_prefix(artifact.as_bytes().as_slice())?;
        let mut originals = Vec::new();
        while !rest.is_empty() {
            let mut numbers = [0; 3];
            for number in &mut numbers {
                let (bytes, after) = rest.split_first_chunk::<8>()?;
                (*number, rest) = (u64::from_le_bytes(*bytes), after);
            }
            let [start, length, size] = numbers;
            let (bytes, after) = rest.split_at_checked(usize::try_from(size).ok()?)?;
            originals.push(ByteReplacement { start, length, bytes: bytes.to_vec() });
            rest = after;
        }
        Some(originals)
    }
}

/// What is left of a patch from which something was taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ReducedPatch {
    /// It does not hold it.
    Same,
    /// It was there, and this is the patch without it.
    Less(Vec<u8>),
    /// Nothing else was in it.
    Empty,
}

impl SealKey {
    /// Takes out of a patch what was at some places of the artifact. Fails when the patch cannot be opened.
    pub(crate) fn reduce(
        &self,
        artifact: &ArtifactId,
        patch: &[u8],
        places: &[u64],
        entropy: &Entropy,
    ) -> Option<ReducedPatch> {
        let mut originals = self.unseal(artifact, patch)?;
        let before = originals.len();
        originals.retain(|original| !places.contains(&original.start));
        Some(match originals.len() {
            count if count == before => ReducedPatch::Same,
            0 => ReducedPatch::Empty,
            _ => ReducedPatch::Less(self.seal(artifact, &originals, entropy)),
        })
    }
}

impl OpenSealed for SealKey {
    fn open(&self, artifact: &ArtifactId, patch: &[u8]) -> Option<Vec<ByteReplacement>> {
        self.unseal(artifact, patch)
    }
}

/// Returns what opens the content of a space, if a key does.
pub(super) fn opener(key: Option<&SealKey>) -> Option<Arc<dyn OpenSealed>> {
    let key = key.filter(|key| key.can_open())?;
    Some(Arc::new(key.clone()))
}

impl fmt::Debug for SealKey {
    /// Shows nothing that must be kept secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SealKey").field("recipient", &self.recipient).finish_non_exhaustive()
    }
}

impl FromStr for SealKey {
    type Err = SealKeyError;

    fn from_str(text: &str) -> Result<Self, SealKeyError> {
        let (mut recipient, mut fingerprints, mut opening) = (None, None, None);
        for (number, line) in (1..).zip(text.lines()) {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let (name, value) = line.split_once('=').ok_or(SealKeyError::Line(number))?;
            let mut bytes = [0; 32];
            hex::decode_to_slice(value.trim(), &mut bytes).map_err(|_| SealKeyError::Line(number))?;
            let place = match name.trim() {
                "recipient" => &mut recipient,
                "fingerprints" => &mut fingerprints,
                "opening" => &mut opening,
                _ => return Err(SealKeyError::Line(number)),
            };
            *place = Some(bytes);
        }
        let recipient = SealRecipient(recipient.ok_or(SealKeyError::Missing("recipient"))?);
        let fingerprints = fingerprints.ok_or(SealKeyError::Missing("fingerprints"))?;
        let belongs = |opening: [u8; 32]| SecretKey::from_bytes(opening).public_key().as_bytes() == &recipient.0;
        if opening.is_some_and(|opening| !belongs(opening)) {
            return Err(SealKeyError::Mismatch);
        }
        Ok(Self { recipient, fingerprints, opening })
    }
}

impl SealRecipient {
    /// Returns the first digits, by which people tell keys apart.
    pub fn short(&self) -> String {
        self.to_string().chars().take(16).collect()
    }
}

impl fmt::Display for SealRecipient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

impl fmt::Debug for SealRecipient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl TryFrom<String> for SealRecipient {
    type Error = hex::FromHexError;

    fn try_from(text: String) -> Result<Self, hex::FromHexError> {
        let mut bytes = [0; 32];
        hex::decode_to_slice(text, &mut bytes)?;
        Ok(Self(bytes))
    }
}

impl From<SealRecipient> for String {
    fn from(recipient: SealRecipient) -> Self {
        recipient.to_string()
    }
}

/// Gives the cipher the random bytes that it asks for.
struct OneTimeKey<'e>(&'e Entropy);

impl RngCore for OneTimeKey<'_> {
    fn next_u32(&mut self) -> u32 {
        rand_core::impls::next_u32_via_fill(self)
    }

    fn next_u64(&mut self) -> u64 {
        rand_core::impls::next_u64_via_fill(self)
    }

    fn fill_bytes(&mut self, bytes: &mut [u8]) {
        for part in bytes.chunks_mut(32) {
            let mut drawn = [0; 32];
            (self.0)(&mut drawn);
            part.copy_from_slice(&drawn[..part.len()]);
        }
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), rand_core::Error> {
        self.fill_bytes(bytes);
        Ok(())
    }
}

impl CryptoRng for OneTimeKey<'_> {}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;

    fn entropy(seed: u8) -> Entropy {
        Arc::new(move |bytes| bytes.fill(seed))
    }

    fn replacement((start, length, bytes): (u64, u64, Vec<u8>)) -> ByteReplacement {
        ByteReplacement { start, length, bytes }
    }

    proptest! {
        #[test]
        fn what_was_sealed_comes_back_to_who_has_the_key(
            parts in vec((any::<u64>(), any::<u64>(), vec(any::<u8>(), 0..50)), 0..5), altered: prop::sample::Index,
        ) {
            let key = SealKey::generate(&entropy(1));
            let originals: Vec<ByteReplacement> = parts.into_iter().map(replacement).collect();
            let artifact = ArtifactId::of(b"masked");
            let mut patch = key.writing_part().seal(&artifact, &originals, &entropy(2));
            prop_assert_eq!(key.open(&artifact, &patch), Some(originals));
            prop_assert_eq!(key.writing_part().open(&artifact, &patch), None);
            prop_assert_eq!(SealKey::generate(&entropy(3)).open(&artifact, &patch), None);
            prop_assert_eq!(key.open(&ArtifactId::of(b"another"), &patch), None);
            let at = altered.index(patch.len());
            patch[at] ^= 1;
            prop_assert_eq!(key.open(&artifact, &patch), None);
        }
    }

    #[test]
    fn a_key_is_read_back_from_its_text() {
        let key = SealKey::generate(&entropy(1));
        for (key, opens) in [(key.clone(), true), (key.writing_part(), false)] {
            let again: SealKey = format!("# of a team\n\n{}", key.to_text()).parse().unwrap();
            assert_eq!((again.to_text(), again.can_open()), (key.to_text(), opens));
        }
        let debug = format!("{key:?}");
        assert!(!debug.contains(&hex::encode([1; 32])) && debug.contains(&key.recipient().to_string()));
    }

    #[test]
    fn a_text_that_is_no_key_is_refused_by_line() {
        let text = SealKey::generate(&entropy(1)).to_text();
        let other = SealKey::generate(&entropy(2)).to_text();
        let mixed = [text.lines().next().unwrap(), other.lines().nth(1).unwrap(), other.lines().nth(2).unwrap()];
        assert_eq!("".parse::<SealKey>().unwrap_err(), SealKeyError::Missing("recipient"));
        assert_eq!("recipient = 12".parse::<SealKey>().unwrap_err(), SealKeyError::Line(1));
        assert_eq!(mixed.join("\n").parse::<SealKey>().unwrap_err(), SealKeyError::Mismatch);
    }
}
