//! The commit record and its id.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    ArtifactId, CommitId, Format, Machine, Principal, RuntimeSessionId, Template, Thread, Ticket, Timestamp, vocabulary,
};

/// Version of the record that this program writes.
pub const RECORD_VERSION: u32 = 1;

/// Separates commit ids from every other use of BLAKE3.
const ID_CONTEXT: &str = "contexture commit v1";

/// One step of an agent's understanding: every field that never changes.
///
/// The id is derived from all of them, so it binds the content through `artifact`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Commit {
    /// The step before, absent at the root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<CommitId>,
    /// What the artifact is in relation to the parent.
    #[serde(rename = "type")]
    pub kind: CommitKind,
    /// The bytes of this step.
    pub artifact: ArtifactId,
    /// How those bytes are written.
    pub format: Format,
    /// Who made it, where, and for what.
    #[serde(flatten)]
    pub provenance: Provenance,
    /// What caused the checkpoint.
    pub trigger: Trigger,
    /// Other commits whose conclusion this one brings back.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub merges: Vec<CommitId>,
    /// Messages in this step, as the caller counted them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_count: Option<Count>,
    /// Tokens in this step, as the caller counted them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_count: Option<Count>,
    /// When the step was taken.
    pub created_at: Timestamp,
}

/// Who made a commit, where, and for what. All of it informs; none of it decides.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Provenance {
    /// The kind of agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub template: Option<Template>,
    /// Who ran it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub principal: Option<Principal>,
    /// Where it ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<Machine>,
    /// In which run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<RuntimeSessionId>,
    /// For which work item.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ticket: Option<Ticket>,
    /// In which conversation thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<Thread>,
}

/// A count that JSON numbers hold exactly.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "u64", into = "u64")]
pub struct Count(u64);

/// Says why bytes are not a commit record.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The bytes are not the JSON of a record.
    #[error("not a commit record")]
    Json(#[from] serde_json::Error),
    /// A newer program wrote it; reading it with the fields known here would give another id.
    #[error("commit record version {found} is newer than version {RECORD_VERSION}, which this program knows")]
    Newer {
        /// The version that the record carries.
        found: u32,
    },
    /// The record breaks a rule between its fields.
    #[error("a {0} commit needs a parent")]
    NeedsParent(CommitKind),
}

vocabulary! {
    /// What a commit's artifact is in relation to its parent.
    CommitKind {
        /// New entries since the parent.
        Delta = "delta",
        /// A summary that replaces everything before it.
        Compaction = "compaction",
        /// The whole conversation up to here.
        Snapshot = "snapshot",
    }
}

vocabulary! {
    /// What caused a checkpoint.
    Trigger {
        /// The assistant finished a turn.
        TurnBoundary = "turn_boundary",
        /// A tool was called or returned.
        ToolCall = "tool_call",
        /// The runtime compacted its context.
        Compaction = "compaction",
        /// The run ended.
        SessionEnd = "session_end",
        /// Somebody asked for it.
        Explicit = "explicit",
    }
}

impl CommitKind {
    /// Tells whether default materialization starts here.
    pub const fn is_reset(self) -> bool {
        match self {
            Self::Delta => false,
            Self::Compaction | Self::Snapshot => true,
        }
    }
}

/// The record as it is encoded. The fields are in the order of RFC 8785, so that plain JSON of it is canonical.
#[derive(Serialize)]
struct Encoding<'c> {
    artifact: &'c ArtifactId,
    created_at: Timestamp,
    format: &'c Format,
    #[serde(skip_serializing_if = "Option::is_none")]
    machine: &'c Option<Machine>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    merges: &'c [CommitId],
    #[serde(skip_serializing_if = "Option::is_none")]
    message_count: Option<Count>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent: &'c Option<CommitId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    principal: &'c Option<Principal>,
    #[serde(skip_serializing_if = "Option::is_none")]
    session: &'c Option<RuntimeSessionId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    template: &'c Option<Template>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thread: &'c Option<Thread>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ticket: &'c Option<Ticket>,
    #[serde(skip_serializing_if = "Option::is_none")]
    token_count: Option<Count>,
    trigger: Trigger,
    r#type: CommitKind,
    version: u32,
}

impl Commit {
    /// Returns the canonical encoding: RFC 8785 JSON of every field and the record version.
    pub fn encode(&self) -> Vec<u8> {
        let Self { parent, kind, artifact, format, provenance, trigger, merges, .. } = self;
        let Provenance { template, principal, machine, session, ticket, thread } = provenance;
        let encoding = Encoding {
            artifact,
            created_at: self.created_at,
            format,
            machine,
            merges,
            message_count: self.message_count,
            parent,
            principal,
            session,
            template,
            thread,
            ticket,
            token_count: self.token_count,
            trigger: *trigger,
            r#type: *kind,
            version: RECORD_VERSION,
        };
        serde_json::to_vec(&encoding).expect("a record has text keys and exact numbers only")
    }

    /// Reads a canonical encoding of this or an older version and checks the rules between fields.
    pub fn decode(bytes: &[u8]) -> Result<Self, RecordError> {
        #[derive(Deserialize)]
        struct Version {
            version: u32,
        }
        let Version { version } = serde_json::from_slice(bytes)?;
        if version > RECORD_VERSION {
            return Err(RecordError::Newer { found: version });
        }
        let commit: Self = serde_json::from_slice(bytes)?;
        commit.check()?;
        Ok(commit)
    }

    /// Checks the rules between fields: a compaction replaces something, so it has a parent.
    pub fn check(&self) -> Result<(), RecordError> {
        if self.kind == CommitKind::Compaction && self.parent.is_none() {
            return Err(RecordError::NeedsParent(self.kind));
        }
        Ok(())
    }

    /// Returns the digest of the canonical encoding, of which the id keeps 128 bits.
    pub fn digest(&self) -> [u8; 32] {
        blake3::derive_key(ID_CONTEXT, &self.encode())
    }

    /// Returns the id.
    pub fn id(&self) -> CommitId {
        Self::id_of(&self.digest())
    }

    /// Returns the id that belongs to a digest.
    pub fn id_of(digest: &[u8; 32]) -> CommitId {
        let mut bytes = [0; CommitId::LEN];
        bytes.copy_from_slice(&digest[..CommitId::LEN]);
        CommitId::from_bytes(bytes)
    }
}

impl Count {
    /// Largest count: beyond it JSON numbers are not exact.
    pub const MAX: u64 = (1 << 53) - 1;

    /// Takes a count up to [`Count::MAX`].
    pub const fn new(count: u64) -> Option<Self> {
        if count <= Self::MAX { Some(Self(count)) } else { None }
    }

    /// Takes a count; one beyond [`Count::MAX`] becomes that.
    pub const fn saturating(count: u64) -> Self {
        if count <= Self::MAX { Self(count) } else { Self(Self::MAX) }
    }

    /// Returns the number.
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl TryFrom<u64> for Count {
    type Error = &'static str;

    fn try_from(count: u64) -> Result<Self, Self::Error> {
        Self::new(count).ok_or("a count is at most 9007199254740991")
    }
}

impl From<Count> for u64 {
    fn from(count: Count) -> Self {
        count.0
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::canonical;

    fn root() -> Commit {
        Commit {
            parent: None,
            kind: CommitKind::Delta,
            artifact: ArtifactId::of(b"{\"a\":1}\n"),
            format: Format::new("claude-code-v1").unwrap(),
            provenance: Provenance { principal: Some(Principal::new("p").unwrap()), ..Provenance::default() },
            trigger: Trigger::Explicit,
            merges: Vec::new(),
            message_count: Count::new(1),
            token_count: None,
            created_at: "2026-11-15T20:10:00Z".parse().unwrap(),
        }
    }

    #[test]
    fn the_encoding_is_written_down() {
        assert_eq!(
            String::from_utf8(root().encode()).unwrap(),
            concat!(
                r#"{"artifact":"art-7355cf27517e878fd081ba43175d3f098d0219f334ebfeea5224919cc2176b6f","#,
                r#""created_at":"2026-11-15T20:10:00.000000Z","format":"claude-code-v1","message_count":1,"#,
                r#""principal":"p","trigger":"explicit","type":"delta","version":1}"#
            )
        );
        // Computed with another implementation of BLAKE3.
        assert_eq!(root().id().to_string(), "ctx-0ff0dcb437f8638b55d75865a41ae5ff");
    }

    #[test]
    fn the_encoding_is_canonical_json() {
        let name = "é\u{1f600}\"\\/\u{7f}\u{2028}";
        let full = Commit {
            parent: Some(root().id()),
            merges: vec![root().id(), root().id()],
            message_count: Count::new(Count::MAX),
            token_count: Count::new(0),
            provenance: Provenance {
                template: Template::new(name).ok(),
                principal: Principal::new(name).ok(),
                machine: Machine::new(name).ok(),
                session: RuntimeSessionId::new(name).ok(),
                ticket: Ticket::new(name).ok(),
                thread: Thread::new(name).ok(),
            },
            ..root()
        };
        for commit in [root(), full] {
            let value: serde_json::Value = serde_json::from_slice(&commit.encode()).unwrap();
            assert_eq!(canonical::to_vec(&value).unwrap(), commit.encode());
        }
    }

    #[test]
    fn every_field_changes_the_id() {
        let base = root();
        let name = |text| Some(text);
        let changed = [
            Commit { parent: Some(base.id()), ..base.clone() },
            Commit { kind: CommitKind::Snapshot, ..base.clone() },
            Commit { artifact: ArtifactId::of(b"other"), ..base.clone() },
            Commit { format: Format::new("text").unwrap(), ..base.clone() },
            Commit { trigger: Trigger::SessionEnd, ..base.clone() },
            Commit { merges: vec![base.id()], ..base.clone() },
            Commit { message_count: None, ..base.clone() },
            Commit { token_count: Count::new(0), ..base.clone() },
            Commit { created_at: Timestamp::from_micros(base.created_at.as_micros() + 1).unwrap(), ..base.clone() },
            Commit { provenance: Provenance::default(), ..base.clone() },
            Commit {
                provenance: Provenance {
                    machine: name("p").map(|n| Machine::new(n).unwrap()),
                    ..Provenance::default()
                },
                ..base.clone()
            },
            Commit {
                provenance: Provenance {
                    session: name("p").map(|n| RuntimeSessionId::new(n).unwrap()),
                    ..Provenance::default()
                },
                ..base.clone()
            },
            Commit {
                provenance: Provenance {
                    template: name("p").map(|n| Template::new(n).unwrap()),
                    ..Provenance::default()
                },
                ..base.clone()
            },
            Commit {
                provenance: Provenance { ticket: name("p").map(|n| Ticket::new(n).unwrap()), ..Provenance::default() },
                ..base.clone()
            },
            Commit {
                provenance: Provenance { thread: name("p").map(|n| Thread::new(n).unwrap()), ..Provenance::default() },
                ..base.clone()
            },
        ];
        let ids: std::collections::HashSet<_> = changed.iter().chain([&base]).map(Commit::id).collect();
        assert_eq!(ids.len(), changed.len() + 1);
    }

    #[test]
    fn a_newer_record_is_refused_by_version() {
        let newer = String::from_utf8(root().encode()).unwrap().replace("\"version\":1", "\"version\":2,\"extra\":0");
        assert!(matches!(Commit::decode(newer.as_bytes()), Err(RecordError::Newer { found: 2 })));
    }

    #[test]
    fn a_compaction_without_a_parent_is_refused() {
        let orphan = Commit { kind: CommitKind::Compaction, ..root() };
        assert!(matches!(Commit::decode(&orphan.encode()), Err(RecordError::NeedsParent(CommitKind::Compaction))));
    }

    #[test]
    fn an_unknown_word_lists_the_known_ones() {
        let error = "patch".parse::<CommitKind>().unwrap_err();
        assert_eq!(error.to_string(), "\"patch\" is not one of delta, compaction, snapshot");
    }

    proptest! {
        #[test]
        fn a_record_survives_its_encoding(
            parent: Option<[u8; 16]>, artifact: [u8; 32], merges: Vec<[u8; 16]>, messages in 0..=Count::MAX,
            template in proptest::option::of("[a-zé💬]{1,20}"), micros in 0i64..4_000_000_000_000_000,
        ) {
            let commit = Commit {
                parent: parent.map(CommitId::from_bytes),
                artifact: ArtifactId::from_bytes(artifact),
                merges: merges.into_iter().map(CommitId::from_bytes).collect(),
                message_count: Count::new(messages),
                provenance: Provenance { template: template.map(|t| Template::new(t).unwrap()), ..Provenance::default() },
                created_at: Timestamp::from_micros(micros).unwrap(),
                ..root()
            };
            let decoded = Commit::decode(&commit.encode()).unwrap();
            prop_assert_eq!(decoded.id(), commit.id());
            prop_assert_eq!(decoded, commit);
        }

        #[test]
        fn decoding_any_bytes_never_panics(bytes: Vec<u8>) {
            let _refused = Commit::decode(&bytes);
        }
    }
}
