//! Parts of the messages of OpenCode.

use contexture_core::{EntryPart, Role, Seal, SealScheme, Timestamp, ToolInput};
use serde::Deserialize;
use serde_json::Value;

use crate::{
    codec::{content_blocks, tolerant_json},
    media,
};

/// What OpenCode tells the model instead of a result that it has cleared to save room.
pub(super) const CLEARED: &str = "[Old tool result content cleared]";
/// What OpenCode asks the model in the place of a compaction.
pub(super) const COMPACTION: &str = "What did we do so far?";
/// What OpenCode tells the model in the place of a task that the user has started.
pub(super) const SUBTASK: &str = "The following tool was executed by the user";

/// A part of a message, as far as it is read.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub(super) enum OpencodePart {
    Text {
        text: String,
        #[serde(default)]
        synthetic: bool,
        #[serde(default)]
        ignored: bool,
    },
    Reasoning {
        text: String,
        #[serde(default)]
        metadata: Value,
    },
    Tool {
        #[serde(rename = "callID")]
        call: String,
        tool: String,
        state: ToolState,
    },
    File(AttachedFile),
    Compaction {
        #[serde(default, deserialize_with = "tolerant_json::maybe")]
        tail_start_id: Option<String>,
    },
    Subtask,
    StepStart,
    // What only the screen and the snapshots need.
    #[serde(alias = "patch", alias = "snapshot", alias = "agent", alias = "retry")]
    StepFinish,
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
pub(super) struct ToolState {
    status: String,
    #[serde(default = "content_blocks::empty_object")]
    input: Value,
    #[serde(default, deserialize_with = "tolerant_json::maybe")]
    output: Option<String>,
    #[serde(default, deserialize_with = "tolerant_json::maybe")]
    error: Option<String>,
    #[serde(default, deserialize_with = "tolerant_json::maybe")]
    attachments: Option<Vec<AttachedFile>>,
    #[serde(default, deserialize_with = "tolerant_json::maybe")]
    time: Option<StateTimes>,
    #[serde(default, deserialize_with = "tolerant_json::maybe")]
    metadata: Option<Interruption>,
}

#[derive(Deserialize)]
struct StateTimes {
    #[serde(default, deserialize_with = "tolerant_json::millis")]
    compacted: Option<Timestamp>,
}

/// What a tool had printed when somebody stopped it.
#[derive(Deserialize)]
struct Interruption {
    #[serde(default, deserialize_with = "tolerant_json::maybe")]
    interrupted: Option<bool>,
    #[serde(default, deserialize_with = "tolerant_json::maybe")]
    output: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct AttachedFile {
    mime: String,
    url: String,
}

/// The entries of one message so far, and the step of the model that is being read.
struct OpencodeSteps {
    entries: Vec<(Role, Vec<EntryPart>)>,
    said: Vec<EntryPart>,
    results: Vec<EntryPart>,
}

/// Returns what a user's message says, and whether anybody typed any of it.
pub(super) fn asked(parts: Vec<Value>) -> (Vec<EntryPart>, bool) {
    let mut said = Vec::new();
    let mut is_typed = false;
    for part in parts {
        match OpencodePart::deserialize(&part) {
            Ok(OpencodePart::Text { ignored: true, .. } | OpencodePart::StepStart | OpencodePart::StepFinish) => {}
            Ok(OpencodePart::Text { text, synthetic, .. }) => {
                is_typed |= !synthetic;
                said.push(EntryPart::Text { text });
            }
            // OpenCode has put the text of such files into parts of their own.
            Ok(OpencodePart::File(AttachedFile { mime, .. }))
                if matches!(mime.as_str(), "text/plain" | "application/x-directory") => {}
            Ok(OpencodePart::File(file)) => {
                is_typed = true;
                said.push(file.into());
            }
            Ok(OpencodePart::Compaction { .. }) => said.push(EntryPart::text(COMPACTION)),
            Ok(OpencodePart::Subtask) => said.push(EntryPart::text(SUBTASK)),
            Ok(OpencodePart::Reasoning { .. } | OpencodePart::Tool { .. } | OpencodePart::Other) | Err(_) => {
                said.push(content_blocks::native(part));
            }
        }
    }
    (said, is_typed)
}

/// Returns what the model says and what its tools answer, step after step.
pub(super) fn steps(parts: Vec<Value>) -> Vec<(Role, Vec<EntryPart>)> {
    let mut steps = OpencodeSteps { entries: Vec::new(), said: Vec::new(), results: Vec::new() };
    for part in parts {
        match OpencodePart::deserialize(&part) {
            Ok(OpencodePart::Text { text, .. }) => steps.said.push(EntryPart::Text { text }),
            Ok(OpencodePart::Reasoning { text, metadata }) => {
                let seal = seal(&metadata);
                if !text.is_empty() || seal.is_some() {
                    steps.said.push(EntryPart::Thinking { text, seal });
                }
            }
            Ok(OpencodePart::Tool { call, tool, state }) => {
                steps.results.extend(result(call.clone(), &state));
                steps.said.push(EntryPart::ToolCall { id: call, name: tool, input: ToolInput::Json(state.input) });
            }
            Ok(OpencodePart::File(file)) => steps.said.push(file.into()),
            Ok(OpencodePart::StepStart) => steps.end_step(),
            Ok(OpencodePart::StepFinish) => {}
            Ok(OpencodePart::Compaction { .. } | OpencodePart::Subtask | OpencodePart::Other) | Err(_) => {
                steps.said.push(content_blocks::native(part));
            }
        }
    }
    steps.end_step();
    steps.entries
}

impl OpencodeSteps {
    fn end_step(&mut self) {
        for (role, parts) in [(Role::Assistant, &mut self.said), (Role::Tool, &mut self.results)] {
            if !parts.is_empty() {
                self.entries.push((role, std::mem::take(parts)));
            }
        }
    }
}

impl From<AttachedFile> for EntryPart {
    fn from(AttachedFile { mime, url }: AttachedFile) -> Self {
        media::at_url(&url, &mime)
    }
}

/// Returns what a tool answered, as the model sees it; nothing while it is still at it.
fn result(call: String, state: &ToolState) -> Option<EntryPart> {
    let text = |text: &String| (!text.is_empty()).then(|| EntryPart::text(text)).into_iter();
    let interrupted = state.metadata.as_ref().filter(|metadata| metadata.interrupted == Some(true));
    let (content, is_error) = match state.status.as_str() {
        "completed" if state.time.as_ref().is_some_and(|time| time.compacted.is_some()) => {
            (vec![EntryPart::text(CLEARED)], false)
        }
        "completed" => {
            let attachments = state.attachments.iter().flatten();
            let files = attachments.map(|file| media::at_url(&file.url, &file.mime));
            (state.output.iter().flat_map(text).chain(files).collect(), false)
        }
        "error" => match interrupted.and_then(|metadata| metadata.output.as_ref()) {
            Some(output) => (text(output).collect(), false),
            None => (state.error.iter().flat_map(text).collect(), true),
        },
        _ => return None,
    };
    Some(EntryPart::ToolResult { call, content, is_error: Some(is_error) })
}

/// Returns what a provider has sealed of the reasoning.
fn seal(metadata: &Value) -> Option<Seal> {
    let schemes = [
        ("/openai/reasoningEncryptedContent", SealScheme::OpenaiEncrypted),
        ("/anthropic/signature", SealScheme::AnthropicSignature),
        ("/anthropic/redactedData", SealScheme::AnthropicRedacted),
        ("/google/thoughtSignature", SealScheme::GeminiSignature),
    ];
    schemes.into_iter().find_map(|(place, scheme)| {
        let data = metadata.pointer(place)?.as_str().filter(|data| !data.is_empty())?;
        Some(Seal { scheme, data: data.to_owned() })
    })
}
