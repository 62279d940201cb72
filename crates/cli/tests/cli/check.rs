//! `ctx check`: records in, a level and what stands against the next ones out.

use insta::assert_snapshot;
use serde_json::Value;

use crate::cli::harness::User;

const ITEM: &str = r#"{"schema_version": "0.1.1", "item_id": "a", "context_kind": "manual_note", "content_mode": "poem",
    "content": "x", "visibility": ["model"], "title": "a", "source_refs": ["s"], "token_estimate": 1,
    "redaction_state": "none", "created_at": "2026-11-15T20:10:00Z"}"#;

#[test]
fn people_see_the_level_and_what_stands_against_the_next() {
    let user = User::new();
    user.file("item.json", ITEM);
    assert_snapshot!(user.run(&["check", "item.json"]), @r#"
    L0 readable: 1 record of 1 kind

    L1 turn trace: 7 faults
      $: there is no context_envelope
      $: there is no context_surface
      $: there is no context_selection
      $: there is no context_budget
      $: there is no context_assembly
      $: there is no context_injection
      source_refs[0]: "s" is not the id of any context_source_ref here

    L3 replayable: 2 faults
      contents: there are no contents: only an export can be replayed
      $: it is not the same after it was read and written: unknown variant `poem`

    1 note, which --strict counts as faults
      content_mode: "poem" is not one of inline, ref, summary, embedded_resource, resource_link, artifact_ref, tool_result_ref, opaque
    "#);
    assert_snapshot!(user.run(&["check", "item.json", "--strict"]), @r#"
    [exit 1]
    not readable: 1 record of 1 kind

    L0 readable: 1 fault
      content_mode: "poem" is not one of inline, ref, summary, embedded_resource, resource_link, artifact_ref, tool_result_ref, opaque

    L1 turn trace: 7 faults
      $: there is no context_envelope
      $: there is no context_surface
      $: there is no context_selection
      $: there is no context_budget
      $: there is no context_assembly
      $: there is no context_injection
      source_refs[0]: "s" is not the id of any context_source_ref here

    L3 replayable: 1 fault
      contents: there are no contents: only an export can be replayed
    [stderr]
    error: item.json does not reach L0 readable
    "#);
    let demanding = user.run(&["check", "item.json", "--level", "1"]);
    assert_eq!((demanding.code, demanding.stderr.as_str()), (1, "error: item.json does not reach L1 turn trace\n"));
}

#[test]
fn what_others_wrote_cannot_steer_the_terminal() {
    let user = User::new();
    user.file("item.json", ITEM.replace("\"title\"", "\"ti\\u001btle\"").replace("poem", "po\\u001b\\nem"));
    let ran = user.run(&["check", "item.json"]);
    assert_eq!(ran.code, 0);
    assert!(!ran.stdout.contains('\u{1b}') && !ran.stdout.contains("\nem"), "{ran}");
    assert!(ran.stdout.contains("[\"ti\\u{1b}tle\"]"), "{ran}");
}

#[test]
fn programs_see_every_fault() {
    let user = User::new();
    let ran = user.pipe(ITEM.replace("\"a\"", "7"), &["check", "-", "--json"]);
    assert_eq!(ran.code, 1);
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(
        (&report["schema"], &report["level"], &report["demanded"]),
        (&"contexture/1".into(), &Value::Null, &"L0".into())
    );
    assert_eq!(report["records"]["context_item"], 1);
    assert_eq!(
        report["faults"][0],
        serde_json::json!({"level": "L0", "path": "item_id", "code": "type", "message": "expected a text, found 7"})
    );
    let failure: Value = serde_json::from_str(&ran.stderr).unwrap();
    assert_eq!(failure["error"]["code"], "below-level");
}

#[test]
fn many_faults_are_cut_short() {
    let user = User::new();
    let ran = user.pipe(format!("[0{}]", ",0".repeat(10_099)), &["check", "-"]);
    let lines: Vec<_> = ran.stdout.lines().collect();
    assert_eq!((ran.code, lines[0], lines[2]), (1, "not readable: no record", "L0 readable: 10,000 faults"));
    assert_eq!(lines[23], "  and 9,980 more; --json lists them");
    assert_eq!(lines.last(), Some(&"100 more were found."));
}

#[test]
fn what_cannot_be_checked_is_refused() {
    let user = User::new();
    assert_snapshot!(user.run(&["check", "nowhere.json"]), @"
    [exit 1]
    [stderr]
    error: cannot read nowhere.json
      because: No such file or directory (os error 2)
    ");
    std::fs::File::create(user.path("large.json")).unwrap().set_len(64 * 1024 * 1024 + 1).unwrap();
    assert_snapshot!(user.run(&["check", "large.json"]), @"
    [exit 1]
    [stderr]
    error: cannot check large.json: it has more than 64 MiB
    ");
    assert_snapshot!(user.run(&["check", "x.json", "--level", "L4"]), @"
    [exit 2]
    [stderr]
    error: invalid value 'L4' for '--level <LEVEL>'
      [possible values: L0, L1, L2, L3]

    For more information, try '--help'.
    ");
}
