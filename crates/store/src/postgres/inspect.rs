//! A look at a server that leaves no trace.

use std::time::{Duration, Instant};

use contexture_core::Timestamp;

use super::{
    FOOTPRINT, Server,
    connection::PgConnection,
    encryption::Proof,
    rights::Right,
    schema::{self, SchemaContents},
    trouble::Trouble,
    url::PostgresUrl,
};
use crate::{
    Error, Result,
    inspect::{
        Access, Connections, Database, Durability, Encryption, Measures, Obstacle, Presence, StoreCondition, Timings,
    },
    sql::{Param, Row},
    stats::Footprint,
};

/// How often the way to the server and back is measured.
const ROUND_TRIPS: usize = 15;
/// How often a commit is measured.
const COMMITS: usize = 7;

/// What a server says of itself, of the session and of its settings.
const SERVER: &str = "\
SELECT current_setting('server_version'), CAST(current_user AS TEXT), \
       CASE family(inet_server_addr()) WHEN 6 THEN '[' || host(inet_server_addr()) || ']' \
                                       ELSE host(inet_server_addr()) END || ':' || inet_server_port(), \
       s.version, s.cipher, \
       CAST(pg_is_in_recovery() AS INTEGER), current_setting('default_transaction_read_only'), \
       current_setting('fsync'), current_setting('full_page_writes'), current_setting('data_checksums'), \
       (SELECT reset_val FROM pg_settings WHERE name = 'synchronous_commit'), \
       CAST(current_setting('max_connections') AS BIGINT), \
       CAST((SELECT sum(numbackends) FROM pg_stat_database) AS BIGINT) \
FROM (SELECT pg_backend_pid() AS pid) me LEFT JOIN pg_stat_ssl s ON s.pid = me.pid AND s.ssl";

/// Names every table, so that who may not read one of them is told so.
const TABLES: &str = "\
SELECT 1 FROM spaces, artifacts, parts, lines, commits, annotations, heads, reflog, requests, journal LIMIT 0";

/// Counts the tables in which the user may not do what the store does there.
const UNWRITABLE: &str = "\
SELECT count(*) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
WHERE n.nspname = ?1 AND c.relkind = 'r' AND c.relname <> 'contexture_store' AND NOT ( \
  has_table_privilege(c.oid, 'INSERT') \
  AND (c.relname NOT IN ('spaces', 'heads') OR has_table_privilege(c.oid, 'UPDATE')) \
  AND (c.relname <> 'heads' OR has_table_privilege(c.oid, 'DELETE')))";

const MAY_MAKE_SCHEMA: &str = "SELECT CAST(has_database_privilege(current_database(), 'CREATE') AS INTEGER)";

const MAY_MAKE_TABLES: &str = "\
SELECT CAST(has_schema_privilege(CAST(?1 AS TEXT), 'USAGE') AND has_schema_privilege(CAST(?1 AS TEXT), 'CREATE') \
            AS INTEGER)";

const CLOCK: &str = "SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT)";

/// Commits a transaction that is written to the log like any other and is in no table.
const COMMIT: &str = "SELECT pg_logical_emit_message(true, 'contexture', 'measures a commit')";

/// Looks at the store in a schema, or at where it would be made.
pub(crate) async fn look(url: &PostgresUrl, clock: &(dyn Fn() -> Timestamp + Send + Sync)) -> Result<Database> {
    let server = Server::new(url.clone())?;
    let started = Instant::now();
    let mut connection = server.connect().await.map_err(|trouble| trouble.error)?;
    let connected = started.elapsed();
    Look { url, connection: &mut connection }.at_everything(connected, clock).await.map_err(|trouble| trouble.error)
}

struct Look<'l> {
    url: &'l PostgresUrl,
    connection: &'l mut PgConnection,
}

impl Look<'_> {
    async fn at_everything(
        &mut self,
        connected: Duration,
        clock: &(dyn Fn() -> Timestamp + Send + Sync),
    ) -> Result<Database, Trouble> {
        let row = self.row(SERVER, &[]).await?;
        let place = self.place(&row).await?;
        let clock_ahead_micros = self.clock_ahead(clock).await?;
        let timings = self.timings(connected, &place.access).await?;
        let described = || {
            let optional = |column| row.optional_text(column).map(|text| text.map(str::to_owned));
            let is_on = |column| row.text(column).map(|setting| setting == "on");
            let verified = self.url.proof() != Proof::None;
            let encryption = optional(3)?.zip(optional(4)?);
            Ok(Database {
                place,
                server: self.url.server(),
                server_version: row.text(0)?.to_owned(),
                user: row.text(1)?.to_owned(),
                database: self.url.database().to_owned(),
                schema: self.url.schema().to_owned(),
                server_address: optional(2)?,
                encryption: encryption.map(|(protocol, cipher)| Encryption { protocol, cipher, verified }),
                durability: Durability {
                    fsync: is_on(7)?,
                    full_page_writes: is_on(8)?,
                    data_checksums: is_on(9)?,
                    synchronous_commit: row.text(10)?.to_owned(),
                },
                connections: Connections {
                    max: row.integer(11)?.cast_unsigned(),
                    used: row.integer(12)?.cast_unsigned(),
                },
                timings,
                clock_ahead_micros,
            })
        };
        described().map_err(Trouble::hopeless)
    }

    async fn place(&mut self, server: &Row) -> Result<StoreCondition, Trouble> {
        let found = schema::find(self.connection, self.url).await?;
        let version = schema::known(&found, self.url)?;
        let schema = [self.url.schema().into()];
        let (store, is_allowed, right) = match found {
            SchemaContents::NoSchema => {
                (Presence::Absent, self.number(MAY_MAKE_SCHEMA, &[]).await? == 1, Right::MakeSchema)
            }
            SchemaContents::Nothing => {
                (Presence::Absent, self.number(MAY_MAKE_TABLES, &schema).await? == 1, Right::MakeTables)
            }
            // What is not ours was refused above.
            SchemaContents::Foreign | SchemaContents::Version(_) => {
                let measures = self.measures(version).await?;
                (Presence::Present(measures), self.number(UNWRITABLE, &schema).await? == 0, Right::UseTables)
            }
        };
        let is_standby = server.integer(5).map_err(Trouble::hopeless)? == 1;
        let is_read_only = server.text(6).map_err(Trouble::hopeless)? == "on";
        let access = match (is_standby, is_read_only, is_allowed) {
            (true, _, _) => Access::ReadOnly(Obstacle::Standby),
            (_, true, _) => Access::ReadOnly(Obstacle::ReadOnlyTransactions),
            (_, _, false) => Access::ReadOnly(Obstacle::Rights { grant: right.grant(self.url) }),
            (false, false, true) => Access::ReadWrite,
        };
        Ok(StoreCondition { store, access })
    }

    async fn measures(&mut self, version: usize) -> Result<Measures, Trouble> {
        schema::first_row(self.connection, TABLES, &[]).await?;
        Ok(Measures {
            version: version as u64,
            known_version: schema::NEWEST as u64,
            spaces: self.number("SELECT count(*) FROM spaces", &[]).await?.cast_unsigned(),
            footprint: Footprint {
                database_bytes: self.number(FOOTPRINT, &[self.url.schema().into()]).await?.cast_unsigned(),
                log_bytes: None,
            },
        })
    }

    /// Compares the server's clock with the one here, as it was halfway through the question.
    async fn clock_ahead(&mut self, clock: &(dyn Fn() -> Timestamp + Send + Sync)) -> Result<i64, Trouble> {
        let before = clock().as_micros();
        let there = self.number(CLOCK, &[]).await?;
        let after = clock().as_micros();
        Ok(there.saturating_sub(before.midpoint(after)))
    }

    async fn timings(&mut self, connected: Duration, access: &Access) -> Result<Timings, Trouble> {
        let round_trip_micros = self.median(ROUND_TRIPS, "SELECT 1").await?;
        let commit_micros = match access {
            // Some services keep users from writing to the log directly; then the time stays unknown.
            Access::ReadWrite => self.median(COMMITS, COMMIT).await.ok(),
            Access::ReadOnly(_) => None,
        };
        Ok(Timings { connect_micros: micros(connected), round_trip_micros, commit_micros })
    }

    async fn median(&mut self, tries: usize, sql: &str) -> Result<u64, Trouble> {
        let mut times = Vec::with_capacity(tries);
        for _ in 0..tries {
            let started = Instant::now();
            self.connection.batch("be measured", sql).await?;
            times.push(micros(started.elapsed()));
        }
        times.sort_unstable();
        Ok(times[tries / 2])
    }

    async fn row(&mut self, sql: &str, params: &[Param<'_>]) -> Result<Row, Trouble> {
        let row = schema::first_row(self.connection, sql, params).await?;
        row.ok_or_else(|| Trouble::hopeless(Error::damaged("a statement that must return a row returned none")))
    }

    async fn number(&mut self, sql: &str, params: &[Param<'_>]) -> Result<i64, Trouble> {
        self.row(sql, params).await?.integer(0).map_err(Trouble::hopeless)
    }
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}
