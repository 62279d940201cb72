//! `copilot-v1`: the event log of a session of GitHub Copilot CLI, one event a line.
//!
//! Each event names the one before it in time, so the order of the lines is the order of the conversation. What an agent
//! says that a tool call started carries the id of that call.

mod message;

use contexture_core::{Entry, EntryPart, Flags, Role, Timestamp};
use serde::Deserialize;

use super::{
    Effect, Facts, Keep, Outline, RecordMark, RecordStep,
    line_codec::LineCodec,
    tolerant_json::{self, Field, Object},
};

pub(crate) static CODEC: LineCodec = LineCodec { outline, step };

/// An event of any type, with as much of what it tells as is asked for.
#[derive(Deserialize)]
#[serde(bound(deserialize = "D: Deserialize<'de>"))]
struct CopilotEvent<'a, D> {
    #[serde(borrow, default, rename = "type")]
    kind: Field<'a>,
    #[serde(borrow, default)]
    id: Field<'a>,
    #[serde(borrow, default)]
    timestamp: Field<'a>,
    #[serde(borrow, default, rename = "agentId")]
    agent: Field<'a>,
    #[serde(default)]
    data: Object<D>,
}

/// What an outline needs of what an event tells.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct CopilotFacts<'a> {
    #[serde(borrow)]
    session_id: Field<'a>,
    #[serde(borrow)]
    copilot_version: Field<'a>,
    #[serde(borrow)]
    selected_model: Field<'a>,
    #[serde(borrow)]
    new_model: Field<'a>,
    #[serde(borrow)]
    model: Field<'a>,
    #[serde(borrow)]
    title: Field<'a>,
    #[serde(borrow)]
    context: Object<CopilotPlace<'a>>,
    #[serde(borrow)]
    cwd: Field<'a>,
    #[serde(borrow)]
    branch: Field<'a>,
    #[serde(borrow)]
    content: Field<'a>,
    #[serde(borrow)]
    transformed_content: Field<'a>,
    #[serde(borrow)]
    source: Field<'a>,
    #[serde(borrow)]
    is_autopilot_continuation: Field<'a>,
    #[serde(borrow)]
    summary_content: Field<'a>,
    #[serde(borrow)]
    parent_tool_call_id: Field<'a>,
}

/// Where a session takes place.
#[derive(Default, Deserialize)]
#[serde(default)]
struct CopilotPlace<'a> {
    #[serde(borrow)]
    cwd: Field<'a>,
    #[serde(borrow)]
    branch: Field<'a>,
}

fn outline(record: &[u8]) -> serde_json::Result<Outline> {
    let event: CopilotEvent<'_, CopilotFacts<'_>> = tolerant_json::object(record)?;
    let told = event.data.0.unwrap_or_default();
    let lane = event.agent.into_text().or(told.parent_tool_call_id.into_text());
    let mut mark = RecordMark::None;
    let mut facts = Facts::default();
    match event.kind.text() {
        "session.start" | "session.resume" => {
            let place = told.context.0.unwrap_or_default();
            facts = Facts {
                session: told.session_id.into_text(),
                version: told.copilot_version.into_text(),
                directory: place.cwd.into_text(),
                branch: place.branch.into_text(),
                model: told.selected_model.into_text(),
                ..Facts::default()
            };
        }
        "session.context_changed" => {
            facts.directory = told.cwd.into_text();
            facts.branch = told.branch.into_text();
        }
        "session.title_changed" => facts.title = told.title.into_text(),
        "session.model_change" => facts.model = told.new_model.into_text(),
        "user.message" if !message::is_injected(&told.source, &told.is_autopilot_continuation) => {
            mark = RecordMark::Turn(told.content.into_text().or(told.transformed_content.into_text()));
        }
        "assistant.message" => facts.model = told.model.into_text(),
        "session.compaction_complete" if !told.summary_content.text().is_empty() => {
            mark = RecordMark::Compaction { after: None };
        }
        _ => {}
    }
    let has_summary = matches!(mark, RecordMark::Compaction { .. });
    let at = event.timestamp.instant();
    Ok(Outline { id: event.id.into_text(), lane, at, mark, has_summary, facts, ..Outline::default() })
}

fn step(record: &[u8]) -> serde_json::Result<RecordStep> {
    let event: CopilotEvent<'_, message::Told<'_>> = tolerant_json::object(record)?;
    let told = event.data.0.unwrap_or_default();
    let is_of_agent = !event.agent.text().is_empty() || !told.parent_tool_call_id.text().is_empty();
    let mut effect = Effect::Append;
    let said = match event.kind.text() {
        "user.message" => message::asked(&told)?,
        "assistant.message" => message::answered(&told)?,
        "tool.execution_complete" => message::result(&told)?,
        "system.message" => Entry::new(Role::System, message::texts(&told.content)),
        "system.notification" => message::injected(message::texts(&told.content)),
        "session.compaction_complete" if !told.summary_content.text().is_empty() => {
            effect = Effect::Replace(Keep::Nothing);
            let flags = Flags { compact_summary: true, ..Flags::default() };
            let text = told.summary_content.text().to_owned();
            Entry { flags, ..Entry::new(Role::User, vec![EntryPart::Summary { text }]) }
        }
        "session.context_cleared" => {
            return Ok(RecordStep { effect: Effect::Boundary(Keep::Nothing), entries: Vec::new() });
        }
        _ => return Ok(RecordStep::nothing()),
    };
    if said.parts.is_empty() {
        return Ok(RecordStep::nothing());
    }
    let flags = Flags { side_chain: is_of_agent, ..said.flags };
    let at: Option<Timestamp> = event.timestamp.instant();
    let id = match said.role {
        // The prompt comes again with every question; a model sees the last one only.
        Role::System => {
            effect = Effect::Upsert;
            Some(format!("{SYSTEM}{}", told.role.text()))
        }
        Role::User | Role::Assistant | Role::Tool => event.id.into_text(),
    };
    Ok(RecordStep { effect, entries: vec![Entry { id, at, flags, ..said }] })
}

/// What the id of the system's instructions begins with.
const SYSTEM: &str = "system.message/";

#[cfg(test)]
mod tests;
