//! A conversation that is long: turns of a question, two calls with their results, and an answer.

use std::path::Path;

use contexture::{
    Checkpoint, CheckpointContent, Contexture,
    core::{Annotation, CommitId, Format, LabelKey, SummaryText},
};
use serde_json::{Value, json};

use crate::{Result, payload::Payloads, subject};

/// Bytes of what is asked, of each result, of the answer and of the summary.
const QUESTION: usize = 300;
const RESULT: usize = 1_900;
const ANSWER: usize = 700;
const SUMMARY: usize = 120;

/// A history in a store of its own, each turn a commit with a summary.
pub(super) struct History {
    pub(super) store: Contexture,
    pub(super) commits: Vec<CommitId>,
}

impl History {
    pub(super) async fn write(directory: &Path, turns: u64) -> Result<Self> {
        let mut history = Self { store: subject::open(directory).await?, commits: Vec::new() };
        for _ in 0..turns {
            history.go_on().await?;
        }
        Ok(history)
    }

    /// Adds a turn.
    pub(super) async fn go_on(&mut self) -> Result<CommitId> {
        let n = self.commits.len() as u64;
        let known = subject::checkpoint(Some("main"), None)?;
        let mut request = Checkpoint { format: Format::new("anthropic-messages-v1")?, ..known };
        request = request.summary(SummaryText::new(Payloads::new(SUMMARY).text(n))?);
        if n == 0 {
            // A session says these once, and again when they change.
            for (key, value) in [("cwd", "/src"), ("branch", "main"), ("model", "claude-opus-4-8")] {
                let (key, value) = (LabelKey::new(key)?, SummaryText::new(value)?);
                request.annotations.push(Annotation::Label { key, value });
            }
        }
        let made = self.store.checkpoint(request, CheckpointContent::Bytes(turn(n).to_string().into_bytes())).await?;
        self.commits.push(made.id);
        Ok(made.id)
    }
}

/// Returns the messages of a history, turn by turn.
pub(super) fn turns(count: u64) -> impl Iterator<Item = Value> {
    (0..count).map(turn)
}

/// Returns the nth turn, as messages of Anthropic's API.
fn turn(n: u64) -> Value {
    let text = |bytes: usize, part: u64| Payloads::new(bytes).text(n * 8 + part);
    let call = |k: u64| {
        let input = json!({"command": text(80, k)});
        json!({"role": "assistant", "content": [
            {"type": "tool_use", "id": format!("call_{n}_{k}"), "name": "run", "input": input},
        ]})
    };
    let result = |k: u64| {
        json!({"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": format!("call_{n}_{k}"), "content": text(RESULT, 4 + k)},
        ]})
    };
    json!([
        {"role": "user", "content": text(QUESTION, 2)},
        call(0),
        result(0),
        call(1),
        result(1),
        {"role": "assistant", "content": text(ANSWER, 3)},
    ])
}
