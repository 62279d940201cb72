//! Packs against the golden vectors that lie beside the project, where they are there, and cases of our own.

use std::{fs, path::Path};

use contexture_assembly::{Chars4, TokenCount, TokenCounter, packs};
use serde_json::{Value, json};

#[test]
fn packs_equal_the_golden_vectors() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/vectors/packs.json");
    let Ok(text) = fs::read(&path) else {
        eprintln!("skipped: no golden vectors beside the project");
        return;
    };
    let vectors: Value = serde_json::from_slice(&text).unwrap();
    let cases = vectors["cases"].as_array().unwrap();
    assert!(cases.len() >= 18);
    for case in cases {
        match case["expected"]["error"]["path"].as_str() {
            Some(path) => assert_eq!(mistakes(&case["input"])[0].split(": ").next(), Some(path), "{}", case["name"]),
            None => assert_eq!(report(&Chars4, &case["input"]), case["expected"], "{}", case["name"]),
        }
    }
}

#[test]
fn a_pack_without_text_is_skipped_even_when_required() {
    let report = report(
        &Chars4,
        &json!({"packs": [
            {"id": "none", "priority": "required", "full": "", "compact": ""},
            {"id": "short", "priority": "required", "full": "", "compact": "c"},
        ]}),
    );
    assert_eq!(fates(&report), ["none skipped empty 0", "short compact - 1"]);
    assert_eq!(report["context"], "c");
}

#[test]
fn packs_of_equal_order_stay_as_they_were_listed() {
    let report = report(
        &Chars4,
        &json!({"packs": [
            {"id": "b", "order": 7, "full": "b"},
            {"id": "a", "order": 7, "full": "a"},
            {"id": "first", "order": -1, "full": "f"},
        ]}),
    );
    assert_eq!(report["context"], "fba");
}

#[test]
fn the_characters_are_limited_to_half_a_million_where_nothing_is_said() {
    let report = report(
        &Chars4,
        &json!({"maxTokens": 1, "packs": [
            {"id": "issue", "priority": "required", "full": "i".repeat(700_000)},
            {"id": "more", "full": "m"},
        ]}),
    );
    assert_eq!(report["guard"], json!({"applied": true, "beforeChars": 700_000, "afterChars": 500_000}));
    assert_eq!(report["budget"], json!({"maxTokens": 1, "finalTokens": 125_000, "overBudgetTokens": 124_999}));
    assert_eq!(fates(&report), ["issue full max_chars 500000", "more skipped budget 0"]);
}

#[test]
fn what_a_long_pack_pushed_out_comes_back_when_it_goes_itself() {
    let report = report(
        &Chars4,
        &json!({"maxChars": 80, "packs": [
            {"id": "r", "priority": "required", "full": "r".repeat(50)},
            {"id": "long", "priority": "high", "full": "h".repeat(100)},
            {"id": "medium", "full": "m".repeat(40), "compact": "m".repeat(20)},
            {"id": "low", "priority": "low", "full": "l".repeat(10)},
        ]}),
    );
    assert_eq!(
        fates(&report),
        ["r full - 50", "long skipped max_chars 0", "medium compact max_chars 20", "low full - 10"]
    );
}

#[test]
fn a_cut_leaves_whole_characters_and_a_mark_beside_something() {
    let cut = |max: u64| {
        let report = report(
            &Chars4,
            &json!({"maxChars": max, "packs": [
                {"id": "e", "priority": "required", "full": "😀".repeat(30)},
            ]}),
        );
        (report["context"].as_str().unwrap().to_owned(), fates(&report).remove(0))
    };
    assert_eq!(cut(40), ("😀😀\n\n[Context truncated to fit limit]\n".to_owned(), "e full max_chars 39".to_owned()));
    // A mark beside nothing would say less than the text.
    assert_eq!(cut(36), ("😀".repeat(18), "e full max_chars 36".to_owned()));
    assert_eq!(cut(1), (String::new(), "e skipped max_chars 0".to_owned()));
}

#[test]
fn a_counter_that_finds_more_in_the_whole_does_not_break_the_budget() {
    /// Counts a token for each character and one for each place where two different ones meet.
    #[derive(Debug)]
    struct Meetings;

    impl TokenCounter for Meetings {
        fn name(&self) -> &'static str {
            "meetings"
        }

        fn version(&self) -> u32 {
            1
        }

        fn count(&self, text: &str) -> TokenCount {
            let meetings = text.as_bytes().windows(2).filter(|pair| pair[0] != pair[1]).count();
            TokenCount::new((text.len() + meetings) as u64)
        }
    }

    let packs = json!([{"id": "a", "priority": "high", "full": "aa"}, {"id": "b", "full": "bb"}]);
    let report = report(&Meetings, &json!({"maxTokens": 4, "packs": packs}));
    assert_eq!(fates(&report), ["a full - 2", "b skipped budget 0"]);
    assert_eq!(report["budget"], json!({"maxTokens": 4, "finalTokens": 2, "overBudgetTokens": 0}));
}

#[test]
fn every_mistake_is_named_by_its_place() {
    let found = mistakes(&json!({
        "maxTokens": -1,
        "maxChars": 1.5,
        "budget": 7,
        "packs": [
            {"id": "", "full": "x"},
            {"id": "a", "priority": "urgent", "required": "yes", "order": "1", "full": ["x"], "compact": 7},
            "text",
            {"priority": "low", "prio": 1},
            {"id": "b", "full": "x"},
            {"id": "b", "full": "y", "compact": null},
        ],
    }));
    assert_eq!(
        found,
        [
            "maxTokens: expected a whole number, 0 or more, found -1",
            "maxChars: expected a whole number, 0 or more, found 1.5",
            "budget: nothing is known by this name; maxTokens, maxChars and packs are",
            "packs[0].id: an id needs at least one character",
            "packs[1].priority: \"urgent\" is not one of required, high, medium, low",
            "packs[1].required: expected true or false, found a text",
            "packs[1].order: expected a whole number, found a text",
            "packs[1].full: expected a text, found a list",
            "packs[1].compact: expected a text, found 7",
            "packs[2]: expected an object, found a text",
            "packs[3].id: it is missing",
            "packs[3].full: it is missing",
            "packs[3].prio: nothing is known by this name; did you mean `priority`?",
            "packs[5].id: packs[4] has this id already",
        ]
    );
    assert_eq!(mistakes(&json!([])), ["$: expected an object, found a list"]);
    assert_eq!(mistakes(&json!({})), ["packs: it is missing"]);
}

#[test]
fn what_is_not_json_is_refused_with_its_place() {
    let refusal = packs::PackRequest::parse(&Chars4, br#"{"packs": [}"#).unwrap_err();
    assert!(matches!(&refusal, packs::PackRefusal::Json(source) if source.line() == 1 && source.column() == 12));
}

fn report(counter: &dyn TokenCounter, input: &Value) -> Value {
    let request = packs::PackRequest::parse(counter, &serde_json::to_vec(input).unwrap()).unwrap();
    serde_json::to_value(packs::assemble(counter, &request).report()).unwrap()
}

fn mistakes(input: &Value) -> Vec<String> {
    match packs::PackRequest::parse(&Chars4, &serde_json::to_vec(input).unwrap()) {
        Err(packs::PackRefusal::Mistakes { mistakes }) => mistakes.iter().map(ToString::to_string).collect(),
        other => panic!("expected mistakes: {other:?}"),
    }
}

/// Tells each decision in a few words: id, variant or `skipped`, reason, characters.
fn fates(report: &Value) -> Vec<String> {
    let decisions = report["decisions"].as_array().unwrap().iter();
    let lines = decisions.map(|decision| {
        let word = |name: &str, otherwise: &str| decision[name].as_str().unwrap_or(otherwise).to_owned();
        format!("{} {} {} {}", word("id", "?"), word("variant", "skipped"), word("reason", "-"), decision["chars"])
    });
    lines.collect()
}
