//! Levels of records: an example that reaches the highest, every way to fall from it, and records of others.

mod example;

use std::{fs, path::Path};

use contexture_assembly::{
    check::{CheckReport, Level, Strictness, check},
    standard::{ContentDigest, Export, Object},
};
use proptest::prelude::*;
use serde_json::{Value, json};

fn checked(value: &Value) -> CheckReport {
    check(&serde_json::to_vec(value).unwrap(), Strictness::Demanded)
}

fn lines_of(report: &CheckReport) -> Vec<String> {
    report.faults.iter().map(|fault| format!("{} {fault}", fault.level)).collect()
}

/// Returns the place of the first record of a kind.
fn place(value: &Value, object: Object) -> usize {
    let records = value["records"].as_array().unwrap();
    records.iter().position(|record| record["type"] == object.as_str()).unwrap()
}

#[test]
fn the_example_reaches_the_highest_level_and_has_every_kind_of_record() {
    for strictness in [Strictness::Demanded, Strictness::Recommended] {
        let report = check(&example::export().to_json(), strictness);
        assert_eq!((lines_of(&report), report.level), (vec![], Some(Level::Replayable)));
        assert_eq!((report.notes, report.left_out), (vec![], 0));
        assert_eq!(report.records.len(), Object::ALL.len());
    }
}

#[test]
fn an_export_comes_out_as_it_went_in() {
    let export = example::export();
    let json = export.to_json();
    assert_eq!(Export::from_json(&json).unwrap(), export);
    assert_eq!(Export::from_json(&json).unwrap().to_json(), json);
    let contents = serde_json::to_value(&export.contents).unwrap();
    let kinds = contents.as_object().unwrap().values().filter(|content| content.get("base64").is_some());
    assert_eq!(kinds.count(), 1);
}

#[test]
fn what_was_sent_may_be_the_blocks_one_after_another() {
    let mut export = example::value();
    let whole = b"You are careful.\nfn main() {}\nKEY=****\n";
    let injection = place(&export, Object::Injection);
    for digest in ["blake3:8f2ef1", "sha256:00"] {
        export["records"][injection]["record"]["hash"] = json!(digest);
        assert_eq!(checked(&export).level, Some(Level::Lifecycle));
    }
    for digest in [ContentDigest::blake3(whole), ContentDigest::sha256(whole)] {
        export["records"][injection]["record"]["hash"] = json!(digest);
        export["records"][injection]["record"]["final_ref"] = json!("https://example.org/requests/1");
        assert_eq!(checked(&export).level, Some(Level::Replayable));
    }
}

#[test]
fn records_without_a_container_go_as_far_as_they_can() {
    let export = example::value();
    let records: Vec<Value> =
        export["records"].as_array().unwrap().iter().map(|entry| entry["record"].clone()).collect();
    let tagged = export["records"].clone();
    let lines = |records: &[Value]| records.iter().map(Value::to_string).collect::<Vec<_>>().join("\n\n");
    let forms = [
        serde_json::to_vec(&records).unwrap(),
        serde_json::to_vec(&tagged).unwrap(),
        serde_json::to_vec(&json!({"records": tagged})).unwrap(),
        lines(&records).into_bytes(),
        lines(tagged.as_array().unwrap()).replace('\n', "\r\n").into_bytes(),
        [b"\xEF\xBB\xBF", &*serde_json::to_vec_pretty(&records).unwrap()].concat(),
    ];
    for form in forms {
        let report = check(&form, Strictness::Recommended);
        assert_eq!(report.level, Some(Level::Lifecycle));
        assert_eq!(report.records.len(), Object::ALL.len());
        assert_eq!(lines_of(&report)[0], "L3 contents: there are no contents: only an export can be replayed");
    }
    for (record, entry) in records.iter().zip(export["records"].as_array().unwrap()) {
        let report = check(&serde_json::to_vec(record).unwrap(), Strictness::Recommended);
        assert_eq!(report.level, Some(Level::Readable));
        let object: Object = entry["type"].as_str().unwrap().parse().unwrap();
        assert_eq!(report.records, [(object, 1)].into());
    }
}

/// What a change of the example does: the level that is left, and a fault that must be reported.
type Fall = (Option<Level>, &'static str);

/// Applies a change to the first record of a kind and compares what is reported, with `@` for the way to that record.
#[track_caller]
fn falls(object: Object, change: impl FnOnce(&mut Value), (level, fault): Fall) {
    let mut export = example::value();
    let place = place(&export, object);
    change(&mut export["records"][place]["record"]);
    let report = checked(&export);
    let expected = fault.replace('@', &format!("records[{place}].record"));
    assert!(lines_of(&report).contains(&expected), "{expected}\n{:#?}", lines_of(&report));
    assert_eq!(report.level, level, "{:#?}", lines_of(&report));
}

fn remove(value: &mut Value, field: &str) {
    assert!(value.as_object_mut().unwrap().remove(field).is_some(), "{field}");
}

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
fn a_turn_that_is_not_whole_is_named() {
    let read = Some(Level::Readable);
    for (field, object) in [
        ("surface_refs", Object::Surface),
        ("selection_refs", Object::Selection),
        ("budget_ref", Object::Budget),
        ("assembly_refs", Object::Assembly),
        ("injection_refs", Object::Injection),
    ] {
        let fault = format!("L1 @.{field}: the envelope names no {object}");
        falls(Object::Envelope, |e| remove(e, field), (read, Box::leak(fault.into_boxed_str())));
        let mut export = example::value();
        export["records"].as_array_mut().unwrap().retain(|entry| entry["type"] != object.as_str());
        let report = checked(&export);
        let fault = format!(" is not the id of any {object} here");
        assert!(lines_of(&report)[0].ends_with(&fault), "{:?}", lines_of(&report));
        assert_eq!(report.level, read);
    }
    let mut export = example::value();
    export["records"].as_array_mut().unwrap().retain(|entry| entry["type"] == "context_item");
    let report = checked(&export);
    for object in ["envelope", "surface", "selection", "budget", "assembly", "injection"] {
        assert!(lines_of(&report).contains(&format!("L1 $: there is no context_{object}")), "{:?}", lines_of(&report));
    }
    falls(
        Object::Selection,
        |s| drop(s["selected_item_refs"].as_array_mut().unwrap().remove(1)),
        (read, "L1 @.candidate_item_refs[1]: \"item-main\" was neither selected nor omitted"),
    );
    falls(
        Object::Selection,
        |s| s["omitted_item_refs"][0] = json!("item-log"),
        (read, "L1 @.omitted_item_refs[0]: it was left out without a reason"),
    );
    falls(
        Object::Selection,
        |s| s["selected_item_refs"][0] = json!("item-log"),
        (read, "L1 @.omitted_item_refs[0]: \"item-log\" was both selected and omitted"),
    );
    falls(
        Object::Selection,
        |s| remove(s, "candidate_item_refs"),
        (read, "L1 @.selected_item_refs[0]: \"item-system\" is not among the candidates"),
    );
    falls(
        Object::Selection,
        |s| s["surface_id"] = json!("sur-2"),
        (read, "L1 @.surface_id: \"sur-2\" is not the id of any context_surface here"),
    );
    falls(
        Object::Assembly,
        |a| a["ordered_blocks"][1]["item_refs"][0] = json!({"kind": "turn", "id": "turn-1"}),
        (read, "L1 @.ordered_blocks[1].item_refs[0]: \"turn-1\" is not the id of any context_item here"),
    );
    falls(
        Object::Injection,
        |i| i["assembly_id"] = json!("asm-9"),
        (read, "L1 @.assembly_id: \"asm-9\" is not the id of any context_assembly here"),
    );
    falls(
        Object::Envelope,
        |e| e["policy_refs"][0] = json!("pol-1"),
        (read, "L1 @.policy_refs[0]: what lies outside is named by an object with kind and id"),
    );
    falls(
        Object::Window,
        |w| w["segments"][0] = json!("seg-2"),
        (read, "L1 @.segments[0]: \"seg-2\" is not the id of any segment here"),
    );
    falls(
        Object::Compaction,
        |c| c["source_item_refs"][0] = json!("turn-1"),
        (read, "L1 @.source_item_refs[0]: \"turn-1\" is not the id of any context_item here"),
    );
    falls(
        Object::Compaction,
        |c| c["summary_ref"] = json!({}),
        (read, "L1 @.summary_ref: it names nothing: expected an id, or an object with one"),
    );
    falls(
        Object::Event,
        |e| e["context_id"] = json!("env-2"),
        (read, "L1 @.context_id: \"env-2\" is not the id of any context_envelope here"),
    );
}

#[test]
fn a_life_without_events_is_named() {
    let traced = Some(Level::TurnTrace);
    let export = example::value();
    let events: Vec<_> =
        export["records"].as_array().unwrap().iter().filter(|entry| entry["type"] == "context_event").collect();
    assert_eq!(events.len(), 9);
    for event in events {
        let mut without = export.clone();
        without["records"].as_array_mut().unwrap().retain(|entry| entry != event);
        let report = checked(&without);
        assert_eq!(report.level, traced);
        let fault = format!("no event {} names it", event["record"]["event_type"].as_str().unwrap());
        assert!(lines_of(&report).iter().all(|line| line.ends_with(&fault)), "{:?}", lines_of(&report));
    }
    falls(Object::Compaction, |c| remove(c, "summary_ref"), (traced, "L2 @.summary_ref: it is missing"));
    let mut export = example::value();
    for object in [Object::Compaction, Object::Summary] {
        let place = place(&export, object);
        remove(&mut export["records"][place]["record"], "loss_notes");
    }
    let report = checked(&export);
    assert_eq!(report.level, traced);
    assert!(lines_of(&report)[0].ends_with(".loss_notes: neither the compaction nor its summary says what was lost"));

    let mut export = example::value();
    let mut again = export["records"][place(&export, Object::Selection)].clone();
    export["records"].as_array_mut().unwrap().push(again.clone());
    assert_eq!(checked(&export).level, Some(Level::Replayable), "the same again is no change");
    again["record"]["rationale"] = json!("on second thought");
    let (first, last) = (place(&export, Object::Selection), export["records"].as_array().unwrap().len() - 1);
    export["records"][last] = again;
    let report = checked(&export);
    let fault = format!("L2 records[{last}].record: records[{first}].record has the same id with other content");
    assert_eq!((report.level, lines_of(&report)), (traced, vec![fault]));

    let completed = "a record of context must not declare that a turn, a task or a run is completed or failed";
    for (object, field, value, what) in [
        (Object::Envelope, "task_status", json!("running"), completed),
        (Object::Envelope, "metadata", json!({"turn": {"status": "completed"}}), completed),
        (
            Object::Item,
            "metadata",
            json!({"success": true}),
            "a record of context must not declare that a tool succeeded",
        ),
        (
            Object::MissingContext,
            "metadata",
            json!({"approved": false}),
            "a record of context must not declare an approval or a permission",
        ),
    ] {
        let mut export = example::value();
        let place = place(&export, object);
        export["records"][place]["record"][field] = value;
        let report = checked(&export);
        assert_eq!(report.level, traced);
        assert!(lines_of(&report)[0].ends_with(what), "{:?}", lines_of(&report));
    }
    for (kind, level) in [
        ("turn.completed", traced),
        ("context.completed", traced),
        ("tool.call.succeeded", traced),
        ("permission.granted", traced),
        // A failure of our own is ours to tell; the word is not one of the standard's, so types cannot read it.
        ("context.compaction.failed", Some(Level::Lifecycle)),
    ] {
        let mut export = example::value();
        let mut event = export["records"][place(&export, Object::Event)].clone();
        event["record"]["event_id"] = json!("evt-x");
        event["record"]["event_type"] = json!(kind);
        export["records"].as_array_mut().unwrap().push(event);
        assert_eq!(checked(&export).level, level, "{kind}");
    }
}

#[test]
fn bytes_that_cannot_be_made_again_are_named() {
    let lived = Some(Level::Lifecycle);
    let zeros = format!("blake3:{}", "0".repeat(64));
    falls(
        Object::Assembly,
        |a| remove(&mut a["ordered_blocks"][1], "hash"),
        (lived, "L3 @.ordered_blocks[1].hash: it is missing"),
    );
    falls(
        Object::Assembly,
        |a| a["ordered_blocks"][1]["hash"] = json!(zeros),
        (lived, "L3 @.ordered_blocks[1].hash: no content here has this digest"),
    );
    falls(
        Object::Assembly,
        |a| a["ordered_blocks"][1]["hash"] = a["ordered_blocks"][0]["hash"].clone(),
        (lived, "L3 @.ordered_blocks[1].content_ref: it names other bytes than hash does"),
    );
    falls(
        Object::Assembly,
        |a| a["ordered_blocks"][2]["position"] = json!(1),
        (lived, "L3 @.ordered_blocks[2].position: it stands after position 1"),
    );
    falls(
        Object::Injection,
        |i| i["hash"] = json!(zeros),
        (lived, "L3 @.hash: neither the blocks one after another nor any content here has this digest"),
    );
    falls(
        Object::Injection,
        |i| i["final_ref"] = json!(zeros),
        (lived, "L3 @.final_ref: it names other bytes than hash does"),
    );
    falls(Object::Injection, |i| remove(i, "hash"), (lived, "L3 @.hash: it is missing"));
    falls(
        Object::SourceRef,
        |s| s["digest"] = json!("sha256:example"),
        (lived, "L3 @.digest: \"sha256:example\" is no digest: expected blake3: or sha256: and 64 hexadecimal digits"),
    );
    falls(
        Object::SourceRef,
        |s| remove(s, "metadata"),
        (lived, "L3 @.metadata.binding: it must say whether the source is pinned or live"),
    );
    falls(
        Object::Event,
        |e| e["time"] = json!("2026-11-15T20:10:00.1234567Z"),
        (
            lived,
            "L3 @.time: it is not the same after it was read and written: it became \"2026-11-15T20:10:00.123456Z\"",
        ),
    );
    falls(
        Object::Item,
        |i| i["context_kind"] = json!("poem"),
        (lived, "L3 @: it is not the same after it was read and written: unknown variant `poem`"),
    );

    let export = example::value();
    let digests: Vec<String> = export["contents"].as_object().unwrap().keys().cloned().collect();
    assert_eq!(digests.len(), 4);
    for digest in &digests {
        let mut without = export.clone();
        without["contents"].as_object_mut().unwrap().remove(digest);
        assert_eq!(checked(&without).level, lived);
        for content in
            [json!({"text": "forged"}), json!({"base64": "a"}), json!("text"), json!({"text": "a", "base64": "YQ=="})]
        {
            let mut forged = export.clone();
            forged["contents"][digest] = content;
            let report = checked(&forged);
            assert_eq!(report.level, lived);
            let path = format!("L3 contents[{digest:?}]: ");
            assert!(lines_of(&report)[0].starts_with(&path), "{:?}", lines_of(&report));
        }
    }
    let mut renamed = export;
    renamed["contents"]["md5:00"] = json!({"text": "a"});
    assert_eq!(
        lines_of(&checked(&renamed)),
        ["L3 contents[\"md5:00\"]: \"md5:00\" is no digest: expected blake3: or sha256: and 64 hexadecimal digits"]
    );
}

#[test]
fn what_is_only_recommended_is_noted_and_counts_when_checked_strictly() {
    let mut export = example::value();
    let (item, selection) = (place(&export, Object::Item), place(&export, Object::Selection));
    let (injection, assembly) = (place(&export, Object::Injection), place(&export, Object::Assembly));
    export["records"][item]["record"]["context_kind"] = json!("custom");
    export["records"][item]["record"]["titel"] = json!("x");
    remove(&mut export["records"][item]["record"], "content");
    export["records"][selection]["record"]["ranking_signals"]["item-main"]["luck"] = json!(1);
    export["records"][selection]["record"]["schema_version"] = json!("7");
    remove(&mut export["records"][injection]["record"], "visibility");
    export["records"][assembly]["record"]["ordered_blocks"][0]["hsh"] = json!(1);
    let json = serde_json::to_vec(&export).unwrap();
    let report = check(&json, Strictness::Demanded);
    let mut notes: Vec<_> = report.notes.iter().map(ToString::to_string).collect();
    notes.sort();
    let mut expected = [
        format!(
            "records[{item}].record.context_kind: it is custom, and metadata.context_kind does not say what that is"
        ),
        format!(
            "records[{item}].record.titel: the standard has no such field; what is your own belongs into metadata; did you mean `title`?"
        ),
        format!("records[{item}].record.content: it should be there, because content_mode is inline"),
        format!(
            "records[{selection}].record.ranking_signals[\"item-main\"].luck: \"luck\" is not one of relevance, recency, authority, user_pin, policy_allow, freshness, coverage, dedupe_score, token_cost, sensitivity, tool_visibility, runtime_need"
        ),
        format!("records[{selection}].record.schema_version: version \"7\" is not known; it was checked as 0.1.1"),
        format!("records[{injection}].record.visibility: the standard recommends it, and it is not there"),
        format!(
            "records[{assembly}].record.ordered_blocks[0].hsh: the standard has no such field; what is your own belongs into metadata; did you mean `hash`?"
        ),
    ];
    expected.sort();
    assert_eq!(notes, expected);
    assert!(report.level >= Some(Level::Lifecycle));
    let strict = check(&json, Strictness::Recommended);
    assert_eq!((strict.level, strict.notes), (None, vec![]));
    assert_eq!(strict.faults.iter().filter(|fault| fault.level == Level::Readable).count(), 7);

    export["records"][item]["record"]["metadata"] = json!({"context_kind": "poem"});
    let named = checked(&export);
    assert_eq!(named.notes.len(), 6);
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

/// Returns a file that lies beside the project, or says that it is not there.
fn published(name: &str) -> Option<Vec<u8>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/schemas/agentcontext").join(name);
    fs::read(path).inspect_err(|_| eprintln!("skipped: {name} is not beside the project")).ok()
}

#[test]
fn faults_of_published_examples_are_named() {
    let examples: [(&str, &[&str]); 5] = [
        ("turn-context-snapshot", &[]),
        ("memory-prefetch", &["L0 schema_version: it is missing"]),
        ("context-compaction", &["L0 schema_version: it is missing"]),
        ("missing-context-request", &["L0 schema_version: it is missing"]),
        (
            "knowledge-selection",
            &[
                "L0 schema_version: it is missing",
                "L0 source_refs[0].schema_version: it is missing",
                "L0 source_refs[0].source_kind: it is missing",
            ],
        ),
    ];
    for (name, expected) in examples {
        let Some(json) = published(&format!("examples-as-published/{name}.json")) else { return };
        let report = check(&json, Strictness::Demanded);
        let found: Vec<_> = lines_of(&report).into_iter().filter(|fault| fault.starts_with("L0")).collect();
        assert_eq!(found, expected, "{name}");
        assert_eq!(report.level, expected.is_empty().then_some(Level::Readable), "{name}");
    }
}

#[test]
fn what_the_schemas_demand_is_demanded() {
    let Some(examples) = published("conforming-examples-own.json") else { return };
    let examples: Value = serde_json::from_slice(&examples).unwrap();
    for example in examples["documents"].as_array().unwrap() {
        let Some(name) = example["schema"].as_str() else { continue };
        let schema: Value =
            serde_json::from_slice(&published(&format!("schemas/{name}.schema.json")).unwrap()).unwrap();
        let required: Vec<&str> = schema["required"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        for field in example["document"].as_object().unwrap().keys() {
            let tagged = |record: &Value| json!([{"type": example["object"], "record": record}]);
            let mut record = example["document"].clone();
            remove(&mut record, field);
            let report = checked(&tagged(&record));
            let fault = format!("L0 [0].record.{field}: it is missing");
            assert_eq!(lines_of(&report).contains(&fault), required.contains(&field.as_str()), "{name} {field}");
        }
    }
}

#[test]
fn conforming_records_are_accepted() {
    let Some(json) = published("conforming-examples-own.json") else { return };
    let report = check(&json, Strictness::Demanded);
    assert_eq!(report.level, Some(Level::Readable), "{:#?}", lines_of(&report));
    assert_eq!(report.records.len(), Object::ALL.len());
    let examples: Value = serde_json::from_slice(&json).unwrap();
    for example in examples["documents"].as_array().unwrap() {
        let report = checked(&example["document"]);
        let object: Object = example["object"].as_str().unwrap().parse().unwrap();
        assert_eq!((report.level, report.records), (Some(Level::Readable), [(object, 1)].into()));
    }
}

/// Values that look like records, more or less.
fn values() -> impl Strategy<Value = Value> {
    let text = prop_oneof![
        Just("custom".to_owned()),
        Just("item-main".to_owned()),
        Just("context_item".to_owned()),
        Just("2026-11-15T20:10:00Z".to_owned()),
        "\\PC{0,4}",
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        text.prop_map(Value::from),
    ];
    let names: Vec<String> = {
        let mut names: Vec<String> =
            ["records", "record", "type", "contents", "agent_context_export", "id", "kind"].map(str::to_owned).to_vec();
        for entry in example::value()["records"].as_array().unwrap() {
            names.extend(entry["record"].as_object().unwrap().keys().cloned());
        }
        names.push("text".to_owned());
        names
    };
    leaf.prop_recursive(4, 60, 6, move |inner| {
        let name = proptest::sample::select(names.clone());
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            proptest::collection::btree_map(name, inner, 0..6)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

/// Puts a value in place of another, anywhere in a document, by counting through it.
fn replace(value: &mut Value, count: &mut usize, with: &Value) {
    if *count == 0 {
        *value = with.clone();
    }
    *count = count.wrapping_sub(1);
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| replace(item, count, with)),
        Value::Object(fields) => fields.values_mut().for_each(|field| replace(field, count, with)),
        _ => {}
    }
}

/// Tells whether the faults of a report are against no level that it says was reached.
fn is_sound(report: &CheckReport) -> bool {
    let reached = |fault: &contexture_assembly::check::Fault| report.level.is_some_and(|level| fault.level <= level);
    let is_lowest = report.faults.iter().map(|fault| fault.level).min()
        == report.level.map_or(Some(Level::Readable), |level| Level::ALL.iter().copied().find(|next| *next > level));
    !report.faults.iter().any(reached) && is_lowest && report.faults.iter().all(|fault| !fault.path.is_empty())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn any_bytes_have_a_report(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let report = check(&bytes, Strictness::Demanded);
        prop_assert!(is_sound(&report), "{:?}", report);
    }

    #[test]
    fn any_json_has_a_report_and_strict_is_never_higher(value in values()) {
        let json = serde_json::to_vec(&value).unwrap();
        let (demanded, recommended) = (check(&json, Strictness::Demanded), check(&json, Strictness::Recommended));
        prop_assert!(is_sound(&demanded) && is_sound(&recommended), "{:?}", demanded);
        prop_assert!(recommended.level <= demanded.level);
        prop_assert!(recommended.faults.len() >= demanded.faults.len());
    }

    #[test]
    fn a_value_in_the_wrong_place_never_panics(value in values(), place in 0usize..900, cut in 0usize..20_000) {
        let mut export = example::value();
        replace(&mut export, &mut place.clone(), &value);
        let json = serde_json::to_vec(&export).unwrap();
        for bytes in [&json[..], &json[..cut.min(json.len())]] {
            for strictness in [Strictness::Demanded, Strictness::Recommended] {
                let report = check(bytes, strictness);
                prop_assert!(is_sound(&report), "{:?}", report);
            }
        }
    }
}
