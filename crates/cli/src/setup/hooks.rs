//! Hooks in settings that are JSON, which share one shape.
//!
//! `{"hooks": {EVENT: [{"matcher": …, "hooks": [{"type": "command", "command": …, "timeout": …}]}]}}`, and in files that
//! hold hooks alone, `{"version": 1, "hooks": {EVENT: [{"command": …, "timeout": …}]}}`.

use std::path::PathBuf;

use contexture_capture::{HookEvent, HookRegistration, Runtime};
use serde::{Deserialize, Serialize};

use super::{
    json::{self, JsonNode, Member},
    program::{self, Program},
};
use crate::shell;

/// Why settings cannot be changed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Misfit {
    /// They are not JSON; some runtimes allow comments.
    #[error("it is not plain JSON")]
    Syntax(#[from] serde_json::Error),
    /// Something else stands where hooks belong.
    #[error("its `{name}` is no {expected}")]
    Shape { name: String, expected: &'static str },
}

/// What a file for hooks alone says besides hooks.
const VERSION: &str = "version";

/// Hooks of an event that belong together.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct HookGroup {
    #[serde(skip_serializing_if = "Option::is_none")]
    matcher: Option<String>,
    hooks: Vec<Hook>,
}

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Hook {
    r#type: String,
    command: String,
    timeout: u32,
}

/// A hook without a group around it.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct LoneHook {
    command: String,
    timeout: u32,
}

/// What stands in the list of an event.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
enum ListedHook {
    Group(HookGroup),
    Lone(LoneHook),
}

/// Where a hook of ours stands.
struct FoundHook<'n> {
    /// The place of the event among the hooks, of what stands in its list, and of the hook in the group, if that is one.
    place: (usize, usize, Option<usize>),
    event: &'n str,
    listed: &'n JsonNode,
    program: PathBuf,
}

/// Returns the events of a runtime that make up a history, if its settings name them.
fn events(runtime: Runtime) -> &'static [HookEvent] {
    match runtime.hooks().map(|hooks| &hooks.registration) {
        Some(HookRegistration::Settings(events) | HookRegistration::HookFile(events)) => events,
        Some(HookRegistration::Extension(_)) | None => &[],
    }
}

/// Tells whether a runtime has a file for hooks alone, without groups.
fn has_hook_file(runtime: Runtime) -> bool {
    runtime.hooks().is_some_and(|hooks| matches!(hooks.registration, HookRegistration::HookFile(_)))
}

/// Returns settings that hold our hooks and nothing else.
pub(super) fn alone(runtime: Runtime, program: &Program) -> String {
    let empty = if has_hook_file(runtime) { "{\n  \"version\": 1\n}\n" } else { "{}\n" };
    add(empty, runtime, program).expect("an object without hooks can hold some")
}

/// Adds what is missing of our hooks to settings and replaces what is not as it should be.
pub(super) fn add(text: &str, runtime: Runtime, program: &Program) -> Result<String, Misfit> {
    let events = events(runtime);
    let command = program.hook_line(runtime);
    let mut text = text.to_owned();
    // Those of other versions of this program.
    while let Some(less) = without_one(&text, runtime, |event| events.iter().all(|wanted| wanted.name != event))? {
        text = less;
    }
    for event in events {
        text = with_event(text, runtime, event, &command)?;
    }
    Ok(text)
}

/// Takes our hooks out of settings, and what is empty then; returns nothing if nothing is left.
pub(super) fn remove(text: &str, runtime: Runtime) -> Result<Option<String>, Misfit> {
    let mut text = text.to_owned();
    while let Some(less) = without_one(&text, runtime, |_| true)? {
        let says_nothing = |member: &Member| has_hook_file(runtime) && member.name == VERSION;
        if JsonNode::parse(&less)?.members().is_some_and(|members| members.iter().all(says_nothing)) {
            return Ok(None);
        }
        text = less;
    }
    Ok(Some(text))
}

/// Returns the events that our hooks are there for, each with the program that is called.
pub(super) fn present(text: &str, runtime: Runtime) -> Result<Vec<(String, PathBuf)>, Misfit> {
    let root = JsonNode::parse(text)?;
    Ok(found(&root, runtime).into_iter().map(|it| (it.event.to_owned(), it.program)).collect())
}

fn with_event(text: String, runtime: Runtime, event: &HookEvent, command: &str) -> Result<String, Misfit> {
    let (command_line, timeout) = (command.to_owned(), event.timeout);
    let wanted = if has_hook_file(runtime) {
        ListedHook::Lone(LoneHook { command: command_line, timeout })
    } else {
        let hook = Hook { r#type: "command".to_owned(), command: command_line, timeout };
        ListedHook::Group(HookGroup { matcher: event.matcher.map(str::to_owned), hooks: vec![hook] })
    };
    let root = JsonNode::parse(&text)?;
    let mut ours = found(&root, runtime);
    ours.retain(|it| it.event == event.name);
    if let [only] = &*ours {
        let listed = &text[only.listed.span.clone()];
        if serde_json::from_str::<ListedHook>(listed).is_ok_and(|listed| listed == wanted) {
            return Ok(text);
        }
        let group = only.listed.member("hooks").and_then(JsonNode::elements);
        if group.is_none_or(|hooks| hooks.len() == 1) {
            return Ok(json::replace(&text, only.listed, &wanted));
        }
    }
    if !ours.is_empty() {
        let less = without_one(&text, runtime, |name| name == event.name)?;
        return with_event(less.expect("there is one"), runtime, event, command);
    }
    let misfit = |name: &str, expected| Misfit::Shape { name: name.to_owned(), expected };
    if root.members().is_none() {
        return Err(misfit("root", "object"));
    }
    let Some(hooks) = root.member("hooks") else {
        let text = json::add_member(&text, &root, "hooks", &Empty {});
        return with_event(text, runtime, event, command);
    };
    if hooks.members().is_none() {
        return Err(misfit("hooks", "object"));
    }
    match hooks.member(event.name) {
        None => Ok(json::add_member(&text, hooks, event.name, &[wanted])),
        Some(groups) if groups.elements().is_some() => Ok(json::add_element(&text, groups, &wanted)),
        Some(_) => Err(misfit(event.name, "array")),
    }
}

#[derive(Serialize)]
struct Empty {}

/// Takes one of our hooks out, with all that is empty then; returns nothing if there is none.
fn without_one(text: &str, runtime: Runtime, is_meant: impl Fn(&str) -> bool) -> Result<Option<String>, Misfit> {
    let root = JsonNode::parse(text)?;
    let Some(it) = found(&root, runtime).into_iter().find(|it| is_meant(it.event)) else { return Ok(None) };
    let (event, listed, hook) = it.place;
    let hooks = root.member("hooks").expect("one was found there");
    let members = root.members().expect("it has a member");
    let events = hooks.members().expect("one was found there");
    let list = &events[event].value;
    let len = |node: &JsonNode| node.elements().map_or(0, <[_]>::len);
    let shared = hook.zip(it.listed.member("hooks")).filter(|(_, group)| len(group) > 1);
    Ok(Some(if let Some((hook, group)) = shared {
        json::remove(text, group, hook)
    } else if len(list) > 1 {
        json::remove(text, list, listed)
    } else if events.len() > 1 {
        json::remove(text, hooks, event)
    } else {
        let place = members.iter().rposition(|member| member.name == "hooks").expect("one was found there");
        json::remove(text, &root, place)
    }))
}

fn found(root: &JsonNode, runtime: Runtime) -> Vec<FoundHook<'_>> {
    let mut found = Vec::new();
    let events = root.member("hooks").and_then(JsonNode::members).unwrap_or_default();
    for (event_place, event) in events.iter().enumerate() {
        for (list_place, listed) in event.value.elements().unwrap_or_default().iter().enumerate() {
            let group = listed.member("hooks").and_then(JsonNode::elements);
            let grouped = group.unwrap_or_default().iter().enumerate().map(|(place, hook)| (Some(place), hook));
            let lone = group.is_none().then_some((None, listed));
            for (hook_place, hook) in grouped.chain(lone) {
                let command = hook.member("command").and_then(JsonNode::as_str).unwrap_or_default();
                if let Some(program) = program::called_for(runtime, &shell::words(command)) {
                    let place = (event_place, list_place, hook_place);
                    found.push(FoundHook { place, event: &event.name, listed, program });
                }
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const OTHERS: &str = r#"{
  "model": "opus",
  "hooks": {
    "Stop": [
      {
        "hooks": [
          {"type": "command", "command": "notify-send done"}
        ]
      }
    ]
  }
}
"#;

    fn program(path: &str) -> Program {
        Program { path: path.into(), options: Vec::new() }
    }

    #[test]
    fn a_hook_that_is_there_stays() {
        let added = add(OTHERS, Runtime::CLAUDE_CODE, &program("/bin/ctx")).unwrap();
        assert!(added.contains("notify-send done"));
        assert_eq!(add(&added, Runtime::CLAUDE_CODE, &program("/bin/ctx")).unwrap(), added);
        let wanted: Vec<_> = events(Runtime::CLAUDE_CODE).iter().map(|event| event.name.to_owned()).collect();
        let mut there: Vec<_> =
            present(&added, Runtime::CLAUDE_CODE).unwrap().into_iter().map(|(event, _)| event).collect();
        // The event that was there is first.
        there.rotate_left(1);
        there.swap(8, 9);
        assert_eq!(there, wanted);
    }

    #[test]
    fn what_was_added_is_taken_out_without_a_trace() {
        for runtime in [Runtime::CLAUDE_CODE, Runtime::CODEX, Runtime::GEMINI] {
            for text in [OTHERS, "{\"hooks\":{\"Stop\":[]},\"a\":1}", "{\n\t\"model\": \"opus\"\n}"] {
                let added = add(text, runtime, &program("/bin/ctx")).unwrap();
                let expected = text.replace("\"hooks\":{\"Stop\":[]},", "");
                let expected = if runtime == Runtime::GEMINI { text.to_owned() } else { expected };
                assert_eq!(remove(&added, runtime).unwrap().as_deref(), Some(&*expected));
            }
            let alone = alone(runtime, &program("/bin/ctx"));
            assert_eq!(remove(&alone, runtime).unwrap(), None);
        }
    }

    #[test]
    fn a_file_of_hooks_alone_lists_them_without_groups_and_keeps_those_of_others() {
        const THEIRS: &str = r#"{
  "version": 1,
  "hooks": {
    "stop": [
      {"command": "./notify.sh", "matcher": "x"}
    ]
  }
}
"#;
        let added = add(THEIRS, Runtime::CURSOR, &program("/bin/ctx")).unwrap();
        assert!(added.contains("{\"command\": \"./notify.sh\", \"matcher\": \"x\"},"), "{added}");
        assert_eq!(present(&added, Runtime::CURSOR).unwrap().len(), events(Runtime::CURSOR).len());
        assert_eq!(add(&added, Runtime::CURSOR, &program("/bin/ctx")).unwrap(), added);
        assert_eq!(remove(&added, Runtime::CURSOR).unwrap().as_deref(), Some(THEIRS));
        let moved = add(&added, Runtime::CURSOR, &program("/new/ctx")).unwrap();
        assert_eq!(moved, added.replace("/bin/ctx", "/new/ctx"));
        let alone = alone(Runtime::CURSOR, &program("/bin/ctx"));
        assert!(alone.starts_with("{\n  \"version\": 1,\n  \"hooks\": {\n    \"sessionStart\": [\n"), "{alone}");
        assert_eq!(remove(&alone, Runtime::CURSOR).unwrap(), None);
    }

    #[test]
    fn another_program_is_replaced_where_it_stands() {
        let old = add(OTHERS, Runtime::CODEX, &program("/old/ctx")).unwrap();
        let new = add(&old, Runtime::CODEX, &program("/new/ctx")).unwrap();
        assert_eq!(new, old.replace("/old/ctx", "/new/ctx"));
    }

    #[test]
    fn a_group_shared_with_others_is_left_to_them() {
        let shared =
            OTHERS.replace("\"notify-send done\"}", "\"notify-send done\"}, {\"command\": \"ctx hook codex\"}");
        let added = add(&shared, Runtime::CODEX, &program("/bin/ctx")).unwrap();
        assert_eq!(remove(&added, Runtime::CODEX).unwrap().as_deref(), Some(OTHERS));
        assert_eq!(present(&added, Runtime::CODEX).unwrap().len(), events(Runtime::CODEX).len());
    }

    #[test]
    fn events_that_are_not_wanted_any_more_are_let_go() {
        let old = OTHERS.replace("\"Stop\"", "\"Notification\"").replace("notify-send done", "ctx hook codex");
        let added = add(&old, Runtime::CODEX, &program("/bin/ctx")).unwrap();
        assert!(!added.contains("Notification"), "{added}");
    }

    #[test]
    fn settings_of_another_shape_are_refused() {
        let refused = |text: &str| add(text, Runtime::CODEX, &program("ctx")).unwrap_err().to_string();
        assert_eq!(refused("[]"), "its `root` is no object");
        assert_eq!(refused("{\"hooks\": 1}"), "its `hooks` is no object");
        assert_eq!(refused("{\"hooks\": {\"Stop\": {}}}"), "its `Stop` is no array");
        assert_eq!(refused("{} // why"), "it is not plain JSON");
    }
}
