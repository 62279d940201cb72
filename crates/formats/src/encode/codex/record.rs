//! Records of a rollout, as Codex reads them.

use serde::Serialize;

#[derive(Serialize)]
pub(super) struct RolloutLine<'a, T> {
    pub(super) timestamp: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) ordinal: Option<u64>,
    #[serde(rename = "type")]
    pub(super) kind: &'static str,
    pub(super) payload: T,
}

#[derive(Serialize)]
pub(super) struct RolloutMeta<'a> {
    pub(super) id: &'a str,
    pub(super) session_id: &'a str,
    pub(super) timestamp: &'a str,
    pub(super) cwd: &'a str,
    pub(super) originator: &'a str,
    pub(super) cli_version: &'a str,
    pub(super) source: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) model_provider: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) git: Option<RolloutGit<'a>>,
}

#[derive(Serialize)]
pub(super) struct RolloutGit<'a> {
    pub(super) branch: &'a str,
}

/// What a person sees.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum RolloutEvent<'a> {
    TaskStarted { turn_id: &'a str, model_context_window: Option<u64>, collaboration_mode_kind: &'a str },
    UserMessage { message: &'a str, images: [&'a str; 0], local_images: [&'a str; 0], text_elements: [&'a str; 0] },
    AgentMessage { message: &'a str, phase: Option<&'a str>, memory_citation: Option<&'a str> },
    TaskComplete { turn_id: &'a str, last_agent_message: Option<&'a str> },
}

/// What a model sees.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum RolloutItem<'a> {
    Message { role: &'a str, content: Vec<CodexContent> },
    Reasoning { summary: Vec<RolloutSummaryText<'a>>, encrypted_content: &'a str },
    FunctionCall { name: &'a str, arguments: String, call_id: &'a str },
    FunctionCallOutput { call_id: &'a str, output: RolloutOutput<'a> },
    CustomToolCall { status: &'a str, call_id: &'a str, name: &'a str, input: &'a str },
    CustomToolCallOutput { call_id: &'a str, output: RolloutOutput<'a> },
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum CodexContent {
    InputText { text: String },
    InputImage { image_url: String },
    OutputText { text: String },
}

#[derive(Serialize)]
pub(super) struct RolloutSummaryText<'a> {
    #[serde(rename = "type")]
    pub(super) kind: &'static str,
    pub(super) text: &'a str,
}

#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum RolloutOutput<'a> {
    Text(&'a str),
    Content(&'a [CodexContent]),
}
