//! Items of OpenAI's Responses API, which Codex writes as well.

use contexture_core::{BlobSource, Entry, EntryPart, Role, Seal, SealScheme, ToolInput};
use serde::Deserialize;
use serde_json::Value;

use super::{content_blocks, openai_calls, tolerant_json};
use crate::media;

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Item {
    Message(Message),
    Reasoning(ReasoningItem),
    #[serde(alias = "custom_tool_call")]
    FunctionCall(ItemInvocation),
    #[serde(alias = "custom_tool_call_output", alias = "computer_call_output")]
    FunctionCallOutput {
        call_id: String,
        #[serde(default)]
        output: Value,
    },
    LocalShellCall(BuiltInCall),
    #[serde(alias = "apply_patch_call_output")]
    LocalShellCallOutput(ToolOutcome),
    ShellCall(BuiltInCall),
    ShellCallOutput {
        call_id: String,
        output: Vec<Printed>,
    },
    ApplyPatchCall {
        call_id: String,
        operation: Value,
    },
    ComputerCall(BuiltInCall),
    McpCall(McpCall),
    ImageGenerationCall {
        result: String,
    },
    AgentMessage {
        #[serde(default, deserialize_with = "tolerant_json::maybe")]
        author: Option<String>,
        content: Value,
    },
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
struct Message {
    role: String,
    #[serde(default, deserialize_with = "tolerant_json::maybe")]
    name: Option<String>,
    #[serde(default)]
    content: Value,
}

#[derive(Deserialize)]
struct ReasoningItem {
    #[serde(default)]
    summary: Value,
    #[serde(default)]
    content: Value,
    #[serde(default, deserialize_with = "tolerant_json::maybe")]
    encrypted_content: Option<String>,
}

/// A call of a function, with arguments, or of a custom tool, with free text.
#[derive(Deserialize)]
struct ItemInvocation {
    call_id: String,
    name: String,
    /// The server that the tool belongs to.
    #[serde(default, deserialize_with = "tolerant_json::maybe")]
    namespace: Option<String>,
    #[serde(default)]
    arguments: Value,
    #[serde(default, deserialize_with = "tolerant_json::maybe")]
    input: Option<String>,
}

/// A call of a tool that OpenAI defines.
#[derive(Deserialize)]
struct BuiltInCall {
    #[serde(default, deserialize_with = "tolerant_json::maybe")]
    id: Option<String>,
    #[serde(default, deserialize_with = "tolerant_json::maybe")]
    call_id: Option<String>,
    action: Value,
}

/// A result that tells how the tool fared.
#[derive(Deserialize)]
struct ToolOutcome {
    #[serde(default, deserialize_with = "tolerant_json::maybe")]
    id: Option<String>,
    #[serde(default, deserialize_with = "tolerant_json::maybe")]
    call_id: Option<String>,
    #[serde(default, deserialize_with = "tolerant_json::maybe")]
    status: Option<String>,
    #[serde(default)]
    output: Value,
}

/// What one command of a shell printed.
#[derive(Deserialize)]
struct Printed {
    #[serde(default)]
    stdout: String,
    #[serde(default)]
    stderr: String,
    #[serde(default, deserialize_with = "tolerant_json::maybe")]
    outcome: Option<CommandExit>,
}

#[derive(Deserialize)]
struct CommandExit {
    /// Absent when the time ran out.
    #[serde(default, deserialize_with = "tolerant_json::maybe")]
    exit_code: Option<i64>,
}

/// A call that the server made, with its result.
#[derive(Deserialize)]
struct McpCall {
    id: String,
    name: String,
    #[serde(default)]
    arguments: Value,
    #[serde(default, deserialize_with = "tolerant_json::maybe")]
    output: Option<String>,
    #[serde(default, deserialize_with = "tolerant_json::maybe")]
    error: Option<String>,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum ItemPart {
    #[serde(alias = "input_text", alias = "output_text", alias = "summary_text", alias = "reasoning_text")]
    Text {
        text: String,
    },
    Refusal {
        refusal: String,
    },
    #[serde(alias = "computer_screenshot")]
    InputImage(Address),
    InputFile(Address),
    InputAudio {
        input_audio: ItemAudio,
    },
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
struct Address {
    #[serde(default, deserialize_with = "tolerant_json::maybe")]
    image_url: Option<String>,
    #[serde(default, deserialize_with = "tolerant_json::maybe")]
    file_data: Option<String>,
    #[serde(default, deserialize_with = "tolerant_json::maybe")]
    file_url: Option<String>,
    #[serde(default, deserialize_with = "tolerant_json::maybe")]
    file_id: Option<String>,
}

#[derive(Deserialize)]
struct ItemAudio {
    data: String,
    format: String,
}

/// Returns what an item says. One that is not understood is handed on as something of the model.
pub(crate) fn item(value: Value) -> Entry {
    let id = value.get("id").and_then(Value::as_str).map(str::to_owned);
    let entry = match Item::deserialize(&value) {
        Ok(known) => entry(known),
        // A message may leave out that it is one.
        Err(_) if value.get("type").is_none() => Message::deserialize(&value).ok().and_then(message),
        Err(_) => None,
    };
    let entry = entry.unwrap_or_else(|| Entry::new(Role::Assistant, vec![content_blocks::native(value)]));
    Entry { id, ..entry }
}

fn entry(item: Item) -> Option<Entry> {
    let called = |id: Option<String>, name: &str, input: Value| {
        let part = EntryPart::ToolCall { id: id?, name: name.to_owned(), input: ToolInput::Json(input) };
        Some(Entry::new(Role::Assistant, vec![part]))
    };
    match item {
        Item::Message(said) => message(said),
        Item::Reasoning(reasoning) => Some(Entry::new(Role::Assistant, thinking(reasoning))),
        Item::FunctionCall(ItemInvocation { call_id, name, namespace, arguments, input }) => {
            let name = match namespace {
                Some(namespace) => format!("{namespace}__{name}"),
                None => name,
            };
            let input = input.map_or_else(|| openai_calls::input(arguments), ToolInput::Text);
            Some(Entry::new(Role::Assistant, vec![EntryPart::ToolCall { id: call_id, name, input }]))
        }
        Item::FunctionCallOutput { call_id, output } => Some(answer(call_id, output)),
        Item::LocalShellCall(BuiltInCall { id, call_id, action }) => called(call_id.or(id), "local_shell", action),
        Item::ShellCall(BuiltInCall { id, call_id, action }) => called(call_id.or(id), "shell", action),
        Item::ComputerCall(BuiltInCall { id, call_id, action }) => called(call_id.or(id), "computer", action),
        Item::ApplyPatchCall { call_id, operation } => called(Some(call_id), "apply_patch", operation),
        Item::LocalShellCallOutput(ToolOutcome { id, call_id, status, output }) => {
            let mut entry = answer(call_id.or(id)?, output);
            if let (Some("failed" | "incomplete"), [EntryPart::ToolResult { is_error, .. }]) =
                (status.as_deref(), &mut entry.parts[..])
            {
                *is_error = Some(true);
            }
            Some(entry)
        }
        Item::ShellCallOutput { call_id, output } => {
            let failed = |printed: &Printed| printed.outcome.as_ref().is_some_and(|exit| exit.exit_code != Some(0));
            let is_error = Some(output.iter().any(failed));
            let texts = output.into_iter().flat_map(|printed| [printed.stdout, printed.stderr]);
            let content = texts.filter(|text| !text.is_empty()).map(EntryPart::text).collect();
            Some(Entry::new(Role::Tool, vec![EntryPart::ToolResult { call: call_id, content, is_error }]))
        }
        Item::McpCall(McpCall { id, name, arguments, output, error }) => {
            let is_error = Some(error.is_some());
            let content = error.or(output).map(EntryPart::text).into_iter().collect();
            let call = EntryPart::ToolCall { id: id.clone(), name, input: openai_calls::input(arguments) };
            Some(Entry::new(Role::Assistant, vec![call, EntryPart::ToolResult { call: id, content, is_error }]))
        }
        Item::ImageGenerationCall { result } => {
            let part = EntryPart::Blob { media_type: "image/png".to_owned(), source: BlobSource::Base64(result) };
            Some(Entry::new(Role::Assistant, vec![part]))
        }
        Item::AgentMessage { author, content } => Some(Entry { author, ..Entry::new(Role::User, parts(content)) }),
        Item::Other => None,
    }
}

fn message(Message { role, name, content }: Message) -> Option<Entry> {
    let role = match role.as_str() {
        "user" => Role::User,
        "assistant" => Role::Assistant,
        "system" | "developer" => Role::System,
        _ => return None,
    };
    Some(Entry { author: name, ..Entry::new(role, parts(content)) })
}

/// The reasoning itself is rarely there; then its summary is.
fn thinking(ReasoningItem { summary, content, encrypted_content }: ReasoningItem) -> Vec<EntryPart> {
    let texts = |value: Value| {
        let words = parts(value).into_iter().filter_map(|part| match part {
            EntryPart::Text { text } => Some(text),
            _ => None,
        });
        words.collect::<Vec<_>>().join("\n\n")
    };
    let content = texts(content);
    let text = if content.is_empty() { texts(summary) } else { content };
    let seal = encrypted_content.map(|data| Seal { scheme: SealScheme::OpenaiEncrypted, data });
    if text.is_empty() && seal.is_none() { Vec::new() } else { vec![EntryPart::Thinking { text, seal }] }
}

fn answer(call: String, output: Value) -> Entry {
    let part = match output {
        // Codex once wrote whether the tool succeeded.
        Value::Object(mut fields) if fields.contains_key("content") => {
            let content = fields.remove("content").map(parts).unwrap_or_default();
            let is_error = fields.get("success").and_then(Value::as_bool).map(|success| !success);
            EntryPart::ToolResult { call, content, is_error }
        }
        output => openai_calls::result(call, parts(output)),
    };
    Entry::new(Role::Tool, vec![part])
}

fn parts(content: Value) -> Vec<EntryPart> {
    content_blocks::parts(content, part)
}

fn part(piece: Value) -> EntryPart {
    let understood = match ItemPart::deserialize(&piece) {
        Ok(ItemPart::Text { text } | ItemPart::Refusal { refusal: text }) => Some(EntryPart::Text { text }),
        Ok(ItemPart::InputImage(address)) => blob(address, media::SOME_IMAGE, media::SOME_IMAGE),
        Ok(ItemPart::InputFile(address)) => blob(address, media::PDF, media::SOME_BYTES),
        Ok(ItemPart::InputAudio { input_audio: ItemAudio { data, format } }) => {
            Some(EntryPart::Blob { media_type: format!("audio/{format}"), source: BlobSource::Base64(data) })
        }
        Ok(ItemPart::Other) | Err(_) => None,
    };
    understood.unwrap_or_else(|| content_blocks::native(piece))
}

fn blob(address: Address, type_at_url: &str, type_in_file: &str) -> Option<EntryPart> {
    if let Some(url) = address.image_url.or(address.file_data).or(address.file_url) {
        return Some(media::at_url(&url, type_at_url));
    }
    Some(EntryPart::Blob { media_type: type_in_file.to_owned(), source: BlobSource::File(address.file_id?) })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn call(id: &str, name: &str, input: ToolInput) -> Vec<EntryPart> {
        vec![EntryPart::ToolCall { id: id.into(), name: name.into(), input }]
    }

    fn result(call: &str, content: &[&str], is_error: Option<bool>) -> Vec<EntryPart> {
        let content = content.iter().copied().map(EntryPart::text).collect();
        vec![EntryPart::ToolResult { call: call.into(), content, is_error }]
    }

    fn check(value: &Value, role: Role, parts: Vec<EntryPart>) {
        assert_eq!(item(value.clone()), Entry::new(role, parts), "{value}");
    }

    #[test]
    fn messages_have_a_role_and_may_leave_out_their_type() {
        let words = || vec![EntryPart::text("hi")];
        let message = |role, kind| json!({"type": "message", "role": role, "content": [{"type": kind, "text": "hi"}]});
        check(&message("user", "input_text"), Role::User, words());
        check(&message("assistant", "output_text"), Role::Assistant, words());
        check(&message("developer", "input_text"), Role::System, words());
        check(&json!({"role": "system", "content": "hi"}), Role::System, words());
        let named = item(json!({"type": "message", "id": "msg_1", "role": "user", "name": "ada", "content": "hi"}));
        let expected =
            Entry { id: Some("msg_1".into()), author: Some("ada".into()), ..Entry::new(Role::User, words()) };
        assert_eq!(named, expected);
    }

    #[test]
    fn reasoning_is_what_can_be_read_and_what_cannot() {
        let seal = Some(Seal { scheme: SealScheme::OpenaiEncrypted, data: "x".into() });
        let summary = json!([{"type": "summary_text", "text": "a"}, {"type": "summary_text", "text": "b"}]);
        check(
            &json!({"type": "reasoning", "summary": summary, "content": null, "encrypted_content": "x"}),
            Role::Assistant,
            vec![EntryPart::Thinking { text: "a\n\nb".into(), seal: seal.clone() }],
        );
        check(
            &json!({"type": "reasoning", "summary": summary, "content": [{"type": "reasoning_text", "text": "all"}]}),
            Role::Assistant,
            vec![EntryPart::Thinking { text: "all".into(), seal: None }],
        );
        check(&json!({"type": "reasoning", "summary": [], "encrypted_content": null}), Role::Assistant, vec![]);
    }

    #[test]
    fn functions_and_custom_tools_are_called_and_answer() {
        let arguments = ToolInput::Json(json!({"a": 1}));
        check(
            &json!({"type": "function_call", "call_id": "c", "name": "run", "arguments": "{\"a\":1}"}),
            Role::Assistant,
            call("c", "run", arguments.clone()),
        );
        check(
            &json!({"type": "function_call", "call_id": "c", "name": "ask", "namespace": "mcp__wiki", "arguments": "{\"a\":1}"}),
            Role::Assistant,
            call("c", "mcp__wiki__ask", arguments),
        );
        check(
            &json!({"type": "custom_tool_call", "call_id": "c", "name": "apply_patch", "input": "*** Begin"}),
            Role::Assistant,
            call("c", "apply_patch", ToolInput::Text("*** Begin".into())),
        );
        for kind in ["function_call_output", "custom_tool_call_output"] {
            let output = |output: Value| json!({"type": kind, "call_id": "c", "output": output});
            check(&output(json!("out")), Role::Tool, result("c", &["out"], None));
            check(&output(json!([{"type": "input_text", "text": "out"}])), Role::Tool, result("c", &["out"], None));
            check(&output(json!({"content": "no", "success": false})), Role::Tool, result("c", &["no"], Some(true)));
            check(&output(json!("[the tool failed]\nno")), Role::Tool, result("c", &["no"], Some(true)));
        }
    }

    #[test]
    fn tools_that_openai_defines_are_tools() {
        let exec = json!({"type": "exec", "command": ["ls"]});
        check(
            &json!({"type": "local_shell_call", "call_id": "c", "status": "completed", "action": exec}),
            Role::Assistant,
            call("c", "local_shell", ToolInput::Json(exec.clone())),
        );
        check(
            &json!({"type": "local_shell_call_output", "call_id": "c", "status": "incomplete", "output": "killed"}),
            Role::Tool,
            result("c", &["killed"], Some(true)),
        );
        let printed =
            json!([{"stdout": "a", "stderr": "b", "outcome": {"type": "exit", "exit_code": 1}}, {"stdout": "c"}]);
        check(
            &json!({"type": "shell_call_output", "call_id": "c", "output": printed}),
            Role::Tool,
            result("c", &["a", "b", "c"], Some(true)),
        );
        check(
            &json!({"type": "apply_patch_call", "call_id": "c", "operation": {"type": "delete_file", "path": "a"}}),
            Role::Assistant,
            call("c", "apply_patch", ToolInput::Json(json!({"type": "delete_file", "path": "a"}))),
        );
        check(
            &json!({"type": "apply_patch_call_output", "call_id": "c", "status": "completed", "output": "ok"}),
            Role::Tool,
            result("c", &["ok"], None),
        );
        check(
            &json!({"type": "computer_call", "call_id": "c", "action": {"type": "click"}}),
            Role::Assistant,
            call("c", "computer", ToolInput::Json(json!({"type": "click"}))),
        );
        let screenshot =
            EntryPart::Blob { media_type: "image/*".into(), source: BlobSource::Url("https://a.example".into()) };
        check(
            &json!({"type": "computer_call_output", "call_id": "c",
                "output": {"type": "computer_screenshot", "image_url": "https://a.example"}}),
            Role::Tool,
            vec![EntryPart::ToolResult { call: "c".into(), content: vec![screenshot], is_error: None }],
        );
    }

    #[test]
    fn what_the_server_called_has_its_result_with_it() {
        let mcp = item(json!({"type": "mcp_call", "id": "m", "name": "ask", "server_label": "wiki",
            "arguments": "{}", "output": null, "error": "timeout"}));
        let parts = [call("m", "ask", ToolInput::Json(json!({}))), result("m", &["timeout"], Some(true))].concat();
        assert_eq!(mcp, Entry { id: Some("m".into()), ..Entry::new(Role::Assistant, parts) });
        let image = EntryPart::Blob { media_type: "image/png".into(), source: BlobSource::Base64("AA==".into()) };
        check(&json!({"type": "image_generation_call", "result": "AA=="}), Role::Assistant, vec![image]);
    }

    #[test]
    fn images_and_files_are_blobs() {
        let message = item(json!({"role": "user", "content": [
            {"type": "input_image", "image_url": "data:image/png;base64,AA==", "detail": "auto"},
            {"type": "input_file", "filename": "a.pdf", "file_url": "https://a.example/a.pdf"},
            {"type": "input_file", "file_id": "file-1"},
            {"type": "input_audio", "input_audio": {"data": "AA==", "format": "mp3"}},
            {"type": "input_image"}]}));
        let blob = |media_type: &str, source| EntryPart::Blob { media_type: media_type.into(), source };
        assert_eq!(
            message.parts,
            [
                blob("image/png", BlobSource::Base64("AA==".into())),
                blob("application/pdf", BlobSource::Url("https://a.example/a.pdf".into())),
                blob("application/octet-stream", BlobSource::File("file-1".into())),
                blob("audio/mp3", BlobSource::Base64("AA==".into())),
                EntryPart::Native { kind: "input_image".into(), value: json!({"type": "input_image"}) },
            ]
        );
    }

    #[test]
    fn agents_speak_to_agents() {
        let value = json!({"type": "agent_message", "author": "ada", "recipient": "bob",
            "content": [{"type": "input_text", "text": "done"}]});
        let expected = Entry { author: Some("ada".into()), ..Entry::new(Role::User, vec![EntryPart::text("done")]) };
        assert_eq!(item(value), expected);
    }

    #[test]
    fn the_rest_is_handed_on() {
        for value in [
            json!({"type": "compaction", "encrypted_content": "x"}),
            json!({"type": "web_search_call", "status": "completed"}),
            json!({"type": "item_reference"}),
            json!({"type": "function_call", "name": "run"}),
            json!({"type": "message", "role": "nobody", "content": "x"}),
            json!({"type": "image_generation_call", "result": null}),
            json!({"type": "new"}),
        ] {
            let kind = value["type"].as_str().unwrap().to_owned();
            check(&value, Role::Assistant, vec![EntryPart::Native { kind, value: value.clone() }]);
        }
        check(&json!(5), Role::Assistant, vec![EntryPart::Native { kind: "unknown".into(), value: json!(5) }]);
    }
}
