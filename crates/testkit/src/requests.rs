//! What providers ask of requests.

use std::collections::HashSet;

use serde_json::Value;

/// Asserts what Anthropic's API asks of a request: roles alternate, calls are answered at once and nothing else is.
pub fn assert_anthropic(request: &[u8]) {
    let request: Value = serde_json::from_slice(request).unwrap();
    for block in request["system"].as_array().into_iter().flatten() {
        assert!(block["type"] == "text" && block["text"].as_str().is_some_and(|text| !text.trim().is_empty()));
    }
    let messages = request["messages"].as_array().unwrap();
    let mut open: HashSet<String> = HashSet::new();
    for (n, message) in messages.iter().enumerate() {
        let role = if n % 2 == 0 { "user" } else { "assistant" };
        assert_eq!(message["role"], role, "message {n}");
        let content = message["content"].as_array().unwrap();
        assert!(!content.is_empty());
        let mut is_past_results = false;
        for block in content {
            match block["type"].as_str().unwrap() {
                "text" => {
                    is_past_results = true;
                    assert!(!block["text"].as_str().unwrap().trim().is_empty());
                }
                "tool_use" => {
                    assert!(role == "assistant" && open.insert(block["id"].as_str().unwrap().to_owned()));
                }
                "tool_result" => {
                    assert!(role == "user" && !is_past_results);
                    assert!(open.remove(block["tool_use_id"].as_str().unwrap()));
                }
                other => assert!(["image", "document", "thinking", "redacted_thinking"].contains(&other), "{other}"),
            }
        }
        assert!(role == "assistant" || open.is_empty(), "a call has no result in message {n}");
    }
    assert!(open.is_empty());
    // Conversations may speak of marks.
    let blocks = messages.iter().map(|message| &message["content"]).chain([&request["system"], &request["tools"]]);
    let blocks = blocks.filter_map(Value::as_array).flatten();
    let marks = blocks.filter(|block| block.get("cache_control").is_some()).count();
    assert!(marks <= 4, "{marks} marks");
}

/// Asserts what OpenAI's Chat Completions ask of a request: every call is answered right after it and nothing else is.
pub fn assert_openai_chat(request: &[u8]) {
    let request: Value = serde_json::from_slice(request).unwrap();
    let mut open: HashSet<String> = HashSet::new();
    for message in request["messages"].as_array().unwrap() {
        let role = message["role"].as_str().unwrap();
        match role {
            "tool" => assert!(open.remove(message["tool_call_id"].as_str().unwrap())),
            "assistant" | "user" | "system" => assert!(open.is_empty()),
            other => panic!("{other} is no role"),
        }
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            assert!(role == "assistant" && open.insert(call["id"].as_str().unwrap().to_owned()));
        }
        assert!(role == "assistant" || !message["content"].is_null());
    }
    assert!(open.is_empty());
}

/// Asserts what OpenAI's Responses ask of a request: every call is answered once after it and nothing else is.
pub fn assert_openai_responses(request: &[u8]) {
    let request: Value = serde_json::from_slice(request).unwrap();
    let mut open: HashSet<String> = HashSet::new();
    for item in request["input"].as_array().unwrap() {
        let call = || item["call_id"].as_str().unwrap().to_owned();
        match item["type"].as_str().unwrap() {
            "function_call" | "custom_tool_call" => assert!(open.insert(call())),
            "function_call_output" | "custom_tool_call_output" => assert!(open.remove(&call())),
            "message" | "reasoning" => {}
            other => panic!("{other} is no item"),
        }
    }
    assert!(open.is_empty());
}

/// Asserts that Anthropic's API takes a body as it is: it names a model and how long the answer may be, and has every tool
/// that was called.
pub fn assert_sendable_to_anthropic(request: &[u8]) {
    assert_anthropic(request);
    let body: Value = serde_json::from_slice(request).unwrap();
    assert!(names_model(&body) && body["max_tokens"].as_u64().is_some_and(|tokens| tokens > 0), "{body}");
    let messages = body["messages"].as_array().unwrap();
    assert!(!messages.is_empty());
    let tools: HashSet<&str> =
        body["tools"].as_array().into_iter().flatten().filter_map(|tool| tool["name"].as_str()).collect();
    let blocks = messages.iter().flat_map(|message| message["content"].as_array().unwrap());
    for call in blocks.filter(|block| block["type"] == "tool_use") {
        assert!(tools.contains(call["name"].as_str().unwrap()), "{call} has no tool");
    }
    let fields = ["model", "max_tokens", "tools", "tool_choice", "system", "messages"];
    assert_no_other(&body, &fields);
}

/// Asserts that OpenAI's Chat Completions take a body as it is.
pub fn assert_sendable_to_openai_chat(request: &[u8]) {
    assert_openai_chat(request);
    let body: Value = serde_json::from_slice(request).unwrap();
    assert!(names_model(&body) && !body["messages"].as_array().unwrap().is_empty(), "{body}");
    assert_no_other(&body, &["model", "max_completion_tokens", "messages"]);
}

/// Asserts that OpenAI's Responses take a body as it is.
pub fn assert_sendable_to_openai_responses(request: &[u8]) {
    assert_openai_responses(request);
    let body: Value = serde_json::from_slice(request).unwrap();
    assert!(names_model(&body) && !body["input"].as_array().unwrap().is_empty(), "{body}");
    assert_no_other(&body, &["model", "max_output_tokens", "instructions", "input"]);
}

fn names_model(body: &Value) -> bool {
    body["model"].as_str().is_some_and(|model| !model.is_empty())
}

/// Asserts that there is no field that the API does not know.
fn assert_no_other(body: &Value, fields: &[&str]) {
    let other: Vec<_> = body.as_object().unwrap().keys().filter(|name| !fields.contains(&name.as_str())).collect();
    assert!(other.is_empty(), "{other:?}");
}
