//! A home and a project for clients.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use tempfile::TempDir;

use super::ClientRelease;

/// What the project's notes say.
const NOTES: &str = "The door is green.\n";

/// A home directory of Ada's and a small git repository in it, which go away when the value is dropped.
///
/// Several clients may work in it at once, each with one process at a time.
pub struct Workplace {
    // Held for its `Drop`; the path to it may have links, which clients resolve.
    _directory: TempDir,
    root: PathBuf,
    release: ClientRelease,
}

impl Workplace {
    /// Makes a home, with a project that has a file `notes.txt`, which says that the door is green.
    pub fn new() -> Self {
        Self::of(ClientRelease::chosen())
    }

    /// Makes one in which clients of this release work.
    pub fn of(release: ClientRelease) -> Self {
        let directory = TempDir::with_prefix("ctx-").expect("a temporary directory can be made");
        let root = directory.path().canonicalize().expect("it was made");
        let workplace = Self { _directory: directory, root, release };
        fs::create_dir_all(workplace.project()).expect("the directory can be written");
        fs::create_dir(workplace.temporary()).expect("the directory can be written");
        fs::write(workplace.project().join("notes.txt"), NOTES).expect("the project can be written");
        workplace.git(&["init", "--quiet", "--initial-branch=main"]);
        workplace.git(&["add", "."]);
        workplace.git(&["commit", "--quiet", "--message=Start"]);
        workplace
    }

    /// Returns the directory above all others; everything in it is the workplace's own.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns which clients work here.
    pub fn release(&self) -> ClientRelease {
        self.release
    }

    /// Returns the home directory.
    pub fn home(&self) -> PathBuf {
        self.root.join("home/ada")
    }

    /// Returns the directory that clients work in.
    pub fn project(&self) -> PathBuf {
        self.home().join("project")
    }

    /// Returns a program as Ada would run it: in her project, and with nothing of the environment of the tests.
    pub fn program(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        let directory = program.parent().filter(|directory| directory.is_absolute()).map(Path::display);
        let path = directory.map_or_else(String::new, |directory| format!("{directory}:"));
        command
            .current_dir(self.project())
            .env_clear()
            .env("PATH", format!("{}:{path}/usr/local/bin:/usr/bin:/bin", self.home().join("bin").display()))
            .env("HOME", self.home())
            .env("TMPDIR", self.temporary())
            .envs([("USER", "ada"), ("LOGNAME", "ada"), ("SHELL", "/bin/sh")])
            .envs([("TZ", "UTC"), ("LANG", "C.UTF-8"), ("TERM", "dumb"), ("NO_COLOR", "1")])
            // The model is spoken to without encryption. Whatever else a client wants from the network, it gets nothing.
            .envs([("HTTPS_PROXY", "http://127.0.0.1:9"), ("https_proxy", "http://127.0.0.1:9")])
            .envs([("NO_PROXY", "127.0.0.1"), ("no_proxy", "127.0.0.1")]);
        command
    }

    /// Lets Ada, and whoever works for her, start a program by its own name.
    pub fn put_on_path(&self, program: &Path) {
        let (place, name) = (self.home().join("bin"), program.file_name().expect("a program has a name"));
        fs::create_dir_all(&place).expect("the home can be written");
        std::os::unix::fs::symlink(program, place.join(name)).expect("the home can be written");
    }

    /// Returns all files below a directory of the home whose name ends with `suffix`, sorted.
    pub(super) fn files(&self, directory: &str, suffix: &str) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let mut open = vec![self.home().join(directory)];
        while let Some(directory) = open.pop() {
            // A client that has not run yet has no directory.
            for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
                let path = entry.path();
                if path.is_dir() {
                    open.push(path);
                } else if path.to_str().is_some_and(|path| path.ends_with(suffix)) {
                    found.push(path);
                }
            }
        }
        found.sort();
        found
    }

    /// Writes a file into the home.
    pub(super) fn write(&self, path: &str, content: &str) {
        let path = self.home().join(path);
        let directory = path.parent().expect("it is below the home");
        fs::create_dir_all(directory).and_then(|()| fs::write(&path, content)).expect("the home can be written");
    }

    /// Returns a directory for temporary files.
    pub(super) fn temporary(&self) -> PathBuf {
        self.root.join("tmp")
    }

    fn git(&self, arguments: &[&str]) {
        let mut git = self.program(Path::new("git"));
        for role in ["AUTHOR", "COMMITTER"] {
            git.env(format!("GIT_{role}_NAME"), "Ada");
            git.env(format!("GIT_{role}_EMAIL"), "ada@example.org");
            git.env(format!("GIT_{role}_DATE"), "2026-01-01T00:00:00Z");
        }
        let status = git.args(arguments).status().expect("there is a git");
        assert!(status.success(), "git {arguments:?} ended with {status}");
    }
}

impl Drop for Workplace {
    fn drop(&mut self) {
        // Codex leaves a server behind, a copy of itself that lies in the home.
        let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
        for process in processes.filter(|process| {
            fs::read_link(process.path().join("exe")).is_ok_and(|program| program.starts_with(&self.root))
        }) {
            // It may have ended by now.
            _ = Command::new("kill").args(["-s", "KILL", "--"]).arg(process.file_name()).status();
        }
    }
}

impl Default for Workplace {
    fn default() -> Self {
        Self::new()
    }
}
