//! `ctx materialize`.

use insta::assert_snapshot;

use crate::cli::harness::User;

#[test]
fn it_starts_at_the_compaction_the_root_or_an_ancestor() {
    let user = User::with_history();
    assert_snapshot!(user.run(&["materialize", "main"]), @r#"
    {"parentUuid":null,"isSidechain":false,"userType":"external","type":"user","message":{"role":"user","content":"The test races with the server.\nIt should wait."},"isVisibleInTranscriptOnly":true,"isCompactSummary":true,"uuid":"45c83386-b767-8958-9038-fa966774239e"}
    {"turn":"20:05"}
    "#);
    assert_snapshot!(user.run(&["materialize", "main", "--stop", "root"]), @r#"
    {"turn":"19:20"}
    {"turn":"19:30"}
    {"turn":"19:40"}
    {"turn":"20:05"}
    "#);
    assert_snapshot!(user.run(&["materialize", "review", "--stop", "review~1"]), @r#"
    {"turn":"19:30"}
    {"turn":"19:50"}
    "#);
    assert_snapshot!(user.run(&["materialize", "none"]), @"");
}

#[test]
fn a_file_is_written_and_its_counts_are_told() {
    let user = User::with_history();
    user.file("out.jsonl", "what was there before");
    assert_snapshot!(user.run(&["materialize", "review", "-o", "out.jsonl"]), @"
    [stderr]
    Materialized 3 commits, 3 messages, 51 bytes, about 13 tokens.
    ");
    assert_eq!(user.read("out.jsonl"), user.done(&["materialize", "review"]) + "\n");
    assert_snapshot!(user.run(&["materialize", "review", "-o", "out.jsonl", "--json"]), @r#"{"schema":"contexture/1","format":"claude-code-v1","tier":"native","losses":[],"commits":3,"messages":3,"bytes":51,"tokens":13,"token_counter":"chars4"}"#);
    assert_snapshot!(user.run(&["materialize", "review", "-o", "out.jsonl", "--quiet"]), @"");
}

#[test]
fn json_and_the_conversation_do_not_share_standard_output() {
    assert_snapshot!(User::with_history().run(&["materialize", "main", "--json"]), @r#"
    [exit 2]
    [stderr]
    {"schema":"contexture/1","error":{"code":"json-beside-content","message":"--json needs -o FILE here, because the conversation itself goes to standard output","causes":[]}}
    "#);
}

#[test]
fn what_cannot_be_given_is_told() {
    let user = User::with_history();
    assert_snapshot!(user.run(&["materialize", "main", "--stop", "review"]), @"
    [exit 1]
    [stderr]
    error: ctx-bacf8294d2ccae76ed055e62c8e46c63 is not an ancestor of ctx-beead0152a71de0963f456082660f6aa
      hint: `ctx log ctx-beead0152a` shows its ancestors
    ");
    assert_snapshot!(user.run(&["materialize", "main", "--format", "codex-v1"]), @"
    [exit 1]
    [stderr]
    error: the chain of ctx-beead0152a71de0963f456082660f6aa is claude-code-v1, which cannot be given as codex-v1
    ");
    assert_snapshot!(user.run(&["materialize", "nobody"]), @"
    [exit 1]
    [stderr]
    error: there is no head nobody
      hint: `ctx head list` shows the heads
    ");
    assert_snapshot!(user.run(&["materialize", "main", "-o", "absent/out.jsonl"]), @"
    [exit 1]
    [stderr]
    error: cannot write absent/out.jsonl
      because: No such file or directory (os error 2)
    ");
    std::fs::create_dir(user.path("taken")).unwrap();
    assert_snapshot!(user.run(&["materialize", "main", "-o", "taken"]), @"
    [exit 1]
    [stderr]
    error: cannot write taken
      because: is a directory
    ");
}

#[test]
fn devices_and_links_are_written_through() {
    let user = User::with_history();
    user.file("real.jsonl", "");
    std::os::unix::fs::symlink("real.jsonl", user.path("link.jsonl")).unwrap();
    user.done(&["materialize", "review", "-o", "link.jsonl"]);
    assert!(user.path("link.jsonl").is_symlink());
    assert_eq!(user.read("real.jsonl"), user.done(&["materialize", "review", "-o", "/dev/stdout"]) + "\n");
}

#[test]
fn a_failure_leaves_no_file() {
    let user = User::with_history();
    let before = std::fs::read_dir(user.path("")).unwrap().count();
    assert_eq!(user.run(&["materialize", "main", "--format", "codex-v1", "-o", "out.jsonl"]).code, 1);
    assert_eq!(std::fs::read_dir(user.path("")).unwrap().count(), before);
}
