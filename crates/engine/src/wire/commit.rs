//! Commits as programs read them.

use std::{fmt, str::FromStr};

use contexture_core::{Annotations, Commit, CommitId, HeadName, Noted, Principal, Timestamp};
use contexture_store::{
    Error as StoreError,
    commit::{PageAfter, StoredCommit},
};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::HeadsByCommit;
use crate::{Checkpointed, Contexture, CreateOutcome, Error, Result, WithheldContent};

/// A commit with everything that is known of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CommitDocument {
    /// Its id.
    pub id: CommitId,
    /// Its record.
    #[serde(flatten)]
    pub commit: Commit,
    /// Sequence number of its creation in the journal.
    pub seq: u64,
    /// How many commits come before it.
    pub depth: u64,
    /// What is said about it.
    #[serde(flatten)]
    pub annotations: Annotations,
    /// The heads that point to it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub heads: Vec<HeadName>,
    /// Everything that was ever said about it, where that was asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub annotation_history: Vec<Noted>,
}

/// A commit with its surroundings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ShownCommit {
    /// The commit.
    #[serde(flatten)]
    pub commit: CommitDocument,
    /// Size of its content in bytes; nothing when the content is not in the store.
    pub size: Option<u64>,
    /// What was purged of its content, or did not come along: all of it, or some.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub withheld: Option<WithheldContent>,
    /// How many commits have it as their parent, up to 1000.
    pub children: usize,
}

/// A commit and how to go on behind it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ListedCommit {
    /// The commit.
    #[serde(flatten)]
    pub commit: CommitDocument,
    /// Where the list goes on after it.
    pub cursor: ListCursor,
}

/// Where a list of commits goes on, as a text that programs hand back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema)]
#[schemars(extend("pattern" = r"^-?[0-9]+\.[0-9]+$"))]
pub struct ListCursor(#[schemars(with = "String")] pub PageAfter);

/// Says that a text is no cursor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a cursor is what an earlier list ended with")]
pub struct ListCursorError;

/// A commit that was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MadeCommit {
    /// Its id.
    pub id: CommitId,
    /// False when the commit was there before.
    pub created: bool,
}

/// The commit that somebody was at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ResolvedCommit {
    /// Its id.
    pub id: CommitId,
    /// Who.
    pub principal: Principal,
    /// When.
    pub at: Timestamp,
}

impl ShownCommit {
    /// Children that are counted.
    pub const MAX_CHILDREN: u32 = 1000;

    /// Reads a commit with all that is known of it.
    pub async fn load(engine: &Contexture, id: CommitId) -> Result<Self> {
        let stored = engine.show(id).await?;
        let size = match engine.stat_artifact(stored.commit.artifact).await {
            Ok(stat) => Some(stat.size),
            // Whoever looks at a damaged commit wants to see what is left of it.
            Err(Error::Store(StoreError::NoArtifact(_))) => None,
            Err(error) => return Err(error),
        };
        let withheld = match size {
            Some(_) => engine.withheld_artifact(stored.commit.artifact).await?,
            None => None,
        };
        let children = engine.children(id, Self::MAX_CHILDREN).await?.len();
        let annotation_history = engine.annotation_history(id).await?;
        let document = HeadsByCommit::load(engine).await?.document(stored);
        Ok(Self { commit: CommitDocument { annotation_history, ..document }, size, withheld, children })
    }
}

impl From<StoredCommit> for CommitDocument {
    fn from(stored: StoredCommit) -> Self {
        let StoredCommit { id, commit, seq, depth, annotations, .. } = stored;
        Self { id, commit, seq, depth, annotations, heads: Vec::new(), annotation_history: Vec::new() }
    }
}

impl From<&Checkpointed> for MadeCommit {
    fn from(made: &Checkpointed) -> Self {
        Self { id: made.id, created: made.outcome == CreateOutcome::Created }
    }
}

impl From<&StoredCommit> for ListCursor {
    fn from(stored: &StoredCommit) -> Self {
        Self(PageAfter { created_at: stored.commit.created_at, seq: stored.seq })
    }
}

impl fmt::Display for ListCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.0.created_at.as_micros(), self.0.seq)
    }
}

impl FromStr for ListCursor {
    type Err = ListCursorError;

    fn from_str(text: &str) -> Result<Self, ListCursorError> {
        let (micros, seq) = text.split_once('.').ok_or(ListCursorError)?;
        let created_at = micros.parse().ok().and_then(Timestamp::from_micros).ok_or(ListCursorError)?;
        Ok(Self(PageAfter { created_at, seq: seq.parse().map_err(|_| ListCursorError)? }))
    }
}

impl Serialize for ListCursor {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ListCursor {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_survives_its_text_and_others_are_refused() {
        let cursor = ListCursor(PageAfter { created_at: "2026-11-15T20:10:00Z".parse().unwrap(), seq: 7 });
        assert_eq!(cursor.to_string().parse::<ListCursor>().unwrap(), cursor);
        for text in ["", "1", "x.1", "1.x", "1.-1", "9223372036854775807.1"] {
            assert!(text.parse::<ListCursor>().is_err(), "{text}");
        }
    }
}
