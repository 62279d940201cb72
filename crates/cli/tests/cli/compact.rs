//! `ctx compact`, `ctx snapshot` and `ctx fork`.

use insta::assert_snapshot;

use crate::cli::harness::User;

#[test]
fn a_summary_becomes_an_entry_of_the_chain_and_the_head_moves() {
    let user = User::with_history();
    assert_snapshot!(user.pipe("All was tried.\n", &["compact", "review", "--summary", "-"]), @"ctx-827143aeba329dfce94ae0a8de912ee1");
    assert_snapshot!(user.run(&["materialize", "review"]), @r#"{"parentUuid":null,"isSidechain":false,"userType":"external","type":"user","message":{"role":"user","content":"All was tried."},"isVisibleInTranscriptOnly":true,"isCompactSummary":true,"uuid":"d3cdabd7-f874-8425-91c2-bd923159ccb0"}"#);
    assert_snapshot!(user.run(&["log", "review", "-n", "1"]), @"ctx-827143aeba  now  (compaction, review) All was tried.");
}

#[test]
fn only_the_head_that_is_named_moves() {
    let user = User::with_history();
    user.file("short.jsonl", "{\"type\":\"summary\"}\n");
    let id = user.done(&["resolve", "ada@laptop", "--at", "5m ago"]);
    let made = user.done(&["compact", &id, "--summary", "short.jsonl", "--head", "short"]);
    assert_eq!(user.done(&["head", "list", "short"]), format!("short  {}  moved now", &made[..14]));
    assert_eq!(user.done(&["resolve", "ada@laptop", "--at", "5m ago"]), id);
}

#[test]
fn a_summary_that_is_none_is_refused() {
    let user = User::with_history();
    let before = user.journal();
    assert_snapshot!(user.pipe(" \n", &["compact", "main", "--summary", "-"]), @"
    [exit 1]
    [stderr]
    error: cannot take standard input as a summary
      because: the content is empty
    ");
    assert_snapshot!(user.pipe("{\"torn\":", &["compact", "main", "--summary", "-"]), @"
    [exit 1]
    [stderr]
    error: cannot take standard input as a summary
      because: the content is not claude-code-v1
      because: line 1, column 9: the content ends inside an object
    ");
    assert_snapshot!(user.pipe(b"\x80\x81", &["compact", "main", "--summary", "-"]), @"
    [exit 1]
    [stderr]
    error: cannot take standard input as a summary
      because: the content is not claude-code-v1
      because: line 1, column 1: not UTF-8
    ");
    assert_snapshot!(user.run(&["compact", "main", "--summary", "absent.txt"]), @"
    [exit 1]
    [stderr]
    error: cannot read absent.txt
      because: No such file or directory (os error 2)
    ");
    assert_snapshot!(user.run(&["compact", "main"]), @"
    [exit 2]
    [stderr]
    error: the following required arguments were not provided:
      --summary <FILE>

    Usage: ctx compact --summary <FILE> <ID|HEAD>

    For more information, try '--help'.
    ");
    assert_eq!(user.journal(), before);
}

#[test]
fn a_snapshot_reads_the_same_from_one_commit() {
    let user = User::with_history();
    let before = user.done(&["materialize", "review"]);
    assert_snapshot!(user.run(&["snapshot", "review", "--json"]), @r#"{"schema":"contexture/1","id":"ctx-deb109a631470c7eb4f512404266e6fd","created":true}"#);
    assert_eq!(user.done(&["materialize", "review"]), before);
    assert_snapshot!(user.run(&["materialize", "review", "-o", "out.jsonl"]), @"
    [stderr]
    Materialized 1 commit, 3 messages, 51 bytes, about 13 tokens.
    ");
}

#[test]
fn a_fork_is_a_new_head_and_an_old_name_is_a_conflict() {
    let user = User::with_history();
    assert_snapshot!(user.run(&["fork", "main~2", "--head", "branch/other"]), @"
    [stderr]
    Head branch/other starts at ctx-3ef668e0ea
    ");
    assert_snapshot!(user.run(&["fork", "main", "--head", "branch/third", "--json"]), @r#"{"schema":"contexture/1","name":"branch/third","from":null,"to":"ctx-beead0152a71de0963f456082660f6aa"}"#);
    assert_snapshot!(user.run(&["fork", "main", "--head", "review"]), @"
    [exit 3]
    [stderr]
    error: head review exists already, at ctx-bacf8294d2ccae76ed055e62c8e46c63
      hint: `ctx head log review` shows who made it
    ");
}
