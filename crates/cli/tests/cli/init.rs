//! `ctx init`.

use std::{fs, os::unix::fs::PermissionsExt as _, process::Command};

use insta::assert_snapshot;

use super::harness::{Ran, User};

const SETTINGS: &str = "{\n    \"model\": \"opus\",\n    \"hooks\": {\n        \"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"beep\"}]}]\n    }\n}\n";

/// A user who has run some agents.
fn with_agents(homes: &[&str]) -> User {
    let user = User::new();
    for home in homes {
        fs::create_dir_all(user.path(home)).unwrap();
    }
    user
}

/// A user whose directory is a git repository.
fn with_repository() -> User {
    let user = with_agents(&[]);
    assert!(git(&user, &["init", "--quiet"]).status.success());
    user
}

fn git(user: &User, arguments: &[&str]) -> std::process::Output {
    let mut git = Command::new("git");
    git.args(arguments).current_dir(user.path("")).env("HOME", user.path("")).env("GIT_CONFIG_NOSYSTEM", "1");
    for role in ["AUTHOR", "COMMITTER"] {
        git.env(format!("GIT_{role}_NAME"), "Ada").env(format!("GIT_{role}_EMAIL"), "ada@example.org");
    }
    git.output().unwrap()
}

/// Hides where the test runs.
fn steady(user: &User, ran: &Ran) -> String {
    let home = fs::canonicalize(user.path("")).unwrap();
    let text = ran.to_string().replace(user.path("").to_str().unwrap().trim_end_matches('/'), "HOME");
    text.replace(home.to_str().unwrap(), "HOME").replace(env!("CARGO_BIN_EXE_ctx"), "/bin/ctx")
}

#[test]
fn hooks_are_shown_and_added_to_what_is_there() {
    let user = with_agents(&[".claude"]);
    user.file(".claude/settings.json", SETTINGS);
    assert_snapshot!(steady(&user, &user.run(&["init", "--dry-run"])), @"Claude Code  10 hooks into ~/.claude/settings.json");
    let shown = user.run(&["init", "--dry-run", "--diff"]);
    assert_eq!(user.read(".claude/settings.json"), SETTINGS);
    assert_snapshot!(steady(&user, &shown).lines().take(32).collect::<Vec<_>>().join("\n"), @r#"
    --- HOME/.claude/settings.json
    +++ HOME/.claude/settings.json
    @@ -1,6 +1,108 @@
     {
         "model": "opus",
         "hooks": {
    -        "Stop": [{"hooks": [{"type": "command", "command": "beep"}]}]
    +        "Stop": [{"hooks": [{"type": "command", "command": "beep"}]},{"hooks":[{"type":"command","command":"/bin/ctx hook claude-code","timeout":10}]}],
    +        "SessionStart": [
    +            {
    +                "hooks": [
    +                    {
    +                        "type": "command",
    +                        "command": "/bin/ctx hook claude-code",
    +                        "timeout": 10
    +                    }
    +                ]
    +            }
    +        ],
    +        "UserPromptSubmit": [
    +            {
    +                "hooks": [
    +                    {
    +                        "type": "command",
    +                        "command": "/bin/ctx hook claude-code",
    +                        "timeout": 10
    +                    }
    +                ]
    +            }
    +        ],
    +        "PreToolUse": [
    +            {
    "#);
    assert_snapshot!(steady(&user, &user.run(&["init", "--yes"])), @"
    Claude Code  10 hooks into ~/.claude/settings.json
    [stderr]
    Every turn is kept from now on, secrets masked, in store.
    Try:
      ctx demo             shows what there will be, in a throw-away store
      ctx sessions         what your agents did, once they have
      ctx doctor           proves that all of it is kept
    ");
    assert!(user.read(".claude/settings.json").starts_with(SETTINGS.split_once("}]}]").unwrap().0));
    assert_snapshot!(steady(&user, &user.run(&["init", "--yes"])), @"
    Claude Code  10 hooks in ~/.claude/settings.json, unchanged
    [stderr]
    Nothing to change.
    Every turn is kept from now on, secrets masked, in store.
    Try:
      ctx demo             shows what there will be, in a throw-away store
      ctx sessions         what your agents did, once they have
      ctx doctor           proves that all of it is kept
    ");
}

#[test]
fn running_it_again_says_what_changed() {
    let user = with_agents(&[".claude", ".codex", ".pi/agent"]);
    let settings = |path: &str, change: &dyn Fn(String) -> String| user.file(path, change(user.read(path)));
    assert_snapshot!(steady(&user, &user.run(&["init", "--yes"])), @"
    Claude Code  10 hooks into ~/.claude/settings.json (new)
    Codex        9 hooks into ~/.codex/hooks.json (new)
    pi           an extension for 9 events into ~/.pi/agent/extensions/contexture.js (new)
    [stderr]
    Left for you to do:
      Start `codex` once and trust the hooks: until then Codex runs none of them.
    Every turn is kept from now on, secrets masked, in store.
    Try:
      ctx demo             shows what there will be, in a throw-away store
      ctx sessions         what your agents did, once they have
      ctx doctor           proves that all of it is kept
    ");
    settings(".claude/settings.json", &|text| text.replace(env!("CARGO_BIN_EXE_ctx"), "/old/ctx"));
    settings(".codex/hooks.json", &|text| text.replace("\"Stop\"", "\"Never\""));
    assert_snapshot!(steady(&user, &user.run(&["init", "--dry-run"])), @"
    Claude Code  10 hooks in ~/.claude/settings.json, until now for /old/ctx
    Codex        1 hook into ~/.codex/hooks.json, missing so far: Stop
    pi           an extension for 9 events in ~/.pi/agent/extensions/contexture.js, unchanged
    ");
    assert_eq!(user.run(&["init", "--yes"]).code, 0);
    assert_snapshot!(steady(&user, &user.run(&["--space", "team", "init", "--dry-run"])), @"
    Claude Code  10 hooks in ~/.claude/settings.json, brought up to date
    Codex        9 hooks in ~/.codex/hooks.json, brought up to date
    pi           an extension for 9 events in ~/.pi/agent/extensions/contexture.js, brought up to date
    ");
}

#[test]
fn earlier_sessions_are_found_and_taken_in() {
    let user = with_agents(&[".claude/projects/p"]);
    let turn = |uuid: &str, text: &str| {
        format!(
            "{{\"type\":\"user\",\"uuid\":\"{uuid}\",\"parentUuid\":null,\"sessionId\":\"{uuid}\",\"cwd\":\"/w\",\
             \"timestamp\":\"2026-11-15T19:00:00.000Z\",\"message\":{{\"role\":\"user\",\"content\":\"{text}\"}}}}\n"
        )
    };
    user.file(".claude/projects/p/8d3f.jsonl", turn("8d3f", "Find the race."));
    user.file(".claude/projects/p/9e4a.jsonl", turn("9e4a", "Mend it."));
    assert_snapshot!(steady(&user, &user.run(&["init", "--dry-run"])), @"
    Claude Code  10 hooks into ~/.claude/settings.json (new)
    [stderr]
    Found 2 earlier sessions, 334 bytes: `ctx import` takes them in.
    ");
    assert_snapshot!(steady(&user, &user.run(&["init", "--yes"])), @"
    Claude Code  10 hooks into ~/.claude/settings.json (new)
    [stderr]
    Found 2 earlier sessions, 334 bytes.
    Took in 2 sessions as 2 commits.
    Every turn is kept from now on, secrets masked, in store.
    Try:
      ctx sessions --all   what your agents did, newest first
      ctx log --all        the same, turn by turn
      ctx doctor           proves that all of it is kept
    ");
    assert_eq!(user.done(&["log", "--all", "--oneline"]).lines().count(), 2);
    // What is there is not found again, and what a session has grown by is.
    assert_snapshot!(steady(&user, &user.run(&["init"])), @"
    Claude Code  10 hooks in ~/.claude/settings.json, unchanged
    [stderr]
    Nothing to change.
    Every turn is kept from now on, secrets masked, in store.
    Try:
      ctx sessions --all   what your agents did, newest first
      ctx log --all        the same, turn by turn
      ctx doctor           proves that all of it is kept
    ");
    let grown = user.read(".claude/projects/p/9e4a.jsonl") + &turn("9e4b", "And test it.");
    user.file(".claude/projects/p/9e4a.jsonl", grown);
    assert_snapshot!(steady(&user, &user.run(&["init"])), @"
    Claude Code  10 hooks in ~/.claude/settings.json, unchanged
    [stderr]
    Nothing to change.
    Found 1 earlier session, 332 bytes: `ctx import` takes it in.
    Every turn is kept from now on, secrets masked, in store.
    Try:
      ctx sessions --all   what your agents did, newest first
      ctx log --all        the same, turn by turn
      ctx doctor           proves that all of it is kept
    ");
    let ran = user.run(&["--json", "init", "--yes"]);
    assert!(ran.stdout.contains("\"runtimes\":{\"claude-code\":{\"files\":2,"), "{ran}");
    // What it ends with works.
    let ran = user.run(&["init"]).stderr;
    let commands = ran.lines().filter_map(|line| line.strip_prefix("  ctx ")).collect::<Vec<_>>();
    assert_eq!(commands.len(), 3);
    for command in commands {
        let words: Vec<_> =
            command.split("  ").next().unwrap().split(' ').map(|word| word.trim_matches('\'')).collect();
        assert_eq!(user.run(&words).code, 0, "{words:?}");
    }
}

#[test]
fn what_was_added_is_removed_and_nothing_else() {
    let user = with_agents(&[".claude", ".codex", ".gemini", ".pi/agent"]);
    user.file(".claude/settings.json", SETTINGS);
    user.done(&["init", "--yes"]);
    assert!(user.path(".pi/agent/extensions/contexture.js").exists());
    let ran = user.run(&["--json", "init", "--remove", "--yes"]);
    assert_snapshot!(steady(&user, &ran), @r#"
    {"schema":"contexture/1","target":"claude-code","path":"HOME/.claude/settings.json","effect":"changed","done":true}
    {"schema":"contexture/1","target":"codex","path":"HOME/.codex/hooks.json","effect":"removed","done":true}
    {"schema":"contexture/1","target":"gemini","path":"HOME/.gemini/settings.json","effect":"removed","done":true}
    {"schema":"contexture/1","target":"pi","path":"HOME/.pi/agent/extensions/contexture.js","effect":"removed","done":true}
    {"schema":"contexture/1","target":"copilot","path":"HOME/.copilot/hooks/contexture.json","effect":"unchanged","done":true}
    {"schema":"contexture/1","target":"cursor","path":"HOME/.cursor/hooks.json","effect":"unchanged","done":true}
    "#);
    assert_eq!(user.read(".claude/settings.json"), SETTINGS);
    let left = |home: &str| fs::read_dir(user.path(home)).unwrap().count();
    assert_eq!([".codex", ".gemini", ".pi/agent"].map(left), [0, 0, 0]);
}

#[test]
fn the_store_and_the_space_that_were_named_are_registered() {
    let user = with_agents(&[".codex"]);
    user.done(&["--store", "kept here", "--space", "team", "init", "--yes"]);
    let hooks = user.read(".codex/hooks.json");
    assert!(hooks.contains("kept here' --space team hook codex\""), "{hooks}");
    user.done(&["init", "--yes"]);
    assert_eq!(user.read(".codex/hooks.json").matches("--space").count(), 0);
}

#[test]
fn an_address_with_a_password_is_not_written_into_settings() {
    let user = with_agents(&[".claude"]);
    let refused = user.run(&["--store", "postgres://ada:secret@db/team", "--quiet", "init", "--dry-run"]);
    assert_snapshot!(steady(&user, &refused), @r#"
    [exit 1]
    [stderr]
    error: the address of the store holds a password, which would stand in settings and command lines
      hint: leave it out, and keep it in a file of mode 0600: the whole address as `store = "…"` in HOME/.config/contexture/config.toml, the password in ~/.pgpass or what PGPASSFILE names, or a service that PGSERVICE or `postgres://?service=NAME` names
    "#);
    assert_eq!(user.run(&["--store", "postgres://ada@db/team", "init", "--dry-run"]).stderr, "");
}

#[test]
fn a_project_has_settings_of_its_own() {
    let user = with_agents(&[".claude"]);
    fs::create_dir(user.path("project")).unwrap();
    let init = |flags: &[&str]| {
        let arguments = [&["init", "--project", "--yes"], flags].concat();
        user.ran(user.command(&arguments).current_dir(user.path("project")).output())
    };
    assert_snapshot!(steady(&user, &init(&["--runtime", "gemini", "--runtime", "pi"])), @"
    Gemini CLI   5 hooks into ~/project/.gemini/settings.json (new)
    pi           an extension for 9 events into ~/project/.pi/extensions/contexture.js (new)
    [stderr]
    Left for you to do:
      pi loads what is in a project only if you trust the project.
    Every turn is kept from now on, secrets masked, in store.
    Try:
      ctx demo             shows what there will be, in a throw-away store
      ctx sessions         what your agents did, once they have
      ctx doctor           proves that all of it is kept
    ");
    assert!(user.path("project/.gemini/settings.json").exists());
    init(&["--remove"]);
    assert_eq!(fs::read_dir(user.path("project")).unwrap().count(), 0);
}

#[test]
fn a_file_keeps_its_mode_and_a_link_stays_one() {
    let user = with_agents(&[".claude", "dotfiles"]);
    user.file("dotfiles/claude.json", "{}\n");
    fs::set_permissions(user.path("dotfiles/claude.json"), fs::Permissions::from_mode(0o600)).unwrap();
    std::os::unix::fs::symlink("../dotfiles/claude.json", user.path(".claude/settings.json")).unwrap();
    user.done(&["init", "--yes"]);
    assert!(user.read("dotfiles/claude.json").contains("hook claude-code"));
    assert_eq!(fs::metadata(user.path("dotfiles/claude.json")).unwrap().permissions().mode() & 0o777, 0o600);
    user.done(&["init", "--remove", "--yes"]);
    assert!(fs::symlink_metadata(user.path(".claude/settings.json")).unwrap().is_symlink());
    assert_eq!(user.read("dotfiles/claude.json"), "{}\n");
}

#[test]
fn what_cannot_be_done_is_reported_and_nothing_is_changed() {
    let user = with_agents(&[]);
    assert_snapshot!(user.run(&["init"]), @"
    [exit 1]
    [stderr]
    error: no agent was found on this machine
      hint: name one: `ctx init --runtime claude-code`, codex, gemini, pi, copilot or cursor
    ");
    fs::create_dir_all(user.path(".gemini")).unwrap();
    let commented = "{\n  // why\n  \"a\": 1\n}\n";
    user.file(".gemini/settings.json", commented);
    let ran = user.run(&["init", "--yes"]);
    assert_eq!(ran.stdout, "");
    assert!(user.run(&["init", "--dry-run", "--diff"]).stdout.contains("BeforeAgent"));
    assert_snapshot!(steady(&user, &ran).split_once("[stderr]\n").unwrap().1, @"
    error: cannot change the hooks in HOME/.gemini/settings.json
      because: it is not plain JSON
      because: key must be a string at line 2 column 3
      hint: `ctx init --runtime gemini --dry-run --diff` prints what to write there by hand; `--runtime` names other agents
    ");
    assert_eq!(user.read(".gemini/settings.json"), commented);
    assert_eq!(user.run(&["init", "--remove", "--yes"]).code, 0);
    let ran = user.run(&["init", "--runtime", "codex"]);
    assert_snapshot!(steady(&user, &ran).split_once("[stderr]\n").unwrap().1, @"
    error: nothing was changed, because nobody can be asked
      hint: `--yes` makes the changes, `--dry-run` only shows them
    ");
    assert!(!user.path(".codex").exists());
    fs::remove_dir_all(user.path(".gemini")).unwrap();
    assert_snapshot!(user.run(&["init", "--git", "--yes"]).to_string().split_once("[stderr]\n").unwrap().1, @"
    error: this directory is in no git repository
      hint: `git init` makes one
    ");
}

#[test]
fn git_runs_the_hook_that_was_there_and_then_ours() {
    let user = with_repository();
    let hook = "#!/bin/sh\necho \"before $#\" >> log\nexit \"$(cat verdict)\"\n";
    user.file(".git/hooks/prepare-commit-msg", hook);
    fs::set_permissions(user.path(".git/hooks/prepare-commit-msg"), fs::Permissions::from_mode(0o755)).unwrap();
    assert_snapshot!(steady(&user, &user.run(&["init", "--git", "--yes"])), @"git          2 hooks into ~/.git/hooks, which call those that are there");
    assert_snapshot!(steady(&user, &user.run(&["init", "--git", "--yes"])), @"
    git          2 hooks in ~/.git/hooks, unchanged
    [stderr]
    Nothing to change.
    ");

    let commit = || git(&user, &["commit", "--quiet", "--allow-empty", "--message=One"]).status.success();
    user.file("verdict", "0");
    assert!(commit());
    user.file("verdict", "3");
    assert!(!commit());
    assert_eq!(user.read("log"), "before 2\nbefore 2\n");

    user.done(&["init", "--remove", "--yes"]);
    assert_eq!(user.read(".git/hooks/prepare-commit-msg"), hook);
    assert!(!user.path(".git/hooks/post-commit").exists());
    assert!(!user.path(".git/hooks/prepare-commit-msg.before-ctx").exists());
}
