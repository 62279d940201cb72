//! Levels of records: an example that reaches the highest, every way to fall from it, and records of others.

mod arbitrary;
mod example;
mod incomplete;
mod lifecycle;
mod published;
mod recommended;
mod replay;
mod unreadable;

use contexture_assembly::{
    check::{CheckReport, Level, Strictness, check},
    standard::{ContentDigest, Export, Object},
};
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
