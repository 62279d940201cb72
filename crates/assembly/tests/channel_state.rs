//! What the messages of a channel come to.

use contexture_assembly::channel_state::{ChannelSnapshot, StateChange, StateEvent, StateRules};
use contexture_core::Timestamp;
use proptest::{collection::vec, option, prelude::*, prop_assert_eq, sample::select};
use serde_json::{Value, json};

/// A message of a test: topic, sender, text and data.
type Said = (&'static str, &'static str, Option<&'static str>, Option<Value>);

fn apply(state: &mut ChannelSnapshot, rules: &StateRules, sequence: u64, said: &Said) -> StateChange {
    let (topic, sender, text, data) = said;
    let (id, metadata) = (format!("msg-{sequence}"), json!({"source": "github"}));
    let at = Timestamp::from_micros(i64::try_from(sequence).unwrap() * 1_000_000).unwrap();
    let event = StateEvent {
        sequence,
        id: &id,
        topic,
        sender,
        at,
        text: *text,
        data: data.as_ref(),
        metadata: Some(&metadata),
    };
    state.apply(rules, &event)
}

fn folded(rules: &StateRules, messages: &[Said]) -> ChannelSnapshot {
    let mut state = ChannelSnapshot::empty("chn-1");
    for (sequence, said) in (1..).zip(messages) {
        apply(&mut state, rules, sequence, said);
    }
    state
}

fn of(messages: &[Said]) -> Value {
    folded(&StateRules::default(), messages).to_data()
}

fn rules(document: Value) -> StateRules {
    StateRules::parse(document).unwrap()
}

#[test]
fn each_topic_fills_its_part() {
    let messages: [Said; 5] = [
        ("ISSUE_OPENED", "user", Some(" Fix\nthe parser. "), Some(json!({"title": "Parser", "issue_number": 7}))),
        (
            "PLAN_READY",
            "planner",
            Some("First read."),
            Some(
                json!({"summary": "Read", "acceptanceCriteria": [{"id": "AC1", "priority": "MUST", "criterion": "parses"}, {"text": "fast"}], "filesAffected": ["a.rs"]}),
            ),
        ),
        (
            "WORKER_PROGRESS",
            "worker",
            Some("Half done."),
            Some(
                json!({"completionStatus": {"canValidate": "false", "percentComplete": 45, "blockers": ["none"], "nextSteps": ["test it"]}}),
            ),
        ),
        (
            "VALIDATION_RESULT",
            "v1",
            None,
            Some(
                json!({"approved": false, "issues": [{"bug": "it panics"}], "criteriaResults": [{"id": "AC1", "status": "FAIL", "evidence": {"command": "cargo test", "exitCode": 101}}]}),
            ),
        ),
        (
            "INVESTIGATION_COMPLETE",
            "debugger",
            None,
            Some(json!({"fixPlan": "Check the length.", "rootCauses": [{"cause": "no check"}]})),
        ),
    ];
    let state = folded(&StateRules::default(), &messages);
    assert_eq!(
        state.to_text(),
        "Task: Parser\nPlan: Read\nProgress: 45% | canValidate=false | next: test it\nValidation: rejected (1 errors)\n\
         Debug: Check the length."
    );
    let data = state.to_data();
    assert_eq!(data["task"]["raw"], "Fix\nthe parser.");
    assert_eq!((&data["task"]["issueNumber"], &data["task"]["source"]), (&json!("7"), &json!("github")));
    assert_eq!(data["plan"]["acceptanceCriteria"], json!(["AC1 (MUST): parses", "fast"]));
    assert_eq!(data["validation"]["errors"], json!(["it panics"]));
    assert_eq!(
        data["validation"]["criteriaResults"],
        json!([{"id": "AC1", "status": "FAIL", "evidence": {"command": "cargo test", "exitCode": 101}}])
    );
    assert_eq!((&data["sourceSequence"], &data["sourceMessageId"]), (&json!(5), &json!("msg-5")));
}

#[test]
fn a_second_plan_takes_the_place_of_the_first() {
    let plan = |text, file| {
        ("PLAN_READY", "planner", Some(text), Some(json!({"filesAffected": [file], "acceptanceCriteria": [text]})))
    };
    let data = of(&[plan("one", "a"), plan("two", "b")]);
    assert_eq!((&data["plan"]["text"], &data["plan"]["filesAffected"]), (&json!("two"), &json!(["b"])));
    assert_eq!(data["plan"]["acceptanceCriteria"], json!(["two"]));
}

#[test]
fn an_approval_never_erases_the_rejection_of_another() {
    let verdict = |sender, approved, error: Option<&str>| {
        (
            "VALIDATION_RESULT",
            sender,
            None,
            Some(json!({"approved": approved, "errors": error.into_iter().collect::<Vec<_>>()})),
        )
    };
    let data = of(&[verdict("v1", false, Some("it panics")), verdict("v2", true, None)]);
    assert_eq!(data["validation"]["approved"], false);
    assert_eq!(data["validation"]["errors"], json!(["v1: it panics"]));
    assert_eq!(data["validation"]["bySender"]["v1"]["approved"], false);
    let data = of(&[verdict("v1", false, Some("it panics")), verdict("v2", true, None), verdict("v1", true, None)]);
    assert_eq!(data["validation"]["approved"], true);
    assert!(data["validation"].get("errors").is_none());
}

#[test]
fn whoever_has_no_verdict_yet_keeps_the_whole_pending() {
    let results = json!({"criteriaResults": [{"id": "AC1", "status": "PASS"}]});
    let data = of(&[
        ("VALIDATION_RESULT", "v1", None, Some(results)),
        ("VALIDATION_RESULT", "v2", None, Some(json!({"approved": true}))),
    ]);
    assert!(data["validation"].get("approved").is_none());
}

#[test]
fn progress_is_left_as_it_is_by_messages_that_do_not_say_how_far_it_is() {
    let data = of(&[
        ("WORKER_PROGRESS", "worker", None, Some(json!({"canValidate": true, "percentComplete": 10}))),
        ("IMPLEMENTATION_READY", "worker", Some("Done."), Some(json!({"note": "see the branch"}))),
    ]);
    assert_eq!((&data["progress"]["percentComplete"], &data["sourceSequence"]), (&json!(10), &json!(1)));
}

#[test]
fn what_is_cut_leaves_a_receipt() {
    let long = "x".repeat(5000);
    let steps: Vec<String> = (0..25).map(|n| format!("file {n}")).collect();
    let mut state = ChannelSnapshot::empty("chn-1");
    let data = json!({"filesAffected": steps});
    let event = StateEvent {
        sequence: 1,
        id: "msg-1",
        topic: "PLAN_READY",
        sender: "planner",
        at: Timestamp::from_micros(0).unwrap(),
        text: Some(&long),
        data: Some(&data),
        metadata: None,
    };
    state.apply(&StateRules::default(), &event);
    let plan = state.plan.unwrap().said;
    assert_eq!((plan.text.as_ref().unwrap().len(), plan.files_affected.len()), (2000, 20));
    assert_eq!((plan.files_affected[0].as_str(), plan.omitted["filesAffected"].count), ("file 5", 5));
    assert_eq!(plan.omitted["text"].count, 5000 - 1997);
}

#[test]
fn what_says_the_same_again_changes_nothing() {
    let rules = rules(
        json!({"reducers": [{"topic": "BUILD", "reduce": "last"}, {"topic": "BUILD", "name": "builds", "reduce": "map_by_sender"}]}),
    );
    let messages: [Said; 2] =
        [("PLAN_READY", "planner", Some("Do it."), None), ("BUILD", "ci", None, Some(json!({"ok": true})))];
    let mut state = folded(&rules, &messages);
    let before = state.clone();
    let again = [apply(&mut state, &rules, 3, &messages[0]), apply(&mut state, &rules, 4, &messages[1])];
    assert_eq!((again, &state), ([StateChange::Same; 2], &before));
    assert_eq!(apply(&mut state, &rules, 5, &("NOTHING", "x", Some("y"), None)), StateChange::Same);
}

#[test]
fn other_topics_come_to_what_the_rules_say() {
    let rules = rules(json!({"reducers": [
        {"topic": "BUILD", "name": "build", "reduce": "last"},
        {"topic": "DECISION", "name": "decisions", "reduce": "append", "keep": 2},
        {"topic": "ERROR", "name": "errors", "reduce": "count"},
        {"topic": "VOTE", "name": "votes", "reduce": "map_by_sender"},
        {"topic": "CONFIG", "name": "config", "reduce": "merge_patch"},
    ]}));
    let messages: [Said; 9] = [
        ("BUILD", "ci", Some("red"), None),
        ("BUILD", "ci", Some("green"), None),
        ("DECISION", "a", Some("one"), None),
        ("DECISION", "a", Some("two"), None),
        ("DECISION", "b", Some("three"), None),
        ("ERROR", "a", None, None),
        ("VOTE", "a", Some("yes"), None),
        ("CONFIG", "a", None, Some(json!({"a": {"b": 1, "c": 2}, "d": [1]}))),
        ("CONFIG", "a", None, Some(json!({"a": {"b": null, "e": 3}}))),
    ];
    let state = folded(&rules, &messages);
    assert_eq!(
        state.to_text(),
        "build: green\nconfig: {\"a\":{\"c\":2,\"e\":3},\"d\":[1]}\ndecisions: 3, the last: three\nerrors: 1\nvotes: a: yes"
    );
    let data = state.to_data();
    assert_eq!(data["custom"]["decisions"]["items"].as_array().unwrap().len(), 2);
    assert_eq!(data["custom"]["decisions"]["omitted"]["count"], 1);
}

#[test]
fn what_is_too_large_is_a_receipt_and_not_a_part_of_the_state() {
    let rules =
        rules(json!({"reducers": [{"topic": "LOG", "reduce": "last"}, {"topic": "PATCH", "reduce": "merge_patch"}]}));
    let large = json!({"log": "x".repeat(70_000)});
    let state = folded(&rules, &[("LOG", "a", None, Some(large.clone())), ("PATCH", "a", None, Some(large))]);
    let data = state.to_data();
    assert_eq!(
        (&data["custom"]["LOG"]["omitted"]["count"], data["custom"]["LOG"].get("value")),
        (&json!(70_010), None)
    );
    assert_eq!(data["custom"]["PATCH"], json!({"reduce": "merge_patch", "value": {}, "refused": 1}));
}

#[test]
fn rules_are_checked_when_they_are_read() {
    let refused = |document: Value| -> Vec<String> {
        StateRules::parse(document).unwrap_err().iter().map(ToString::to_string).collect()
    };
    assert_eq!(
        refused(json!({"reducers": [
            {"topic": "BUILD", "reduce": "latest"},
            {"topic": "PLAN_READY", "reduce": "last"},
            {"topic": "A", "reduce": "last", "keep": 3},
            {"topic": "B", "name": "A", "reduce": "count"},
            {"topic": "C", "name": "plan", "reduce": "append", "keep": "10"},
            {"reduce": "count", "kep": 1},
        ], "more": 1})),
        [
            "more: nothing is known by this name; reducers is",
            "reducers[0].reduce: \"latest\" is not one of last, append, count, map_by_sender, merge_patch; did you mean \
             `last`?",
            "reducers[1].topic: this topic has a meaning of its own",
            "reducers[2].keep: it is only for append",
            "reducers[3].name: reducers[2] has this name already",
            "reducers[4].name: this name has a meaning of its own",
            "reducers[4].keep: expected a whole number, 1 or more, found a text",
            "reducers[5].topic: it is missing",
            "reducers[5].kep: nothing is known by this name; did you mean `keep`?",
        ]
    );
    assert_eq!(refused(json!([])), ["$: expected an object, found a list"]);
}

fn any_data() -> impl Strategy<Value = Value> {
    select(vec![
        json!({"approved": true}),
        json!({"approved": false, "errors": ["a", {"message": "b"}, 3, null]}),
        json!({"canValidate": true, "percentComplete": 30, "nextSteps": "none"}),
        json!({"completionStatus": {"blockers": [["x"]]}}),
        json!({"acceptanceCriteria": [{"id": 3}, 7, "c"], "filesAffected": {"a": 1}}),
        json!({"criteriaResults": [null, {}, {"id": 1, "evidence": {"exitCode": "x"}}]}),
        json!({"fixPlan": "f", "successCriteria": ["s", {"text": "t"}]}),
        json!(null),
        json!([1, 2]),
        json!("text"),
    ])
}

proptest! {
    /// Whoever reads what was published and folds what came after has what folding all gives.
    #[test]
    fn going_on_from_a_published_state_is_as_good_as_beginning_anew(
        messages in vec(
            (
                select(vec!["ISSUE_OPENED", "PLAN_READY", "WORKER_PROGRESS", "VALIDATION_RESULT", "INVESTIGATION_COMPLETE", "BUILD", "CONFIG"]),
                select(vec!["a", "b", "c"]),
                option::of(select(vec!["one", "two", ""])),
                option::of(any_data()),
            ),
            0..24,
        ),
        cut in 0usize..24,
    ) {
        let rules = rules(json!({"reducers": [
            {"topic": "BUILD", "name": "log", "reduce": "append", "keep": 3},
            {"topic": "BUILD", "name": "count", "reduce": "count"},
            {"topic": "BUILD", "name": "each", "reduce": "map_by_sender"},
            {"topic": "CONFIG", "reduce": "merge_patch"},
        ]}));
        let whole = folded(&rules, &messages);
        let published = folded(&rules, &messages[..cut.min(messages.len())]).to_data();
        let mut goes_on = ChannelSnapshot::read(&published).unwrap();
        for (sequence, said) in (1..).zip(&messages) {
            apply(&mut goes_on, &rules, sequence, said);
        }
        prop_assert_eq!(goes_on, whole);
    }
}
