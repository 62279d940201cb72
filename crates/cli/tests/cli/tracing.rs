//! `CTX_LOG`.

use std::process::Stdio;

use crate::cli::harness::{Ran, User};

const CHECKPOINT: [&str; 6] = ["checkpoint", "--format", "jsonl", "--head", "secret-head", "turn.jsonl"];

fn logged(user: &User, filter: &str, arguments: &[&str]) -> Ran {
    user.ran(user.command(arguments).env("CTX_LOG", filter).output())
}

#[test]
fn it_shows_what_is_done_by_ids_and_none_of_the_content() {
    let (user, silent) = (User::new(), User::new());
    for user in [&user, &silent] {
        user.file("turn.jsonl", "{\"text\":\"a secret\"}\n");
    }
    let (ran, unlogged) = (logged(&user, "debug", &CHECKPOINT), silent.run(&CHECKPOINT));
    assert_eq!((ran.code, &ran.stdout), (0, &unlogged.stdout), "{ran}");
    assert_eq!((unlogged.code, unlogged.stderr.as_str()), (0, ""));
    let id = ran.stdout.trim_end();
    let line = ran.stderr.lines().find(|line| line.contains(&format!("checkpoint{{commit={id}}}")));
    assert!(line.is_some_and(|line| line.contains("time.busy=")), "{ran}");
    assert!(!ran.stderr.contains("secret") && !ran.stderr.contains('\x1b'), "{ran}");
}

#[test]
fn a_filter_chooses_levels_and_modules() {
    let user = User::with_history();
    assert_eq!(logged(&user, "info", &["materialize", "main"]).stderr, "");
    let ran = logged(&user, "contexture::chain=debug", &["materialize", "main"]);
    assert_eq!(ran.stdout, user.run(&["materialize", "main"]).stdout);
    assert!(ran.stderr.lines().all(|line| line.contains("plan{commit=ctx-")) && !ran.stderr.is_empty(), "{ran}");
}

#[test]
fn a_filter_that_is_not_understood_is_a_warning_and_no_failure() {
    let user = User::with_history();
    for filter in ["debgu", "contexture=\x1b[31m"] {
        let ran = logged(&user, filter, &["show", "main"]);
        assert_eq!((ran.code, &ran.stdout), (0, &user.run(&["show", "main"]).stdout));
        assert!(ran.stderr.starts_with("warning: CTX_LOG is not understood"), "{ran}");
        assert!(!ran.stderr.contains('\x1b'), "{ran}");
    }
}

#[test]
fn a_hook_says_nothing_unless_it_is_asked_to() {
    let user = User::new();
    let hook = |filter: Option<&str>| {
        let mut command = user.command(&["hook", "claude-code"]);
        user.ran(command.envs(filter.map(|filter| ("CTX_LOG", filter))).stdin(Stdio::null()).output())
    };
    let said = |ran: Ran| (ran.code, ran.stdout, ran.stderr.lines().next().unwrap_or_default().to_owned());
    assert_eq!(said(hook(None)), (0, String::new(), String::new()));
    let warned = (0, String::new(), "warning: CTX_LOG is not understood, so nothing is logged".to_owned());
    assert_eq!(said(hook(Some("debgu"))), warned);
}
