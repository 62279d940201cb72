//! The library that makes a writer's disk fail.

use std::{
    fs::File,
    path::{Path, PathBuf},
    process::Command,
};

use tempfile::TempDir;

use crate::writer::{self, Writer};

/// A directory with a store whose disk can be made to fail.
pub(crate) struct Faults {
    directory: TempDir,
}

/// In which way the disk fails.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fault {
    /// What `faults.c` calls it.
    pub(crate) kind: &'static str,
    /// Which files are meant; `$` stands for the end of the path.
    pub(crate) path: &'static str,
}

impl Faults {
    /// Builds the library; nothing where there is no C compiler, and then says so.
    pub(crate) fn build() -> Option<Self> {
        let directory = tempfile::tempdir().unwrap();
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("preload/faults.c");
        let library = directory.path().join("faults.so");
        let mut compiler = Command::new("cc");
        compiler.args(["-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-o"]).arg(&library).arg(&source).arg("-ldl");
        match compiler.status() {
            Ok(status) => assert!(status.success(), "faults.c does not compile"),
            Err(error) => {
                eprintln!("skipped: a failing disk needs a C compiler, and cc cannot be started: {error}");
                return None;
            }
        }
        Some(Self { directory })
    }

    pub(crate) fn store(&self) -> PathBuf {
        self.directory.path().join("store")
    }

    /// Starts a writer whose disk will fail.
    pub(crate) fn start(&self, fault: Fault, mode: &[&str]) -> Writer {
        let mut command = writer::command(&self.store(), "main", mode);
        command
            .env("LD_PRELOAD", self.directory.path().join("faults.so"))
            .env("CTX_FAULT", fault.kind)
            .env("CTX_FAULT_PATH", fault.path)
            .env("CTX_FAULT_TRIGGER", self.trigger());
        Writer::spawn(command)
    }

    /// Makes the disk fail from here on.
    pub(crate) fn strike(&self) {
        File::create(self.trigger()).unwrap();
    }

    fn trigger(&self) -> PathBuf {
        self.directory.path().join("trigger")
    }
}
