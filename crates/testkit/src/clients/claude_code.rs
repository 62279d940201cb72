//! Claude Code.

use std::{path::PathBuf, process::Command};

use serde_json::{Value, json};

use super::{client::ClientResume, workplace::Workplace};
use crate::model_server::ModelServer;

pub(super) fn configure(command: &mut Command, workplace: &Workplace, server: &ModelServer) {
    // What it asks a person who starts it for the first time. It keeps more here itself.
    if !workplace.home().join(".claude.json").exists() {
        let project = workplace.project().to_string_lossy().into_owned();
        let answers = json!({
            "hasCompletedOnboarding": true,
            "theme": "dark",
            "customApiKeyResponses": {"approved": ["scripted"], "rejected": []},
            "projects": {project: {"hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true}},
        });
        workplace.write(".claude.json", &answers.to_string());
    }
    command.env("ANTHROPIC_BASE_URL", server.url()).env("CLAUDE_CODE_TMPDIR", workplace.temporary());
    command.envs([
        ("ANTHROPIC_API_KEY", "scripted"),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
        ("DISABLE_AUTOUPDATER", "1"),
        // Otherwise it refuses to work for root without asking.
        ("IS_SANDBOX", "1"),
    ]);
}

pub(super) fn ask(command: &mut Command, prompt: &str, resume: ClientResume<'_>, options: &[&str]) {
    command.args(["--print", "--output-format=json", "--dangerously-skip-permissions"]).args(options);
    match resume {
        ClientResume::No => {}
        ClientResume::Id(id) => _ = command.args(["--resume", id]),
        ClientResume::Fork(id) => _ = command.args(["--fork-session", "--resume", id]),
    }
    command.args(["--", prompt]);
}

pub(super) fn session(stdout: &str) -> Option<String> {
    let result: Value = serde_json::from_str(stdout).ok()?;
    Some(result["session_id"].as_str()?.to_owned())
}

pub(super) fn transcripts(workplace: &Workplace, session: &str) -> Vec<PathBuf> {
    let is_own = |path: &PathBuf| path.file_stem().is_some_and(|name| name == session);
    let is_agent = |path: &PathBuf| path.iter().any(|name| name == session);
    let files = workplace.files(".claude/projects", ".jsonl");
    let (own, other): (Vec<_>, Vec<_>) = files.into_iter().partition(is_own);
    own.into_iter().chain(other.into_iter().filter(is_agent)).collect()
}
