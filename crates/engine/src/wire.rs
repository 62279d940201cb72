//! What goes over a wire or to `--json`: defined once, with the version of its shape.
//!
//! A document is printed and read by the same type, and its JSON schema is made from that type too.
//! [`DocumentKind`] lists them all.

mod artifact;
mod channel;
mod check;
mod commit;
mod current;
mod difference;
mod doctor;
mod entry;
mod envelope;
mod failure;
mod format;
mod head;
mod import;
mod origin;
mod purge;
mod recipe;
mod registry;
mod resume;
mod search;
mod secrets;
mod session;
mod setup;
mod store;
mod turn;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use artifact::MeasuredArtifact;
pub use channel::{ChannelDocument, MessageDocument, PostedMessage};
pub use check::{CheckedRecords, FaultDocument};
pub use commit::{CommitDocument, ListCursor, ListCursorError, ListedCommit, MadeCommit, ResolvedCommit, ShownCommit};
pub use current::{CurrentCommit, FoundBy};
pub use difference::{ComparedChain, ComparedChains};
pub use doctor::{
    AgentsHealth, DoctorReport, Drained, ExpiringSession, HealthCheck, HealthProblem, HookCall, HookHealth,
    IncompleteSession, LoggedTrouble, RepairedCapture, RetentionHealth, SessionState, SessionsHealth, SessionsTally,
    SpoolHealth, StoreHealth, StoreState, UnreadTail,
};
pub use entry::{EntryBody, EntryDocument};
pub use envelope::{AssembledEnvelope, EnvelopeDifference, RemovedItem, ReplayedRendering, ShownEnvelope};
pub use failure::{FailureBody, FailureDocument, causes};
pub use format::FormatDocument;
pub use head::{HeadsByCommit, MovedHead};
pub use import::{
    BadLine, ComparedFile, FileOutcome, GrownSession, ImportClosing, ImportTotals, ImportedFile, PlannedFile,
    SkippedFile, Verified,
};
pub use origin::{
    AmbiguousContribution, BlamedLines, Certainty, ChangedFile, CommitContribution, CommitOrigin, EditDocument,
    GitCommitDocument, StoryDocument,
};
pub use purge::PurgeReport;
pub use recipe::{
    CheckedRecipe, ListedRecipe, MistakePlace, RecipeMistake, RecipeSummary, ShownRecipe, TrustState, TrustedRecipe,
};
pub use registry::{DocumentKind, ListedDocument};
pub use resume::ResumableSession;
pub use search::{SearchHit, SearchIndex};
pub use secrets::{ListedSecret, LocatedSecret, SecretPolicyState};
pub use session::{SessionActivity, SessionBase, SessionCursor, SessionCursorError, SessionDocument};
pub use setup::{SetUpPlace, SetupEffect};
pub use store::{CollectedArtifacts, InspectedStore, SpaceStats, StorePath};
pub use turn::TurnDocument;

/// Version of every document's shape.
pub const SCHEMA: &str = "contexture/1";

/// A document: its body and the version of its shape.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Versioned<T> {
    /// Which shape it has.
    pub schema: SchemaVersion,
    /// The fields.
    #[serde(flatten)]
    pub body: T,
}

/// The version of a document's shape; a document of another version cannot be read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum SchemaVersion {
    /// The first.
    #[default]
    #[serde(rename = "contexture/1")]
    One,
}

impl<T> Versioned<T> {
    /// Puts the version on a body.
    pub fn new(body: T) -> Self {
        Self { schema: SchemaVersion::One, body }
    }

    /// Writes the document as `--json` prints it, without the end of the line.
    pub fn to_json(&self) -> String
    where
        T: Serialize,
    {
        serde_json::to_string(self).expect("documents have a JSON form")
    }
}

#[cfg(test)]
mod tests {
    use contexture_core::{ArtifactId, CommitId, Entry, EntryPart, Format, HeadName, Role};
    use serde::de::DeserializeOwned;
    use serde_json::{Value, json};

    use super::*;

    /// Reads a document and writes it again, which must give the same.
    fn survives<T: Serialize + DeserializeOwned + JsonSchema>(body: &T) {
        let text = serde_json::to_string(&Versioned::new(body)).unwrap();
        let read: Versioned<T> = serde_json::from_str(&text).unwrap();
        assert_eq!(serde_json::to_string(&read).unwrap(), text);
        let schema = serde_json::to_value(schemars::schema_for!(Versioned<T>)).unwrap();
        assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
        assert_eq!(schema["type"], "object");
    }

    fn commit() -> Value {
        json!({
            "id": CommitId::from_bytes([1; 16]),
            "type": "delta",
            "artifact": ArtifactId::of(b"words"),
            "format": "text",
            "principal": "ada",
            "trigger": "explicit",
            "created_at": "2026-11-15T20:10:00.000000Z",
            "seq": 2,
            "depth": 0,
            "tags": ["wip"],
            "labels": {"ticket": "7"},
            "heads": ["main"],
            "annotation_history":
                [{"kind": "tag", "tag": "wip", "author": "ada", "at": "2026-11-15T20:10:00.000000Z"}],
        })
    }

    #[test]
    fn documents_are_read_as_they_were_written() {
        let commit: CommitDocument = serde_json::from_value(commit()).unwrap();
        survives(&commit);
        survives(&ShownCommit { commit, size: Some(5), withheld: None, children: 1 });
        survives(&MeasuredArtifact { id: ArtifactId::of(b"words"), size: 5, new_bytes: Some(0) });
        let (code, message, causes) = (crate::ErrorCode::NoHead, "there is no head".to_owned(), Vec::new());
        survives(&FailureDocument { error: FailureBody { code, message, causes, hint: None } });
        let id = CommitId::from_bytes([1; 16]);
        survives(&MadeCommit { id, created: true });
        survives(&MovedHead { name: HeadName::new("main").unwrap(), from: None, to: Some(id) });
        let entry = EntryBody::Entry(Box::new(Entry::new(Role::User, vec![EntryPart::text("hi")])));
        survives(&EntryDocument { commit: id, body: entry });
        let format = Format::new("unknown").unwrap();
        survives(&EntryDocument { commit: id, body: EntryBody::Text { format, text: "hi".into(), left_out: 0 } });
    }

    #[test]
    fn a_document_of_another_version_is_refused() {
        let read = |schema: &str| {
            serde_json::from_value::<Versioned<MadeCommit>>(
                json!({"schema": schema, "id": CommitId::from_bytes([1; 16]), "created": true}),
            )
        };
        assert!(read(SCHEMA).is_ok());
        assert!(read("contexture/2").is_err());
    }
}
