//! What a person would read in the transcript of the demonstration.

use serde::Deserialize;

/// Characters of a message that are shown.
const MAX_CHARS: usize = 84;

/// The part of a transcript's line that is shown.
#[derive(Deserialize)]
struct Line {
    message: Message,
}

#[derive(Deserialize)]
struct Message {
    role: String,
    content: DemoContent,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum DemoContent {
    Text(String),
    Parts(Vec<DemoPart>),
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum DemoPart {
    Text { text: String },
    ToolUse { name: String },
    ToolResult { content: String },
}

/// Returns one short line for each message of a transcript.
pub(super) fn message_lines(transcript: &[u8]) -> Vec<String> {
    serde_json::Deserializer::from_slice(transcript)
        .into_iter::<Line>()
        .map_while(Result::ok)
        .map(|Line { message: Message { role, content } }| {
            let text = match content {
                DemoContent::Text(text) => text,
                DemoContent::Parts(parts) => parts.into_iter().map(DemoPart::text).collect::<Vec<_>>().join(" "),
            };
            shorten(&format!("{role}: {}", text.lines().next().unwrap_or_default()))
        })
        .collect()
}

impl DemoPart {
    fn text(self) -> String {
        match self {
            Self::Text { text } => text,
            Self::ToolUse { name } => format!("(calls {name})"),
            Self::ToolResult { content } => format!("(result) {content}"),
        }
    }
}

fn shorten(text: &str) -> String {
    if text.chars().count() <= MAX_CHARS {
        return text.to_owned();
    }
    text.chars().take(MAX_CHARS - 1).chain(['…']).collect()
}
