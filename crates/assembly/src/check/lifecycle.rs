//! L2: every change has its event, and nothing was changed, replaced or decided in silence.

use std::collections::{HashMap, HashSet};

use contexture_core::EventKind;
use serde_json::Value;

use super::{
    input::{CheckedDocument, Entry},
    path::Path,
    references::{Index, id_of},
    report::{FaultKind, Findings, Level},
};
use crate::standard::{Object, RedactionState};

/// Checks that the life of every record is in the events.
pub(super) fn check(document: &CheckedDocument, index: &Index, findings: &mut Findings) {
    let events = Events::of(document);
    let mut known: HashMap<(Object, &str), &Entry> = HashMap::new();
    for entry in &document.entries {
        let path = entry.path();
        for event in expected(entry) {
            if !entry.id().is_some_and(|id| events.has(event, id)) {
                findings.fault(Level::Lifecycle, path, FaultKind::NoEvent { event });
            }
        }
        redactions(entry, &events, findings);
        if entry.object == Object::Compaction {
            compaction(entry, index, findings);
        }
        if let Some(id) = entry.id() {
            let first = *known.entry((entry.object, id)).or_insert(entry);
            if first.record != entry.record {
                findings.fault(Level::Lifecycle, path, FaultKind::Changed { first: first.path().to_string() });
            }
        }
        declarations(&entry.record, &path, findings);
        if let Some(what) = entry.text("event_type").filter(|_| entry.object == Object::Event).and_then(declared_event)
        {
            findings.fault(Level::Lifecycle, path.field("event_type"), FaultKind::Declares { what });
        }
    }
}

/// Which ids the events of each type name.
struct Events<'d>(HashSet<(EventKind, &'d str)>);

impl<'d> Events<'d> {
    /// An event names its subject, and every id that its data has on top.
    fn of(document: &'d CheckedDocument) -> Self {
        let mut named = HashSet::new();
        for event in document.entries.iter().filter(|entry| entry.object == Object::Event) {
            let Some(Ok(kind)) = event.text("event_type").map(str::parse) else { continue };
            let data = event.get("data").and_then(Value::as_object).into_iter().flat_map(|data| data.values());
            let listed = data.flat_map(|value| value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice));
            named.extend(listed.chain(event.get("subject")).filter_map(|value| Some((kind, value.as_str()?))));
        }
        Self(named)
    }

    fn has(&self, kind: EventKind, id: &str) -> bool {
        self.0.contains(&(kind, id))
    }
}

/// Returns the events that a record cannot be without.
fn expected(entry: &Entry) -> Vec<EventKind> {
    match entry.object {
        Object::Surface => vec![EventKind::SurfaceCreated],
        Object::Selection => vec![EventKind::SelectionCompleted],
        Object::Budget => vec![EventKind::BudgetApplied],
        Object::Assembly => vec![EventKind::AssemblyCreated],
        Object::Injection => vec![EventKind::InjectionApplied],
        Object::Compaction => vec![EventKind::CompactionCompleted],
        Object::MissingContext => match entry.text("status") {
            Some("requested" | "waiting") => vec![EventKind::MissingDetected, EventKind::MissingRequested],
            Some("resolved") => vec![EventKind::MissingDetected, EventKind::MissingResolved],
            _ => vec![EventKind::MissingDetected],
        },
        Object::Envelope | Object::Item | Object::SourceRef | Object::Window | Object::Summary | Object::Event => {
            Vec::new()
        }
    }
}

/// Checks that every redaction has its event: of an item, of a block or one of its items, of an assembly or what is in it.
fn redactions(entry: &Entry, events: &Events, findings: &mut Findings) {
    let has_event = |ids: &[&str]| ids.iter().any(|id| events.has(EventKind::RedactionApplied, id));
    let mut demand = |is_redacted: bool, ids: &[&str], path: Path| {
        if is_redacted && !has_event(ids) {
            let problem = FaultKind::NoEvent { event: EventKind::RedactionApplied };
            findings.fault(Level::Lifecycle, path.field("redaction_state"), problem);
        }
    };
    let path = entry.path();
    let own: Vec<&str> = entry.id().into_iter().collect();
    match entry.object {
        Object::Item => demand(is_redacted(&entry.record), &own, path),
        Object::Assembly => {
            let mut all = own.clone();
            for (index, block) in entry.list("ordered_blocks").iter().enumerate() {
                let items = block.get("item_refs").and_then(Value::as_array).into_iter().flatten();
                let mut ids: Vec<_> = items.filter_map(|item| id_of(item, Object::Item)).collect();
                ids.extend(block.get("block_id").and_then(Value::as_str));
                all.extend(&ids);
                ids.extend(&own);
                demand(is_redacted(block), &ids, path.field("ordered_blocks").item(index));
            }
            demand(is_redacted(&entry.record), &all, path);
        }
        _ => {}
    }
}

fn is_redacted(value: &Value) -> bool {
    match value.get("redaction_state").and_then(Value::as_str).map(str::parse) {
        Some(Ok(RedactionState::None | RedactionState::Unknown)) | None => false,
        // A word of somebody else's for a redaction is one.
        Some(Ok(_) | Err(_)) => true,
    }
}

/// Checks that a compaction says what stands for what it replaced, and what was lost.
fn compaction(entry: &Entry, index: &Index, findings: &mut Findings) {
    let path = entry.path();
    let Some(summary_ref) = entry.get("summary_ref") else {
        findings.fault(Level::Lifecycle, path.field("summary_ref"), FaultKind::Missing);
        return;
    };
    let summary = index.find(summary_ref, Object::Summary);
    let has_notes = |entry: &Entry| !entry.list("loss_notes").is_empty();
    if !has_notes(entry) && !summary.is_some_and(has_notes) {
        findings.fault(Level::Lifecycle, path.field("loss_notes"), FaultKind::NoLossNotes);
    }
}

const COMPLETION: &str = "that a turn, a task or a run is completed or failed";
const SUCCESS: &str = "that a tool succeeded";
const PERMISSION: &str = "an approval or a permission";

/// Fields that declare something by being there.
const DECLARING: [(&str, &[&str]); 3] = [
    (
        COMPLETION,
        &[
            "completed",
            "is_completed",
            "turn_completed",
            "task_completed",
            "run_completed",
            "completion_status",
            "turn_status",
            "task_status",
            "run_status",
            "session_status",
        ],
    ),
    (SUCCESS, &["tool_success", "tool_succeeded", "tool_status", "tool_outcome", "success", "succeeded"]),
    (
        PERMISSION,
        &[
            "approved",
            "is_approved",
            "approval_status",
            "approval_granted",
            "permission_granted",
            "permission_grants",
            "granted",
            "grants",
        ],
    ),
];
/// Words that declare something where a status stands, or at the end of a type of event.
const DECLARED: [(&str, &[&str]); 3] = [
    (COMPLETION, &["completed", "complete", "done", "finished", "failed"]),
    (SUCCESS, &["succeeded", "success", "successful"]),
    (PERMISSION, &["approved", "granted", "authorized"]),
];

/// Finds what is not for context to say, in fields of any depth. Content may say anything, and so may what is said about
/// a summary.
fn declarations(value: &Value, path: &Path, findings: &mut Findings) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                let path = path.field(name);
                if let Some(what) = declared(name, value) {
                    findings.fault(Level::Lifecycle, path, FaultKind::Declares { what });
                }
                if !matches!(name.as_str(), "content" | "validation" | "coverage" | "freshness") {
                    declarations(value, &path, findings);
                }
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                declarations(item, &path.item(index), findings);
            }
        }
        _ => {}
    }
}

/// Says what a field declares.
fn declared(name: &str, value: &Value) -> Option<&'static str> {
    let status = value.as_str().filter(|_| matches!(name, "status" | "state" | "outcome" | "lifecycle"));
    if value.is_null() { None } else { among(name, &DECLARING).or_else(|| among(status?, &DECLARED)) }
}

/// Says what a type of event declares that is not about context.
fn declared_event(kind: &str) -> Option<&'static str> {
    let is_about_context =
        |word: &str| EventKind::ALL.iter().any(|known| known.as_str().split('.').nth(1) == Some(word));
    let mut words = kind.split('.');
    let last = words.next_back()?;
    if words.any(is_about_context) { None } else { among(last, &DECLARED) }
}

fn among(word: &str, lists: &[(&'static str, &[&str])]) -> Option<&'static str> {
    lists.iter().find(|(_, words)| words.contains(&word)).map(|(what, _)| *what)
}
