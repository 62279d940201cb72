//! What the exit code of the program says.

use std::process::ExitCode;

use contexture::ErrorCode;

/// How a run of the program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// It was done.
    Done,
    /// It could not be done.
    Failed,
    /// It was not understood.
    Usage,
    /// Somebody else was faster: read again and retry.
    Conflict,
    /// The store is damaged.
    Damaged,
    /// A program that was run ended so.
    Passed(u8),
}

impl Exit {
    /// Returns how the program ends after such a failure.
    pub(super) fn of(code: ErrorCode) -> Self {
        match code {
            ErrorCode::BadData
            | ErrorCode::BadLines
            | ErrorCode::BadFingerprint
            | ErrorCode::BadName
            | ErrorCode::BadPacks
            | ErrorCode::BadQuery
            | ErrorCode::BadRecipe
            | ErrorCode::BadReference
            | ErrorCode::BadSecretRules
            | ErrorCode::BadStore
            | ErrorCode::BadTime
            | ErrorCode::JsonBesideContent
            | ErrorCode::NoAgent
            | ErrorCode::NoFormat
            | ErrorCode::NoLine
            | ErrorCode::NoRecipe
            | ErrorCode::NoRevision
            | ErrorCode::NoRuntime
            | ErrorCode::NoSource
            | ErrorCode::NoTarget
            | ErrorCode::NotText
            | ErrorCode::SecretsInside
            | ErrorCode::Unconfirmed
            | ErrorCode::Unwritable
            | ErrorCode::Usage => Self::Usage,
            ErrorCode::ChannelMoved
            | ErrorCode::HeadConflict
            | ErrorCode::KeyConflict
            | ErrorCode::MessageConflict
            | ErrorCode::Overtaken
            | ErrorCode::ParticipantConflict
            | ErrorCode::PolicyChanged
            | ErrorCode::TurnHeld
            | ErrorCode::TurnOver => Self::Conflict,
            ErrorCode::AbsentArtifact
            | ErrorCode::Damaged
            | ErrorCode::DamagedArtifact
            | ErrorCode::DamagedIndex
            | ErrorCode::Unsound => Self::Damaged,
            // What needs no ending of its own has failed; the page of errors shows which ending each code has.
            _ => Self::Failed,
        }
    }

    /// Returns the number that the system is told.
    pub(super) fn number(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::Conflict => 3,
            Self::Damaged => 4,
            Self::Passed(code) => code,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.number())
    }
}
