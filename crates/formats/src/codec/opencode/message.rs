//! Messages of OpenCode.

use contexture_core::{Entry, EntryPart, Flags, Role, Timestamp, Usage};
use serde::Deserialize;
use serde_json::Value;

use super::part::{self, OpencodePart};
use crate::codec::{content_blocks, tolerant_json};

/// One message, whose parts are read when they are needed.
pub(super) struct Message {
    info: Info,
    parts: Vec<Value>,
}

#[derive(Deserialize, Default)]
struct Info {
    #[serde(default, deserialize_with = "tolerant_json::maybe")]
    id: Option<String>,
    #[serde(default, deserialize_with = "tolerant_json::maybe")]
    role: Option<String>,
    #[serde(rename = "parentID", default, deserialize_with = "tolerant_json::maybe")]
    parent: Option<String>,
    #[serde(default, deserialize_with = "tolerant_json::maybe")]
    agent: Option<String>,
    #[serde(rename = "modelID", default, deserialize_with = "tolerant_json::maybe")]
    model: Option<String>,
    #[serde(default, deserialize_with = "tolerant_json::maybe")]
    time: Option<MessageTimes>,
    #[serde(default, deserialize_with = "tolerant_json::maybe")]
    tokens: Option<Tokens>,
    #[serde(default, deserialize_with = "tolerant_json::maybe")]
    error: Option<MessageFailure>,
    #[serde(default, deserialize_with = "tolerant_json::maybe")]
    finish: Option<String>,
    /// Whether an assistant sums up; a user's message has an object here that does not matter.
    #[serde(default, deserialize_with = "tolerant_json::maybe")]
    summary: Option<bool>,
    #[serde(default, deserialize_with = "tolerant_json::maybe")]
    system: Option<String>,
}

#[derive(Deserialize)]
struct MessageTimes {
    #[serde(default, deserialize_with = "tolerant_json::millis")]
    created: Option<Timestamp>,
}

/// What was counted: the input without what the cache held, the output without reasoning.
#[derive(Deserialize)]
struct Tokens {
    #[serde(default)]
    input: u64,
    #[serde(default)]
    output: u64,
    #[serde(default)]
    reasoning: u64,
    #[serde(default)]
    cache: Cache,
}

#[derive(Deserialize, Default)]
struct Cache {
    #[serde(default)]
    read: u64,
    #[serde(default)]
    write: u64,
}

#[derive(Deserialize)]
struct MessageFailure {
    name: String,
}

impl Message {
    pub(super) fn read(value: Value) -> Self {
        #[derive(Deserialize)]
        struct OpencodeFields {
            #[serde(default, deserialize_with = "tolerant_json::maybe")]
            info: Option<Info>,
            #[serde(default, deserialize_with = "tolerant_json::maybe")]
            parts: Option<Vec<Value>>,
        }
        match serde_json::from_value(value) {
            Ok(OpencodeFields { info, parts }) => {
                Self { info: info.unwrap_or_default(), parts: parts.unwrap_or_default() }
            }
            Err(_) => Self { info: Info::default(), parts: Vec::new() },
        }
    }

    pub(super) fn id(&self) -> Option<&str> {
        self.info.id.as_deref()
    }

    /// Tells whether it is the finished summary of a compaction.
    pub(super) fn is_summary(&self) -> bool {
        self.info.summary == Some(true) && self.info.finish.is_some() && self.info.error.is_none()
    }

    /// Returns the first message that the compaction which it asks for keeps.
    pub(super) fn tail_start(&self) -> Option<String> {
        self.parts.iter().find_map(|part| match OpencodePart::deserialize(part) {
            Ok(OpencodePart::Compaction { tail_start_id }) => tail_start_id,
            _ => None,
        })
    }

    /// Drops the part with this id and all after it.
    pub(super) fn cut_before(&mut self, part: &str) {
        let at = self.parts.iter().position(|known| known.get("id").and_then(Value::as_str) == Some(part));
        self.parts.truncate(at.unwrap_or(self.parts.len()));
    }

    /// Returns what it says, after instructions if it has others than were given before it.
    pub(super) fn into_entries(self, instructions: &mut Option<String>) -> Vec<Entry> {
        let Self { mut info, parts } = self;
        let mut entries = Vec::new();
        let mut flags = Flags::default();
        match info.role.as_deref() {
            Some("assistant") => {
                flags.synthetic = never_sent(info.error.as_ref(), &parts);
                entries.extend(part::steps(parts).into_iter().map(|(role, parts)| Entry::new(role, parts)));
            }
            Some("user") => {
                let (parts, is_typed) = part::asked(parts);
                flags.meta = !is_typed;
                if !parts.is_empty() {
                    entries.push(Entry::new(Role::User, parts));
                }
            }
            _ => entries.extend(
                (!parts.is_empty())
                    .then(|| Entry::new(Role::User, parts.into_iter().map(content_blocks::native).collect())),
            ),
        }
        let at = info.time.as_ref().and_then(|time| time.created);
        let mut usage = info.tokens.map(Usage::from);
        for (n, entry) in entries.iter_mut().enumerate() {
            // What is cut from one message still needs ids of its own.
            entry.id = info.id.as_ref().map(|id| if n == 0 { id.clone() } else { format!("{id}/{n}") });
            entry.group.clone_from(&info.id);
            entry.parent.clone_from(&info.parent);
            entry.at = at;
            entry.flags = flags;
            if entry.role == Role::Assistant {
                entry.author.clone_from(&info.agent);
                entry.model.clone_from(&info.model);
                entry.usage = usage.take();
            }
        }
        if let Some(system) = info.system.take()
            && instructions.as_ref() != Some(&system)
        {
            let id = info.id.map(|id| format!("{id}/system"));
            entries.insert(0, Entry { id, at, ..Entry::new(Role::System, vec![EntryPart::text(&system)]) });
            *instructions = Some(system);
        }
        entries
    }
}

impl From<Tokens> for Usage {
    fn from(Tokens { input, output, reasoning, cache }: Tokens) -> Self {
        Self {
            input: Some(input.saturating_add(cache.read).saturating_add(cache.write)),
            output: Some(output.saturating_add(reasoning)),
            cache_read: Some(cache.read),
            cache_write: Some(cache.write),
            reasoning: Some(reasoning),
        }
    }
}

/// Tells whether OpenCode leaves a failed answer out of what it sends; one that was stopped it sends if it says anything.
fn never_sent(error: Option<&MessageFailure>, parts: &[Value]) -> bool {
    let says = |part: &Value| !matches!(part.get("type").and_then(Value::as_str), Some("step-start" | "reasoning"));
    error.is_some_and(|error| error.name != "MessageAbortedError" || !parts.iter().any(says))
}

#[cfg(test)]
mod tests {
    use contexture_core::{BlobSource, Seal, SealScheme, ToolInput};
    use serde_json::json;

    use super::*;
    use crate::codec::opencode::part::{CLEARED, SUBTASK};

    fn entries(message: Value) -> Vec<Entry> {
        Message::read(message).into_entries(&mut None)
    }

    fn parts(role: &str, parts: &Value) -> Vec<(Role, Vec<EntryPart>)> {
        let entries = entries(json!({"info": {"role": role}, "parts": parts}));
        entries.into_iter().map(|entry| (entry.role, entry.parts)).collect()
    }

    fn call(id: &str, input: Value) -> EntryPart {
        EntryPart::ToolCall { id: id.into(), name: "bash".into(), input: ToolInput::Json(input) }
    }

    fn answer(call: &str, content: Vec<EntryPart>, is_error: bool) -> EntryPart {
        EntryPart::ToolResult { call: call.into(), content, is_error: Some(is_error) }
    }

    #[test]
    fn a_user_types_attaches_and_asks_for_tasks() {
        let said = parts(
            "user",
            &json!([
                {"type": "text", "text": "look"},
                {"type": "text", "text": "hidden", "ignored": true},
                {"type": "file", "mime": "text/plain", "url": "file:///w/a.rs", "filename": "a.rs"},
                {"type": "file", "mime": "image/png", "url": "data:image/png;base64,AA=="},
                {"type": "subtask", "prompt": "p", "description": "d", "agent": "a"},
                {"type": "agent", "name": "plan"},
                {"type": "new"}]),
        );
        let image = EntryPart::Blob { media_type: "image/png".into(), source: BlobSource::Base64("AA==".into()) };
        let new = EntryPart::Native { kind: "new".into(), value: json!({"type": "new"}) };
        assert_eq!(said, [(Role::User, vec![EntryPart::text("look"), image, EntryPart::text(SUBTASK), new])]);
    }

    #[test]
    fn what_nobody_typed_is_marked() {
        let meta = |synthetic: bool| {
            let part = json!({"type": "text", "text": "go on", "synthetic": synthetic});
            entries(json!({"info": {"role": "user"}, "parts": [part]}))[0].flags.meta
        };
        assert!(meta(true));
        assert!(!meta(false));
    }

    #[test]
    fn each_step_of_the_model_is_followed_by_its_results() {
        let state = |output: &str| json!({"status": "completed", "input": {"n": output}, "output": output});
        let entries = entries(json!({
            "info": {"id": "m", "role": "assistant", "parentID": "u", "agent": "build", "modelID": "gpt",
                "time": {"created": 1000},
                "tokens": {"input": 1, "output": 2, "reasoning": 3, "cache": {"read": 10, "write": 20}}},
            "parts": [
                {"type": "step-start"},
                {"type": "reasoning", "text": "hm", "metadata": {"openai": {"reasoningEncryptedContent": "x"}}},
                {"type": "tool", "callID": "1", "tool": "bash", "state": state("a")},
                {"type": "tool", "callID": "2", "tool": "bash", "state": state("b")},
                {"type": "step-finish", "reason": "tool-calls"},
                {"type": "patch", "hash": "h", "files": []},
                {"type": "step-start"},
                {"type": "text", "text": "done"}]
        }));
        let common = |id: &str, role, parts| Entry {
            id: Some(id.into()),
            group: Some("m".into()),
            parent: Some("u".into()),
            at: Timestamp::from_micros(1_000_000),
            ..Entry::new(role, parts)
        };
        let spoken = |entry: Entry| Entry { author: Some("build".into()), model: Some("gpt".into()), ..entry };
        let seal = Some(Seal { scheme: SealScheme::OpenaiEncrypted, data: "x".into() });
        let thought = EntryPart::Thinking { text: "hm".into(), seal };
        let calls = vec![thought, call("1", json!({"n": "a"})), call("2", json!({"n": "b"}))];
        let results =
            vec![answer("1", vec![EntryPart::text("a")], false), answer("2", vec![EntryPart::text("b")], false)];
        let usage =
            Usage { input: Some(31), output: Some(5), cache_read: Some(10), cache_write: Some(20), reasoning: Some(3) };
        assert_eq!(
            entries,
            [
                Entry { usage: Some(usage), ..spoken(common("m", Role::Assistant, calls)) },
                common("m/1", Role::Tool, results),
                spoken(common("m/2", Role::Assistant, vec![EntryPart::text("done")])),
            ]
        );
    }

    #[test]
    fn a_tool_answers_fails_is_stopped_or_is_still_at_it() {
        let results = |state: &Value| {
            let tool = json!([{"type": "tool", "callID": "1", "tool": "bash", "state": state}]);
            parts("assistant", &tool).into_iter().skip(1).flat_map(|(_, parts)| parts).collect::<Vec<_>>()
        };
        let image = json!({"mime": "image/png", "url": "data:image/png;base64,AA=="});
        let blob = EntryPart::Blob { media_type: "image/png".into(), source: BlobSource::Base64("AA==".into()) };
        assert_eq!(
            results(&json!({"status": "completed", "input": {}, "output": "out", "attachments": [image]})),
            [answer("1", vec![EntryPart::text("out"), blob], false)]
        );
        assert_eq!(
            results(&json!({"status": "completed", "input": {}, "output": "out", "time": {"compacted": 5}})),
            [answer("1", vec![EntryPart::text(CLEARED)], false)]
        );
        assert_eq!(
            results(&json!({"status": "error", "input": {}, "error": "no"})),
            [answer("1", vec![EntryPart::text("no")], true)]
        );
        assert_eq!(
            results(&json!({"status": "error", "error": "no", "metadata": {"interrupted": true, "output": "half"}})),
            [answer("1", vec![EntryPart::text("half")], false)]
        );
        assert_eq!(results(&json!({"status": "running", "input": {}})), []);
    }

    #[test]
    fn an_answer_that_failed_was_never_sent_again() {
        let synthetic = |error: &str, part: &Value| {
            let message = json!({"info": {"role": "assistant", "error": {"name": error}}, "parts": [part]});
            entries(message)[0].flags.synthetic
        };
        let (text, thought) = (json!({"type": "text", "text": "t"}), json!({"type": "reasoning", "text": "t"}));
        assert!(synthetic("APIError", &text));
        assert!(!synthetic("MessageAbortedError", &text));
        assert!(synthetic("MessageAbortedError", &thought));
    }

    #[test]
    fn instructions_come_once() {
        let mut instructions = None;
        let message = || {
            Message::read(json!({"info": {"id": "m", "role": "user", "system": "be brief"},
            "parts": [{"type": "text", "text": "hi"}]}))
        };
        let roles = |entries: Vec<Entry>| entries.iter().map(|entry| entry.role).collect::<Vec<_>>();
        assert_eq!(roles(message().into_entries(&mut instructions)), [Role::System, Role::User]);
        assert_eq!(roles(message().into_entries(&mut instructions)), [Role::User]);
    }

    #[test]
    fn what_has_no_role_is_handed_on() {
        let odd = json!({"type": "text", "text": "t"});
        assert_eq!(
            parts("nobody", &json!([odd])),
            [(Role::User, vec![EntryPart::Native { kind: "text".into(), value: odd.clone() }])]
        );
        assert_eq!(entries(json!(5)), []);
        assert_eq!(entries(json!({"info": 5, "parts": {}})), []);
    }
}
