//! What can go wrong in an operation, by what the caller can do about it.

mod assembly;
mod bundle;
mod code;
mod coded;

use std::{io, path::PathBuf};

use contexture_core::{AnnotationError, ArtifactId, CommitId, Format, MentionsError, NameError, RecordError};
use contexture_formats::{FormatError, JoinError};
use contexture_secrets::RuleMistakes;
use contexture_store as store;

use crate::SealRecipient;

pub use assembly::{AssemblyProblem, GivenItemsProblem};
pub use bundle::{BundleProblem, FrameProblem};
pub use code::{Coded, ErrorCode};

/// Result of an operation.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why an operation failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The store refused or failed.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// The search index contradicts itself or the journal. It is made of the rest, which need not be damaged.
    #[error("the search index is damaged")]
    SearchIndex(#[source] store::Error),
    /// A text names neither a commit nor a head.
    #[error("{text:?} names neither a commit nor a head")]
    Reference {
        /// What was given.
        text: String,
    },
    /// There is no session where one was asked for without a name.
    #[error("there is no session{}", project.as_ref().map(|project| format!(" in {}", project.display())).unwrap_or_default())]
    NoSessions {
        /// The project that was looked at; none means the whole store.
        project: Option<PathBuf>,
    },
    /// The list of sessions does not go so far.
    #[error("there is no session {number} in the list of {}", if *sessions == 1 { "one".to_owned() } else { sessions.to_string() })]
    NoSessionNumber {
        /// What was asked for.
        number: u32,
        /// How many there are.
        sessions: u64,
    },
    /// A commit does not have that many ancestors.
    #[error("{commit} has {depth} ancestors, so it has no ~{back}")]
    NoAncestor {
        /// The commit.
        commit: CommitId,
        /// How many ancestors it has.
        depth: u64,
        /// How many steps back were asked for.
        back: u64,
    },
    /// There is nothing to check in.
    #[error("the content is empty")]
    Empty,
    /// The content is not what its format promises.
    #[error("the content is not {format}")]
    Malformed {
        /// The format.
        format: Format,
        /// What is wrong with the content.
        source: FormatError,
    },
    /// The fields of a commit contradict each other.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// A text is too long to be kept as an annotation.
    #[error(transparent)]
    Annotation(#[from] AnnotationError),
    /// A text cannot be a name.
    #[error(transparent)]
    Name(#[from] NameError),
    /// A message names too many.
    #[error(transparent)]
    Mentions(#[from] MentionsError),
    /// Plain text cannot be turned into a summary of this format.
    #[error("plain text cannot be a {0} summary: give the summary in that format")]
    NoSummaryEntry(Format),
    /// Materialization was to stop at a commit that is not an ancestor.
    #[error("{stop} is not an ancestor of {commit}")]
    NotAnAncestor {
        /// Where to stop.
        stop: CommitId,
        /// Where to start.
        commit: CommitId,
    },
    /// The bytes of a commit are not in the store.
    #[error("commit {commit} refers to {artifact}, which is not in the store")]
    AbsentArtifact {
        /// The commit.
        commit: CommitId,
        /// What it refers to.
        artifact: ArtifactId,
    },
    /// The bytes of an artifact are not those its id names.
    #[error("what was given as {given} has other bytes: those of {found}")]
    OtherContent {
        /// What it was given as.
        given: ArtifactId,
        /// What it is.
        found: ArtifactId,
    },
    /// Something that was given for an assembly cannot be used.
    #[error(transparent)]
    Assembly(#[from] AssemblyProblem),
    /// Something was given that the recipe has no source for.
    #[error("the recipe {recipe:?} has no source {name:?}, so what was given for it would be lost")]
    NoSource {
        /// The recipe.
        recipe: String,
        /// The kind of source.
        name: &'static str,
    },
    /// Something was no candidate for an assembly.
    #[error("{thing:?} was no candidate for {envelope}: no source of its recipe gave it")]
    NotInEnvelope {
        /// The envelope.
        envelope: contexture_core::EnvelopeId,
        /// What was asked for.
        thing: String,
    },
    /// The recipe rejects what does not fit.
    #[error(transparent)]
    Rejected(contexture_assembly::pipeline::Rejected),
    /// A record that is to be kept is not JSON, or too long.
    #[error(transparent)]
    JsonText(#[from] store::JsonTextError),
    /// A chain is not in the format that was asked for, and may not be translated.
    #[error("the chain of {commit} is {}, which is not {wanted} without a translation", list(found))]
    NotNative {
        /// The commit.
        commit: CommitId,
        /// The formats in the chain.
        found: Vec<Format>,
        /// The format that was asked for.
        wanted: Format,
    },
    /// Nothing writes the format that was asked for.
    #[error("no conversation can be written as {wanted}; the formats that can be written are {}", writable.join(", "))]
    Unwritable {
        /// The format that was asked for.
        wanted: Format,
        /// The formats that can be written.
        writable: Vec<&'static str>,
    },
    /// A chain mixes formats and none was asked for.
    #[error("the chain of {commit} mixes the formats {}", list(found))]
    Mixed {
        /// The commit.
        commit: CommitId,
        /// The formats in the chain.
        found: Vec<Format>,
    },
    /// A commit's bytes cannot be joined with the rest of its chain.
    #[error("cannot join commit {commit} with its chain")]
    Unjoinable {
        /// The commit.
        commit: CommitId,
        /// What is wrong with its bytes.
        source: JoinError,
    },
    /// A file is not a bundle, or not a whole one.
    #[error("the bundle {problem}")]
    Bundle {
        /// What is wrong with it.
        problem: BundleProblem,
    },
    /// The secrets of the space are sealed to a key that is not on this machine.
    #[error("the secrets of this space are sealed, and this machine has no key {}", recipient.short())]
    NoSealKey {
        /// To whom they are sealed.
        recipient: SealRecipient,
    },
    /// What is about to leave has secrets in it, and nobody has said what becomes of them.
    #[error("there {} in it", if *secrets == 1 { "is a secret".to_owned() } else { format!("are {secrets} secrets") })]
    SecretsInside {
        /// How many different ones.
        secrets: u64,
    },
    /// Rules for secrets are not what they should be.
    #[error("the rules for secrets cannot be used")]
    SecretRules(#[source] RuleMistakes),
    /// How the secrets of the space are treated changed while something was about to be stored.
    #[error("how secrets are treated changed meanwhile")]
    PolicyChanged,
    /// Input or output failed.
    #[error("cannot {attempt}")]
    Io {
        /// What was attempted.
        attempt: &'static str,
        /// What the system said.
        source: io::Error,
    },
}

impl From<BundleProblem> for Error {
    fn from(problem: BundleProblem) -> Self {
        Self::Bundle { problem }
    }
}

impl From<FrameProblem> for Error {
    fn from(problem: FrameProblem) -> Self {
        BundleProblem::from(problem).into()
    }
}

fn list(formats: &[Format]) -> String {
    formats.iter().map(Format::as_str).collect::<Vec<_>>().join(" and ")
}
