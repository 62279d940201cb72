//! Records of a session, as pi reads them.

use serde::Serialize;
use serde_json::{Map, Value};

#[derive(Serialize)]
pub(super) struct PiHeader<'a> {
    #[serde(rename = "type")]
    pub(super) kind: &'static str,
    pub(super) version: u32,
    pub(super) id: &'a str,
    pub(super) timestamp: &'a str,
    pub(super) cwd: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SessionInfo<'a> {
    #[serde(rename = "type")]
    pub(super) kind: &'static str,
    pub(super) id: &'a str,
    pub(super) parent_id: Option<&'a str>,
    pub(super) timestamp: &'a str,
    pub(super) name: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PiEntry<'a> {
    #[serde(rename = "type")]
    pub(super) kind: &'static str,
    pub(super) id: &'a str,
    pub(super) parent_id: Option<&'a str>,
    pub(super) timestamp: &'a str,
    pub(super) message: PiMessage,
}

#[derive(Serialize)]
#[serde(tag = "role", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub(super) enum PiMessage {
    User {
        content: Vec<PiBlock>,
        timestamp: i64,
    },
    Assistant {
        content: Vec<PiBlock>,
        api: &'static str,
        provider: &'static str,
        model: String,
        usage: PiUsage,
        stop_reason: &'static str,
        timestamp: i64,
    },
    ToolResult {
        tool_call_id: String,
        tool_name: String,
        content: Vec<PiBlock>,
        is_error: bool,
        timestamp: i64,
    },
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub(super) enum PiBlock {
    Text {
        text: String,
    },
    Image {
        data: String,
        mime_type: String,
    },
    Thinking {
        thinking: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        thinking_signature: Option<String>,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        redacted: bool,
    },
    ToolCall {
        id: String,
        name: String,
        arguments: Map<String, Value>,
    },
}

/// What pi asks for and nobody knows any more.
#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PiUsage {
    input: u64,
    output: u64,
    cache_read: u64,
    cache_write: u64,
    total_tokens: u64,
    cost: Cost,
}

#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Cost {
    input: u64,
    output: u64,
    cache_read: u64,
    cache_write: u64,
    total: u64,
}

/// An item of OpenAI's Responses API, which pi keeps as the signature of thinking.
#[derive(Serialize)]
pub(super) struct SealedReasoning<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    summary: Vec<PiSummaryText<'a>>,
    encrypted_content: &'a str,
}

#[derive(Serialize)]
struct PiSummaryText<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    text: &'a str,
}

impl<'a> SealedReasoning<'a> {
    pub(super) fn of(text: &'a str, encrypted_content: &'a str) -> Self {
        let summary = if text.is_empty() { Vec::new() } else { vec![PiSummaryText { kind: "summary_text", text }] };
        Self { kind: "reasoning", summary, encrypted_content }
    }

    pub(super) fn to_json(&self) -> String {
        serde_json::to_string(self).expect("every text has a JSON form")
    }
}
