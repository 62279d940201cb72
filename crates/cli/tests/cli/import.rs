//! `ctx import`.

use std::fs;

use insta::assert_snapshot;

use super::harness::User;

/// Where Claude Code keeps the sessions of a directory.
const PROJECT: &str = ".claude/projects/-home-ada-project";

fn line(kind: &str, uuid: &str, parent: &str, text: &str) -> String {
    let parent = if parent.is_empty() { "null".to_owned() } else { format!("\"{parent}\"") };
    format!(
        r#"{{"type":"{kind}","uuid":"{uuid}","parentUuid":{parent},"sessionId":"5e55","timestamp":"2026-11-15T19:00:00Z","cwd":"/home/ada/project","version":"2.1.0","message":{{"role":"{kind}","content":"{text}"}}}}"#
    ) + "\n"
}

/// A user who has run an agent: two turns, the second taken back and asked again.
fn with_session() -> User {
    let user = User::new();
    fs::create_dir_all(user.path(PROJECT)).unwrap();
    let lines = [
        line("user", "u1", "", "Find the failing test"),
        line("assistant", "a1", "u1", "It races."),
        line("user", "u2", "a1", "Make it sleep longer"),
        line("assistant", "a2", "u2", "Done."),
        line("user", "u3", "a1", "Wait for the port instead"),
        line("assistant", "a3", "u3", "Done."),
    ];
    user.file(format!("{PROJECT}/5e55.jsonl"), lines.concat());
    user
}

#[test]
fn sessions_are_found_taken_in_and_recognised() {
    let user = with_session();
    assert_snapshot!(user.run(&["import", "--dry-run"]).stdout.replace(user.path("").to_str().unwrap(), "HOME/"), @"claude-code      1.2 kB  HOME/.claude/projects/-home-ada-project/5e55.jsonl");
    assert_snapshot!(user.run(&["import"]), @"
    runtime         files      new    grown    commits       read  branches
    claude-code         1        1        0          3     1.2 kB         1
    [stderr]
    `ctx log --graph --all` shows what is there.
    ");
    assert_snapshot!(user.run(&["log", "--graph", "--all"]), @"
    ○  ctx-f2b4fbc721 (session/5e55)
    │  ada@laptop, 1 hour ago, 2 messages
    │  Wait for the port instead
    │  ▸ Done.
    │
    │ ○  ctx-bd58224963 (session/5e55/branch-1)
    ├─╯  ada@laptop, 1 hour ago, 2 messages
    │    Make it sleep longer
    │    ▸ Done.
    │
    ○  ctx-ac449aae29
       ada@laptop, 1 hour ago, 2 messages
       Find the failing test
       ▸ It races.
    ");
    assert_snapshot!(user.run(&["import"]), @"
    runtime         files      new    grown    commits       read  branches
    claude-code         1        0        0          0    0 bytes         1
    ");
    assert_snapshot!(user.run(&["import", "--verify"]), @"
    [stderr]
    Byte for byte the same: 1 file (1.2 kB).
    ");
}

#[test]
fn what_is_no_session_is_refused_with_its_reason_and_garbage_is_named() {
    let user = with_session();
    user.file("notes.jsonl", "{\"a\":1}\n");
    user.file(
        "broken.jsonl",
        [&line("user", "u9", "", "Hello"), "garbage\n", &line("assistant", "a9", "u9", "Hi")].concat(),
    );
    let root = user.path("").canonicalize().unwrap();
    let shown = |text: &str| text.replace(root.to_str().unwrap(), "HOME");
    let ran = user.run(&["import", "notes.jsonl", "broken.jsonl"]);
    assert_snapshot!(shown(&ran.to_string()), @"
    [exit 1]
    runtime         files      new    grown    commits       read  branches
    claude-code         1        1        0          1  391 bytes         0
    [stderr]
    HOME/broken.jsonl: line 2 is no record: it is no JSON that the format knows: expected value at line 1 column 1
    Left out 1 file: it does not look like a session of any runtime or a conversation in any format that is known
      HOME/notes.jsonl
    `ctx log --graph --all` shows what is there.
    error: cannot take in HOME/notes.jsonl: it does not look like a session of any runtime or a conversation in any format that is known
      hint: `--runtime` says what a file is that is not recognised
    ");
    assert_eq!(user.run(&["import", "nowhere"]).code, 1);
    // The files stay as they are.
    assert_eq!(user.read("notes.jsonl"), "{\"a\":1}\n");
}

#[test]
fn what_is_left_out_below_a_directory_is_told_with_its_reason() {
    let user = User::new();
    fs::create_dir(user.path("mixed")).unwrap();
    user.file("mixed/talk.json", r#"[{"role":"user","content":"Why?"},{"role":"assistant","content":"So."}]"#);
    user.file("mixed/package.json", r#"{"name":"x"}"#);
    user.file("mixed/cut.json", r#"{"info":{"id":"ses_1"},"messages":["#);
    user.file("mixed/packed.jsonl", "PK\u{3}\u{4}");
    let root = user.path("").canonicalize().unwrap();
    assert_snapshot!(user.run(&["import", "mixed"]).to_string().replace(root.to_str().unwrap(), "HOME"), @"
    runtime               files      new    grown    commits       read  branches
    anthropic-messages        1        1        0          1   68 bytes         0
    [stderr]
    Left out 1 file: it does not look like a session of any runtime or a conversation in any format that is known
      HOME/mixed/package.json
    Left out 1 file: it is a JSON document that breaks off after 35 bytes
      HOME/mixed/cut.json
    Left out 1 file: it is a ZIP archive, which is not read here
      HOME/mixed/packed.jsonl
    `ctx log --graph --all` shows what is there.
    ");
}

#[test]
fn a_file_that_is_not_here_does_not_pass_the_comparison() {
    let user = with_session();
    let ran = user.run(&["import", "--verify"]);
    assert_eq!(ran.code, 1);
    assert!(ran.stdout.contains("it was never taken in"), "{ran}");
}

#[test]
fn what_hooks_could_not_store_comes_first() {
    let user = with_session();
    // A file stands where the store belongs.
    user.file("place", "");
    let transcript = user.path(PROJECT).join("5e55.jsonl");
    let event =
        format!(r#"{{"hook_event_name":"Stop","session_id":"5e55","transcript_path":"{}"}}"#, transcript.display());
    user.pipe(event, &["--store", "place", "hook", "claude-code"]);
    fs::remove_file(user.path("place")).unwrap();
    // The session itself was deleted meanwhile.
    fs::remove_file(transcript).unwrap();
    let ran = user.run(&["--store", "place", "import"]);
    assert_eq!(ran.stderr, "Took in 1 entry from the spool.\nThere are no sessions to take in.\n");
    assert!(user.done(&["--store", "place", "log", "session/5e55"]).contains("Wait for the port instead"));
}

#[test]
fn documents_are_taken_in_by_what_they_hold_or_as_what_they_are_called() {
    let user = User::new();
    user.file("talk.json", r#"[{"role":"user","content":"Why?"},{"role":"assistant","content":"So."}]"#);
    user.file("odd.jsonl", "{\"odd\":1}\n");
    let root = user.path("").canonicalize().unwrap();
    let shown = |ran: super::harness::Ran| ran.to_string().replace(root.to_str().unwrap(), "HOME");
    assert_snapshot!(shown(user.run(&["import", "talk.json"])), @"
    runtime               files      new    grown    commits       read  branches
    anthropic-messages        1        1        0          1   68 bytes         0
    [stderr]
    `ctx log --graph --all` shows what is there.
    ");
    assert_snapshot!(shown(user.run(&["import", "talk.json", "--runtime", "openai-chat-v1"])), @"
    runtime         files      new    grown    commits       read  branches
    openai-chat         1        1        0          1   68 bytes         0
    [stderr]
    `ctx log --graph --all` shows what is there.
    ");
    assert_snapshot!(shown(user.run(&["import", "talk.json", "--runtime", "codex"])), @"
    [exit 1]
    [stderr]
    There are no sessions to take in.
    Left out 1 file: it is anthropic-messages-v1, and --runtime asks for codex
      HOME/talk.json
    error: cannot take in HOME/talk.json: it is anthropic-messages-v1, and --runtime asks for codex
      hint: `--runtime` says what a file is that is not recognised
    ");
    assert_snapshot!(shown(user.run(&["import", "odd.jsonl", "--runtime", "codex"])), @"
    runtime         files      new    grown    commits       read  branches
    codex               1        1        0          1   10 bytes         0
    [stderr]
    `ctx log --graph --all` shows what is there.
    ");
    assert_snapshot!(shown(user.run(&["import", "--runtime", "cladue-code"])), @"
    [exit 2]
    [stderr]
    error: invalid value 'cladue-code' for '--runtime <R>'
      [possible values: claude-code, codex, gemini, pi, opencode, copilot, cursor, cursor-chat, droid, dsh, kiro, kiro-chat, crush, claude-code-v1, claude-stream-v1, codex-v1, codex-exec-v1, gemini-v1, gemini-stream-v1, pi-v1, pi-stream-v1, copilot-v1, cursor-v1, cursor-chat-v1, droid-v1, dsh-v1, dsh-stream-v1, kiro-v1, kiro-chat-v1, crush-v1, aider-v1, entire-condensed-v1, specstory-v1, swe-agent-v1, opencode-v1, events-v1, bureau-agent-v1, anthropic-messages-v1, openai-chat-v1, openai-responses-v1, atif-v1]

      tip: a similar value exists: 'claude-code'

    For more information, try '--help'.
    ");
}

#[test]
fn what_is_odd_about_many_lines_is_told_of_the_first() {
    let user = User::new();
    let turn = "{\"type\":\"user\",\"uuid\":\"u1\",\"parentUuid\":null,\"sessionId\":\"s1\",\
                \"message\":{\"role\":\"user\",\"content\":\"Find the race.\"}}\n";
    user.file("s1.jsonl", turn.to_owned() + &"{broken\n".repeat(14));
    let ran = user.run(&["import", "s1.jsonl"]);
    let remarks = ran.stderr.lines().filter(|line| line.contains("is no record")).count();
    assert_eq!((ran.code, remarks), (0, 10), "{ran}");
    assert!(ran.stderr.contains("… and 4 more lines like these"), "{ran}");
}

#[test]
fn a_chat_history_that_grows_in_the_middle_of_an_answer_goes_on_where_it_was() {
    let user = User::new();
    fs::create_dir(user.path("p")).unwrap();
    let begun = "\n# aider chat started at 2026-11-15 10:00:00\n\n#### why?  \n\nIt connects\n";
    user.file("p/.aider.chat.history.md", begun);
    let first = user.done(&["--json", "import", "p"]);
    assert!(first.contains(r#""outcome":"new""#), "{first}");
    user.file(
        "p/.aider.chat.history.md",
        format!("{begun}too early.\n\n> Tokens: 1  \n\n#### fix it  \n\nDone.\n").as_str(),
    );
    let second = user.done(&["--json", "import", "p"]);
    assert!(second.contains(r#""outcome":"grown""#) && second.contains(r#""branches":0"#), "{second}");
    let third = user.done(&["--json", "import", "p"]);
    assert!(third.contains(r#""outcome":"unchanged""#), "{third}");
    assert!(user.done(&["--json", "import", "--verify", "p"]).contains(r#""result":"same""#));
    let said = user.done(&["cat", "session/aider-2026-11-15-10-00-00"]);
    for words in ["why?", "It connects", "too early.", "fix it", "Done."] {
        assert!(said.contains(words), "{words} is not in\n{said}");
    }
    assert!(!said.contains("Tokens"), "{said}");
}
