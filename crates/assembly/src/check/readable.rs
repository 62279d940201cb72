//! L0: every record has the fields and types that the standard demands.

use contexture_core::Timestamp;
use serde_json::{Map, Value};

use super::{
    input::{CheckedDocument, EXPORT, Entry},
    path::Path,
    report::{FaultKind, Findings, Level},
};
use crate::{
    mistake::ActualValue,
    nearest::nearest,
    standard::{
        ExportVersion, Object, VERSION, is_runtime_id,
        shape::{Field, Shape, Vocabulary},
    },
};

/// The versions of the standard that are known.
const VERSIONS: [&str; 2] = ["0.1.0", VERSION];
/// The fields of an export beside its records.
static HEADER: [Field; 6] = [
    Field { rust_name: EXPORT, is_required: true, shape: &Shape::Word(ExportVersion::VOCABULARY) },
    Field { rust_name: "schema_version", is_required: true, shape: &Shape::Text },
    Field { rust_name: "exported_at", is_required: true, shape: &Shape::Time },
    Field { rust_name: "producer", is_required: false, shape: &Shape::Reference },
    Field { rust_name: "contents", is_required: false, shape: &Shape::Object },
    Field { rust_name: "metadata", is_required: false, shape: &Shape::Object },
];
/// Checks that everything can be read.
pub(super) fn check(document: &CheckedDocument, findings: &mut Findings) {
    let mut reader = Reader { findings, metadata: None };
    if let Some(header) = &document.header {
        reader.header(header);
    }
    for entry in &document.entries {
        reader.entry(entry);
    }
}

struct Reader<'f> {
    findings: &'f mut Findings,
    /// The metadata of the record that is looked at.
    metadata: Option<&'f Value>,
}

/// What is missing when a field that our types demand is not there.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Demand {
    /// A record: the standard demands it.
    Record { has_schema: bool },
    /// A part of one: the standard recommends it.
    Part,
}

impl<'f> Reader<'f> {
    fn header(&mut self, header: &Map<String, Value>) {
        let path = Path::root("");
        self.fields(header, &HEADER, &path, Demand::Record { has_schema: true });
        self.unknown(header, &HEADER, &[], &path);
    }

    fn entry(&mut self, entry: &'f Entry) {
        self.record(&entry.record, entry.object, &entry.path());
    }

    /// Checks a whole record.
    fn record(&mut self, record: &'f Value, object: Object, path: &Path) {
        let Some(fields) = record.as_object() else { return };
        self.metadata = fields.get("metadata");
        self.fields(fields, object.fields(), path, Demand::Record { has_schema: object.has_schema() });
        self.unknown(fields, object.fields(), also_known(object), path);
        if let Some(version) = fields.get("schema_version").and_then(Value::as_str)
            && !VERSIONS.contains(&version)
        {
            self.note(path.field("schema_version"), FaultKind::Version { found: version.to_owned() });
        }
        for name in recommended(object) {
            if fields.get(*name).is_none_or(|value| value.as_array().is_some_and(Vec::is_empty)) {
                self.note(path.field(name), FaultKind::Recommended);
            }
        }
        if object == Object::Item {
            self.content_mode(fields, path);
            // A whole source may stand where its id could.
            let sources = fields.get("source_refs").and_then(Value::as_array);
            for (index, source) in sources.into_iter().flatten().enumerate() {
                if source.get(Object::SourceRef.id_field()).is_some() {
                    self.record(source, Object::SourceRef, &path.field("source_refs").item(index));
                }
            }
        }
    }

    fn content_mode(&mut self, fields: &Map<String, Value>, path: &Path) {
        let Some(mode) = fields.get("content_mode").and_then(Value::as_str) else { return };
        let field = match mode {
            "inline" | "summary" | "embedded_resource" => "content",
            "ref" | "resource_link" | "artifact_ref" | "tool_result_ref" => "content_ref",
            _ => return,
        };
        if !fields.contains_key(field) {
            self.note(path.field(field), FaultKind::ContentMode { mode: mode.to_owned() });
        }
    }

    fn fields(&mut self, object: &Map<String, Value>, fields: &[Field], path: &Path, demand: Demand) {
        for field in fields {
            let name = field.name();
            match (object.get(name), demand) {
                (Some(value), _) => self.value(value, field.shape, &path.field(name), name),
                (None, _) if !field.is_required => {}
                (None, Demand::Record { has_schema }) if has_schema || name != "schema_version" => {
                    self.fault(path.field(name), FaultKind::Missing);
                }
                (None, _) => self.note(path.field(name), FaultKind::Recommended),
            }
        }
    }

    fn unknown(&mut self, object: &Map<String, Value>, fields: &'static [Field], also: &[&str], path: &Path) {
        let is_known = |name: &str| fields.iter().any(|field| field.name() == name) || also.contains(&name);
        for name in object.keys().filter(|name| !is_known(name) && !is_runtime_id(name)) {
            let nearest = nearest(name, fields.iter().map(Field::name));
            self.note(path.field(name), FaultKind::UnknownField { nearest });
        }
    }

    fn value(&mut self, value: &Value, shape: &'static Shape, path: &Path, name: &str) {
        let mistaken = |this: &mut Self| {
            let problem = FaultKind::Type { expected: shape.expected(), found: ActualValue::from(value) };
            this.fault(path, problem);
        };
        match (shape, value) {
            (Shape::Anything, _)
            | (Shape::Text, Value::String(_))
            | (Shape::Number, Value::Number(_))
            | (Shape::Object, Value::Object(_))
            | (Shape::Reference, Value::String(_) | Value::Object(_)) => {}
            (Shape::Id, Value::String(text)) => {
                if text.is_empty() {
                    self.fault(path, FaultKind::EmptyId);
                }
            }
            (Shape::Natural, Value::Number(number)) => {
                // A whole number may be written with a point.
                let is_natural = number.is_u64() || number.as_f64().is_some_and(|n| n >= 0.0 && n.fract() == 0.0);
                if !is_natural {
                    mistaken(self);
                }
            }
            (Shape::Time, Value::String(text)) => {
                if !is_rfc3339(text) {
                    self.fault(path, FaultKind::Time { text: text.clone() });
                }
            }
            (Shape::Word(vocabulary), Value::String(word)) => self.word(word, vocabulary, path, name),
            (Shape::List(shape), Value::Array(items)) => {
                for (index, item) in items.iter().enumerate() {
                    self.value(item, shape, &path.item(index), name);
                }
            }
            (Shape::Map { names, values }, Value::Object(map)) => {
                for (key, value) in map {
                    if let Some(names) = names {
                        self.word(key, names, &path.field(key), name);
                    }
                    self.value(value, values, &path.field(key), name);
                }
            }
            (Shape::Fields(fields), Value::Object(object)) => {
                self.fields(object, fields, path, Demand::Part);
                // Where no field is demanded, the standard leaves open what there is.
                if fields.iter().any(|field| field.is_required) {
                    self.unknown(object, fields, &[], path);
                }
            }
            (Shape::Either(shapes), _) => match shapes.iter().find(|shape| shape.admits(value)) {
                Some(shape) => self.value(value, shape, path, name),
                None => mistaken(self),
            },
            _ => mistaken(self),
        }
    }

    fn word(&mut self, word: &str, vocabulary: &Vocabulary, path: &Path, name: &str) {
        match (vocabulary.find)(word) {
            Err(word) if vocabulary.is_closed => self.fault(path, FaultKind::Word { word }),
            Err(word) => self.note(path, FaultKind::Word { word }),
            Ok(()) if word == "custom" => {
                let named = self.metadata.and_then(|metadata| metadata.get(name)).and_then(Value::as_str);
                if named.is_none_or(str::is_empty) {
                    self.note(path, FaultKind::Custom { field: name.to_owned() });
                }
            }
            Ok(()) => {}
        }
    }

    fn fault(&mut self, path: impl std::fmt::Display, problem: FaultKind) {
        self.findings.fault(Level::Readable, path, problem);
    }

    fn note(&mut self, path: impl std::fmt::Display, problem: FaultKind) {
        self.findings.note(Level::Readable, path, problem);
    }
}

/// Tells whether a text is a time with all that RFC 3339 demands: a date, a `T`, seconds and an offset.
fn is_rfc3339(text: &str) -> bool {
    let digits = |range: std::ops::Range<usize>| text.as_bytes()[range].iter().all(u8::is_ascii_digit);
    let bytes = text.as_bytes();
    if bytes.len() < 20 || !text.is_ascii() {
        return false;
    }
    let marks = (bytes[4], bytes[7], bytes[10].to_ascii_uppercase(), bytes[13], bytes[16]);
    let is_form =
        marks == (b'-', b'-', b'T', b':', b':') && [0..4, 5..7, 8..10, 11..13, 14..16, 17..19].into_iter().all(digits);
    let rest = &bytes[19..];
    let fraction = match rest {
        [b'.', rest @ ..] => 1 + rest.iter().take_while(|byte| byte.is_ascii_digit()).count(),
        _ => 0,
    };
    let is_offset = match &rest[fraction..] {
        [b'Z' | b'z'] => true,
        [b'+' | b'-', h1, h2, b':', m1, m2] => [h1, h2, m1, m2].into_iter().all(u8::is_ascii_digit),
        _ => false,
    };
    is_form && fraction != 1 && is_offset && text.parse::<Timestamp>().is_ok()
}

/// Fields that the standard names in its text and not in its schemas.
fn also_known(object: Object) -> &'static [&'static str] {
    match object {
        Object::Envelope => &["artifact_refs", "tool_refs"],
        Object::Item => &["retention_hint", "redaction_method", "redacted_by", "policy_refs"],
        Object::Surface
        | Object::SourceRef
        | Object::Selection
        | Object::Budget
        | Object::Window
        | Object::Assembly
        | Object::Injection
        | Object::Compaction
        | Object::Summary
        | Object::MissingContext
        | Object::Event => &[],
    }
}

/// Fields that the standard says should be there whatever the record is about.
fn recommended(object: Object) -> &'static [&'static str] {
    match object {
        Object::Envelope => &["producer", "runtime_refs", "item_refs"],
        Object::Surface => &["surface_kind", "producer", "available_item_refs", "visibility"],
        Object::Item => &["title", "source_refs", "token_estimate", "redaction_state", "created_at"],
        Object::SourceRef => &["digest", "retrieved_at"],
        Object::Selection => &["candidate_item_refs", "selected_item_refs", "selection_policy", "budget_ref"],
        Object::Budget => &["overflow_strategy"],
        Object::Window => &["budget_ref", "segments"],
        Object::Assembly => &["visibility", "budget_ref", "source_item_refs"],
        Object::Injection => &["visibility", "final_ref", "hash"],
        Object::Compaction => &["summary_ref", "trigger", "coverage", "loss_notes", "validation", "replacement_policy"],
        Object::Summary => &["source_item_refs", "coverage", "loss_notes", "freshness", "refresh_policy"],
        Object::MissingContext => &["needed_for", "requested_from"],
        Object::Event => &["subject", "context_id"],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_of_rfc_3339() {
        let times = [
            "2026-05-12T09:00:00Z",
            "2026-05-12t09:00:00z",
            "2026-05-12T09:00:00.123456789+02:00",
            "2026-05-12T09:00:00-00:30",
        ];
        for text in times {
            assert!(is_rfc3339(text), "{text}");
        }
        let others = [
            "",
            "2026-05-12",
            "2026-05-12T09:00:00",
            "2026-05-12 09:00:00Z",
            "2026-05-12T09:00Z",
            "2026-05-12T09:00:00.Z",
            "2026-05-12T09:00:00+02",
            "2026-05-12T09:00:00+0200",
            "2026-13-12T09:00:00Z",
            "2026-05-12T25:00:00Z",
            "2026-05-12T09:00:00Z[UTC]",
            "2026-05-12T09:00:00é",
        ];
        for text in others {
            assert!(!is_rfc3339(text), "{text}");
        }
    }
}
