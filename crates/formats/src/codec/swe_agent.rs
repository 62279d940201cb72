//! `swe-agent-v1`: a trajectory of SWE-agent, one document: what its model saw, or the steps that it took.

use contexture_core::{Entry, EntryPart, Flags, Role, ToolInput};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{
    Codec, Facts, Framing, Outline, RecordMark, RecordStep, anthropic_content, loose_blocks,
    tolerant_json::{self, Field, Object, Shape},
};
use crate::RecordProblem;

pub(crate) struct SweAgent;

#[derive(Default, Deserialize)]
#[serde(default)]
struct SweTrajectory<'a> {
    #[serde(borrow)]
    history: Option<&'a RawValue>,
    #[serde(borrow)]
    trajectory: Option<&'a RawValue>,
    #[serde(borrow)]
    info: Object<SweInfo<'a>>,
    #[serde(borrow)]
    replay_config: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct SweInfo<'a> {
    #[serde(borrow)]
    swe_agent_version: Field<'a>,
}

/// How the agent was configured, as far as it tells the model.
#[derive(Default, Deserialize)]
#[serde(default)]
struct SweConfig<'a> {
    #[serde(borrow)]
    agent: Object<SweAgentConfig<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct SweAgentConfig<'a> {
    #[serde(borrow)]
    model: Object<SweModel<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct SweModel<'a> {
    #[serde(borrow)]
    name: Field<'a>,
}

/// A message that the model saw or wrote.
#[derive(Default, Deserialize)]
#[serde(default)]
struct SweMessage<'a> {
    #[serde(borrow)]
    role: Field<'a>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(borrow)]
    is_demo: Field<'a>,
    #[serde(borrow)]
    tool_calls: Option<&'a RawValue>,
    #[serde(borrow)]
    tool_call_ids: Option<&'a RawValue>,
    #[serde(borrow)]
    thinking_blocks: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct SweCall<'a> {
    #[serde(borrow)]
    id: Field<'a>,
    #[serde(borrow)]
    function: Object<SweFunction<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct SweFunction<'a> {
    #[serde(borrow)]
    name: Field<'a>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
}

/// A step: what the model answered, what was done and what came of it.
#[derive(Default, Deserialize)]
#[serde(default)]
struct SweStep<'a> {
    #[serde(borrow)]
    response: Field<'a>,
    #[serde(borrow)]
    action: Field<'a>,
    #[serde(borrow)]
    observation: Field<'a>,
    #[serde(borrow)]
    query: Option<&'a RawValue>,
}

impl Codec for SweAgent {
    fn framing(&self) -> Framing {
        Framing::Document
    }

    fn outline(&self, record: &[u8]) -> Result<Outline, RecordProblem> {
        tolerant_json::decode(record, outline)
    }

    fn step(&self, record: &[u8]) -> Result<RecordStep, RecordProblem> {
        tolerant_json::decode(record, |record| {
            let entries = entries(&tolerant_json::object(record)?)?;
            Ok(RecordStep::whole(entries))
        })
    }
}

fn outline(record: &[u8]) -> serde_json::Result<Outline> {
    let document: SweTrajectory<'_> = tolerant_json::object(record)?;
    let asked = entries(&document)?.into_iter().find(|entry| entry.role == Role::User && !entry.flags.meta);
    let facts = Facts {
        version: document.info.0.unwrap_or_default().swe_agent_version.into_text(),
        model: model(document.replay_config)?,
        ..Facts::default()
    };
    let mark = asked.map_or(RecordMark::None, |entry| RecordMark::Turn(Some(entry.text())));
    Ok(Outline { mark, facts, ..Outline::default() })
}

/// Returns the model that the agent was configured with. The configuration is an object, or the text of one.
fn model(config: Option<&RawValue>) -> serde_json::Result<Option<String>> {
    let name = |config: &str| -> Option<String> {
        let Object(config) = serde_json::from_str::<Object<SweConfig<'_>>>(config).ok()?;
        config?.agent.0?.model.0?.name.into_text()
    };
    Ok(match tolerant_json::shape(config)? {
        Shape::Text(text) => name(&text),
        Shape::Object(raw) => name(raw.get()),
        Shape::List(_) | Shape::Other => None,
    })
}

fn entries(document: &SweTrajectory<'_>) -> serde_json::Result<Vec<Entry>> {
    let history = tolerant_json::list(document.history)?;
    if !history.is_empty() {
        return messages(history);
    }
    let steps = tolerant_json::list(document.trajectory)?;
    let mut entries = Vec::new();
    for (number, raw) in steps.into_iter().enumerate() {
        let step: SweStep<'_> = tolerant_json::object_or_default(raw)?;
        if number == 0 {
            entries.extend(messages(tolerant_json::list(step.query)?)?);
        }
        let id = format!("step-{}", number + 1);
        let mut parts: Vec<EntryPart> = step.response.to_text().map(EntryPart::text).into_iter().collect();
        if let Some(action) = step.action.into_text() {
            parts.push(EntryPart::ToolCall { id: id.clone(), name: ACTION.to_owned(), input: ToolInput::Text(action) });
            let content = step.observation.into_text().map(EntryPart::text).into_iter().collect();
            let result = EntryPart::ToolResult { call: id, content, is_error: None };
            entries.extend([Entry::new(Role::Assistant, parts), Entry::new(Role::Tool, vec![result])]);
        } else if !parts.is_empty() {
            entries.push(Entry::new(Role::Assistant, parts));
        }
    }
    Ok(entries)
}

/// What a step's action is called where nothing names a tool.
const ACTION: &str = "action";

/// Reads messages. The first that is no demonstration sets the task; what comes to the model later, nobody has typed.
fn messages(list: Vec<&RawValue>) -> serde_json::Result<Vec<Entry>> {
    let mut entries = Vec::with_capacity(list.len());
    let mut is_asked = false;
    for raw in list {
        let message: SweMessage<'_> = tolerant_json::object_or_default(raw)?;
        let is_demo = message.is_demo.is_true();
        let mut entry = entry(&message)?;
        if entry.role == Role::User {
            entry.flags = Flags { meta: is_demo || is_asked, ..Flags::default() };
            is_asked |= !is_demo;
        }
        if !entry.parts.is_empty() {
            entries.push(entry);
        }
    }
    Ok(entries)
}

fn entry(message: &SweMessage<'_>) -> serde_json::Result<Entry> {
    let mut parts = Vec::new();
    for raw in tolerant_json::list(message.thinking_blocks)? {
        parts.push(anthropic_content::part(tolerant_json::value(raw)));
    }
    let said = loose_blocks::parts(message.content)?;
    let role = match message.role.text() {
        "assistant" => Role::Assistant,
        "system" => Role::System,
        "tool" => {
            let calls: Vec<Field<'_>> = tolerant_json::list(message.tool_call_ids)?
                .into_iter()
                .map(|raw| serde_json::from_str(raw.get()))
                .collect::<serde_json::Result<_>>()?;
            let call = calls.into_iter().next().and_then(Field::into_text).unwrap_or_default();
            let result = EntryPart::ToolResult { call, content: said, is_error: None };
            return Ok(Entry::new(Role::Tool, vec![result]));
        }
        _ => Role::User,
    };
    parts.extend(said);
    for raw in tolerant_json::list(message.tool_calls)? {
        let call: SweCall<'_> = tolerant_json::object_or_default(raw)?;
        let function = call.function.0.unwrap_or_default();
        parts.push(EntryPart::ToolCall {
            id: call.id.into_text().unwrap_or_else(|| loose_blocks::id_of(raw)),
            name: function.name.into_text().unwrap_or_default(),
            input: loose_blocks::input(function.arguments)?,
        });
    }
    Ok(Entry::new(role, parts))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn said(document: &Value) -> Vec<(Role, bool, String)> {
        let entries = SweAgent.step(document.to_string().as_bytes()).unwrap().entries;
        entries.into_iter().map(|entry| (entry.role, entry.flags.meta, entry.text())).collect()
    }

    #[test]
    fn what_the_model_saw_is_the_conversation() {
        let document = json!({
            "environment": "swe_main",
            "info": {"swe_agent_version": "1.1.0"},
            "replay_config": json!({"agent": {"model": {"name": "claude-x"}}}).to_string(),
            "trajectory": [],
            "history": [
                {"role": "system", "content": "Be brief.", "message_type": "system_prompt"},
                {"role": "user", "content": "like this", "is_demo": true},
                {"role": "user", "content": [{"type": "text", "text": "Fix it."}], "message_type": "observation"},
                {"role": "assistant", "content": "I look.", "thought": "I look.", "action": "ls", "tool_calls": [
                    {"id": "c1", "type": "function", "function": {"name": "bash", "arguments": "{\"command\":\"ls\"}"}}]},
                {"role": "tool", "content": "a.rs", "tool_call_ids": ["c1"]},
                {"role": "user", "content": "You have one try left."},
            ],
        });
        let text = |text: &str| text.to_owned();
        assert_eq!(
            said(&document),
            [
                (Role::System, false, text("Be brief.")),
                (Role::User, true, text("like this")),
                (Role::User, false, text("Fix it.")),
                (Role::Assistant, false, text("I look.")),
                (Role::Tool, false, text("")),
                (Role::User, true, text("You have one try left.")),
            ]
        );
        let outline = SweAgent.outline(document.to_string().as_bytes()).unwrap();
        assert_eq!(outline.mark, RecordMark::Turn(Some("Fix it.".into())));
        assert_eq!(
            (outline.facts.model.as_deref(), outline.facts.version.as_deref()),
            (Some("claude-x"), Some("1.1.0"))
        );
    }

    #[test]
    fn steps_stand_for_a_history_that_is_not_there() {
        let query = json!([{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Fix it."}]);
        let document = json!({"info": {}, "trajectory": [
            {"query": query, "response": "I look.", "action": "ls\n", "observation": "a.rs"},
            {"response": "Done.", "action": "", "observation": ""},
        ]});
        let entries = SweAgent.step(document.to_string().as_bytes()).unwrap().entries;
        let call =
            EntryPart::ToolCall { id: "step-1".into(), name: "action".into(), input: ToolInput::Text("ls\n".into()) };
        assert_eq!(entries[2].parts, [EntryPart::text("I look."), call]);
        let result =
            EntryPart::ToolResult { call: "step-1".into(), content: vec![EntryPart::text("a.rs")], is_error: None };
        assert_eq!(entries[3].parts, [result]);
        assert_eq!(entries[4].text(), "Done.");
    }
}
