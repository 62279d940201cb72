//! Turns: what somebody asked, and all that was done until the next request, told as one.

use std::collections::{HashSet, VecDeque};

use contexture_core::{CommitId, CommitKind, EntryPart, Role, Trigger};
use contexture_formats::edit;
use contexture_store::commit::StoredCommit;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Contexture, LogStart, Result, Walk};

/// Commits that are folded into one turn.
const MAX_TURN_COMMITS: usize = 256;
/// Bytes of content that are read to tell what was done in a turn.
const MAX_TURN_BYTES: u64 = 32 * 1024 * 1024;
/// Files and tools that are named.
const MAX_NAMED: usize = 64;
/// Letters that are kept of what was said.
const MAX_SAID: usize = 1000;
/// Commits that are asked for at once.
const PAGE: u32 = 64;

/// A turn in a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoggedTurn {
    /// Its commits, the newest first. There is one at least.
    pub commits: Vec<StoredCommit>,
    /// What was asked: the summary of its first commit, else the words of the first request in it.
    pub request: Option<String>,
    /// What came of it.
    pub outcome: TurnOutcome,
}

/// What was done in a turn.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TurnOutcome {
    /// The tools that were called, in the order of their first calls.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<ToolUse>,
    /// The files that calls were to change, as the calls name them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// What the agent said last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub said: Option<String>,
    /// Whether there was more than is read for it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_cut: bool,
}

/// How often a tool was called.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ToolUse {
    /// Its name.
    pub name: String,
    /// How often.
    pub calls: u64,
}

/// A walk over the turns of a history, newest first.
pub struct TurnWalk {
    engine: Contexture,
    walk: Walk,
    /// Commits that stand for themselves.
    marked: HashSet<CommitId>,
    ready: VecDeque<StoredCommit>,
    /// Commits that were told with a turn before the walk came by.
    folded: HashSet<CommitId>,
}

impl LoggedTurn {
    /// Returns its newest commit, which stands for it.
    pub fn last(&self) -> &StoredCommit {
        self.commits.first().expect("a turn has a commit")
    }

    /// Returns its oldest commit.
    pub fn first(&self) -> &StoredCommit {
        self.commits.last().expect("a turn has a commit")
    }
}

impl Contexture {
    /// Starts a walk over the turns of a history, newest first.
    ///
    /// Commits that were made at tool calls are told with the commit that ends their turn, unless they are marked or
    /// something else goes on from them.
    pub async fn turns(&self, start: LogStart, marked: HashSet<CommitId>) -> Result<TurnWalk> {
        let walk = self.walk(start).await?;
        Ok(TurnWalk { engine: self.clone(), walk, marked, ready: VecDeque::new(), folded: HashSet::new() })
    }

    /// Reads what was asked and done in the commits of a turn, which are given newest first.
    async fn told(&self, commits: Vec<StoredCommit>) -> Result<LoggedTurn> {
        let (mut outcome, mut request, mut left) = (TurnOutcome::default(), None, MAX_TURN_BYTES);
        for stored in commits.iter().rev() {
            let size = self.stat_artifact(stored.commit.artifact).await.map(|stat| stat.size);
            // Whoever looks at many turns wants to see the others.
            let Some(rest) = size.ok().and_then(|size| left.checked_sub(size)) else {
                outcome.is_cut = true;
                continue;
            };
            left = rest;
            let Ok(entries) = self.said_in(stored.id).await else { continue };
            for entry in entries {
                match entry.role {
                    Role::Assistant => entry.parts.iter().for_each(|part| outcome.add(part)),
                    Role::User if request.is_none() && entry.flags.is_plain() => request = words(&entry.parts),
                    Role::User | Role::System | Role::Tool => {}
                }
            }
        }
        let summary = commits.last().and_then(|first| first.annotations.summary.as_ref());
        let request = summary.map(|text| text.as_str().to_owned()).or(request);
        Ok(LoggedTurn { commits, request, outcome })
    }
}

impl TurnWalk {
    /// Tells whether the whole walk, from its start, comes by a commit.
    pub fn reaches(&self, commit: &StoredCommit) -> bool {
        self.walk.reaches(commit)
    }

    /// Returns the next turn; none at the end.
    pub async fn next(&mut self) -> Result<Option<LoggedTurn>> {
        loop {
            let Some(next) = self.ready.pop_front() else {
                let page = self.walk.next(PAGE).await?;
                if page.is_empty() {
                    return Ok(None);
                }
                self.ready.extend(page);
                continue;
            };
            if !self.folded.remove(&next.id) {
                let commits = self.fold(next).await?;
                return self.engine.told(commits).await.map(Some);
            }
        }
    }

    /// Returns the commits of the turn that ends with one, the newest first.
    async fn fold(&mut self, last: StoredCommit) -> Result<Vec<StoredCommit>> {
        let mut commits = vec![last];
        while let Some(child) = commits.last().filter(|_| commits.len() < MAX_TURN_COMMITS) {
            let Some(parent) =
                child.commit.parent.filter(|parent| !begins_turn(child) && !self.marked.contains(parent))
            else {
                break;
            };
            let parent = self.engine.show(parent).await?;
            // What a runtime notes when it ends belongs to the turn before.
            let is_last_note = child.commit.trigger == Trigger::SessionEnd && commits.len() == 1;
            let is_step = parent.commit.trigger == Trigger::ToolCall || is_last_note;
            let is_step = is_step && parent.commit.kind == CommitKind::Delta;
            let is_same = parent.commit.provenance.session == child.commit.provenance.session;
            if !is_step || !is_same || self.engine.children(parent.id, 2).await?.len() > 1 {
                break;
            }
            self.folded.insert(parent.id);
            commits.push(parent);
        }
        Ok(commits)
    }
}

/// Tells whether a commit begins with a request, or is none of what a turn is made of.
fn begins_turn(stored: &StoredCommit) -> bool {
    stored.annotations.summary.is_some() || stored.commit.kind != CommitKind::Delta || !stored.commit.merges.is_empty()
}

impl TurnOutcome {
    /// Tells whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty() && self.files.is_empty() && self.said.is_none()
    }

    /// Returns how many calls there were.
    pub fn calls(&self) -> u64 {
        self.tools.iter().map(|tool| tool.calls).sum()
    }

    fn add(&mut self, part: &EntryPart) {
        match part {
            EntryPart::Text { text } if !text.trim().is_empty() => {
                self.said = Some(text.trim().chars().take(MAX_SAID).collect());
            }
            EntryPart::ToolCall { name, input, .. } => {
                match self.tools.iter().position(|tool| tool.name == *name) {
                    Some(known) => self.tools[known].calls += 1,
                    None if self.tools.len() < MAX_NAMED => {
                        self.tools.push(ToolUse { name: name.clone(), calls: 1 });
                    }
                    None => self.is_cut = true,
                }
                let edits = edit::of(input).into_iter().chain(edit::by_commands(input));
                for path in edits.filter_map(|edit| edit.path) {
                    if self.files.contains(&path) {
                        continue;
                    }
                    if self.files.len() == MAX_NAMED {
                        self.is_cut = true;
                        return;
                    }
                    self.files.push(path);
                }
            }
            EntryPart::Text { .. }
            | EntryPart::Thinking { .. }
            | EntryPart::ToolResult { .. }
            | EntryPart::Blob { .. }
            | EntryPart::Summary { .. }
            | EntryPart::Native { .. } => {}
        }
    }
}

/// Returns the first words of a message.
fn words(parts: &[EntryPart]) -> Option<String> {
    parts.iter().find_map(|part| match part {
        EntryPart::Text { text } if !text.trim().is_empty() => Some(text.trim().chars().take(MAX_SAID).collect()),
        _ => None,
    })
}
