//! Versioned, forward-only migrations, one program at a time.

use super::{connection::PgConnection, rights::Right, trouble::Trouble, url::PostgresUrl};
use crate::{
    Error,
    sql::{Connection as _, Param, Row},
};

/// The migrations in order; the schema's version is how many have run.
const MIGRATIONS: &[&str] = &[
    include_str!("0001.sql"),
    include_str!("0002.sql"),
    include_str!("0003.sql"),
    include_str!("0004.sql"),
    include_str!("0005.sql"),
    include_str!("0006.sql"),
    include_str!("0007.sql"),
    include_str!("0008.sql"),
    include_str!("0009.sql"),
];

/// The newest version.
pub(super) const NEWEST: usize = MIGRATIONS.len();

/// Locks out other programs that migrate: "CTXR", as the embedded engine marks its files.
const MIGRATION_LOCK: i64 = 0x4354_5852;

/// What a schema holds.
pub(super) enum SchemaContents {
    /// It does not exist.
    NoSchema,
    /// Nothing yet.
    Nothing,
    /// Something that is not ours.
    Foreign,
    /// A store of this version.
    Version(i64),
}

/// Brings a store to the newest schema; refuses one that is newer or not ours.
pub(super) async fn migrate(connection: &mut PgConnection, url: &PostgresUrl) -> Result<(), Trouble> {
    let found = find(connection, url).await?;
    if known(&found, url)? == MIGRATIONS.len() {
        return Ok(());
    }
    let lock = format!("BEGIN; SELECT pg_advisory_xact_lock({MIGRATION_LOCK})");
    connection.batch("prepare its tables", &lock).await?;
    // Another program may have migrated while this one waited for the lock.
    let found = find(connection, url).await?;
    let done = known(&found, url)?;
    if done < MIGRATIONS.len() {
        if matches!(found, SchemaContents::NoSchema) {
            let made = connection.batch("make its schema", &format!("CREATE SCHEMA {}", url.schema())).await;
            made.map_err(|trouble| trouble.lacking(Right::MakeSchema, url))?;
        }
        for migration in &MIGRATIONS[done..] {
            let made = connection.batch("prepare its tables", migration).await;
            made.map_err(|trouble| trouble.lacking(Right::MakeTables, url))?;
        }
        let version = MIGRATIONS.len();
        let mark = format!("DELETE FROM contexture_store; INSERT INTO contexture_store (version) VALUES ({version})");
        connection.batch("mark its version", &mark).await?;
    }
    connection.batch("prepare its tables", "COMMIT").await
}

/// Returns how many migrations a store has had.
pub(super) fn known(found: &SchemaContents, url: &PostgresUrl) -> Result<usize, Trouble> {
    match found {
        SchemaContents::NoSchema | SchemaContents::Nothing => Ok(0),
        SchemaContents::Foreign => {
            let store = format!("schema {} of database {} at {}", url.schema(), url.database(), url.server());
            Err(Trouble::hopeless(Error::Foreign { store }))
        }
        SchemaContents::Version(version) => match usize::try_from(*version) {
            Ok(version) if version <= MIGRATIONS.len() => Ok(version),
            _ => {
                let (store, found, known) = (url.to_string(), *version, MIGRATIONS.len());
                Err(Trouble::hopeless(Error::Newer { store, found, known }))
            }
        },
    }
}

/// Looks what a schema holds.
pub(super) async fn find(connection: &mut PgConnection, url: &PostgresUrl) -> Result<SchemaContents, Trouble> {
    let sql = "SELECT count(c.oid), count(CASE WHEN c.relname = 'contexture_store' THEN 1 END) \
               FROM pg_namespace n LEFT JOIN pg_class c ON c.relnamespace = n.oid WHERE n.nspname = ?1 GROUP BY n.oid";
    let Some(row) = first_row(connection, sql, &[url.schema().into()]).await? else {
        return Ok(SchemaContents::NoSchema);
    };
    match (number(&row, 0)?, number(&row, 1)?) {
        (0, _) => return Ok(SchemaContents::Nothing),
        (_, 0) => return Ok(SchemaContents::Foreign),
        _ => {}
    }
    // With the schema's name: who may not use it is told so.
    let sql = format!("SELECT version FROM {}.contexture_store", url.schema());
    match first_row(connection, &sql, &[]).await? {
        None => Ok(SchemaContents::Foreign),
        Some(row) => Ok(SchemaContents::Version(number(&row, 0)?)),
    }
}

/// Runs a query of which one row is wanted.
pub(super) async fn first_row(
    connection: &mut PgConnection,
    sql: &str,
    params: &[Param<'_>],
) -> Result<Option<Row>, Trouble> {
    match connection.query(sql, params).await {
        Ok(rows) => Ok(rows.into_iter().next()),
        Err(error) => Err(connection.trouble().unwrap_or_else(|| Trouble::hopeless(error))),
    }
}

fn number(row: &Row, column: usize) -> Result<i64, Trouble> {
    row.integer(column).map_err(Trouble::hopeless)
}
