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
        let SourceInput::Topic { topic, sender, since, strategy, amount, compact_strategy, compact_amount } =
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
        "prompt": {"system": "Paint the fence.", "outputFormat": {"example": {}}},
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
source = "system"
text = "Paint the fence."
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
    assert_eq!(recipe.to_toml().unwrap(), expected);
    assert_eq!(read(Syntax::Toml, expected), recipe);
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
