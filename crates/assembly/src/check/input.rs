//! What is in a file: one record, many, or an export.

use std::str::FromStr as _;

use serde_json::{Map, Value};

use super::{
    path::Path,
    report::{FaultKind, Findings, Level},
    tree::{self, Step},
};
use crate::{mistake::ActualValue, standard::Object};

/// The names under which a list of records may lie in an object, with those that hold a record and the name of its kind.
const LISTS: [(&str, &str, &str); 2] = [("records", "record", "type"), ("documents", "document", "object")];
/// The field that makes an object an export.
pub(super) const EXPORT: &str = "agent_context_export";

/// The records of a file, and what came with them.
#[derive(Debug)]
pub(super) struct CheckedDocument {
    /// The records whose kind is known.
    pub(super) entries: Vec<Entry>,
    /// The fields of an export beside its records.
    pub(super) header: Option<Map<String, Value>>,
}

/// A record and where it is.
#[derive(Debug)]
pub(super) struct Entry {
    /// The way to it.
    pub(super) place: String,
    /// Its kind.
    pub(super) object: Object,
    /// The record, an object.
    pub(super) record: Value,
}

impl Entry {
    /// Returns the way to the record.
    pub(super) fn path(&self) -> Path<'_> {
        Path::root(&self.place)
    }

    /// Returns a field of the record.
    pub(super) fn get(&self, field: &str) -> Option<&Value> {
        self.record.get(field)
    }

    /// Returns a field of the record that is a text.
    pub(super) fn text(&self, field: &str) -> Option<&str> {
        self.get(field).and_then(Value::as_str)
    }

    /// Returns the items of a field of the record that is a list; none where it is not.
    pub(super) fn list(&self, field: &str) -> &[Value] {
        self.get(field).and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }

    /// Returns the id of the record.
    pub(super) fn id(&self) -> Option<&str> {
        self.text(self.object.id_field())
    }
}

/// Finds the records in a file.
pub(super) fn read(bytes: &[u8], findings: &mut Findings) -> CheckedDocument {
    let json = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    let mut document = CheckedDocument { entries: Vec::new(), header: None };
    match tree::read(json) {
        Ok(tree) => {
            twice(&Path::root(""), &tree.twice, findings);
            document.take(tree.value, findings);
        }
        Err(error) => match lines(json) {
            Some(lines) => document.take_lines(&lines, findings),
            None => findings.fault(Level::Readable, Path::root(""), FaultKind::NotJson { detail: error.to_string() }),
        },
    }
    document
}

impl CheckedDocument {
    fn take(&mut self, value: Value, findings: &mut Findings) {
        let root = Path::root("");
        match value {
            Value::Array(values) => self.take_list(values, &root, "record", "type", findings),
            Value::Object(mut fields) => {
                let is_export = fields.contains_key(EXPORT);
                let list = LISTS.into_iter().find(|(list, ..)| fields.get(*list).is_some_and(Value::is_array));
                match list {
                    Some((list, record, kind)) if is_export || recognise(&fields).is_none() => {
                        if let Some(Value::Array(values)) = fields.remove(list) {
                            self.take_list(values, &root.field(list), record, kind, findings);
                        }
                    }
                    None if is_export => {
                        let problem = match fields.remove("records") {
                            Some(other) => FaultKind::Type { expected: "a list", found: ActualValue::from(&other) },
                            None => FaultKind::Missing,
                        };
                        findings.fault(Level::Readable, root.field("records"), problem);
                    }
                    _ => return self.take_bare(Value::Object(fields), &root, findings),
                }
                self.header = is_export.then_some(fields);
            }
            other => self.take_bare(other, &root, findings),
        }
    }

    fn take_lines(&mut self, lines: &[(String, &[u8])], findings: &mut Findings) {
        for (place, line) in lines {
            let root = Path::root(place);
            match tree::read(line) {
                Ok(tree) => {
                    twice(&root, &tree.twice, findings);
                    self.take_entry(tree.value, &root, "record", "type", findings);
                }
                Err(error) => findings.fault(Level::Readable, root, FaultKind::NotJson { detail: error.to_string() }),
            }
        }
    }

    fn take_list(&mut self, values: Vec<Value>, path: &Path, record: &str, kind: &str, findings: &mut Findings) {
        for (index, value) in values.into_iter().enumerate() {
            self.take_entry(value, &path.item(index), record, kind, findings);
        }
    }

    /// Takes a record that may be named by its kind.
    fn take_entry(&mut self, mut value: Value, path: &Path, record: &str, kind: &str, findings: &mut Findings) {
        let is_tagged = value.get(record).is_some() && value.get(kind).is_some();
        if !is_tagged {
            return self.take_bare(value, path, findings);
        }
        let name = value[kind].as_str().map(Object::from_str);
        match name {
            Some(Ok(object)) => self.take_record(value[record].take(), object, &path.field(record), findings),
            Some(Err(word)) => findings.fault(Level::Readable, path.field(kind), FaultKind::Word { word }),
            None => {
                let problem = FaultKind::Type { expected: "a text", found: ActualValue::from(&value[kind]) };
                findings.fault(Level::Readable, path.field(kind), problem);
            }
        }
    }

    fn take_bare(&mut self, value: Value, path: &Path, findings: &mut Findings) {
        match value.as_object().map(recognise) {
            Some(None) => findings.fault(Level::Readable, path, FaultKind::NoRecord),
            Some(Some(object)) => self.take_record(value, object, path, findings),
            None => {
                let problem = FaultKind::Type { expected: "an object", found: ActualValue::from(&value) };
                findings.fault(Level::Readable, path, problem);
            }
        }
    }

    fn take_record(&mut self, record: Value, object: Object, path: &Path, findings: &mut Findings) {
        if record.is_object() {
            let place = path.to_string();
            self.entries.push(Entry { place: if place == "$" { String::new() } else { place }, object, record });
        } else {
            let problem = FaultKind::Type { expected: "an object", found: ActualValue::from(&record) };
            findings.fault(Level::Readable, path, problem);
        }
    }
}

/// Tells what kind of record an object is: one whose id it has, and of those the one most of whose required fields it
/// has.
fn recognise(fields: &Map<String, Value>) -> Option<Object> {
    let likeness = |object: &Object| {
        let required = || object.fields().iter().filter(|field| field.is_required);
        let there = required().filter(|field| fields.contains_key(field.name())).count();
        // In thousandths, because fractions have no order.
        (there * 1000 / required().count(), object.fields().iter().filter(|f| fields.contains_key(f.name())).count())
    };
    let alike = Object::ALL.iter().copied().filter(|object| fields.contains_key(object.id_field()));
    alike.max_by_key(likeness)
}

/// Takes a text apart where it is many documents, one a line; blank lines do not count.
fn lines(json: &[u8]) -> Option<Vec<(String, &[u8])>> {
    let numbered = json.split(|byte| *byte == b'\n').enumerate();
    let full = numbered.filter(|(_, line)| !line.trim_ascii().is_empty());
    let lines: Vec<_> = full.map(|(index, line)| (format!("line {}", index + 1), line)).collect();
    let is_many = lines.len() > 1 && tree::read(lines.first()?.1).is_ok_and(|tree| tree.value.is_object());
    is_many.then_some(lines)
}

fn twice(path: &Path, ways: &[Vec<Step>], findings: &mut Findings) {
    for way in ways {
        follow(path, way, findings);
    }
}

fn follow(path: &Path, way: &[Step], findings: &mut Findings) {
    match way {
        [] => findings.fault(Level::Readable, path, FaultKind::Twice),
        [Step::Field(name), rest @ ..] => follow(&path.field(name), rest, findings),
        [Step::Item(index), rest @ ..] => follow(&path.item(*index), rest, findings),
    }
}
