//! `ctx checkpoint`.

use std::{os::unix::ffi::OsStrExt as _, thread};

use insta::assert_snapshot;

use crate::cli::harness::User;

const CLAUDE: [&str; 3] = ["checkpoint", "--format", "claude-code-v1"];

#[test]
fn it_prints_an_id_or_a_document() {
    let user = User::new();
    assert_snapshot!(user.pipe("{\"a\":1}\n", &[&CLAUDE[..], &["--principal", "p", "--json", "-"]].concat()), @r#"{"schema":"contexture/1","id":"ctx-c62e61a21bde3c5318b37a01632d02e9","created":true}"#);
    assert_snapshot!(user.pipe("{\"a\":2}\n", &[&CLAUDE[..], &["--principal", "p", "-"]].concat()), @"ctx-d09f92dfb672f731919a9cbf35c49bf4");
}

#[test]
fn a_key_makes_a_retry_safe_and_another_request_a_conflict() {
    let user = User::new();
    let keyed = [&CLAUDE[..], &["--key", "k", "--json", "-"]].concat();
    assert_snapshot!(user.pipe("{\"a\":1}\n", &keyed), @r#"{"schema":"contexture/1","id":"ctx-1fc90894cb8eeaf1dd13c25c7d663f48","created":true}"#);
    assert_snapshot!(user.pipe("{\"a\":1}\n", &keyed), @r#"{"schema":"contexture/1","id":"ctx-1fc90894cb8eeaf1dd13c25c7d663f48","created":false}"#);
    let before = user.journal();
    assert_snapshot!(user.pipe("{\"a\":2}\n", &[&CLAUDE[..], &["--key", "k", "-"]].concat()), @"
    [exit 3]
    [stderr]
    error: key k was already used for another request, which made ctx-1fc90894cb8eeaf1dd13c25c7d663f48
      hint: `ctx show ctx-1fc90894cb` shows what the key was used for
    ");
    assert_eq!(user.journal(), before);
}

#[test]
fn of_two_that_expect_the_same_one_wins() {
    let user = User::new();
    user.file("0.jsonl", "{}\n");
    let root = user.done(&["checkpoint", "--format", "jsonl", "--head", "main", "--expect", "none", "0.jsonl"]);
    let codes = thread::scope(|scope| {
        let racers = ["1", "2"].map(|name| {
            let (user, root) = (&user, &root);
            scope.spawn(move || {
                user.file(name, format!("{{\"racer\":{name}}}\n"));
                user.run(&["checkpoint", "--head", "main", "--expect", root, name]).code
            })
        });
        let mut codes = racers.map(|racer| racer.join().unwrap());
        codes.sort_unstable();
        codes
    });
    assert_eq!(codes, [0, 3]);
}

#[test]
fn a_head_that_is_elsewhere_is_a_conflict() {
    let user = User::with_history();
    user.file("turn.jsonl", "{}\n");
    assert_snapshot!(user.run(&["checkpoint", "--head", "main", "--expect", "main~1", "turn.jsonl"]), @"
    [exit 3]
    [stderr]
    error: head main is at ctx-beead0152a71de0963f456082660f6aa, not at ctx-5cbf4c30a3a277cd9ae068ce16e4b143
      hint: `ctx head log main` shows who moved it; then retry with `--expect ctx-beead0152a71de0963f456082660f6aa`
    ");
    assert_snapshot!(user.run(&["checkpoint", "--head", "main", "--expect", "none", "turn.jsonl"]), @"
    [exit 3]
    [stderr]
    error: head main exists already, at ctx-beead0152a71de0963f456082660f6aa
      hint: `ctx head log main` shows who made it
    ");
}

#[test]
fn content_that_is_not_its_format_is_refused_and_changes_nothing() {
    let user = User::with_history();
    let before = user.journal();
    let check_in = |content: &[u8]| user.pipe(content, &[&CLAUDE[..], &["--head", "main", "-"]].concat());
    assert_snapshot!(check_in(b"{\"a\":1}\n{\"a\":"), @"
    [exit 1]
    [stderr]
    error: cannot take in standard input
      because: the content is not claude-code-v1
      because: line 2, column 6: the content ends inside an object
      hint: `--no-check` stores the bytes as they are
    ");
    assert_snapshot!(check_in(b"\x7fELF\x02\x01\x01\x00"), @"
    [exit 1]
    [stderr]
    error: cannot take in standard input
      because: the content is not claude-code-v1
      because: line 1, column 1: expected a JSON object, as every line that is not blank holds one
      hint: `--no-check` stores the bytes as they are
    ");
    assert_snapshot!(check_in(b"{\"a\":\"\xff\"}\n"), @"
    [exit 1]
    [stderr]
    error: cannot take in standard input
      because: the content is not claude-code-v1
      because: line 1, column 7: not UTF-8
      hint: `--no-check` stores the bytes as they are
    ");
    assert_snapshot!(check_in(b"just words\n"), @"
    [exit 1]
    [stderr]
    error: cannot take in standard input
      because: the content is not claude-code-v1
      because: line 1, column 1: expected a JSON object, as every line that is not blank holds one
      hint: `--no-check` stores the bytes as they are
    ");
    assert_snapshot!(check_in(b""), @"
    [exit 1]
    [stderr]
    error: cannot take in standard input
      because: the content is empty
      hint: `--allow-empty` makes a commit of nothing
    ");
    let large = "{\"line\":\"long enough to fill more than a row\"}\n".repeat(20_000) + "oops";
    assert_snapshot!(check_in(large.as_bytes()), @"
    [exit 1]
    [stderr]
    error: cannot take in standard input
      because: the content is not claude-code-v1
      because: line 20001, column 1: expected a JSON object, as every line that is not blank holds one
      hint: `--no-check` stores the bytes as they are
    ");
    assert_eq!(user.journal(), before);
}

#[test]
fn unchecked_and_empty_content_is_stored_when_asked_for() {
    let user = User::new();
    assert_snapshot!(user.pipe("oops", &[&CLAUDE[..], &["--no-check", "-"]].concat()), @"ctx-f3d93dc76623a655a944d630f611c94e");
    assert_snapshot!(user.pipe("", &[&CLAUDE[..], &["--allow-empty", "-"]].concat()), @"ctx-5e79cfc790a43867c7080c893fe64d9c");
    // Being allowed to be empty does not allow the rest to be malformed.
    assert_eq!(user.pipe("oops", &[&CLAUDE[..], &["--allow-empty", "-"]].concat()).code, 1);
    assert_eq!(user.pipe("{\"a\":1}\n", &[&CLAUDE[..], &["--allow-empty", "-"]].concat()).code, 0);
}

#[test]
fn the_format_is_that_of_the_parent_or_of_the_files_ending() {
    let user = User::with_history();
    user.file("notes.jsonl", "{\"a\":1}\n");
    user.file("notes.md", "# Notes\n");
    user.file("notes", "?");
    let format = |arguments: &[&str]| {
        let id = user.done(&[&["checkpoint"], arguments].concat());
        let shown = user.done(&["show", &id]);
        shown.lines().find_map(|line| line.strip_prefix("format")).unwrap().trim().to_owned()
    };
    assert_eq!(format(&["--head", "main", "notes.jsonl"]), "claude-code-v1");
    assert_eq!(format(&["--parent", "review", "notes.jsonl"]), "claude-code-v1");
    assert_eq!(format(&["notes.jsonl"]), "jsonl");
    assert_eq!(format(&["notes.md"]), "text");
    assert_eq!(format(&["--format", "my-own-v7", "notes"]), "my-own-v7");
    assert_snapshot!(user.run(&["checkpoint", "notes"]), @"
    [exit 2]
    [stderr]
    error: nothing tells the format of notes: name it with --format
      hint: one of claude-code-v1, claude-stream-v1, codex-v1, codex-exec-v1, gemini-v1, gemini-stream-v1, pi-v1, pi-stream-v1, copilot-v1, cursor-v1, cursor-chat-v1, droid-v1, dsh-v1, dsh-stream-v1, kiro-v1, kiro-chat-v1, crush-v1, aider-v1, entire-condensed-v1, specstory-v1, swe-agent-v1, opencode-v1, events-v1, bureau-agent-v1, anthropic-messages-v1, openai-chat-v1, openai-responses-v1, atif-v1, jsonl, text
    ");
}

#[test]
fn what_cannot_be_read_is_named() {
    let user = User::new();
    assert_snapshot!(user.run(&["checkpoint", "--format", "text", "absent.txt"]), @"
    [exit 1]
    [stderr]
    error: cannot read absent.txt
      because: No such file or directory (os error 2)
    ");
    assert_snapshot!(user.run(&["checkpoint", "--format", "text", "."]), @"
    [exit 1]
    [stderr]
    error: cannot read .: it is a directory
    ");
}

#[test]
fn a_file_may_have_a_name_that_is_not_utf_8() {
    let user = User::new();
    let name = std::ffi::OsStr::from_bytes(b"turn-\xff.jsonl");
    user.file(name, "{\"a\":1}\n");
    let mut command = user.command(&["checkpoint", "--format", "jsonl"]);
    assert_eq!(command.arg(name).output().unwrap().status.code(), Some(0));
}

#[test]
fn wrong_flags_are_refused_with_what_is_right() {
    let user = User::new();
    let check_in = |flags: &[&str]| user.run(&[&CLAUDE[..], flags, &["-"]].concat());
    assert_snapshot!(check_in(&["--type", "patch"]), @"
    [exit 2]
    [stderr]
    error: invalid value 'patch' for '--type <TYPE>'
      [possible values: delta, compaction, snapshot]

    For more information, try '--help'.
    ");
    assert_snapshot!(check_in(&["--at", "soon"]), @r#"
    [exit 2]
    [stderr]
    error: invalid value 'soon' for '--at <TIME>': write 2026-11-15T20:10:00Z, 2026-11-15, now, or "2h ago"

    For more information, try '--help'.
    "#);
    assert_snapshot!(check_in(&["--at", "2h"]), @r#"
    [exit 2]
    [stderr]
    error: invalid value '2h' for '--at <TIME>': that is a time to come: write "2h ago"

    For more information, try '--help'.
    "#);
    assert_snapshot!(check_in(&["--head", "-x"]), @"
    [exit 2]
    [stderr]
    error: unexpected argument '-x' found

      tip: to pass '-x' as a value, use '-- -x'

    Usage: ctx checkpoint [OPTIONS] [FILE]

    For more information, try '--help'.
    ");
    assert_snapshot!(check_in(&["--label", "reviewed"]), @"
    [exit 2]
    [stderr]
    error: invalid value 'reviewed' for '--label <K=V>': write KEY=VALUE

    For more information, try '--help'.
    ");
    let orphan = [&CLAUDE[..], &["--type", "compaction", "-"]].concat();
    assert_snapshot!(user.pipe("{}\n", &orphan), @"
    [exit 1]
    [stderr]
    error: a compaction commit needs a parent
      hint: name it with `--parent ID`
    ");
}

#[test]
fn an_artifact_that_is_stored_becomes_a_commit() {
    let user = User::new();
    let turns = "{\"turn\":1}\n{\"turn\":2}\n";
    user.file("turns.jsonl", turns);
    let artifact = user.done(&["artifact", "put", "turns.jsonl"]);
    let flags = ["checkpoint", "--format", "jsonl", "--head", "main", "--artifact"];
    let commit = user.done(&[&flags[..], &[&artifact]].concat());
    assert_eq!(user.done(&["materialize", &commit]), turns.trim_end());
    let shown = user.done(&["--json", "show", &commit]);
    assert!(shown.contains(&artifact) && shown.contains("\"message_count\":2"), "{shown}");
    // The beginning of the id will do, and the format is that of the commit before.
    let next = user.done(&["checkpoint", "--head", "main", "--artifact", &artifact[..12]]);
    assert_eq!(user.done(&["materialize", &next]), [turns, turns].concat().trim_end());
    let unknown = format!("art-{}", "0".repeat(64));
    let refused = user.run(&["checkpoint", "--format", "jsonl", "--artifact", &unknown]);
    assert_eq!(refused.code, 1);
    assert!(refused.stderr.contains(&unknown), "{refused}");
    let malformed = user.run(&["checkpoint", "--format", "anthropic-messages-v1", "--artifact", &artifact]);
    assert!(malformed.code == 1 && malformed.stderr.contains("anthropic-messages-v1"), "{malformed}");
    let unnamed = user.run(&["checkpoint", "--artifact", &artifact]);
    assert!(unnamed.stderr.contains("nothing tells the format of the artifact"), "{unnamed}");
    assert_eq!(user.run(&["checkpoint", "--artifact", &artifact, "turns.jsonl"]).code, 2);
}
