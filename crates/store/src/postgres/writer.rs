//! Writing: the jobs that wait for one space go together in one transaction, while those of other spaces go beside it.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use contexture_core::{ChainDigest, SpaceName};

use super::{
    Server,
    trouble::{Patience, Remedy, Trouble},
};
use crate::{
    Error, Foresight, Result,
    job::{self, Group, GroupConnection as _, Job, JobFn, Kept, Pending},
    sql::{Connection as _, Param, Scope},
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
    Unknown(Trouble, (u64, ChainDigest)),
}

impl Writers {
    pub(super) async fn submit<A, T, E>(
        self: &Arc<Self>,
        server: &Arc<Server>,
        scope: Scope,
        foresight: Foresight,
        args: A,
        work: JobFn<A, T, E>,
    ) -> Result<T, E>
    where
        A: Send + Sync + 'static,
        T: Send + 'static,
        E: From<Error> + Send + 'static,
    {
        let space = scope.space.clone();
        let (pending, answer) = Pending::new(scope, foresight, args, work);
        let is_served = {
            let mut waiting = self.waiting();
            let is_served = waiting.contains_key(&space);
            waiting.entry(space.clone()).or_default().push_back(Box::new(pending));
            is_served
        };
        if !is_served {
            tokio::spawn(Arc::clone(self).serve(Arc::clone(server), space));
        }
        answer.await.map_err(|_| Error::Closed)?
    }

    /// Commits what waits for a space until nothing does.
    async fn serve(self: Arc<Self>, server: Arc<Server>, space: SpaceName) {
        let mut last_group = 0;
        while let Some(mut group) = self.gather(&space, last_group).await {
            last_group = group.len();
            let committed = server.commit(&space, &mut group).await;
            let is_about_one = matches!(committed, Err(Error::Database { .. }));
            for job in group {
                if is_about_one && last_group > 1 {
                    server.commit_alone(&space, job).await;
                } else {
                    job.answer(committed.as_ref().copied().map_err(Error::again));
                }
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
        loop {
            let trouble = match self.try_commit(space, group).await {
                Ok(()) => return Ok(()),
                Err(Failure::Nothing(trouble)) => trouble,
                Err(Failure::Unknown(trouble, tip)) => {
                    self.mend(&trouble);
                    // Whatever keeps this from being found out, what the caller must know is that it is unknown.
                    match self.was_committed(space, tip, &mut patience).await {
                        Err(_) => return Err(trouble.error),
                        Ok(true) => return Ok(()),
                        Ok(false) => trouble,
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
        for job in group {
            job.answer(committed.as_ref().copied().map_err(Error::again));
        }
    }

    async fn try_commit(&self, space: &SpaceName, group: &mut Group) -> Result<(), Failure> {
        let mut lease = self.lease().await.map_err(Failure::Nothing)?;
        let session = &mut lease.connection;
        session.write_to(space);
        let foresight = group.iter().map(|job| job.foresight().clone()).collect();
        let run = async {
            session.begin_write().await?;
            let entrance = session.foresee(space, foresight).await?;
            job::run_group(session, group, entrance).await
        };
        let kept = run.await;
        let kept = match kept {
            Ok(kept) => kept,
            Err(error) => {
                return Err(Failure::Nothing(session.trouble().unwrap_or_else(|| Trouble::hopeless(error))));
            }
        };
        match kept {
            Kept::Nothing => {
                // Nobody waits for this answer; a connection that fails here is found out when it is used next.
                drop(session.roll_back().await);
            }
            Kept::Something(journal_tip) => {
                if let Err(trouble) = session.commit().await {
                    return Err(match (trouble.remedy, journal_tip) {
                        (Remedy::Reconnect, Some(tip)) => Failure::Unknown(trouble, tip),
                        _ => Failure::Nothing(trouble),
                    });
                }
            }
        }
        lease.give_back();
        Ok(())
    }

    /// Finds out whether a transaction whose end was not heard of was committed.
    async fn was_committed(&self, space: &SpaceName, tip: (u64, ChainDigest), patience: &mut Patience) -> Result<bool> {
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
    async fn has_record(&self, space: &SpaceName, (seq, chain): (u64, ChainDigest)) -> Result<bool, Trouble> {
        let mut lease = self.lease().await?;
        let session = &mut lease.connection;
        session.write_to(space);
        let look = async {
            // The lost transaction may still be under way at the server; then it holds the space, and this waits.
            session.begin_write().await?;
            let sql = "SELECT j.chain FROM spaces s LEFT JOIN journal j ON j.space = s.key AND j.seq = ?2 \
                       WHERE s.name = ?1";
            let rows = session.query(sql, &[space.as_str().into(), seq.cast_signed().into()]).await?;
            let Some(row) = rows.first() else {
                // It may be about to make the space. A row of the same name waits for that, and conflicts with it.
                let sql = "INSERT INTO spaces (name, created_at) VALUES (?1, ?2)";
                session.execute(sql, &[space.as_str().into(), Param::Integer(0)]).await?;
                return Ok(false);
            };
            Ok(row.optional_blob(0)? == Some(&chain.0[..]))
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
