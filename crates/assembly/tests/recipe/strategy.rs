//! Strategies of Zeroshot's agents as recipes.

use contexture_assembly::recipe::{Recipe, SourceInput, Syntax};
use serde_json::{Value, json};

use crate::{read, refused};

fn recipe(strategy: &Value) -> Recipe {
    read(Syntax::Json, &strategy.to_string())
}

/// Returns the topic sources, a line each.
fn topics(strategy: &Value) -> Vec<String> {
    let recipe = recipe(strategy);
    let messages = recipe.segments.iter().find(|segment| segment.name == "messages").unwrap();
    let topic = |source: &contexture_assembly::recipe::SourceSpec| {
        let SourceInput::Topic { topic, sender, since, strategy, amount, compact_strategy, compact_amount, .. } =
            &source.input
        else {
            panic!("{source:?} is no topic");
        };
        let amount = amount.map_or("-".to_owned(), |amount| amount.to_string());
        let (sender, since) = (sender.as_deref().unwrap_or("-"), serde_json::to_string(since).unwrap());
        let priority = source.priority;
        format!("{topic} {priority} {sender} {since} {strategy} {amount} {compact_strategy} {compact_amount}")
    };
    messages.sources.iter().map(topic).collect()
}

#[test]
fn an_agent_becomes_a_recipe_with_its_prompt_first_and_the_trigger_last() {
    let agent = json!({
        "id": "painter",
        "role": "implementation",
        "model": "{{model}}",
        "prompt": {"system": "Paint the fence."},
        "contextStrategy": {
            "sources": [
                {"topic": "ISSUE_OPENED", "limit": 1},
                {"topic": "VALIDATION_RESULT", "since": "last_task_end", "amount": 5, "compactAmount": 2},
            ],
            "format": "chronological",
            "maxTokens": 20_000,
        },
        "triggers": [{"topic": "ISSUE_OPENED", "action": "execute_task"}],
    });
    let expected = r#"name = "painter"
description = "What an agent of the role implementation is given."
scope = "turn"
counter = "chars4"
target = "model:prompt"
overflow = "summarize_low_priority"

[budget]
max_tokens = 20000
max_chars = 500000
required = "include"

[[segments]]
name = "instructions"
stability = "stable"

[[segments.sources]]
source = "text"
text = HEADER
instruction = true
priority = "required"

[[segments.sources]]
source = "system"
text = """
## Instructions

Paint the fence.

"""
priority = "required"

[[segments]]
name = "messages"
stability = "volatile"

[[segments.sources]]
source = "topic"
topic = "ISSUE_OPENED"
strategy = "latest"
amount = 1
compact_strategy = "latest"
compact_amount = 1
priority = "required"

[[segments.sources]]
source = "topic"
topic = "VALIDATION_RESULT"
since = "last_task_end"
strategy = "latest"
amount = 5
compact_strategy = "latest"
compact_amount = 2
priority = "high"

[[segments]]
name = "trigger"
stability = "volatile"

[[segments.sources]]
source = "trigger"
priority = "required"
"#;
    let recipe = recipe(&agent);
    let toml = recipe.to_toml().unwrap();
    assert_eq!(read(Syntax::Toml, &toml), recipe);
    let header = toml.split_once("text = ").unwrap().1.split_once("\ninstruction").unwrap().0;
    assert!(
        header.contains("You are agent \"painter\" with role \"implementation\".\n\n## 🔴 CRITICAL: AUTONOMOUS"),
        "{header}"
    );
    assert_eq!(toml.replacen(header, "HEADER", 1), expected);
}

/// Returns what the segments of a recipe say that are the same for every message.
fn instructions(agent: &Value) -> Vec<String> {
    let recipe = recipe(agent);
    let said = recipe.segments[0].sources.iter().filter_map(|source| match &source.input {
        SourceInput::Text { text, .. } | SourceInput::System { text: Some(text), .. } => Some(text.clone()),
        _ => None,
    });
    said.collect()
}

#[test]
fn the_header_comes_first_and_the_number_of_the_turn_is_not_in_it() {
    let agent = json!({"id": "w", "role": "planning", "contextStrategy": {"sources": [{"topic": "A"}]}});
    let [header] = instructions(&agent).try_into().unwrap();
    let headings: Vec<&str> = header.lines().filter(|line| line.starts_with("## ")).collect();
    assert_eq!(
        headings,
        [
            "## 🔴 CRITICAL: AUTONOMOUS EXECUTION REQUIRED",
            "## 🔴 OUTPUT STYLE - NON-NEGOTIABLE",
            "## 🚫 GIT OPERATIONS - FORBIDDEN",
        ]
    );
    assert!(!header.contains("Iteration"), "{header}");
}

#[test]
fn how_an_answer_looks_becomes_sections_after_the_instructions() {
    let agent = json!({
        "id": "w",
        "role": "validator",
        "prompt": {"system": "Validate.", "outputFormat": {"example": {"ok": true}, "rules": ["Be exact."]}},
        "outputFormat": "json",
        "jsonSchema": {"type": "object", "properties": {
            "verdict": {"enum": ["PASS", "FAIL"]},
            "why": {"type": "string"},
            "where": {"type": "string", "description": "a file"},
            "sure": {"type": "boolean"},
            "count": {"type": "integer"},
            "notes": {"type": "array"},
            "more": {"properties": {"x": {"type": "number"}}},
        }},
        "contextStrategy": {"sources": [{"topic": "A"}]},
    });
    let [_, prompt, output, schema] = instructions(&agent).try_into().unwrap();
    assert_eq!(prompt, "## Instructions\n\nValidate.\n\n");
    assert_eq!(
        output,
        "## Output Schema (REQUIRED)\n\n```json\n{\n  \"ok\": true\n}\n```\n\nDense. Factual.\n- Be exact.\n\n"
    );
    assert!(schema.starts_with("## 🔴 OUTPUT FORMAT - JSON ONLY\n"), "{schema}");
    let example = schema.split_once("Example output:\n```json\n").unwrap().1.split_once("\n```").unwrap().0;
    assert_eq!(
        serde_json::from_str::<Value>(example).unwrap(),
        json!({"verdict": "PASS", "why": "why value", "where": "a file", "sure": true, "count": 0, "notes": [], "more": {"x": 0}})
    );
    assert_eq!(schema.split_once("CRITICAL RULES:\n").unwrap().1.matches("- ").count(), 3);
}

#[test]
fn a_schema_counts_only_for_answers_in_json() {
    let agent = json!({"id": "w", "role": "tester", "jsonSchema": {"type": "object"}, "contextStrategy": {"sources": [{"topic": "A"}]}});
    assert_eq!(instructions(&agent).len(), 1);
    let wrong = json!({"id": "w", "outputFormat": "xml", "jsonSchema": "object", "contextStrategy": {"sources": [{"topic": "A"}]}});
    assert_eq!(
        refused(Syntax::Json, &wrong.to_string()),
        ["outputFormat: \"xml\" is not one of text, json, stream-json", "jsonSchema: expected an object, found a text",]
    );
}

#[test]
fn only_validators_are_told_what_cannot_be_checked() {
    for (role, is_told) in [("validator", true), ("implementation", false), ("planner", false), ("tester", false)] {
        let agent = json!({"id": "w", "role": role, "contextStrategy": {"sources": [{"topic": "A"}]}});
        let recipe = recipe(&agent);
        let messages = recipe.segments.iter().find(|segment| segment.name == "messages").unwrap();
        let last = &messages.sources.last().unwrap().input;
        assert_eq!(matches!(last, SourceInput::SkipHints), is_told, "{role}");
    }
}

#[test]
fn a_strategy_stands_for_itself_and_has_the_usual_budget() {
    let recipe = recipe(&json!({"sources": [{"topic": "A"}], "maxTokens": null}));
    let names: Vec<_> = recipe.segments.iter().map(|segment| segment.name.as_str()).collect();
    assert_eq!((recipe.name.as_str(), names), ("file", vec!["messages", "trigger"]));
    assert_eq!(recipe.budget.limits.max_tokens, Some(100_000));
    let text = json!({"contextStrategy": {"sources": [{"topic": "A"}]}, "prompt": "Do it."});
    assert_eq!(self::recipe(&text).segments[0].name, "instructions");
}

#[test]
fn priorities_follow_from_the_topic_where_nobody_says() {
    let names = [
        "STATE_SNAPSHOT",
        "ISSUE_OPENED",
        "PLAN_READY",
        "VALIDATION_RESULT",
        "IMPLEMENTATION_READY",
        "WORKER_PROGRESS",
    ];
    let sources: Vec<_> = names.iter().map(|name| json!({"topic": name})).collect();
    assert_eq!(
        topics(&json!({"sources": sources})),
        [
            "STATE_SNAPSHOT required - null all - latest 1",
            "ISSUE_OPENED required - null all - latest 1",
            "PLAN_READY required - null all - latest 1",
            "VALIDATION_RESULT high - null all - latest 1",
            "IMPLEMENTATION_READY high - null all - latest 1",
            "WORKER_PROGRESS medium - null all - latest 1",
        ]
    );
    assert_eq!(
        topics(&json!({"sources": [{"topic": "PLAN_READY", "priority": "low"}]})),
        ["PLAN_READY low - null all - latest 1"]
    );
}

#[test]
fn which_messages_are_taken_follows_from_what_is_said() {
    let sources = json!({"sources": [
        {"topic": "A", "amount": 2},
        {"topic": "B", "limit": 3},
        {"topic": "C", "amount": 1, "limit": 2},
        {"topic": "D", "strategy": "oldest", "amount": 4},
        {"topic": "E", "strategy": "all", "amount": 5, "compactStrategy": "oldest", "compactAmount": 2},
        {"topic": "F", "sender": "ada", "since": "2026-01-02T03:04:05Z", "strategy": "latest"},
        {"topic": "G", "since": 1_700_000_000_000_i64},
        {"topic": "G", "since": "last_agent_start"},
    ]});
    assert_eq!(
        topics(&sources),
        [
            "A medium - null latest 2 latest 1",
            "B medium - null latest 3 latest 1",
            "C medium - null latest 1 latest 1",
            "D medium - null oldest 4 oldest 1",
            "E medium - null all 5 oldest 2",
            "F medium ada \"2026-01-02T03:04:05.000000Z\" latest - latest 1",
            "G medium - \"2023-11-14T22:13:20.000000Z\" all - latest 1",
            "G medium - \"last_agent_start\" all - latest 1",
        ]
    );
}

#[test]
fn what_that_system_takes_silently_is_refused() {
    let strategy = json!({
        "contextStrategy": {
            "sources": [
                {"topic": "A", "amount": "3", "compactAmount": 0, "strategy": "last"},
                {"topic": "B", "limit": 1, "priority": "urgent"},
                {"topic": "B", "amount": 1},
                {"sender": "ada", "since": "yesterday"},
                {"topic": "C", "compactamount": 2},
                "D",
            ],
            "maxTokens": "{{max_tokens}}",
            "format": "chronologic",
            "maxToken": 3,
        },
        "id": "",
        "prompt": {"text": "Do it."},
    });
    assert_eq!(
        refused(Syntax::Json, &strategy.to_string()),
        [
            "id: \"\" cannot be a recipe name: it is empty",
            "prompt.system: it is missing",
            "contextStrategy.maxTokens: expected a whole number, 1 or more, found a text",
            "contextStrategy.format: \"chronologic\" is not one of chronological; did you mean `chronological`?",
            "contextStrategy.maxToken: nothing is known by this name; did you mean `maxTokens`?",
            "contextStrategy.sources[0].strategy: \"last\" is not one of latest, oldest, all",
            "contextStrategy.sources[0].amount: expected a whole number, 1 or more, found a text",
            "contextStrategy.sources[0].compactAmount: expected a whole number, 1 or more, found 0",
            "contextStrategy.sources[1].priority: \"urgent\" is not one of required, high, medium, low",
            "contextStrategy.sources[3].topic: it is missing",
            "contextStrategy.sources[3].since: \"yesterday\" is not one of cluster_start, last_task_end, \
             last_agent_start, a time such as 2026-11-15T20:10:00Z",
            "contextStrategy.sources[4].compactamount: nothing is known by this name; did you mean `compactAmount`?",
            "contextStrategy.sources[5]: expected an object, found a text",
            "contextStrategy.sources[2]: contextStrategy.sources[1] takes the same messages",
        ]
    );
    assert_eq!(refused(Syntax::Json, r#"{"sources": []}"#), ["sources: it needs at least one"]);
    assert_eq!(refused(Syntax::Json, r#"{"contextStrategy": 3}"#), ["contextStrategy: expected an object, found 3"]);
    assert_eq!(
        refused(Syntax::Json, r#"{"sources": [{"topic": "A"}], "maxTokens": 0}"#),
        ["maxTokens: expected a whole number, 1 or more, found 0"]
    );
}
