//! Finding secrets in content that stays as it is, of any size.

use std::sync::Arc;

use contexture_core::SecretFinding;
use contexture_formats::Concatenation;
use contexture_secrets::{Piece, Scanner, StreamScanner};

use super::guard::{SecretGuard, cover};

/// Finds secrets in content that comes piece by piece.
pub(crate) struct SecretMarker {
    guard: Arc<SecretGuard>,
    scanner: StreamScanner<Arc<Scanner>>,
    /// How the content is joined, guessed from its first byte.
    rule: Option<Concatenation>,
    findings: Vec<SecretFinding>,
}

impl SecretMarker {
    pub(crate) fn new(guard: &Arc<SecretGuard>) -> Self {
        let scanner = StreamScanner::new(Arc::clone(&guard.scanner));
        Self { guard: Arc::clone(guard), scanner, rule: None, findings: Vec::new() }
    }

    /// Looks through the next bytes.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        let Some(first) = bytes.first() else { return };
        // Where strings say how long they are, as they do in CBOR, nothing may become longer; text begins otherwise.
        let guess = || if (0x80..0xC0).contains(first) { Concatenation::CborArray } else { Concatenation::Bytes };
        let rule = *self.rule.get_or_insert_with(guess);
        self.scanner.push(bytes, &mut |piece| note(&self.guard, rule, &piece, &mut self.findings));
    }

    /// Returns what was found, in the order of the places.
    pub(crate) fn finish(mut self) -> Vec<SecretFinding> {
        let rule = self.rule.unwrap_or(Concatenation::Bytes);
        self.scanner.finish(&mut |piece| note(&self.guard, rule, &piece, &mut self.findings));
        self.findings
    }
}

fn note(guard: &SecretGuard, rule: Concatenation, piece: &Piece<'_>, findings: &mut Vec<SecretFinding>) {
    if let Piece::Secret(secret) = piece {
        findings.push(SecretFinding {
            start: secret.offset,
            length: secret.raw.len() as u64,
            rule: secret.rule.clone(),
            fingerprint: guard.fingerprint(&secret.value()),
            cover: cover(rule),
        });
    }
}
