//! L1: every step from what was available to what was made visible.

use std::collections::HashSet;

use serde_json::Value;

use super::{
    input::{CheckedDocument, Entry},
    references::{Index, id_of},
    report::{FaultKind, Findings, Level},
};
use crate::standard::Object;

/// Checks that every envelope tells a whole turn.
pub(super) fn check(document: &CheckedDocument, index: &Index, findings: &mut Findings) {
    /// What belongs to a turn, and where the envelope names it.
    const STEPS: [(&str, Object); 5] = [
        ("surface_refs", Object::Surface),
        ("selection_refs", Object::Selection),
        ("budget_ref", Object::Budget),
        ("assembly_refs", Object::Assembly),
        ("injection_refs", Object::Injection),
    ];
    let mut fault = |path: &dyn std::fmt::Display, problem| findings.fault(Level::TurnTrace, path, problem);
    let is_there = |object: Object| document.entries.iter().any(|entry| entry.object == object);
    // An envelope names what is missing by itself.
    if !is_there(Object::Envelope) {
        let objects = std::iter::once(Object::Envelope).chain(STEPS.map(|(_, object)| object));
        for object in objects.filter(|object| !is_there(*object)) {
            fault(&"$", FaultKind::NoObject { object });
        }
    }
    for entry in &document.entries {
        match entry.object {
            Object::Envelope => {
                for (field, object) in STEPS {
                    let is_named = match entry.get(field) {
                        None => false,
                        Some(Value::Array(refs)) => !refs.is_empty(),
                        Some(_) => true,
                    };
                    if !is_named {
                        fault(&entry.path().field(field), FaultKind::NotNamed { object });
                    }
                }
            }
            Object::Selection => selection(entry, &mut fault),
            _ => {}
        }
    }
    index.check(document, findings);
}

/// Checks that every candidate was decided about, once, and left out only for a reason.
fn selection(entry: &Entry, fault: &mut dyn FnMut(&dyn std::fmt::Display, FaultKind)) {
    let ids = |field: &str| entry.list(field).iter().enumerate().filter_map(|(at, value)| Some((at, item(value)?)));
    let set = |field: &str| ids(field).map(|(_, id)| id).collect::<HashSet<_>>();
    let (candidates, selected, omitted) =
        (set("candidate_item_refs"), set("selected_item_refs"), set("omitted_item_refs"));
    let path = entry.path();
    for (at, id) in ids("candidate_item_refs") {
        if !selected.contains(id) && !omitted.contains(id) {
            fault(&path.field("candidate_item_refs").item(at), FaultKind::Undecided { id: id.to_owned() });
        }
    }
    for field in ["selected_item_refs", "omitted_item_refs"] {
        for (at, id) in ids(field).filter(|(_, id)| !candidates.contains(id)) {
            fault(&path.field(field).item(at), FaultKind::NoCandidate { id: id.to_owned() });
        }
    }
    for (at, value) in entry.list("omitted_item_refs").iter().enumerate() {
        let omitted = path.field("omitted_item_refs");
        let reason = value.get("reason").and_then(Value::as_str);
        if reason.is_none_or(str::is_empty) {
            fault(&omitted.item(at), FaultKind::NoReason);
        }
        if let Some(id) = item(value).filter(|id| selected.contains(id)) {
            fault(&omitted.item(at), FaultKind::DecidedTwice { id: id.to_owned() });
        }
    }
}

fn item(value: &Value) -> Option<&str> {
    id_of(value, Object::Item)
}
