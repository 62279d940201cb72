//! The codes of the errors of commands.

use contexture::{Coded, ErrorCode};

use super::{Error, Unprepared};

impl Coded for Error {
    fn code(&self) -> ErrorCode {
        match self {
            Self::Engine(source) | Self::Content { source, .. } | Self::Summary { source, .. } => source.code(),
            Self::Capture(source) => source.code(),
            Self::Read { .. } => ErrorCode::CannotRead,
            Self::Refused { source, .. } => source.code(),
            Self::Directory { .. } => ErrorCode::IsADirectory,
            Self::Write { .. } | Self::Stdout(_) | Self::Terminal(_) => ErrorCode::CannotWrite,
            Self::NoFormat { .. } => ErrorCode::NoFormat,
            Self::JsonBesideContent { .. } => ErrorCode::JsonBesideContent,
            Self::LargeSummary { .. } => ErrorCode::LargeSummary,
            Self::BinarySummary { .. } => ErrorCode::BinarySummary,
            Self::Packs { source, .. } => source.code(),
            Self::LargePacks { .. } => ErrorCode::BadPacks,
            Self::TriggerData { .. } => ErrorCode::BadData,
            Self::LargeInput { .. } => ErrorCode::LargeInput,
            Self::Recipe { source, .. } => source.code(),
            Self::LargeRecipe { .. } => ErrorCode::BadRecipe,
            Self::NoRecipe { .. } => ErrorCode::NoRecipe,
            Self::UntrustedRecipe { .. } => ErrorCode::UntrustedRecipe,
            Self::Fingerprint(_) => ErrorCode::BadFingerprint,
            Self::SealKey { .. } => ErrorCode::BadSealKey,
            Self::NotSealed => ErrorCode::NotSealed,
            Self::BadRecipes { .. } => ErrorCode::BadRecipes,
            Self::NoTarget { .. } => ErrorCode::NoTarget,
            Self::NoEnvelopes => ErrorCode::NoEnvelopes,
            Self::NotReplayed { .. } => ErrorCode::NotReplayed,
            Self::LargeRecords { .. } => ErrorCode::LargeRecords,
            Self::BelowLevel { .. } => ErrorCode::BelowLevel,
            Self::Name { source, .. } => source.code(),
            Self::Time { source, .. } => source.code(),
            Self::TimeRange { .. } => ErrorCode::BadTime,
            Self::Location { source, .. } => source.code(),
            Self::Interval { .. } | Self::Configuration { .. } => ErrorCode::BadConfiguration,
            Self::ExposedPassword { .. } => ErrorCode::ExposedPassword,
            Self::NoStore { .. } => ErrorCode::NoStore,
            Self::NoHome => ErrorCode::NoHome,
            Self::NothingKnown { .. } => ErrorCode::NothingKnown,
            Self::Query(source) => source.code(),
            Self::NothingFound { .. } => ErrorCode::NothingFound,
            Self::NoHeads => ErrorCode::NoHeads,
            Self::NotEmpty { .. } => ErrorCode::NotEmpty,
            Self::Unequal { .. } => ErrorCode::Unequal,
            Self::Unsound { .. } => ErrorCode::Unsound,
            Self::NotReproduced { .. } => ErrorCode::NotReproduced,
            Self::NotTakenIn { .. } => ErrorCode::NotTakenIn,
            Self::Unwell { .. } => ErrorCode::Unwell,
            Self::Start { .. } => ErrorCode::CannotStartAgent,
            Self::Ended { .. } => ErrorCode::AgentFailed,
            Self::Spawn { .. } => ErrorCode::CannotStartProgram,
            Self::Passed { .. } => ErrorCode::ProgramFailed,
            Self::NoAgent { .. } => ErrorCode::NoAgent,
            Self::NoFreshAgent => ErrorCode::NoRuntime,
            Self::Unprepared(unprepared) => unprepared.code(),
            Self::Untraced(untraced) => untraced.code(),
            Self::NotErased { .. } => ErrorCode::NotErased,
            Self::NothingToPurge { .. } => ErrorCode::BadReference,
            Self::Runtime(_) => ErrorCode::CannotStart,
        }
    }
}

impl Coded for Unprepared {
    fn code(&self) -> ErrorCode {
        match self {
            Self::NoAgents => ErrorCode::NoAgents,
            Self::NoSettings { .. } => ErrorCode::NoSettings,
            Self::Settings { .. } => ErrorCode::BadSettings,
            Self::NotOurs { .. } => ErrorCode::NotOurs,
            Self::Occupied { .. } => ErrorCode::Occupied,
            Self::Overtaken { .. } => ErrorCode::Overtaken,
            Self::Unconfirmed => ErrorCode::Unconfirmed,
            Self::NoProgram(_) => ErrorCode::NoProgram,
            Self::NotText { .. } => ErrorCode::NotText,
            Self::PasswordInAddress { .. } => ErrorCode::PasswordInAddress,
        }
    }
}
