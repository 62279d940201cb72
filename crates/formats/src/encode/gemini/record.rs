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
    pub(super) content: &'a [ApiPart],
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
    pub(super) thoughts: Vec<Thought>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) tool_calls: Vec<Call>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) model: Option<&'a str>,
}

#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum GeminiContent {
    Text(String),
    Parts(Vec<ApiPart>),
}

/// A part of Google's API.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum ApiPart {
    Text(String),
    InlineData(InlineData),
    FunctionResponse(FunctionResponse),
}

impl ApiPart {
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
pub(super) struct FunctionResponse {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) response: Response,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Response {
    Output(String),
    Error(String),
}

#[derive(Serialize)]
pub(super) struct Thought {
    pub(super) subject: &'static str,
    pub(super) description: String,
    pub(super) timestamp: String,
}

/// A call together with what came of it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Call {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) args: Map<String, Value>,
    pub(super) result: Vec<ApiPart>,
    pub(super) status: &'static str,
    pub(super) timestamp: String,
    pub(super) display_name: String,
    pub(super) description: &'static str,
    pub(super) render_output_as_markdown: bool,
}
