//! What an export of OpenCode is made of, as far as it is written.

use serde::Serialize;
use serde_json::{Map, Value};

#[derive(Serialize)]
pub(super) struct WrittenExport<'a> {
    pub(super) info: SessionInfo<'a>,
    pub(super) messages: Vec<WrittenMessage>,
}

#[derive(Serialize)]
pub(super) struct SessionInfo<'a> {
    pub(super) id: &'a str,
    pub(super) slug: &'a str,
    /// OpenCode puts its own here when it imports a session.
    #[serde(rename = "projectID")]
    pub(super) project: &'static str,
    pub(super) directory: &'a str,
    pub(super) title: &'a str,
    pub(super) version: &'a str,
    pub(super) time: SessionTimes,
}

#[derive(Serialize)]
pub(super) struct SessionTimes {
    pub(super) created: i64,
    pub(super) updated: i64,
}

#[derive(Serialize)]
pub(super) struct WrittenMessage {
    pub(super) info: MessageInfo,
    pub(super) parts: Vec<WrittenPart>,
}

#[derive(Serialize)]
pub(super) struct MessageInfo {
    pub(super) id: String,
    #[serde(rename = "sessionID")]
    pub(super) session: String,
    #[serde(flatten)]
    pub(super) voice: MessageVoice,
}

/// Who speaks, and what OpenCode asks to know of that.
#[derive(Serialize)]
#[serde(tag = "role", rename_all = "lowercase")]
pub(super) enum MessageVoice {
    User {
        time: MessageTimes,
        agent: &'static str,
        model: NamedModel,
    },
    Assistant {
        #[serde(rename = "parentID")]
        parent: String,
        time: MessageTimes,
        #[serde(rename = "modelID")]
        model: String,
        #[serde(rename = "providerID")]
        provider: &'static str,
        mode: &'static str,
        agent: &'static str,
        path: WorkingPath,
        cost: u64,
        tokens: NoTokens,
        finish: &'static str,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        summary: bool,
    },
}

#[derive(Serialize)]
pub(super) struct MessageTimes {
    pub(super) created: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) completed: Option<i64>,
}

#[derive(Serialize)]
pub(super) struct NamedModel {
    #[serde(rename = "providerID")]
    pub(super) provider: &'static str,
    #[serde(rename = "modelID")]
    pub(super) model: String,
}

#[derive(Serialize)]
pub(super) struct WorkingPath {
    pub(super) cwd: String,
    pub(super) root: String,
}

/// What OpenCode asks for and nobody knows any more.
#[derive(Default, Serialize)]
pub(super) struct NoTokens {
    input: u64,
    output: u64,
    reasoning: u64,
    cache: NoCache,
}

#[derive(Default, Serialize)]
struct NoCache {
    read: u64,
    write: u64,
}

#[derive(Serialize)]
pub(super) struct WrittenPart {
    pub(super) id: String,
    #[serde(rename = "sessionID")]
    pub(super) session: String,
    #[serde(rename = "messageID")]
    pub(super) message: String,
    #[serde(flatten)]
    pub(super) said: PartContent,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub(super) enum PartContent {
    Text {
        text: String,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        synthetic: bool,
    },
    Reasoning {
        text: String,
        time: Span,
        #[serde(skip_serializing_if = "Option::is_none")]
        metadata: Option<Value>,
    },
    Tool {
        #[serde(rename = "callID")]
        call: String,
        tool: String,
        state: Box<WrittenState>,
    },
    File {
        mime: String,
        url: String,
    },
    Compaction {
        auto: bool,
    },
    StepStart,
    StepFinish {
        reason: &'static str,
        cost: u64,
        tokens: NoTokens,
    },
}

#[derive(Serialize, Clone, Copy)]
pub(super) struct Span {
    pub(super) start: i64,
    pub(super) end: i64,
}

/// What became of a call.
#[derive(Serialize)]
#[serde(tag = "status", rename_all = "lowercase")]
pub(super) enum WrittenState {
    Completed {
        input: Map<String, Value>,
        output: String,
        title: &'static str,
        metadata: Map<String, Value>,
        time: Span,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        attachments: Vec<WrittenPart>,
    },
    Error {
        input: Map<String, Value>,
        error: String,
        time: Span,
    },
}
