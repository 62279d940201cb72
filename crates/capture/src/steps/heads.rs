//! Heads: where the names of a session point while its records are cut into steps.

use std::collections::{BTreeMap, BTreeSet};

use contexture_core::{CommitId, GivenSessionId, HeadName};

use super::Steps;

/// Where a head of a session belongs, by what one file of it says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HeadClaim {
    pub(crate) name: HeadName,
    /// Where it belonged by what the file said before.
    pub(crate) before: Option<CommitId>,
    pub(crate) target: CommitId,
    pub(crate) authority: HeadAuthority,
}

/// How much a claim counts against what others say of the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HeadAuthority {
    /// The file is not read to its end, so nobody is contradicted.
    Passing,
    /// This is where the file ends.
    Ending,
    /// This is where a file ends that held something else before.
    Rewritten,
}

/// The heads of the session in a file.
#[derive(Debug, Default)]
pub(super) struct SessionHeads {
    /// Where they point.
    places: BTreeMap<HeadName, CommitId>,
    /// The same when they were taken out the last time.
    claimed: BTreeMap<HeadName, CommitId>,
    /// The lanes that have the heads of sessions, which tell where those are now.
    leading: BTreeMap<HeadName, usize>,
    /// Those that have moved since the file was opened.
    moved: BTreeSet<HeadName>,
    is_rewritten: bool,
    is_settled: bool,
}

impl SessionHeads {
    /// Goes on where an earlier import ended.
    pub(super) fn at(known: impl Iterator<Item = (usize, HeadName, Option<CommitId>)>) -> Self {
        let mut heads = Self::default();
        for (lane, name, tip) in known {
            heads.places.extend(tip.map(|tip| (name.clone(), tip)));
            heads.leading.insert(name, lane);
        }
        heads.claimed.clone_from(&heads.places);
        heads
    }

    /// Points a head to a commit.
    pub(super) fn place(&mut self, name: HeadName, commit: CommitId) {
        self.moved.insert(name.clone());
        self.places.insert(name, commit);
    }

    pub(super) fn is_rewritten(&mut self) {
        self.is_rewritten = true;
    }

    pub(super) fn settle(&mut self) {
        self.is_settled = true;
    }

    /// Takes out what has moved since the last time, and in the end all that has.
    pub(super) fn claims(&mut self) -> Vec<HeadClaim> {
        let authority = match (self.is_settled, self.is_rewritten) {
            (false, _) => HeadAuthority::Passing,
            (true, false) => HeadAuthority::Ending,
            (true, true) => HeadAuthority::Rewritten,
        };
        let mut claims = Vec::new();
        for name in &self.moved {
            let (before, target) = (self.claimed.get(name).copied(), self.places[name]);
            if self.is_settled || before != Some(target) {
                claims.push(HeadClaim { name: name.clone(), before, target, authority });
            }
        }
        self.claimed.clone_from(&self.places);
        claims
    }
}

impl Steps {
    /// Returns the head of a session, or of the agent that the file is of: where that is now.
    pub(super) fn main_head(&self, session: Option<&GivenSessionId>) -> Option<HeadName> {
        let session = session.or(self.session.as_ref()).unwrap_or(&self.fallback_session);
        let session = HeadName::part(session.as_str());
        HeadName::new(match &self.settings.agent {
            Some(agent) => format!("session/{session}/agent-{}", HeadName::part(agent)),
            None => format!("session/{session}"),
        })
        .ok()
    }

    /// Returns the head of a conversation beside the one that started it.
    pub(super) fn head_beside(&self, key: &str, number: usize) -> Option<HeadName> {
        let main = self.main_head(None)?;
        HeadName::new(match self.settings.agent {
            Some(_) => format!("{main}/branch-{number}"),
            None => format!("{main}/agent-{}", HeadName::part(key)),
        })
        .ok()
    }

    /// Takes the head of the session for the lane with a number, which leaves another one: the session goes on there. What
    /// had the head before becomes a branch. Lanes beside the conversation hand on their own heads.
    pub(super) fn take_over(&mut self, left: usize, number: usize) -> Option<HeadName> {
        let main = self.main_head(self.lanes[left].state.session.as_ref())?;
        let branch = |number: usize| HeadName::new(format!("{main}/branch-{number}")).ok();
        let is_branch = |head: &HeadName| head.as_str().starts_with(&format!("{main}/branch-"));
        let is_of_session = self.lanes[left].state.head.as_ref().is_none_or(|head| *head == main || is_branch(head));
        let holder = self.leading(&main).filter(|_| is_of_session).unwrap_or(left);
        let head = self.lanes[holder].state.head.take();
        self.name(holder, branch(number));
        if head.as_ref() == Some(&main) {
            self.heads.leading.insert(main, number);
        }
        head
    }

    /// Gives the head of the session to the lane that its runtime says it is at.
    pub(super) fn lead_with(&mut self, leaf: usize) {
        let Some(led) = self.lanes.get(leaf).filter(|led| !led.is_side) else { return };
        let Some(main) = self.main_head(led.state.session.as_ref()) else { return };
        let Some(holder) = self.leading(&main).filter(|at| *at != leaf) else { return };
        let branch = self.lanes[leaf].state.head.take();
        self.name(holder, branch);
        self.heads.leading.insert(main.clone(), leaf);
        self.name(leaf, Some(main));
    }

    /// Returns the lane that has the head of a session.
    pub(super) fn leading(&self, main: &HeadName) -> Option<usize> {
        self.heads.leading.get(main).copied()
    }

    /// Gives a lane that begins the head of its session.
    pub(super) fn lead_anew(&mut self, number: usize, session: Option<&GivenSessionId>) -> Option<HeadName> {
        let main = self.main_head(session)?;
        self.heads.leading.insert(main.clone(), number);
        Some(main)
    }

    /// Names a lane, and points the head to what it holds.
    fn name(&mut self, lane: usize, head: Option<HeadName>) {
        let state = &mut self.lanes[lane].state;
        state.head = head;
        if let Some((head, tip)) = state.head.clone().zip(state.tip) {
            self.heads.place(head, tip);
        }
    }
}
