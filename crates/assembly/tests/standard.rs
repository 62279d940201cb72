//! The records of the Agent Context standard against its schemas, vocabularies and examples, where those lie beside the
//! project.

use std::{
    fs,
    path::{Path, PathBuf},
};

use contexture_assembly::standard::{
    self, Audience, CompactionMethod, CompactionTrigger, ContentMode, ContextAssembly, ContextBudget,
    ContextCompaction, ContextEnvelope, ContextEvent, ContextInjection, ContextItem, ContextKind, ContextScope,
    ContextSelection, ContextSummary, ContextSurface, ContextWindow, EventType, InjectionPoint, Lifecycle,
    MissingContext, MissingStatus, OmissionReason, OverflowStrategy, RankingSignal, RedactionState, SelectorKind,
    Severity, SourceRef, SurfaceKind,
};
use contexture_core::EventKind;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value, json};

/// Returns where the standard lies, or says that it is not there.
fn published() -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/schemas/agentcontext");
    if path.is_dir() {
        Some(path)
    } else {
        eprintln!("skipped: no schemas of the standard beside the project");
        None
    }
}

fn read(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

/// Reads a record and writes it again.
fn again<T: Serialize + DeserializeOwned>(document: &Value) -> Result<Value, serde_json::Error> {
    let record: T = serde_json::from_value(document.clone())?;
    serde_json::to_value(record)
}

/// Reads a record of a named object and writes it again.
fn round(object: &str, document: &Value) -> Result<Value, serde_json::Error> {
    match object {
        "context_envelope" => again::<ContextEnvelope>(document),
        "context_surface" => again::<ContextSurface>(document),
        "context_item" => again::<ContextItem>(document),
        "context_source_ref" => again::<SourceRef>(document),
        "context_selection" => again::<ContextSelection>(document),
        "context_budget" => again::<ContextBudget>(document),
        "context_window" => again::<ContextWindow>(document),
        "context_assembly" => again::<ContextAssembly>(document),
        "context_injection" => again::<ContextInjection>(document),
        "context_compaction" => again::<ContextCompaction>(document),
        "context_summary" => again::<ContextSummary>(document),
        "missing_context" => again::<MissingContext>(document),
        "context_event" => again::<ContextEvent>(document),
        other => panic!("there is no object {other}"),
    }
}

/// Leaves out what has nothing in it, and writes times as records do.
fn tidy(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let kept = fields.iter().filter(|(_, value)| **value != json!([]) && **value != json!({}));
            Value::Object(kept.map(|(name, value)| (name.clone(), tidy(value))).collect::<Map<_, _>>())
        }
        Value::Array(values) => values.iter().map(tidy).collect(),
        Value::String(text) => match text.parse::<contexture_core::Timestamp>() {
            Ok(time) => json!(time),
            Err(_) => value.clone(),
        },
        other => other.clone(),
    }
}

/// Holds a value against a schema, with the few keywords that the standard's schemas use; any other one is refused.
///
/// A validator for all of JSON Schema would bring forty packages for ten flat schemas.
fn check(schema: &Value, value: &Value, place: &str) {
    for (keyword, rule) in schema.as_object().unwrap() {
        match keyword.as_str() {
            "$schema" | "$id" | "title" => {}
            "additionalProperties" => assert_eq!(*rule, json!(true)),
            "type" => {
                let mut types = rule.as_array().map_or_else(|| vec![rule], |types| types.iter().collect()).into_iter();
                assert!(types.any(|name| is_a(value, name.as_str().unwrap())), "{place} is no {rule}: {value}");
            }
            "enum" => assert!(rule.as_array().unwrap().contains(value), "{place} is none of {rule}: {value}"),
            "minimum" => assert!(value.as_f64() >= rule.as_f64(), "{place} is below {rule}: {value}"),
            "format" => {
                assert_eq!(*rule, json!("date-time"));
                assert!(value.as_str().unwrap().parse::<contexture_core::Timestamp>().is_ok(), "{place}: {value}");
            }
            "required" => {
                for name in rule.as_array().unwrap() {
                    assert!(value.get(name.as_str().unwrap()).is_some(), "{place} has no {name}");
                }
            }
            "properties" => {
                for (name, schema) in rule.as_object().unwrap() {
                    if let Some(value) = value.get(name) {
                        check(schema, value, &format!("{place}.{name}"));
                    }
                }
            }
            "items" => value.as_array().unwrap().iter().for_each(|value| check(rule, value, place)),
            other => panic!("{place}: the keyword {other} is not known here"),
        }
    }
}

fn is_a(value: &Value, name: &str) -> bool {
    match name {
        "string" => value.is_string(),
        "object" => value.is_object(),
        "array" => value.is_array(),
        "number" => value.is_number(),
        "integer" => value.is_u64() || value.is_i64(),
        other => panic!("the type {other} is not known here"),
    }
}

#[test]
fn records_come_out_as_they_went_in_and_are_valid() {
    let Some(published) = published() else { return };
    let examples = read(&published.join("conforming-examples-own.json"));
    let mut objects = Vec::new();
    for example in examples["documents"].as_array().unwrap() {
        let (object, document) = (example["object"].as_str().unwrap(), &example["document"]);
        let written = round(object, document).unwrap_or_else(|error| panic!("{object}: {error}"));
        assert_eq!(tidy(&written), tidy(document), "{object}");
        if let Some(name) = example["schema"].as_str() {
            let schema = read(&published.join(format!("schemas/{name}.schema.json")));
            check(&schema, &written, object);
        }
        objects.push(object.to_owned());
    }
    objects.sort();
    objects.dedup();
    assert_eq!(objects.len(), 13);
}

#[test]
fn what_the_schemas_demand_the_types_demand() {
    let Some(published) = published() else { return };
    let examples = read(&published.join("conforming-examples-own.json"));
    for example in examples["documents"].as_array().unwrap() {
        let Some(name) = example["schema"].as_str() else { continue };
        let schema = read(&published.join(format!("schemas/{name}.schema.json")));
        for field in schema["required"].as_array().unwrap() {
            let mut document = example["document"].clone();
            document.as_object_mut().unwrap().remove(field.as_str().unwrap());
            assert!(round(example["object"].as_str().unwrap(), &document).is_err(), "{name} without {field}");
        }
        // No field of the standard is a truth value, so only one that the type does not know could be kept as such.
        for (field, rule) in schema["properties"].as_object().unwrap() {
            let mut document = example["document"].clone();
            document[field] = json!(true);
            let accepts_all = *rule == json!({});
            let read = round(example["object"].as_str().unwrap(), &document);
            assert_eq!(read.is_ok(), accepts_all, "{name} with another {field}");
        }
    }
}

#[test]
fn published_examples_are_read_with_their_version() {
    let Some(published) = published() else { return };
    let examples = [
        ("turn-context-snapshot", "context_envelope"),
        ("memory-prefetch", "context_selection"),
        ("context-compaction", "context_compaction"),
        ("missing-context-request", "missing_context"),
        ("knowledge-selection", "context_item"),
    ];
    for (name, object) in examples {
        let mut document = read(&published.join(format!("examples-as-published/{name}.json")));
        // Most examples leave the version out, which their own schemas demand.
        document["schema_version"] = json!(standard::VERSION);
        let written = round(object, &document).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(tidy(&written), tidy(&document), "{name}");
    }
}

#[test]
fn vocabularies_are_those_of_the_standard() {
    let Some(published) = published() else { return };
    let mut vocabularies = read(&published.join("vocabularies.json"));
    let vocabularies = vocabularies.as_object_mut().unwrap();
    macro_rules! compare {
        ($($name:literal: $words:ident),+ $(,)?) => {$(
            let words: Vec<&str> = $words::ALL.iter().map(|word| word.as_str()).collect();
            assert_eq!(vocabularies.remove($name), Some(json!(words)), $name);
            assert_eq!(serde_json::to_value($words::ALL).unwrap(), json!(words));
        )+};
    }
    compare! {
        "context_envelope.scope (schema-enforced)": ContextScope,
        "lifecycle": Lifecycle,
        "context_kind": ContextKind,
        "content_mode": ContentMode,
        "visibility": Audience,
        "surface_kind": SurfaceKind,
        "selector.type": SelectorKind,
        "ranking_signals (common)": RankingSignal,
        "omission_reason": OmissionReason,
        "overflow_strategy": OverflowStrategy,
        "injection_point": InjectionPoint,
        "compaction.method": CompactionMethod,
        "compaction.trigger": CompactionTrigger,
        "missing.severity": Severity,
        "missing.status": MissingStatus,
        "redaction_state": RedactionState,
    }
    let types: Vec<&str> = EventType::all().map(EventType::as_str).collect();
    assert_eq!(vocabularies.remove("event_type"), Some(json!(types)));
    assert_eq!(serde_json::to_value(EventType::all().collect::<Vec<_>>()).unwrap(), json!(types));
    let ids = vocabularies.remove("runtime_correlation_ids").unwrap();
    let mut event = event();
    for id in ids.as_array().unwrap() {
        event[id.as_str().unwrap()] = json!("x");
    }
    let event: ContextEvent = serde_json::from_value(event).unwrap();
    assert!(event.more.is_empty(), "{:?}", event.more);
    assert!(vocabularies.is_empty(), "{vocabularies:?}");
}

#[test]
fn a_word_outside_its_vocabulary_is_refused() {
    let mut event = event();
    assert!(round("context_event", &event).is_ok());
    event["event_type"] = json!("context.completed");
    assert!(round("context_event", &event).is_err());
    event["event_type"] = json!("context.exported");
    event["event_id"] = json!("");
    let error = round("context_event", &event).unwrap_err();
    assert_eq!(error.to_string(), "the id of an event needs at least one character");
}

#[test]
fn unknown_fields_are_kept() {
    let mut event = event();
    event["somebody"] = json!({"else": [1, 2.5, null]});
    event["metadata"] = json!({"why": "because"});
    assert_eq!(round("context_event", &event).unwrap(), tidy(&event));
}

fn event() -> Value {
    json!({
        "schema_version": standard::VERSION,
        "event_id": "e1",
        "event_type": "context.item.added",
        "source": "ctx",
        "time": "2026-11-15T20:10:00Z",
    })
}

#[test]
fn the_journal_has_a_kind_for_every_event() {
    let failures = ["context.selection.failed", "context.assembly.failed", "context.compaction.failed"];
    let mut words: Vec<&str> = EventType::all().map(EventType::as_str).chain(failures).collect();
    let mut kinds: Vec<&str> = EventKind::ALL.iter().map(|kind| kind.as_str()).collect();
    words.sort_unstable();
    kinds.sort_unstable();
    assert_eq!(kinds, words);
}
