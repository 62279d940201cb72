//! `ctx assemble`: packs in, decisions out.

use std::{
    fs::{self, File},
    io::{Read as _, Write as _},
    net::TcpStream,
    path::Path,
};

use contexture_testkit::{
    model_server::{Api, ConversationMessage, MessageRole, ModelServer, ScriptStep, Utterance},
    requests::{assert_sendable_to_anthropic, assert_sendable_to_openai_chat, assert_sendable_to_openai_responses},
};
use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::cli::harness::User;

const PACKS: &str = r#"{"maxTokens": 12, "maxChars": 60, "packs": [
    {"id": "task", "priority": "required", "full": "Fix the failing test.\n"},
    {"id": "plan", "priority": "high", "full": "First find out why it fails.\nThen fix it.\n", "compact": "Find, fix.\n"},
    {"id": "log", "priority": "low", "full": "test a ... ok\ntest b ... FAILED\n", "compact": "b failed again.\n"},
    {"id": "notes", "full": ""}
]}"#;

#[test]
fn packs_equal_the_golden_vectors() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/vectors/packs.json");
    let Ok(text) = fs::read(&path) else {
        eprintln!("skipped: no golden vectors beside the project");
        return;
    };
    let vectors: Value = serde_json::from_slice(&text).unwrap();
    let user = User::new();
    for case in vectors["cases"].as_array().unwrap() {
        let ran = user.pipe(case["input"].to_string(), &["assemble", "--packs", "-", "--json"]);
        if let Some(path) = case["expected"]["error"]["path"].as_str() {
            let failure: Value = serde_json::from_str(&ran.stderr).unwrap();
            let cause = failure["error"]["causes"][0].as_str().unwrap();
            assert_eq!((ran.code, cause.split(": ").next()), (2, Some(path)), "{}", case["name"]);
        } else {
            assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{}", case["name"]);
            let printed: Value = serde_json::from_str(&ran.stdout).unwrap();
            assert_eq!(printed, case["expected"], "{}", case["name"]);
        }
    }
}

#[test]
fn people_see_what_is_in_and_why_the_rest_is_out() {
    let user = User::new();
    user.file("packs.json", PACKS);
    assert_snapshot!(user.run(&["assemble", "--packs", "packs.json"]), @"
    [██████████████████████········] 9 of 12 tokens (chars4)
    33 of 60 characters

    In
      task   required  full     6 tokens
      plan   high      compact  3 tokens

    Out
      log    low       needs 8 tokens or 4 compact; 3 left
      notes  medium    has no text
    ");
    assert_snapshot!(user.run(&["assemble", "--packs", "packs.json", "--counter", "claude-estimate"]), @"
    [███████████████████████████···] 11 of 12 tokens (claude-estimate)
    22 of 60 characters

    In
      task   required  full     11 tokens

    Out
      plan   high      needs 20 tokens or 6 compact; 1 left
      log    low       needs 16 tokens or 8 compact; 1 left
      notes  medium    has no text
    ");
    assert_snapshot!(user.run(&["assemble", "--packs", "packs.json", "--counter", "o200k"]), @"
    [██████████████████████········] 9 of 12 tokens (o200k)
    33 of 60 characters

    In
      task   required  full     5 tokens
      plan   high      compact  4 tokens

    Out
      log    low       needs 10 tokens or 4 compact; 3 left
      notes  medium    has no text
    ");
    let birthday = r#"{"packs": [{"id": "b", "full": "お誕生日おめでとう"}]}"#;
    let report = user.pipe(birthday, &["assemble", "--packs", "-", "--counter", "cl100k", "--json"]);
    let report: Value = serde_json::from_str(&report.stdout).unwrap();
    assert_eq!(report["budget"]["finalTokens"], 9);
}

#[test]
fn people_see_what_the_limit_of_characters_took() {
    let user = User::new();
    user.file("packs.json", PACKS.replace("\"maxTokens\": 12, \"maxChars\": 60", "\"maxChars\": 35"));
    assert_snapshot!(user.run(&["assemble", "--packs", "packs.json"]), @"
    9 tokens, no budget (chars4)
    33 of 35 characters; 96 were selected

    In
      task   required  full     6 tokens
      plan   high      compact  3 tokens, for the limit of characters

    Out
      log    low       needs 32 characters or 16 compact; no room in 35
      notes  medium    has no text
    ");
    user.file("packs.json", PACKS.replace("\"maxTokens\": 12, \"maxChars\": 60", "\"maxTokens\": 2, \"maxChars\": 10"));
    assert_snapshot!(user.run(&["assemble", "--packs", "packs.json"]), @"
    [██████████████████████████████] 3 of 2 tokens, 1 over: only required packs are left (chars4)
    10 of 10 characters; 22 were selected

    In
      task   required  full     3 tokens, cut after 10 characters

    Out
      plan   high      needs 11 tokens or 3 compact; 0 left
      log    low       needs 8 tokens or 4 compact; 0 left
      notes  medium    has no text
    ");
}

#[test]
fn every_mistake_in_packs_is_named_by_its_place() {
    let user = User::new();
    let refused = |json: &str| user.pipe(json, &["assemble", "--packs", "-"]);
    assert_snapshot!(
        refused(r#"{"maxTokens": "4", "packs": [{"id": "a", "priority": "urgent", "full": "a"}, {"id": "a", "full": 7}]}"#),
        @r#"
        [exit 2]
        [stderr]
        error: cannot take standard input as packs
          because: maxTokens: expected a whole number, 0 or more, found a text
          because: packs[0].priority: "urgent" is not one of required, high, medium, low
          because: packs[1].id: packs[0] has this id already
          because: packs[1].full: expected a text, found 7
          hint: `ctx assemble --help` shows what packs look like
        "#
    );
    assert_snapshot!(refused("{\"packs\": [\n}"), @"
    [exit 2]
    [stderr]
    error: cannot take standard input as packs
      because: it is not JSON
      because: expected value at line 2 column 1
      hint: `ctx assemble --help` shows what packs look like
    ");
    assert_snapshot!(user.run(&["assemble", "--packs", "nowhere.json"]), @"
    [exit 1]
    [stderr]
    error: cannot read nowhere.json
      because: No such file or directory (os error 2)
    ");
    File::create(user.path("large.json")).unwrap().set_len(64 * 1024 * 1024 + 1).unwrap();
    assert_snapshot!(user.run(&["assemble", "--packs", "large.json"]), @"
    [exit 2]
    [stderr]
    error: cannot take large.json as packs: it has more than 64 MiB
      hint: `ctx assemble --help` shows what packs look like
    ");
    assert_snapshot!(user.run(&["assemble", "--packs", "p.json", "--counter", "gpt"]), @r#"
    [exit 2]
    [stderr]
    error: invalid value 'gpt' for '--counter <NAME>': there is no token counter "gpt"; there are chars4, claude-estimate, claude-4.6-estimate, o200k, cl100k

    For more information, try '--help'.
    "#);
    assert_snapshot!(user.run(&["assemble", "--packs", "p.json", "--counter", "o200k_base"]), @r#"
    [exit 2]
    [stderr]
    error: invalid value 'o200k_base' for '--counter <NAME>': there is no token counter "o200k_base"; there are chars4, claude-estimate, claude-4.6-estimate, o200k, cl100k; did you mean `o200k`?

    For more information, try '--help'.
    "#);
    assert_snapshot!(user.run(&["assemble"]), @"
    [exit 2]
    [stderr]
    error: the following required arguments were not provided:
      <RECIPE>

    Usage: ctx assemble <RECIPE>

    For more information, try '--help'.
    ");
}

/// Sends a body as it is and returns the answer.
fn post(server: &ModelServer, path: &str, body: &str) -> Value {
    let address = server.url().replace("http://", "");
    let mut stream = TcpStream::connect(&address).unwrap();
    let head =
        format!("POST {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Length: {}", body.len());
    write!(stream, "{head}\r\n\r\n{body}").unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    let (head, body) = response.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 200"), "{response}");
    serde_json::from_str(body).unwrap()
}

/// Fails where a vendor would refuse a request.
type Sendable = fn(&[u8]);

#[test]
fn a_request_that_names_its_model_can_be_sent() {
    let user = User::new();
    let said = json!([
        {"role": "user", "content": "Which colour?"},
        {"role": "assistant", "content": [
            {"type": "text", "text": "I look."},
            {"type": "tool_use", "id": "1", "name": "look", "input": {"at": "door"}},
        ]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": "green"}]},
        {"role": "assistant", "content": "It is green."},
    ]);
    user.file("turn.json", said.to_string());
    user.run(&["checkpoint", "turn.json", "--format", "anthropic-messages-v1", "--head", "main"]);
    let say = |role, what| ConversationMessage { role, what };
    let expected = [
        say(MessageRole::User, Utterance::Text("Which colour?".to_owned())),
        say(MessageRole::Assistant, Utterance::Text("I look.".to_owned())),
        say(MessageRole::Assistant, Utterance::Call { name: "look".to_owned(), input: json!({"at": "door"}) }),
        say(MessageRole::User, Utterance::Outcome("green".to_owned())),
        say(MessageRole::Assistant, Utterance::Text("It is green.".to_owned())),
        say(MessageRole::User, Utterance::Text("And the window?".to_owned())),
    ];
    let server = ModelServer::start();
    let apis: [(&str, &str, Api, Sendable, &str); 3] = [
        ("anthropic", "/v1/messages", Api::Messages, assert_sendable_to_anthropic, "/max_tokens"),
        ("openai-chat", "/v1/chat/completions", Api::Chat, assert_sendable_to_openai_chat, "/max_completion_tokens"),
        (
            "openai-responses",
            "/v1/responses",
            Api::Responses,
            assert_sendable_to_openai_responses,
            "/max_output_tokens",
        ),
    ];
    for (target, path, api, is_sendable, max_output) in apis {
        server.script([ScriptStep::new().text("Blue.")]);
        let asked = ["assemble", "prompt", "--head", "main", "--trigger", "And the window?", "--target", target];
        let ran =
            user.run(&[&asked[..], &["--model", "scripted", "--max-output", "500", "-o", "request.json"]].concat());
        assert_eq!(ran.code, 0, "{ran}");
        let body = fs::read_to_string(user.path("request.json")).unwrap();
        is_sendable(body.as_bytes());
        let request: Value = serde_json::from_str(&body).unwrap();
        assert_eq!(request.pointer(max_output), Some(&json!(500)), "{request}");
        let answer = post(&server, path, &body);
        if target != "openai-responses" {
            // Responses without tools are taken for what a client asks for itself.
            assert!(answer.to_string().contains("Blue."), "{answer}");
        }
        let sent = server.requests().pop().unwrap();
        assert_eq!((sent.api(), sent.model(), sent.conversation()), (api, "scripted", expected.to_vec()));
        let shown = user.run(&["envelope", "show", "last"]);
        assert!(shown.stdout.contains("500 kept for the answer"), "{shown}");
        assert_eq!(user.run(&["envelope", "replay", "last"]).code, 0);
    }
    let ran = user.run(&["assemble", "prompt", "--head", "main", "--model", "scripted"]);
    assert!(ran.stderr.contains("model:prompt is no request, so it names no model."), "{ran}");
    let ran = user.run(&["assemble", "prompt", "--head", "main", "--target", "anthropic"]);
    assert!(!ran.stdout.contains("\"model\""), "somebody adds it: {ran}");
}

#[test]
fn another_target_has_the_whole_budget_too() {
    let user = User::new();
    user.file("items.json", json!([{"content": "plain words of a note ".repeat(20)}]).to_string());
    let counter = |target: &str| {
        let ran =
            user.run(&["assemble", "resume", "--items", "items.json", "--trigger", "x", "--target", target, "-o", "r"]);
        assert_eq!(ran.code, 0, "{ran}");
        ran.stdout
    };
    assert!(counter("anthropic").contains("by claude-estimate"));
    assert!(counter("openai-chat").contains("by o200k"));
    assert!(counter("prompt").contains("by chars4"));
}

#[test]
fn the_figures_of_an_assembly_are_shown_to_whoever_asks_and_hold_nothing_that_it_says() {
    let user = User::new();
    user.file("mine.toml", "[[segments]]\nname = \"now\"\nsources = [{ source = \"trigger\" }]\n");
    let arguments = ["assemble", "./mine.toml", "--trigger", "a secret marker", "-o", "out.txt"];
    for name in ["CTX_CONTEXT_METRICS", "ZEROSHOT_CONTEXT_METRICS"] {
        let ran = user.ran(user.command(&arguments).env(name, "1").output());
        assert!(ran.code == 0 && !ran.stdout.contains("alarms"), "{ran}");
        let line = ran.stderr.lines().find(|line| line.starts_with('{')).unwrap();
        let metrics: Value = serde_json::from_str(line).unwrap();
        assert_eq!(metrics["alarms"], json!([{"alarm": "budget_inactive", "target": "model:prompt"}]));
        assert_eq!(metrics["targets"][0]["packs"][0]["id"], "trigger");
        assert!(!ran.stderr.contains("a secret marker"), "{}", ran.stderr);
    }
    for (name, value) in [("CTX_CONTEXT_METRICS", "0"), ("CTX_CONTEXT_METRICS", "")] {
        let ran = user.ran(user.command(&arguments).env(name, value).output());
        assert!(!ran.stderr.contains("alarms"), "{}", ran.stderr);
    }
}
