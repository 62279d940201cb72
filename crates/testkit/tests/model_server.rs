//! The scripted model, spoken to as clients speak to it.

use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
};

use contexture_testkit::model_server::{
    ConversationMessage, MessageRole, ModelRequest, ModelServer, Purpose, ScriptStep, Utterance,
};
use serde_json::{Value, json};

/// Where each protocol is spoken, streamed and whole.
const PATHS: [[&str; 2]; 3] = [
    ["/v1/messages", "/v1/messages"],
    ["/v1/responses", "/v1/responses"],
    ["/v1beta/models/scripted:streamGenerateContent?alt=sse", "/v1beta/models/scripted:generateContent"],
];

#[test]
fn a_script_is_followed_in_every_protocol() {
    let server = ModelServer::start();
    for ([stream, whole], body) in PATHS.into_iter().zip(turns()) {
        server.script([
            ScriptStep::new().text("Streamed.").call("look", json!({"at": "door"})),
            ScriptStep::new().text("Whole."),
        ]);
        let answer = post(&server, stream, &with_stream(&body, true));
        assert!(["data: ", "Streamed.", "look", "door"].iter().all(|part| answer.contains(part)), "{answer}");
        let answer = post(&server, whole, &with_stream(&body, false));
        assert!(answer.contains("Whole.") && serde_json::from_str::<Value>(&answer).is_ok(), "{answer}");
        assert_eq!(server.remaining_steps(), 0);
    }
}

#[test]
fn a_conversation_reads_the_same_in_every_protocol() {
    let server = ModelServer::start();
    for ([stream, _], body) in PATHS.into_iter().zip(turns()) {
        post(&server, stream, &body);
    }
    let say = |role, what| ConversationMessage { role, what };
    let expected = [
        say(MessageRole::User, Utterance::Text("Which colour?".to_owned())),
        say(MessageRole::Assistant, Utterance::Thinking("A look helps.".to_owned())),
        say(MessageRole::Assistant, Utterance::Text("I look.".to_owned())),
        say(MessageRole::Assistant, Utterance::Call { name: "look".to_owned(), input: json!({"at": "door"}) }),
        say(MessageRole::User, Utterance::Outcome("green".to_owned())),
    ];
    let conversations: Vec<_> = server.turns().iter().map(ModelRequest::conversation).collect();
    assert_eq!(conversations, [expected.to_vec(), expected.to_vec(), expected.to_vec()]);
}

#[test]
fn what_a_client_asks_for_itself_takes_no_step() {
    let server = ModelServer::with_script([ScriptStep::new().text("Not for you.")]);
    let [messages, responses, gemini] = turns();
    let [[messages_path, _], [responses_path, _], [_, gemini_path]] = PATHS;
    let asked = [
        (messages_path, with(&messages, "tools", json!([]))),
        (messages_path, with(&messages, "max_tokens", json!(1))),
        (messages_path, with(&messages, "output_config", json!({"format": {"type": "json_schema"}}))),
        (responses_path, with(&responses, "tools", json!([]))),
        (responses_path, with(&responses, "text", json!({"format": {"type": "json_schema"}}))),
        (gemini_path, with(&gemini, "tools", json!([]))),
        (gemini_path, with(&gemini, "generationConfig", json!({"responseMimeType": "application/json"}))),
    ];
    for (path, body) in &asked {
        post(&server, path, body);
    }
    assert!(post(&server, "/v1/messages/count_tokens", &messages).contains("input_tokens"));
    assert!(post(&server, "/v1beta/models/scripted:countTokens", &gemini).contains("totalTokens"));
    assert_eq!(server.remaining_steps(), 1);
    let purposes: Vec<_> = server.requests().iter().map(ModelRequest::purpose).collect();
    assert_eq!(purposes, [Purpose::Side; 7]);
}

#[test]
fn a_conversation_with_a_script_of_its_own_takes_no_step_of_the_others() {
    let server = ModelServer::with_script([ScriptStep::new().text("To everybody else.")]);
    server.script_for("Which colour?", [ScriptStep::new().text("To this one.")]);
    let [messages, ..] = turns();
    let other = json!({"max_tokens": 9, "tools": [{}], "messages": [{"role": "user", "content": "Something else."}]});
    assert!(post(&server, "/v1/messages", &other).contains("To everybody else."));
    assert!(post(&server, "/v1/messages", &messages).contains("To this one."));
}

#[test]
fn a_dropped_server_is_gone() {
    let server = ModelServer::start();
    let address = server.url().replace("http://", "");
    assert!(TcpStream::connect(&address).is_ok());
    drop(server);
    assert!(TcpStream::connect(&address).is_err());
}

/// Returns one conversation as each protocol has it.
fn turns() -> [Value; 3] {
    let messages = json!({"model": "scripted", "max_tokens": 1000, "tools": [{"name": "look"}], "messages": [
        {"role": "user", "content": "Which colour?"},
        {"role": "assistant", "content": [
            {"type": "thinking", "thinking": "A look helps.", "signature": "s"},
            {"type": "text", "text": "I look."},
            {"type": "tool_use", "id": "1", "name": "look", "input": {"at": "door"}},
        ]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": "green"}]},
    ]});
    let responses = json!({"model": "scripted", "tools": [{"name": "look"}], "input": [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Which colour?"}]},
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "A look helps."}]},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "I look."}]},
        {"type": "function_call", "call_id": "1", "name": "look", "arguments": "{\"at\": \"door\"}"},
        {"type": "function_call_output", "call_id": "1", "output": "green"},
    ]});
    let gemini = json!({"tools": [{"functionDeclarations": []}], "contents": [
        {"role": "user", "parts": [{"text": "Which colour?"}]},
        {"role": "model", "parts": [
            {"text": "A look helps.", "thought": true},
            {"text": "I look."},
            {"functionCall": {"name": "look", "args": {"at": "door"}}},
        ]},
        {"role": "user", "parts": [{"functionResponse": {"name": "look", "response": {"output": "green"}}}]},
    ]});
    [messages, responses, gemini]
}

fn with_stream(body: &Value, stream: bool) -> Value {
    with(body, "stream", json!(stream))
}

fn with(body: &Value, name: &str, value: Value) -> Value {
    let mut body = body.clone();
    body[name] = value;
    body
}

fn post(server: &ModelServer, path: &str, body: &Value) -> String {
    let address = server.url().replace("http://", "");
    let mut stream = TcpStream::connect(&address).unwrap();
    let body = body.to_string();
    let head =
        format!("POST {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Length: {}", body.len());
    write!(stream, "{head}\r\n\r\n{body}").unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    let (head, body) = response.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 200"), "{response}");
    body.to_owned()
}
