//! A store in a directory, as its user and as somebody with an editor for databases sees it.

use std::path::{Path, PathBuf};

/// Where a user's store is: beside the user's files.
pub(crate) struct Place {
    files: PathBuf,
    name: String,
}

impl Place {
    pub(crate) fn beside(files: &Path) -> Self {
        Self { files: files.to_owned(), name: "store".to_owned() }
    }

    /// Returns what `--store` takes.
    pub(crate) fn url(&self) -> String {
        self.shown()
    }

    /// Returns what the program calls the place.
    pub(crate) fn shown(&self) -> String {
        self.name.clone()
    }

    /// Replaces some letters by as many others in every artifact, behind the store's back.
    pub(crate) fn alter_artifacts(&self, from: &str, to: &str) {
        let body = format!("CAST(replace(CAST(body AS TEXT), '{from}', '{to}') AS BLOB)");
        self.change(&format!("UPDATE artifacts SET body = {body}"));
    }

    /// Deletes the artifacts that hold some letters, behind the store's back.
    pub(crate) fn lose_artifacts(&self, letters: &str) {
        self.change(&format!("DELETE FROM artifacts WHERE CAST(body AS TEXT) LIKE '%{letters}%'"));
    }

    /// Makes the store one of another version.
    pub(crate) fn set_version(&self, version: u32) {
        self.change(&format!("PRAGMA user_version = {version}"));
    }

    fn change(&self, sql: &str) {
        let database = self.files.join(&self.name).join("contexture.db");
        rusqlite::Connection::open(database).unwrap().execute_batch(sql).unwrap();
    }
}
