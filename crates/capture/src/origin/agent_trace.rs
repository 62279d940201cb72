//! Origins as a record of Agent Trace, which other tools read.

use contexture::{
    MatchGrade,
    core::{CommitId, Timestamp},
    wire::Certainty,
};
use serde::Serialize;

use super::{BlamedFile, LineOrigin, LineRun, OriginFinder};
use crate::Result;

/// The version of the specification.
const VERSION: &str = "0.1.0";
/// What this program is called in records.
const TOOL: &str = "contexture";

/// A record of Agent Trace: which lines of which files an agent has had a part in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AgentTrace {
    /// The version of the specification.
    pub version: &'static str,
    /// A UUID that is made from what the record says, so the same record has the same one.
    pub id: String,
    /// When the record was made.
    pub timestamp: Timestamp,
    /// The state of the repository that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vcs: Option<AgentTraceRevision>,
    /// Who made it.
    pub tool: AgentTraceTool,
    /// The files.
    pub files: Vec<AgentTraceFile>,
    /// What the specification has no place for.
    pub metadata: AgentTraceMetadata,
}

/// The state of a repository.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AgentTraceRevision {
    /// Always git.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// The commit that is checked out.
    pub revision: String,
}

/// A program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AgentTraceTool {
    /// Its name.
    pub name: &'static str,
    /// Its version.
    pub version: &'static str,
}

/// A file and the conversations that had a part in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AgentTraceFile {
    /// From the top of the repository.
    pub path: String,
    /// The conversations, in the order of their first lines.
    pub conversations: Vec<AgentTraceConversation>,
}

/// A conversation and the lines that come from it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AgentTraceConversation {
    /// The context, as `ctx:ctx-…`; nothing where several are possible.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Who wrote the lines.
    pub contributor: AgentTraceContributor,
    /// The lines.
    pub ranges: Vec<AgentTraceRange>,
    /// The session, or all contexts that are possible.
    pub related: Vec<AgentTraceLink>,
}

/// Who wrote lines.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AgentTraceContributor {
    /// What kind of author it is.
    #[serde(rename = "type")]
    pub kind: ContributorKind,
    /// The model, as its runtime calls it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_id: Option<String>,
}

/// A kind of author.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ContributorKind {
    /// A model.
    Ai,
    /// A model, and a person who changed what it wrote.
    Mixed,
    /// One of several, and nothing says which.
    Unknown,
}

/// Lines that follow each other.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AgentTraceRange {
    /// The first, from 1.
    pub start_line: u64,
    /// The last.
    pub end_line: u64,
    /// A digest of what they say, wherever they stand.
    pub content_hash: String,
}

/// Something that belongs to a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AgentTraceLink {
    /// What it is.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// Where it is.
    pub url: String,
}

/// What the specification has no place for, under a name of this program's own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AgentTraceMetadata {
    /// How sure each answer is.
    #[serde(rename = "dev.contexture")]
    pub ranges: Vec<RangeEvidence>,
}

/// How sure it is where lines come from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RangeEvidence {
    /// The file.
    pub path: String,
    /// The first line, from 1.
    pub start_line: u64,
    /// The last.
    pub end_line: u64,
    /// How sure it is.
    pub certainty: Certainty,
    /// How the text agrees with what a call wrote.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grade: Option<MatchGrade>,
    /// The context, or all that are possible.
    pub contexts: Vec<CommitId>,
}

impl OriginFinder<'_> {
    /// Writes what was found of a file as a record of Agent Trace. Lines of which nothing is known are not in it.
    pub async fn agent_trace(&self, blamed: &BlamedFile, timestamp: Timestamp) -> Result<AgentTrace> {
        let mut conversations: Vec<(Vec<CommitId>, AgentTraceConversation)> = Vec::new();
        let mut ranges = Vec::new();
        for run in &blamed.runs {
            let places = match &run.origin {
                LineOrigin::Unknown => continue,
                LineOrigin::Known(place) => vec![*place],
                LineOrigin::Ambiguous(places) => places.clone(),
            };
            let contexts: Vec<CommitId> = places.iter().map(|place| blamed.contexts[*place].commit).collect();
            let first = &blamed.contexts[places[0]];
            ranges.push(RangeEvidence {
                path: blamed.path.clone(),
                start_line: run.first(),
                end_line: run.last(),
                certainty: first.certainty,
                grade: first.grade,
                contexts: contexts.clone(),
            });
            let conversation = self.conversation(&contexts, first.grade).await?;
            let is_same = |known: &&mut (Vec<CommitId>, AgentTraceConversation)| {
                known.0 == contexts && known.1.contributor == conversation.contributor
            };
            if let Some((_, known)) = conversations.iter_mut().find(is_same) {
                known.ranges.push(range(run));
            } else {
                let conversation = AgentTraceConversation { ranges: vec![range(run)], ..conversation };
                conversations.push((contexts, conversation));
            }
        }
        let conversations = conversations.into_iter().map(|(_, conversation)| conversation).collect();
        let revision = self.revision()?;
        let mut trace = AgentTrace {
            version: VERSION,
            id: String::new(),
            timestamp,
            vcs: revision.map(|revision| AgentTraceRevision { kind: "git", revision: revision.to_string() }),
            tool: AgentTraceTool { name: TOOL, version: env!("CARGO_PKG_VERSION") },
            files: vec![AgentTraceFile { path: blamed.path.clone(), conversations }],
            metadata: AgentTraceMetadata { ranges },
        };
        trace.id = uuid_of(&serde_json::to_vec(&trace).unwrap_or_default());
        Ok(trace)
    }

    /// Describes the conversation of some contexts, without lines.
    async fn conversation(&self, contexts: &[CommitId], grade: Option<MatchGrade>) -> Result<AgentTraceConversation> {
        let url = |context: &CommitId| format!("ctx:{context}");
        let [context] = contexts else {
            let contributor = AgentTraceContributor { kind: ContributorKind::Unknown, model_id: None };
            let related = contexts.iter().map(|context| AgentTraceLink { kind: "candidate", url: url(context) });
            return Ok(AgentTraceConversation {
                url: None,
                contributor,
                ranges: Vec::new(),
                related: related.collect(),
            });
        };
        let kind = if grade == Some(MatchGrade::Near) { ContributorKind::Mixed } else { ContributorKind::Ai };
        let session = self.engine().show(*context).await?.commit.provenance.session;
        let related = session.map(|session| AgentTraceLink { kind: "session", url: format!("ctx:session/{session}") });
        let model_id = self.engine().target_of(Some(*context)).await?.model;
        Ok(AgentTraceConversation {
            url: Some(url(context)),
            contributor: AgentTraceContributor { kind, model_id },
            ranges: Vec::new(),
            related: related.into_iter().collect(),
        })
    }
}

fn range(run: &LineRun) -> AgentTraceRange {
    let content_hash = format!("blake3:{}", blake3::hash(run.texts().join("\n").as_bytes()).to_hex());
    AgentTraceRange { start_line: run.first(), end_line: run.last(), content_hash }
}

/// Makes a UUID of version 8 from what is said.
fn uuid_of(content: &[u8]) -> String {
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&blake3::hash(content).as_bytes()[..16]);
    bytes[6] = 0x80 | bytes[6] & 0x0f;
    bytes[8] = 0x80 | bytes[8] & 0x3f;
    let hex = hex::encode(bytes);
    [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_a_uuid_that_says_how_it_was_made() {
        let id = uuid_of(b"a record");
        let parts: Vec<usize> = id.split('-').map(str::len).collect();
        assert_eq!(parts, [8, 4, 4, 4, 12]);
        assert_eq!((&id[14..15], id == uuid_of(b"another")), ("8", false));
    }
}
