//! The `contextStrategy` of Zeroshot's agents, read as a recipe.
//!
//! Each of its sources becomes a topic source, in their order; the agent's prompt comes before them and the trigger
//! after them. What that system takes silently is refused here: a budget that is a text, a source without a topic, a
//! field that nobody knows, a second source for the same messages.

use std::collections::HashMap;

use serde_json::Value;

use super::{
    BudgetLimits, BudgetSpec, Recipe, Rendering, RequiredOverflow, Rule, SegmentSpec, SourceInput, SourceSpec,
    Stability, TargetSpec, agent, read,
    topic::{self, Spelling},
};
use crate::{
    counter::{Chars4, TokenCounter as _},
    mistake::MistakeKind,
    packs::DEFAULT_MAX_CHARS,
    reader::{Fields, Reader, array, filled, line, positive, text, word, words},
    standard::{Audience, ContextScope, OverflowStrategy},
};

/// The budget where a strategy names none.
const DEFAULT_MAX_TOKENS: u64 = 100_000;

/// The role of those who are told what cannot be checked.
const VALIDATOR: &str = "validator";
/// The form of answers that a schema is for.
const JSON: &str = "json";
/// The forms of answers.
const OUTPUT_FORMATS: [&str; 3] = ["text", JSON, "stream-json"];

const SPELLING: Spelling = Spelling {
    compact_amount: "compactAmount",
    compact_strategy: "compactStrategy",
    if_missing: None,
    limit: Some("limit"),
};

/// Tells whether a document is a strategy, or an agent with one.
pub(super) fn is_one(document: &Value) -> bool {
    let has = |name| document.get(name).is_some();
    has("contextStrategy") || (has("sources") && !has("segments"))
}

/// Reads a strategy, or an agent with one. Of the agent, only what is part of its context is looked at.
pub(super) fn recipe(reader: &mut Reader, document: Value, name: &str) -> Option<Recipe> {
    let mut fields = reader.document(document)?;
    let (agent, strategy) = match fields.take("contextStrategy") {
        None => (Agent { name: name.to_owned(), ..Agent::default() }, fields),
        Some(strategy) => (Agent::read(reader, &mut fields, name), reader.object("contextStrategy", strategy)?),
    };
    let Sources { max_tokens, topics: mut messages } = sources(reader, strategy);
    let mut segments = Vec::new();
    let Agent { name, role, sections } = agent;
    if !sections.is_empty() {
        segments.push(segment("instructions", Stability::Stable, sections));
    }
    if role.as_deref() == Some(VALIDATOR) {
        messages.push(SourceSpec::of(SourceInput::SkipHints));
    }
    segments.push(segment("messages", Stability::Volatile, messages));
    segments.push(segment("trigger", Stability::Volatile, vec![SourceSpec::of(SourceInput::Trigger)]));
    let limits = BudgetLimits {
        max_tokens: Some(max_tokens),
        max_chars: Some(DEFAULT_MAX_CHARS.get()),
        ..BudgetLimits::default()
    };
    Some(Recipe {
        name,
        description: role.map(|role| format!("What an agent of the role {role} is given.")).unwrap_or_default(),
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

/// What is part of every context of an agent.
#[derive(Default)]
struct Agent {
    name: String,
    role: Option<String>,
    /// Who it is with its rules, what it is to do, and how it is to answer.
    sections: Vec<SourceSpec>,
}

impl Agent {
    fn read(reader: &mut Reader, fields: &mut Fields, name: &str) -> Self {
        let id = reader.optional(fields, "id", read::name);
        let role = reader.optional(fields, "role", line);
        let Prompt { system, output } = prompt(reader, fields);
        let format = reader.optional(fields, "outputFormat", output_format);
        let schema = reader.optional(fields, "jsonSchema", schema);
        let mut sections = Vec::new();
        if let Some(role) = &role {
            sections.push(instruction(agent::header(id.as_deref().unwrap_or(name), role)));
        }
        if let Some(system) = system {
            let text = Some(agent::instructions(&system));
            sections.push(SourceSpec::of(SourceInput::System { text, file: None }));
        }
        sections.extend(output.map(instruction));
        if let Some(schema) = schema.filter(|_| format == Some(JSON)) {
            sections.push(instruction(agent::json_schema(&schema)));
        }
        Self { name: id.unwrap_or_else(|| name.to_owned()), role, sections }
    }
}

/// Returns a section that a model takes as an instruction.
fn instruction(text: String) -> SourceSpec {
    SourceSpec::of(SourceInput::Text { text, compact: None, instruction: true })
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

/// What an agent is told by its author.
#[derive(Default)]
struct Prompt {
    system: Option<String>,
    /// How the answer looks.
    output: Option<String>,
}

/// Reads an agent's prompt: a text, or an object with one and with how the answer looks.
fn prompt(reader: &mut Reader, fields: &mut Fields) -> Prompt {
    let path = fields.path("prompt");
    match fields.take("prompt") {
        None => Prompt::default(),
        Some(value @ Value::Object(_)) => {
            let Some(mut prompt) = reader.object(&path, value) else { return Prompt::default() };
            let system = reader.required(&mut prompt, "system", words);
            let output_path = prompt.path("outputFormat");
            let output = prompt.take("outputFormat").and_then(|output| reader.object(&output_path, output));
            let output = output.map(|mut output| {
                let example = output.take("example");
                let rules = reader.list(&mut output, "rules", array, line).unwrap_or_default();
                agent::output_format(example.as_ref(), &rules)
            });
            Prompt { system, output }
        }
        Some(value) => {
            let system = words(value).map_err(|problem| reader.add(path, problem)).ok();
            Prompt { system, output: None }
        }
    }
}

fn output_format(value: Value) -> Result<&'static str, MistakeKind> {
    let text = text(value)?;
    let known = OUTPUT_FORMATS.into_iter().find(|known| *known == text);
    known.ok_or_else(|| MistakeKind::word_of(text, OUTPUT_FORMATS.to_vec()))
}

fn schema(value: Value) -> Result<Value, MistakeKind> {
    if value.is_object() { Ok(value) } else { Err(MistakeKind::mistyped("an object", value)) }
}

/// Takes the one order that there is; that system names it everywhere and looks at it nowhere.
fn chronological(value: Value) -> Result<(), MistakeKind> {
    let text = text(value)?;
    if text == "chronological" { Ok(()) } else { Err(MistakeKind::word_of(text, vec!["chronological"])) }
}

fn segment(name: &str, stability: Stability, sources: Vec<SourceSpec>) -> SegmentSpec {
    SegmentSpec { name: name.to_owned(), stability, reserve: 0, max_tokens: None, overflow: None, sources }
}
