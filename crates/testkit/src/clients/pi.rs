//! The pi coding agent.

use std::{path::PathBuf, process::Command};

use serde_json::{Value, json};

use super::{client::ClientResume, workplace::Workplace};
use crate::model_server::ModelServer;

pub(super) fn configure(command: &mut Command, workplace: &Workplace, server: &ModelServer) {
    let models = json!({"providers": {"scripted": {
        "baseUrl": server.url(),
        "api": "anthropic-messages",
        "apiKey": "scripted",
        "models": [{"id": "scripted", "reasoning": true}],
    }}});
    workplace.write(".pi/agent/models.json", &models.to_string());
    // It would find nothing to sum up in conversations as short as those of tests.
    let settings = json!({"compaction": {"keepRecentTokens": 10}});
    workplace.write(".pi/agent/settings.json", &settings.to_string());
    command.envs([("PI_OFFLINE", "1"), ("PI_TELEMETRY", "0")]);
}

pub(super) fn ask(command: &mut Command, prompt: &str, resume: ClientResume<'_>, options: &[&str]) {
    command.args(["--print", "--offline", "--mode", "json", "--provider", "scripted", "--model", "scripted"]);
    command.args(options);
    match resume {
        ClientResume::No => {}
        ClientResume::Id(id) => _ = command.args(["--session", id]),
        ClientResume::Fork(id) => _ = command.args(["--fork", id]),
    }
    command.args(["--", prompt]);
}

pub(super) fn session(stdout: &str) -> Option<String> {
    let header: Value = serde_json::from_str(stdout.lines().next()?).ok()?;
    Some(header["id"].as_str()?.to_owned())
}

pub(super) fn transcripts(workplace: &Workplace, session: &str) -> Vec<PathBuf> {
    let is_own = |path: &PathBuf| path.to_string_lossy().contains(session);
    workplace.files(".pi/agent/sessions", ".jsonl").into_iter().filter(is_own).collect()
}
