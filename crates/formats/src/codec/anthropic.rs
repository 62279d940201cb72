//! `anthropic-messages-v1`: messages of Anthropic's API, the elements of a JSON array.

use contexture_core::{Entry, EntryPart, Flags, Role, Usage};
use serde_json::Value;

use super::{
    Codec, Effect, Framing, Keep, Outline, RecordMark, RecordStep,
    anthropic_content::{self, Message},
    spoken_text::MessageHead,
    tolerant_json,
};
use crate::RecordProblem;

pub(crate) struct Anthropic;

impl Codec for Anthropic {
    fn framing(&self) -> Framing {
        Framing::JsonArray
    }

    fn outline(&self, record: &[u8]) -> Result<Outline, RecordProblem> {
        let MessageHead { id, role, content } = tolerant_json::record(record)?;
        let mark = if content.sums_up {
            RecordMark::Compaction { after: None }
        } else if role.as_deref() == Some("user") {
            content.spoken().map_or(RecordMark::None, |words| RecordMark::Turn(Some(words)))
        } else {
            RecordMark::None
        };
        Ok(Outline { id, mark, ..Outline::default() })
    }

    fn step(&self, record: &[u8]) -> Result<RecordStep, RecordProblem> {
        let Message { id, role, model, content, usage } = tolerant_json::record(record)?;
        let role = match role.as_deref() {
            Some("user") => Role::User,
            Some("assistant") => Role::Assistant,
            Some("system") => Role::System,
            _ => {
                let value: Value = tolerant_json::record(record)?;
                let parts = vec![EntryPart::Native { kind: "message".to_owned(), value }];
                return Ok(RecordStep::append(Entry { id, ..Entry::new(Role::User, parts) }));
            }
        };
        let usage = usage.map(Usage::from);
        let mut entry = Entry { id, model, usage, ..Entry::new(role, anthropic_content::parts(content)) };
        let Some(last_summary) = entry.parts.iter().rposition(|part| matches!(part, EntryPart::Summary { .. })) else {
            return Ok(RecordStep::append(entry));
        };
        // The API ignores everything before the last compaction, in the same message too.
        let rest = entry.parts.split_off(last_summary + 1);
        let summary = entry.parts.split_off(last_summary);
        let flags = Flags { compact_summary: true, ..Flags::default() };
        let mut entries = vec![Entry { flags, ..Entry::new(Role::User, summary) }];
        if !rest.is_empty() {
            entries.push(Entry { parts: rest, ..entry });
        }
        Ok(RecordStep { effect: Effect::Replace(Keep::Nothing), entries })
    }
}

#[cfg(test)]
mod tests {
    use contexture_core::{BlobSource, Seal, SealScheme, ToolInput};
    use serde_json::json;

    use super::*;

    fn entry(message: &Value) -> Entry {
        let step = Anthropic.step(message.to_string().as_bytes()).unwrap();
        assert_eq!((&step.effect, step.entries.len()), (&Effect::Append, 1));
        step.entries.into_iter().next().unwrap()
    }

    fn parts(block: &Value) -> Vec<EntryPart> {
        entry(&json!({"role": "user", "content": [block]})).parts
    }

    fn blob(media_type: &str, source: BlobSource) -> EntryPart {
        EntryPart::Blob { media_type: media_type.into(), source }
    }

    #[test]
    fn text_is_a_string_or_a_block() {
        let words = vec![EntryPart::text("hi")];
        assert_eq!(entry(&json!({"role": "user", "content": "hi"})), Entry::new(Role::User, words.clone()));
        assert_eq!(parts(&json!({"type": "text", "text": "hi", "cache_control": {}})), words);
        assert_eq!(entry(&json!({"role": "system", "content": ""})), Entry::new(Role::System, vec![]));
    }

    #[test]
    fn images_and_documents_come_from_anywhere() {
        let source = |kind: &str, source: &Value| parts(&json!({"type": kind, "source": source}));
        assert_eq!(
            source("image", &json!({"type": "base64", "media_type": "image/png", "data": "AA=="})),
            [blob("image/png", BlobSource::Base64("AA==".into()))]
        );
        assert_eq!(
            source("image", &json!({"type": "url", "url": "https://a.example"})),
            [blob("image/*", BlobSource::Url("https://a.example".into()))]
        );
        assert_eq!(
            source("document", &json!({"type": "file", "file_id": "file_1"})),
            [blob("application/octet-stream", BlobSource::File("file_1".into()))]
        );
        assert_eq!(
            source("document", &json!({"type": "url", "url": "https://a.example"})),
            [blob("application/pdf", BlobSource::Url("https://a.example".into()))]
        );
        assert_eq!(
            source("document", &json!({"type": "text", "media_type": "text/plain", "data": "read me"})),
            [EntryPart::text("read me")]
        );
        assert!(matches!(
            source("document", &json!({"type": "content", "content": []}))[..],
            [EntryPart::Native { .. }]
        ));
    }

    #[test]
    fn thinking_keeps_its_seal() {
        let seal = |scheme, data: &str| Some(Seal { scheme, data: data.into() });
        assert_eq!(
            parts(&json!({"type": "thinking", "thinking": "hm", "signature": "sig"})),
            [EntryPart::Thinking { text: "hm".into(), seal: seal(SealScheme::AnthropicSignature, "sig") }]
        );
        assert_eq!(
            parts(&json!({"type": "thinking", "thinking": "hm", "signature": ""})),
            [EntryPart::Thinking { text: "hm".into(), seal: None }]
        );
        assert_eq!(
            parts(&json!({"type": "redacted_thinking", "data": "x"})),
            [EntryPart::Thinking { text: String::new(), seal: seal(SealScheme::AnthropicRedacted, "x") }]
        );
    }

    #[test]
    fn calls_and_results_are_read_with_their_flags() {
        assert_eq!(
            parts(&json!({"type": "tool_use", "id": "t", "name": "run", "input": {"a": 1}})),
            [EntryPart::ToolCall { id: "t".into(), name: "run".into(), input: ToolInput::Json(json!({"a": 1})) }]
        );
        let result = |content, is_error| [EntryPart::ToolResult { call: "t".into(), content, is_error }];
        assert_eq!(
            parts(&json!({"type": "tool_result", "tool_use_id": "t", "content": "out", "is_error": true})),
            result(vec![EntryPart::text("out")], Some(true))
        );
        assert_eq!(parts(&json!({"type": "tool_result", "tool_use_id": "t"})), result(vec![], None));
        let blocks = json!([{"type": "text", "text": "a"}, {"type": "tool_reference", "tool_name": "x"}]);
        let reference = EntryPart::Native { kind: "tool_reference".into(), value: blocks[1].clone() };
        assert_eq!(
            parts(&json!({"type": "tool_result", "tool_use_id": "t", "content": blocks})),
            result(vec![EntryPart::text("a"), reference], None)
        );
    }

    #[test]
    fn what_the_server_does_is_handed_on() {
        for kind in ["server_tool_use", "web_search_tool_result", "mcp_tool_use", "container_upload", "new"] {
            let block = json!({"type": kind, "id": "s", "input": {}});
            assert_eq!(parts(&block), [EntryPart::Native { kind: kind.into(), value: block.clone() }]);
        }
        let broken = json!({"type": "tool_use", "id": 5});
        assert_eq!(parts(&broken), [EntryPart::Native { kind: "tool_use".into(), value: broken.clone() }]);
        assert_eq!(parts(&json!(5)), [EntryPart::Native { kind: "unknown".into(), value: json!(5) }]);
        let nobody = json!({"role": "nobody", "content": "x"});
        assert_eq!(entry(&nobody).parts, [EntryPart::Native { kind: "message".into(), value: nobody }]);
    }

    #[test]
    fn a_returned_message_tells_its_model_and_usage() {
        let message = json!({"id": "msg_1", "role": "assistant", "model": "m", "content": "ok", "usage": {
            "input_tokens": 3, "output_tokens": 5, "cache_read_input_tokens": 10, "cache_creation_input_tokens": 20}});
        let usage =
            Usage { input: Some(33), output: Some(5), cache_read: Some(10), cache_write: Some(20), reasoning: None };
        let expected = Entry {
            id: Some("msg_1".into()),
            model: Some("m".into()),
            usage: Some(usage),
            ..Entry::new(Role::Assistant, vec![EntryPart::text("ok")])
        };
        assert_eq!(entry(&message), expected);
    }

    #[test]
    fn a_compaction_stands_for_all_before_it_in_its_message_too() {
        let record = json!({"role": "assistant", "content": [
            {"type": "text", "text": "forgotten"}, {"type": "compaction", "content": "so far"}, {"type": "text", "text": "next"}]});
        let record = record.to_string();
        let flags = Flags { compact_summary: true, ..Flags::default() };
        let summary = EntryPart::Summary { text: "so far".into() };
        assert_eq!(
            Anthropic.step(record.as_bytes()).unwrap(),
            RecordStep {
                effect: Effect::Replace(Keep::Nothing),
                entries: vec![
                    Entry { flags, ..Entry::new(Role::User, vec![summary]) },
                    Entry::new(Role::Assistant, vec![EntryPart::text("next")]),
                ],
            }
        );
        assert_eq!(Anthropic.outline(record.as_bytes()).unwrap().mark, RecordMark::Compaction { after: None });
        let sealed = json!({"type": "compaction", "content": null, "encrypted_content": "x"});
        assert_eq!(parts(&sealed), [EntryPart::Native { kind: "compaction".into(), value: sealed.clone() }]);
    }

    #[test]
    fn an_outline_marks_where_somebody_asks() {
        let mark = |message: &Value| Anthropic.outline(message.to_string().as_bytes()).unwrap().mark;
        assert_eq!(mark(&json!({"role": "user", "content": "why?"})), RecordMark::Turn(Some("why?".into())));
        assert_eq!(mark(&json!({"role": "assistant", "content": "so."})), RecordMark::None);
        let result = json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "x"}]});
        assert_eq!(mark(&result), RecordMark::None);
        assert_eq!(mark(&json!({"content": 5, "role": []})), RecordMark::None);
        assert!(Anthropic.outline(b"[]").is_err());
    }
}
