//! What is read from recipes that are good, and what is written back.

use contexture_assembly::{
    Priority,
    recipe::{
        BudgetLimits, BudgetSpec, Recipe, Rendering, RequiredOverflow, SegmentSpec, SourceInput, SourceKind,
        SourceSpec, Stability, Syntax, TargetSpec, built_in,
    },
    standard::{Audience, ContextKind, ContextScope, OverflowStrategy},
};

use crate::read;

const FULL: &str = r#"
name = "resume"
description = "Goes on."
counter = "claude-estimate"
model = "claude-opus-4-7"
max_output = 4_000
scope = "session"
target = ["anthropic", "reviewer"]
overflow = "reject"

[budget]
max_tokens = 100_000
reserved_tokens = 8_000
required = "include"
max_search_ms = 500
[budget.targets.reviewer]
max_tokens = 4_000
reserved_tokens = 0

[[segments]]
name = "system"
[[segments.sources]]
source = "system"
text = "Be brief.\n"

[[segments]]
name = "history"
reserve = 1000
max_tokens = 5000
overflow = "truncate_middle"
[[segments.sources]]
source = "history"
max_turns = 7
title = "So far"
kind = "thread_summary"
visibility = ["model", "ui"]
trust = "own"
sensitivity = "internal"
priority = "high"
"#;

fn full() -> Recipe {
    let limits = |max: u64, reserved: u64| BudgetLimits {
        max_tokens: Some(max),
        reserved_tokens: Some(reserved),
        ..BudgetLimits::default()
    };
    Recipe {
        name: "resume".to_owned(),
        description: "Goes on.".to_owned(),
        scope: ContextScope::Session,
        model: Some("claude-opus-4-7".to_owned()),
        max_output: Some(4_000),
        counter: Some("claude-estimate".to_owned()),
        targets: vec![
            TargetSpec { audience: Audience::Model, rendering: Rendering::Anthropic },
            TargetSpec { audience: Audience::Reviewer, rendering: Rendering::Prompt },
        ],
        budget: BudgetSpec {
            limits: limits(100_000, 8_000),
            targets: [(Audience::Reviewer, limits(4_000, 0))].into(),
            overflow: OverflowStrategy::Reject,
            required: RequiredOverflow::Include,
            max_search_ms: Some(500),
        },
        segments: vec![
            SegmentSpec {
                name: "system".to_owned(),
                stability: Stability::Stable,
                reserve: 0,
                max_tokens: None,
                overflow: None,
                sources: vec![SourceSpec::of(SourceInput::System { text: Some("Be brief.\n".to_owned()), file: None })],
            },
            SegmentSpec {
                name: "history".to_owned(),
                stability: Stability::Append,
                reserve: 1000,
                max_tokens: Some(5000),
                overflow: Some(OverflowStrategy::TruncateMiddle),
                sources: vec![SourceSpec {
                    input: SourceInput::History { beyond_compaction: false, thinking: false, max_turns: Some(7) },
                    priority: Priority::High,
                    kind: Some(ContextKind::ThreadSummary),
                    title: Some("So far".to_owned()),
                    visibility: Some(vec![Audience::Model, Audience::Ui]),
                    trust: Some("own".to_owned()),
                    sensitivity: Some("internal".to_owned()),
                }],
            },
        ],
    }
}

#[test]
fn a_recipe_is_read_as_it_is_written() {
    assert_eq!(read(Syntax::Toml, FULL), full());
}

#[test]
fn json_says_the_same_as_toml_and_null_counts_as_absent() {
    let json = serde_json::to_string(&full()).unwrap();
    assert_eq!(read(Syntax::Json, &json), full());
    let sparse = r#"{"name": null, "segments": [{"name": "a", "reserve": null, "sources": [{"source": "items"}]}]}"#;
    assert_eq!(read(Syntax::Json, sparse).name, "file");
}

#[test]
fn little_needs_to_be_said() {
    let recipe = read(Syntax::Toml, "segments = [{ name = \"all\", sources = [{ source = \"trigger\" }] }]");
    assert_eq!(
        recipe.to_toml().unwrap(),
        "name = \"file\"\n\
         scope = \"turn\"\n\
         target = \"model:prompt\"\n\
         overflow = \"summarize_oldest\"\n\
         \n\
         [[segments]]\n\
         name = \"all\"\n\
         stability = \"volatile\"\n\
         \n\
         [[segments.sources]]\n\
         source = \"trigger\"\n\
         priority = \"required\"\n"
    );
}

#[test]
fn every_kind_of_source_has_its_own_priority_and_stability() {
    let of = |source: &str| {
        let recipe = read(Syntax::Toml, &format!("segments = [{{ name = \"all\", sources = [{{ {source} }}] }}]"));
        let segment = &recipe.segments[0];
        let source = &segment.sources[0];
        format!("{} {} {}", source.input.kind(), source.priority, segment.stability)
    };
    let found = [
        of("source = \"system\", file = \"s.md\""),
        of("source = \"instructions\""),
        of("source = \"text\", text = \"a\""),
        of("source = \"history\""),
        of("source = \"files\""),
        of("source = \"retrieval\""),
        of("source = \"missing\""),
        of("source = \"items\""),
        of("source = \"trigger\""),
        of("source = \"topic\", topic = \"ANY\""),
        of("source = \"channel\""),
        of("source = \"skip_hints\""),
    ];
    assert_eq!(found.len(), SourceKind::ALL.len());
    assert_eq!(
        found,
        [
            "system required stable",
            "instructions required stable",
            "text high stable",
            "history medium append",
            "files medium volatile",
            "retrieval low volatile",
            "missing high volatile",
            "items medium volatile",
            "trigger required volatile",
            "topic medium volatile",
            "channel medium append",
            "skip_hints required volatile",
        ]
    );
}

#[test]
fn limits_of_a_target_take_the_place_of_the_others_one_by_one() {
    let budget = BudgetSpec {
        limits: BudgetLimits { max_tokens: Some(100), max_items: Some(7), ..BudgetLimits::default() },
        targets: [(Audience::Tool, BudgetLimits { max_tokens: Some(10), ..BudgetLimits::default() })].into(),
        overflow: OverflowStrategy::Reject,
        required: RequiredOverflow::Reject,
        max_search_ms: None,
    };
    assert_eq!(budget.limits_for(Audience::Model), budget.limits);
    let expected = BudgetLimits { max_tokens: Some(10), max_items: Some(7), ..BudgetLimits::default() };
    assert_eq!(budget.limits_for(Audience::Tool), expected);
}

#[test]
fn times_may_be_those_of_toml() {
    let of = |since: &str| {
        let recipe = format!(
            "segments = [{{ name = \"a\", sources = [{{ source = \"topic\", topic = \"A\", since = {since} }}] }}]"
        );
        let SourceInput::Topic { since, .. } = read(Syntax::Toml, &recipe).segments[0].sources[0].input.clone() else {
            panic!("it is a topic");
        };
        serde_json::to_string(&since).unwrap()
    };
    assert_eq!(of("2026-11-15T20:10:00Z"), "\"2026-11-15T20:10:00.000000Z\"");
    assert_eq!(of("2026-11-15"), "\"2026-11-15T00:00:00.000000Z\"");
    assert_eq!(of("\"2026-11-15T20:10:00+02:00\""), "\"2026-11-15T18:10:00.000000Z\"");
    assert_eq!(of("1000"), "\"1970-01-01T00:00:01.000000Z\"");
    assert_eq!(of("\"cluster_start\""), "\"cluster_start\"");
}

#[test]
fn the_digest_is_that_of_the_canonical_json() {
    let recipe = read(Syntax::Toml, "segments = [{ name = \"all\", sources = [{ source = \"trigger\" }] }]");
    let json = concat!(
        r#"{"name":"file","overflow":"summarize_oldest","scope":"turn","segments":[{"name":"all","#,
        r#""sources":[{"priority":"required","source":"trigger"}],"stability":"volatile"}],"target":"model:prompt"}"#
    );
    assert_eq!(recipe.digest(), contexture_core::ArtifactId::of(json.as_bytes()));
    assert_ne!(full().digest(), recipe.digest());
}

#[test]
fn a_byte_order_mark_is_passed_over_and_the_syntax_is_found_out() {
    assert_eq!(read(Syntax::Toml, &format!("\u{feff}{FULL}")), full());
    assert_eq!([b" \n{}" as &[u8], b"a = {}", b""].map(Syntax::of_text), [Syntax::Json, Syntax::Toml, Syntax::Toml]);
}

#[test]
fn the_recipes_that_come_with_the_program_are_good() {
    for built_in in built_in() {
        let recipe = read(Syntax::Toml, built_in.text);
        assert_eq!(recipe.name, built_in.name);
        assert_eq!(recipe, built_in.recipe());
        assert!(!recipe.description.is_empty());
        assert_eq!(read(Syntax::Toml, &recipe.to_toml().unwrap()), recipe);
        let last = recipe.segments.last().and_then(|segment| segment.sources.last());
        assert_eq!(last.map(|source| source.input.kind()), Some(SourceKind::Trigger), "{}", built_in.name);
    }
}

#[test]
fn tokens_are_counted_as_the_target_counts_them_where_the_recipe_does_not_say() {
    let counter = |head: &str| {
        let recipe = format!("{head}\n[[segments]]\nname = \"now\"\n[[segments.sources]]\nsource = \"trigger\"\n");
        read(Syntax::Toml, &recipe).token_counter().to_owned()
    };
    assert_eq!(counter(""), "chars4");
    assert_eq!(counter("target = \"anthropic\""), "claude-estimate");
    assert_eq!(counter("target = \"openai-chat\""), "o200k");
    assert_eq!(counter("target = \"openai-responses\""), "o200k");
    assert_eq!(counter("target = \"codex\""), "o200k");
    assert_eq!(counter("target = [\"reviewer\", \"anthropic\"]"), "claude-estimate", "the model's is what is limited");
    assert_eq!(counter("target = \"openai-chat\"\ncounter = \"cl100k\""), "cl100k");
    for built_in in built_in() {
        assert_eq!(built_in.recipe().counter, None, "{}", built_in.name);
    }
}
