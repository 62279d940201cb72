//! What can be wrong with a space, each problem named by the thing that it hits.

use contexture_core::{
    ArtifactId, ChannelId, CommitId, EnvelopeId, HeadName, IdempotencyKey, InjectionId, MessageSequence, MissingId,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    AnnotationFault, ArtifactFault, ChannelFault, CommitFault, EnvelopeFault, HeadFault, JournalFault, LineFault,
    MessageFault, PassageFault, Phase, RecordFault, RenderingFault, RequestFault,
};
use crate::Error;

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, thiserror::Error)]
#[serde(tag = "thing", rename_all = "snake_case")]
pub enum FsckProblem {
    /// The database engine finds its own file in disorder.
    #[error("the database finds itself damaged: {what}")]
    Engine {
        /// What the engine says.
        what: String,
    },
    /// The engine cannot return some rows. They and what refers to them were not checked.
    #[error("{phase} {} cannot be read: {what}", range(after, until.as_ref()))]
    Rows {
        /// Which rows.
        phase: Phase,
        /// The key after which they begin.
        after: String,
        /// The key they reach to; nothing when it is the end.
        #[serde(skip_serializing_if = "Option::is_none")]
        until: Option<String>,
        /// Why they cannot be read.
        what: String,
    },
    /// A row is too broken to say which thing it is.
    #[error("the row {key} of the {phase} cannot be read: {what}")]
    Row {
        /// Which rows it is one of.
        phase: Phase,
        /// Its key.
        key: String,
        /// What is wrong with it.
        what: String,
    },
    /// Records are missing from the journal.
    #[error("the journal lacks records {first} to {last}")]
    JournalGap {
        /// The first that is missing.
        first: i64,
        /// The last that is missing.
        last: i64,
    },
    /// A record of the journal is wrong.
    #[error("journal record {seq} {fault}")]
    Journal {
        /// Its sequence number.
        seq: i64,
        /// What is wrong.
        #[serde(flatten)]
        fault: JournalFault,
    },
    /// An artifact is wrong.
    #[error("artifact {artifact} {fault}")]
    Artifact {
        /// Its id.
        artifact: ArtifactId,
        /// What is wrong.
        #[serde(flatten)]
        fault: ArtifactFault,
    },
    /// A line is wrong.
    #[error("line {line} {fault}")]
    Line {
        /// Its key.
        line: i64,
        /// What is wrong.
        #[serde(flatten)]
        fault: LineFault,
    },
    /// A commit is wrong.
    #[error("commit {commit} {fault}")]
    Commit {
        /// Its id, as stored.
        commit: CommitId,
        /// What is wrong.
        #[serde(flatten)]
        fault: CommitFault,
    },
    /// A head or its log is wrong.
    #[error("head {head} {fault}")]
    Head {
        /// Its name.
        head: HeadName,
        /// What is wrong.
        #[serde(flatten)]
        fault: HeadFault,
    },
    /// An annotation is wrong.
    #[error("annotation {seq} {fault}")]
    Annotation {
        /// Its sequence number in the journal.
        seq: i64,
        /// What is wrong.
        #[serde(flatten)]
        fault: AnnotationFault,
    },
    /// A passage of the index that searches ask is wrong.
    #[error("passage {passage} of the search index {fault}")]
    Passage {
        /// Its key.
        passage: i64,
        /// What is wrong.
        #[serde(flatten)]
        fault: PassageFault,
    },
    /// The index that searches ask claims to know what has not happened.
    #[error("the search index is at journal record {seq}, beyond the last, which is {tip}")]
    IndexAhead {
        /// Where the index is.
        seq: u64,
        /// Where the journal ends.
        tip: u64,
    },
    /// A translation that is kept is wrong.
    #[error("rendering {rendering} {fault}")]
    Rendering {
        /// Its key, in hex.
        rendering: String,
        /// What is wrong.
        #[serde(flatten)]
        fault: RenderingFault,
    },
    /// What is remembered of a request is wrong.
    #[error("idempotency key {key} {fault}")]
    Request {
        /// The key.
        key: IdempotencyKey,
        /// What is wrong.
        #[serde(flatten)]
        fault: RequestFault,
    },
    /// An envelope is wrong.
    #[error("envelope {envelope} {fault}")]
    Envelope {
        /// Its id, as stored.
        envelope: EnvelopeId,
        /// What is wrong.
        #[serde(flatten)]
        fault: EnvelopeFault,
    },
    /// An artifact belongs to an envelope that does not exist.
    #[error("artifact {artifact} belongs to an envelope of journal record {seq}, which does not exist")]
    EnvelopeArtifact {
        /// The record that tells of the envelope.
        seq: i64,
        /// The artifact.
        artifact: ArtifactId,
    },
    /// An injection is wrong.
    #[error("injection {injection} {fault}")]
    Injection {
        /// Its id, as stored.
        injection: InjectionId,
        /// What is wrong.
        #[serde(flatten)]
        fault: RecordFault,
    },
    /// Missing context is wrong.
    #[error("missing context {missing} {fault}")]
    Missing {
        /// Its id.
        missing: MissingId,
        /// What is wrong.
        #[serde(flatten)]
        fault: RecordFault,
    },
    /// A channel is wrong.
    #[error("channel {channel} {fault}")]
    Channel {
        /// Its id, as stored.
        channel: ChannelId,
        /// What is wrong.
        #[serde(flatten)]
        fault: ChannelFault,
    },
    /// A message is wrong.
    #[error("message {sequence} of {channel} {fault}")]
    Message {
        /// Its channel.
        channel: ChannelId,
        /// Its place there.
        sequence: MessageSequence,
        /// What is wrong.
        #[serde(flatten)]
        fault: MessageFault,
    },
    /// An event is wrong.
    #[error("event {seq} {fault}")]
    Event {
        /// Its sequence number in the journal.
        seq: i64,
        /// What is wrong.
        #[serde(flatten)]
        fault: RecordFault,
    },
}

/// Says in a phrase why something could not be read.
pub(super) fn reason(error: Error) -> String {
    match error {
        Error::Damaged { what } => what,
        Error::Database { ref source, .. } | Error::Disk { ref source } => format!("{error}: {source}"),
        other => other.to_string(),
    }
}

fn range(after: &str, until: Option<&String>) -> String {
    until.map_or_else(|| format!("after {after}"), |until| format!("after {after} up to {until}"))
}
