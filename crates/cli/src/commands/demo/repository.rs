//! The git repository of the demonstration.

use std::{io, process::Command};

use contexture::core::Timestamp;

/// The file that the agent of the demonstration works on.
pub(super) const FILE: &str = "tests/resume.rs";

/// What is in it after its work.
pub(super) const AFTER: &str = "\
#[test]
fn resume_after_restart() {
    let server = Server::start();
    server.restart();
    // Give it a moment.
    thread::sleep(Duration::from_millis(500));
    Client::connect(server.address()).unwrap();
}
";

/// Returns what is in the file before it.
pub(super) fn before() -> String {
    AFTER.replace("500", "50")
}

/// Makes the current directory a repository. Says whether there is a git that could.
pub(super) fn make(at: Timestamp) -> io::Result<bool> {
    let made = git(&["init", "--quiet", "--template=", "--initial-branch=main"], at)?;
    Ok(made && git(&["add", FILE], at)? && commit("Resume after a restart", at)?)
}

/// Commits what was changed.
pub(super) fn commit(message: &str, at: Timestamp) -> io::Result<bool> {
    git(&["commit", "--quiet", "--all", "--no-verify", "--no-gpg-sign", "--message", message], at)
}

fn git(arguments: &[&str], at: Timestamp) -> io::Result<bool> {
    let mut git = Command::new("git");
    for role in ["AUTHOR", "COMMITTER"] {
        git.env(format!("GIT_{role}_NAME"), "Ada").env(format!("GIT_{role}_EMAIL"), "ada@example.org");
        git.env(format!("GIT_{role}_DATE"), at.to_string());
    }
    // The user's settings may sign, ask and call hooks.
    git.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    match git.args(arguments).output() {
        Ok(output) => Ok(output.status.success()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}
