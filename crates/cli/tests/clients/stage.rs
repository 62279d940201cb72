//! Ada's home, the model and the program.

use std::{
    fs,
    path::Path,
    process::{Command, Output, Stdio},
};

use contexture_testkit::{
    clients::{Client, ClientRelease, Workplace},
    model_server::ModelServer,
};
use serde_json::Value;

/// The program, for tools and hooks.
pub(crate) const CTX: &str = env!("CARGO_BIN_EXE_ctx");
pub(crate) const QUESTION: &str = "What colour is the door?";
pub(crate) const SUMMARY: &str = "Ada wanted to know the colour of the door.";

pub(crate) struct Stage {
    pub(crate) workplace: Workplace,
    pub(crate) server: ModelServer,
}

impl Stage {
    pub(crate) fn new() -> Self {
        Self::of(ClientRelease::chosen())
    }

    /// Makes one for clients of this release.
    pub(crate) fn of(release: ClientRelease) -> Self {
        Self { workplace: Workplace::of(release), server: ModelServer::start() }
    }

    /// Returns which clients are on it.
    pub(crate) fn release(&self) -> ClientRelease {
        self.workplace.release()
    }

    /// Runs the program as Ada and returns what it says.
    pub(crate) fn ctx(&self, arguments: &[&str]) -> String {
        said(&mut self.command(arguments))
    }

    /// Returns the program as Ada would run it.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.workplace.program(Path::new(CTX));
        command.args(arguments).stdin(Stdio::null());
        command
    }

    pub(crate) fn show(&self, reference: &str) -> Value {
        serde_json::from_str(&self.ctx(&["--json", "show", reference])).unwrap()
    }

    /// Returns the id of a commit.
    pub(crate) fn commit(&self, reference: &str) -> String {
        id_of(&self.show(reference))
    }

    /// Returns the commits that lead to one, the newest first.
    pub(crate) fn log(&self, reference: &str) -> Vec<Value> {
        self.ctx(&["--json", "log", reference]).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Imports everything and returns how many commits are new.
    pub(crate) fn newly_imported(&self) -> u64 {
        let summary: Value = serde_json::from_str(self.ctx(&["--json", "import"]).lines().last().unwrap()).unwrap();
        summary["runtimes"].as_object().unwrap().values().map(|sum| sum["new_commits"].as_u64().unwrap()).sum()
    }

    /// Lets Ada start a client by its name.
    pub(crate) fn put_on_path(&self, client: Client) {
        let name = match client {
            Client::ClaudeCode => "claude",
            Client::Codex => "codex",
            Client::Gemini => "gemini",
            Client::Pi => "pi",
        };
        let command = client.command(&self.workplace, &self.server);
        // The terminal is that of whoever starts it.
        let variables = command.get_envs().filter(|(key, _)| *key != "TERM");
        let variables = variables.filter_map(|(key, value)| Some((key, value?)));
        let exports = variables.map(|(key, value)| format!("export {}='{}'\n", key.display(), value.display()));
        let words = std::iter::once(command.get_program()).chain(command.get_args());
        let words = words.map(|word| format!("'{}' ", word.display()));
        let (exports, words): (String, String) = (exports.collect(), words.collect());
        let script = format!("#!/bin/sh\n{exports}exec {words}\"$@\"\n");
        let place = self.workplace.home().join("bin");
        fs::create_dir_all(&place).unwrap();
        let path = place.join(name);
        fs::write(&path, script).unwrap();
        let mode = <fs::Permissions as std::os::unix::fs::PermissionsExt>::from_mode(0o755);
        fs::set_permissions(&path, mode).unwrap();
    }
}

/// Runs a program to its end, which must be a good one, and returns what it says.
pub(crate) fn said(command: &mut Command) -> String {
    let Output { status, stdout, stderr } = command.output().expect("the program starts");
    let (stdout_text, stderr_text) = (String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
    assert!(status.success(), "{command:?} ended with {status}:\n{stdout_text}{stderr_text}");
    stdout_text.into_owned()
}

pub(crate) fn id_of(commit: &Value) -> String {
    commit["id"].as_str().unwrap().to_owned()
}

/// Returns what the program calls a client.
pub(crate) fn name(client: Client) -> &'static str {
    match client {
        Client::ClaudeCode => "claude-code",
        Client::Codex => "codex",
        Client::Gemini => "gemini",
        Client::Pi => "pi",
    }
}
