//! Where the runtimes of a user are at home.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    path::{Path, PathBuf},
};

use super::{
    Runtime,
    descriptor::{HomeDirectory, UsualHome},
};

/// The directories that runtimes keep their settings and sessions in. One that has none is not known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Homes(BTreeMap<Runtime, PathBuf>);

impl Homes {
    /// Finds them by what variables say, and else in the usual places below the user's home and its data directory.
    pub fn find(
        variable: impl Fn(&str) -> Option<OsString>,
        user_home: Option<&Path>,
        data_home: Option<&Path>,
    ) -> Self {
        let home = |runtime: Runtime| {
            let HomeDirectory { variable: name, usual } = &runtime.0.home;
            let usual = || match usual {
                UsualHome::User(path) => Some(user_home?.join(path)),
                UsualHome::Data(path) => Some(data_home?.join(path)),
            };
            variable(name).map(PathBuf::from).or_else(usual)
        };
        Self(Runtime::ALL.iter().filter_map(|runtime| Some((*runtime, home(*runtime)?))).collect())
    }

    /// Adds the home of a runtime.
    #[must_use]
    pub fn with(mut self, runtime: Runtime, home: impl Into<PathBuf>) -> Self {
        self.0.insert(runtime, home.into());
        self
    }

    /// Returns the home of a runtime. That of one with a database may be the database itself.
    pub fn of(&self, runtime: Runtime) -> Option<&Path> {
        self.0.get(&runtime).map(PathBuf::as_path)
    }
}
