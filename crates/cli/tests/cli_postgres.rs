//! The command line on PostgreSQL.

mod cli;
#[path = "cli/postgres.rs"]
mod postgres;
#[path = "cli/postgres_check.rs"]
mod postgres_check;
#[path = "cli/postgres_hook.rs"]
mod postgres_hook;

use std::path::Path;

use contexture_testkit::{Backend as _, postgres::PostgresBackend};

/// Where a user's store is: in a schema of its own.
pub(crate) struct Place {
    pub(crate) backend: PostgresBackend,
}

impl Place {
    pub(crate) fn beside(_files: &Path) -> Self {
        Self { backend: PostgresBackend::new() }
    }

    /// Returns what `--store` takes.
    pub(crate) fn url(&self) -> String {
        self.backend.url()
    }

    /// Returns what the program calls the place.
    pub(crate) fn shown(&self) -> String {
        self.backend.location().to_string()
    }

    /// Replaces some letters by as many others in every artifact, behind the store's back.
    pub(crate) fn alter_artifacts(&self, from: &str, to: &str) {
        let body = format!("convert_to(replace(convert_from(body, 'UTF8'), '{from}', '{to}'), 'UTF8')");
        self.change(&format!("UPDATE {{schema}}.artifacts SET body = {body} WHERE {}", holds(from)));
    }

    /// Deletes the artifacts that hold some letters, behind the store's back.
    pub(crate) fn lose_artifacts(&self, letters: &str) {
        self.change(&format!("DELETE FROM {{schema}}.artifacts WHERE {}", holds(letters)));
    }

    /// Makes the store one of another version.
    pub(crate) fn set_version(&self, version: u32) {
        self.change(&format!("UPDATE {{schema}}.contexture_store SET version = {version}"));
    }

    fn change(&self, sql: &str) {
        self.backend.server().psql(&sql.replace("{schema}", self.backend.schema()));
    }
}

fn holds(letters: &str) -> String {
    format!("position(convert_to('{letters}', 'UTF8') IN body) > 0")
}
