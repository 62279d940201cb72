//! The `contextStrategy` of Zeroshot's agents, read as a recipe.
//!
//! Each of its sources becomes a topic source, in their order; the agent's prompt comes before them and the trigger
//! after them. What that system takes silently is refused here: a budget that is a text, a source without a topic, a
//! field that nobody knows, a second source for the same messages.

use std::collections::HashMap;

use serde_json::Value;

use super::{
    BudgetLimits, BudgetSpec, Recipe, Rendering, RequiredOverflow, Rule, SegmentSpec, SourceInput, SourceSpec,
    Stability, TargetSpec, read,
    topic::{self, Spelling},
};
use crate::{
    counter::{Chars4, TokenCounter as _},
    mistake::MistakeKind,
    packs::DEFAULT_MAX_CHARS,
    reader::{Fields, Reader, filled, line, positive, text, word, words},
    standard::{Audience, ContextScope, OverflowStrategy},
};

/// The budget where a strategy names none.
const DEFAULT_MAX_TOKENS: u64 = 100_000;

const SPELLING: Spelling =
    Spelling { compact_amount: "compactAmount", compact_strategy: "compactStrategy", limit: Some("limit") };

/// Tells whether a document is a strategy, or an agent with one.
pub(super) fn is_one(document: &Value) -> bool {
    let has = |name| document.get(name).is_some();
    has("contextStrategy") || (has("sources") && !has("segments"))
}

/// Reads a strategy, or an agent with one. Of the agent, only what is part of its context is looked at.
pub(super) fn recipe(reader: &mut Reader, document: Value, name: &str) -> Option<Recipe> {
    let mut fields = reader.document(document)?;
    let (name, description, prompt, strategy) = match fields.take("contextStrategy") {
        None => (name.to_owned(), String::new(), None, fields),
        Some(strategy) => {
            let name = reader.optional(&mut fields, "id", read::name).unwrap_or_else(|| name.to_owned());
            let role = reader.optional(&mut fields, "role", line);
            let prompt = prompt(reader, &mut fields);
            let description =
                role.map(|role| format!("What an agent of the role {role} is given.")).unwrap_or_default();
            (name, description, prompt, reader.object("contextStrategy", strategy)?)
        }
    };
    let Sources { max_tokens, topics } = sources(reader, strategy);
    let mut segments = Vec::new();
    if let Some(text) = prompt {
        let source = SourceSpec::of(SourceInput::System { text: Some(text), file: None });
        segments.push(segment("instructions", Stability::Stable, vec![source]));
    }
    segments.push(segment("messages", Stability::Volatile, topics));
    segments.push(segment("trigger", Stability::Volatile, vec![SourceSpec::of(SourceInput::Trigger)]));
    let limits = BudgetLimits {
        max_tokens: Some(max_tokens),
        max_chars: Some(DEFAULT_MAX_CHARS.get()),
        ..BudgetLimits::default()
    };
    Some(Recipe {
        name,
        description,
        scope: ContextScope::Turn,
        model: None,
        max_output: None,
        counter: Some(Chars4.name().to_owned()),
        targets: vec![TargetSpec { audience: Audience::Model, rendering: Rendering::Prompt }],
        budget: BudgetSpec {
            limits,
            targets: [].into(),
            overflow: OverflowStrategy::SummarizeLowPriority,
            required: RequiredOverflow::Include,
            max_search_ms: None,
        },
        segments,
    })
}

struct Sources {
    max_tokens: u64,
    topics: Vec<SourceSpec>,
}

fn sources(reader: &mut Reader, mut fields: Fields) -> Sources {
    let values = reader.required(&mut fields, "sources", filled).unwrap_or_default();
    let max_tokens = reader.optional(&mut fields, "maxTokens", positive).unwrap_or(DEFAULT_MAX_TOKENS);
    reader.optional(&mut fields, "format", chronological);
    reader.nothing_else(&fields);

    let mut topics: Vec<(String, SourceSpec)> = Vec::with_capacity(values.len());
    for (index, value) in values.into_iter().enumerate() {
        let path = format!("{}[{index}]", fields.path("sources"));
        topics.extend(source(reader, &path, value).map(|source| (path, source)));
    }
    let mut first_of_messages = HashMap::new();
    for (path, source) in &topics {
        let first = *first_of_messages.entry(topic::messages(&source.input)).or_insert(path);
        if first != path {
            reader.add(path, Rule::SameMessages { first: first.clone() });
        }
    }
    Sources { max_tokens, topics: topics.into_iter().map(|(_, source)| source).collect() }
}

fn source(reader: &mut Reader, path: &str, value: Value) -> Option<SourceSpec> {
    let mut fields = reader.object(path, value)?;
    let input = topic::read(reader, &mut fields, SPELLING);
    let priority = reader.optional(&mut fields, "priority", word);
    reader.nothing_else(&fields);
    let source = SourceSpec::of(input?);
    Some(SourceSpec { priority: priority.unwrap_or(source.priority), ..source })
}

/// Reads an agent's prompt: a text, or an object with one.
fn prompt(reader: &mut Reader, fields: &mut Fields) -> Option<String> {
    let path = fields.path("prompt");
    match fields.take("prompt")? {
        value @ Value::Object(_) => {
            // Beside the text it says how the answer is to look, which is for whoever runs the agent.
            let mut prompt = reader.object(&path, value)?;
            reader.required(&mut prompt, "system", words)
        }
        value => words(value).map_err(|problem| reader.add(path, problem)).ok(),
    }
}

/// Takes the one order that there is; that system names it everywhere and looks at it nowhere.
fn chronological(value: Value) -> Result<(), MistakeKind> {
    let text = text(value)?;
    if text == "chronological" { Ok(()) } else { Err(MistakeKind::word_of(text, vec!["chronological"])) }
}

fn segment(name: &str, stability: Stability, sources: Vec<SourceSpec>) -> SegmentSpec {
    SegmentSpec { name: name.to_owned(), stability, reserve: 0, max_tokens: None, overflow: None, sources }
}
