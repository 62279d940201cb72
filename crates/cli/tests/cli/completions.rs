//! `ctx completions`: what real shells offer.

use std::{env, fs, os::unix::fs::symlink, process::Command, time::Instant};

use insta::assert_snapshot;

use crate::cli::harness::User;

/// What is offered behind some words, the last of which is not finished.
fn offered(user: &User, words: &[&str]) -> String {
    user.done(&[&["complete", "--"], words].concat())
}

/// Prepares a shell that finds this program, and files with the scripts of all shells.
fn shell(user: &User, name: &str) -> Option<Command> {
    let places = env::var_os("PATH")?;
    let program = env::split_paths(&places).map(|place| place.join(name)).find(|program| program.is_file());
    let Some(program) = program else {
        eprintln!("skipped: {name} is not installed");
        return None;
    };
    fs::create_dir_all(user.path("bin")).unwrap();
    if !user.path("bin/ctx").exists() {
        symlink(env!("CARGO_BIN_EXE_ctx"), user.path("bin/ctx")).unwrap();
    }
    user.file(format!("ctx.{name}"), user.done(&["completions", name]));
    let mut command = user.other_program(program.to_str().unwrap());
    let path = env::join_paths([user.path("bin"), "/usr/bin".into(), "/bin".into()]).unwrap();
    command.env("PATH", path).env("TERM", "dumb");
    Some(command)
}

/// Runs a shell and returns what it printed; it must have nothing to complain of.
fn printed(user: &User, command: &mut Command) -> String {
    let ran = user.ran(command.output());
    assert_eq!((ran.code, &*ran.stderr), (0, ""), "{ran}");
    ran.stdout
}

/// What bash offers for a line, whose words are given as bash splits them.
fn in_bash(user: &User, words: &str) -> String {
    let mut bash = shell(user, "bash").expect("bash is everywhere");
    let script = format!(
        "source ctx.bash; COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); _ctx; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    );
    printed(user, bash.args(["--norc", "--noprofile", "-c", &script]))
}

#[test]
fn bash_completes_commands_heads_and_ids() {
    let user = User::with_history();
    assert_eq!(in_bash(&user, "ctx ma"), "materialize\nman\n");
    assert_eq!(in_bash(&user, "ctx log ''"), "last\nmain\nreview\n");
    assert_eq!(in_bash(&user, "ctx log re"), "review\n");
    assert_eq!(in_bash(&user, "ctx log --gr"), "--graph\n");
    assert_eq!(in_bash(&user, "ctx checkpoint --head = ma"), "main\n");
    assert_eq!(in_bash(&user, "ctx resume main --in p"), "pi\n");
    assert_eq!(in_bash(&user, "ctx checkpoint ''"), "\n");
    let id = user.done(&["resolve", "grace@desk"]);
    assert_eq!(in_bash(&user, &format!("ctx show {}", &id[..9])), format!("{id}\n"));
    assert_eq!(in_bash(&user, &format!("ctx show {}", &id[4..9])), format!("{}\n", &id[4..]));
}

#[test]
fn zsh_completes_them_too() {
    let user = User::with_history();
    let Some(mut zsh) = shell(&user, "zsh") else { return };
    let script = "compdef() { }; compadd() { print -l -- $shown }; _files() { print files }; source ctx.zsh\n\
                  words=(ctx log re); CURRENT=3; _ctx; words=(ctx checkpoint ''); CURRENT=3; _ctx";
    let offered = printed(&user, zsh.args(["-f", "-c", script]));
    assert_eq!(offered, format!("review  {}, 20 minutes ago\nfiles\n", &user.done(&["resolve", "grace@desk"])[..14]));
}

#[test]
fn fish_completes_them_too() {
    let user = User::with_history();
    let Some(mut fish) = shell(&user, "fish") else { return };
    let script =
        "source ctx.fish; complete -C 'ctx log re'; complete -C 'ctx --json ma'; complete -C 'ctx check turn.j'";
    let offered = printed(&user, fish.args(["--no-config", "-c", script]));
    let values: Vec<_> = offered.lines().map(|line| line.split('\t').next().unwrap()).collect();
    assert_eq!(values, ["review", "materialize", "man", "turn.jsonl"]);
}

#[test]
fn values_come_with_what_they_are() {
    let user = User::with_history();
    assert_snapshot!(offered(&user, &["log", ""]), @"
    last	the last session here, 40 minutes ago: Found the race
    main	ctx-beead0152a, 5 minutes ago
    review	ctx-bacf8294d2, 20 minutes ago
    ");
    assert_snapshot!(offered(&user, &["show", "ctx-"]), @"
    ctx-beead0152a71de0963f456082660f6aa	5 minutes ago
    ctx-5cbf4c30a3a277cd9ae068ce16e4b143	10 minutes ago: The test races with the server.
    ctx-bacf8294d2ccae76ed055e62c8e46c63	20 minutes ago: Another fix
    ctx-3ef668e0ea200517dff5554f701907ee	30 minutes ago
    ctx-949736b60af91408ac3c03058ae8cabc	40 minutes ago: Found the race
    ctx-dfafd1348f70809e150042c3ab9ac3a5	50 minutes ago: Found the failing test
    ");
    assert_snapshot!(offered(&user, &["list", "--session", ""]), @"");
}

#[test]
fn the_last_session_is_offered_where_there_is_one() {
    let user = User::with_sessions(&[("aaaa0001", "/srv/p", 10, &["Find the flaky test"])]);
    let last = "last\tthe last session here, 1 hour ago: Find the flaky test";
    for typed in ["", "la", "last"] {
        let offered = offered(&user, &["resume", typed]);
        assert_eq!(offered.lines().next(), Some(last), "{typed:?}");
    }
    assert_eq!(offered(&user, &["resume", "lax"]), "");
    assert_eq!(in_bash(&user, "ctx cat la"), "last\n");
    // In a repository it is the last one there, and a head of that name goes first.
    fs::create_dir_all(user.path("empty/.git")).unwrap();
    assert_eq!(user.run_in("empty", &["complete", "--", "resume", "la"]).stdout, "");
    user.done(&["head", "set", "last", "aaaa0001"]);
    assert!(offered(&user, &["resume", "la"]).starts_with("last\tctx-"));
    let user = User::new();
    user.file("turn.jsonl", "{}\n");
    user.done(&["checkpoint", "--head", "main", "turn.jsonl"]);
    assert_eq!(offered(&user, &["resume", "la"]), "", "there is no session");
}

#[test]
fn nothing_of_what_others_wrote_reaches_a_shell_or_a_terminal() {
    let user = User::with_history();
    user.done(&["annotate", "main", "--summary", "\u{1b}]0;x\u{7}\tred\u{202e}\nsecond", "--tag", "t"]);
    let hostile = ["$(touch pwned)", "a b", "*", "`touch pwned`", "-x"];
    for name in hostile {
        // Most of these cannot be names, and none of them is offered.
        user.run(&["fork", "main", "--head", name]);
    }
    let heads = offered(&user, &["log", ""]);
    assert_eq!(
        heads.lines().map(|line| line.split('\t').next().unwrap()).collect::<Vec<_>>(),
        ["last", "main", "review"]
    );
    let commits = offered(&user, &["show", "ctx-"]);
    assert!(commits.lines().all(|line| line.matches('\t').count() == 1), "{commits}");
    assert!(!commits.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{commits:?}");
    in_bash(&user, "ctx log '$(touch pwned)'");
    assert!(!user.path("pwned").exists());
}

#[test]
fn what_goes_wrong_is_silent_and_soon_over() {
    let user = User::new();
    let silent = |arguments: &[&str]| {
        let ran = user.run(arguments);
        assert_eq!((ran.code, &*ran.stdout, &*ran.stderr), (0, "", ""), "{arguments:?}\n{ran}");
    };
    // No store is made where there is none.
    silent(&["--store", "nowhere", "complete", "--", "log", ""]);
    assert!(!user.path("nowhere").exists());
    user.file("file", "no store");
    silent(&["--store", "file", "complete", "--", "log", ""]);
    silent(&["complete", "--", "--store", "postgres://[", "log", ""]);
    silent(&["complete", "--", "nonsense", "--what=", ""]);
    // Nobody answers at an address that is kept for examples.
    let started = Instant::now();
    silent(&["complete", "--", "--store", "postgres://ada@192.0.2.1/work", "log", ""]);
    assert!(started.elapsed().as_secs() < 10, "{:?}", started.elapsed());
}
