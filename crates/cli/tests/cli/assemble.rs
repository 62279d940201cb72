//! `ctx assemble`: packs in, decisions out.

use std::{
    fs::{self, File},
    path::Path,
};

use insta::assert_snapshot;
use serde_json::Value;

use crate::cli::harness::User;

const PACKS: &str = r#"{"maxTokens": 12, "maxChars": 60, "packs": [
    {"id": "task", "priority": "required", "full": "Fix the failing test.\n"},
    {"id": "plan", "priority": "high", "full": "First find out why it fails.\nThen fix it.\n", "compact": "Find, fix.\n"},
    {"id": "log", "priority": "low", "full": "test a ... ok\ntest b ... FAILED\n", "compact": "b failed again.\n"},
    {"id": "notes", "full": ""}
]}"#;

#[test]
fn packs_equal_the_golden_vectors() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/vectors/packs.json");
    let Ok(text) = fs::read(&path) else {
        eprintln!("skipped: no golden vectors beside the project");
        return;
    };
    let vectors: Value = serde_json::from_slice(&text).unwrap();
    let user = User::new();
    for case in vectors["cases"].as_array().unwrap() {
        let ran = user.pipe(case["input"].to_string(), &["assemble", "--packs", "-", "--json"]);
        if let Some(path) = case["expected"]["error"]["path"].as_str() {
            let failure: Value = serde_json::from_str(&ran.stderr).unwrap();
            let cause = failure["error"]["causes"][0].as_str().unwrap();
            assert_eq!((ran.code, cause.split(": ").next()), (2, Some(path)), "{}", case["name"]);
        } else {
            assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{}", case["name"]);
            let printed: Value = serde_json::from_str(&ran.stdout).unwrap();
            assert_eq!(printed, case["expected"], "{}", case["name"]);
        }
    }
}

#[test]
fn people_see_what_is_in_and_why_the_rest_is_out() {
    let user = User::new();
    user.file("packs.json", PACKS);
    assert_snapshot!(user.run(&["assemble", "--packs", "packs.json"]), @"
    [██████████████████████········] 9 of 12 tokens (chars4)
    33 of 60 characters

    In
      task   required  full     6 tokens
      plan   high      compact  3 tokens

    Out
      log    low       needs 8 tokens or 4 compact; 3 left
      notes  medium    has no text
    ");
    assert_snapshot!(user.run(&["assemble", "--packs", "packs.json", "--counter", "claude-estimate"]), @"
    [███████████████████████████···] 11 of 12 tokens (claude-estimate)
    22 of 60 characters

    In
      task   required  full     11 tokens

    Out
      plan   high      needs 20 tokens or 6 compact; 1 left
      log    low       needs 16 tokens or 8 compact; 1 left
      notes  medium    has no text
    ");
    assert_snapshot!(user.run(&["assemble", "--packs", "packs.json", "--counter", "o200k"]), @"
    [██████████████████████········] 9 of 12 tokens (o200k)
    33 of 60 characters

    In
      task   required  full     5 tokens
      plan   high      compact  4 tokens

    Out
      log    low       needs 10 tokens or 4 compact; 3 left
      notes  medium    has no text
    ");
    let birthday = r#"{"packs": [{"id": "b", "full": "お誕生日おめでとう"}]}"#;
    let report = user.pipe(birthday, &["assemble", "--packs", "-", "--counter", "cl100k", "--json"]);
    let report: Value = serde_json::from_str(&report.stdout).unwrap();
    assert_eq!(report["budget"]["finalTokens"], 9);
}

#[test]
fn people_see_what_the_limit_of_characters_took() {
    let user = User::new();
    user.file("packs.json", PACKS.replace("\"maxTokens\": 12, \"maxChars\": 60", "\"maxChars\": 35"));
    assert_snapshot!(user.run(&["assemble", "--packs", "packs.json"]), @"
    9 tokens, no budget (chars4)
    33 of 35 characters; 96 were selected

    In
      task   required  full     6 tokens
      plan   high      compact  3 tokens, for the limit of characters

    Out
      log    low       needs 32 characters or 16 compact; no room in 35
      notes  medium    has no text
    ");
    user.file("packs.json", PACKS.replace("\"maxTokens\": 12, \"maxChars\": 60", "\"maxTokens\": 2, \"maxChars\": 10"));
    assert_snapshot!(user.run(&["assemble", "--packs", "packs.json"]), @"
    [██████████████████████████████] 3 of 2 tokens, 1 over: only required packs are left (chars4)
    10 of 10 characters; 22 were selected

    In
      task   required  full     3 tokens, cut after 10 characters

    Out
      plan   high      needs 11 tokens or 3 compact; 0 left
      log    low       needs 8 tokens or 4 compact; 0 left
      notes  medium    has no text
    ");
}

#[test]
fn every_mistake_in_packs_is_named_by_its_place() {
    let user = User::new();
    let refused = |json: &str| user.pipe(json, &["assemble", "--packs", "-"]);
    assert_snapshot!(
        refused(r#"{"maxTokens": "4", "packs": [{"id": "a", "priority": "urgent", "full": "a"}, {"id": "a", "full": 7}]}"#),
        @r#"
        [exit 2]
        [stderr]
        error: cannot take standard input as packs
          because: maxTokens: expected a whole number, 0 or more, found a text
          because: packs[0].priority: "urgent" is not one of required, high, medium, low
          because: packs[1].id: packs[0] has this id already
          because: packs[1].full: expected a text, found 7
          hint: `ctx assemble --help` shows what packs look like
        "#
    );
    assert_snapshot!(refused("{\"packs\": [\n}"), @"
    [exit 2]
    [stderr]
    error: cannot take standard input as packs
      because: it is not JSON
      because: expected value at line 2 column 1
      hint: `ctx assemble --help` shows what packs look like
    ");
    assert_snapshot!(user.run(&["assemble", "--packs", "nowhere.json"]), @"
    [exit 1]
    [stderr]
    error: cannot read nowhere.json
      because: No such file or directory (os error 2)
    ");
    File::create(user.path("large.json")).unwrap().set_len(64 * 1024 * 1024 + 1).unwrap();
    assert_snapshot!(user.run(&["assemble", "--packs", "large.json"]), @"
    [exit 2]
    [stderr]
    error: cannot take large.json as packs: it has more than 64 MiB
      hint: `ctx assemble --help` shows what packs look like
    ");
    assert_snapshot!(user.run(&["assemble", "--packs", "p.json", "--counter", "gpt"]), @r#"
    [exit 2]
    [stderr]
    error: invalid value 'gpt' for '--counter <NAME>': there is no token counter "gpt"; there are chars4, claude-estimate, claude-4.6-estimate, o200k, cl100k

    For more information, try '--help'.
    "#);
    assert_snapshot!(user.run(&["assemble", "--packs", "p.json", "--counter", "o200k_base"]), @r#"
    [exit 2]
    [stderr]
    error: invalid value 'o200k_base' for '--counter <NAME>': there is no token counter "o200k_base"; there are chars4, claude-estimate, claude-4.6-estimate, o200k, cl100k; did you mean `o200k`?

    For more information, try '--help'.
    "#);
    assert_snapshot!(user.run(&["assemble"]), @"
    [exit 2]
    [stderr]
    error: the following required arguments were not provided:
      <RECIPE>

    Usage: ctx assemble <RECIPE>

    For more information, try '--help'.
    ");
}
