//! Sessions of older versions: one document each, which newer ones write as lines.

use serde::{Deserialize, de::IgnoredAny};
use serde_json::value::RawValue;

use crate::{
    detect::{DocumentFields, is_list},
    held_document::{DocumentLines, OldDocument},
};

pub(super) const OLD_DOCUMENT: OldDocument = OldDocument { begins, read };

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OldSession<'d> {
    #[serde(borrow)]
    messages: Option<&'d RawValue>,
    #[serde(borrow)]
    session_id: Option<&'d RawValue>,
    #[serde(borrow)]
    project_hash: Option<&'d RawValue>,
    #[serde(borrow)]
    start_time: Option<&'d RawValue>,
    #[serde(borrow)]
    kind: Option<&'d RawValue>,
    #[serde(borrow)]
    directories: Option<&'d RawValue>,
}

pub(super) fn is_document(document: &DocumentFields<'_>) -> bool {
    is_list(document.messages) && document.session_id.is_some() && document.start_time.is_some()
}

/// Tells whether a line begins a document: then it is no record, or holds all messages.
fn begins(line: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct OldStart {
        messages: Option<IgnoredAny>,
    }
    serde_json::from_slice::<OldStart>(line).map_or(true, |start| start.messages.is_some())
}

/// Returns what newer versions write as the first line, with what does not change while a session goes on.
fn read(document: &[u8]) -> serde_json::Result<DocumentLines<'_>> {
    let session: OldSession<'_> = serde_json::from_slice(document)?;
    let fields = [
        ("sessionId", session.session_id),
        ("projectHash", session.project_hash),
        ("startTime", session.start_time),
        ("lastUpdated", session.start_time),
        ("kind", session.kind),
        ("directories", session.directories),
    ];
    let known = fields.into_iter().filter_map(|(name, value)| Some((name, value?)));
    let fields: Vec<String> = known.map(|(name, value)| format!("\"{name}\":{}", value.get())).collect();
    Ok(DocumentLines { first: format!("{{{}}}", fields.join(",")), messages: session.messages })
}
