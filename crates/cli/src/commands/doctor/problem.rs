//! Problems, and what solves them.

pub(super) use contexture::wire::{HealthCheck as Check, HealthProblem as Problem};

/// What repairs whatever can be repaired.
pub(super) const FIX: &str = "ctx doctor --fix";

/// How something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    Well,
    Unwell,
    /// It could not be looked at.
    Unknown,
}
