//! `claude-stream-v1`: what Claude Code prints with `--output-format stream-json`, one event a line.

use contexture_core::{Entry, EntryPart, Flags, Role, Timestamp, Usage};
use serde::Deserialize;

use super::{
    Codec, Effect, Facts, Framing, Keep, Link, Outline, RecordMark, RecordStep,
    anthropic_content::{self, Message},
    spoken_text::SpokenText,
    tolerant_json,
};
use crate::RecordProblem;

/// How the text begins that Claude Code goes on from after a compaction.
const SUMMARY_OPENING: &str = "This session is being continued from a previous conversation";

/// The model that Claude Code names when it answers itself.
const NO_MODEL: &str = "<synthetic>";

pub(crate) struct ClaudeStream;

/// An event, with as much of its message as is asked for.
#[derive(Deserialize)]
#[serde(bound(deserialize = "M: Deserialize<'de>"))]
struct Event<M> {
    #[serde(rename = "type", default, deserialize_with = "tolerant_json::maybe")]
    kind: Option<String>,
    #[serde(default, deserialize_with = "tolerant_json::maybe")]
    subtype: Option<String>,
    #[serde(default, deserialize_with = "tolerant_json::maybe")]
    uuid: Option<String>,
    #[serde(default, deserialize_with = "tolerant_json::maybe")]
    session_id: Option<String>,
    #[serde(default, deserialize_with = "tolerant_json::time")]
    timestamp: Option<Timestamp>,
    /// The call whose sub-agent speaks.
    #[serde(default, deserialize_with = "tolerant_json::maybe")]
    parent_tool_use_id: Option<String>,
    #[serde(rename = "isSynthetic", default, deserialize_with = "tolerant_json::maybe")]
    is_synthetic: Option<bool>,
    #[serde(default, deserialize_with = "tolerant_json::maybe")]
    message: Option<M>,
    #[serde(default, deserialize_with = "tolerant_json::maybe")]
    compact_metadata: Option<CompactMetadata>,
    #[serde(default, deserialize_with = "tolerant_json::maybe")]
    cwd: Option<String>,
    #[serde(default, deserialize_with = "tolerant_json::maybe")]
    model: Option<String>,
    #[serde(default, deserialize_with = "tolerant_json::maybe")]
    claude_code_version: Option<String>,
}

#[derive(Deserialize)]
struct CompactMetadata {
    #[serde(default, deserialize_with = "tolerant_json::maybe")]
    preserved_segment: Option<PreservedSegment>,
}

#[derive(Deserialize)]
struct PreservedSegment {
    head_uuid: String,
}

#[derive(Deserialize)]
struct Head {
    #[serde(default)]
    content: SpokenText,
    #[serde(default, deserialize_with = "tolerant_json::maybe")]
    model: Option<String>,
}

impl Codec for ClaudeStream {
    fn framing(&self) -> Framing {
        Framing::Lines
    }

    fn outline(&self, record: &[u8]) -> Result<Outline, RecordProblem> {
        let event: Event<Head> = tolerant_json::record(record)?;
        let mut facts = Facts { session: event.session_id, ..Facts::default() };
        let mut link = Link::Previous;
        let mut mark = RecordMark::None;
        let mut has_summary = false;
        let is_answer = event.kind.as_deref() == Some("assistant");
        match (event.kind.as_deref(), event.subtype.as_deref()) {
            (Some("system"), Some("init")) => {
                link = Link::Root;
                facts.directory = event.cwd;
                facts.model = event.model;
                facts.version = event.claude_code_version;
            }
            (Some("system"), Some("compact_boundary")) => mark = RecordMark::Compaction { after: None },
            (Some("conversation_reset"), _) => link = Link::Root,
            (Some("user"), _) => {
                let words = event.message.and_then(|message| message.content.spoken());
                match words {
                    Some(words) if event.is_synthetic == Some(true) => has_summary = words.starts_with(SUMMARY_OPENING),
                    words => mark = words.map_or(RecordMark::None, |words| RecordMark::Turn(Some(words))),
                }
            }
            (Some("assistant"), _) => {
                facts.model = event.message.and_then(|message| message.model).filter(|model| model != NO_MODEL);
            }
            _ => {}
        }
        Ok(Outline {
            id: event.uuid,
            link,
            lane: event.parent_tool_use_id,
            at: event.timestamp,
            mark,
            has_summary,
            is_answer,
            leaf: None,
            facts,
        })
    }

    fn step(&self, record: &[u8]) -> Result<RecordStep, RecordProblem> {
        let event: Event<Message> = tolerant_json::record(record)?;
        Ok(match (event.kind.as_deref(), event.subtype.as_deref()) {
            (Some("assistant"), _) => said(event, Role::Assistant),
            (Some("user"), _) => said(event, Role::User),
            (Some("system"), Some("compact_boundary")) => {
                let kept = event.compact_metadata.and_then(|metadata| metadata.preserved_segment);
                let keep = kept.map_or(Keep::Nothing, |segment| Keep::From(segment.head_uuid));
                RecordStep { effect: Effect::Replace(keep), entries: Vec::new() }
            }
            (Some("conversation_reset"), _) => {
                RecordStep { effect: Effect::Replace(Keep::Nothing), entries: Vec::new() }
            }
            // Partial messages come again whole, a result repeats the last answer, and the rest is for the screen.
            _ => RecordStep::nothing(),
        })
    }
}

fn said(event: Event<Message>, role: Role) -> RecordStep {
    let Some(message) = event.message else { return RecordStep::nothing() };
    let mut parts = anthropic_content::parts(message.content);
    let mut flags = Flags {
        side_chain: event.parent_tool_use_id.is_some(),
        synthetic: message.model.as_deref() == Some(NO_MODEL),
        meta: role == Role::User && event.is_synthetic == Some(true),
        compact_summary: false,
    };
    if flags.meta
        && let [EntryPart::Text { text }] = &mut parts[..]
        && text.starts_with(SUMMARY_OPENING)
    {
        flags = Flags { compact_summary: true, meta: false, ..flags };
        parts = vec![EntryPart::Summary { text: std::mem::take(text) }];
    }
    RecordStep::append(Entry {
        id: event.uuid,
        group: message.id,
        model: message.model,
        at: event.timestamp,
        flags,
        usage: message.usage.map(Usage::from),
        ..Entry::new(role, parts)
    })
}

#[cfg(test)]
mod tests {
    use contexture_core::ToolInput;
    use serde_json::{Value, json};

    use super::*;

    fn step(event: &Value) -> RecordStep {
        ClaudeStream.step(event.to_string().as_bytes()).unwrap()
    }

    fn outline(event: &Value) -> Outline {
        ClaudeStream.outline(event.to_string().as_bytes()).unwrap()
    }

    #[test]
    fn the_first_event_tells_about_the_session() {
        let init = json!({"type": "system", "subtype": "init", "session_id": "s", "uuid": "u", "cwd": "/w",
            "model": "m", "claude_code_version": "2.1", "tools": ["Bash"]});
        let facts = Facts {
            session: Some("s".into()),
            directory: Some("/w".into()),
            model: Some("m".into()),
            version: Some("2.1".into()),
            ..Facts::default()
        };
        assert_eq!(outline(&init), Outline { id: Some("u".into()), link: Link::Root, facts, ..Outline::default() });
        assert_eq!(step(&init), RecordStep::nothing());
    }

    #[test]
    fn messages_are_entries() {
        let assistant = json!({"type": "assistant", "uuid": "u2", "session_id": "s", "parent_tool_use_id": null,
            "timestamp": "2026-11-15T10:00:00Z",
            "message": {"id": "msg_1", "role": "assistant", "model": "m", "usage": {"output_tokens": 7},
                "content": [{"type": "tool_use", "id": "t", "name": "Bash", "input": {}}]}});
        let call = EntryPart::ToolCall { id: "t".into(), name: "Bash".into(), input: ToolInput::Json(json!({})) };
        let entry = Entry {
            id: Some("u2".into()),
            group: Some("msg_1".into()),
            model: Some("m".into()),
            at: Some("2026-11-15T10:00:00Z".parse().unwrap()),
            usage: Some(Usage { output: Some(7), ..Usage::default() }),
            ..Entry::new(Role::Assistant, vec![call])
        };
        assert_eq!(step(&assistant), RecordStep::append(entry));

        let result = json!({"type": "user", "message": {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "t", "content": "ok"}]}, "tool_use_result": {"stdout": "ok"}});
        let part = EntryPart::ToolResult { call: "t".into(), content: vec![EntryPart::text("ok")], is_error: None };
        assert_eq!(step(&result), RecordStep::append(Entry::new(Role::User, vec![part])));
        assert_eq!(outline(&result).mark, RecordMark::None);

        let asked = json!({"type": "user", "message": {"role": "user", "content": "why?"}});
        assert_eq!(outline(&asked).mark, RecordMark::Turn(Some("why?".into())));
    }

    #[test]
    fn a_sub_agent_speaks_beside_the_conversation() {
        let event = json!({"type": "assistant", "parent_tool_use_id": "t",
            "message": {"role": "assistant", "model": "<synthetic>", "content": "error"}});
        let flags = step(&event).entries[0].flags;
        assert_eq!(flags, Flags { side_chain: true, synthetic: true, ..Flags::default() });
        assert_eq!((outline(&event).lane, outline(&event).is_answer), (Some("t".into()), true));
    }

    #[test]
    fn a_compaction_forgets_and_its_summary_follows() {
        let boundary = json!({"type": "system", "subtype": "compact_boundary", "session_id": "s",
            "compact_metadata": {"trigger": "auto", "pre_tokens": 9}});
        assert_eq!(step(&boundary), RecordStep { effect: Effect::Replace(Keep::Nothing), entries: vec![] });
        assert_eq!(outline(&boundary).mark, RecordMark::Compaction { after: None });
        let keeping = json!({"type": "system", "subtype": "compact_boundary",
            "compact_metadata": {"preserved_segment": {"head_uuid": "u7", "tail_uuid": "u9"}}});
        assert_eq!(step(&keeping).effect, Effect::Replace(Keep::From("u7".into())));

        let text = format!("{SUMMARY_OPENING} that ran out of context.");
        let summary = json!({"type": "user", "isSynthetic": true, "message": {"role": "user", "content": text}});
        let flags = Flags { compact_summary: true, ..Flags::default() };
        let entry = Entry { flags, ..Entry::new(Role::User, vec![EntryPart::Summary { text }]) };
        assert_eq!(step(&summary), RecordStep::append(entry));
        assert_eq!((outline(&summary).mark, outline(&summary).has_summary), (RecordMark::None, true));
    }

    #[test]
    fn what_the_runtime_injects_is_marked() {
        let event = json!({"type": "user", "isSynthetic": true, "message": {"role": "user", "content": "a skill"}});
        assert_eq!(step(&event).entries[0].flags, Flags { meta: true, ..Flags::default() });
        assert_eq!(outline(&event).mark, RecordMark::None);
    }

    #[test]
    fn a_reset_begins_anew() {
        let event = json!({"type": "conversation_reset", "new_conversation_id": "n"});
        assert_eq!(step(&event), RecordStep { effect: Effect::Replace(Keep::Nothing), entries: vec![] });
        assert_eq!(outline(&event).link, Link::Root);
    }

    #[test]
    fn other_events_do_nothing() {
        for event in [
            json!({"type": "result", "subtype": "success", "result": "done", "session_id": "s"}),
            json!({"type": "stream_event", "event": {"type": "content_block_delta"}}),
            json!({"type": "system", "subtype": "task_started"}),
            json!({"type": "rate_limit_event"}),
            json!({"type": "assistant", "message": "?"}),
            json!({"type": 5}),
            json!({}),
        ] {
            assert_eq!(step(&event), RecordStep::nothing(), "{event}");
            assert_eq!(outline(&event).mark, RecordMark::None, "{event}");
        }
    }
}
