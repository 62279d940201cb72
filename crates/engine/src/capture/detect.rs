//! Which runtime wrote a file.

use std::{
    io::{self, BufRead as _, Read as _},
    path::Path,
};

use contexture_core::Format;
use serde_json::Value;

use super::input::Input;

/// Lines that are looked at before a file is taken for something else.
const MAX_LINES: usize = 64;
/// Bytes that are looked at.
const MAX_BYTES: u64 = 4 * 1024 * 1024;

/// Why a file is not taken for a session.
#[derive(Debug, thiserror::Error)]
pub enum NotASession {
    /// It cannot be read.
    #[error("it cannot be read")]
    Unreadable(#[source] io::Error),
    /// There is nothing in it.
    #[error("it is empty")]
    Empty,
    /// It is no session of a runtime that is known.
    #[error("it does not look like a session of Claude Code, Codex, Gemini CLI or pi")]
    Unknown,
}

/// Tells which format a file is in by what it holds, whatever its name.
pub fn detect(path: &Path) -> Result<Format, NotASession> {
    let mut reader = Input::open(path).map_err(NotASession::Unreadable)?.take(MAX_BYTES);
    let mut line = Vec::new();
    let mut is_empty = true;
    for _ in 0..MAX_LINES {
        line.clear();
        if reader.read_until(b'\n', &mut line).map_err(NotASession::Unreadable)? == 0 {
            break;
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        is_empty = false;
        let Ok(record) = serde_json::from_slice::<Value>(&line) else {
            continue;
        };
        if let Some(name) = format_of(&record) {
            return Ok(Format::new(name).expect("the names of formats are legal"));
        }
    }
    Err(if is_empty { NotASession::Empty } else { NotASession::Unknown })
}

fn format_of(record: &Value) -> Option<&'static str> {
    let is_text = |name: &str| record[name].is_string();
    let kind = record["type"].as_str();
    // Codex wraps each record.
    if record["payload"].is_object() && is_text("timestamp") && kind.is_some() {
        return Some("codex-v1");
    }
    // Before that it wrote a bare head.
    if is_text("id") && is_text("timestamp") && record.get("instructions").is_some() && kind.is_none() {
        return Some("codex-v1");
    }
    if kind == Some("session") && is_text("id") && is_text("timestamp") && is_text("cwd") {
        return Some("pi-v1");
    }
    if is_text("sessionId") && is_text("projectHash") && kind.is_none() {
        return Some("gemini-v1");
    }
    let is_message = matches!(kind, Some("user" | "assistant"))
        && record["message"].is_object()
        && is_text("uuid")
        && record.get("parentUuid").is_some();
    let is_chained =
        matches!(kind, Some("system" | "progress" | "attachment")) && is_text("uuid") && is_text("sessionId");
    let is_known = matches!(kind, Some("summary")) && is_text("leafUuid")
        || matches!(kind, Some("file-history-snapshot")) && is_text("messageId")
        || matches!(kind, Some("queue-operation")) && is_text("operation") && is_text("sessionId");
    (is_message || is_chained || is_known).then_some("claude-code-v1")
}
