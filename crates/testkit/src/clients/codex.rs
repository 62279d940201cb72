//! Codex.

use std::{
    fs::File,
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;

use super::{client::ClientResume, workplace::Workplace};
use crate::model_server::ModelServer;

pub(super) fn configure(command: &mut Command, workplace: &Workplace, server: &ModelServer) {
    let configuration = format!(
        r#"model = "scripted"
model_provider = "scripted"
check_for_update_on_startup = false

[model_providers.scripted]
name = "scripted"
base_url = "{}/v1"
env_key = "SCRIPTED_KEY"
wire_api = "responses"

[analytics]
enabled = false

# Would be fetched from the network.
[features]
apps = false
plugins = false

# It would ask a person who starts it for the first time.
[projects."{}"]
trust_level = "trusted"
"#,
        server.url(),
        workplace.project().display()
    );
    workplace.write(".codex/config.toml", &configuration);
    command.env("SCRIPTED_KEY", "scripted");
}

pub(super) fn ask(command: &mut Command, prompt: &str, resume: ClientResume<'_>, options: &[&str]) {
    command.arg("exec");
    let session = match resume {
        ClientResume::No => None,
        ClientResume::Id(id) => {
            command.arg("resume");
            Some(id)
        }
        ClientResume::Fork(id) => {
            command.arg("fork");
            Some(id)
        }
    };
    command.args(["--json", "--dangerously-bypass-approvals-and-sandbox"]).args(options).arg("--");
    command.args(session).arg(prompt);
}

pub(super) fn session(stdout: &str) -> Option<String> {
    let event: Value = serde_json::from_str(stdout.lines().next()?).ok()?;
    Some(event["thread_id"].as_str()?.to_owned())
}

pub(super) fn transcripts(workplace: &Workplace, session: &str) -> Vec<PathBuf> {
    let is_own = |path: &PathBuf| path.to_string_lossy().contains(session);
    let files = workplace.files(".codex/sessions", ".jsonl");
    let (own, other): (Vec<_>, Vec<_>) = files.into_iter().partition(is_own);
    let is_agent = |path: &PathBuf| parent(path).is_some_and(|parent| parent == session);
    own.into_iter().chain(other.into_iter().filter(is_agent)).collect()
}

/// Returns the session that a sub-agent's session belongs to.
fn parent(transcript: &Path) -> Option<String> {
    let mut first = String::new();
    BufReader::new(File::open(transcript).ok()?).read_line(&mut first).ok()?;
    let first: Value = serde_json::from_str(&first).ok()?;
    Some(first["payload"]["parent_thread_id"].as_str()?.to_owned())
}
