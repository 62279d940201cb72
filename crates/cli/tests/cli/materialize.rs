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
fn a_file_is_written_and_its_counts_are_shown() {
    let user = User::with_history();
    user.file("out.jsonl", "what was there before");
    assert_snapshot!(user.run(&["materialize", "review", "-o", "out.jsonl"]), @"
    [stderr]
    Materialized 3 commits, 3 messages, 51 bytes, about 13 tokens.
    ");
    assert_eq!(user.read("out.jsonl"), user.done(&["materialize", "review"]) + "\n");
    assert_snapshot!(user.run(&["materialize", "review", "-o", "out.jsonl", "--json"]), @r#"{"schema":"contexture/1","format":"claude-code-v1","tier":"native","segments":[{"format":"claude-code-v1","commits":3,"tier":"native"}],"losses":[],"commits":3,"messages":3,"bytes":51,"tokens":13,"token_counter":"chars4"}"#);
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
fn what_cannot_be_given_is_reported() {
    let user = User::with_history();
    assert_snapshot!(user.run(&["materialize", "main", "--stop", "review"]), @"
    [exit 1]
    [stderr]
    error: ctx-bacf8294d2ccae76ed055e62c8e46c63 is not an ancestor of ctx-beead0152a71de0963f456082660f6aa
      hint: `ctx log ctx-beead0152a` shows its ancestors
    ");
    assert_snapshot!(user.run(&["materialize", "main", "--format", "codex-v1", "--tier", "native"]), @"
    [exit 1]
    [stderr]
    error: the chain of ctx-beead0152a71de0963f456082660f6aa is claude-code-v1, which is not codex-v1 without a translation
      hint: `--tier mapped` allows a translation, and no `--tier` the best there is
    ");
    assert_snapshot!(user.run(&["materialize", "main", "--format", "droid-v1"]), @"
    [exit 2]
    [stderr]
    error: no conversation can be written as droid-v1; the formats that can be written are claude-code-v1, codex-v1, gemini-v1, pi-v1, opencode-v1, events-v1, bureau-agent-v1, anthropic-messages-v1, openai-chat-v1, openai-responses-v1, atif-v1, text
      hint: name one of them: `--format claude-code-v1`
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
    let refused = ["materialize", "main", "--format", "codex-v1", "--tier", "native", "-o", "out.jsonl"];
    assert_eq!(user.run(&refused).code, 1);
    assert_eq!(user.run(&["materialize", "main", "--report", "absent/report.json", "-o", "out.jsonl"]).code, 1);
    assert_eq!(std::fs::read_dir(user.path("")).unwrap().count(), before);
}

/// Returns a user with a conversation in two formats on `main`.
fn mixed() -> User {
    let user = User::new();
    let claude = |role: &str, id: u8, text: &str| {
        format!(
            "{{\"type\":\"{role}\",\"uuid\":\"00000000-0000-4000-8000-00000000000{id}\",\
             \"message\":{{\"role\":\"{role}\",\"content\":[{text}]}}}}\n"
        )
    };
    let question = claude("user", 1, "{\"type\":\"text\",\"text\":\"Why?\"}");
    let thought = "{\"type\":\"redacted_thinking\",\"data\":\"eA==\"},{\"type\":\"text\",\"text\":\"Because.\"}";
    user.file("one.jsonl", question + &claude("assistant", 2, thought));
    let labels = ["--label", "cwd=/src", "--label", "branch=main"];
    let one = ["checkpoint", "--head", "main", "--format", "claude-code-v1", "one.jsonl"];
    user.done(&[&one[..], &labels].concat());
    user.file("two.json", "[{\"role\":\"user\",\"content\":\"Sure?\"}]");
    user.done(&["checkpoint", "--head", "main", "--format", "openai-chat-v1", "two.json"]);
    user
}

#[test]
fn what_the_wanted_runtime_wrote_first_is_kept() {
    let user = User::new();
    let line = |role: &str, id: u8, parent: &str, text: &str| {
        format!(
            "{{\"type\":\"{role}\", \"uuid\":\"00000000-0000-4000-8000-00000000000{id}\",\"parentUuid\":{parent},\
             \"sessionId\":\"old\",\"message\":{{\"role\":\"{role}\",\"content\":[{{\"type\":\"text\",\"text\":\"{text}\"}}]}}}}\n"
        )
    };
    let first = line("user", 1, "null", "Why?");
    user.file("one.jsonl", first + &line("assistant", 2, "\"00000000-0000-4000-8000-000000000001\"", "Because."));
    user.done(&["checkpoint", "--head", "main", "--format", "claude-code-v1", "one.jsonl"]);
    user.file("two.json", "[{\"role\":\"user\",\"content\":\"Sure?\"}]");
    user.done(&["checkpoint", "--head", "main", "--format", "openai-chat-v1", "two.json"]);
    assert_snapshot!(user.run(&["materialize", "main", "--format", "claude-code-v1", "-o", "out.jsonl"]), @"
    [stderr]
    Materialized 2 commits, 3 messages, 791 bytes, about 200 tokens.
    Kept 1 commit of claude-code-v1, translated 1 commit of openai-chat-v1 (mapped).
    ");
    assert_snapshot!(user.read("out.jsonl"), @r#"
    {"type":"user", "uuid":"00000000-0000-4000-8000-000000000001","parentUuid":null,"sessionId":"1eeaadd1-8b21-8889-bbb5-42bbad9c356c","message":{"role":"user","content":[{"type":"text","text":"Why?"}]}}
    {"type":"assistant", "uuid":"00000000-0000-4000-8000-000000000002","parentUuid":"00000000-0000-4000-8000-000000000001","sessionId":"1eeaadd1-8b21-8889-bbb5-42bbad9c356c","message":{"role":"assistant","content":[{"type":"text","text":"Because."}]}}
    {"parentUuid":"00000000-0000-4000-8000-000000000002","isSidechain":false,"userType":"external","cwd":"/","sessionId":"1eeaadd1-8b21-8889-bbb5-42bbad9c356c","version":"2.1.0","type":"user","message":{"role":"user","content":[{"type":"text","text":"Sure?"}]},"uuid":"e72b6f18-bc41-81f3-abab-742d444df25b","timestamp":"2026-11-15T20:10:00.000Z"}
    "#);
    let mapped = user.done(&["materialize", "main", "--format", "claude-code-v1", "--tier", "mapped"]);
    assert!(!mapped.contains("\", \""), "{mapped}");
}

#[test]
fn a_conversation_is_translated_and_its_losses_are_shown() {
    let user = mixed();
    assert_snapshot!(user.run(&["materialize", "main"]), @"
    [exit 1]
    [stderr]
    error: the chain of ctx-e84c5eef91474164178799dee88962e6 mixes the formats claude-code-v1 and openai-chat-v1
      hint: `--format claude-code-v1` translates all of it; `ctx log ctx-e84c5eef91` shows where it changes
    ");
    let chat = ["materialize", "main", "--format", "openai-chat-v1"];
    assert_snapshot!(user.run(&chat), @r#"[{"role":"user","content":"Why?"},{"role":"assistant","content":"Because."},{"role":"user","content":"Sure?"}]"#);
    assert_snapshot!(user.run(&[&chat[..], &["-o", "out.json", "--report", "report.json"]].concat()), @"
    [stderr]
    Materialized 2 commits, 3 messages, 110 bytes, about 28 tokens.
    Translated 1 commit of claude-code-v1 (mapped), 1 commit of openai-chat-v1 (mapped).
    Lost or changed: sealed thinking (1).
    ");
    assert_snapshot!(user.read("report.json"), @r#"{"schema":"contexture/1","format":"openai-chat-v1","tier":"mapped","segments":[{"format":"claude-code-v1","commits":1,"tier":"mapped"},{"format":"openai-chat-v1","commits":1,"tier":"mapped"}],"losses":[{"kind":"sealed_thinking","count":1}],"commits":2,"messages":3,"bytes":110,"tokens":28,"token_counter":"chars4","artifact":"art-1db0e7097506cdeded4bd453e08fe60ac9ef05dbcb4d11714f495b7c4d670863"}"#);
    assert_eq!(user.read("report.json"), user.done(&[&chat[..], &["-o", "out.json", "--json"]].concat()) + "\n");
    assert_eq!(user.read("out.json"), user.done(&chat));
    assert_snapshot!(user.run(&["materialize", "main", "--format", "claude-code-v1"]), @r#"
    {"parentUuid":null,"isSidechain":false,"userType":"external","cwd":"/src","sessionId":"e84c5eef-9147-8164-9787-99dee88962e6","version":"2.1.0","gitBranch":"main","type":"user","message":{"role":"user","content":[{"type":"text","text":"Why?"}]},"uuid":"c1c703ec-c7cc-883a-8afa-b4b6ec5dde7c","timestamp":"2026-11-15T20:10:00.000Z"}
    {"parentUuid":"c1c703ec-c7cc-883a-8afa-b4b6ec5dde7c","isSidechain":false,"userType":"external","cwd":"/src","sessionId":"e84c5eef-9147-8164-9787-99dee88962e6","version":"2.1.0","gitBranch":"main","type":"assistant","message":{"id":"msg_2fb72daacaaf8445a7a4e823b3d1337d","type":"message","role":"assistant","model":"claude-sonnet-4-5","content":[{"type":"redacted_thinking","data":"eA=="},{"type":"text","text":"Because."}],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":0,"output_tokens":0}},"uuid":"6e60aab5-4318-8552-8a1c-f23a130a8ffb","timestamp":"2026-11-15T20:10:00.000Z"}
    {"parentUuid":"6e60aab5-4318-8552-8a1c-f23a130a8ffb","isSidechain":false,"userType":"external","cwd":"/src","sessionId":"e84c5eef-9147-8164-9787-99dee88962e6","version":"2.1.0","gitBranch":"main","type":"user","message":{"role":"user","content":[{"type":"text","text":"Sure?"}]},"uuid":"898160b1-2084-8a1e-8bdf-7948088988a1","timestamp":"2026-11-15T20:10:00.000Z"}
    "#);
    assert_snapshot!(user.run(&["materialize", "main", "--format", "text"]), @"
    User:
      Why?

    Assistant:
      Because.

    User:
      Sure?
    ");
    assert_snapshot!(user.run(&[&chat[..], &["--tier", "rendered"]].concat()), @r#"[{"role":"user","content":"[an earlier conversation, told as text]\n\nUser:\n  Why?\n\nAssistant:\n  Because.\n\nUser:\n  Sure?\n"}]"#);
    assert_snapshot!(user.run(&[&chat[..], &["--tier", "raw"]].concat()), @r#"[{"role":"user","content":[{"type":"text","text":"[317 bytes in the format claude-code-v1, checked in as ctx-6c7b386e25e82dc9782bab42abb3dc79; `ctx artifact get art-2146678edfddf74453d885ef7fb820222906ac788088dfd2fd6b2c1e7c307103` gives them]\n[what it is: Claude Code transcript (JSONL); its records: lines, each a JSON object; how to read it: each line has a `type`; those of `user` and `assistant` hold `message` with `role` and `content` (a text, or blocks `text`, `thinking`, `tool_use`, `tool_result`), `uuid` names a line and `parentUuid` the one before it]"},{"type":"text","text":"[35 bytes in the format openai-chat-v1, checked in as ctx-e84c5eef91474164178799dee88962e6; `ctx artifact get art-ad8f57416e9aa0b7b53643456e7e016725b311f789f2d434ccc5ccb610d120dd` gives them]\n[what it is: messages of OpenAI's Chat Completions, a JSON array; its records: the elements of a JSON array; how to read it: each element has `role` and `content`; `tool_calls` are answered by elements of the role `tool`]"}]}]"#);
}

#[test]
fn tokens_are_those_that_assembly_counts() {
    let user = User::new();
    let text = "{\"said\":\"grüße 😀😀😀😀😀😀😀\"}\n";
    user.file("one.jsonl", text);
    user.done(&["checkpoint", "--head", "main", "--format", "claude-code-v1", "one.jsonl"]);
    let report = user.done(&["materialize", "main", "-o", "out.jsonl", "--json"]);
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    let packs = serde_json::json!({"packs": [{"id": "all", "full": user.read("out.jsonl")}]});
    let counter = report["token_counter"].as_str().unwrap();
    let assembled = user.pipe(packs.to_string(), &["assemble", "--packs", "-", "--counter", counter, "--json"]);
    let assembled: serde_json::Value = serde_json::from_str(&assembled.stdout).unwrap();
    assert_eq!(report["tokens"], assembled["budget"]["finalTokens"]);
    assert_eq!(report["tokens"], text.encode_utf16().count().div_ceil(4));
}

#[test]
fn what_comes_out_can_be_kept_and_what_is_not_read_is_described() {
    let user = User::with_history();
    user.file("core", "\u{7f}ELF\0");
    user.done(&["checkpoint", "--parent", "review", "--format", "core-dump", "--head", "dump", "core"]);
    let into = ["materialize", "dump", "--format", "openai-chat-v1", "--report", "report.json"];
    assert_snapshot!(user.run(&[&into[..], &["-o", "out.json", "--keep"]].concat()), @"
    [stderr]
    Materialized 4 commits, 1 message, 379 bytes, about 95 tokens.
    Translated 3 commits of claude-code-v1 (mapped), 1 commit of core-dump (raw).
    Lost or changed: content as note (1).
    Not read: 1 artifact of core-dump, a program or a core dump (ELF); `ctx artifact get art-1ed4c81629c780d33ab9265dcab79af5bad7c42876a3a017e4631ba0cac5c2a3`.
    Kept as art-3a9dbb18d89b7cf4e1b96d7522de45251a506c20ccc29d2ef222506ad671695c
    ");
    let report: serde_json::Value = serde_json::from_str(&user.read("report.json")).unwrap();
    assert_snapshot!(report["raw"].to_string(), @r#"[{"artifacts":[{"artifact":"art-1ed4c81629c780d33ab9265dcab79af5bad7c42876a3a017e4631ba0cac5c2a3","bytes":5,"commit":"ctx-c6262dba952825e247c28b379374ff8d"}],"format":"core-dump","framing":"none that is known: all of it is one thing","reading":"look at its parts (`readelf -a`, `strings`)","what":"a program or a core dump (ELF)"}]"#);
    let artifact = report["artifact"].as_str().unwrap();
    assert_eq!(user.done(&["artifact", "get", artifact]), user.read("out.json").trim_end());
    // The stored bytes are joined without a copy, unless one is asked for.
    user.done(&["materialize", "main", "-o", "main.jsonl", "--report", "report.json"]);
    assert!(!user.read("report.json").contains("artifact"));
    assert_snapshot!(user.run(&["materialize", "main", "-o", "main.jsonl", "--keep", "--json"]), @r#"{"schema":"contexture/1","format":"claude-code-v1","tier":"native","segments":[{"format":"claude-code-v1","commits":2,"tier":"native"}],"losses":[],"commits":2,"messages":2,"bytes":283,"tokens":71,"token_counter":"chars4","artifact":"art-fc954cc41d4dadfdf406efff0df7bd90fb1064e415204aa8d071fe0f9234ba91"}"#);
}
