//! `ctx resume`.

use std::fs;

use insta::assert_snapshot;
use serde_json::Value;

use super::harness::{Ran, User};

fn line(kind: &str, uuid: &str, parent: &str, text: &str) -> String {
    let parent = if parent.is_empty() { "null".to_owned() } else { format!("\"{parent}\"") };
    format!(
        r#"{{"type":"{kind}","uuid":"{uuid}","parentUuid":{parent},"sessionId":"5e55","timestamp":"2026-11-15T19:00:00Z","cwd":"/nowhere","version":"2.1.0","message":{{"role":"{kind}","content":"{text}"}}}}"#
    ) + "\n"
}

/// A user who has run an agent.
fn with_session() -> User {
    let user = User::new();
    fs::create_dir_all(user.path(".claude/projects/-nowhere")).unwrap();
    let lines = [
        line("user", "u1", "", "Find the failing test"),
        line("assistant", "a1", "u1", "It races."),
        line("user", "u2", "a1", "Wait for the port"),
    ];
    user.file(".claude/projects/-nowhere/5e55.jsonl", lines.concat());
    user.done(&["import"]);
    user
}

/// Hides what is another each time: the id of the session, where the test runs, and what the length of that adds up to.
fn steady(user: &User, ran: &Ran) -> String {
    let home = fs::canonicalize(user.path("")).unwrap();
    let home = home.to_str().unwrap();
    let slug = home.replace(|letter: char| !letter.is_ascii_alphanumeric(), "-");
    let text = ran.to_string().replace(home, "HOME").replace(&slug, "-HOME");
    let mut text = text.replace(&home.trim_start_matches('/').replace('/', "-"), "HOME");
    let is_id = |text: &str| text.split('-').map(str::len).eq([8, 4, 4, 4, 12]) && text.is_ascii();
    let ids =
        |text: &str| (0..text.len()).filter_map(|at| text.get(at..at + 36)).find(|part| is_id(part)).map(str::to_owned);
    while let Some(id) = ids(&text) {
        text = text.replace(&id, "SESSION");
    }
    text.lines().filter(|line| !line.starts_with("Materialized")).map(|line| line.to_owned() + "\n").collect()
}

#[test]
fn the_command_is_printed_and_the_session_is_there() {
    let user = with_session();
    let ran = user.run(&["resume", "session/5e55", "--print"]);
    assert_snapshot!(steady(&user, &ran), @"
    cd HOME && claude --resume SESSION
    [stderr]
    Session SESSION of Claude Code is at HOME/.claude/projects/-HOME/SESSION.jsonl
    ");
    let ran = user.run(&[
        "resume",
        "session/5e55",
        "--in",
        "codex",
        "--at",
        "session/5e55~1",
        "--print",
        "--",
        "exec",
        "go on",
    ]);
    assert_snapshot!(steady(&user, &ran), @"
    cd HOME && codex resume SESSION exec 'go on'
    [stderr]
    Session SESSION of Codex is at HOME/.codex/sessions/2026/11/15/rollout-2026-11-15T20-10-00-SESSION.jsonl
    Translated 1 commit of claude-code-v1 (mapped).
    ");
    assert_eq!(user.run(&["--json", "import"]).stdout.matches(r#""new_commits":0"#).count(), 5);
}

#[test]
fn a_session_for_codex_names_the_provider_that_it_is_configured_with() {
    let user = with_session();
    let provider = || {
        let written = user.done(&["--json", "resume", "session/5e55", "--in", "codex", "--print"]);
        let written: Value = serde_json::from_str(&written).unwrap();
        let written = fs::read_to_string(written["path"].as_str().unwrap()).unwrap();
        let meta: Value = serde_json::from_str(written.lines().next().unwrap()).unwrap();
        meta["payload"]["model_provider"].clone()
    };
    assert_eq!(provider(), "openai");
    fs::create_dir_all(user.path(".codex")).unwrap();
    user.file(".codex/config.toml", "model_provider = \"gateway\"\n\n[model_providers.gateway]\nname = \"Ours\"\n");
    assert_eq!(provider(), "gateway");
}

#[test]
fn an_agent_that_is_not_there_leaves_a_session_to_go_on_with() {
    let user = with_session();
    let ran = user.run(&["resume", "session/5e55", "--in", "pi"]);
    assert_snapshot!(steady(&user, &ran), @"
    [exit 1]
    [stderr]
    Translated 2 commits of claude-code-v1 (mapped).
    Starting pi: pi --session HOME/.pi/agent/sessions/--HOME--/2026-11-15T20-10-00-000Z_SESSION.jsonl
    error: cannot start pi
      because: No such file or directory (os error 2)
      hint: the session is written; this goes on with it: `cd HOME && pi --session HOME/.pi/agent/sessions/--HOME--/2026-11-15T20-10-00-000Z_SESSION.jsonl`
    ");
}

#[test]
fn what_cannot_be_resumed_is_reported() {
    let user = with_session();
    assert_snapshot!(user.run(&["resume", "nobody"]), @"
    [exit 1]
    [stderr]
    error: there is no head nobody
      hint: `ctx head list` shows the heads
    ");
    assert_snapshot!(user.run(&["resume", "session/5e55", "--in", "cursor"]), @"
    [exit 2]
    [stderr]
    error: invalid value 'cursor' for '--in <RUNTIME>'
      [possible values: claude-code, codex, gemini, pi]

    For more information, try '--help'.
    ");
    assert_snapshot!(user.run(&["resume", "session/5e55~1", "--at", "session/5e55", "--print"]), @"
    [exit 1]
    [stderr]
    error: ctx-3cdf4aaf30804941049d628f790d4345 is not an ancestor of ctx-2a0b99d888ea69a3fbf6d11ab2291a6f
      hint: `ctx log ctx-2a0b99d888` shows its ancestors
    ");
    user.file("notes.txt", "Remember the port.\n");
    user.done(&["checkpoint", "--format", "text", "--head", "notes", "notes.txt"]);
    assert_snapshot!(user.run(&["resume", "notes", "--print"]), @"
    [exit 2]
    [stderr]
    error: ctx-cd9b2fb501cb0bfe62ae4ab269457160 comes from no agent that can go on with it: its format is text
      hint: name one: `--in claude-code`, codex, gemini or pi
    ");
    assert_snapshot!(user.run(&["resume", "session/5e55", "--cwd", "missing", "--print"]), @"
    [exit 1]
    [stderr]
    error: cannot read missing
      because: No such file or directory (os error 2)
    ");
}

#[test]
fn from_none_an_agent_starts_afresh() {
    let user = User::new();
    let here = user.path(".").canonicalize().unwrap();
    let printed = user.done(&["resume", "none", "--in", "codex", "--print", "--", "exec", "Go on."]);
    assert_eq!(printed, format!("cd {} && codex exec 'Go on.'", here.display()));
    let document = user.done(&["--json", "resume", "none", "--in", "codex", "--", "exec"]);
    let document: serde_json::Value = serde_json::from_str(&document).unwrap();
    assert_eq!(
        (&document["command"], &document["commit"]),
        (&serde_json::json!(["codex", "exec"]), &serde_json::Value::Null)
    );
    let unnamed = user.run(&["resume", "none"]);
    assert!(unnamed.code == 2 && unnamed.stderr.contains("--in"), "{unnamed}");
    // What it says is captured, and whatever it starts is told of role and thread.
    let says = |text: &str| {
        format!(
            r#"printf '{{"type":"thread.started","thread_id":"t-1"}}\n{{"type":"item.completed","item":{{"type":"agent_message","text":"'"{text}"'"}}}}\n{{"type":"turn.completed"}}\n'"#
        )
    };
    std::fs::create_dir(user.path("bin")).unwrap();
    user.file("bin/codex", format!("#!/bin/sh\n{}\n", says("$CTX_TEMPLATE in $CTX_THREAD at ${PWD##*/}")));
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(user.path("bin/codex"), executable).unwrap();
    let flags = ["--template", "reviewer", "--thread", "$t:x", "--cwd", "bin", "--", "exec", "--json", "Go."];
    let mut resume = user.command(&[&["resume", "none", "--in", "codex"], &flags[..]].concat());
    resume.env("PATH", format!("{}:/usr/bin:/bin", here.join("bin").display()));
    let ran = user.ran(resume.output());
    assert!(ran.code == 0 && ran.stdout.contains("reviewer in $t:x at bin"), "{ran}");
    let said = user.done(&["materialize", "thread/-t-x", "--format", "text"]);
    assert!(said.contains("reviewer in $t:x at bin"), "{said}");
    // `ctx run --from none` is the same.
    let mut run = user.command(&["run", "--from", "none", "--", "codex", "exec", "--json"]);
    run.env("PATH", format!("{}:/usr/bin:/bin", here.join("bin").display()));
    let ran = user.ran(run.output());
    assert!(ran.code == 0 && ran.stdout.contains("turn.completed"), "{ran}");
}
