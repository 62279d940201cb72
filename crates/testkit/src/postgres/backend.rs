//! Stores on PostgreSQL.

use std::{
    process,
    sync::atomic::{AtomicU64, Ordering},
};

use contexture::Location;
use contexture_core::ArtifactId;
use contexture_store::table::ColumnKind;

use super::PostgresServer;
use crate::{Backend, EngineColumn};

/// A store in a schema of its own, on the server that all tests of this process share.
pub struct PostgresBackend {
    schema: String,
}

impl PostgresBackend {
    /// Chooses a schema that nobody else has.
    pub fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self { schema: format!("t{}_{}", process::id(), NEXT.fetch_add(1, Ordering::Relaxed)) }
    }

    /// Returns the server.
    pub fn server(&self) -> &'static PostgresServer {
        PostgresServer::shared()
    }

    /// Returns the schema that holds the store.
    pub fn schema(&self) -> &str {
        &self.schema
    }

    /// Returns where the store is. Its connections carry the name of the schema.
    pub fn url(&self) -> String {
        let schema = &self.schema;
        format!("{}?schema={schema}&application_name={schema}", self.server().url())
    }

    /// Ends every connection to the store from the server's side.
    pub fn terminate_connections(&self) {
        let sql = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name";
        self.server().psql(&format!("{sql} = '{}'", self.schema));
    }

    fn change_rows(&self, sql: &str, id: ArtifactId) {
        let digest = id.to_string().replacen("art-", "'\\x", 1) + "'::bytea";
        let sql = sql.replace("{schema}", &self.schema).replace("{digest}", &digest);
        let changed = self.server().psql(&format!("WITH changed AS ({sql} RETURNING 1) SELECT count(*) FROM changed"));
        assert_ne!(changed.trim(), "0", "{id} is not stored as such");
    }
}

impl Default for PostgresBackend {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for PostgresBackend {
    fn drop(&mut self) {
        // A server that ends anyway need not be tidy, and a panic here would hide the one that led to it. Connections
        // go first: their runtime may be waiting for this, and so never tell the server that a transaction is over.
        let schema = &self.schema;
        let drop = format!(
            "SET client_min_messages = error; SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity \
             WHERE application_name = '{schema}'; DROP SCHEMA IF EXISTS {schema} CASCADE"
        );
        let _dropped = self.server().try_psql(&self.server().url(), &drop);
    }
}

impl Backend for PostgresBackend {
    async fn create() -> Self {
        Self::new()
    }

    fn location(&self) -> Location {
        self.url().parse().expect("it is a URL")
    }

    async fn crash(&mut self, _torn: &[u8]) {
        self.terminate_connections();
    }

    async fn lose_artifact(&self, id: ArtifactId) {
        self.change_rows("DELETE FROM {schema}.artifacts WHERE digest = {digest}", id);
    }

    async fn damage_artifact(&self, id: ArtifactId) {
        let sql = "UPDATE {schema}.artifacts SET encoding = 'raw', \
                   body = decode(repeat('00', CAST(size AS INTEGER)), 'hex') WHERE key = coalesce( \
                   (SELECT p.part FROM {schema}.parts p JOIN {schema}.artifacts a ON a.key = p.artifact \
                    WHERE a.digest = {digest} LIMIT 1), \
                   (SELECT key FROM {schema}.artifacts WHERE digest = {digest}))";
        self.change_rows(sql, id);
    }

    async fn columns(&self) -> Vec<EngineColumn> {
        let sql = "SELECT c.table_name, c.column_name, c.data_type, c.is_nullable, coalesce(k.ordinal_position, 0) \
                   FROM information_schema.columns c LEFT JOIN information_schema.key_column_usage k \
                   ON k.table_schema = c.table_schema AND k.table_name = c.table_name \
                   AND k.column_name = c.column_name AND k.constraint_name IN \
                   (SELECT p.constraint_name FROM information_schema.table_constraints p \
                    WHERE p.table_schema = c.table_schema AND p.constraint_type = 'PRIMARY KEY') \
                   WHERE c.table_name <> 'contexture_store' AND c.data_type <> 'tsvector' AND c.table_schema";
        let described = self.server().psql(&format!("{sql} = '{}' ORDER BY c.ordinal_position", self.schema));
        let column = |line: &str| {
            let fields: Vec<&str> = line.split('|').collect();
            let &[table, name, kind, nullable, key_place] = fields.as_slice() else {
                panic!("a column has five facts: {line}");
            };
            let kind = match kind {
                "bigint" => ColumnKind::Number,
                "text" => ColumnKind::Text,
                "bytea" => ColumnKind::Bytes,
                other => panic!("no column is of type {other}"),
            };
            let key_place = key_place.parse().expect("a place is a number");
            EngineColumn { table: table.into(), name: name.into(), kind, is_optional: nullable == "YES", key_place }
        };
        let mut columns: Vec<EngineColumn> = described.lines().map(column).collect();
        columns.sort_by(|one, other| one.table.cmp(&other.table));
        columns
    }
}
