//! Content with placeholders in it.

use std::borrow::Cow;

use crate::{Fingerprint, FingerprintKey, Placeholder, Scanner, SecretSpan, escape};

impl SecretSpan {
    /// Returns what stands for the secret in content that is shown.
    pub fn placeholder(&self, bytes: &[u8], key: &FingerprintKey) -> Placeholder {
        let value = escape::plain(&bytes[self.start..self.end()]);
        Placeholder { rule: self.rule.clone(), fingerprint: Fingerprint::of(key, &value) }
    }
}

impl Scanner {
    /// Returns the content with a placeholder for every secret.
    pub fn mask<'b>(&self, bytes: &'b [u8], key: &FingerprintKey) -> Cow<'b, [u8]> {
        masked(bytes, &self.scan(bytes), key)
    }
}

/// Returns the content with a placeholder for each of these spans, which are in order and do not overlap.
pub fn masked<'b>(bytes: &'b [u8], spans: &[SecretSpan], key: &FingerprintKey) -> Cow<'b, [u8]> {
    if spans.is_empty() {
        return Cow::Borrowed(bytes);
    }
    let mut masked = Vec::with_capacity(bytes.len());
    let mut at = 0;
    for span in spans {
        masked.extend_from_slice(&bytes[at..span.start]);
        masked.extend_from_slice(span.placeholder(bytes, key).to_string().as_bytes());
        at = span.end();
    }
    masked.extend_from_slice(&bytes[at..]);
    Cow::Owned(masked)
}
