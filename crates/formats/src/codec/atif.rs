//! `atif-v1`: a trajectory of Harbor's interchange format, one document with a list of steps.

use std::collections::HashMap;

use contexture_core::{BlobSource, Entry, EntryPart, Flags, Role, Timestamp, ToolInput, Usage};
use serde::Deserialize;
use serde_json::Value;

use super::{
    Codec, Effect, Facts, Framing, Keep, Outline, RecordMark, RecordStep, content_blocks, spoken_text::SpokenText,
    tolerant_json,
};
use crate::{RecordProblem, media};

pub(crate) struct Atif;

/// A trajectory, with as much of its steps as is asked for.
#[derive(Deserialize)]
#[serde(bound(deserialize = "S: Deserialize<'de>"))]
struct Trajectory<S> {
    #[serde(rename = "session_id", default, deserialize_with = "tolerant_json::maybe")]
    session: Option<String>,
    #[serde(rename = "trajectory_id", default, deserialize_with = "tolerant_json::maybe")]
    id: Option<String>,
    #[serde(default, deserialize_with = "tolerant_json::maybe")]
    agent: Option<Agent>,
    #[serde(default, deserialize_with = "tolerant_json::maybe")]
    steps: Option<Vec<S>>,
}

#[derive(Deserialize, Default)]
struct Agent {
    #[serde(default, deserialize_with = "tolerant_json::maybe")]
    version: Option<String>,
    #[serde(default, deserialize_with = "tolerant_json::maybe")]
    model_name: Option<String>,
}

#[derive(Deserialize)]
struct Head {
    #[serde(default, deserialize_with = "tolerant_json::maybe")]
    source: Option<String>,
    #[serde(default, deserialize_with = "tolerant_json::time")]
    timestamp: Option<Timestamp>,
    #[serde(default)]
    message: SpokenText,
}

#[derive(Deserialize)]
struct TrajectoryStep {
    #[serde(default, deserialize_with = "tolerant_json::maybe")]
    step_id: Option<u64>,
    #[serde(default, deserialize_with = "tolerant_json::time")]
    timestamp: Option<Timestamp>,
    source: StepSource,
    #[serde(default, deserialize_with = "tolerant_json::maybe")]
    model_name: Option<String>,
    #[serde(default)]
    message: Value,
    #[serde(default, deserialize_with = "tolerant_json::maybe")]
    reasoning_content: Option<String>,
    #[serde(default, deserialize_with = "tolerant_json::maybe")]
    tool_calls: Option<Vec<Value>>,
    #[serde(default, deserialize_with = "tolerant_json::maybe")]
    observation: Option<Observation>,
    #[serde(default, deserialize_with = "tolerant_json::maybe")]
    metrics: Option<Metrics>,
    #[serde(default, deserialize_with = "tolerant_json::maybe")]
    extra: Option<StepExtra>,
}

#[derive(Deserialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
enum StepSource {
    System,
    User,
    Agent,
}

#[derive(Deserialize)]
struct ToolCall {
    #[serde(rename = "tool_call_id")]
    id: String,
    #[serde(rename = "function_name")]
    name: String,
    #[serde(default = "content_blocks::empty_object")]
    arguments: Value,
}

#[derive(Deserialize)]
struct Observation {
    results: Vec<ObservedResult>,
}

#[derive(Deserialize)]
struct ObservedResult {
    #[serde(default, deserialize_with = "tolerant_json::maybe")]
    source_call_id: Option<String>,
    #[serde(default)]
    content: Value,
    #[serde(default, deserialize_with = "tolerant_json::maybe")]
    subagent_trajectory_ref: Option<Value>,
    #[serde(default, deserialize_with = "tolerant_json::maybe")]
    extra: Option<ObservedExtra>,
}

/// Where this project writes whether a tool failed, for which the format has no field.
#[derive(Deserialize)]
struct ObservedExtra {
    #[serde(default, deserialize_with = "tolerant_json::maybe")]
    is_error: Option<bool>,
}

#[derive(Deserialize)]
struct Metrics {
    #[serde(rename = "prompt_tokens", default, deserialize_with = "tolerant_json::maybe")]
    prompt: Option<u64>,
    #[serde(rename = "completion_tokens", default, deserialize_with = "tolerant_json::maybe")]
    completion: Option<u64>,
    #[serde(rename = "cached_tokens", default, deserialize_with = "tolerant_json::maybe")]
    cached: Option<u64>,
}

#[derive(Deserialize)]
struct StepExtra {
    #[serde(default, deserialize_with = "tolerant_json::maybe")]
    context_management: Option<ContextManagement>,
}

#[derive(Deserialize)]
struct ContextManagement {
    #[serde(default, deserialize_with = "tolerant_json::maybe")]
    boundary: Option<String>,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum MessagePart {
    Text {
        text: String,
    },
    Image {
        source: TrajectoryImage,
    },
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
struct TrajectoryImage {
    media_type: String,
    path: String,
}

impl Codec for Atif {
    fn framing(&self) -> Framing {
        Framing::Document
    }

    fn outline(&self, record: &[u8]) -> Result<Outline, RecordProblem> {
        let Trajectory::<Head> { session, id, agent, steps } = tolerant_json::record(record)?;
        let Agent { version, model_name } = agent.unwrap_or_default();
        let steps = steps.unwrap_or_default();
        let at = steps.iter().rev().find_map(|step| step.timestamp);
        let mut asked = steps.into_iter().filter(|step| step.source.as_deref() == Some("user"));
        let words = asked.find_map(|step| step.message.spoken());
        let facts = Facts { session: session.or(id), version, model: model_name, ..Facts::default() };
        Ok(Outline {
            at,
            mark: words.map_or(RecordMark::None, |words| RecordMark::Turn(Some(words))),
            facts,
            ..Outline::default()
        })
    }

    fn step(&self, record: &[u8]) -> Result<RecordStep, RecordProblem> {
        let Trajectory::<Value> { session, id, agent, steps } = tolerant_json::record(record)?;
        let name = id.or(session);
        let model = agent.unwrap_or_default().model_name;
        let mut effect = Effect::Upsert;
        let mut entries = Vec::new();
        for (n, value) in steps.unwrap_or_default().into_iter().enumerate() {
            let Ok(mut step) = TrajectoryStep::deserialize(&value) else {
                entries.push(Entry::new(Role::User, vec![EntryPart::Native { kind: "step".to_owned(), value }]));
                continue;
            };
            if step.replaces() {
                effect = Effect::Replace(Keep::Nothing);
                entries.clear();
            }
            let id = name.as_ref().map(|name| format!("{name}/{}", step.step_id.unwrap_or(n as u64 + 1)));
            if step.source == StepSource::Agent {
                step.model_name = step.model_name.or_else(|| model.clone());
            }
            entries.extend(step.into_entries(id));
        }
        Ok(if entries.is_empty() { RecordStep::nothing() } else { RecordStep { effect, entries } })
    }
}

impl TrajectoryStep {
    /// Tells whether all that a model sees from here on is what was observed here and what follows.
    fn replaces(&self) -> bool {
        let management = self.extra.as_ref().and_then(|extra| extra.context_management.as_ref());
        self.source == StepSource::System && management.is_some_and(|m| m.boundary.as_deref() == Some("replace"))
    }

    fn into_entries(self, id: Option<String>) -> Vec<Entry> {
        let replaces = self.replaces();
        let results_id = id.as_ref().map(|id| format!("{id}/results"));
        let (at, model) = (self.timestamp, self.model_name);
        let mut said: Vec<EntryPart> = Vec::new();
        said.extend(
            self.reasoning_content.filter(|t| !t.is_empty()).map(|text| EntryPart::Thinking { text, seal: None }),
        );
        said.extend(parts(self.message));
        said.extend(self.tool_calls.into_iter().flatten().map(call));
        let results = observed(self.observation);
        if replaces {
            let observed = text(&results);
            let text = if observed.is_empty() { text(&said) } else { observed };
            let flags = Flags { compact_summary: true, ..Flags::default() };
            return vec![Entry { id, at, flags, ..Entry::new(Role::User, vec![EntryPart::Summary { text }]) }];
        }
        let (role, results_role) = match self.source {
            StepSource::System => (Role::System, Role::System),
            StepSource::User => (Role::User, Role::User),
            StepSource::Agent => (Role::Assistant, Role::Tool),
        };
        let usage = self.metrics.map(Usage::from);
        let entries = [
            Entry { id, at, model, usage, ..Entry::new(role, said) },
            Entry { id: results_id, at, ..Entry::new(results_role, results) },
        ];
        entries.into_iter().filter(|entry| !entry.parts.is_empty()).collect()
    }
}

impl From<Metrics> for Usage {
    fn from(Metrics { prompt, completion, cached }: Metrics) -> Self {
        Self { input: prompt, output: completion, cache_read: cached, ..Self::default() }
    }
}

fn call(call: Value) -> EntryPart {
    match ToolCall::deserialize(&call) {
        Ok(ToolCall { id, name, arguments }) => EntryPart::ToolCall { id, name, input: ToolInput::Json(arguments) },
        Err(_) => EntryPart::Native { kind: "tool_call".to_owned(), value: call },
    }
}

/// Returns what tools answered, each call once. What answers no call is there as it is.
fn observed(observation: Option<Observation>) -> Vec<EntryPart> {
    let mut observed: Vec<EntryPart> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for result in observation.into_iter().flat_map(|observation| observation.results) {
        let mut more = parts(result.content);
        let subagents = result.subagent_trajectory_ref;
        more.extend(subagents.map(|value| EntryPart::Native { kind: "subagent_trajectory_ref".to_owned(), value }));
        let Some(call) = result.source_call_id else {
            observed.extend(more);
            continue;
        };
        let failed = result.extra.and_then(|extra| extra.is_error);
        let place = *places.entry(call.clone()).or_insert(observed.len());
        if let Some(EntryPart::ToolResult { content, is_error, .. }) = observed.get_mut(place) {
            content.extend(more);
            *is_error = is_error.or(failed);
        } else {
            observed.push(EntryPart::ToolResult { call, content: more, is_error: failed });
        }
    }
    observed
}

fn parts(content: Value) -> Vec<EntryPart> {
    content_blocks::parts(content, part)
}

fn part(piece: Value) -> EntryPart {
    match MessagePart::deserialize(&piece) {
        Ok(MessagePart::Text { text }) => EntryPart::Text { text },
        Ok(MessagePart::Image { source: TrajectoryImage { media_type, path } }) if is_url(&path) => {
            media::at_url(&path, &media_type)
        }
        Ok(MessagePart::Image { source: TrajectoryImage { media_type, path } }) => {
            EntryPart::Blob { media_type, source: BlobSource::File(path) }
        }
        Ok(MessagePart::Other) | Err(_) => content_blocks::native(piece),
    }
}

fn is_url(path: &str) -> bool {
    path.starts_with("data:") || path.contains("://")
}

fn text(parts: &[EntryPart]) -> String {
    let texts = parts.iter().filter_map(|part| match part {
        EntryPart::Text { text } => Some(text.clone()),
        EntryPart::ToolResult { content, .. } => Some(text(content)),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn record(steps: &Value) -> String {
        json!({"schema_version": "ATIF-v1.7", "session_id": "s", "steps": steps,
            "agent": {"name": "a", "version": "2", "model_name": "m"}})
        .to_string()
    }

    fn step(steps: &Value) -> RecordStep {
        Atif.step(record(steps).as_bytes()).unwrap()
    }

    fn entry(id: &str, role: Role, parts: Vec<EntryPart>) -> Entry {
        Entry { id: Some(id.into()), ..Entry::new(role, parts) }
    }

    #[test]
    fn steps_are_entries_and_observations_follow_their_calls() {
        let step = step(&json!([
            {"step_id": 1, "source": "system", "message": "be brief"},
            {"step_id": 2, "source": "user", "message": [{"type": "text", "text": "look"},
                {"type": "image", "source": {"media_type": "image/png", "path": "images/a.png"}},
                {"type": "image", "source": {"media_type": "image/png", "path": "https://a.example/b.png"}}]},
            {"step_id": 3, "timestamp": "2026-11-15T10:00:00Z", "source": "agent", "message": "I look.",
                "model_name": "n", "reasoning_content": "hm",
                "tool_calls": [{"tool_call_id": "c", "function_name": "ls", "arguments": {"dir": "/"}}],
                "observation": {"results": [
                    {"source_call_id": "c", "content": "a"},
                    {"source_call_id": "c", "content": [{"type": "text", "text": "b"}], "extra": {"is_error": true}},
                    {"content": "terminal"}]},
                "metrics": {"prompt_tokens": 5, "completion_tokens": 6, "cached_tokens": 4}}
        ]));
        let at: Option<Timestamp> = Some("2026-11-15T10:00:00Z".parse().unwrap());
        let blob = |source| EntryPart::Blob { media_type: "image/png".into(), source };
        let images =
            [blob(BlobSource::File("images/a.png".into())), blob(BlobSource::Url("https://a.example/b.png".into()))];
        let said = vec![
            EntryPart::Thinking { text: "hm".into(), seal: None },
            EntryPart::text("I look."),
            EntryPart::ToolCall { id: "c".into(), name: "ls".into(), input: ToolInput::Json(json!({"dir": "/"})) },
        ];
        let result = EntryPart::ToolResult {
            call: "c".into(),
            content: vec![EntryPart::text("a"), EntryPart::text("b")],
            is_error: Some(true),
        };
        let usage = Usage { input: Some(5), output: Some(6), cache_read: Some(4), ..Usage::default() };
        assert_eq!(
            step.entries,
            [
                entry("s/1", Role::System, vec![EntryPart::text("be brief")]),
                entry("s/2", Role::User, [vec![EntryPart::text("look")], images.to_vec()].concat()),
                Entry { at, model: Some("n".into()), usage: Some(usage), ..entry("s/3", Role::Assistant, said) },
                Entry { at, ..entry("s/3/results", Role::Tool, vec![result, EntryPart::text("terminal")]) },
            ]
        );
        assert_eq!(step.effect, Effect::Upsert);
    }

    #[test]
    fn a_replacement_leaves_what_was_observed_and_what_follows() {
        let extra = json!({"context_management": {"type": "compaction", "boundary": "replace"}});
        let replaced = step(&json!([
            {"step_id": 1, "source": "user", "message": "old"},
            {"step_id": 2, "source": "system", "message": "Compacted", "extra": extra,
                "observation": {"results": [{"content": "so far"}]}},
            {"step_id": 3, "source": "user", "message": "new"}
        ]));
        let flags = Flags { compact_summary: true, ..Flags::default() };
        let summary = Entry { flags, ..entry("s/2", Role::User, vec![EntryPart::Summary { text: "so far".into() }]) };
        let entries = vec![summary, entry("s/3", Role::User, vec![EntryPart::text("new")])];
        assert_eq!(replaced, RecordStep { effect: Effect::Replace(Keep::Nothing), entries });

        let unseen = step(&json!([{"step_id": 1, "source": "system", "message": "Compacted", "extra": extra}]));
        assert_eq!(unseen.entries[0].parts, [EntryPart::Summary { text: "Compacted".into() }]);
        let appended = json!({"context_management": {"type": "injection", "boundary": "append"}});
        let injected = step(&json!([{"source": "system", "message": "note", "extra": appended}]));
        assert_eq!(
            injected,
            RecordStep {
                effect: Effect::Upsert,
                entries: vec![entry("s/1", Role::System, vec![EntryPart::text("note")])]
            }
        );
    }

    #[test]
    fn an_outline_tells_about_the_session() {
        let record = record(&json!([
            {"source": "system", "message": "s"},
            {"source": "user", "message": "why?", "timestamp": "2026-11-15T10:00:00Z"},
            {"source": "agent", "message": "so"}]));
        let facts =
            Facts { session: Some("s".into()), version: Some("2".into()), model: Some("m".into()), ..Facts::default() };
        let at = Some("2026-11-15T10:00:00Z".parse().unwrap());
        let mark = RecordMark::Turn(Some("why?".into()));
        assert_eq!(Atif.outline(record.as_bytes()), Ok(Outline { at, mark, facts, ..Outline::default() }));
    }

    #[test]
    fn the_agents_model_is_the_steps() {
        assert_eq!(step(&json!([{"source": "agent", "message": "a"}])).entries[0].model, Some("m".into()));
        assert_eq!(step(&json!([{"source": "user", "message": "a"}])).entries[0].model, None);
    }

    #[test]
    fn what_is_not_understood_is_handed_on() {
        let odd = json!({"source": "nobody", "message": "x"});
        assert_eq!(
            step(&json!([odd])).entries[0].parts,
            [EntryPart::Native { kind: "step".into(), value: odd.clone() }]
        );
        let call = json!({"tool_call_id": 5});
        let parts = step(&json!([{"source": "agent", "message": "", "tool_calls": [call]}])).entries[0].parts.clone();
        assert_eq!(parts, [EntryPart::Native { kind: "tool_call".into(), value: call }]);
        assert_eq!(Atif.step(b"{}"), Ok(RecordStep::nothing()));
        assert_eq!(Atif.outline(b"{\"steps\":{}}"), Ok(Outline::default()));
        assert!(Atif.step(b"[]").is_err());
    }
}
