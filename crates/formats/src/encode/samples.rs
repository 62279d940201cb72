//! What the tests of the encoders share.

use contexture_core::{Entry, EntryPart, Role, ToolInput};
use serde_json::Value;

use super::{EncodedDialogue, Encoder, Target};
use crate::dialogue::{Dialogue, LossKind};

pub(super) fn target() -> Target {
    Target {
        session: "0193c5a0-0000-7000-8000-000000000001".into(),
        directory: "/work".into(),
        branch: None,
        version: None,
        model: None,
        provider: Some(crate::USUAL_PROVIDER.to_owned()),
        title: None,
        now: "2026-11-15T10:00:00Z".parse().unwrap(),
    }
}

/// Returns the JSON that an encoder writes, and what it loses.
pub(super) fn encode(encoder: &dyn Encoder, entries: Vec<Entry>) -> (Value, Vec<(LossKind, u64)>) {
    let EncodedDialogue { bytes, losses } = encoder.encode(&Dialogue::of(entries), &target());
    let losses = losses.counts().iter().map(|count| (count.loss, count.count)).collect();
    (serde_json::from_slice(&bytes).unwrap(), losses)
}

pub(super) fn user(parts: Vec<EntryPart>) -> Entry {
    Entry::new(Role::User, parts)
}

pub(super) fn assistant(parts: Vec<EntryPart>) -> Entry {
    Entry::new(Role::Assistant, parts)
}

pub(super) fn call(id: &str, input: Value) -> EntryPart {
    EntryPart::ToolCall { id: id.into(), name: "run".into(), input: ToolInput::Json(input) }
}

pub(super) fn result(call: &str, content: Vec<EntryPart>, is_error: Option<bool>) -> EntryPart {
    EntryPart::ToolResult { call: call.into(), content, is_error }
}
