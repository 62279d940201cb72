//! `atif-v1`: a trajectory by version 1.7 of Harbor's interchange format.
//!
//! A trajectory is a report and no session that a runtime resumes, so times are given only where they are known.

use std::borrow::Cow;

use contexture_core::{BlobSource, EntryPart, Timestamp};
use serde::Serialize;
use serde_json::Value;

use super::{EncodedDialogue, Encoder, Target, calls, plain_text};
use crate::{
    Framing,
    dialogue::{Dialogue, Losses, Speaker, Turn},
};

/// The images that the format allows.
const IMAGES: [&str; 4] = ["image/jpeg", "image/png", "image/gif", "image/webp"];

pub(crate) struct AtifEncoder;

#[derive(Serialize)]
struct AtifTrajectory<'d> {
    schema_version: &'static str,
    session_id: &'d str,
    agent: AtifAgent<'d>,
    steps: Vec<WrittenStep<'d>>,
}

#[derive(Serialize)]
struct AtifAgent<'d> {
    name: &'static str,
    version: &'d str,
    #[serde(skip_serializing_if = "Option::is_none")]
    model_name: Option<&'d str>,
}

#[derive(Serialize)]
struct WrittenStep<'d> {
    #[serde(rename = "step_id")]
    number: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    timestamp: Option<Timestamp>,
    source: WrittenSource,
    #[serde(skip_serializing_if = "Option::is_none")]
    model_name: Option<&'d str>,
    message: WrittenContent<'d>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_content: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<AtifToolCall<'d>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    observation: Option<AtifObservation<'d>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    extra: Option<AtifStepExtra>,
}

#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum WrittenSource {
    System,
    User,
    Agent,
}

#[derive(Serialize)]
#[serde(untagged)]
enum WrittenContent<'d> {
    Text(Cow<'d, str>),
    Pieces(Vec<WrittenPart<'d>>),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum WrittenPart<'d> {
    Text { text: Cow<'d, str> },
    Image { source: AtifImage<'d> },
}

#[derive(Serialize)]
struct AtifImage<'d> {
    media_type: &'d str,
    path: &'d str,
}

#[derive(Serialize)]
struct AtifToolCall<'d> {
    #[serde(rename = "tool_call_id")]
    id: &'d str,
    #[serde(rename = "function_name")]
    name: &'d str,
    arguments: Cow<'d, Value>,
}

#[derive(Serialize)]
struct AtifObservation<'d> {
    results: Vec<AtifObserved<'d>>,
}

#[derive(Serialize)]
struct AtifObserved<'d> {
    #[serde(skip_serializing_if = "Option::is_none")]
    source_call_id: Option<&'d str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<WrittenContent<'d>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    extra: Option<AtifObservedExtra>,
}

#[derive(Serialize)]
struct AtifObservedExtra {
    is_error: bool,
}

#[derive(Serialize)]
struct AtifStepExtra {
    context_management: AtifContextManagement,
}

#[derive(Serialize)]
struct AtifContextManagement {
    #[serde(rename = "type")]
    kind: &'static str,
    boundary: &'static str,
}

impl Encoder for AtifEncoder {
    fn framing(&self) -> Framing {
        Framing::Document
    }

    fn encode(&self, dialogue: &Dialogue, target: &Target) -> EncodedDialogue {
        let mut losses = Losses::default();
        let mut steps: Vec<WrittenStep<'_>> =
            dialogue.system.iter().map(|system| WrittenStep::new(WrittenSource::System, None, said(system))).collect();
        for (n, turn) in dialogue.turns.iter().enumerate() {
            match turn.speaker {
                Speaker::User => {
                    let summary = turn.parts.first().filter(|_| steps.is_empty());
                    let summary = summary.and_then(|part| compaction(part, turn.at));
                    let rest = &turn.parts[usize::from(summary.is_some())..];
                    steps.extend(summary);
                    steps.extend(asked(rest, turn.at, &mut losses));
                }
                Speaker::Assistant => steps.push(answered(turn, dialogue.turns.get(n + 1), &mut losses)),
            }
        }
        if steps.is_empty() {
            // A trajectory has at least one step.
            steps.push(WrittenStep::new(WrittenSource::System, None, said("")));
        }
        for (n, step) in steps.iter_mut().enumerate() {
            step.number = n + 1;
        }
        let model = dialogue.turns.iter().rev().find_map(|turn| turn.model.as_deref()).or(target.model.as_deref());
        let version = target.version.as_deref().unwrap_or("unknown");
        let trajectory = AtifTrajectory {
            schema_version: "ATIF-v1.7",
            session_id: &target.session,
            agent: AtifAgent { name: "contexture", version, model_name: model },
            steps,
        };
        let bytes = serde_json::to_vec(&trajectory).expect("steps have text keys");
        EncodedDialogue { bytes, losses }
    }
}

impl<'d> WrittenStep<'d> {
    fn new(source: WrittenSource, timestamp: Option<Timestamp>, message: WrittenContent<'d>) -> Self {
        Self {
            number: 0,
            timestamp,
            source,
            model_name: None,
            message,
            reasoning_content: None,
            tool_calls: Vec::new(),
            observation: None,
            extra: None,
        }
    }
}

/// Returns a summary that the whole trajectory begins with as the step that replaces all before it.
///
/// Anywhere else such a step would take away more than the summary stands for.
fn compaction(part: &EntryPart, at: Option<Timestamp>) -> Option<WrittenStep<'_>> {
    let EntryPart::Summary { text } = part else { return None };
    let result = AtifObserved { source_call_id: None, content: Some(said(text)), extra: None };
    let context_management = AtifContextManagement { kind: "compaction", boundary: "replace" };
    Some(WrittenStep {
        observation: Some(AtifObservation { results: vec![result] }),
        extra: Some(AtifStepExtra { context_management }),
        ..WrittenStep::new(WrittenSource::System, at, said("Context compaction"))
    })
}

/// Returns what a user says besides the results of tools, which belong to the step before.
fn asked<'d>(parts: &'d [EntryPart], at: Option<Timestamp>, losses: &mut Losses) -> Option<WrittenStep<'d>> {
    let (results, words): (Vec<&EntryPart>, _) =
        parts.iter().partition(|part| matches!(part, EntryPart::ToolResult { .. }));
    let pieces: Vec<WrittenPart<'d>> = words.into_iter().filter_map(|part| shown(part, losses)).collect();
    if !pieces.is_empty() {
        return Some(WrittenStep::new(WrittenSource::User, at, content(pieces)));
    }
    // Without results the turn would be gone and the agent would speak twice in a row.
    (results.is_empty() && !parts.is_empty())
        .then(|| WrittenStep::new(WrittenSource::User, at, said(plain_text::NO_CONTENT)))
}

fn answered<'d>(turn: &'d Turn, next: Option<&'d Turn>, losses: &mut Losses) -> WrittenStep<'d> {
    let mut pieces = Vec::new();
    let mut thoughts = Vec::new();
    let mut tool_calls = Vec::new();
    for part in &turn.parts {
        match part {
            EntryPart::ToolCall { id, name, input } => {
                tool_calls.push(AtifToolCall { id, name, arguments: calls::object_input(input, losses) });
            }
            EntryPart::Thinking { text, seal } => {
                plain_text::note_seal(text, seal.as_ref(), losses);
                thoughts.extend((!text.is_empty()).then_some(text.as_str()));
            }
            part => pieces.extend(shown(part, losses)),
        }
    }
    let results: Vec<AtifObserved<'d>> = observed(&tool_calls, next, losses);
    WrittenStep {
        model_name: turn.model.as_deref(),
        reasoning_content: (!thoughts.is_empty()).then(|| thoughts.join("\n\n")),
        tool_calls,
        observation: (!results.is_empty()).then_some(AtifObservation { results }),
        ..WrittenStep::new(WrittenSource::Agent, turn.at, content(pieces))
    }
}

/// Returns the results of these calls, which the next turn begins with.
fn observed<'d>(called: &[AtifToolCall<'d>], next: Option<&'d Turn>, losses: &mut Losses) -> Vec<AtifObserved<'d>> {
    let answers = calls::answers(next);
    let observe = |call: &AtifToolCall<'d>| {
        let answer = answers.get(call.id)?;
        let shown = |part: &'d EntryPart| match part {
            // Blank output is output.
            EntryPart::Text { text } => (!text.is_empty()).then_some(WrittenPart::Text { text: Cow::Borrowed(text) }),
            part => shown(part, losses),
        };
        let pieces: Vec<WrittenPart<'d>> = answer.content.iter().filter_map(shown).collect();
        Some(AtifObserved {
            source_call_id: Some(call.id),
            content: (!pieces.is_empty()).then(|| content(pieces)),
            extra: answer.is_error.then_some(AtifObservedExtra { is_error: true }),
        })
    };
    called.iter().filter_map(observe).collect()
}

fn shown<'d>(part: &'d EntryPart, losses: &mut Losses) -> Option<WrittenPart<'d>> {
    if let EntryPart::Blob { media_type, source: BlobSource::Url(path) | BlobSource::File(path) } = part
        && IMAGES.contains(&media_type.as_str())
    {
        return Some(WrittenPart::Image { source: AtifImage { media_type, path } });
    }
    plain_text::for_model(part, losses).map(|text| WrittenPart::Text { text: Cow::Owned(text) })
}

fn content(mut pieces: Vec<WrittenPart<'_>>) -> WrittenContent<'_> {
    match &mut pieces[..] {
        [] => said(""),
        [WrittenPart::Text { text }] => WrittenContent::Text(std::mem::take(text)),
        _ => WrittenContent::Pieces(pieces),
    }
}

const fn said(text: &str) -> WrittenContent<'_> {
    WrittenContent::Text(Cow::Borrowed(text))
}

#[cfg(test)]
mod tests {
    use contexture_core::{Entry, Role, Seal, SealScheme, ToolInput};
    use serde_json::json;

    use super::*;
    use crate::{
        dialogue::LossKind,
        encode::samples::{self, assistant, call, result, user},
    };

    fn steps(entries: Vec<Entry>) -> (Value, Vec<(LossKind, u64)>) {
        let (mut trajectory, losses) = samples::encode(&AtifEncoder, entries);
        let steps = trajectory["steps"].take();
        let expected = json!({"schema_version": "ATIF-v1.7", "session_id": "0193c5a0-0000-7000-8000-000000000001",
            "agent": {"name": "contexture", "version": "unknown"}, "steps": null});
        assert_eq!(trajectory, expected);
        (steps, losses)
    }

    #[test]
    fn observations_belong_to_the_step_of_their_calls() {
        let at: Option<Timestamp> = Some("2026-11-15T09:00:00Z".parse().unwrap());
        let (steps, losses) = steps(vec![
            Entry::new(Role::System, vec![EntryPart::text("be brief")]),
            Entry { at, ..user(vec![EntryPart::text("go"), EntryPart::text("now")]) },
            assistant(vec![
                EntryPart::Thinking { text: "hm".into(), seal: None },
                call("a", json!({"n": 1})),
                EntryPart::ToolCall { id: "b".into(), name: "patch".into(), input: ToolInput::Text("x".into()) },
            ]),
            user(vec![result("b", vec![EntryPart::text("no")], Some(true)), result("a", vec![], None)]),
            assistant(vec![EntryPart::text("done")]),
        ]);
        let expected = json!([
            {"step_id": 1, "source": "system", "message": "be brief"},
            {"step_id": 2, "timestamp": "2026-11-15T09:00:00.000000Z", "source": "user",
                "message": [{"type": "text", "text": "go"}, {"type": "text", "text": "now"}]},
            {"step_id": 3, "source": "agent", "message": "", "reasoning_content": "hm",
                "tool_calls": [
                    {"tool_call_id": "a", "function_name": "run", "arguments": {"n": 1}},
                    {"tool_call_id": "b", "function_name": "patch", "arguments": {"input": "x"}}],
                "observation": {"results": [
                    {"source_call_id": "a"},
                    {"source_call_id": "b", "content": "no", "extra": {"is_error": true}}]}},
            {"step_id": 4, "source": "agent", "message": "done"}
        ]);
        assert_eq!((steps, losses), (expected, vec![(LossKind::InputWrapped, 1)]));
    }

    #[test]
    fn a_summary_at_the_beginning_replaces_all_before() {
        let summary = || EntryPart::Summary { text: "so far".into() };
        let (with_summary, _) = steps(vec![user(vec![summary(), EntryPart::text("go on")])]);
        let expected = json!([
            {"step_id": 1, "source": "system", "message": "Context compaction",
                "observation": {"results": [{"content": "so far"}]},
                "extra": {"context_management": {"type": "compaction", "boundary": "replace"}}},
            {"step_id": 2, "source": "user", "message": "go on"}
        ]);
        assert_eq!(with_summary, expected);
        let system = Entry::new(Role::System, vec![EntryPart::text("be brief")]);
        let (below, _) = steps(vec![system, user(vec![summary()])]);
        assert_eq!(below[1], json!({"step_id": 2, "source": "user", "message": "so far"}));
    }

    #[test]
    fn images_have_a_path_or_leave_a_note() {
        let image = |source| EntryPart::Blob { media_type: "image/png".into(), source };
        let seal = Some(Seal { scheme: SealScheme::AnthropicRedacted, data: "x".into() });
        let (steps, losses) = steps(vec![
            user(vec![image(BlobSource::File("a.png".into())), image(BlobSource::Base64("AA==".into()))]),
            assistant(vec![EntryPart::Thinking { text: String::new(), seal }]),
        ]);
        let pieces = json!([
            {"type": "image", "source": {"media_type": "image/png", "path": "a.png"}},
            {"type": "text", "text": "[image/png]"}]);
        let expected = json!([
            {"step_id": 1, "source": "user", "message": pieces},
            {"step_id": 2, "source": "agent", "message": ""}]);
        assert_eq!((steps, losses), (expected, vec![(LossKind::BlobAsNote, 1), (LossKind::SealedThinking, 1)]));
    }

    #[test]
    fn an_empty_conversation_has_a_step() {
        assert_eq!(steps(vec![]).0, json!([{"step_id": 1, "source": "system", "message": ""}]));
    }
}
