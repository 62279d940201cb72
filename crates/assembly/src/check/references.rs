//! Which records name which, and whether what they name is there.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::{
    input::{CheckedDocument, Entry},
    path::Path,
    report::{FaultKind, Findings, Level},
};
use crate::standard::Object;

/// The records of a document by their kinds and ids.
pub(super) struct Index<'d> {
    records: HashMap<(Object, &'d str), &'d Entry>,
    segments: HashSet<&'d str>,
    sources_in_items: HashSet<&'d str>,
}

/// What a field points to.
#[derive(Clone, Copy)]
enum Link {
    /// A record of a kind.
    To(Object),
    /// What was replaced: items, or something of a runtime.
    Replaced,
    /// A summary, be it one of the standard's or an item.
    Summary,
    /// A segment of a budget's window.
    Segment,
    /// Something that lies outside.
    Outside,
    /// A record of any kind, or something that lies outside.
    Anything,
}

impl<'d> Index<'d> {
    pub(super) fn new(document: &'d CheckedDocument) -> Self {
        let mut index = Self { records: HashMap::new(), segments: HashSet::new(), sources_in_items: HashSet::new() };
        for entry in &document.entries {
            if let Some(id) = entry.id() {
                index.records.entry((entry.object, id)).or_insert(entry);
            }
            let ids = |field: &str, id: &'static str| {
                entry.list(field).iter().filter_map(move |value| value.get(id)?.as_str())
            };
            match entry.object {
                Object::Budget => index.segments.extend(ids("window_segments", "segment_id")),
                Object::Window => index.segments.extend(ids("segments", "segment_id")),
                Object::Item => index.sources_in_items.extend(ids("source_refs", Object::SourceRef.id_field())),
                _ => {}
            }
        }
        index
    }

    /// Finds the record of a kind that a value points to.
    pub(super) fn find(&self, value: &Value, object: Object) -> Option<&'d Entry> {
        self.records.get(&(object, id_of(value, object)?)).copied()
    }

    /// Checks that everything that is named is there.
    pub(super) fn check(&self, document: &CheckedDocument, findings: &mut Findings) {
        for entry in &document.entries {
            for (way, link) in links(entry.object) {
                self.follow(&entry.record, way, &entry.path(), *link, findings);
            }
        }
    }

    /// Goes along field names, through every item of a list on the way.
    fn follow(&self, value: &Value, way: &[&str], path: &Path, link: Link, findings: &mut Findings) {
        match (value, way) {
            (Value::Array(items), _) => {
                for (index, item) in items.iter().enumerate() {
                    self.follow(item, way, &path.item(index), link, findings);
                }
            }
            (value, [name, rest @ ..]) => {
                if let Some(value) = value.get(*name) {
                    self.follow(value, rest, &path.field(name), link, findings);
                }
            }
            (Value::String(_) | Value::Object(_), []) => {
                if let Err(problem) = self.resolve(value, link) {
                    findings.fault(Level::TurnTrace, path, problem);
                }
            }
            // It is no reference at all, which was said before.
            (_, []) => {}
        }
    }

    fn resolve(&self, value: &Value, link: Link) -> Result<(), FaultKind> {
        let named = |object: Object| {
            let id = id_of(value, object).ok_or(FaultKind::NoId)?;
            let is_there = self.records.contains_key(&(object, id))
                || object == Object::SourceRef && self.sources_in_items.contains(id);
            if is_there { Ok(()) } else { Err(FaultKind::Unresolved { id: id.to_owned(), what: object.as_str() }) }
        };
        match link {
            Link::To(object) => named(object),
            Link::Replaced | Link::Outside | Link::Anything if is_outside(value) => Ok(()),
            Link::Replaced => named(Object::Item),
            Link::Summary => named(Object::Summary).or_else(|problem| named(Object::Item).map_err(|_| problem)),
            Link::Segment => match value.get("segment_id").or(Some(value)).and_then(Value::as_str) {
                None => Err(FaultKind::NoId),
                Some(id) if self.segments.contains(id) => Ok(()),
                Some(id) => Err(FaultKind::Unresolved { id: id.to_owned(), what: "segment" }),
            },
            Link::Anything if Object::ALL.iter().any(|object| named(*object).is_ok()) => Ok(()),
            Link::Outside | Link::Anything => Err(FaultKind::NotOutside),
        }
    }
}

/// Returns the id in a reference: a text, or what an object has under one of the names that are in use.
pub(super) fn id_of(value: &Value, object: Object) -> Option<&str> {
    match value {
        Value::String(id) => Some(id),
        Value::Object(fields) => {
            let inner = [object.id_field(), "item_ref", "id"].into_iter().find_map(|name| fields.get(name));
            inner.and_then(|inner| id_of(inner, object))
        }
        _ => None,
    }
}

/// Tells whether a reference says that it leads outside: by kind and id, or as a trace does.
fn is_outside(value: &Value) -> bool {
    let has = |name: &str| value.get(name).and_then(Value::as_str).is_some_and(|text| !text.is_empty());
    has("kind") && has("id") || has("trace_id")
}

/// Returns the fields of a record that point to something.
fn links(object: Object) -> &'static [(&'static [&'static str], Link)] {
    const ITEM: Link = Link::To(Object::Item);
    const BUDGET: Link = Link::To(Object::Budget);
    match object {
        Object::Envelope => &[
            (&["surface_refs"], Link::To(Object::Surface)),
            (&["item_refs"], ITEM),
            (&["selection_refs"], Link::To(Object::Selection)),
            (&["budget_ref"], BUDGET),
            (&["assembly_refs"], Link::To(Object::Assembly)),
            (&["injection_refs"], Link::To(Object::Injection)),
            (&["compaction_refs"], Link::To(Object::Compaction)),
            (&["missing_context_refs"], Link::To(Object::MissingContext)),
            (&["actor_refs"], Link::Outside),
            (&["runtime_refs"], Link::Outside),
            (&["policy_refs"], Link::Outside),
            (&["evidence_refs"], Link::Outside),
            (&["telemetry_refs"], Link::Outside),
            (&["artifact_refs"], Link::Outside),
            (&["tool_refs"], Link::Outside),
        ],
        Object::Surface => &[
            (&["available_source_refs"], Link::To(Object::SourceRef)),
            (&["available_item_refs"], ITEM),
            (&["policy_refs"], Link::Outside),
        ],
        Object::Item => &[(&["source_refs"], Link::To(Object::SourceRef)), (&["policy_refs"], Link::Outside)],
        Object::SourceRef => &[(&["provenance_refs"], Link::Anything)],
        Object::Selection => &[
            (&["surface_id"], Link::To(Object::Surface)),
            (&["candidate_item_refs"], ITEM),
            (&["selected_item_refs"], ITEM),
            (&["omitted_item_refs"], ITEM),
            (&["budget_ref"], BUDGET),
        ],
        Object::Budget => &[
            (&["truncation_records", "item_ref"], ITEM),
            (&["window_segments", "item_refs"], ITEM),
            (&["window_segments", "truncation_records", "item_ref"], ITEM),
        ],
        Object::Window => &[(&["budget_ref"], BUDGET), (&["segments"], Link::Segment)],
        Object::Assembly => {
            &[(&["budget_ref"], BUDGET), (&["source_item_refs"], ITEM), (&["ordered_blocks", "item_refs"], ITEM)]
        }
        Object::Injection => &[(&["assembly_id"], Link::To(Object::Assembly))],
        Object::Compaction => &[(&["source_item_refs"], Link::Replaced), (&["summary_ref"], Link::Summary)],
        Object::Summary => &[(&["source_item_refs"], Link::Replaced)],
        Object::MissingContext => &[(&["resolution_refs"], Link::Anything)],
        Object::Event => &[
            (&["context_id"], Link::To(Object::Envelope)),
            (&["policy_refs"], Link::Outside),
            (&["evidence_refs"], Link::Outside),
            (&["telemetry_refs"], Link::Outside),
        ],
    }
}
