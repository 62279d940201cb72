//! Records of a session, as Gemini CLI reads them.

use serde::Serialize;
use serde_json::{Map, Value};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SessionRecord<'a> {
    #[serde(rename = "sessionId")]
    pub(super) id: &'a str,
    pub(super) project_hash: &'a str,
    pub(super) start_time: &'a str,
    pub(super) last_updated: &'a str,
    pub(super) kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) summary: Option<&'a str>,
}

#[derive(Serialize)]
pub(super) struct UserMessage<'a> {
    pub(super) id: &'a str,
    pub(super) timestamp: &'a str,
    #[serde(rename = "type")]
    pub(super) kind: &'static str,
    pub(super) content: &'a [GeminiApiPart],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ModelMessage<'a> {
    pub(super) id: &'a str,
    pub(super) timestamp: &'a str,
    #[serde(rename = "type")]
    pub(super) kind: &'static str,
    pub(super) content: GeminiContent,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) thoughts: Vec<GeminiThought>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) tool_calls: Vec<GeminiCall>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) model: Option<&'a str>,
}

#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum GeminiContent {
    Text(String),
    Parts(Vec<GeminiApiPart>),
}

/// A part of Google's API.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum GeminiApiPart {
    Text(String),
    InlineData(InlineData),
    FunctionResponse(GeminiFunctionResponse),
}

impl GeminiApiPart {
    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::InlineData(_) | Self::FunctionResponse(_) => None,
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct InlineData {
    pub(super) mime_type: String,
    pub(super) data: String,
}

#[derive(Serialize)]
pub(super) struct GeminiFunctionResponse {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) response: GeminiResponse,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum GeminiResponse {
    Output(String),
    Error(String),
}

#[derive(Serialize)]
pub(super) struct GeminiThought {
    pub(super) subject: &'static str,
    pub(super) description: String,
    pub(super) timestamp: String,
}

/// A call together with what came of it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct GeminiCall {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) args: Map<String, Value>,
    pub(super) result: Vec<GeminiApiPart>,
    pub(super) status: &'static str,
    pub(super) timestamp: String,
    pub(super) display_name: String,
    pub(super) description: &'static str,
    pub(super) render_output_as_markdown: bool,
}
