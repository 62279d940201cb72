//! The file through which Copilot CLI tells of its events. Copilot reads all files in the directories of hooks, so one is
//! ours alone.

use std::collections::BTreeMap;

use contexture_core::Timestamp;
use serde::{Deserialize, Serialize};

use super::super::descriptor::HookExtension;
use crate::HookInput;

pub(super) const EXTENSION: HookExtension = HookExtension { events: EVENTS, write, is_ours, tells_of, command };

/// The events that are told. Under these names Copilot tells them with the fields that Claude Code has; under its own it
/// does not say which event it is.
const EVENTS: &[&str] = &["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "SessionEnd"];

/// How many seconds it waits for a hook.
const TIMEOUT: u32 = 10;

#[derive(Serialize, Deserialize)]
struct HookFile {
    version: u32,
    hooks: BTreeMap<String, Vec<FileHook>>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct FileHook {
    r#type: String,
    bash: String,
    timeout_sec: u32,
}

/// Copilot writes a moment later than it tells, and notes each hook after all that came before it, with the time that the
/// hook is told, in milliseconds. While a tool is at work it may write nothing for a long time, and is not waited for.
pub(super) fn echo(event: &HookInput) -> Option<String> {
    let ends = matches!(event.hook_event_name.as_str(), "Stop" | "SessionEnd");
    let told: Timestamp = event.timestamp.as_deref().filter(|_| ends)?.parse().ok()?;
    Some((told.as_micros() / 1000).to_string())
}

fn write(command: &[String]) -> String {
    let bash = command.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ");
    let hook = || FileHook { r#type: "command".to_owned(), bash: bash.clone(), timeout_sec: TIMEOUT };
    let hooks = EVENTS.iter().map(|event| ((*event).to_owned(), vec![hook()])).collect();
    let mut text = serde_json::to_string_pretty(&HookFile { version: 1, hooks }).expect("texts have a JSON form");
    text.push('\n');
    text
}

fn is_ours(text: &str) -> bool {
    command(text).is_some()
}

fn tells_of(text: &str, event: &str) -> bool {
    serde_json::from_str::<HookFile>(text).is_ok_and(|file| file.hooks.contains_key(event))
}

/// Returns the command that every hook of a file calls, if that is one of ours.
fn command(text: &str) -> Option<Vec<String>> {
    let file: HookFile = serde_json::from_str(text).ok()?;
    let mut commands = file.hooks.values().flatten().map(|hook| hook.bash.as_str());
    let first = commands.next()?;
    let words = words(first)?;
    let is_ours = words.windows(2).any(|pair| pair[0] == "hook" && pair[1] == super::NAME);
    (is_ours && commands.all(|other| other == first)).then_some(words)
}

/// Writes a word so that a shell takes nothing in it for anything else.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Returns the words of a line that was written so.
fn words(line: &str) -> Option<Vec<String>> {
    let inside = line.strip_prefix('\'')?.strip_suffix('\'')?;
    // A quote inside a word stands for itself only after this mark is gone.
    let marked = inside.replace(r"'\''", "\0");
    Some(marked.split("' '").map(|word| word.replace('\0', "'")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_turn_is_written_down_with_its_time() {
        let echo = |event: &str, timestamp: &str| {
            let (hook_event_name, timestamp) = (event.to_owned(), Some(timestamp.to_owned()));
            echo(&HookInput { hook_event_name, timestamp, ..HookInput::default() })
        };
        assert_eq!(echo("Stop", "2026-11-19T04:06:23.718Z").as_deref(), Some("1795061183718"));
        assert_eq!(echo("PostToolUse", "2026-11-19T04:06:23.718Z"), None);
        assert_eq!(echo("Stop", "noon"), None);
    }

    #[test]
    fn a_file_says_whose_it_is_and_what_it_calls() {
        let words = ["/my 'tools'/ctx", "--space", "team", "hook", "copilot"].map(str::to_owned);
        let text = write(&words);
        assert_eq!(command(&text), Some(words.to_vec()));
        assert!(is_ours(&text));
        assert!(EVENTS.iter().all(|event| tells_of(&text, event)) && !tells_of(&text, "another"));
        let other = text.replace("'hook' 'copilot'", "'notify'");
        for theirs in [other.as_str(), "{}", "{\"version\":1,\"hooks\":{}}", "no JSON"] {
            assert!(!is_ours(theirs), "{theirs}");
        }
    }
}
