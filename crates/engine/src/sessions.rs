//! Sessions: which there are, which of them are of this project, and what each came to.

use std::{
    collections::{HashMap, HashSet},
    path::Path,
};

use contexture_core::{CommitId, HeadName, RuntimeSessionId, SummaryText};
use contexture_store::{
    Tx,
    session::{self, SessionMeasures, StoredSession},
};
use futures_util::FutureExt as _;

use crate::{Contexture, Error, ProjectScope, Result};

/// Heads that are read at once.
const HEADS_PER_PAGE: u32 = 1000;
/// Letters of an id that are shown at least.
const MIN_SHORT_LETTERS: usize = 8;

/// A session in the list of those that the handle knows of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedSession {
    /// The session.
    pub session: StoredSession,
    /// Whether it was begun in the project that the handle stands in.
    pub is_here: bool,
    /// Its place among the sessions of the project, the newest of which is 1. Those of other projects and of sub-agents have
    /// none.
    pub number: Option<u32>,
    /// The beginning of its id that no other listed session's id has, of 8 letters at least.
    pub short_id: String,
}

impl ListedSession {
    /// The most sessions that are listed. Older ones are known by their ids.
    pub const MAX: u32 = 10_000;
}

impl Contexture {
    /// Returns the newest 10,000 sessions of the space, the one with the newest commit first.
    ///
    /// Of each, only its first and its newest commit are read.
    pub async fn sessions(&self) -> Result<Vec<ListedSession>> {
        let reading = self.store.read(self.scope(), (), |tx, ()| session::list(tx, ListedSession::MAX).boxed());
        Ok(listed(reading.await?, self.project_scope().as_deref()))
    }

    /// Returns what a session came to. At most 10,000 of its commits are counted, and no content is read.
    pub async fn measure_session(&self, session: &StoredSession) -> Result<SessionMeasures> {
        let reading =
            self.store.read(self.scope(), session.clone(), |tx, session| session::measure(tx, session).boxed());
        Ok(reading.await?)
    }

    /// Returns where the histories of the project end that the handle stands in: its sessions, and the heads of chains that
    /// name a directory of it, or none.
    pub async fn tips_here(&self) -> Result<Vec<CommitId>> {
        let sessions = self.sessions().await?;
        let mut of_heads: HashMap<HeadName, bool> = HashMap::new();
        let (mut tips, mut is_known) = (Vec::new(), HashSet::new());
        for listed in sessions {
            match listed.session.head {
                Some(head) => drop(of_heads.insert(head, listed.is_here)),
                None if listed.is_here && is_known.insert(listed.session.tip.id) => tips.push(listed.session.tip.id),
                None => {}
            }
        }
        let mut after: Option<HeadName> = None;
        loop {
            let page = self.heads("", after.as_ref(), HEADS_PER_PAGE).await?;
            let Some(last) = page.last() else { return Ok(tips) };
            after = Some(last.name.clone());
            for head in page {
                let is_here = match of_heads.get(&head.name) {
                    Some(is_here) => *is_here,
                    None => self.is_of_project(head.commit).await?,
                };
                if is_here && is_known.insert(head.commit) {
                    tips.push(head.commit);
                }
            }
        }
    }

    /// Tells whether a commit was made in the project that the handle stands in. One that names no directory is everywhere.
    pub async fn is_of_project(&self, commit: CommitId) -> Result<bool> {
        let Some(project) = self.project_scope() else { return Ok(true) };
        let reading = self.store.glance(self.scope(), commit, |tx, id| session::directory_at(tx, id).boxed());
        Ok(reading.await?.is_none_or(|directory| project.has(Path::new(&directory))))
    }

    /// Returns what a commit, or the nearest one before it, is labelled with under a key.
    pub async fn label_before(&self, commit: CommitId, key: &'static str) -> Result<Option<SummaryText>> {
        let asked = (commit, key);
        let reading =
            self.store.read(self.scope(), asked, |tx, (commit, key)| session::label_before(tx, commit, key).boxed());
        Ok(reading.await?)
    }

    /// Returns the last session of the project that the handle stands in.
    pub async fn last_session(&self) -> Result<StoredSession> {
        let here = self.sessions().await?.into_iter().find(|listed| listed.number == Some(1));
        here.map(|listed| listed.session).ok_or_else(|| none_here(self.project()))
    }
}

/// Returns the session that has a number in a project.
pub(crate) async fn numbered(tx: &mut Tx<'_>, project: Option<&ProjectScope>, number: u32) -> Result<RuntimeSessionId> {
    let sessions = listed(session::list(tx, ListedSession::MAX).await?, project);
    let here = sessions.iter().filter_map(|listed| listed.number).count() as u64;
    let found = sessions.into_iter().find(|listed| listed.number == Some(number));
    found.map(|listed| listed.session.id).ok_or_else(|| match here {
        0 => none_here(project.map(ProjectScope::top)),
        sessions => Error::NoSessionNumber { number, sessions },
    })
}

fn listed(sessions: Vec<StoredSession>, project: Option<&ProjectScope>) -> Vec<ListedSession> {
    let mut ids: Vec<String> = sessions.iter().map(|session| session.id.as_str().to_owned()).collect();
    ids.sort_unstable();
    let mut last = 0;
    let number = |session: StoredSession| {
        let directory = session.directory.as_deref().map(Path::new);
        let is_here = project.is_none_or(|project| directory.is_some_and(|directory| project.has(directory)));
        let number = (is_here && session.parent.is_none()).then(|| {
            last += 1;
            last
        });
        let short_id = short_id(session.id.as_str(), &ids);
        ListedSession { session, is_here, number, short_id }
    };
    sessions.into_iter().map(number).collect()
}

/// Returns the beginning of an id by which it is told from all others, which are in order.
fn short_id(id: &str, ids: &[String]) -> String {
    let at = ids.partition_point(|other| other.as_str() < id);
    let shared = |other: Option<&String>| {
        other.map_or(0, |other| other.chars().zip(id.chars()).take_while(|(a, b)| a == b).count())
    };
    let before = at.checked_sub(1).and_then(|before| ids.get(before));
    let letters = shared(before).max(shared(ids.get(at + 1))) + 1;
    id.chars().take(letters.max(MIN_SHORT_LETTERS)).collect()
}

fn none_here(project: Option<&Path>) -> Error {
    Error::NoSessions { project: project.map(Path::to_owned) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_cut_to_what_tells_it_from_the_others() {
        let ids = ["019f0000-0001", "019f0000-0002", "0c3f1a2b-7777", "é"].map(str::to_owned);
        let short = |at: usize| short_id(&ids[at], &ids);
        assert_eq!([short(0), short(1)], ["019f0000-0001", "019f0000-0002"]);
        assert_eq!([short(2), short(3)], ["0c3f1a2b", "é"]);
    }
}
