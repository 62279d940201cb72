//! Journal records: every mutation of a space in order, chained by hash.

use std::{borrow::Cow, fmt, str::FromStr};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::{Actor, SpaceName, Timestamp, UnknownWord, canonical, vocabulary};

/// Separates journal hashes from every other use of BLAKE3.
const CHAIN_CONTEXT: &str = "contexture journal v1";
/// Separates the digests of what was changed.
const MUTATION_CONTEXT: &str = "contexture mutation v1";

/// What a journal record tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum JournalKind {
    /// The space came to be. The subject is its name.
    SpaceCreated,
    /// A commit was made. The subject is its id, the digest that of its record.
    CommitCreated,
    /// Something was said about a commit. The subject is the commit's id.
    CommitAnnotated,
    /// A head was created or moved. The subject is its name.
    HeadMoved,
    /// A head was deleted. The subject is its name.
    HeadDeleted,
    /// An artifact was stored by itself. The subject and the digest are its id.
    ArtifactStored,
    /// An envelope was kept. The subject is its id.
    EnvelopeCreated,
    /// An injection was recorded. The subject is its id.
    InjectionCreated,
    /// Missing context was recorded. The subject is its id.
    MissingCreated,
    /// What is known of missing context changed. The subject is its id.
    MissingChanged,
    /// How secrets of the space are treated changed. The subject is the word for it.
    SecretPolicyChanged,
    /// Secrets were found in an artifact. The subject is its id.
    SecretsFound,
    /// Content was read as it is, secrets included. The subject says which.
    ContentRevealed,
    /// The content of an artifact was removed for good, or never came along. The subject is its id.
    ArtifactWithheld,
    /// What was said about a commit was removed for good. The subject is the commit's id.
    AnnotationWithheld,
    /// Artifacts that nothing referred to were removed. The subject is how many.
    ArtifactsCollected,
    /// A channel was made. The subject is its id.
    ChannelCreated,
    /// What can be done with a channel changed. The subject is its id.
    ChannelChanged,
    /// A message was appended. The subject is the channel's id and the message's place, the digest that of its record.
    MessageAppended,
    /// A participant was registered, or is known otherwise. The subject is the channel's id and the participant's key.
    ParticipantRegistered,
    /// A turn began. The subject is its id.
    TurnBegun,
    /// What was sent in a turn is known, or the turn is over. The subject is its id.
    TurnChanged,
    /// How far an agent is changed. The subject is the channel's id and the agent's key.
    CursorMoved,
    /// Something happened to context. The digest is that of the event's JSON.
    Event(EventKind),
}

vocabulary! {
    /// What happened to context: the event types of the Agent Context standard, and failures, which it has no words for.
    EventKind {
        /// A surface was created.
        SurfaceCreated = "context.surface.created",
        /// A surface was updated.
        SurfaceUpdated = "context.surface.updated",
        /// An item was added.
        ItemAdded = "context.item.added",
        /// An item was updated.
        ItemUpdated = "context.item.updated",
        /// An item was removed.
        ItemRemoved = "context.item.removed",
        /// A selection was started.
        SelectionStarted = "context.selection.started",
        /// A selection was completed.
        SelectionCompleted = "context.selection.completed",
        /// A selection failed.
        SelectionFailed = "context.selection.failed",
        /// A budget was applied.
        BudgetApplied = "context.budget.applied",
        /// An assembly was created.
        AssemblyCreated = "context.assembly.created",
        /// An assembly failed.
        AssemblyFailed = "context.assembly.failed",
        /// An injection was applied.
        InjectionApplied = "context.injection.applied",
        /// A compaction was started.
        CompactionStarted = "context.compaction.started",
        /// A compaction was completed.
        CompactionCompleted = "context.compaction.completed",
        /// A compaction failed.
        CompactionFailed = "context.compaction.failed",
        /// A summary was created.
        SummaryCreated = "context.summary.created",
        /// A gap was detected.
        MissingDetected = "context.missing.detected",
        /// A gap was requested.
        MissingRequested = "context.missing.requested",
        /// A gap was resolved.
        MissingResolved = "context.missing.resolved",
        /// A redaction was applied.
        RedactionApplied = "context.redaction.applied",
        /// Context was exported.
        Exported = "context.exported",
    }
}

impl EventKind {
    /// Tells whether something could not be done.
    pub const fn is_failure(self) -> bool {
        matches!(self, Self::SelectionFailed | Self::AssemblyFailed | Self::CompactionFailed)
    }
}

/// A mutation before it has a place in the journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mutation {
    /// What happened.
    pub kind: JournalKind,
    /// To what.
    pub subject: String,
    /// Digest of what changed.
    pub digest: ChainDigest,
}

/// One mutation at its place in the journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct JournalRecord {
    /// Place in the space's order; the first is 1 and none is left out.
    pub seq: u64,
    /// When it happened. Orders nothing.
    pub at: Timestamp,
    /// Who asked for it.
    pub actor: Actor,
    /// What happened.
    pub kind: JournalKind,
    /// To what.
    pub subject: String,
    /// Digest of what changed.
    pub digest: ChainDigest,
    /// Binds this record and all before it.
    pub chain: ChainDigest,
}

/// A BLAKE3 digest shown as hex.
#[derive(Clone, Copy, PartialEq, Eq, JsonSchema)]
#[schemars(extend("pattern" = "^[0-9a-f]{64}$"))]
pub struct ChainDigest(#[schemars(with = "String")] pub [u8; 32]);

impl JournalKind {
    /// Every kind that is not an event.
    const CHANGES: [Self; 23] = [
        Self::SpaceCreated,
        Self::CommitCreated,
        Self::CommitAnnotated,
        Self::HeadMoved,
        Self::HeadDeleted,
        Self::ArtifactStored,
        Self::EnvelopeCreated,
        Self::InjectionCreated,
        Self::MissingCreated,
        Self::MissingChanged,
        Self::SecretPolicyChanged,
        Self::SecretsFound,
        Self::ContentRevealed,
        Self::ArtifactWithheld,
        Self::AnnotationWithheld,
        Self::ArtifactsCollected,
        Self::ChannelCreated,
        Self::ChannelChanged,
        Self::MessageAppended,
        Self::ParticipantRegistered,
        Self::TurnBegun,
        Self::TurnChanged,
        Self::CursorMoved,
    ];

    /// Returns every kind.
    fn all() -> impl Iterator<Item = Self> {
        Self::CHANGES.into_iter().chain(EventKind::ALL.iter().copied().map(Self::Event))
    }

    /// Returns the word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::SpaceCreated => "space.created",
            Self::CommitCreated => "commit.created",
            Self::CommitAnnotated => "commit.annotated",
            Self::HeadMoved => "head.moved",
            Self::HeadDeleted => "head.deleted",
            Self::ArtifactStored => "artifact.stored",
            Self::EnvelopeCreated => "envelope.created",
            Self::InjectionCreated => "injection.created",
            Self::MissingCreated => "missing.created",
            Self::MissingChanged => "missing.changed",
            Self::SecretPolicyChanged => "secrets.policy",
            Self::SecretsFound => "secrets.found",
            Self::ContentRevealed => "content.revealed",
            Self::ArtifactWithheld => "artifact.withheld",
            Self::AnnotationWithheld => "annotation.withheld",
            Self::ArtifactsCollected => "artifacts.collected",
            Self::ChannelCreated => "channel.created",
            Self::ChannelChanged => "channel.changed",
            Self::MessageAppended => "message.appended",
            Self::ParticipantRegistered => "participant.registered",
            Self::TurnBegun => "turn.begun",
            Self::TurnChanged => "turn.changed",
            Self::CursorMoved => "cursor.moved",
            Self::Event(kind) => kind.as_str(),
        }
    }
}

impl fmt::Display for JournalKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for JournalKind {
    type Err = UnknownWord;

    fn from_str(word: &str) -> Result<Self, UnknownWord> {
        // People need not read the names of all events to see what is wrong.
        let unknown = || UnknownWord::new(word, Self::CHANGES.into_iter().map(Self::as_str).chain(["context.*"]));
        Self::all().find(|known| known.as_str() == word).ok_or_else(unknown)
    }
}

impl Serialize for JournalKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for JournalKind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

impl JsonSchema for JournalKind {
    fn schema_name() -> Cow<'static, str> {
        "JournalKind".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "What a journal record tells.",
            "type": "string",
            "enum": Self::all().map(Self::as_str).collect::<Vec<_>>(),
        })
    }
}

impl Mutation {
    /// Describes a mutation by the canonical JSON of what changed, which has text keys and exact numbers only.
    pub fn new<T: Serialize>(kind: JournalKind, subject: impl Into<String>, change: &T) -> Self {
        let change = canonical::to_vec(change).expect("what changed has text keys and exact numbers only");
        Self::of_bytes(kind, subject, &change)
    }

    /// Describes a mutation by bytes that stand for what changed.
    pub fn of_bytes(kind: JournalKind, subject: impl Into<String>, change: &[u8]) -> Self {
        let digest = ChainDigest(blake3::derive_key(MUTATION_CONTEXT, change));
        Self { kind, subject: subject.into(), digest }
    }
}

impl JournalRecord {
    /// Gives a mutation the place after `previous`, the chain digest of the record before it.
    pub fn append(
        space: &SpaceName,
        previous: Option<(u64, ChainDigest)>,
        at: Timestamp,
        actor: Actor,
        mutation: Mutation,
    ) -> Self {
        let Mutation { kind, subject, digest } = mutation;
        let seq = previous.map_or(1, |(seq, _)| seq + 1);
        let mut record = Self { seq, at, actor, kind, subject, digest, chain: ChainDigest::GENESIS };
        record.chain = record.link(space, previous.map_or(ChainDigest::GENESIS, |(_, chain)| chain));
        record
    }

    /// Returns the chain digest that this record must carry after `previous`.
    ///
    /// It is BLAKE3 over `previous`, the digest, the sequence number and the time as eight bytes each, least
    /// significant first, and then space, actor, kind and subject, each after its length as eight bytes.
    pub fn link(&self, space: &SpaceName, previous: ChainDigest) -> ChainDigest {
        let mut hasher = blake3::Hasher::new_derive_key(CHAIN_CONTEXT);
        hasher.update(&previous.0).update(&self.digest.0);
        hasher.update(&self.seq.to_le_bytes()).update(&self.at.as_micros().to_le_bytes());
        for text in [space.as_str(), self.actor.as_str(), self.kind.as_str(), &self.subject] {
            hasher.update(&(text.len() as u64).to_le_bytes()).update(text.as_bytes());
        }
        ChainDigest(*hasher.finalize().as_bytes())
    }
}

impl ChainDigest {
    /// What the first record follows.
    pub const GENESIS: Self = Self([0; 32]);
}

impl fmt::Display for ChainDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

impl fmt::Debug for ChainDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl<'de> Deserialize<'de> for ChainDigest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut bytes = [0; 32];
        hex::decode_to_slice(String::deserialize(deserializer)?, &mut bytes).map_err(de::Error::custom)?;
        Ok(Self(bytes))
    }
}

impl Serialize for ChainDigest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_read_from_its_word() {
        assert_eq!(JournalKind::all().count(), 23 + 21);
        for kind in JournalKind::all() {
            assert_eq!(kind.as_str().parse::<JournalKind>(), Ok(kind));
        }
        assert!("context.surface".parse::<JournalKind>().is_err());
    }

    #[test]
    fn a_changed_record_breaks_the_chain_after_it() {
        let space = SpaceName::new("default").unwrap();
        let at = Timestamp::from_micros(1).unwrap();
        let actor = Actor::new("ada").unwrap();
        let mutation = |subject: &str| Mutation::new(JournalKind::HeadMoved, subject, &"change");
        let first = JournalRecord::append(&space, None, at, actor.clone(), mutation("main"));
        let second = JournalRecord::append(&space, Some((first.seq, first.chain)), at, actor, mutation("side"));
        assert_eq!((first.seq, second.seq), (1, 2));
        assert_eq!(second.link(&space, first.chain), second.chain);
        let forged = JournalRecord { subject: "mine".into(), ..first.clone() };
        assert_ne!(forged.link(&space, ChainDigest::GENESIS), first.chain);
        assert_ne!(second.link(&space, forged.link(&space, ChainDigest::GENESIS)), second.chain);
    }
}
