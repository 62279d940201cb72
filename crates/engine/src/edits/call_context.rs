//! The occasion of a call: what was asked for, and what was thought before it.

use contexture_core::{CommitId, Entry, EntryPart, Role, Timestamp};
use contexture_formats::{DisplayItem, display_items};
use contexture_store::commit::StoredCommit;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Contexture, LogStart, Result};

/// Commits that a turn may have.
const MAX_TURN_COMMITS: u32 = 256;
/// Commits that are asked for at once.
const PAGE: u32 = 16;

/// What led to a call, or to the end of a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallContext {
    /// The commit.
    pub commit: StoredCommit,
    /// What the turn was begun with.
    pub request: Option<Request>,
    /// What the model said or thought last before.
    pub reasoning: Option<Reasoning>,
}

/// What somebody asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Request {
    /// The commit that holds it.
    pub commit: CommitId,
    /// The words.
    pub text: String,
    /// When it was asked.
    pub at: Timestamp,
}

/// What a model said or thought.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Reasoning {
    /// Whether it was said.
    pub kind: Thought,
    /// The words.
    pub text: String,
}

/// Whether something was said or only thought.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Thought {
    /// To the user.
    Said,
    /// Before speaking.
    Thinking,
}

impl Contexture {
    /// Finds what led to a call of a commit, or to the commit's end: back to where the turn began, in bounds.
    pub async fn call_context(&self, commit: CommitId, call: Option<&str>) -> Result<CallContext> {
        let mut walk = self.walk(LogStart::Commits(vec![commit])).await?;
        let mut occasion = CallContext { commit: self.show(commit).await?, request: None, reasoning: None };
        let mut left = MAX_TURN_COMMITS;
        let mut call = call;
        while left > 0 {
            let page = walk.next(PAGE).await?;
            if page.is_empty() {
                break;
            }
            for stored in page {
                let entries = self.said_in(stored.id).await?;
                // Only the first commit holds the call.
                let end = call.take().and_then(|call| position_of(&entries, call)).unwrap_or((entries.len(), 0));
                if occasion.look_back(&stored, &entries, end) {
                    return Ok(occasion);
                }
                left = left.saturating_sub(1);
            }
        }
        Ok(occasion)
    }

    pub(crate) async fn said_in(&self, commit: CommitId) -> Result<Vec<Entry>> {
        let items = display_items(self.steps_of(commit).await?.unwrap_or_default());
        let entry = |item| match item {
            DisplayItem::Entry(entry) => Some(*entry),
            DisplayItem::Rewind(_) => None,
        };
        Ok(items.into_iter().filter_map(entry).collect())
    }
}

impl CallContext {
    /// Looks through entries before a place, newest first. Tells whether the turn began there.
    fn look_back(&mut self, stored: &StoredCommit, entries: &[Entry], (entry, part): (usize, usize)) -> bool {
        let inside = entries.get(entry).map(|entry| (entry, &entry.parts[..part]));
        let before = entries[..entry].iter().rev().map(|entry| (entry, &entry.parts[..]));
        for (entry, parts) in inside.into_iter().chain(before) {
            match entry.role {
                Role::Assistant if self.reasoning.is_none() && !entry.flags.synthetic => {
                    self.reasoning = parts.iter().rev().find_map(thought);
                }
                Role::User if entry.flags.is_plain() || entry.flags.side_chain => {
                    let text = words(parts);
                    if !text.is_empty() {
                        let at = entry.at.unwrap_or(stored.commit.created_at);
                        self.request = Some(Request { commit: stored.id, text, at });
                        return true;
                    }
                }
                Role::User | Role::Assistant | Role::System | Role::Tool => {}
            }
        }
        false
    }
}

/// Returns where a call is: in which entry, and which part of it.
fn position_of(entries: &[Entry], call: &str) -> Option<(usize, usize)> {
    entries.iter().enumerate().rev().find_map(|(number, entry)| {
        let is_call = |part: &EntryPart| matches!(part, EntryPart::ToolCall { id, .. } if id == call);
        Some((number, entry.parts.iter().position(is_call)?))
    })
}

fn thought(part: &EntryPart) -> Option<Reasoning> {
    let (kind, text) = match part {
        EntryPart::Text { text } => (Thought::Said, text),
        EntryPart::Thinking { text, .. } => (Thought::Thinking, text),
        EntryPart::ToolCall { .. }
        | EntryPart::ToolResult { .. }
        | EntryPart::Blob { .. }
        | EntryPart::Summary { .. }
        | EntryPart::Native { .. } => {
            return None;
        }
    };
    let text = text.trim();
    (!text.is_empty()).then(|| Reasoning { kind, text: text.to_owned() })
}

fn words(parts: &[EntryPart]) -> String {
    let text = |part: &EntryPart| match part {
        EntryPart::Text { text } => Some(text.trim().to_owned()),
        _ => None,
    };
    parts.iter().filter_map(text).filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n")
}
