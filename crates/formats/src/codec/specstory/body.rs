//! What an agent says in a section of SpecStory's: words, thoughts, and calls of tools with what they answered.

use contexture_core::{EntryPart, ToolInput};
use serde_json::value::RawValue;

use crate::codec::loose_blocks;

const THOUGHT: (&str, &str) = ("<think>", "</think>");
const TOOL_USE: (&str, &str) = ("<tool-use", "</tool-use>");
/// What stands before what a tool answered.
const ANSWER: &str = "```text\n";

/// Takes away the rule that ends a section, and the white space around what is left.
pub(super) fn without_rule(body: &str) -> &str {
    let body = body.trim();
    body.strip_suffix("---").filter(|rest| rest.is_empty() || rest.ends_with('\n')).unwrap_or(body).trim()
}

/// Reads what an agent says.
pub(super) fn parts(body: &str) -> Vec<EntryPart> {
    let mut rest = without_rule(body);
    let mut parts = Vec::new();
    while !rest.is_empty() {
        let next = [THOUGHT, TOOL_USE]
            .into_iter()
            .filter_map(|block| Some((rest.find(block.0)?, block)))
            .min_by_key(|(at, _)| *at);
        let Some((at, (opening, closing))) = next else { break };
        // What has no end is text.
        let Some(end) = rest[at..].find(closing).map(|end| at + end) else { break };
        push_text(&mut parts, &rest[..at]);
        let inner = &rest[at + opening.len()..end];
        if opening == THOUGHT.0 {
            let text = without_details(inner).to_owned();
            parts.push(EntryPart::Thinking { text, seal: None });
        } else {
            push_call(&mut parts, inner);
        }
        rest = &rest[end + closing.len()..];
    }
    push_text(&mut parts, rest);
    parts
}

fn push_text(parts: &mut Vec<EntryPart>, text: &str) {
    let text = text.trim();
    if !text.is_empty() {
        parts.push(EntryPart::text(text));
    }
}

/// Reads a call, from what follows the opening of its tag. What the tool was given and what it answered are text here.
fn push_call(parts: &mut Vec<EntryPart>, tool: &str) {
    let (attributes, body) = tool.split_once('>').unwrap_or((tool, ""));
    let name = attribute(attributes, "data-tool-name").or_else(|| attribute(attributes, "data-tool-type"));
    let body = without_details(body);
    let (given, answer) = match body.rfind(ANSWER) {
        Some(at) => {
            let answer = body[at + ANSWER.len()..].trim_end();
            (body[..at].trim_end(), Some(answer.strip_suffix("```").unwrap_or(answer).trim_end_matches('\n')))
        }
        None => (body, None),
    };
    let quoted = serde_json::to_string(tool).ok().and_then(|json| RawValue::from_string(json).ok());
    let id = quoted.map(|json| loose_blocks::id_of(&json)).unwrap_or_default();
    let (name, input) = (name.unwrap_or_default().to_owned(), ToolInput::Text(given.to_owned()));
    parts.push(EntryPart::ToolCall { id: id.clone(), name, input });
    if let Some(answer) = answer {
        let content = if answer.is_empty() { Vec::new() } else { vec![EntryPart::text(answer)] };
        parts.push(EntryPart::ToolResult { call: id, content, is_error: None });
    }
}

fn attribute<'a>(attributes: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = attributes.split_once(name)?;
    let value = rest.strip_prefix("=\"")?.split_once('"')?.0;
    (!value.is_empty()).then_some(value)
}

/// Takes away the fold that SpecStory puts around something, with its title.
fn without_details(text: &str) -> &str {
    let text = text.trim();
    let text = text.strip_prefix("<details>").unwrap_or(text).trim_start();
    let text = text.strip_suffix("</details>").unwrap_or(text).trim_end();
    match text.strip_prefix("<summary>").and_then(|rest| rest.split_once("</summary>")) {
        Some((_, rest)) => rest.trim(),
        None => text.trim(),
    }
}
