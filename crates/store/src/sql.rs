//! The seam between the tables and a database engine: statements, values, a transaction.
//!
//! Statements are written once, in SQLite's dialect with `?1` parameters, and kept to what PostgreSQL understands too.

mod row;

use std::{fmt::Write as _, sync::Arc};

use contexture_core::{Actor, ArtifactId, ByteReplacement, ChainDigest, SpaceName, Timestamp};
use futures_util::future::BoxFuture;

use crate::{Error, Result, journal, known::Known, space, table::TableRow};
pub(crate) use row::{Row, RowReader, Value};

/// A parameter of a statement.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Param<'p> {
    /// SQL `NULL`.
    Null,
    /// A whole number.
    Integer(i64),
    /// Text.
    Text(&'p str),
    /// Bytes.
    Blob(&'p [u8]),
}

/// The engines, where they have nothing in common: searching for words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// SQLite.
    Sqlite,
    /// PostgreSQL.
    Postgres,
}

/// A connection inside a transaction.
///
/// Each engine implements it once; the table modules call it. An implementation must never commit, roll back
/// or retry by itself: the engine that opened the transaction does.
pub(crate) trait Connection: Send {
    /// Returns which engine it leads to, for what no statement says on both.
    fn dialect(&self) -> Dialect;

    /// Runs a statement about which nothing needs to be known before the transaction ends.
    ///
    /// A server need not have answered when this returns. Then a failure is returned by a later call or by the commit.
    fn post<'a>(&'a mut self, sql: &'a str, params: &'a [Param<'a>]) -> BoxFuture<'a, Result<()>>;

    /// Runs a statement and returns how many rows it changed.
    fn execute<'a>(&'a mut self, sql: &'a str, params: &'a [Param<'a>]) -> BoxFuture<'a, Result<u64>>;

    /// Runs a query and returns all its rows; callers bound them with `LIMIT`.
    fn query<'a>(&'a mut self, sql: &'a str, params: &'a [Param<'a>]) -> BoxFuture<'a, Result<Vec<Row>>>;
}

/// How much of what was found secret is shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Disclosure {
    /// Placeholders stand for secrets.
    #[default]
    Masked,
    /// Content is as it came.
    Exact,
}

/// Opens what was taken out of artifacts that are stored masked.
///
/// Whoever has the key of a space implements it; locating an artifact for a scope that discloses all calls it. An
/// implementation must never fail otherwise than by returning nothing, and then the artifact is shown masked.
pub trait OpenSealed: Send + Sync {
    /// Returns what stood where something else stands now.
    fn open(&self, artifact: &ArtifactId, patch: &[u8]) -> Option<Vec<ByteReplacement>>;
}

/// On whose behalf a transaction runs: nothing outside the space is seen or changed.
#[derive(Clone)]
pub struct Scope {
    /// The space.
    pub space: SpaceName,
    /// Who asks, as the journal records it.
    pub actor: Actor,
    /// When, as the journal records it.
    pub now: Timestamp,
    /// What is seen of secrets.
    pub disclosure: Disclosure,
    /// What opens sealed content where all is seen.
    pub opener: Option<Arc<dyn OpenSealed>>,
}

/// The space that a write transaction is in and what it knows of it.
pub(crate) struct Entrance {
    pub(crate) name: SpaceName,
    pub(crate) key: i64,
    /// The last journal record of the space.
    pub(crate) journal_tip: Option<(u64, ChainDigest)>,
    pub(crate) known: Known,
}

/// A transaction on one space. What a job does with it happens whole or not at all.
pub struct Tx<'c> {
    connection: &'c mut dyn Connection,
    pub(crate) scope: &'c Scope,
    pub(crate) space: i64,
    /// The last journal record, known while writing.
    pub(crate) journal_tip: Option<(u64, ChainDigest)>,
    /// What else is known while writing.
    pub(crate) known: Known,
}

/// Keys that one statement looks for.
const LOOK_UPS_PER_STATEMENT: usize = 64;

/// Space key that no row has; a space nobody has written to yet reads as empty.
pub(crate) const NO_SPACE: i64 = 0;

impl<'c> Tx<'c> {
    /// Enters the scope's space to read.
    pub(crate) async fn reading(connection: &'c mut dyn Connection, scope: &'c Scope) -> Result<Self> {
        let mut tx = Self { connection, scope, space: NO_SPACE, journal_tip: None, known: Known::default() };
        let row = tx.row("SELECT key FROM spaces WHERE name = ?1", &[scope.space.as_str().into()]).await?;
        if let Some(row) = row {
            tx.space = row.integer(0)?;
        }
        Ok(tx)
    }

    /// Enters the scope's space, whose key is known, to read.
    pub(crate) fn reading_in(connection: &'c mut dyn Connection, scope: &'c Scope, space: i64) -> Self {
        Self { connection, scope, space, journal_tip: None, known: Known::default() }
    }

    /// Enters the scope's space to write, making it if need be.
    ///
    /// Nobody else may write to the space until the transaction ends, so what an earlier job of the same transaction
    /// knew of it still holds.
    pub(crate) async fn writing(
        connection: &'c mut dyn Connection,
        scope: &'c Scope,
        earlier: Option<Entrance>,
    ) -> Result<Self> {
        let mut tx = Self { connection, scope, space: NO_SPACE, journal_tip: None, known: Known::default() };
        if let Some(entrance) = earlier.filter(|entrance| entrance.name == scope.space) {
            (tx.space, tx.journal_tip, tx.known) = (entrance.key, entrance.journal_tip, entrance.known);
            return Ok(tx);
        }
        // Two look-ups of one row each: as a join, PostgreSQL would compare the tip with every record.
        let sql = "SELECT s.key, (SELECT j.seq FROM journal j WHERE j.space = s.key ORDER BY j.seq DESC LIMIT 1), \
                   (SELECT j.chain FROM journal j WHERE j.space = s.key ORDER BY j.seq DESC LIMIT 1) \
                   FROM spaces s WHERE s.name = ?1";
        match tx.row(sql, &[scope.space.as_str().into()]).await? {
            None => space::create(&mut tx).await?,
            Some(row) => {
                tx.space = row.integer(0)?;
                tx.journal_tip = journal::decode_tip(&row, 1)?;
            }
        }
        Ok(tx)
    }

    /// Returns what the next job of the same transaction may take as known.
    pub(crate) fn entrance(self) -> Entrance {
        let Self { scope, space, journal_tip, known, .. } = self;
        Entrance { name: scope.space.clone(), key: space, journal_tip, known }
    }

    /// Returns the time at which the transaction happens.
    pub fn now(&self) -> Timestamp {
        self.scope.now
    }

    pub(crate) fn dialect(&self) -> Dialect {
        self.connection.dialect()
    }

    pub(crate) async fn post(&mut self, sql: &str, params: &[Param<'_>]) -> Result<()> {
        self.connection.post(sql, params).await
    }

    pub(crate) async fn execute(&mut self, sql: &str, params: &[Param<'_>]) -> Result<u64> {
        self.connection.execute(sql, params).await
    }

    pub(crate) async fn rows(&mut self, sql: &str, params: &[Param<'_>]) -> Result<Vec<Row>> {
        self.connection.query(sql, params).await
    }

    pub(crate) async fn row(&mut self, sql: &str, params: &[Param<'_>]) -> Result<Option<Row>> {
        Ok(self.rows(sql, params).await?.into_iter().next())
    }

    /// Runs a query whose columns are those of a table, in the order of its reader.
    pub(crate) async fn rows_of<R: TableRow>(&mut self, sql: &str, params: &[Param<'_>]) -> Result<Vec<R>> {
        self.rows(sql, params).await?.iter_mut().map(R::of).collect()
    }

    /// Runs such a query, of which at most one row is wanted.
    pub(crate) async fn row_of<R: TableRow>(&mut self, sql: &str, params: &[Param<'_>]) -> Result<Option<R>> {
        self.row(sql, params).await?.as_mut().map(R::of).transpose()
    }

    /// Looks rows up by each of some keys, whichever are there, in no order.
    ///
    /// `one` looks for one of them: its last condition ends where the key belongs, and `scope` is its first parameter.
    /// A list of keys would be shorter, but PostgreSQL, which knows nothing of a young table, would then read all that
    /// the first condition leaves, and keep that plan.
    pub(crate) async fn look_up<'p, K>(&mut self, one: &str, scope: Param<'p>, keys: &[K]) -> Result<Vec<Row>>
    where
        K: Copy + Into<Param<'p>> + Sync,
    {
        let mut found = Vec::with_capacity(keys.len());
        for some in keys.chunks(LOOK_UPS_PER_STATEMENT) {
            let all: Vec<String> = (2..some.len() + 2).map(|number| format!("{one} ?{number}")).collect();
            let mut params = vec![scope];
            params.extend(some.iter().map(|key| (*key).into()));
            found.extend(self.rows(&all.join(" UNION ALL "), &params).await?);
        }
        Ok(found)
    }

    /// Returns up to `limit` rows of a table with a `seq`, newest first. Those of the conditions hold that have something to
    /// compare with.
    pub(crate) async fn newest<'p, R: TableRow>(
        &mut self,
        conditions: impl IntoIterator<Item = (&'static str, Option<Param<'p>>)> + Send,
        limit: u32,
    ) -> Result<Vec<R>> {
        let mut select = R::select();
        let mut params: Vec<Param<'p>> = vec![self.space.into()];
        for (condition, param) in conditions {
            if let Some(param) = param {
                params.push(param);
                // Writing to a String cannot fail.
                let _written = write!(select, " AND {condition} ?{}", params.len());
            }
        }
        params.push(i64::from(limit).into());
        let _written = write!(select, " ORDER BY seq DESC LIMIT ?{}", params.len());
        self.rows_of(&select, &params).await
    }

    /// Runs a query that always answers with one row.
    pub(crate) async fn one(&mut self, sql: &str, params: &[Param<'_>]) -> Result<Row> {
        self.row(sql, params).await?.ok_or_else(|| Error::damaged("a statement that must return a row returned none"))
    }
}

impl From<i64> for Param<'_> {
    fn from(number: i64) -> Self {
        Self::Integer(number)
    }
}

impl<'p> From<&'p str> for Param<'p> {
    fn from(text: &'p str) -> Self {
        Self::Text(text)
    }
}

impl<'p> From<&'p [u8]> for Param<'p> {
    fn from(bytes: &'p [u8]) -> Self {
        Self::Blob(bytes)
    }
}

impl<'p, T: Into<Param<'p>>> From<Option<T>> for Param<'p> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}
