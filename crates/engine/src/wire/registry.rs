//! Which documents there are, and what each looks like.

use schemars::{JsonSchema, Schema, generate::SchemaSettings};
#[cfg(any(test, feature = "rewrite"))]
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::{SchemaVersion, Versioned};

/// A kind of document.
#[derive(Debug, Clone, Copy)]
pub struct DocumentKind {
    /// Its name.
    pub name: &'static str,
    /// What it tells.
    pub about: &'static str,
    /// The commands that print it with `--json`.
    pub commands: &'static [&'static str],
    /// The version of its shape.
    pub version: SchemaVersion,
    schema: fn() -> Schema,
    #[cfg(any(test, feature = "rewrite"))]
    rewrite: fn(&str) -> serde_json::Result<String>,
}

/// A kind of document, as programs read of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ListedDocument {
    /// Its name.
    pub name: String,
    /// What it tells.
    pub about: String,
    /// The commands that print it with `--json`.
    pub commands: Vec<String>,
    /// The version of its shape.
    pub version: SchemaVersion,
}

impl DocumentKind {
    /// Returns every kind, by name.
    pub fn all() -> &'static [Self] {
        KINDS
    }

    /// Finds a kind by its name.
    pub fn find(name: &str) -> Option<&'static Self> {
        KINDS.iter().find(|kind| kind.name == name)
    }

    /// Returns the JSON schema of such documents, in the draft of 2020-12.
    pub fn schema(&self) -> Schema {
        let mut schema = (self.schema)();
        schema.insert("title".to_owned(), self.name.into());
        schema.insert("description".to_owned(), self.about.into());
        schema
    }

    /// Reads such a document and writes it again, which gives the same text.
    ///
    /// Fails when it is none of this kind, or of another version. Tests hold what is printed against it; code that reads
    /// every document takes long to compile, so it is there only for those who ask for the feature `rewrite`.
    #[cfg(any(test, feature = "rewrite"))]
    pub fn rewrite(&self, document: &str) -> serde_json::Result<String> {
        (self.rewrite)(document)
    }
}

impl From<&DocumentKind> for ListedDocument {
    fn from(kind: &DocumentKind) -> Self {
        let DocumentKind { name, about, commands, version, .. } = *kind;
        let commands = commands.iter().map(|command| (*command).to_owned()).collect();
        Self { name: name.to_owned(), about: about.to_owned(), commands, version }
    }
}

macro_rules! kinds {
    ($($name:literal, $body:ty, $about:literal, [$($command:literal),+ $(,)?];)+) => {
        const KINDS: &[DocumentKind] = &[$(DocumentKind {
            name: $name,
            about: $about,
            commands: &[$($command),+],
            version: SchemaVersion::One,
            schema: schema::<$body>,
            #[cfg(any(test, feature = "rewrite"))]
            rewrite: rewrite::<$body>,
        }),+];
    };
}

kinds! {
    "artifact", super::MeasuredArtifact, "An artifact that was stored or written.", ["artifact put", "artifact get"];
    "artifact-stat", crate::ArtifactStat, "How an artifact is stored.", ["artifact stat"];
    "assembled-envelope", super::AssembledEnvelope, "What was assembled, and what each target is given.", ["assemble"];
    "blamed-lines", super::BlamedLines, "Lines of a file and the context that made them.", ["blame"];
    "bundle-export", crate::ExportSummary, "What was written as a bundle.", ["export"];
    "bundle-import", crate::ImportSummary, "What was taken in from a bundle.", ["import-bundle"];
    "channel", super::ChannelDocument, "A channel and where it ends.",
        ["channel create", "channel list", "channel show", "channel close", "channel archive", "channel open"];
    "channel-cursor", contexture_core::AgentCursor, "How far an agent is in a channel.", ["channel rewind"];
    "channel-message", super::MessageDocument, "A message, and the agents that have to do with it.",
        ["channel read", "channel follow", "channel turn begin"];
    "channel-participant", contexture_core::Participant, "Who takes part in a channel.",
        ["channel participants", "channel show"];
    "channel-post", super::PostedMessage, "A message that is in its channel.", ["channel post"];
    "channel-turn", contexture_core::AgentTurn, "A turn of an agent in a channel.",
        ["channel turn begin", "channel turn finish", "channel turn injected", "channel turn show"];
    "checked-recipe", super::CheckedRecipe, "What is wrong with a recipe.", ["recipe check"];
    "checked-records", super::CheckedRecords, "What is wrong with records of the standard.", ["check"];
    "collected-artifacts", super::CollectedArtifacts, "What was removed because nothing referred to it.", ["gc"];
    "commit", super::CommitDocument, "A commit with what is said about it.", ["log", "children", "annotate"];
    "commit-origin", super::CommitOrigin, "The contexts that made a git commit.", ["why-commit"];
    "compared-chains", super::ComparedChains, "What one chain has that another has not.", ["diff"];
    "compared-file", super::ComparedFile, "A file that was compared with the store.", ["import --verify"];
    "current-commit", super::CurrentCommit, "The commit that is the caller's understanding now.", ["current"];
    "doctor-report", super::DoctorReport, "Whether all that agents said is in the store.", ["doctor"];
    "document-kind", ListedDocument, "A kind of document.", ["schema"];
    "entry", super::EntryDocument, "Something that a commit says.", ["cat", "show --entries"];
    "envelope", super::ShownEnvelope, "An envelope with all that was decided.", ["envelope show"];
    "envelope-difference", super::EnvelopeDifference, "What is different between two envelopes.",
        ["envelope diff", "diff --envelopes"];
    "envelope-row", crate::StoredEnvelope, "An envelope in a list.", ["envelope list"];
    "envelope-why", crate::Why, "What became of something in an envelope.", ["envelope why"];
    "failure", super::FailureDocument, "Why something was not done, on standard error.", ["any"];
    "format", super::FormatDocument, "A format that is known by name.", ["formats"];
    "fsck-report", crate::fsck::FsckReport, "What is damaged in a space.", ["fsck"];
    "grown-session", super::GrownSession, "A session that has grown while it was watched.", ["watch"];
    "head", crate::Head, "A head and where it points.", ["head list"];
    "head-move", crate::HeadMove, "A move of a head, as it is kept.", ["head log"];
    "import-closing", super::ImportClosing, "What became of all files.", ["import", "init"];
    "imported-file", super::ImportedFile, "What became of a session file.", ["import"];
    "injection", crate::Injected, "An injection that was recorded.", ["envelope inject"];
    "journal-record", crate::core::JournalRecord, "A change of a space.", ["journal"];
    "listed-commit", super::ListedCommit, "A commit and how to go on behind it.", ["list"];
    "listed-recipe", super::ListedRecipe, "A recipe that is found by name.", ["recipe list"];
    "listed-secret", super::ListedSecret, "A secret that occurs in a space.", ["secrets list"];
    "located-secret", super::LocatedSecret, "All that held a secret.", ["secrets where"];
    "made-commit", super::MadeCommit, "A commit that was made.", ["checkpoint", "compact", "snapshot"];
    "materialized", crate::Materialized, "What a conversation came to, and what was lost.",
        ["materialize --output", "materialize --report"];
    "missing-context", crate::assembly::standard::MissingContext, "What is known not to be there.",
        ["missing list", "missing resolve"];
    "moved-head", super::MovedHead, "A head that was made, moved or deleted.",
        ["fork", "head set", "head move", "head delete"];
    "planned-file", super::PlannedFile, "A file that would be taken in.", ["import --dry-run"];
    "purge", super::PurgeReport, "What was purged, and whom it concerns.", ["purge"];
    "replayed-rendering", super::ReplayedRendering, "What a replay gave for a target.", ["envelope replay"];
    "resolved-commit", super::ResolvedCommit, "The commit that somebody was at.", ["resolve"];
    "resumable-session", super::ResumableSession, "A session that was written for an agent to go on with.", ["resume"];
    "scanned-secrets", crate::ScannedSecrets, "What a scan for secrets found.", ["secrets scan"];
    "search-hit", super::SearchHit, "A passage that was found.", ["search"];
    "search-index", super::SearchIndex, "What became of the index.", ["search --rebuild"];
    "secret-policy", super::SecretPolicyState, "How the secrets of a space are treated.", ["secrets policy"];
    "session", super::SessionDocument, "A session and what it came to.", ["sessions"];
    "set-up-place", super::SetUpPlace, "What was done to an agent's settings or to git's hooks.", ["init"];
    "shown-commit", super::ShownCommit, "A commit with its surroundings.", ["show"];
    "shown-recipe", super::ShownRecipe, "A recipe with all that holds in it.", ["recipe show"];
    "space", crate::Space, "A space of the store.", ["spaces"];
    "space-stats", super::SpaceStats, "How much a space holds.", ["stats"];
    "store-inspection", super::InspectedStore, "What a look at a store found.", ["store check"];
    "store-path", super::StorePath, "Where a store is.", ["store path"];
    "trusted-recipe", super::TrustedRecipe, "A recipe of a project that is trusted, or could be.", ["trust"];
    "turn", super::TurnDocument, "A request and what came of it.", ["log --turns"];
}

fn schema<T: JsonSchema>() -> Schema {
    SchemaSettings::draft2020_12().for_serialize().into_generator().into_root_schema_for::<Versioned<T>>()
}

#[cfg(any(test, feature = "rewrite"))]
fn rewrite<T: Serialize + DeserializeOwned>(document: &str) -> serde_json::Result<String> {
    serde_json::to_string(&serde_json::from_str::<Versioned<T>>(document)?)
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use serde_json::Value;

    use super::*;

    /// Every document, the version of its shape, and what prints it. What breaks a reader of one needs another version.
    const LISTED: &str = "\
artifact contexture/1 artifact put, artifact get
artifact-stat contexture/1 artifact stat
assembled-envelope contexture/1 assemble
blamed-lines contexture/1 blame
bundle-export contexture/1 export
bundle-import contexture/1 import-bundle
channel contexture/1 channel create, channel list, channel show, channel close, channel archive, channel open
channel-cursor contexture/1 channel rewind
channel-message contexture/1 channel read, channel follow, channel turn begin
channel-participant contexture/1 channel participants, channel show
channel-post contexture/1 channel post
channel-turn contexture/1 channel turn begin, channel turn finish, channel turn injected, channel turn show
checked-recipe contexture/1 recipe check
checked-records contexture/1 check
collected-artifacts contexture/1 gc
commit contexture/1 log, children, annotate
commit-origin contexture/1 why-commit
compared-chains contexture/1 diff
compared-file contexture/1 import --verify
current-commit contexture/1 current
doctor-report contexture/1 doctor
document-kind contexture/1 schema
entry contexture/1 cat, show --entries
envelope contexture/1 envelope show
envelope-difference contexture/1 envelope diff, diff --envelopes
envelope-row contexture/1 envelope list
envelope-why contexture/1 envelope why
failure contexture/1 any
format contexture/1 formats
fsck-report contexture/1 fsck
grown-session contexture/1 watch
head contexture/1 head list
head-move contexture/1 head log
import-closing contexture/1 import, init
imported-file contexture/1 import
injection contexture/1 envelope inject
journal-record contexture/1 journal
listed-commit contexture/1 list
listed-recipe contexture/1 recipe list
listed-secret contexture/1 secrets list
located-secret contexture/1 secrets where
made-commit contexture/1 checkpoint, compact, snapshot
materialized contexture/1 materialize --output, materialize --report
missing-context contexture/1 missing list, missing resolve
moved-head contexture/1 fork, head set, head move, head delete
planned-file contexture/1 import --dry-run
purge contexture/1 purge
replayed-rendering contexture/1 envelope replay
resolved-commit contexture/1 resolve
resumable-session contexture/1 resume
scanned-secrets contexture/1 secrets scan
search-hit contexture/1 search
search-index contexture/1 search --rebuild
secret-policy contexture/1 secrets policy
session contexture/1 sessions
set-up-place contexture/1 init
shown-commit contexture/1 show
shown-recipe contexture/1 recipe show
space contexture/1 spaces
space-stats contexture/1 stats
store-inspection contexture/1 store check
store-path contexture/1 store path
trusted-recipe contexture/1 trust
turn contexture/1 log --turns
";

    #[test]
    fn every_document_has_a_name_and_a_version() {
        let mut listed = String::new();
        for DocumentKind { name, commands, version, .. } in DocumentKind::all() {
            let version = serde_json::to_value(version).unwrap();
            writeln!(listed, "{name} {} {}", version.as_str().unwrap(), commands.join(", ")).unwrap();
        }
        assert_eq!(listed, LISTED);
        assert!(DocumentKind::all().is_sorted_by(|a, b| a.name < b.name));
    }

    #[test]
    fn every_schema_says_what_a_document_holds() {
        for kind in DocumentKind::all() {
            let schema = serde_json::to_value(kind.schema()).unwrap();
            assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
            assert_eq!((&schema["title"], &schema["type"]), (&kind.name.into(), &"object".into()));
            let required = schema["required"].as_array().unwrap();
            assert!(required.contains(&"schema".into()), "{}", kind.name);
            follow(&schema, &schema);
        }
    }

    /// Goes to whatever a schema refers to.
    fn follow(part: &Value, whole: &Value) {
        match part {
            Value::Object(fields) => {
                if let Some(Value::String(reference)) = fields.get("$ref") {
                    assert!(whole.pointer(reference.strip_prefix('#').unwrap()).is_some(), "{reference}");
                }
                fields.values().for_each(|field| follow(field, whole));
            }
            Value::Array(parts) => parts.iter().for_each(|part| follow(part, whole)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
}
