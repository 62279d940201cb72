//! The server that everything on PostgreSQL is measured on.

use std::path::Path;

use contexture::Location;
use contexture_testkit::postgres::{PostgresServer, Shutdown};

use crate::{Failure, Result};

/// A private server, and a database for each of those who are measured.
pub(crate) struct Server {
    server: PostgresServer,
}

/// Whose database it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Database {
    Contexture,
    Floor,
    LangGraph,
}

impl Database {
    fn name(self) -> &'static str {
        match self {
            Self::Contexture => "measured",
            Self::Floor => "floor",
            Self::LangGraph => "langgraph",
        }
    }
}

impl Server {
    /// Starts a server in a directory; says so and returns nothing if PostgreSQL is not installed.
    pub(crate) fn start(scratch: &Path) -> Option<Self> {
        if !PostgresServer::available() {
            eprintln!(
                "PostgreSQL is not installed, so what is measured on it is left out: \
                 run `cargo xtask test` once, which installs it."
            );
            return None;
        }
        let server = PostgresServer::start_in(scratch);
        server.set("shared_buffers", "256MB");
        server.restart(Shutdown::Fast);
        for database in [Database::Contexture, Database::Floor, Database::LangGraph] {
            let locale = "TEMPLATE template0 LOCALE_PROVIDER libc LOCALE 'C'";
            server.psql(&format!("CREATE DATABASE {} {locale}", database.name()));
        }
        Some(Self { server })
    }

    /// Returns where a database is.
    pub(crate) fn url(&self, database: Database) -> String {
        format!("postgres://ctx@127.0.0.1:{}/{}", self.server.port(), database.name())
    }

    /// Returns where a store is that has a schema of its own.
    pub(crate) fn store(&self, schema: &str) -> Result<Location> {
        Ok(format!("{}?schema={schema}", self.url(Database::Contexture)).parse()?)
    }

    /// Does what the server would do by itself some time after many writes, so that it is not done during a measurement.
    pub(crate) fn settle(&self) -> Result<()> {
        for database in [Database::Contexture, Database::Floor] {
            self.server.try_psql(&self.url(database), "VACUUM ANALYZE").map_err(Failure::from)?;
        }
        self.server.psql("CHECKPOINT");
        Ok(())
    }

    /// Describes the server in one line.
    pub(crate) fn describe(&self) -> String {
        let version = self.server.psql("SHOW server_version");
        let shown = ["fsync", "synchronous_commit", "full_page_writes", "wal_sync_method", "shared_buffers"]
            .map(|name| format!("{name} {}", self.server.psql(&format!("SHOW {name}"))));
        format!("PostgreSQL {}, {}", version.split(' ').next().unwrap_or_default(), shown.join(", "))
    }
}
