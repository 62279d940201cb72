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
    let dry = user.run(&["init", "--dry-run"]);
    assert_eq!(user.read(".claude/settings.json"), SETTINGS);
    assert_snapshot!(steady(&user, &dry).lines().take(32).collect::<Vec<_>>().join("\n"), @r#"
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
    let ran = user.run(&["init", "--yes"]);
    assert_eq!((ran.code, ran.stdout), (0, dry.stdout));
    assert!(user.read(".claude/settings.json").starts_with(SETTINGS.split_once("}]}]").unwrap().0));
    assert_snapshot!(steady(&user, &user.run(&["init", "--yes"])), @"
    [stderr]
    Nothing to change.
    Claude Code: hooks in HOME/.claude/settings.json.
    Every turn of your agents is now a commit: `ctx log --graph` shows them, `ctx doctor` proves it.
    Secrets in them are kept masked, in the store at store: `ctx secrets list`.
    ");
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
    [stderr]
    Claude Code: hooks taken out of HOME/.claude/settings.json.
    Codex: hooks taken out of HOME/.codex/hooks.json.
    Gemini CLI: hooks taken out of HOME/.gemini/settings.json.
    pi: hooks taken out of HOME/.pi/agent/extensions/contexture.js.
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
    assert_snapshot!(steady(&user, &init(&["--runtime", "gemini", "--runtime", "pi"])).split_once("[stderr]\n").unwrap().1, @"
    Gemini CLI: hooks in HOME/project/.gemini/settings.json.
    pi: hooks in HOME/project/.pi/extensions/contexture.js.
      pi loads what is in a project only if you trust the project.
    Every turn of your agents is now a commit: `ctx log --graph` shows them, `ctx doctor` proves it.
    Secrets in them are kept masked, in the store at store: `ctx secrets list`.
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
      hint: name one: `ctx init --runtime claude-code`, codex, gemini or pi
    ");
    fs::create_dir_all(user.path(".gemini")).unwrap();
    let commented = "{\n  // why\n  \"a\": 1\n}\n";
    user.file(".gemini/settings.json", commented);
    let ran = user.run(&["init", "--yes"]);
    assert!(ran.stdout.contains("BeforeAgent"), "{ran}");
    assert_snapshot!(steady(&user, &ran).split_once("[stderr]\n").unwrap().1, @"
    error: cannot change the hooks in HOME/.gemini/settings.json
      because: it is not plain JSON
      because: key must be a string at line 2 column 3
      hint: change it by hand, in entries with the command `ctx hook gemini`; `--runtime` names other agents
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
    assert_snapshot!(steady(&user, &user.run(&["init", "--git", "--yes"])), @r#"
    rename from HOME/.git/hooks/prepare-commit-msg
    rename to HOME/.git/hooks/prepare-commit-msg.before-ctx
    --- /dev/null
    +++ HOME/.git/hooks/prepare-commit-msg
    @@ -0,0 +1,8 @@
    +#!/bin/sh
    +# Written by `ctx init --git`; `ctx init --remove` takes it away and puts back what was here.
    +before="$(dirname "$0")/prepare-commit-msg.before-ctx"
    +if [ -x "$before" ]; then
    +    "$before" "$@" || exit
    +fi
    +# What goes wrong here is no reason to stop a commit.
    +/bin/ctx git-hook prepare-commit-msg "$@" >&2 || :
    --- /dev/null
    +++ HOME/.git/hooks/post-commit
    @@ -0,0 +1,8 @@
    +#!/bin/sh
    +# Written by `ctx init --git`; `ctx init --remove` takes it away and puts back what was here.
    +before="$(dirname "$0")/post-commit.before-ctx"
    +if [ -x "$before" ]; then
    +    "$before" "$@" || exit
    +fi
    +# What goes wrong here is no reason to stop a commit.
    +/bin/ctx git-hook post-commit >&2 || :
    [stderr]
    git: calls HOME/.git/hooks/prepare-commit-msg.
    git: calls HOME/.git/hooks/post-commit.
    "#);
    assert_snapshot!(steady(&user, &user.run(&["init", "--git", "--yes"])), @"
    [stderr]
    Nothing to change.
    git: calls HOME/.git/hooks/prepare-commit-msg.
    git: calls HOME/.git/hooks/post-commit.
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
