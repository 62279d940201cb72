//! Jobs: how they wait, run and are answered, whatever the engine.
//!
//! Engines see them without their types, so that what an engine does is compiled once and not again for every job.

use std::sync::{Arc, Mutex, PoisonError};

use contexture_core::ChainDigest;
use futures_util::future::BoxFuture;
use tokio::sync::oneshot;

use crate::{
    Error, Foresight, Result,
    sql::{Connection, Entrance, Scope, Tx},
};

/// A unit of work that looks at one moment of the store. It may run more than once; what it found last counts.
pub(crate) trait ReadJob: Send {
    /// Does the work in the open transaction and keeps what it found.
    fn run<'a>(&'a mut self, tx: &'a mut Tx<'_>) -> BoxFuture<'a, ()>;
}

/// A job that reads, and the place where what it found will be.
pub(crate) struct Reading<A, T, E> {
    args: A,
    work: JobFn<A, T, E>,
    found: Findings<T, E>,
}

/// What a reading job found, for whoever asked.
pub(crate) struct Findings<T, E>(Arc<Mutex<Option<Result<T, E>>>>);

impl<A, T, E> Reading<A, T, E> {
    /// Returns the job and where its findings will be.
    pub(crate) fn new(args: A, work: JobFn<A, T, E>) -> (Self, Findings<T, E>) {
        let slot = Arc::default();
        (Self { args, work, found: Findings(Arc::clone(&slot)) }, Findings(slot))
    }
}

impl<T, E: From<Error>> Findings<T, E> {
    fn put(&self, outcome: Result<T, E>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(outcome);
    }

    /// Takes what was found, after the job ran.
    pub(crate) fn take(&self) -> Result<T, E> {
        let outcome = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        outcome.unwrap_or_else(|| Err(Error::Closed.into()))
    }
}

impl<A, T, E> ReadJob for Reading<A, T, E>
where
    A: Send + Sync,
    T: Send,
    E: From<Error> + Send,
{
    fn run<'a>(&'a mut self, tx: &'a mut Tx<'_>) -> BoxFuture<'a, ()> {
        Box::pin(async move { self.found.put((self.work)(tx, &self.args).await) })
    }
}

/// A unit of work that waits for its turn and for durability. It may run more than once.
pub(crate) trait Job: Send {
    /// Does the work inside the open transaction and tells whether it is to be kept.
    ///
    /// Afterwards `entrance` is what the next job of the transaction may take as known, unless what this one did is
    /// taken back.
    fn run<'a>(
        &'a mut self,
        connection: &'a mut dyn Connection,
        entrance: &'a mut Option<Entrance>,
    ) -> BoxFuture<'a, bool>;

    /// Returns who wants the work, and where.
    fn scope(&self) -> &Scope;

    /// Tells what the work will look for.
    fn foresight(&self) -> &Foresight;

    /// Tells the submitter how it went, after the transaction ended.
    fn answer(self: Box<Self>, committed: Result<()>);
}

/// Jobs that share a transaction.
pub(crate) type Group = Vec<Box<dyn Job>>;

/// Tells all submitters of a group how it ended.
pub(crate) fn answer_group(group: Group, committed: &Result<()>) {
    for job in group {
        job.answer(committed.as_ref().copied().map_err(Error::again));
    }
}

/// A connection that opens transactions and nests them: what a group of jobs needs beside statements.
///
/// Each engine implements it once; [`run_group`] calls it.
pub(crate) trait GroupConnection: Connection {
    /// Opens a transaction that keeps other writers out.
    fn begin_write(&mut self) -> impl Future<Output = Result<()>> + Send;
    /// Forgets what the transaction did.
    fn roll_back(&mut self) -> impl Future<Output = Result<()>> + Send;
    /// Opens a transaction inside the transaction.
    fn begin_job(&mut self) -> impl Future<Output = Result<()>> + Send;
    /// Keeps what the inner transaction did.
    fn keep_job(&mut self) -> impl Future<Output = Result<()>> + Send;
    /// Forgets what the inner transaction did.
    fn drop_job(&mut self) -> impl Future<Output = Result<()>> + Send;
    /// Fails unless what the group was told of its space beforehand still holds.
    fn make_sure(&mut self) -> impl Future<Output = Result<()>> + Send;
    /// Returns a number that is another one once something was changed.
    fn changes(&self) -> u64;
    /// Returns the failure after which nothing more can be done in this transaction.
    fn failure(&self) -> Option<Error>;
}

/// What a group leaves in its open transaction.
pub(crate) enum Kept {
    /// The work of at least one job; the last journal record that came with it, if any did.
    Something(JournalTip),
    /// Nothing, because every job failed by itself.
    Nothing,
}

type JournalTip = Option<(u64, ChainDigest)>;

impl Kept {
    fn add(&mut self, entrance: Option<&Entrance>, before: JournalTip) {
        let tip = entrance.and_then(|entrance| entrance.journal_tip);
        *self = Self::Something(tip.filter(|_| tip != before));
    }
}

/// Runs the jobs of a group in the open transaction, none of which takes anything of the others with it when it fails.
///
/// Jobs fail nearly always before they change anything, so they run bare first; nested transactions, which cost, are
/// for a group in which one failed after a change. `entrance` is what is known of the space before the first of them, and
/// afterwards what is known of it then.
pub(crate) async fn run_group(
    session: &mut impl GroupConnection,
    group: &mut Group,
    entrance: &mut Option<Entrance>,
) -> Result<Kept> {
    let before = entrance.as_ref().and_then(|entrance| entrance.journal_tip);
    let mut kept = Kept::Nothing;
    for job in &mut *group {
        let changes = session.changes();
        if job.run(session, entrance).await {
            kept.add(entrance.as_ref(), before);
            continue;
        }
        session.make_sure().await?;
        if let Some(failure) = session.failure() {
            return Err(failure);
        }
        if session.changes() != changes {
            session.roll_back().await?;
            session.begin_write().await?;
            return run_nested(session, group, before, entrance).await;
        }
    }
    Ok(kept)
}

/// Runs each job in a transaction of its own inside the group's.
async fn run_nested(
    session: &mut impl GroupConnection,
    group: &mut Group,
    before: JournalTip,
    entrance: &mut Option<Entrance>,
) -> Result<Kept> {
    let mut kept = Kept::Nothing;
    *entrance = None;
    for job in group {
        session.begin_job().await?;
        if job.run(session, entrance).await {
            session.keep_job().await?;
            kept.add(entrance.as_ref(), before);
        } else if let Some(failure) = session.failure() {
            return Err(failure);
        } else {
            session.drop_job().await?;
            *entrance = None;
        }
    }
    Ok(kept)
}

/// What a job does: a function of a transaction and of arguments that the job owns, which lends them for each run.
///
/// A function captures nothing, so nothing needs to be cloned for the case that a job runs again.
pub type JobFn<A, T, E> = for<'t, 'c> fn(&'t mut Tx<'c>, &'t A) -> BoxFuture<'t, Result<T, E>>;

/// A job whose submitter waits.
pub(crate) struct Pending<A, T, E> {
    scope: Scope,
    foresight: Foresight,
    args: A,
    work: JobFn<A, T, E>,
    outcome: Option<Result<T, E>>,
    reply: oneshot::Sender<Result<T, E>>,
}

impl<A, T, E> Pending<A, T, E> {
    /// Returns the job and where its answer will be.
    pub(crate) fn new(
        scope: Scope,
        foresight: Foresight,
        args: A,
        work: JobFn<A, T, E>,
    ) -> (Self, oneshot::Receiver<Result<T, E>>) {
        let (reply, answer) = oneshot::channel();
        (Self { scope, foresight, args, work, outcome: None, reply }, answer)
    }
}

impl<A, T, E> Job for Pending<A, T, E>
where
    A: Send + Sync + 'static,
    T: Send + 'static,
    E: From<Error> + Send + 'static,
{
    fn run<'a>(
        &'a mut self,
        connection: &'a mut dyn Connection,
        entrance: &'a mut Option<Entrance>,
    ) -> BoxFuture<'a, bool> {
        Box::pin(async move {
            let outcome = match Tx::writing(connection, &self.scope, entrance.take()).await {
                Err(error) => Err(error.into()),
                Ok(mut tx) => {
                    let outcome = (self.work)(&mut tx, &self.args).await;
                    *entrance = Some(tx.entrance());
                    outcome
                }
            };
            let keep = outcome.is_ok();
            self.outcome = Some(outcome);
            keep
        })
    }

    fn scope(&self) -> &Scope {
        &self.scope
    }

    fn foresight(&self) -> &Foresight {
        &self.foresight
    }

    fn answer(self: Box<Self>, committed: Result<()>) {
        let outcome = match (committed, self.outcome) {
            (Ok(()), Some(outcome)) => outcome,
            (Ok(()), None) => Err(Error::Closed.into()),
            (Err(error), _) => Err(error.into()),
        };
        // The submitter may have gone away; what it asked for is durable all the same.
        drop(self.reply.send(outcome));
    }
}
