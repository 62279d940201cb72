//! What can go wrong in the store, by what the caller can do about it.

use std::{io, path::PathBuf, sync::Arc};

use contexture_core::{ArtifactId, CommitId, EnvelopeId, HeadName, IdempotencyKey, MissingId};

use crate::{artifact::WithheldContent, channel::ChannelError};

/// What an engine said, shared by all whom a failure concerns.
pub type Cause = Arc<dyn std::error::Error + Send + Sync>;

/// Result of a store operation.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a store operation failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The store's directory cannot be made or entered.
    #[error("cannot open the store at {}", path.display())]
    Open {
        /// The store's directory.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A newer program wrote the store.
    #[error("the store at {store} has schema version {found}; this program knows versions up to {known}")]
    Newer {
        /// Where the store is.
        store: String,
        /// Version of the store.
        found: i64,
        /// Newest version that this program knows.
        known: usize,
    },
    /// A file or schema holds something else.
    #[error("{store} is not a Contexture store")]
    Foreign {
        /// The file or schema.
        store: String,
    },
    /// The server does not answer.
    #[error("cannot reach the PostgreSQL server at {server}")]
    Unreachable {
        /// Its address.
        server: String,
        /// What the system said.
        source: Cause,
    },
    /// The server does not prove that it is the one that was named, which it must.
    #[error("the PostgreSQL server at {server} does not prove that it is the one of this name")]
    Unproven {
        /// Its address.
        server: String,
        /// What is wrong with its certificate, or that it has none.
        source: Cause,
    },
    /// The server does not let the user in.
    #[error("the PostgreSQL server at {server} does not let user {user} in")]
    Login {
        /// Its address.
        server: String,
        /// Who tried.
        user: String,
        /// What the server said.
        source: Cause,
    },
    /// The server has no such database.
    #[error("the PostgreSQL server at {server} has no database {database}")]
    NoDatabase {
        /// Its address.
        server: String,
        /// The name.
        database: String,
    },
    /// The user may not do this in the database.
    #[error("user {user} has too few rights at {store}")]
    Denied {
        /// Where the store is.
        store: String,
        /// Who tried.
        user: String,
        /// What the owner of the database types to give the user enough of them.
        grant: String,
        /// What the server said.
        source: Cause,
    },
    /// The connection broke and did not come back in time. A change that was under way may have been made or not:
    /// a retry with the same idempotency key makes it once.
    #[error("the connection to the PostgreSQL server at {server} was lost and did not come back within {limit:?}")]
    Lost {
        /// Its address.
        server: String,
        /// How long it was tried.
        limit: std::time::Duration,
        /// What broke it.
        source: Cause,
    },
    /// The database engine could not do what was asked.
    #[error("the database could not {attempt}")]
    Database {
        /// What was attempted.
        attempt: &'static str,
        /// What the engine said.
        source: Cause,
    },
    /// Another program kept the write lock for too long. Nothing was written; trying again is safe.
    #[error("another program has kept the store locked for {0:?}")]
    Busy(std::time::Duration),
    /// The store may only be read.
    #[error("the store is read-only")]
    ReadOnly,
    /// The disk is full. Nothing of the change was kept and the handle refuses further writes.
    #[error("the disk that holds the store is full")]
    DiskFull,
    /// The disk failed. Whether the change was kept is unknown and the handle refuses further writes.
    #[error("the disk failed while the store was written")]
    Disk {
        /// What the engine said.
        source: Cause,
    },
    /// A file of the store was deleted or replaced while it was open. What was to be written is not there for others, and the
    /// handle refuses further writes.
    #[error("{} was removed or replaced while the store was open", path.display())]
    Replaced {
        /// The file.
        path: PathBuf,
    },
    /// An earlier failure of the disk makes every later write doubtful, so the handle refuses them.
    #[error("the store was closed for writing after an earlier failure")]
    Poisoned {
        /// The earlier failure.
        source: Arc<Error>,
    },
    /// The store's writer is gone.
    #[error("the store is closed")]
    Closed,
    /// Input could not be read while it was stored.
    #[error("cannot read the content to store")]
    Input(#[source] io::Error),
    /// Stored data contradicts itself.
    #[error("the store is damaged: {what}")]
    Damaged {
        /// The contradiction.
        what: String,
    },
    /// The bytes of an artifact are not those its id names.
    #[error("artifact {0} is damaged: its bytes do not have that digest")]
    DamagedArtifact(ArtifactId),
    /// The content of an artifact was taken away, or never came.
    #[error("{0}")]
    Withheld(Arc<WithheldContent>),
    /// There is no such artifact here.
    #[error("there is no artifact {0}")]
    NoArtifact(ArtifactId),
    /// A part of an artifact was removed before the artifact referred to it: storing it took longer than the grace of a
    /// collection. Nothing refers to what is not there; doing it again is safe.
    #[error("part {part} of artifact {artifact} was removed before anything referred to it")]
    PartRemoved {
        /// The artifact.
        artifact: ArtifactId,
        /// The part.
        part: ArtifactId,
    },
    /// There is no such commit here.
    #[error("there is no commit {0}")]
    NoCommit(CommitId),
    /// There is no such envelope here.
    #[error("there is no envelope {0}")]
    NoEnvelope(EnvelopeId),
    /// An envelope has more artifacts than one may have.
    #[error("envelope {envelope} has {count} artifacts; at most {} belong to one", crate::envelope::MAX_ARTIFACTS)]
    TooManyArtifacts {
        /// The envelope.
        envelope: EnvelopeId,
        /// How many it has.
        count: usize,
    },
    /// Nothing of this id is known to be missing here.
    #[error("there is no missing context {0}")]
    NoMissing(MissingId),
    /// There is no commit, artifact or envelope whose id starts so.
    #[error("no {noun} has an id that starts with {prefix}")]
    NoMatch {
        /// What was looked for.
        noun: &'static str,
        /// What the id should start with.
        prefix: String,
    },
    /// Several ids start so.
    #[error("{prefix} is ambiguous: {}", candidates.join(", "))]
    Ambiguous {
        /// What the ids start with.
        prefix: String,
        /// Some of the ids.
        candidates: Vec<String>,
    },
    /// The parent of a new commit does not exist in the space.
    #[error("the parent {0} does not exist")]
    NoParent(CommitId),
    /// A commit that a new commit merges does not exist in the space.
    #[error("the merged commit {0} does not exist")]
    NoMerged(CommitId),
    /// There is no head of this name.
    #[error("there is no head {0}")]
    NoHead(HeadName),
    /// The head is not where the caller thought.
    #[error("head {head} {}", conflict(expected.as_ref(), actual.as_ref()))]
    HeadConflict {
        /// The head.
        head: HeadName,
        /// Where the caller thought it was.
        expected: Option<CommitId>,
        /// Where it is.
        actual: Option<CommitId>,
    },
    /// Something cannot be done with a channel.
    #[error(transparent)]
    Channel(ChannelError),
    /// The idempotency key was used for another request.
    #[error("key {key} was already used for another request, which made {commit}")]
    KeyConflict {
        /// The key.
        key: IdempotencyKey,
        /// What the earlier request made.
        commit: CommitId,
    },
}

fn conflict(expected: Option<&CommitId>, actual: Option<&CommitId>) -> String {
    match (expected, actual) {
        (Some(expected), Some(actual)) => format!("is at {actual}, not at {expected}"),
        (Some(expected), None) => format!("does not exist, so it is not at {expected}"),
        (None, Some(actual)) => format!("exists already, at {actual}"),
        (None, None) => "moved meanwhile".to_owned(),
    }
}

impl Error {
    pub(crate) fn damaged(what: impl Into<String>) -> Self {
        Self::Damaged { what: what.into() }
    }

    /// Says the same failure once more, to another of those it concerns.
    pub(crate) fn again(&self) -> Self {
        match self {
            Self::Busy(limit) => Self::Busy(*limit),
            Self::ReadOnly => Self::ReadOnly,
            Self::DiskFull => Self::DiskFull,
            Self::Disk { source } => Self::Disk { source: Arc::clone(source) },
            Self::Database { attempt, source } => Self::Database { attempt, source: Arc::clone(source) },
            Self::Poisoned { source } => Self::Poisoned { source: Arc::clone(source) },
            Self::Unreachable { server, source } => {
                Self::Unreachable { server: server.clone(), source: Arc::clone(source) }
            }
            Self::Unproven { server, source } => Self::Unproven { server: server.clone(), source: Arc::clone(source) },
            Self::Login { server, user, source } => {
                Self::Login { server: server.clone(), user: user.clone(), source: Arc::clone(source) }
            }
            Self::NoDatabase { server, database } => {
                Self::NoDatabase { server: server.clone(), database: database.clone() }
            }
            Self::Denied { store, user, grant, source } => {
                let (store, user, grant) = (store.clone(), user.clone(), grant.clone());
                Self::Denied { store, user, grant, source: Arc::clone(source) }
            }
            Self::Lost { server, limit, source } => {
                Self::Lost { server: server.clone(), limit: *limit, source: Arc::clone(source) }
            }
            Self::Replaced { path } => Self::Replaced { path: path.clone() },
            Self::Closed => Self::Closed,
            Self::Withheld(content) => Self::Withheld(Arc::clone(content)),
            // Failures of one job or of opening, never of a group; kept as text because some of them cannot be copied.
            Self::Open { .. }
            | Self::Newer { .. }
            | Self::Foreign { .. }
            | Self::Input(_)
            | Self::Damaged { .. }
            | Self::DamagedArtifact(_)
            | Self::NoArtifact(_)
            | Self::PartRemoved { .. }
            | Self::NoCommit(_)
            | Self::NoEnvelope(_)
            | Self::TooManyArtifacts { .. }
            | Self::NoMissing(_)
            | Self::NoMatch { .. }
            | Self::Ambiguous { .. }
            | Self::NoParent(_)
            | Self::NoMerged(_)
            | Self::NoHead(_)
            | Self::HeadConflict { .. }
            | Self::Channel(_)
            | Self::KeyConflict { .. } => Self::damaged(self.to_string()),
        }
    }

    /// Tells whether further writes can no longer be trusted to be kept.
    pub(crate) fn poisons(&self) -> bool {
        matches!(self, Self::DiskFull | Self::Disk { .. } | Self::Replaced { .. })
    }
}
