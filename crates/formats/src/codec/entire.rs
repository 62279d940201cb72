//! `entire-condensed-v1`: a transcript as Entire condenses it, whichever agent wrote it: one message a line, each call with
//! its answer.

use contexture_core::{Entry, EntryPart, Role, Usage};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{
    Outline, RecordMark, RecordStep,
    line_codec::LineCodec,
    loose_blocks,
    tolerant_json::{self, Field, Object, Shape},
};
use crate::codec::Effect;

pub(crate) static CODEC: LineCodec = LineCodec { outline, step };

#[derive(Default, Deserialize)]
#[serde(default)]
struct CondensedLine<'a> {
    #[serde(borrow, rename = "type")]
    kind: Field<'a>,
    #[serde(borrow)]
    ts: Field<'a>,
    #[serde(borrow)]
    id: Field<'a>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(borrow)]
    input_tokens: Field<'a>,
    #[serde(borrow)]
    output_tokens: Field<'a>,
}

/// A block, in the fields that other formats' blocks do not have.
#[derive(Default, Deserialize)]
#[serde(default)]
struct CondensedBlock<'a> {
    #[serde(borrow, rename = "type")]
    kind: Field<'a>,
    #[serde(borrow)]
    id: Field<'a>,
    #[serde(borrow)]
    text: Field<'a>,
    #[serde(borrow)]
    name: Field<'a>,
    #[serde(borrow)]
    input: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Object<Answer<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Answer<'a> {
    #[serde(borrow)]
    output: Option<&'a RawValue>,
    #[serde(borrow)]
    status: Field<'a>,
}

/// What a line says: a message, and what tools answered to it.
struct Condensed {
    message: Vec<EntryPart>,
    results: Vec<EntryPart>,
}

fn outline(record: &[u8]) -> serde_json::Result<Outline> {
    let line: CondensedLine<'_> = tolerant_json::object(record)?;
    let mut outline = Outline { at: line.ts.instant(), ..Outline::default() };
    if line.kind.text() == "user" {
        let text = Entry::new(Role::User, condensed(line.content)?.message).text();
        outline.mark = RecordMark::Turn(Some(text).filter(|text| !text.is_empty()));
    }
    Ok(outline)
}

fn step(record: &[u8]) -> serde_json::Result<RecordStep> {
    let line: CondensedLine<'_> = tolerant_json::object(record)?;
    let role = match line.kind.text() {
        "user" => Role::User,
        "assistant" => Role::Assistant,
        "system" => Role::System,
        _ => return Ok(RecordStep::nothing()),
    };
    let Condensed { message, results } = condensed(line.content)?;
    let at = line.ts.instant();
    let (input, output) = (line.input_tokens.count(), line.output_tokens.count());
    let is_counted = role == Role::Assistant && (input.is_some() || output.is_some());
    let said = Entry {
        group: line.id.into_text(),
        usage: is_counted.then(|| Usage { input, output, ..Usage::default() }),
        ..Entry::new(role, message)
    };
    let entries = [said, Entry::new(Role::Tool, results)].into_iter().filter(|entry| !entry.parts.is_empty());
    let entries: Vec<Entry> = entries.map(|entry| Entry { at, ..entry }).collect();
    Ok(if entries.is_empty() { RecordStep::nothing() } else { RecordStep { effect: Effect::Append, entries } })
}

fn condensed(content: Option<&RawValue>) -> serde_json::Result<Condensed> {
    let mut condensed = Condensed { message: Vec::new(), results: Vec::new() };
    let blocks = match tolerant_json::shape(content)? {
        Shape::List(blocks) => blocks,
        Shape::Text(text) => {
            condensed.message.extend((!text.is_empty()).then(|| EntryPart::text(text)));
            return Ok(condensed);
        }
        Shape::Object(_) | Shape::Other => return Ok(condensed),
    };
    for raw in blocks {
        let block: CondensedBlock<'_> = tolerant_json::object_or_default(raw)?;
        match block.kind.text() {
            // What somebody types has no type.
            "" if !block.text.text().is_empty() => condensed.message.push(EntryPart::text(block.text.text())),
            "tool_use" => {
                let id = block.id.into_text().unwrap_or_else(|| loose_blocks::id_of(raw));
                if let Some(answer) = block.result.0 {
                    let is_error = match answer.status.text() {
                        "success" => Some(false),
                        "" => None,
                        _ => Some(true),
                    };
                    let content = loose_blocks::answer(answer.output)?;
                    condensed.results.push(EntryPart::ToolResult { call: id.clone(), content, is_error });
                }
                let (name, input) = (block.name.into_text().unwrap_or_default(), loose_blocks::input(block.input)?);
                condensed.message.push(EntryPart::ToolCall { id, name, input });
            }
            _ => condensed.message.push(loose_blocks::part(raw)?),
        }
    }
    Ok(condensed)
}

#[cfg(test)]
mod tests {
    use contexture_core::ToolInput;
    use serde_json::{Value, json};

    use super::*;
    use crate::Codec as _;

    fn line(kind: &str, content: &Value) -> String {
        json!({"v": 1, "agent": "codex", "cli_version": "0.5.6", "type": kind, "ts": "2026-11-15T10:00:00Z",
            "content": content})
        .to_string()
    }

    fn entries(line: &str) -> Vec<Entry> {
        CODEC.step(line.as_bytes()).unwrap().entries
    }

    #[test]
    fn what_somebody_types_is_a_turn() {
        let asked = line("user", &json!([{"id": "u1", "text": "Why?"}]));
        assert_eq!(CODEC.outline(asked.as_bytes()).unwrap().mark, RecordMark::Turn(Some("Why?".into())));
        assert_eq!(entries(&asked)[0].text(), "Why?");
    }

    #[test]
    fn a_call_comes_with_its_answer() {
        let called = line(
            "assistant",
            &json!([
                {"type": "text", "text": "I look."},
                {"type": "tool_use", "id": "c1", "name": "Bash", "input": {"command": "ls"},
                    "result": {"output": "a.rs", "status": "success"}},
                {"type": "tool_use", "id": "c2", "name": "Read", "input": {}, "result": {"output": "none", "status": "error"}},
                {"type": "tool_use", "id": "c3", "name": "Wait", "input": {}},
            ]),
        );
        let [said, answered] = entries(&called).try_into().unwrap();
        let call = |id: &str, name: &str, input| EntryPart::ToolCall { id: id.into(), name: name.into(), input };
        let result = |call: &str, text: &str, is_error| EntryPart::ToolResult {
            call: call.into(),
            content: vec![EntryPart::text(text)],
            is_error: Some(is_error),
        };
        let calls = [
            EntryPart::text("I look."),
            call("c1", "Bash", ToolInput::Json(json!({"command": "ls"}))),
            call("c2", "Read", ToolInput::Json(json!({}))),
            call("c3", "Wait", ToolInput::Json(json!({}))),
        ];
        assert_eq!((said.role, said.parts.as_slice()), (Role::Assistant, &calls[..]));
        let results = [result("c1", "a.rs", false), result("c2", "none", true)];
        assert_eq!((answered.role, answered.parts.as_slice()), (Role::Tool, &results[..]));
    }
}
