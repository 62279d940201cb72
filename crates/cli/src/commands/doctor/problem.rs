//! Problems, and what solves them.

use serde::Serialize;

/// What repairs whatever can be repaired.
pub(super) const FIX: &str = "ctx doctor --fix";

/// What was looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Check {
    Store,
    Sessions,
    Hooks,
    Spool,
    Agents,
    Retention,
    Log,
}

impl Check {
    pub(super) fn title(self) -> &'static str {
        match self {
            Self::Store => "store",
            Self::Sessions => "sessions",
            Self::Hooks => "hooks",
            Self::Spool => "spool",
            Self::Agents => "agents",
            Self::Retention => "retention",
            Self::Log => "log",
        }
    }
}

/// How something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    Well,
    Unwell,
    /// It could not be looked at.
    Unknown,
}

/// Something that is not well.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Problem {
    pub(super) check: Check,
    /// What is not well.
    pub(super) what: String,
    /// The command that solves it, or says more.
    pub(super) command: String,
}

impl Problem {
    pub(super) fn new(check: Check, what: impl Into<String>, command: impl Into<String>) -> Self {
        Self { check, what: what.into(), command: command.into() }
    }
}
