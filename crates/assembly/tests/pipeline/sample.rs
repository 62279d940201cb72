//! Inputs to assemble.

use std::collections::BTreeMap;

use contexture_assembly::{
    Chars4, Digest, Hold, Item, ItemContent, ItemOrigin, Priority, PromptPlace, RunPart, TokenCounts, Voice,
    envelope::Inputs,
    pipeline::{self, AssembledTarget, PipelineVersion, Rejected},
    recipe::{
        BudgetLimits, BudgetSpec, Recipe, Rendering, RequiredOverflow, SegmentSpec, SourceInput, SourceSpec, Stability,
        TargetSpec,
    },
    render::TranscriptSession,
    standard::{Audience, ContextKind, ContextScope, ItemId, OverflowStrategy},
};
use contexture_core::{Entry, EntryPart, Role, Timestamp, ToolInput};
use serde_json::json;

pub(crate) const STABLE: usize = 0;
pub(crate) const HISTORY: usize = 1;
pub(crate) const TAIL: usize = 2;

pub(crate) fn target(rendering: Rendering) -> TargetSpec {
    TargetSpec { audience: Audience::Model, rendering }
}

pub(crate) fn recipe(targets: Vec<TargetSpec>, max_tokens: Option<u64>) -> Recipe {
    let segment = |name: &str, stability, reserve, input| SegmentSpec {
        name: name.into(),
        stability,
        reserve,
        max_tokens: None,
        overflow: None,
        sources: vec![SourceSpec {
            input,
            priority: Priority::Medium,
            kind: None,
            title: None,
            visibility: None,
            trust: None,
            sensitivity: None,
        }],
    };
    let history = SourceInput::History { beyond_compaction: false, thinking: false, max_turns: None };
    Recipe {
        name: "sample".into(),
        description: String::new(),
        scope: ContextScope::Turn,
        model: None,
        max_output: None,
        counter: Some("chars4".into()),
        targets,
        budget: BudgetSpec {
            limits: BudgetLimits { max_tokens, ..BudgetLimits::default() },
            targets: BTreeMap::new(),
            overflow: OverflowStrategy::SummarizeOldest,
            required: RequiredOverflow::Include,
            max_search_ms: None,
        },
        segments: vec![
            segment("head", Stability::Stable, 0, SourceInput::System { text: Some("You help.".into()), file: None }),
            segment("history", Stability::Append, 0, history),
            segment("tail", Stability::Volatile, 40, SourceInput::Trigger),
        ],
    }
}

pub(crate) fn inputs(recipe: Recipe, items: Vec<Item>) -> Inputs {
    let session = TranscriptSession {
        id: "0b0c0d0e-0000-4000-8000-000000000001".into(),
        directory: "/work".into(),
        branch: None,
        model: None,
        now: Timestamp::from_micros(1_000_000).unwrap(),
    };
    Inputs {
        recipe,
        stream: "main".into(),
        session,
        items,
        unread: None,
        unread_messages: None,
        pipeline: PipelineVersion::NEWEST,
    }
}

pub(crate) fn assembled(inputs: &Inputs) -> Result<Vec<AssembledTarget>, Rejected> {
    pipeline::run(inputs, &TokenCounts::new(&Chars4))
}

pub(crate) fn one(inputs: &Inputs) -> AssembledTarget {
    assembled(inputs).unwrap().remove(0)
}

pub(crate) fn item(id: &str, segment: usize, order: i64, priority: Priority, content: ItemContent) -> Item {
    let origin = ItemOrigin {
        kind: "test".into(),
        uri: format!("test:{id}"),
        digest: Digest::of(id.as_bytes()),
        hold: Hold::Pinned,
        commit: None,
    };
    Item {
        id: ItemId::new(id).unwrap(),
        kind: ContextKind::ManualNote,
        segment,
        place: PromptPlace { order, tie: 1 },
        part: RunPart::Alone,
        priority,
        title: Some(id.to_owned()),
        origin,
        visibility: None,
        trust: None,
        redaction: None,
        at: None,
        sensitivity: None,
        media_type: None,
        replaces: None,
        messages: Vec::new(),
        content,
        compact: None,
    }
}

pub(crate) fn text(text: &str) -> ItemContent {
    ItemContent::Text { text: text.into(), voice: Voice::User, fenced: true }
}

pub(crate) fn system(id: &str, said: &str) -> Item {
    let content = ItemContent::Text { text: said.into(), voice: Voice::System, fenced: false };
    Item { kind: ContextKind::SystemPrompt, ..item(id, STABLE, 0, Priority::Required, content) }
}

pub(crate) fn trigger(said: &str) -> Item {
    let content = ItemContent::Text { text: said.into(), voice: Voice::User, fenced: false };
    Item { kind: ContextKind::UserMessage, ..item("trigger", TAIL, i64::MAX, Priority::Required, content) }
}

/// A turn of a conversation: a question, then so many steps with a call each, then an answer.
pub(crate) fn turn(turn: u64, calls: usize, words: usize) -> Vec<Item> {
    let says = |role, said: &str| Entry::new(role, vec![EntryPart::text(said)]);
    let filler = "word ".repeat(words);
    let mut steps = vec![vec![says(Role::User, &format!("question {turn} {filler}"))]];
    for call in 0..calls {
        let id = format!("call-{turn}-{call}");
        let asks =
            EntryPart::ToolCall { id: id.clone(), name: "run".into(), input: ToolInput::Json(json!({"n": call})) };
        let answer = vec![EntryPart::text(format!("output {call} {filler}"))];
        steps.push(vec![
            Entry::new(Role::Assistant, vec![EntryPart::text("I look."), asks]),
            Entry::new(Role::Tool, vec![EntryPart::ToolResult { call: id, content: answer, is_error: None }]),
        ]);
    }
    steps.push(vec![says(Role::Assistant, &format!("answer {turn}"))]);
    let order = turn.cast_signed() << 20;
    (0i64..)
        .zip(steps)
        .map(|(step, entries)| Item {
            kind: ContextKind::SessionHistory,
            part: RunPart::Step(turn),
            ..item(&format!("t{turn}.{step}"), HISTORY, order | step, Priority::Medium, ItemContent::Entries(entries))
        })
        .collect()
}

pub(crate) fn summary(turn: u64) -> Item {
    let order = turn.cast_signed() << 20;
    Item {
        kind: ContextKind::ThreadSummary,
        part: RunPart::Summary(turn),
        place: PromptPlace { order, tie: 0 },
        ..item(&format!("s{turn}"), HISTORY, order, Priority::Medium, text(&format!("summary of turn {turn}")))
    }
}
