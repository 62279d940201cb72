//! Writing: the jobs that wait for one space go together in one transaction, while those of other spaces go beside it.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use contexture_core::{ChainDigest, SpaceName};

use super::{
    Server,
    connection::PgConnection,
    memory::Recalled,
    one_statement::Assumption,
    trouble::{Patience, Remedy, Trouble},
};
use crate::{
    Error, Result,
    job::{self, Group, GroupConnection as _, Job, Kept},
    sql::{Connection as _, Entrance, Param},
};

/// Most jobs in one transaction. Bounds how long the first of them waits for the last.
const MAX_GROUP: usize = 256;
/// Longest wait for writers that are expected to come back. Less than a commit takes.
const GATHER_TIME: Duration = Duration::from_micros(200);

/// The jobs that wait, by space. A space that is listed has somebody who serves it.
#[derive(Default)]
pub(super) struct Writers {
    waiting: Mutex<HashMap<SpaceName, VecDeque<Box<dyn Job>>>>,
}

/// How an attempt to commit a group failed.
enum Failure {
    /// Nothing was kept.
    Nothing(Trouble),
    /// The connection broke while the server was told to commit. If it did, its journal has this record.
    Unknown(Trouble, JournalEnd),
    /// Nothing was kept, because what was remembered of the space does not hold any more.
    Stale,
}

/// The last journal record of a transaction.
type JournalEnd = (u64, ChainDigest);

impl Writers {
    pub(super) fn submit(self: &Arc<Self>, server: &Arc<Server>, job: Box<dyn Job>) {
        let space = job.scope().space.clone();
        let is_served = {
            let mut waiting = self.waiting();
            let is_served = waiting.contains_key(&space);
            waiting.entry(space.clone()).or_default().push_back(job);
            is_served
        };
        if !is_served {
            tokio::spawn(Arc::clone(self).serve(Arc::clone(server), space));
        }
    }

    /// Commits what waits for a space until nothing does.
    async fn serve(self: Arc<Self>, server: Arc<Server>, space: SpaceName) {
        let mut last_group = 0;
        while let Some(mut group) = self.gather(&space, last_group).await {
            last_group = group.len();
            let committed = server.commit(&space, &mut group).await;
            let is_about_one = matches!(committed, Err(Error::Database { .. }));
            if is_about_one && last_group > 1 {
                for job in group {
                    server.commit_alone(&space, job).await;
                }
            } else {
                job::answer_group(group, &committed);
            }
        }
    }

    /// Takes the jobs that wait, and those about to come; nothing when there are none, and then nobody serves the space.
    ///
    /// Writers that were just answered together come back together. To begin with the first of them alone would make it
    /// pay for a commit while all others wait, so a group that follows a larger one gives them a moment.
    async fn gather(&self, space: &SpaceName, last_group: usize) -> Option<Group> {
        let deadline = Instant::now() + GATHER_TIME;
        let count = || self.waiting().get(space).map_or(0, VecDeque::len);
        while count() <= last_group / 2 && last_group > 1 && Instant::now() < deadline {
            tokio::task::yield_now().await;
        }
        let mut waiting = self.waiting();
        let queue = waiting.get_mut(space)?;
        let group: Group = queue.drain(..queue.len().min(MAX_GROUP)).collect();
        if group.is_empty() {
            waiting.remove(space);
            return None;
        }
        Some(group)
    }

    fn waiting(&self) -> MutexGuard<'_, HashMap<SpaceName, VecDeque<Box<dyn Job>>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Server {
    /// Commits a group, again when that may help. An error means that nothing of the group was acknowledged.
    async fn commit(&self, space: &SpaceName, group: &mut Group) -> Result<()> {
        let mut patience = Patience::new(self.url.retry);
        let mut lost = None;
        loop {
            let trouble = match self.try_commit(space, group, lost).await {
                Ok(()) => return Ok(()),
                // What did not hold is forgotten, so this happens once.
                Err(Failure::Stale) => continue,
                Err(Failure::Nothing(trouble)) => trouble,
                Err(Failure::Unknown(trouble, tip)) => {
                    self.mend(&trouble);
                    // Whatever keeps this from being found out, what the caller must know is that it is unknown.
                    match self.was_committed(space, tip, &mut patience).await {
                        Err(_) => return Err(trouble.error),
                        Ok(true) => return Ok(()),
                        Ok(false) => {
                            // A server that had not read it yet when it was asked may still do so. Whoever commits next
                            // looks again under the lock, and takes the number in the journal that it needs.
                            lost = Some(tip);
                            trouble
                        }
                    }
                }
            };
            self.mend(&trouble);
            patience.after(trouble).await?;
        }
    }

    async fn commit_alone(&self, space: &SpaceName, job: Box<dyn Job>) {
        let mut group = vec![job];
        let committed = self.commit(space, &mut group).await;
        job::answer_group(group, &committed);
    }

    /// Commits a group once. `lost` is the last journal record of a transaction of the same group whose end was not heard
    /// of: when it turns up after all, nothing is left to do.
    async fn try_commit(&self, space: &SpaceName, group: &mut Group, lost: Option<JournalEnd>) -> Result<(), Failure> {
        let mut lease = self.lease().await.map_err(Failure::Nothing)?;
        let session = &mut lease.connection;
        session.write_to(space);
        let earlier = match self.memory.recall(space, group) {
            Recalled::All(entrance) if lost.is_none() => {
                return match self.commit_assuming(session, entrance, group).await {
                    Err(Failure::Stale) => {
                        // The transaction is rolled back or never began, and the connection is as good as before.
                        drop(session.roll_back().await);
                        lease.give_back();
                        Err(Failure::Stale)
                    }
                    Err(failure) => Err(failure),
                    Ok(()) => {
                        lease.give_back();
                        Ok(())
                    }
                };
            }
            Recalled::All(entrance) | Recalled::Some(entrance) => Some(entrance),
            Recalled::Nothing => None,
        };
        let look_ups = group.iter().flat_map(|job| job.foresight().look_ups()).cloned().collect();
        let run = async {
            session.begin_write().await?;
            let mut entrance = session.foresee(space, look_ups, earlier).await?;
            self.memory.compare(space, entrance.as_ref().and_then(|entrance| entrance.journal_tip));
            if let Some(lost) = lost
                && session.has_record(space, lost).await? == Some(true)
            {
                return Ok((Kept::Nothing, None));
            }
            Ok((job::run_group(session, group, &mut entrance).await?, entrance))
        };
        let (kept, entrance) = run.await.map_err(|error| Failure::Nothing(session.trouble_or(error)))?;
        session.end(kept).await?;
        self.memory.remember(space, entrance);
        lease.give_back();
        Ok(())
    }

    /// Commits a group that goes on from what is remembered of its space. Whatever fails then may only mean that somebody
    /// else has written there.
    async fn commit_assuming(
        &self,
        session: &mut PgConnection,
        entrance: Entrance,
        group: &mut Group,
    ) -> Result<(), Failure> {
        let Some((seq, chain)) = entrance.journal_tip else {
            return Err(Failure::Stale);
        };
        let space = entrance.name.clone();
        session.begin_assuming(Assumption { space: entrance.key, seq: seq.cast_signed(), chain: chain.0 });
        let mut entrance = Some(entrance);
        let stale_unless_lost = |trouble: Trouble| match trouble.remedy {
            Remedy::Reconnect => Failure::Nothing(trouble),
            // Whoever waited in vain for others to leave the space need not do so again.
            Remedy::None if matches!(trouble.error, Error::Busy(_)) => Failure::Nothing(trouble),
            Remedy::Rerun | Remedy::Wait | Remedy::None => Failure::Stale,
        };
        let kept = job::run_group(session, group, &mut entrance).await;
        let kept = kept.map_err(|error| stale_unless_lost(session.trouble_or(error)))?;
        let ended = session.end(kept).await;
        ended.map_err(|failure| match failure {
            Failure::Nothing(trouble) => stale_unless_lost(trouble),
            unknown @ (Failure::Unknown(..) | Failure::Stale) => unknown,
        })?;
        self.memory.remember(&space, entrance);
        Ok(())
    }

    /// Finds out whether a transaction whose end was not heard of was committed.
    async fn was_committed(&self, space: &SpaceName, tip: JournalEnd, patience: &mut Patience) -> Result<bool> {
        loop {
            match self.has_record(space, tip).await {
                Ok(answer) => return Ok(answer),
                Err(trouble) => {
                    self.mend(&trouble);
                    patience.after(trouble).await?;
                }
            }
        }
    }

    /// Tells whether the journal of a space has a record, once nobody writes to the space any more.
    async fn has_record(&self, space: &SpaceName, record: JournalEnd) -> Result<bool, Trouble> {
        let mut lease = self.lease().await?;
        let session = &mut lease.connection;
        session.write_to(space);
        let look = async {
            // The lost transaction may still be under way at the server; then it holds the space, and this waits.
            session.begin_write().await?;
            if let Some(found) = session.has_record(space, record).await? {
                return Ok(found);
            }
            // It may be about to make the space. A row of the same name waits for that, and conflicts with it.
            let sql = "INSERT INTO spaces (name, created_at) VALUES (?1, ?2)";
            session.execute(sql, &[space.as_str().into(), Param::Integer(0)]).await?;
            Ok(false)
        };
        let found: Result<bool> = look.await;
        match found {
            Ok(found) => {
                drop(session.roll_back().await);
                lease.give_back();
                Ok(found)
            }
            Err(error) => Err(session.trouble().unwrap_or_else(|| Trouble::hopeless(error))),
        }
    }
}

impl PgConnection {
    /// Ends a group's transaction.
    async fn end(&mut self, kept: Kept) -> Result<(), Failure> {
        match kept {
            // Nobody waits for this answer; a connection that fails here is found out when it is used next.
            Kept::Nothing => {
                drop(self.roll_back().await);
                Ok(())
            }
            Kept::Something(journal_tip) => {
                self.commit().await.map_err(|trouble| match (trouble.remedy, journal_tip) {
                    (Remedy::Reconnect, Some(tip)) => Failure::Unknown(trouble, tip),
                    _ => Failure::Nothing(trouble),
                })
            }
        }
    }

    /// Returns what went wrong with the transaction: the first failure, if the server told of one.
    fn trouble_or(&self, error: Error) -> Trouble {
        self.trouble().unwrap_or_else(|| Trouble::hopeless(error))
    }

    /// Tells whether the journal of the locked space has a record; nothing when there is no such space.
    async fn has_record(&mut self, space: &SpaceName, (seq, chain): JournalEnd) -> Result<Option<bool>> {
        let sql = "SELECT j.chain FROM spaces s LEFT JOIN journal j ON j.space = s.key AND j.seq = ?2 \
                   WHERE s.name = ?1";
        let rows = self.query(sql, &[space.as_str().into(), seq.cast_signed().into()]).await?;
        rows.first().map(|row| Ok(row.optional_blob(0)? == Some(&chain.0[..]))).transpose()
    }
}
