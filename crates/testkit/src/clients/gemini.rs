//! Gemini CLI.

use std::{path::PathBuf, process::Command};

use serde_json::{Value, json};

use super::{client::ClientResume, workplace::Workplace};
use crate::model_server::ModelServer;

pub(super) fn configure(command: &mut Command, workplace: &Workplace, server: &ModelServer) {
    // Retention is off because it deletes more than what is old: a session that is resumed in another minute gets a second,
    // empty file, and the next start removes that as damaged, with all files of the same session.
    let settings = json!({
        "general": {
            "enableAutoUpdate": false, "enableAutoUpdateNotification": false, "sessionRetention": {"enabled": false},
        },
        "privacy": {"usageStatisticsEnabled": false},
        "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": false}},
    });
    // Others may have added to them.
    if !workplace.home().join(".gemini/settings.json").exists() {
        workplace.write(".gemini/settings.json", &settings.to_string());
    }
    command.env("GOOGLE_GEMINI_BASE_URL", server.url());
    // It would start itself again only to give itself more memory.
    command.envs([("GEMINI_API_KEY", "scripted"), ("GEMINI_CLI_NO_RELAUNCH", "true")]);
}

pub(super) fn ask(command: &mut Command, prompt: &str, resume: ClientResume<'_>, options: &[&str]) {
    command.args(["--model=gemini-2.5-pro", "--yolo", "--output-format=json"]).args(options);
    match resume {
        ClientResume::No => {}
        ClientResume::Id(id) => _ = command.args(["--resume", id]),
        ClientResume::Fork(_) => panic!("Gemini CLI cannot fork a session"),
    }
    command.args(["--prompt", prompt]);
}

pub(super) fn session(stdout: &str) -> Option<String> {
    let result: Value = serde_json::from_str(stdout).ok()?;
    Some(result["session_id"].as_str()?.to_owned())
}

/// A session may have several files; only the first goes on when it is resumed.
pub(super) fn transcripts(workplace: &Workplace, session: &str) -> Vec<PathBuf> {
    let suffix = format!("-{}.jsonl", session.get(..8).unwrap_or(session));
    let is_own = |path: &PathBuf| path.to_string_lossy().ends_with(&suffix);
    let is_agent = |path: &PathBuf| path.iter().any(|name| name == session);
    let files = workplace.files(".gemini/tmp", ".jsonl");
    let (own, other): (Vec<_>, Vec<_>) = files.into_iter().partition(is_own);
    own.into_iter().chain(other.into_iter().filter(is_agent)).collect()
}
