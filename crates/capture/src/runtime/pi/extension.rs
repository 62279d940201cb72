//! The extension through which pi tells of its events.

use super::super::descriptor::HookExtension;

pub(super) const EXTENSION: HookExtension = HookExtension { events: &NAMES, write, is_ours, tells_of, command };

/// By this the file is known to be ours.
const MARKER: &str = "// Written by `ctx init`; `ctx init --remove` takes it away.";
const COMMAND: &str = "const COMMAND = ";

/// The events that are told, and what of each.
const EVENTS: [(&str, &str); 9] = [
    ("session_start", "{ reason: event.reason }"),
    ("before_agent_start", "{}"),
    ("tool_call", "{ tool_use_id: event.toolCallId }"),
    ("tool_result", "{ tool_use_id: event.toolCallId }"),
    ("turn_end", "{ last_assistant_message: textOf(event.message) }"),
    ("agent_end", "{ last_assistant_message: textOf(event.messages.at(-1)) }"),
    ("session_before_compact", "{ reason: event.reason }"),
    ("session_compact", "{ reason: event.reason }"),
    ("session_shutdown", "{ reason: event.reason }"),
];

/// Their names.
const NAMES: [&str; EVENTS.len()] = {
    let mut names = [""; EVENTS.len()];
    let mut at = 0;
    while at < EVENTS.len() {
        names[at] = EVENTS[at].0;
        at += 1;
    }
    names
};

// pi blocks a tool when a handler throws, and waits for each; so nothing is thrown, and no wait is long.
const BODY: &str = r#"const LIMIT_MS = 5000;

function tell(name, details, event, context) {
  return new Promise((done) => {
    try {
      const session = context.sessionManager;
      const told = {
        hook_event_name: name,
        session_id: session.getSessionId(),
        transcript_path: session.getSessionFile(),
        cwd: context.cwd,
        ...details(event),
      };
      const [program, ...words] = COMMAND;
      const child = spawn(program, words, { cwd: context.cwd, stdio: ["pipe", "ignore", "ignore"] });
      const limit = setTimeout(() => {
        child.kill();
        done();
      }, LIMIT_MS);
      const ended = () => {
        clearTimeout(limit);
        done();
      };
      child.on("error", ended);
      child.on("close", ended);
      child.stdin.on("error", () => {});
      child.stdin.end(JSON.stringify(told));
    } catch {
      done();
    }
  });
}

function textOf(message) {
  if (message?.role !== "assistant") return undefined;
  return message.content.filter((part) => part.type === "text").map((part) => part.text).join("");
}
"#;

fn write(command: &[String]) -> String {
    let command = serde_json::to_string(command).expect("words have a JSON form");
    let events: String = EVENTS.map(|(name, told)| format!("  on(\"{name}\", (event) => ({told}));\n")).concat();
    format!(
        "{MARKER}\n// Tells Contexture of each step of a session, so that it is kept.\n\
         import {{ spawn }} from \"node:child_process\";\n\n{COMMAND}{command};\n{BODY}\n\
         export default function (pi) {{\n  \
         const on = (name, details) =>\n    \
         pi.on(name, async (event, context) => {{\n      \
         await tell(name, details, event, context);\n    \
         }});\n{events}}}\n"
    )
}

fn is_ours(text: &str) -> bool {
    text.lines().next() == Some(MARKER)
}

fn tells_of(text: &str, event: &str) -> bool {
    text.contains(&format!("  on(\"{event}\","))
}

fn command(text: &str) -> Option<Vec<String>> {
    let line = text.lines().find_map(|line| line.strip_prefix(COMMAND))?;
    serde_json::from_str(line.trim_end_matches(';')).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_extension_says_whose_it_is_and_what_it_calls() {
        let words = ["/my \"tools\"/ctx", "--space", "team", "hook", "pi"].map(str::to_owned);
        let text = write(&words);
        assert!(is_ours(&text) && !is_ours("export default function (pi) {}\n"));
        assert_eq!(command(&text), Some(words.to_vec()));
        assert!(NAMES.iter().all(|event| tells_of(&text, event)) && !tells_of(&text, "another"));
    }
}
