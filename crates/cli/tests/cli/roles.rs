//! Roles of agents: `--template` and `CTX_TEMPLATE`.

use std::{
    fs::{self, File, Permissions},
    os::unix::fs::PermissionsExt as _,
};

use serde_json::{Value, json};

use super::harness::User;

const SESSION: &str = "session/0c3f0000-0000-4000-8000-000000000000";
/// The program, for scripts.
const CTX: &str = env!("CARGO_BIN_EXE_ctx");

fn template(user: &User, commit: &str) -> Value {
    let shown: Value = serde_json::from_str(&user.done(&["--json", "show", commit])).unwrap();
    shown["template"].clone()
}

#[test]
fn a_hook_takes_the_role_from_its_flag_or_the_environment() {
    let user = User::new();
    let tell = |flags: &[&str], variable: Option<&str>| {
        let path = user.path("session.jsonl");
        let event =
            json!({"hook_event_name": "Stop", "session_id": &SESSION[8..], "transcript_path": path, "cwd": "/"});
        user.file("event.json", event.to_string());
        let mut hook = user.command(&[&["hook", "claude-code"], flags].concat());
        hook.envs(variable.map(|role| ("CTX_TEMPLATE", role)));
        hook.stdin(File::open(user.path("event.json")).unwrap());
        assert_eq!(user.ran(hook.output()).to_string(), "");
        template(&user, SESSION)
    };
    user.session_line("user", "u1", None, "Look at it");
    user.session_line("assistant", "a1", Some("u1"), "It has a race");
    assert_eq!(tell(&[], Some("reviewer")), "reviewer");
    user.session_line("user", "u2", Some("a1"), "Where?");
    user.session_line("assistant", "a2", Some("u2"), "There");
    assert_eq!(tell(&[], None), "reviewer", "it is still the same agent");
    user.session_line("user", "u3", Some("a2"), "Mend it");
    user.session_line("assistant", "a3", Some("u3"), "Done");
    assert_eq!(tell(&["--template", "author"], Some("reviewer")), "author");
    let listed = user.done(&["sessions"]);
    assert!(listed.contains("claude-code as author"), "{listed}");
    assert_eq!(user.done(&["sessions", "--template", "author"]), listed);
    assert_eq!(user.done(&["sessions", "--template", "reviewer"]), "");
    assert_eq!(user.done(&["list", "--template", "reviewer"]).lines().count(), 2);
    // The runtime is told by what was written, where the template does not name it.
    assert!(user.done(&["search", "--runtime", "claude-code", "race"]).contains("It has a race"));
    assert_eq!(user.run(&["search", "--runtime", "codex", "race"]).code, 1);
}

#[test]
fn what_a_run_starts_has_its_role() {
    let user = User::new();
    let script = format!("echo looking; echo note | {CTX} checkpoint --format text --head note -");
    let script = format!("{script}; echo every $CTX_EVERY");
    let ran = user.run(&["run", "--template", "reviewer", "--every", "5turns", "--", "sh", "-c", &script]);
    assert_eq!(ran.code, 0, "{ran}");
    assert!(ran.stdout.contains("every 5 turns"), "{ran}");
    assert_eq!([template(&user, "principal/ada@laptop"), template(&user, "note")], ["reviewer", "reviewer"]);
}

#[test]
fn whoever_goes_on_has_the_role_of_the_commit_before() {
    let user = User::new();
    user.file("turn.jsonl", "{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"Look\"}}\n");
    let checkpoint =
        |flags: &[&str]| user.done(&[&["checkpoint", "--format", "claude-code-v1"], flags, &["turn.jsonl"]].concat());
    let first = checkpoint(&["--template", "reviewer", "--head", "main"]);
    checkpoint(&["--head", "main"]);
    assert_eq!(template(&user, "main"), "reviewer");
    user.done(&["fork", "main", "--head", "try"]);
    checkpoint(&["--head", "try", "--template", "author"]);
    assert_eq!(template(&user, "try"), "author");
    user.file("summary.txt", "A race.");
    user.done(&["compact", "main", "--summary", "summary.txt"]);
    user.done(&["snapshot", "main"]);
    assert_eq!(template(&user, "main"), "reviewer");
    // An agent is handed it, and what it says has it.
    let agent = r#"printf '{"type":"thread.started","thread_id":"t-1"}\n{"type":"item.completed","item":{"type":"agent_message","text":"'"$CTX_TEMPLATE"'"}}\n{"type":"turn.completed"}\n'"#;
    user.file("codex", format!("#!/bin/sh\n{agent}\n"));
    fs::set_permissions(user.path("codex"), Permissions::from_mode(0o755)).unwrap();
    let ran = user.run(&["run", "--from", &first, "--", "./codex", "exec", "--json", "Go on."]);
    assert_eq!(ran.code, 0, "{ran}");
    assert!(ran.stdout.contains("\"text\":\"reviewer\""), "{ran}");
    assert_eq!(template(&user, "principal/ada@laptop"), "reviewer");
}

#[test]
fn an_import_names_the_role_of_new_sessions() {
    let user = User::new();
    let (one, two) = ("aaaa0001-0000-4000-8000-000000000000", "bbbb0002-0000-4000-8000-000000000000");
    user.session_file(one, "/srv/one", 10, &["Find the flaky test"]);
    user.done(&["import", "--template", "reviewer"]);
    user.session_file(two, "/srv/one", 20, &["Mend it"]);
    // An agent that takes in the sessions of the machine does not say that it has had all of them.
    let import = |paths: &[&str]| {
        let mut import = user.command(&[&["import"], paths].concat());
        assert_eq!(user.ran(import.env("CTX_TEMPLATE", "author").output()).code, 0);
    };
    import(&[]);
    let of = |session: &str| template(&user, &format!("session/{session}"));
    assert_eq!([of(one), of(two)], ["reviewer", "claude-code"]);
    user.session_file("cccc0003-0000-4000-8000-000000000000", "/srv/one", 30, &["Write it down"]);
    import(&[".claude"]);
    assert_eq!([of(one), of("cccc0003-0000-4000-8000-000000000000")], ["reviewer", "author"]);
}
