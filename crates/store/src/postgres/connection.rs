//! One connection to PostgreSQL, on which statements follow each other without waiting for answers.

use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
};

use contexture_core::SpaceName;
use futures_util::{FutureExt as _, future::BoxFuture};
use tokio_postgres::{
    Client, Statement,
    types::{ToSql, Type},
};

use super::{
    batch::{self, Batch, Delayed},
    one_statement::{self, Assumption},
    trouble::Trouble,
    url::PostgresUrl,
};
use crate::{
    Error, Result,
    job::GroupConnection,
    sql::{Connection, Dialect, Param, Row, Value},
};

/// Most statements that are whole transactions which a connection keeps.
const MAX_WHOLE: usize = 64;

/// Makes a server whose operator trades durability for speed wait for its disk all the same.
const WAIT_FOR_DISK: &str = "SELECT set_config('synchronous_commit', 'on', false) \
                             WHERE current_setting('synchronous_commit') = 'off'";

pub(super) struct PgConnection {
    client: Arc<Client>,
    url: Arc<PostgresUrl>,
    /// The space that write transactions of this connection lock.
    space: Option<SpaceName>,
    statements: HashMap<Box<str>, Preparation>,
    /// Statements that insert many rows, by the one that inserts one.
    batches: HashMap<Box<str>, Statement>,
    /// Statements that are whole transactions, by their text.
    whole: HashMap<Box<str>, Preparation>,
    /// What the transaction takes for granted, as long as the server has not been told that it began.
    assumed: Option<Assumption>,
    /// Rows that are not sent yet.
    delayed: Delayed,
    /// Answers that nobody has waited for yet, in the order in which they come.
    unanswered: VecDeque<BoxFuture<'static, Result<(), tokio_postgres::Error>>>,
    /// The first failure of the transaction.
    trouble: Option<Trouble>,
    changes: u64,
}

/// What the server knows of a statement. One that is used once is not worth a round trip to prepare it.
enum Preparation {
    Seen,
    Prepared(Statement),
}

impl PgConnection {
    pub(super) fn new(client: Client, url: Arc<PostgresUrl>) -> Self {
        let mut connection = Self {
            client: Arc::new(client),
            url,
            space: None,
            statements: HashMap::new(),
            batches: HashMap::new(),
            whole: HashMap::new(),
            assumed: None,
            delayed: Delayed::default(),
            unanswered: VecDeque::new(),
            trouble: None,
            changes: 0,
        };
        connection.send(WAIT_FOR_DISK);
        connection
    }

    /// Tells whether the server is known to have gone away.
    pub(super) fn is_closed(&self) -> bool {
        self.client.is_closed()
    }

    /// Chooses the space that write transactions lock.
    pub(super) fn write_to(&mut self, space: &SpaceName) {
        self.space = Some(space.clone());
    }

    pub(super) fn begin_read(&mut self) {
        self.trouble = None;
        self.send("BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY");
    }

    pub(super) fn end_read(&mut self) {
        self.send("ROLLBACK");
    }

    /// Begins a transaction without a word to the server: everything that its jobs need may be known.
    pub(super) fn begin_assuming(&mut self, assumption: Assumption) {
        self.trouble = None;
        drop(self.delayed.take());
        self.assumed = Some(assumption);
    }

    /// Tells the server that the transaction began, if it does not know, and has it see to what was assumed.
    async fn open(&mut self) -> Result<()> {
        if let Some(assumption) = self.assumed.take() {
            self.lock().await?;
            self.transmit(Assumption::CHECK, assumption.values().into()).await?;
        }
        Ok(())
    }

    /// Tells the server that a transaction begins, and to keep others from its space.
    async fn lock(&mut self) -> Result<()> {
        self.send("BEGIN");
        // Each statement sees what was committed before it began, so the lock comes in one of its own.
        if let Some(space) = &self.space {
            let sql = "SELECT key FROM spaces WHERE name = ?1 FOR NO KEY UPDATE";
            let name = Value::Text(space.as_str().to_owned());
            self.transmit(sql, vec![name]).await?;
        }
        Ok(())
    }

    /// Ends the transaction and waits until it is durable.
    pub(super) async fn commit(&mut self) -> Result<(), Trouble> {
        let whole = match self.assumed {
            Some(assumption) if one_statement::suits(self.delayed.batches()) => match self.whole_statement().await {
                Ok(statement) => statement.map(|statement| (assumption, statement)),
                // Nothing was sent, and nothing will be.
                Err(_) => return self.await_answers("commit").await,
            },
            Some(_) | None => None,
        };
        if let Some((assumption, statement)) = whole {
            self.assumed = None;
            let rows = self.delayed.take().into_iter().flat_map(|batch| batch.rows).flatten();
            let values: Vec<Value> = assumption.values().into_iter().chain(rows).collect();
            let client = Arc::clone(&self.client);
            let request = async move { client.execute_raw(&statement, &values).await };
            self.enqueue(request.map(|answer| answer.map(drop)).boxed());
        } else if self.open().await.is_ok() && self.flush().await.is_ok() {
            self.send("COMMIT");
        }
        self.await_answers("commit").await
    }

    /// Returns the statement that inserts all rows that wait, if there were such rows before.
    async fn whole_statement(&mut self) -> Result<Option<Statement>> {
        let Some(text) = one_statement::statement(self.delayed.batches()) else {
            return Ok(None);
        };
        match self.whole.get(text.as_str()) {
            Some(Preparation::Prepared(statement)) => Ok(Some(statement.clone())),
            None if self.whole.len() >= MAX_WHOLE => Ok(None),
            None => {
                self.whole.insert(text.into(), Preparation::Seen);
                Ok(None)
            }
            Some(Preparation::Seen) => {
                let (client, sql) = (Arc::clone(&self.client), text.clone());
                let prepared = self.answer("prepare a statement", async move { client.prepare(&sql).await }).await?;
                self.whole.insert(text.into(), Preparation::Prepared(prepared.clone()));
                Ok(Some(prepared))
            }
        }
    }

    /// Runs statements that take no parameters, and waits for them.
    pub(super) async fn batch(&mut self, attempt: &'static str, sql: &str) -> Result<(), Trouble> {
        let client = Arc::clone(&self.client);
        let sql = sql.to_owned();
        self.enqueue(async move { client.batch_execute(&sql).await }.boxed());
        self.await_answers(attempt).await
    }

    /// Returns the first failure since the transaction began.
    pub(super) fn trouble(&self) -> Option<Trouble> {
        self.trouble.as_ref().map(Trouble::again)
    }

    /// Sends a statement without parameters and does not wait for it.
    fn send(&mut self, sql: &'static str) {
        let client = Arc::clone(&self.client);
        self.enqueue(async move { client.batch_execute(sql).await }.boxed());
    }

    fn enqueue(&mut self, mut request: BoxFuture<'static, Result<(), tokio_postgres::Error>>) {
        // The first poll sends the request. Whoever needs the answer waits for it later.
        match (&mut request).now_or_never() {
            Some(Ok(())) => {}
            Some(Err(error)) => self.note("send a statement", error),
            None => self.unanswered.push_back(request),
        }
    }

    /// Waits for all answers and returns the first failure.
    async fn await_answers(&mut self, attempt: &'static str) -> Result<(), Trouble> {
        while let Some(answer) = self.unanswered.pop_front() {
            if let Err(error) = answer.await {
                self.note(attempt, error);
            }
        }
        self.trouble.as_ref().map_or(Ok(()), |trouble| Err(trouble.again()))
    }

    /// Remembers the first failure: all later ones of a transaction only say that there was one.
    fn note(&mut self, attempt: &'static str, error: tokio_postgres::Error) {
        if self.trouble.is_none() {
            self.trouble = Some(Trouble::of_statement(&self.url, attempt, error));
        }
    }

    /// Prepares a statement when it is used for the second time.
    async fn statement(&mut self, sql: &str) -> Result<Option<Statement>> {
        match self.statements.get(sql) {
            None => {
                self.statements.insert(sql.into(), Preparation::Seen);
                Ok(None)
            }
            Some(Preparation::Prepared(statement)) => Ok(Some(statement.clone())),
            Some(Preparation::Seen) => {
                let client = Arc::clone(&self.client);
                let text = dialect(sql);
                let prepared = self.answer("prepare a statement", async move { client.prepare(&text).await }).await?;
                self.statements.insert(sql.into(), Preparation::Prepared(prepared.clone()));
                Ok(Some(prepared))
            }
        }
    }

    /// Returns a statement that the server has prepared.
    async fn prepared(&mut self, sql: &str) -> Result<Statement> {
        loop {
            if let Some(statement) = self.statement(sql).await? {
                return Ok(statement);
            }
        }
    }

    /// Sends the rows that wait.
    async fn flush(&mut self) -> Result<()> {
        self.open().await?;
        for Batch { sql, mut rows, .. } in self.delayed.take() {
            match rows.pop() {
                Some(only) if rows.is_empty() => self.transmit(&sql, only).await?,
                Some(last) => {
                    rows.push(last);
                    self.transmit_many(&sql, rows).await?;
                }
                None => {}
            }
        }
        Ok(())
    }

    /// Sends a statement and does not wait for it.
    async fn transmit(&mut self, sql: &str, values: Vec<Value>) -> Result<()> {
        let statement = self.statement(sql).await?;
        let client = Arc::clone(&self.client);
        let text = if statement.is_none() { dialect(sql) } else { String::new() };
        let request = async move {
            match statement {
                Some(statement) => client.execute_raw(&statement, &values).await,
                None => client.execute_typed(&text, &typed(&values)).await,
            }
        };
        self.enqueue(request.map(|answer| answer.map(drop)).boxed());
        Ok(())
    }

    async fn transmit_many(&mut self, sql: &str, rows: Vec<Vec<Value>>) -> Result<()> {
        let one = self.prepared(sql).await?;
        let many = if let Some(statement) = self.batches.get(sql) {
            statement.clone()
        } else {
            let text = batch::many(sql, one.params())
                .ok_or_else(|| Error::damaged("a statement that inserts a row has no values"))?;
            let client = Arc::clone(&self.client);
            let statement = self.answer("prepare a statement", async move { client.prepare(&text).await }).await?;
            self.batches.insert(sql.into(), statement.clone());
            statement
        };
        let columns = batch::columns(rows);
        let client = Arc::clone(&self.client);
        let request = async move { client.execute_raw(&many, &columns).await };
        self.enqueue(request.map(|answer| answer.map(drop)).boxed());
        Ok(())
    }

    /// Runs a query that takes a value and two arrays, and returns all its rows.
    pub(super) async fn ask(&mut self, sql: &str, params: (Value, Vec<Value>, Vec<Value>)) -> Result<Vec<Row>> {
        let statement = self.prepared(sql).await?;
        let client = Arc::clone(&self.client);
        let (first, second, third) = params;
        let request = async move { client.query(&statement, &[&first, &second, &third]).await };
        self.answer("answer a query", request).await?.iter().map(decoded).collect()
    }

    /// Sends a request, then waits for all earlier answers and for its own.
    async fn answer<T>(
        &mut self,
        attempt: &'static str,
        request: impl Future<Output = Result<T, tokio_postgres::Error>> + Send,
    ) -> Result<T> {
        let mut request = Box::pin(request);
        let early = (&mut request).now_or_never();
        self.await_answers(attempt).await.map_err(|trouble| trouble.error)?;
        let answer = match early {
            Some(answer) => answer,
            None => request.await,
        };
        answer.map_err(|error| {
            self.note(attempt, error);
            self.trouble.as_ref().map_or(Error::Closed, |trouble| trouble.error.again())
        })
    }
}

impl Connection for PgConnection {
    fn dialect(&self) -> Dialect {
        Dialect::Postgres
    }

    fn post<'a>(&'a mut self, sql: &'a str, params: &'a [Param<'a>]) -> BoxFuture<'a, Result<()>> {
        let post = async move {
            self.changes += 1;
            if !Delayed::suits(sql) {
                self.flush().await?;
                return self.transmit(sql, owned(params)).await;
            }
            if self.delayed.take_first(sql) {
                self.flush().await?;
            }
            self.delayed.add(sql, params);
            Ok(())
        };
        post.boxed()
    }

    fn execute<'a>(&'a mut self, sql: &'a str, params: &'a [Param<'a>]) -> BoxFuture<'a, Result<u64>> {
        let execute = async move {
            self.changes += 1;
            self.flush().await?;
            let statement = self.statement(sql).await?;
            let (client, values) = (Arc::clone(&self.client), owned(params));
            let request = async move {
                match statement {
                    Some(statement) => client.execute_raw(&statement, &values).await,
                    None => client.execute_typed(&dialect(sql), &typed(&values)).await,
                }
            };
            self.answer("change a row", request).await
        };
        execute.boxed()
    }

    fn query<'a>(&'a mut self, sql: &'a str, params: &'a [Param<'a>]) -> BoxFuture<'a, Result<Vec<Row>>> {
        let query = async move {
            if !sql.starts_with("SELECT") {
                self.changes += 1;
            }
            self.flush().await?;
            let statement = self.statement(sql).await?;
            let (client, values) = (Arc::clone(&self.client), owned(params));
            let request = async move {
                match statement {
                    Some(statement) => {
                        let values: Vec<&(dyn ToSql + Sync)> = values.iter().map(|value| value as _).collect();
                        client.query(&statement, &values).await
                    }
                    None => client.query_typed(&dialect(sql), &typed(&values)).await,
                }
            };
            let rows = self.answer("answer a query", request).await?;
            rows.iter().map(decoded).collect()
        };
        query.boxed()
    }
}

impl GroupConnection for PgConnection {
    async fn begin_write(&mut self) -> Result<()> {
        self.trouble = None;
        self.assumed = None;
        drop(self.delayed.take());
        self.lock().await
    }

    async fn roll_back(&mut self) -> Result<()> {
        drop(self.delayed.take());
        if self.assumed.take().is_none() {
            self.send("ROLLBACK");
        }
        Ok(())
    }

    async fn make_sure(&mut self) -> Result<()> {
        if self.assumed.is_some() {
            self.open().await?;
            self.await_answers("lock its space").await.map_err(|trouble| trouble.error)?;
        }
        Ok(())
    }

    async fn begin_job(&mut self) -> Result<()> {
        self.flush().await?;
        self.send("SAVEPOINT job");
        Ok(())
    }

    async fn keep_job(&mut self) -> Result<()> {
        self.flush().await?;
        self.send("RELEASE job");
        Ok(())
    }

    async fn drop_job(&mut self) -> Result<()> {
        drop(self.delayed.take());
        self.send("ROLLBACK TO job; RELEASE job");
        Ok(())
    }

    fn changes(&self) -> u64 {
        self.changes
    }

    fn failure(&self) -> Option<Error> {
        self.trouble.as_ref().map(|trouble| trouble.error.again())
    }
}

impl Drop for PgConnection {
    fn drop(&mut self) {
        // Answers hold the client, and the server is told that the connection ends when the last holder is gone.
        self.unanswered.clear();
    }
}

/// Writes a statement as PostgreSQL has it. No statement holds a question mark that is not a parameter.
fn dialect(sql: &str) -> String {
    sql.replace('?', "$")
}

fn owned(params: &[Param<'_>]) -> Vec<Value> {
    params.iter().map(|param| Value::from(*param)).collect()
}

fn typed(values: &[Value]) -> Vec<(&(dyn ToSql + Sync), Type)> {
    let kind = |value: &Value| match value {
        Value::Null => Type::UNKNOWN,
        Value::Integer(_) => Type::INT8,
        Value::Text(_) => Type::TEXT,
        Value::Blob(_) => Type::BYTEA,
    };
    values.iter().map(|value| (value as &(dyn ToSql + Sync), kind(value))).collect()
}

fn decoded(row: &tokio_postgres::Row) -> Result<Row> {
    let value = |column| row.try_get::<_, Value>(column);
    let values = (0..row.len()).map(value).collect::<Result<Vec<_>, _>>();
    values.map(Row::new).map_err(|error| Error::damaged(format!("a row cannot be read: {error}")))
}
