//! What is kept of a file between two imports.

use contexture_core::{CommitId, GivenSessionId, HeadName, Template, Timestamp};
use contexture_formats::thread::ThreadState;
use serde::{Deserialize, Serialize};

use super::{labels::Labels, timing::StepTiming, turns::Turns};
use crate::file_stamp::FileStamp;

/// What is needed to go on with the rest of a file.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct State {
    pub(super) threads: ThreadState,
    pub(super) lanes: Vec<LaneState>,
    pub(super) last_at: Option<Timestamp>,
    pub(crate) session: Option<GivenSessionId>,
    pub(super) version: Option<String>,
    /// The role that the agent has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) role: Option<Template>,
    /// Which record of a commit says when it was made.
    #[serde(default)]
    pub(super) timing: StepTiming,
    /// The session that started this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) parent: Option<Parent>,
    /// What the file was when it was taken in to its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) stamp: Option<FileStamp>,
    /// How far a document was taken in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) taken: Option<Taken>,
}

/// The session that started another one, and what was found there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Parent {
    /// The session.
    pub(crate) session: GivenSessionId,
    /// What the turn that did it says, best first.
    pub(crate) said: Vec<String>,
    /// The first commit of the one that was started.
    pub(crate) first: Option<CommitId>,
    /// Whether the turn was found.
    pub(crate) is_found: bool,
    /// How many commits were searched in vain.
    pub(crate) searched: u64,
}

/// The records of a document that were taken in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Taken {
    /// How many.
    pub(crate) records: u64,
    /// Where the last ends.
    pub(crate) end: u64,
    /// Digest of what must not have changed for the next ones to follow them.
    pub(crate) digest: [u8; 32],
}

/// What is needed to go on with a conversation.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct LaneState {
    pub(super) head: Option<HeadName>,
    /// The session that it is of, where one file holds several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) session: Option<GivenSessionId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) follow: Option<HeadName>,
    pub(super) tip: Option<CommitId>,
    #[serde(alias = "by_turn")]
    pub(super) turns: Turns,
    pub(super) labels: Labels,
    /// What is asked in a turn that was taken in before it was over, for those who go back to there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) prompt: Option<Prompt>,
    /// Whether nothing was added yet to what it was grafted from.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) is_graft: bool,
}

/// The records of a turn up to what is asked.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Prompt {
    pub(super) turn: u32,
    pub(super) records: String,
}

impl State {
    /// Says what the file was when it was taken in to its end.
    pub(crate) fn stamped(self, stamp: Option<FileStamp>) -> Self {
        Self { stamp, ..self }
    }

    /// Returns the last commit of each conversation.
    pub(crate) fn tips(&self) -> Vec<CommitId> {
        self.lanes.iter().filter_map(|lane| lane.tip).collect()
    }
}
