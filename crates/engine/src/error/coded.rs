//! Which code each error has.

use contexture_assembly::{packs::PackRefusal, pipeline::Rejected, recipe::RecipeRefusal};
use contexture_core::{AnnotationError, NameError, RecordError, TimeError, TurnRefusal};
use contexture_formats::{FormatError, JoinError};
use contexture_store::{self as store, JsonTextError, LocationError, channel::ChannelError, search::QueryError};

use super::{AssemblyProblem, BundleProblem, Coded, Error, ErrorCode};
use crate::{FileKind, FileRefusal};

impl Coded for Error {
    fn code(&self) -> ErrorCode {
        match self {
            Self::Store(error) => error.code(),
            Self::SearchIndex(_) => ErrorCode::DamagedIndex,
            Self::Reference { .. } => ErrorCode::BadReference,
            Self::NoSessions { .. } | Self::NoSessionNumber { .. } => ErrorCode::NoSession,
            Self::NoAncestor { .. } => ErrorCode::NoAncestor,
            Self::Empty => ErrorCode::Empty,
            Self::Malformed { source, .. } => source.code(),
            Self::Record(error) => error.code(),
            Self::Annotation(error) => error.code(),
            Self::Name(error) => error.code(),
            Self::Mentions(_) => ErrorCode::LargeMessage,
            Self::NoSummaryEntry(_) => ErrorCode::NoSummaryEntry,
            Self::NotAnAncestor { .. } => ErrorCode::NotAnAncestor,
            Self::AbsentArtifact { .. } => ErrorCode::AbsentArtifact,
            Self::OtherContent { .. } => ErrorCode::OtherContent,
            Self::Assembly(problem) => problem.code(),
            Self::NoSource { .. } => ErrorCode::NoSource,
            Self::NotInEnvelope { .. } => ErrorCode::NoCandidate,
            Self::Rejected(rejected) => rejected.code(),
            Self::JsonText(error) => error.code(),
            Self::NotNative { .. } => ErrorCode::NotNative,
            Self::Unwritable { .. } => ErrorCode::Unwritable,
            Self::Mixed { .. } => ErrorCode::MixedFormats,
            Self::Unjoinable { source, .. } => source.code(),
            Self::Bundle { problem } => problem.code(),
            Self::NoSealKey { .. } => ErrorCode::NoSealKey,
            Self::SecretRules(_) => ErrorCode::BadSecretRules,
            Self::SecretsInside { .. } => ErrorCode::SecretsInside,
            Self::PolicyChanged => ErrorCode::PolicyChanged,
            Self::Io { .. } => ErrorCode::InputOutput,
        }
    }
}

impl Coded for store::Error {
    fn code(&self) -> ErrorCode {
        match self {
            Self::Open { .. } => ErrorCode::CannotOpen,
            Self::Newer { .. } => ErrorCode::NewerStore,
            Self::Foreign { .. } => ErrorCode::ForeignStore,
            Self::Unreachable { .. } => ErrorCode::Unreachable,
            Self::Unproven { .. } => ErrorCode::UnprovenServer,
            Self::Login { .. } => ErrorCode::Login,
            Self::NoDatabase { .. } => ErrorCode::NoDatabase,
            Self::Denied { .. } => ErrorCode::Denied,
            Self::Lost { .. } => ErrorCode::Lost,
            Self::Database { .. } => ErrorCode::Database,
            Self::Busy(_) => ErrorCode::Busy,
            Self::ReadOnly => ErrorCode::ReadOnly,
            Self::DiskFull => ErrorCode::DiskFull,
            Self::Disk { .. } => ErrorCode::Disk,
            Self::Replaced { .. } => ErrorCode::Replaced,
            Self::Poisoned { .. } => ErrorCode::Poisoned,
            Self::Closed => ErrorCode::Closed,
            Self::Input(_) => ErrorCode::CannotRead,
            Self::Damaged { .. } => ErrorCode::Damaged,
            Self::DamagedArtifact(_) => ErrorCode::DamagedArtifact,
            Self::Withheld(_) => ErrorCode::Withheld,
            Self::NoArtifact(_) => ErrorCode::NoArtifact,
            Self::PartRemoved { .. } => ErrorCode::PartRemoved,
            Self::NoCommit(_) => ErrorCode::NoCommit,
            Self::NoEnvelope(_) => ErrorCode::NoEnvelope,
            Self::TooManyArtifacts { .. } => ErrorCode::TooManyArtifacts,
            Self::NoMissing(_) => ErrorCode::NoMissing,
            Self::NoMatch { .. } => ErrorCode::NoMatch,
            Self::Ambiguous { .. } => ErrorCode::Ambiguous,
            Self::NoParent(_) => ErrorCode::NoParent,
            Self::NoMerged(_) => ErrorCode::NoMerged,
            Self::NoHead(_) => ErrorCode::NoHead,
            Self::HeadConflict { .. } => ErrorCode::HeadConflict,
            Self::KeyConflict { .. } => ErrorCode::KeyConflict,
            Self::Channel(error) => error.code(),
        }
    }
}

impl Coded for ChannelError {
    fn code(&self) -> ErrorCode {
        match self {
            Self::NoChannel(_) | Self::NoSuchName(_) => ErrorCode::NoChannel,
            Self::NameTaken { .. } => ErrorCode::ChannelExists,
            Self::Closed { .. } | Self::Full(_) => ErrorCode::ChannelClosed,
            Self::Moved { .. } => ErrorCode::ChannelMoved,
            Self::MessageConflict { .. } => ErrorCode::MessageConflict,
            Self::NoMessage { .. } => ErrorCode::NoMessage,
            Self::LargeMessage { .. } | Self::LargeBatch { .. } => ErrorCode::LargeMessage,
            Self::SlugTaken { .. } => ErrorCode::ParticipantConflict,
            Self::NotParticipant { .. } | Self::NotAnAgent { .. } => ErrorCode::NoParticipant,
            Self::NothingToAnswer { .. } => ErrorCode::NothingToAnswer,
            Self::NotForAgent { .. } => ErrorCode::NotForAgent,
            Self::SessionElsewhere { .. } => ErrorCode::SessionElsewhere,
            Self::NoTurn(_) => ErrorCode::NoTurn,
            Self::Refused(refusal) => match **refusal {
                TurnRefusal::Held { .. } => ErrorCode::TurnHeld,
                TurnRefusal::Over { .. } | TurnRefusal::Acknowledged { .. } => ErrorCode::TurnOver,
                TurnRefusal::NoMessage { .. } => ErrorCode::NoMessage,
                TurnRefusal::NotOffered { .. } | TurnRefusal::NotBack { .. } => ErrorCode::NotOffered,
            },
        }
    }
}

impl Coded for FileRefusal {
    fn code(&self) -> ErrorCode {
        match self {
            Self::LeadsOut => ErrorCode::OutsideProject,
            Self::NotRegular(FileKind::Directory) => ErrorCode::IsADirectory,
            Self::NotRegular(_) => ErrorCode::NotAFile,
            Self::TooLarge { .. } | Self::TooMany { .. } => ErrorCode::LargeInput,
            Self::TooManyLinks | Self::Unreadable(_) => ErrorCode::CannotRead,
        }
    }
}

impl Coded for RecordError {
    fn code(&self) -> ErrorCode {
        match self {
            Self::NeedsParent(_) => ErrorCode::NeedsParent,
            Self::Newer { .. } => ErrorCode::NewerRecord,
            Self::Json(_) => ErrorCode::Damaged,
        }
    }
}

impl Coded for BundleProblem {
    fn code(&self) -> ErrorCode {
        match self {
            Self::Newer { .. } => ErrorCode::NewerBundle,
            Self::Magic | Self::Truncated | Self::Digest | Self::Frame(_) | Self::Record(_) => ErrorCode::BadBundle,
        }
    }
}

/// Gives errors whose kinds callers need not tell apart one code each.
macro_rules! one_code {
    ($($error:ty => $code:ident,)+) => {$(
        impl Coded for $error {
            fn code(&self) -> ErrorCode {
                ErrorCode::$code
            }
        }
    )+};
}

one_code! {
    AnnotationError => AnnotationTooLong,
    AssemblyProblem => BadAssembly,
    FormatError => Malformed,
    JoinError => Unjoinable,
    JsonTextError => BadRecord,
    LocationError => BadStore,
    NameError => BadName,
    PackRefusal => BadPacks,
    QueryError => BadQuery,
    RecipeRefusal => BadRecipe,
    Rejected => Rejected,
    TimeError => BadTime,
}
