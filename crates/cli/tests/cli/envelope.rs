//! `ctx assemble RECIPE`, `ctx envelope` and `ctx missing`: what a model was given, and why.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::cli::harness::User;

const RECIPE: &str = r#"
name = "small"
counter = "chars4"
target = "anthropic"
[budget]
max_tokens = 700
reserved_tokens = 100
[[segments]]
name = "system"
[[segments.sources]]
source = "system"
text = "You fix bugs."
[[segments]]
name = "history"
[[segments.sources]]
source = "history"
[[segments]]
name = "now"
reserve = 60
[[segments.sources]]
source = "files"
priority = "low"
[[segments.sources]]
source = "items"
[[segments.sources]]
source = "trigger"
"#;

/// A user with six turns on `main`, a recipe and a file.
fn user() -> User {
    let user = User::new();
    user.file("small.toml", RECIPE);
    user.file("notes.txt", "Mind the gap.\n");
    for n in 0..6 {
        let turn = json!([
            {"role": "user", "content": format!("question {n}")},
            {"role": "assistant", "content": [{"type": "tool_use", "id": format!("c{n}"), "name": "run", "input": {"n": n}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": format!("c{n}"), "content": "line\n".repeat(60)}]},
            {"role": "assistant", "content": format!("answer {n}")}
        ]);
        user.file("turn.json", turn.to_string());
        let summary = format!("turn {n} is done");
        user.done(&[
            "checkpoint",
            "--format",
            "anthropic-messages-v1",
            "--head",
            "main",
            "--summary",
            &summary,
            "turn.json",
        ]);
    }
    user
}

fn assemble(user: &User, more: &[&str]) -> String {
    let fixed = ["assemble", "./small.toml", "--head", "main", "--trigger", "Go on.", "--file", "notes.txt"];
    let ran = user.run(&[&fixed[..], more].concat());
    assert_eq!(ran.code, 0, "{ran}");
    ran.stdout
}

fn json_of(user: &User, command: &[&str]) -> Value {
    let ran = user.run(&[command, &["--json"]].concat());
    assert_eq!(ran.code, 0, "{ran}");
    serde_json::from_str(ran.stdout.lines().next().unwrap()).unwrap()
}

/// Returns what a person sees, without the ids of envelopes: the user's directory goes into them.
fn seen(user: &User, command: &[&str]) -> String {
    let text = user.run(command).to_string();
    let mut pieces = text.split("env-");
    let first = pieces.next().unwrap_or_default().to_owned();
    let rest = pieces.map(|piece| format!("env-…{}", piece.trim_start_matches(|c: char| c.is_ascii_hexdigit())));
    rest.fold(first, |text, piece| text + &piece)
}

#[test]
fn a_context_goes_to_standard_output_and_the_budget_beside_it() {
    let user = user();
    let ran = user.run(&["assemble", "./small.toml", "--head", "main", "--trigger", "-", "--data", "data.json"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{ran}");
    user.file("data.json", r#"{"ticket": 7}"#);
    let ran =
        user.pipe("Go on.\n", &["assemble", "./small.toml", "--head", "main", "--trigger", "-", "--data", "data.json"]);
    assert_eq!(ran.code, 0, "{ran}");
    let request: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(request["system"][0]["text"], "You fix bugs.");
    let last = request["messages"].as_array().unwrap().last().unwrap();
    let asked = last["content"].as_array().unwrap();
    assert!(asked[asked.len() - 2]["text"].as_str().unwrap().contains("\"ticket\": 7"), "{last}");
    assert_eq!(asked.last().unwrap()["text"], "Go on.\n");
    assert!(ran.stderr.contains("of 600 tokens by chars4 (100 kept for the answer)"), "{ran}");
}

#[test]
fn people_see_how_the_budget_was_spent() {
    let user = user();
    assemble(&user, &[]);
    assert_snapshot!(seen(&user, &["envelope", "show"]), @"
    env-…  now
    recipe    small, art-80e05e9634, small.toml (named by its path, not trusted)
    stream    main small
    counter   chars4 version 1
    history   main at ctx-0f8117deb0

    model:anthropic
    [███████████████████████·······] 476 of 600 tokens by chars4 (100 kept for the answer)
    11 items in 1.9 kB, blake3:65359edf73d821958439574d98651c184ecac544729ea716ff5f7c2fbddded7a
      system   [······························]        10  stable
      history  [████████████████████··········]       418  append, 14 items out, 4 turns left out
      now      [██····························]        48  volatile, 60 reserved

    In
      system                                       10  required  full
      ctx-deccb2420a#summary                       42  medium    full
      ctx-deccb2420a#2 assistant: answer 3         17  medium    full
      ctx-02a5dcc6db#0 user: question 4            16  medium    full
      ctx-02a5dcc6db#1 assistant calls run        134  medium    full
      ctx-02a5dcc6db#2 assistant: answer 4         17  medium    full
      ctx-0f8117deb0#0 user: question 5            16  medium    full
      ctx-0f8117deb0#1 assistant calls run        134  medium    full
      ctx-0f8117deb0#2 assistant: answer 5         17  medium    full
      file:notes.txt                               33  low       full
      trigger                                      15  required  full

    Out
      ctx-7a74c458f4#summary                       42  budget_limit: a newer summary did not fit, and without that one there would be a hole
      ctx-7a74c458f4#0 user: question 0            16  budget_limit: older than what fits: the conversation had room for 447 tokens
      ctx-7a74c458f4#1 assistant calls run        134  budget_limit: older than what fits: the conversation had room for 447 tokens
      ctx-7a74c458f4#2 assistant: answer 0         17  budget_limit: older than what fits: the conversation had room for 447 tokens
      … 6 more items of history, 267 tokens
      ctx-e8cec2aedb#1 assistant calls run        134  budget_limit: older than what fits: the conversation had room for 447 tokens
      ctx-e8cec2aedb#2 assistant: answer 2         17  budget_limit: older than what fits: the conversation had room for 447 tokens
      ctx-deccb2420a#0 user: question 3            16  superseded_by_summary: a summary of its turn stands for it
      ctx-deccb2420a#1 assistant calls run        134  superseded_by_summary: a summary of its turn stands for it
    ");
    assert_snapshot!(seen(&user, &["envelope", "list"]), @"
    env-…  main small  model:anthropic 476 tokens  now
    ");
    let commits = user.run(&["log", "main", "--json"]).stdout;
    let oldest: Value = serde_json::from_str(commits.lines().last().unwrap()).unwrap();
    let why = user.run(&["envelope", "why", "last", oldest["id"].as_str().unwrap()]);
    assert!(why.stdout.contains("out: "), "{why}");
    assert_snapshot!(seen(&user, &["envelope", "why", "last", "notes.txt"]), @"
    file:notes.txt  model:anthropic  in: full, 33 tokens, 131 bytes
    ");
    assert_snapshot!(seen(&user, &["envelope", "why", "last", "nothing.txt"]), @r#"
    [exit 1]
    [stderr]
    error: "nothing.txt" was no candidate for env-…: no source of its recipe gave it
      hint: `ctx envelope show env-… --all` lists all there was
    "#);
}

#[test]
fn what_was_given_comes_back_byte_for_byte() {
    let user = user();
    let given = assemble(&user, &[]);
    assert_eq!(format!("{}\n", user.run(&["envelope", "show", "last", "--bytes"]).stdout), given);
    let replayed = json_of(&user, &["envelope", "replay", "last"]);
    assert_eq!((&replayed["equal"], &replayed["equal_decisions"]), (&json!(true), &json!(true)));
    // Also in another store.
    user.done(&["export", "--all", "-o", "all.ctxb"]);
    let other = User::new();
    std::fs::copy(user.path("all.ctxb"), other.path("all.ctxb")).unwrap();
    other.done(&["import-bundle", "all.ctxb"]);
    assert_eq!(json_of(&other, &["envelope", "replay", "--all"])["equal"], true);
    assert_eq!(format!("{}\n", other.run(&["envelope", "show", "last", "--bytes"]).stdout), given);
}

#[test]
fn a_difference_names_what_broke_the_prefix() {
    let user = user();
    assemble(&user, &[]);
    user.file("notes.txt", "Mind another gap.\n");
    let later = [("CTX_TIME", "2026-11-15T20:20:00Z")];
    let ran = user.ran(
        user.command(&["assemble", "./small.toml", "--head", "main", "--trigger", "Go on.", "--file", "notes.txt"])
            .envs(later)
            .output(),
    );
    assert_eq!(ran.code, 0, "{ran}");
    let first = user.run(&["envelope", "list", "--json"]).stdout;
    let first: Value = serde_json::from_str(first.lines().last().unwrap()).unwrap();
    let difference = user.run(&["envelope", "diff", first["id"].as_str().unwrap(), "last"]);
    assert!(difference.stdout.contains("then file:notes.txt changed, in now"), "{difference}");
}

#[test]
fn an_export_proves_itself_once_it_was_sent() {
    let user = user();
    assemble(&user, &["--id", "turn=7", "--target", "anthropic", "--target", "reviewer:prompt", "-o", "request"]);
    assert!(user.path("request.model-anthropic").is_file() && user.path("request.reviewer-prompt").is_file());
    for target in ["model", "reviewer"] {
        user.done(&["envelope", "inject", "last", "--target", target, "--native-id", "msg_1"]);
    }
    user.done(&["envelope", "export", "last", "-o", "context.json"]);
    let ran = user.run(&["check", "context.json", "--strict", "--level", "3"]);
    assert_eq!(ran.code, 0, "{ran}");
    assert!(ran.stdout.starts_with("L3 replayable"), "{ran}");
    let refused = user.run(&["envelope", "inject", "last", "--target", "tool"]);
    assert_eq!(refused.code, 2, "{refused}");
    assert!(refused.stderr.contains("model:anthropic, reviewer:prompt"), "{refused}");
}

#[test]
fn gaps_are_listed_and_settled() {
    let user = user();
    let ran = user.run(&["assemble", "./small.toml", "--file", "gone.rs", "--trigger", "x"]);
    assert!(ran.stderr.contains("Missing (medium): What does file:gone.rs say?"), "{ran}");
    let gap = json_of(&user, &["missing", "list"]);
    let id = gap["missing_id"].as_str().unwrap();
    let settled = json_of(&user, &["missing", "resolve", &id[..12], "--status", "declined", "--note", "not needed"]);
    assert_eq!((&settled["status"], &settled["metadata"]["resolution"]), (&json!("declined"), &json!("not needed")));
    assert_eq!(user.run(&["missing", "list", "--json"]).stdout, "");
    let all = user.run(&["missing", "list", "--all"]);
    assert!(all.stdout.contains("declined"), "{all}");
}

#[test]
fn what_cannot_be_assembled_is_reported() {
    let user = user();
    user.file("items.json", r#"[{"content": "x", "prioritty": "high"}]"#);
    let ran = user.run(&["assemble", "./small.toml", "--items", "items.json"]);
    assert_eq!(ran.code, 1, "{ran}");
    assert!(ran.stderr.contains("items[0]: unknown field `prioritty`"), "{ran}");
    user.file("deaf.toml", RECIPE.replace("[[segments.sources]]\nsource = \"trigger\"\n", ""));
    let ran = user.run(&["assemble", "./deaf.toml", "--trigger", "x"]);
    assert_eq!(ran.code, 2, "{ran}");
    assert!(ran.stderr.contains("has no source \"trigger\""), "{ran}");
    let ran = user.run(&["assemble", "resum", "--head", "main"]);
    assert_eq!(ran.code, 2, "{ran}");
    assert!(ran.stderr.contains("resume"), "{ran}");
    let ran = user.run(&["assemble", "./small.toml", "--head", "main", "--target", "antropic"]);
    assert_eq!(ran.code, 2, "{ran}");
    assert!(ran.stderr.contains("did you mean `anthropic`"), "{ran}");
    user.file("strict.toml", RECIPE.replace("[budget]", "overflow = \"reject\"\n[budget]"));
    let ran = user.run(&["assemble", "./strict.toml", "--head", "main", "--trigger", "x"]);
    assert_eq!(ran.code, 1, "{ran}");
    assert!(ran.stderr.contains("the recipe rejects that"), "{ran}");
    let ran = user.run(&["assemble", "./small.toml", "--head", "main", "--trigger", "x", "--max-tokens", "0"]);
    assert_eq!(ran.code, 1, "{ran}");
    assert!(ran.stderr.contains("and there is room for 0; the largest item is trigger"), "{ran}");
    assert!(ran.stdout.is_empty() && ran.stderr.contains("required = \"include\""), "{ran}");
    user.file("over.toml", RECIPE.replace("[budget]", "[budget]\nrequired = \"include\""));
    let ran = user.run(&["assemble", "./over.toml", "--head", "main", "--trigger", "x", "--max-tokens", "0"]);
    assert_eq!(ran.code, 0, "{ran}");
    assert!(ran.stderr.contains("over: only what is required is in"), "{ran}");
    assert_eq!(user.run(&["envelope", "show", "env-0000"]).code, 1);
    let nobody = User::new();
    assert_eq!(nobody.run(&["envelope", "show"]).code, 1);
}
