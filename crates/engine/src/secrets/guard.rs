//! The guard: looks through what is about to be stored, and says what is stored of it.

use std::{
    borrow::Cow,
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use contexture_core::{
    Annotation, ArtifactId, ByteReplacement, EventKind, Fingerprint, FingerprintKey, SecretCover, SecretFinding,
    SummaryText,
};
use contexture_formats::Concatenation;
use contexture_secrets::{Scanner, SecretSpan};
use contexture_store::{Tx, artifact, event as store_event, finding, secret_policy};

use super::{Entropy, policy::SecretPolicy, seal::SealKey};
use crate::{
    Error, Result,
    assemble::{
        event::{self, EventData, EventDraft},
        masked,
    },
};

/// Finds secrets in what comes into a space, and treats them as the space says.
///
/// It is made for one state of the space's policy; whoever stores what it has screened makes sure, in the same
/// transaction, that this is still the policy.
pub struct SecretGuard {
    pub(super) scanner: Arc<Scanner>,
    /// The record of the journal that tells of the policy. Before the first secret is found there is none.
    pub(super) seq: Option<u64>,
    /// The policy, or the one that the first secret brings about.
    pub(super) policy: SecretPolicy,
    /// What fingerprints are made with.
    pub(super) key: FingerprintKey,
    /// To whom secrets are sealed, where they are.
    pub(super) seal: Option<SealKey>,
    pub(super) entropy: Entropy,
    /// Who events say that they come from.
    pub(super) source: String,
    /// Whether a fingerprint was made, so that the policy must be kept with the key.
    pub(super) is_used: AtomicBool,
}

/// Content that was looked through, ready to be stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScreenedContent {
    /// What is stored.
    pub bytes: Vec<u8>,
    /// What was found in it.
    pub record: SecretRecord,
}

/// What is stored beside content in which secrets were found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SecretRecord {
    /// Where they are in what is stored.
    pub findings: Vec<SecretFinding>,
    /// What was taken out, where it was.
    pub originals: Vec<ByteReplacement>,
}

impl SecretGuard {
    /// Looks through content of a format.
    pub fn screen(&self, bytes: Vec<u8>, rule: Concatenation) -> ScreenedContent {
        let spans = self.scanner.scan(&bytes);
        if spans.is_empty() {
            return ScreenedContent { bytes, record: SecretRecord::default() };
        }
        let found = self.findings(&bytes, &spans, cover(rule));
        if self.seal.is_none() {
            return ScreenedContent { bytes, record: SecretRecord { findings: found, originals: Vec::new() } };
        }
        let mut record = SecretRecord::default();
        let mut masked = Vec::with_capacity(bytes.len());
        let mut copied = 0;
        for (span, finding) in spans.iter().zip(found) {
            masked.extend_from_slice(&bytes[copied..span.start]);
            record.take_out(masked.len() as u64, finding, bytes[span.start..span.end()].to_vec());
            masked.extend_from_slice(record.last_placeholder().as_bytes());
            copied = span.end();
        }
        masked.extend_from_slice(&bytes[copied..]);
        ScreenedContent { bytes: masked, record }
    }

    /// Returns a text with placeholders for the secrets in it.
    pub fn mask<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let spans = self.scanner.scan(text.as_bytes());
        if spans.is_empty() {
            return Cow::Borrowed(text);
        }
        let mut masked = String::with_capacity(text.len());
        let mut copied = 0;
        for (span, finding) in spans.iter().zip(self.findings(text.as_bytes(), &spans, SecretCover::Named)) {
            masked.push_str(&text[copied..span.start]);
            masked.push_str(&finding.placeholder());
            copied = span.end();
        }
        masked.push_str(&text[copied..]);
        Cow::Owned(masked)
    }

    /// Returns what is stored of a text that is kept beside content and shown to nobody.
    pub fn stored_text(&self, text: String) -> String {
        if self.seal.is_none() { text } else { self.mask(&text).into_owned() }
    }

    /// Returns what is said about a commit with placeholders for the secrets in it: it is shown everywhere, and the
    /// content that it may have come from is kept elsewhere.
    pub fn mask_annotation(&self, annotation: Annotation) -> Result<Annotation> {
        let masked = |text: SummaryText| -> Result<SummaryText> {
            Ok(match self.mask(text.as_str()) {
                Cow::Borrowed(_) => text,
                Cow::Owned(masked) => SummaryText::new(masked)?,
            })
        };
        Ok(match annotation {
            Annotation::Summary { text } => Annotation::Summary { text: masked(text)? },
            Annotation::Label { key, value } => Annotation::Label { key, value: masked(value)? },
            Annotation::Coverage { mut coverage } => {
                for loss in &mut coverage.losses {
                    *loss = masked(loss.clone())?;
                }
                Annotation::Coverage { coverage }
            }
            other @ (Annotation::Tag { .. } | Annotation::Untag { .. }) => other,
        })
    }

    /// Masks all that is said of a commit.
    pub fn mask_annotations(&self, annotations: Vec<Annotation>) -> Result<Vec<Annotation>> {
        annotations.into_iter().map(|annotation| self.mask_annotation(annotation)).collect()
    }

    /// Makes sure, where something is stored, that it was screened by the policy of the space, and keeps the policy with
    /// its key when fingerprints were made with it for the first time.
    pub async fn settle(&self, tx: &mut Tx<'_>) -> Result<()> {
        let current = secret_policy::current(tx).await?;
        if current == self.seq {
            if current.is_none() && self.is_used() {
                secret_policy::set(tx, self.policy.treatment.as_str(), &self.policy.to_json()?).await?;
            }
            return Ok(());
        }
        // Many that began without a policy may have come to store what they found at the same time.
        match secret_policy::find(tx).await? {
            Some(stored) if self.seq.is_none() && stored.document == self.policy.to_json()? => Ok(()),
            Some(_) | None => Err(Error::PolicyChanged),
        }
    }

    /// Stores what was found in an artifact that is stored, and what was taken out of it.
    pub async fn keep(&self, tx: &mut Tx<'_>, id: &ArtifactId, record: &SecretRecord) -> Result<()> {
        if record.is_empty() {
            return Ok(());
        }
        self.keep_findings(tx, id, &record.findings).await?;
        if let Some(key) = self.seal.as_ref().filter(|_| !record.originals.is_empty()) {
            artifact::keep_original(tx, id, &key.seal(id, &record.originals, &self.entropy)).await?;
        }
        Ok(())
    }

    /// Stores what was found in an artifact, and tells of it as the Agent Context standard does. Returns how many findings
    /// are new.
    pub(crate) async fn keep_findings(
        &self,
        tx: &mut Tx<'_>,
        id: &ArtifactId,
        findings: &[SecretFinding],
    ) -> Result<u64> {
        let new = finding::add(tx, id, findings).await?;
        if new > 0 {
            let data = EventData::Secrets {
                redaction: masked::by_placeholders(),
                secrets: findings.iter().map(|finding| (&finding.rule, finding.fingerprint)).collect(),
                places: findings.len(),
            };
            let correlation = BTreeMap::new();
            let draft =
                EventDraft { source: self.source.clone(), at: tx.now(), envelope: None, correlation: &correlation };
            let applied = draft.event(EventKind::RedactionApplied, &id.to_string(), &data)?;
            store_event::append(tx, &[event::stored(applied)]).await?;
        }
        Ok(new)
    }

    /// Names what was found.
    pub(super) fn findings(&self, bytes: &[u8], spans: &[SecretSpan], cover: SecretCover) -> Vec<SecretFinding> {
        let finding = |span: &SecretSpan| SecretFinding {
            start: span.start as u64,
            length: span.length as u64,
            rule: span.rule.clone(),
            fingerprint: self.fingerprint(&self.scanner.value(bytes, span)),
            cover,
        };
        spans.iter().map(finding).collect()
    }

    /// Tells whether fingerprints were made with its key.
    pub(super) fn is_used(&self) -> bool {
        self.is_used.load(Ordering::Relaxed)
    }

    /// Names a secret by its value.
    pub(super) fn fingerprint(&self, value: &[u8]) -> Fingerprint {
        self.is_used.store(true, Ordering::Relaxed);
        Fingerprint::of(&self.key, value)
    }
}

impl SecretRecord {
    /// Tells whether nothing was found.
    pub fn is_empty(&self) -> bool {
        self.findings.is_empty()
    }

    /// Notes that a placeholder stands, at a place of what is stored, where a secret was.
    pub(super) fn take_out(&mut self, start: u64, found: SecretFinding, original: Vec<u8>) {
        let length = found.placeholder().len() as u64;
        self.originals.push(ByteReplacement { start, length, bytes: original });
        self.findings.push(SecretFinding { start, length, ..found });
    }

    pub(super) fn last_placeholder(&self) -> String {
        self.findings.last().map(SecretFinding::placeholder).unwrap_or_default()
    }
}

/// Says what may stand in the place of a secret in content that is joined by a rule.
pub(super) fn cover(rule: Concatenation) -> SecretCover {
    match rule {
        // Its strings say how long they are.
        Concatenation::CborArray => SecretCover::Sized,
        Concatenation::Lines | Concatenation::Bytes | Concatenation::JsonArray => SecretCover::Named,
    }
}
