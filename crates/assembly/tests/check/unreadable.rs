//! Records and files that cannot be read.

use super::*;

#[test]
fn no_field_can_be_of_another_type() {
    let export = example::value();
    for entry in export["records"].as_array().unwrap() {
        let object: Object = entry["type"].as_str().unwrap().parse().unwrap();
        let mut single = json!({"records": [entry]});
        let fields: Vec<String> = entry["record"].as_object().unwrap().keys().cloned().collect();
        for field in fields {
            single["records"] = json!([entry]);
            // No field of the standard is a truth value, but content may be anything, and a runtime's ids are not its.
            if matches!(field.as_str(), "content" | "redaction_method") || entry["record"][&field] == "ses-1" {
                continue;
            }
            single["records"][0]["record"][&field] = json!(true);
            let is_open = object == Object::Envelope && field == "turn_id" || field == "attempt_id";
            let report = checked(&single);
            assert_eq!(report.level.is_none(), !is_open, "{object} {field}");
            if !is_open {
                let path = format!("L0 records[0].record.{field}: expected ");
                assert!(lines_of(&report)[0].starts_with(&path), "{:?}", lines_of(&report));
            }
        }
    }
}

#[test]
fn what_cannot_be_read_is_named() {
    let none = None;
    falls(Object::Envelope, |e| remove(e, "scope"), (none, "L0 @.scope: it is missing"));
    falls(
        Object::Envelope,
        |e| e["scope"] = json!("chapter"),
        (none, "L0 @.scope: \"chapter\" is not one of turn, task, session, tool_invocation, review, handoff, custom"),
    );
    falls(
        Object::Surface,
        |s| s["created_at"] = json!("2026-11-15 20:10"),
        (none, "L0 @.created_at: \"2026-11-15 20:10\" is no time of RFC 3339: write it like 2026-05-12T09:00:00Z"),
    );
    falls(
        Object::Budget,
        |b| b["max_tokens"] = json!(-1),
        (none, "L0 @.max_tokens: expected a whole number, 0 or more, found -1"),
    );
    falls(
        Object::Budget,
        |b| b["window_segments"][0]["order"] = json!(1.5),
        (none, "L0 @.window_segments[0].order: expected a whole number, 0 or more, found 1.5"),
    );
    falls(Object::Item, |i| i["item_id"] = json!(""), (none, "L0 @.item_id: an id needs at least one character"));
    falls(Object::Item, |i| i["visibility"] = Value::Null, (none, "L0 @.visibility: expected a list, found null"));
    falls(
        Object::Selection,
        |s| s["ranking_signals"]["item-main"]["relevance"] = json!("high"),
        (none, "L0 @.ranking_signals[\"item-main\"].relevance: expected a number, found a text"),
    );
    falls(
        Object::Item,
        |i| i["source_refs"] = json!([{"source_id": "src-main", "uri": "file:///x", "schema_version": "0.1.1"}]),
        (none, "L0 @.source_refs[0].source_kind: it is missing"),
    );
}

#[test]
fn files_that_hold_no_records_are_told_apart() {
    let first_line_of = |bytes: &[u8]| {
        let report = check(bytes, Strictness::Demanded);
        assert_eq!(report.level, None);
        lines_of(&report)[0].clone()
    };
    assert_eq!(first_line_of(b""), "L0 $: it is not JSON: EOF while parsing a value at line 1 column 0");
    assert_eq!(first_line_of(b"[]"), "L0 $: there is no record in it");
    assert_eq!(first_line_of(b"7"), "L0 $: expected an object, found 7");
    assert_eq!(first_line_of(b"[7, {}]"), "L0 [0]: expected an object, found 7");
    let nothing = "it is no record of the standard: it has no id such as context_id, item_id or event_id";
    assert_eq!(first_line_of(b"{}"), format!("L0 $: {nothing}"));
    assert_eq!(first_line_of(br#"{"agent_context_export": "1"}"#), "L0 records: it is missing");
    assert_eq!(
        first_line_of(br#"{"agent_context_export": "2", "records": 1}"#),
        "L0 records: expected a list, found 1"
    );
    assert_eq!(
        first_line_of(br#"{"records": [{"type": "context_poem", "record": {}}]}"#).split(" is not").next(),
        Some("L0 records[0].type: \"context_poem\"")
    );
    assert_eq!(first_line_of(br#"[{"type": 1, "record": {}}]"#), "L0 [0].type: expected a text, found 1");
    assert_eq!(
        first_line_of(br#"[{"type": "context_item", "record": 1}]"#),
        "L0 [0].record: expected an object, found 1"
    );
    assert_eq!(
        first_line_of(br#"{"item_id": "a", "metadata": {"x": [{"y": 1, "y": 2}]}}"#),
        "L0 metadata.x[0].y: it stands there more than once"
    );
    assert_eq!(
        first_line_of(b"{\"item_id\": \"a\"}\n\n{\"item_id\"\n"),
        "L0 line 3: it is not JSON: EOF while parsing an object at line 1 column 10"
    );
    assert!(first_line_of("[".repeat(1_000_000).as_bytes()).contains("recursion limit"));
}

#[test]
fn a_flood_of_faults_is_counted_and_not_kept() {
    let report = check(format!("[0{}]", ",0".repeat(29_999)).as_bytes(), Strictness::Demanded);
    assert_eq!((report.level, report.left_out), (None, 20_000));
}
