//! `openai-chat-v1`: messages of OpenAI's Chat Completions, the elements of a JSON array.

use contexture_core::{BlobSource, Entry, EntryPart, Role, ToolInput};
use serde::Deserialize;
use serde_json::Value;

use super::{
    Codec, Framing, Outline, RecordMark, RecordStep, content_blocks, openai_calls, spoken_text::SpokenText,
    tolerant_json,
};
use crate::{RecordProblem, media};

pub(crate) struct OpenaiChat;

#[derive(Deserialize)]
struct Head {
    #[serde(default, deserialize_with = "tolerant_json::maybe")]
    role: Option<String>,
    #[serde(default)]
    content: SpokenText,
}

#[derive(Deserialize)]
struct Message {
    #[serde(default, deserialize_with = "tolerant_json::maybe")]
    role: Option<String>,
    #[serde(default, deserialize_with = "tolerant_json::maybe")]
    name: Option<String>,
    #[serde(default)]
    content: Value,
    #[serde(default, deserialize_with = "tolerant_json::maybe")]
    refusal: Option<String>,
    /// What servers other than OpenAI's call the model's reasoning, some of them in both ways at once.
    #[serde(default, deserialize_with = "tolerant_json::maybe")]
    reasoning_content: Option<String>,
    #[serde(default, deserialize_with = "tolerant_json::maybe")]
    reasoning: Option<String>,
    #[serde(default, deserialize_with = "tolerant_json::maybe")]
    tool_calls: Option<Vec<Value>>,
    #[serde(default, deserialize_with = "tolerant_json::maybe")]
    tool_call_id: Option<String>,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum ChatContentPart {
    Text {
        text: String,
    },
    Refusal {
        refusal: String,
    },
    ImageUrl {
        image_url: Image,
    },
    InputAudio {
        input_audio: Audio,
    },
    File {
        file: File,
    },
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
struct Image {
    url: String,
}

#[derive(Deserialize)]
struct Audio {
    data: String,
    format: String,
}

#[derive(Deserialize)]
struct File {
    #[serde(default, deserialize_with = "tolerant_json::maybe")]
    file_data: Option<String>,
    #[serde(default, deserialize_with = "tolerant_json::maybe")]
    file_id: Option<String>,
}

#[derive(Deserialize)]
struct Call {
    id: String,
    #[serde(flatten)]
    tool: Tool,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Tool {
    Function {
        name: String,
        #[serde(default)]
        arguments: Value,
    },
    Custom {
        name: String,
        input: String,
    },
}

impl Codec for OpenaiChat {
    fn framing(&self) -> Framing {
        Framing::JsonArray
    }

    fn outline(&self, record: &[u8]) -> Result<Outline, RecordProblem> {
        let Head { role, content } = tolerant_json::record(record)?;
        let words = content.spoken().filter(|_| role.as_deref() == Some("user"));
        Ok(Outline {
            mark: words.map_or(RecordMark::None, |words| RecordMark::Turn(Some(words))),
            ..Outline::default()
        })
    }

    fn step(&self, record: &[u8]) -> Result<RecordStep, RecordProblem> {
        let message: Message = tolerant_json::record(record)?;
        let (role, parts) = match (message.role.as_deref(), message.tool_call_id) {
            (Some("system" | "developer"), _) => (Role::System, parts(message.content)),
            (Some("user"), _) => (Role::User, parts(message.content)),
            (Some("assistant"), _) => {
                let thinking = message.reasoning_content.or(message.reasoning).filter(|text| !text.is_empty());
                let mut said: Vec<EntryPart> =
                    thinking.map(|text| EntryPart::Thinking { text, seal: None }).into_iter().collect();
                said.extend(parts(message.content));
                said.extend(message.refusal.map(EntryPart::text));
                said.extend(message.tool_calls.into_iter().flatten().map(call));
                (Role::Assistant, said)
            }
            (Some("tool"), Some(call)) => (Role::Tool, vec![openai_calls::result(call, parts(message.content))]),
            // Among them calls of the days before ids, which nothing ties to their results.
            _ => {
                let value: Value = tolerant_json::record(record)?;
                (Role::User, vec![EntryPart::Native { kind: "message".to_owned(), value }])
            }
        };
        Ok(RecordStep::append(Entry { author: message.name, ..Entry::new(role, parts) }))
    }
}

fn parts(content: Value) -> Vec<EntryPart> {
    content_blocks::parts(content, part)
}

fn part(piece: Value) -> EntryPart {
    let understood = match ChatContentPart::deserialize(&piece) {
        Ok(ChatContentPart::Text { text } | ChatContentPart::Refusal { refusal: text }) => {
            Some(EntryPart::Text { text })
        }
        Ok(ChatContentPart::ImageUrl { image_url }) => Some(media::at_url(&image_url.url, media::SOME_IMAGE)),
        Ok(ChatContentPart::InputAudio { input_audio: Audio { data, format } }) => {
            Some(EntryPart::Blob { media_type: format!("audio/{format}"), source: BlobSource::Base64(data) })
        }
        Ok(ChatContentPart::File { file: File { file_data: Some(data), .. } }) => {
            Some(media::at_url(&data, media::SOME_BYTES))
        }
        Ok(ChatContentPart::File { file: File { file_id: Some(id), .. } }) => {
            Some(EntryPart::Blob { media_type: media::SOME_BYTES.to_owned(), source: BlobSource::File(id) })
        }
        Ok(ChatContentPart::File { .. } | ChatContentPart::Other) | Err(_) => None,
    };
    understood.unwrap_or_else(|| content_blocks::native(piece))
}

fn call(call: Value) -> EntryPart {
    match Call::deserialize(&call) {
        Ok(Call { id, tool: Tool::Function { name, arguments } }) => {
            EntryPart::ToolCall { id, name, input: openai_calls::input(arguments) }
        }
        Ok(Call { id, tool: Tool::Custom { name, input } }) => {
            EntryPart::ToolCall { id, name, input: ToolInput::Text(input) }
        }
        Err(_) => content_blocks::native(call),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn entry(message: &Value) -> Entry {
        let step = OpenaiChat.step(message.to_string().as_bytes()).unwrap();
        assert_eq!(step, RecordStep::append(step.entries[0].clone()));
        step.entries.into_iter().next().unwrap()
    }

    #[test]
    fn every_role_is_known() {
        let words = |role: &str, text: &str| entry(&json!({"role": role, "content": text, "name": "ada"}));
        let expected = |role, parts| Entry { author: Some("ada".into()), ..Entry::new(role, parts) };
        assert_eq!(words("system", "s"), expected(Role::System, vec![EntryPart::text("s")]));
        assert_eq!(words("developer", "d"), expected(Role::System, vec![EntryPart::text("d")]));
        assert_eq!(words("user", "u"), expected(Role::User, vec![EntryPart::text("u")]));
        assert_eq!(words("assistant", ""), expected(Role::Assistant, vec![]));
        let result = EntryPart::ToolResult { call: "c".into(), content: vec![EntryPart::text("out")], is_error: None };
        let tool = json!({"role": "tool", "tool_call_id": "c", "content": [{"type": "text", "text": "out"}]});
        assert_eq!(entry(&tool), Entry::new(Role::Tool, vec![result]));
    }

    #[test]
    fn an_assistant_thinks_speaks_and_calls() {
        let message = json!({"role": "assistant", "reasoning_content": "hm", "content": "I look.", "tool_calls": [
            {"id": "a", "type": "function", "function": {"name": "ls", "arguments": "{\"dir\":\"/\"}"}},
            {"id": "b", "type": "custom", "custom": {"name": "patch", "input": "*** Begin"}},
            {"id": "c", "type": "new"}]});
        let call = |id: &str, name: &str, input| EntryPart::ToolCall { id: id.into(), name: name.into(), input };
        let parts = vec![
            EntryPart::Thinking { text: "hm".into(), seal: None },
            EntryPart::text("I look."),
            call("a", "ls", ToolInput::Json(json!({"dir": "/"}))),
            call("b", "patch", ToolInput::Text("*** Begin".into())),
            EntryPart::Native { kind: "new".into(), value: json!({"id": "c", "type": "new"}) },
        ];
        assert_eq!(entry(&message), Entry::new(Role::Assistant, parts));
        let refused = json!({"role": "assistant", "content": null, "refusal": "no"});
        assert_eq!(entry(&refused).parts, [EntryPart::text("no")]);
    }

    #[test]
    fn a_user_shows_and_plays() {
        let message = json!({"role": "user", "content": [
            {"type": "text", "text": "look"},
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA==", "detail": "low"}},
            {"type": "input_audio", "input_audio": {"data": "AA==", "format": "wav"}},
            {"type": "file", "file": {"file_id": "file-1"}},
            {"type": "file", "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,AA=="}},
            {"type": "video"}]});
        let blob = |media_type: &str, source| EntryPart::Blob { media_type: media_type.into(), source };
        let bytes = || BlobSource::Base64("AA==".into());
        assert_eq!(
            entry(&message).parts,
            [
                EntryPart::text("look"),
                blob("image/png", bytes()),
                blob("audio/wav", bytes()),
                blob("application/octet-stream", BlobSource::File("file-1".into())),
                blob("application/pdf", bytes()),
                EntryPart::Native { kind: "video".into(), value: json!({"type": "video"}) },
            ]
        );
    }

    #[test]
    fn what_is_no_message_of_today_is_handed_on() {
        for message in [
            json!({"role": "function", "name": "f", "content": "x"}),
            json!({"role": "tool", "content": "x"}),
            json!({"role": 5}),
            json!({}),
        ] {
            assert_eq!(entry(&message).parts, [EntryPart::Native { kind: "message".into(), value: message.clone() }]);
        }
        assert!(OpenaiChat.step(b"5").is_err());
    }

    #[test]
    fn an_outline_marks_where_somebody_asks() {
        let mark = |message: &Value| OpenaiChat.outline(message.to_string().as_bytes()).unwrap().mark;
        assert_eq!(mark(&json!({"role": "user", "content": "why?"})), RecordMark::Turn(Some("why?".into())));
        assert_eq!(mark(&json!({"role": "assistant", "content": "so."})), RecordMark::None);
        assert_eq!(mark(&json!({"role": "user"})), RecordMark::None);
    }
}
