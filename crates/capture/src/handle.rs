//! The handle through which sessions are taken in and written.

use contexture::Contexture;

/// A handle on the sessions of one space of a store. It costs nothing to make.
#[derive(Clone, Copy)]
pub struct Capture<'e> {
    pub(crate) engine: &'e Contexture,
}

impl<'e> Capture<'e> {
    /// Takes sessions into the space of an engine, and out of it.
    pub fn new(engine: &'e Contexture) -> Self {
        Self { engine }
    }
}
