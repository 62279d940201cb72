//! What can be wrong with a commit.

use contexture_core::{ArtifactId, CommitId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::commit::CommitPlace;

/// What is wrong with a commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, thiserror::Error)]
#[serde(tag = "fault", rename_all = "snake_case")]
pub enum CommitFault {
    /// Its row cannot be read.
    #[error("cannot be read: {what}")]
    Unreadable {
        /// What is wrong with the row.
        what: String,
    },
    /// Its record was changed: it has another id.
    #[error("holds a record whose id is {computed}")]
    Altered {
        /// The id of the record as it is.
        computed: CommitId,
    },
    /// Its record breaks a rule between its fields.
    #[error("holds a record that cannot be: {what}")]
    Invalid {
        /// The rule.
        what: String,
    },
    /// Its parent is not the commit that comes before its place.
    #[error("has {} as its parent where {} belongs", named(found.as_ref()), named(expected.as_ref()))]
    WrongParent {
        /// The parent that it names.
        found: Option<CommitId>,
        /// The commit before its place.
        expected: Option<CommitId>,
    },
    /// It does not lie one deeper than the commit before it.
    #[error("has depth {found} where {expected} belongs")]
    WrongDepth {
        /// The depth that it names.
        found: i64,
        /// One more than that of the commit before it.
        expected: i64,
    },
    /// It names another nearest compaction or snapshot than there is.
    #[error("has its reset at {} where {} belongs", placed(found.as_ref()), placed(expected.as_ref()))]
    WrongReset {
        /// The place that it names.
        found: Option<CommitPlace>,
        /// Its own place, or the reset of the commit before it.
        expected: Option<CommitPlace>,
    },
    /// Its artifact is not stored.
    #[error("has lost its artifact {artifact}")]
    NoArtifact {
        /// The artifact.
        artifact: ArtifactId,
    },
    /// Its artifact is stored, but elsewhere than the commit says.
    #[error("looks for its artifact {artifact} in the wrong row")]
    WrongArtifactKey {
        /// The artifact.
        artifact: ArtifactId,
    },
    /// A commit that it merges does not exist.
    #[error("merges {merged}, which does not exist")]
    NoMerged {
        /// The commit that it names.
        merged: CommitId,
    },
    /// The journal has no record where it says.
    #[error("is not in the journal at record {seq}")]
    NotJournaled {
        /// Where the record should be.
        seq: u64,
    },
    /// The journal tells something else where it says.
    #[error("is not what journal record {seq} says")]
    JournaledOtherwise {
        /// Where the record is.
        seq: u64,
    },
}

fn named(commit: Option<&CommitId>) -> String {
    commit.map_or_else(|| "no commit".to_owned(), CommitId::to_string)
}

fn placed(place: Option<&CommitPlace>) -> String {
    place.map_or_else(|| "no commit".to_owned(), CommitPlace::to_string)
}
