//! Looking at commits: one, a history, children, lists, who knew what when.

use contexture_core::{CommitId, JournalKind};
use contexture_store::{
    Error as StoreError, Scope, Store, Tx,
    commit::{self, Filter, Moment, PageAfter, StoredCommit},
    journal,
};
use futures_util::FutureExt as _;

use crate::{
    Contexture, Result,
    lines::{Lines, Reach},
};

/// Which commits a log starts from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LogStart {
    /// These and all before them.
    Commits(Vec<CommitId>),
    /// Every commit of the space, by the journal: what came last first, however old it is.
    Everything,
    /// Every commit of the space, by the times that they carry.
    Timeline,
}

impl Contexture {
    /// Returns a commit.
    pub async fn show(&self, id: CommitId) -> Result<StoredCommit> {
        Ok(self.store.glance(self.scope(), id, |tx, id| commit::show(tx, id).boxed()).await?)
    }

    /// Returns up to `limit` commits whose parent is the given one, in the order they were made.
    pub async fn children(&self, id: CommitId, limit: u32) -> Result<Vec<StoredCommit>> {
        let reading = self.store.read(self.scope(), (id, limit), |tx, (id, limit)| {
            async move {
                let place = commit::require(tx, id).await?;
                commit::children(tx, place, *limit).await
            }
            .boxed()
        });
        Ok(reading.await?)
    }

    /// Returns up to `limit` commits that pass a filter, newest first by the time they carry.
    pub async fn list(&self, filter: &Filter, after: Option<PageAfter>, limit: u32) -> Result<Vec<StoredCommit>> {
        let reading = self.store.read(self.scope(), (filter.clone(), after, limit), |tx, (filter, after, limit)| {
            commit::list(tx, filter, *after, *limit).boxed()
        });
        Ok(reading.await?)
    }

    /// Returns a principal's last commit at or before an instant: what it understood then.
    pub async fn resolve(&self, moment: &Moment) -> Result<Option<CommitId>> {
        let reading = self.store.glance(self.scope(), moment.clone(), |tx, moment| commit::resolve(tx, moment).boxed());
        Ok(reading.await?)
    }

    /// Starts a walk over history, newest first by the times that commits carry; a commit always comes before its parent.
    pub async fn walk(&self, start: LogStart) -> Result<Walk> {
        let scope = self.scope();
        let route = match start {
            LogStart::Everything => HistoryRoute::Journal { before: u64::MAX },
            LogStart::Timeline => {
                let planning = self.store.read(scope.clone(), (), |tx, ()| Lines::all(tx).boxed());
                HistoryRoute::Lines(planning.await?, None)
            }
            LogStart::Commits(ids) => {
                let planning = self.store.read(scope.clone(), ids, |tx, ids| Lines::latest_first(tx, ids).boxed());
                let (lines, reach) = planning.await?;
                HistoryRoute::Lines(lines, Some(reach))
            }
        };
        Ok(Walk { store: self.store.clone(), scope, route })
    }
}

/// A walk over history, newest first, in pages.
pub struct Walk {
    store: Store,
    scope: Scope,
    route: HistoryRoute,
}

enum HistoryRoute {
    /// Back through the journal, which knows every commit.
    Journal { before: u64 },
    /// Back through the lines that the start descends from, each up to where it does; without a reach, through all.
    Lines(Lines, Option<Reach>),
}

impl Walk {
    /// Tells whether the whole walk, from its start, comes by a commit of the space.
    pub fn reaches(&self, commit: &StoredCommit) -> bool {
        match &self.route {
            HistoryRoute::Journal { .. } | HistoryRoute::Lines(_, None) => true,
            HistoryRoute::Lines(_, Some(reach)) => {
                reach.get(&commit.place.line).is_some_and(|last| commit.place.position <= *last)
            }
        }
    }

    /// Returns up to `limit` further commits; none at the end.
    pub async fn next(&mut self, limit: u32) -> Result<Vec<StoredCommit>> {
        match &mut self.route {
            HistoryRoute::Journal { before } => {
                let mut page = Vec::new();
                while page.is_empty() && *before > 1 {
                    let from = *before;
                    let reading = self.store.read(self.scope.clone(), (from, limit), |tx, &(from, limit)| {
                        commits_before(tx, from, limit).boxed()
                    });
                    (page, *before) = reading.await?;
                }
                Ok(page)
            }
            HistoryRoute::Lines(lines, _) => {
                let mut page = Vec::new();
                while page.len() < limit as usize {
                    let Some(commit) = lines.next(&self.store, &self.scope).await? else {
                        break;
                    };
                    page.push(commit);
                }
                Ok(page)
            }
        }
    }
}

/// Returns the commits among the `limit` journal records before a sequence number, and where to go on.
async fn commits_before(tx: &mut Tx<'_>, before: u64, limit: u32) -> Result<(Vec<StoredCommit>, u64), StoreError> {
    let records = journal::before(tx, before, limit).await?;
    let next = records.last().map_or(0, |record| record.seq);
    let mut commits = Vec::new();
    for record in records.iter().filter(|record| record.kind == JournalKind::CommitCreated) {
        let id = record
            .subject
            .parse()
            .map_err(|_| StoreError::Damaged { what: format!("journal record {} names no commit", record.seq) })?;
        commits.push(commit::show(tx, &id).await?);
    }
    Ok((commits, next))
}
