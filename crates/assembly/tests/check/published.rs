//! Records of others.

use std::{fs, path::Path};

use super::*;

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
