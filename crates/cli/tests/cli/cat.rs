//! `ctx cat` and `ctx show --entries`.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::cli::harness::User;

/// Returns a line of Claude Code.
fn line(role: &str, id: u32, content: &Value) -> String {
    let mut message = json!({"role": role, "content": content});
    if role == "assistant" {
        message["model"] = json!("claude-x");
    }
    let uuid = format!("00000000-0000-4000-8000-{id:012}");
    let at = format!("2026-11-15T19:00:{:02}.000Z", id % 60);
    json!({"type": role, "uuid": uuid, "timestamp": at, "message": message}).to_string() + "\n"
}

fn call(id: &str, name: &str, input: &Value) -> Value {
    json!({"type": "tool_use", "id": id, "name": name, "input": input})
}

fn result(id: &str, content: &Value, is_error: bool) -> Value {
    json!({"type": "tool_result", "tool_use_id": id, "content": content, "is_error": is_error})
}

/// Returns a user whose head `main` holds a conversation in two commits, with all that a terminal must be spared.
fn conversation() -> User {
    let user = User::new();
    let text = |text: &str| json!({"type": "text", "text": text});
    let image =
        json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "A".repeat(16_000)}});
    let long = "word ".repeat(30);
    let thought =
        json!({"type": "thinking", "thinking": format!("First this.\n{long}\nThen that."), "signature": "eA=="});
    let numbers = (1..=12).map(|n| n.to_string()).collect::<Vec<_>>().join("\n");
    let edits = json!([{"old_string": "a", "new_string": "b"}, {"old_string": "c\nd", "new_string": "c"}]);
    let first = [
        line(
            "user",
            1,
            &json!([text("Why does it fail?\n\u{1b}[31mLook\u{1b}[0m \u{1b}]0;owned\u{7}here:\u{202e}\r"), image]),
        ),
        line("assistant", 2, &json!([thought, text(&format!("I look. {long}"))])),
        line(
            "assistant",
            3,
            &json!([
                call("t1", "Bash", &json!({"command": "seq 12\necho done", "description": "Counts"})),
                call(
                    "t2",
                    "Edit",
                    &json!({"file_path": "/src/a.rs", "old_string": "one\ntwo\nthree", "new_string": "one\n2\nthree"})
                ),
                call("t3", "MultiEdit", &json!({"file_path": "/src/b.rs", "edits": edits})),
                call("t5", "Task", &json!({"prompt": "Wait\nfor it."})),
            ]),
        ),
        line(
            "user",
            4,
            &json!([
                result("t2", &json!("no such\u{8} file"), true),
                result("t1", &json!(numbers), false),
                result(
                    "t3",
                    &json!([{"type": "image", "source": {"type": "url", "url": "https://a.example/b.png"}}]),
                    false
                ),
            ]),
        ),
    ];
    user.file("one.jsonl", first.concat());
    user.done(&["checkpoint", "--format", "claude-code-v1", "--head", "main", "one.jsonl"]);
    let second = [
        line("assistant", 5, &json!([call("t4", "Write", &json!({"file_path": "/src/c.rs", "content": "x\ny\n"}))])),
        line(
            "user",
            6,
            &json!([
                result("t4", &json!(""), false),
                result("t5", &json!("late"), false),
                text("Assistant (forged)  2026-11-15\nThanks")
            ]),
        ),
    ];
    user.file("two.jsonl", second.concat());
    user.done(&["checkpoint", "--head", "main", "two.jsonl"]);
    user
}

#[test]
fn a_conversation_is_shown_turn_by_turn() {
    let user = conversation();
    assert_snapshot!(user.run(&["cat", "main"]), @"
    User (ada@laptop)  2026-11-15 19:00:01Z  ctx-8eec40ba95
      Why does it fail?
      Look here:�

      [image image/png, 12.0 kB]

    Assistant (claude-x)  2026-11-15 19:00:02Z  ctx-8eec40ba95
      (thinking) First this. … 3 more lines

      I look. word word word word word word word word word word word word word word word word word word
      word word word word word word word word word word word word

      ▸ Bash seq 12 …
        │ 1
        │ 2
        │ 3
        │ 4
        │ 5
        … 7 more lines
      ▸ Edit /src/a.rs
        │   one
        │ - two
        │ + 2
        │   three
        failed:
        │ no such� file
      ▸ MultiEdit /src/b.rs
        │ - a
        │ + b
        │ …
        │   c
        │ - d
        │ [image image/*: https://a.example/b.png]
      ▸ Task Wait …

    Assistant (claude-x)  2026-11-15 19:00:05Z  ctx-bff77bce0b
      ▸ Write /src/c.rs
        │ + x
        │ + y
        │ (no output)
      ◂ Task Wait …
        │ late

    User (ada@laptop)  2026-11-15 19:00:06Z  ctx-bff77bce0b
      Assistant (forged)  2026-11-15
      Thanks
    ");
    assert_snapshot!(user.run(&["cat", "main", "-n", "1"]), @"
    User (ada@laptop)  2026-11-15 19:00:06Z  ctx-bff77bce0b
      Assistant (forged)  2026-11-15
      Thanks
    ");
    assert_snapshot!(user.run(&["show", "main~1", "--entries", "--full"]), @"
    User (ada@laptop)  2026-11-15 19:00:01Z  ctx-8eec40ba95
      Why does it fail?
      Look here:�

      [image image/png, 12.0 kB]

    Assistant (claude-x)  2026-11-15 19:00:02Z  ctx-8eec40ba95
      (thinking) First this.
      word word word word word word word word word word word word word word word word word word word
      word word word word word word word word word word word
      Then that.

      I look. word word word word word word word word word word word word word word word word word word
      word word word word word word word word word word word word

      ▸ Bash seq 12 …
        │ command:
        │   seq 12
        │   echo done
        │ description: Counts
        answered:
        │ 1
        │ 2
        │ 3
        │ 4
        │ 5
        │ 6
        │ 7
        │ 8
        │ 9
        │ 10
        │ 11
        │ 12
      ▸ Edit /src/a.rs
        │   one
        │ - two
        │ + 2
        │   three
        failed:
        │ no such� file
      ▸ MultiEdit /src/b.rs
        │ - a
        │ + b
        │ …
        │   c
        │ - d
        answered:
        │ [image image/*: https://a.example/b.png]
      ▸ Task Wait …
        │ prompt:
        │   Wait
        │   for it.
    ");
}

#[test]
fn colours_tell_apart_who_speaks_and_what_changes() {
    let user = conversation();
    let shown = user.done(&["cat", "main", "--color", "always"]);
    assert!(shown.contains("\u{1b}[31m- two\u{1b}[0m") && shown.contains("\u{1b}[32m+ 2\u{1b}[0m"), "{shown}");
    assert!(shown.starts_with("\u{1b}[1m\u{1b}[36mUser (ada@laptop)\u{1b}[0m"), "{shown}");
    let plain = user.done(&["cat", "main"]);
    assert!(!plain.contains(['\u{1b}', '\u{7}', '\u{8}', '\r', '\u{202e}']), "{plain}");
}

#[test]
fn entries_are_given_to_programs() {
    let user = conversation();
    assert_snapshot!(user.run(&["cat", "main", "--json", "-n", "2"]), @r#"
    {"schema":"contexture/1","commit":"ctx-bff77bce0b382c1ee0c3414a9f0c4978","id":"00000000-0000-4000-8000-000000000005","role":"assistant","model":"claude-x","at":"2026-11-15T19:00:05.000000Z","parts":[{"type":"tool_call","id":"t4","name":"Write","input":{"json":{"content":"x\ny\n","file_path":"/src/c.rs"}}}]}
    {"schema":"contexture/1","commit":"ctx-bff77bce0b382c1ee0c3414a9f0c4978","id":"00000000-0000-4000-8000-000000000006","role":"user","at":"2026-11-15T19:00:06.000000Z","parts":[{"type":"tool_result","call":"t4","content":[],"is_error":false},{"type":"tool_result","call":"t5","content":[{"type":"text","text":"late"}],"is_error":false},{"type":"text","text":"Assistant (forged)  2026-11-15\nThanks"}]}
    "#);
    assert_snapshot!(user.run(&["show", "main", "--entries", "--json"]), @r#"
    {"schema":"contexture/1","commit":"ctx-bff77bce0b382c1ee0c3414a9f0c4978","id":"00000000-0000-4000-8000-000000000005","role":"assistant","model":"claude-x","at":"2026-11-15T19:00:05.000000Z","parts":[{"type":"tool_call","id":"t4","name":"Write","input":{"json":{"content":"x\ny\n","file_path":"/src/c.rs"}}}]}
    {"schema":"contexture/1","commit":"ctx-bff77bce0b382c1ee0c3414a9f0c4978","id":"00000000-0000-4000-8000-000000000006","role":"user","at":"2026-11-15T19:00:06.000000Z","parts":[{"type":"tool_result","call":"t4","content":[],"is_error":false},{"type":"tool_result","call":"t5","content":[{"type":"text","text":"late"}],"is_error":false},{"type":"text","text":"Assistant (forged)  2026-11-15\nThanks"}]}
    "#);
}

#[test]
fn summaries_and_foreign_formats_are_shown_as_what_they_are() {
    let user = conversation();
    user.file("summary.txt", "It counts.\n");
    user.done(&["compact", "main", "--summary", "summary.txt", "--head", "main"]);
    user.file("note.txt", "A note\n\tby hand.\n");
    user.done(&["checkpoint", "--format", "notes-v1", "--head", "main", "note.txt"]);
    user.file("core", b"\x7fELF\0\xff");
    user.done(&["checkpoint", "--format", "core-dump", "--head", "main", "core"]);
    user.file("items.json", r#"[{"type":"custom_tool_call","call_id":"c1","name":"apply_patch","input":"*** Begin Patch\n*** Update File: a.rs\n@@ fn main\n-old\n+new\n*** End Patch"},{"type":"custom_tool_call_output","call_id":"c1","output":"diff --git a b\n--- a\n+++ b\n@@ -1 +1 @@\n-old\n+new"}]"#);
    user.done(&["checkpoint", "--format", "openai-responses-v1", "--head", "main", "items.json"]);
    user.file("broken.jsonl", "not json\n");
    user.done(&["checkpoint", "--format", "claude-code-v1", "--no-check", "--head", "main", "broken.jsonl"]);
    assert_snapshot!(user.run(&["cat", "main"]), @"
    Summary of what came before  2026-11-15 20:10:00Z  ctx-e20fe9e590
      ┃ It counts.

    Content in the format notes-v1  2026-11-15 20:10:00Z  ctx-216d5ce160
      A note
          by hand.

    Content in the format core-dump  2026-11-15 20:10:00Z  ctx-6ecf14733e
      [core-dump, 6 bytes; `ctx artifact get
      art-1f3a3ffaa222b9e67813ce0159fee9477614f4d88d50ffe76142597c022aaedb -o FILE` gives it]

    Assistant  2026-11-15 20:10:00Z  ctx-067e69c423
      ▸ apply_patch a.rs
        │ *** Update File: a.rs
        │ @@ fn main
        │ - old
        │ + new
        │ diff --git a b
        │ --- a
        │ +++ b
        │ @@ -1 +1 @@
        │ - old
        │ + new

    Content in the format claude-code-v1  2026-11-15 20:10:00Z  ctx-bbfd1d2df4
      [1 record cannot be read]
    ");
    assert_snapshot!(user.run(&["cat", "main", "--stop", "main~4", "--json", "-n", "4"]), @r#"
    {"schema":"contexture/1","commit":"ctx-216d5ce1607743001c320d1cc2643bd1","format":"notes-v1","text":"A note\n\tby hand.\n","left_out":0}
    {"schema":"contexture/1","commit":"ctx-6ecf14733e37619ffc8b2e7093dd14f4","format":"core-dump","artifact":"art-1f3a3ffaa222b9e67813ce0159fee9477614f4d88d50ffe76142597c022aaedb","size":6}
    {"schema":"contexture/1","commit":"ctx-067e69c42361459a96cd8fe0c29ad045","role":"assistant","parts":[{"type":"tool_call","id":"c1","name":"apply_patch","input":{"text":"*** Begin Patch\n*** Update File: a.rs\n@@ fn main\n-old\n+new\n*** End Patch"}}]}
    {"schema":"contexture/1","commit":"ctx-067e69c42361459a96cd8fe0c29ad045","role":"tool","parts":[{"type":"tool_result","call":"c1","content":[{"type":"text","text":"diff --git a b\n--- a\n+++ b\n@@ -1 +1 @@\n-old\n+new"}]}]}
    "#);
    assert_eq!(user.done(&["cat", "main", "--stop", "root"]).matches("Why does it fail?").count(), 1);
}

#[test]
fn a_message_that_comes_again_with_its_call_is_shown_with_it_once() {
    let user = User::new();
    let call = r#"{"id":"c1","name":"run_shell_command","args":{"command":"cat notes.txt"},"status":"success","result":[{"functionResponse":{"id":"c1","name":"run_shell_command","response":{"output":"The door is green."}}}]}"#;
    let message = |more: &str| {
        format!(
            r#"{{"id":"m1","timestamp":"2026-11-15T19:00:02Z","type":"gemini","content":"I look.","model":"gemini-3"{more}}}"#
        ) + "\n"
    };
    let said = |id: &str, part: &str| {
        format!(r#"{{"id":"{id}","timestamp":"2026-11-15T19:00:01Z","type":"user","content":[{part}]}}"#) + "\n"
    };
    let answer =
        r#"{"functionResponse":{"id":"c1","name":"run_shell_command","response":{"output":"The door is green."}}}"#;
    let head = r#"{"sessionId":"g","projectHash":"h","startTime":"2026-11-15T19:00:00Z"}"#;
    let first = format!("{head}\n{}{}", said("u1", r#"{"text":"What colour is the door?"}"#), message(""));
    let second = message(&format!(r#","toolCalls":[{call}]"#)) + &said("u2", answer);
    for content in [first, second] {
        user.file("part.jsonl", content);
        user.done(&["checkpoint", "--format", "gemini-v1", "--head", "main", "part.jsonl"]);
    }
    let shown = user.done(&["cat", "main"]);
    let count = |words: &str| shown.matches(words).count();
    let counts = ["I look.", "▸ run_shell_command cat notes.txt", "The door is green."].map(count);
    assert_eq!(counts, [1, 1, 1], "{shown}");
}
