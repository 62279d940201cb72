//! `kiro-v1`: the session file of Kiro's command line, one message a line.

use contexture_core::{Entry, EntryPart, Flags, Role, Timestamp};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{
    Effect, Keep, Outline, RecordMark, RecordStep, content_blocks,
    line_codec::LineCodec,
    loose_blocks,
    tolerant_json::{self, Field, Object, Shape},
};

pub(crate) static CODEC: LineCodec = LineCodec { outline, step };

#[derive(Default, Deserialize)]
#[serde(default)]
struct KiroLine<'a> {
    #[serde(borrow)]
    kind: Field<'a>,
    #[serde(borrow)]
    data: Object<KiroMessage<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct KiroMessage<'a> {
    #[serde(borrow)]
    message_id: Field<'a>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(borrow)]
    meta: Object<KiroTimes<'a>>,
    #[serde(borrow)]
    summary: Field<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct KiroTimes<'a> {
    /// Seconds since 1970, whole or not.
    #[serde(borrow)]
    timestamp: Option<&'a RawValue>,
}

/// A block, whose content is of another shape for each kind.
#[derive(Default, Deserialize)]
#[serde(default)]
struct KiroBlock<'a> {
    #[serde(borrow)]
    kind: Field<'a>,
    #[serde(borrow)]
    data: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct KiroTool<'a> {
    #[serde(borrow)]
    tool_use_id: Field<'a>,
    #[serde(borrow)]
    name: Field<'a>,
    #[serde(borrow)]
    input: Option<&'a RawValue>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(borrow)]
    status: Field<'a>,
    #[serde(borrow)]
    text: Field<'a>,
}

fn outline(record: &[u8]) -> serde_json::Result<Outline> {
    let line: KiroLine<'_> = tolerant_json::object(record)?;
    let message = line.data.0.unwrap_or_default();
    let at = time(&message);
    let mark = match line.kind.text() {
        "Prompt" => {
            let text = Entry::new(Role::User, parts(message.content)?).text();
            RecordMark::Turn(Some(text).filter(|text| !text.is_empty()))
        }
        "Compaction" if !message.summary.text().is_empty() => RecordMark::Compaction { after: None },
        _ => RecordMark::None,
    };
    let has_summary = matches!(mark, RecordMark::Compaction { .. });
    Ok(Outline { id: message.message_id.into_text(), at, mark, has_summary, ..Outline::default() })
}

fn step(record: &[u8]) -> serde_json::Result<RecordStep> {
    let line: KiroLine<'_> = tolerant_json::object(record)?;
    let message = line.data.0.unwrap_or_default();
    let at = time(&message);
    let mut effect = Effect::Append;
    let entry = match line.kind.text() {
        "Prompt" => Entry::new(Role::User, parts(message.content)?),
        "AssistantMessage" => Entry::new(Role::Assistant, parts(message.content)?),
        "ToolResults" => Entry::new(Role::Tool, parts(message.content)?),
        "Compaction" if !message.summary.text().is_empty() => {
            effect = Effect::Replace(Keep::Nothing);
            let flags = Flags { compact_summary: true, ..Flags::default() };
            let text = message.summary.text().to_owned();
            Entry { flags, ..Entry::new(Role::User, vec![EntryPart::Summary { text }]) }
        }
        _ => return Ok(RecordStep::nothing()),
    };
    if entry.parts.is_empty() {
        return Ok(RecordStep::nothing());
    }
    Ok(RecordStep { effect, entries: vec![Entry { id: message.message_id.into_text(), at, ..entry }] })
}

fn time(message: &KiroMessage<'_>) -> Option<Timestamp> {
    let written = message.meta.0.as_ref()?.timestamp?;
    let seconds: f64 = serde_json::from_str(written.get()).ok()?;
    #[expect(clippy::cast_possible_truncation, reason = "a time too far away becomes one that is refused")]
    Timestamp::from_micros((seconds * 1e6).round() as i64)
}

fn parts(content: Option<&RawValue>) -> serde_json::Result<Vec<EntryPart>> {
    let Shape::List(blocks) = tolerant_json::shape(content)? else { return loose_blocks::parts(content) };
    let mut parts = Vec::with_capacity(blocks.len());
    for raw in blocks {
        parts.extend(part(raw)?);
    }
    Ok(parts)
}

fn part(raw: &RawValue) -> serde_json::Result<Option<EntryPart>> {
    let block: KiroBlock<'_> = tolerant_json::object_or_default(raw)?;
    let tool = || -> serde_json::Result<KiroTool<'_>> {
        block.data.map_or_else(|| Ok(KiroTool::default()), tolerant_json::object_or_default)
    };
    Ok(Some(match block.kind.text() {
        "text" => match tolerant_json::shape(block.data)? {
            Shape::Text(text) if text.is_empty() => return Ok(None),
            Shape::Text(text) => EntryPart::text(text),
            Shape::List(_) | Shape::Object(_) | Shape::Other => content_blocks::native(tolerant_json::value(raw)),
        },
        "thinking" => EntryPart::Thinking { text: tool()?.text.into_text().unwrap_or_default(), seal: None },
        "toolUse" => {
            let tool = tool()?;
            EntryPart::ToolCall {
                id: tool.tool_use_id.into_text().unwrap_or_else(|| loose_blocks::id_of(raw)),
                name: tool.name.into_text().unwrap_or_default(),
                input: loose_blocks::input(tool.input)?,
            }
        }
        "toolResult" => {
            let tool = tool()?;
            let is_error = match tool.status.text() {
                "success" => Some(false),
                "" => None,
                _ => Some(true),
            };
            let call = tool.tool_use_id.into_text().unwrap_or_default();
            EntryPart::ToolResult { call, content: answer(tool.content)?, is_error }
        }
        _ => content_blocks::native(tolerant_json::value(raw)),
    }))
}

/// Returns what a tool answered: texts as they are, and values as their JSON.
fn answer(content: Option<&RawValue>) -> serde_json::Result<Vec<EntryPart>> {
    let Shape::List(blocks) = tolerant_json::shape(content)? else { return loose_blocks::answer(content) };
    let mut parts = Vec::with_capacity(blocks.len());
    for raw in blocks {
        let block: KiroBlock<'_> = tolerant_json::object_or_default(raw)?;
        parts.extend(match (block.kind.text(), tolerant_json::shape(block.data)?) {
            ("text" | "json", Shape::Text(text)) => Some(EntryPart::text(text)),
            ("json", _) => block.data.map(|data| EntryPart::text(data.get())),
            _ => Some(content_blocks::native(tolerant_json::value(raw))),
        });
    }
    Ok(parts)
}

#[cfg(test)]
mod tests {
    use contexture_core::ToolInput;
    use serde_json::{Value, json};

    use super::*;
    use crate::Codec as _;

    fn line(kind: &str, content: &Value) -> String {
        let meta = json!({"timestamp": 1_794_736_800.5});
        json!({"version": "v1", "kind": kind, "data": {"message_id": "m1", "content": content, "meta": meta}})
            .to_string()
    }

    fn entry(line: &str) -> Entry {
        CODEC.step(line.as_bytes()).unwrap().entries.remove(0)
    }

    #[test]
    fn a_prompt_is_a_turn_with_a_time() {
        let asked = line("Prompt", &json!([{"kind": "text", "data": "Why?"}]));
        let Outline { id, at, mark, .. } = CODEC.outline(asked.as_bytes()).unwrap();
        assert_eq!((id.as_deref(), at), (Some("m1"), Timestamp::from_micros(1_794_736_800_500_000)));
        assert_eq!(mark, RecordMark::Turn(Some("Why?".into())));
        assert_eq!(entry(&asked).text(), "Why?");
    }

    #[test]
    fn calls_are_answered_by_what_follows() {
        let called = line(
            "AssistantMessage",
            &json!([{"kind": "text", "data": ""}, {"kind": "thinking", "data": {"text": "hm"}},
                {"kind": "toolUse", "data": {"toolUseId": "t1", "name": "shell", "input": {"command": "ls"}}}]),
        );
        let call = EntryPart::ToolCall {
            id: "t1".into(),
            name: "shell".into(),
            input: ToolInput::Json(json!({"command": "ls"})),
        };
        assert_eq!(entry(&called).parts, [EntryPart::Thinking { text: "hm".into(), seal: None }, call]);
        let answered = line(
            "ToolResults",
            &json!([{"kind": "toolResult", "data": {"toolUseId": "t1", "status": "error",
                "content": [{"kind": "json", "data": {"stdout": ""}}, {"kind": "text", "data": "no"}]}}]),
        );
        let content = vec![EntryPart::text(r#"{"stdout":""}"#), EntryPart::text("no")];
        let result = EntryPart::ToolResult { call: "t1".into(), content, is_error: Some(true) };
        assert_eq!(entry(&answered).parts, [result]);
        assert_eq!(entry(&answered).role, Role::Tool);
    }

    #[test]
    fn what_is_not_known_is_handed_on_or_says_nothing() {
        let image = line("Prompt", &json!([{"kind": "image", "data": {"format": "png"}}]));
        assert!(matches!(&entry(&image).parts[..], [EntryPart::Native { .. }]));
        assert_eq!(CODEC.step(line("Clear", &json!([])).as_bytes()).unwrap(), RecordStep::nothing());
    }
}
