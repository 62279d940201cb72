//! `ctx diff`.

use insta::assert_snapshot;

use super::harness::User;

fn call(file: &str) -> String {
    format!(
        r#"{{"type":"assistant","uuid":"{file}","message":{{"role":"assistant","id":"{file}","content":[{{"type":"tool_use","id":"{file}","name":"Edit","input":{{"file_path":"{file}","old_string":"a","new_string":"b"}}}}]}}}}"#
    ) + "\n"
}

/// A user with two branches: both changed one file, and each another one.
fn with_branches() -> User {
    let user = User::new();
    let turn = |head: &str, minute: u32, request: &str, files: &[&str]| {
        user.file("turn.jsonl", files.iter().map(|file| call(file)).collect::<String>());
        let arguments =
            ["checkpoint", "--format", "claude-code-v1", "--head", head, "--summary", request, "turn.jsonl"];
        let time = format!("2026-11-15T20:{minute:02}:00Z");
        assert_eq!(user.ran(user.command(&arguments).env("CTX_TIME", time).output()).code, 0);
    };
    turn("main", 0, "Find the race", &["src/found.rs"]);
    user.done(&["fork", "main", "--head", "review"]);
    turn("main", 1, "Wait for the port", &["src/port.rs", "src/both.rs"]);
    turn("review", 2, "Sleep longer", &["src/both.rs"]);
    turn("review", 3, "And longer", &["src/sleep.rs"]);
    user
}

#[test]
fn what_only_one_chain_has_is_shown_with_the_files_that_each_changed() {
    let user = with_branches();
    assert_snapshot!(user.run(&["diff", "main", "review"]), @"
    ctx-ca33a2772c and ctx-78a335dd00 go apart after ctx-841ab73502, 10 minutes ago: Find the race

    only main: 1 turn, 1 commit
      ctx-ca33a2772c   9m  (main) Wait for the port  ▸ 2 calls · port.rs, both.rs

    only review: 2 turns, 2 commits
      ctx-78a335dd00   7m  (review) And longer  ▸ 1 call · sleep.rs
      ctx-7cc35a7381   8m  Sleep longer  ▸ 1 call · both.rs

    both changed
      ~ src/both.rs

    only main changed
      - src/port.rs

    only review changed
      + src/sleep.rs
    ");
    assert_snapshot!(user.run(&["diff", "review~2", "review", "-n", "1"]), @"
    ctx-78a335dd00 goes on from ctx-841ab73502 with 2 commits.

    only review: 2 turns, 2 commits
      ctx-78a335dd00   7m  (review) And longer  ▸ 1 call · sleep.rs
      and 1 earlier turn; -n 2 shows them

    only review changed
      + src/both.rs
      + src/sleep.rs
    ");
    assert_snapshot!(user.run(&["diff", "main", "main"]), @"ctx-ca33a2772c is the same commit on both sides.");
    user.file("alone.txt", "alone");
    user.done(&["checkpoint", "--head", "alone", "alone.txt"]);
    assert_snapshot!(user.run(&["diff", "alone", "main~1"]), @"
    ctx-45da02ffd2 and ctx-841ab73502 have no commit in common.

    only alone: 1 turn, 1 commit
      ctx-45da02ffd2  now  (alone) (text, without words)

    only main~1: 1 turn, 1 commit
      ctx-841ab73502  10m  Find the race  ▸ 1 call · found.rs

    only main~1 changed
      + src/found.rs
    ");
    let document: serde_json::Value = serde_json::from_str(&user.done(&["diff", "main", "review", "--json"])).unwrap();
    assert_eq!(document["after"]["files"], serde_json::json!({"src/both.rs": 1, "src/sleep.rs": 1}));
    assert_eq!(document["before"]["turns"][0]["request"], "Wait for the port");
}

#[test]
fn envelopes_are_compared_by_counting_back_from_the_last() {
    let user = with_branches();
    for trigger in ["Go on.", "And now?"] {
        let ran = user.run(&["assemble", "resume", "--head", "main", "--trigger", trigger]);
        assert_eq!(ran.code, 0, "{ran}");
    }
    let shown = user.done(&["diff", "--envelopes", "last~1", "last"]);
    assert_eq!(shown, user.done(&["envelope", "diff", "last~1"]));
    assert!(!shown.is_empty());
    let id = user.done(&["envelope", "list", "--json"]);
    let id = serde_json::from_str::<serde_json::Value>(id.lines().nth(1).unwrap()).unwrap()["id"]
        .as_str()
        .unwrap()
        .to_owned();
    assert_eq!(user.done(&["diff", &id]), shown);
    assert_eq!(user.run(&["diff", "--envelopes", "last~9", "last"]).code, 1);
    assert_snapshot!(user.run(&["diff", "--envelopes", "main", "last"]), @"
    [exit 1]
    [stderr]
    error: no envelope has an id that starts with main
    ");
}
