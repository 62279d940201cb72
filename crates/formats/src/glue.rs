//! Bytes that joining adds of its own.

use std::{fmt, ops::Deref};

/// At most nine bytes that no part holds: a line feed, a comma, a CBOR head, brackets.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Glue {
    bytes: [u8; Self::MAX],
    len: usize,
}

impl Glue {
    /// The longest CBOR head.
    const MAX: usize = 9;

    /// No bytes.
    pub(crate) const NONE: Self = Self { bytes: [0; Self::MAX], len: 0 };

    /// Takes up to nine bytes.
    pub(crate) fn new(bytes: &[u8]) -> Self {
        let mut glue = Self { len: bytes.len(), ..Self::NONE };
        glue.bytes[..bytes.len()].copy_from_slice(bytes);
        glue
    }
}

impl Deref for Glue {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

impl fmt::Debug for Glue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}
