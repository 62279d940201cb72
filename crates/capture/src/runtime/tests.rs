//! Laws of the table.

use std::{collections::HashSet, fs, hash::Hash};

use contexture_core::Trigger;
use contexture_formats as formats;

use super::{descriptor::UsualHome, *};
use crate::HookInput;

fn assert_unique<T: Hash + Eq + fmt::Debug>(all: impl Iterator<Item = T>) {
    let mut seen = HashSet::new();
    for one in all {
        let text = format!("{one:?}");
        assert!(seen.insert(one), "{text} is there twice");
    }
}

fn rows() -> impl Iterator<Item = &'static RuntimeDescriptor> {
    Runtime::ALL.iter().map(|runtime| runtime.0)
}

fn is_variable(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|letter| letter.is_ascii_uppercase() || letter == b'_')
}

fn is_inside(path: &str) -> bool {
    !path.is_empty() && Path::new(path).components().all(|part| matches!(part, std::path::Component::Normal(_)))
}

#[test]
fn every_row_is_complete() {
    for row in rows() {
        let name = row.name;
        let is_plain = name.bytes().all(|letter| letter.is_ascii_lowercase() || letter == b'-');
        assert!(is_plain && !name.is_empty() && !row.title.is_empty(), "{name}");
        assert!(is_variable(row.home.variable), "{name}");
        assert!(row.session_variables.iter().all(|variable| is_variable(variable)), "{name}");
        let (UsualHome::User(usual) | UsualHome::Data(usual)) = row.home.usual;
        assert!(is_inside(usual), "{name}");
        if let SessionStorage::Files(files) = &row.storage {
            assert!(!files.directories.is_empty() && files.directories.iter().all(|it| is_inside(it)), "{name}");
        }
        if let Some(hooks) = &row.hooks {
            assert!(is_inside(hooks.in_home) && is_inside(hooks.in_project), "{name}");
            let events = hooks.registration.events();
            assert!(!events.is_empty(), "{name}");
            let moments: Vec<_> = events.iter().filter_map(|event| (hooks.moment)(event)).collect();
            assert_eq!(moments.len(), events.len(), "{name}: an event is registered that means nothing");
            assert!(moments.contains(&HookMoment::Start) && moments.contains(&HookMoment::End), "{name}");
            assert_eq!((hooks.moment)("another"), None, "{name}");
            assert_unique(events.into_iter());
            assert!(hooks.silent_while.is_empty() || hooks.silent_while.starts_with(", "), "{name}");
        }
        if let Some(agent) = &row.agent {
            assert!(!agent.program.is_empty(), "{name}");
            assert!(matches!(row.storage, SessionStorage::Files(_)), "{name}: a session is written as a file");
        }
    }
}

#[test]
fn an_event_means_what_the_row_of_its_runtime_says() {
    let moment = |runtime, event: &str| {
        let hook_event_name = event.to_owned();
        HookInput { hook_event_name, ..HookInput::default() }.moment(runtime)
    };
    let turn = HookMoment::Checkpoint(Trigger::TurnBoundary);
    let tool = HookMoment::Checkpoint(Trigger::ToolCall);
    let compaction = HookMoment::Checkpoint(Trigger::Compaction);
    for (runtime, events) in [
        (
            Runtime::CLAUDE_CODE,
            ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolBatch", "Stop", "SessionEnd"],
        ),
        (
            Runtime::CODEX,
            ["SessionStart", "UserPromptSubmit", "PreToolUse", "SubagentStop", "PostCompact", "SessionEnd"],
        ),
        (Runtime::GEMINI, ["SessionStart", "PreCompress", "BeforeTool", "AfterTool", "AfterAgent", "SessionEnd"]),
        (
            Runtime::PI,
            ["session_start", "before_agent_start", "tool_call", "tool_result", "turn_end", "session_shutdown"],
        ),
        (Runtime::CURSOR, ["sessionStart", "beforeSubmitPrompt", "preToolUse", "afterFileEdit", "stop", "sessionEnd"]),
        (Runtime::COPILOT, ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "SessionEnd"]),
    ] {
        let meant = [HookMoment::Start, HookMoment::Question, HookMoment::Call, tool, turn, HookMoment::End];
        assert_eq!(events.map(|event| moment(runtime, event)), meant, "{runtime}");
    }
    assert_eq!(moment(Runtime::CLAUDE_CODE, "PreCompact"), compaction);
    assert_eq!(moment(Runtime::CODEX, "PreCompact"), compaction);
    assert_eq!(moment(Runtime::PI, "session_before_compact"), compaction);
    for runtime in Runtime::ALL {
        assert_eq!(moment(*runtime, "another"), turn, "{runtime}");
    }
}

#[test]
fn what_names_a_runtime_names_no_other() {
    assert_unique(rows().map(|row| row.name));
    assert_unique(rows().map(|row| row.title));
    assert_unique(rows().flat_map(|row| row.formats).map(|signs| signs.format));
    assert_unique(rows().map(|row| row.home.variable));
    assert_unique(rows().flat_map(|row| row.session_variables));
    assert_unique(rows().filter_map(|row| row.agent.as_ref()).map(|agent| agent.program));
    assert_unique(rows().filter_map(|row| row.agent.as_ref()).flat_map(|agent| agent.packages));
}

#[test]
fn every_format_has_a_codec_and_leads_back_to_its_runtime() {
    for runtime in Runtime::ALL {
        assert_eq!(Runtime::named(runtime.as_str()), Some(*runtime));
        assert!(!runtime.0.formats.is_empty(), "{runtime}");
        for format in runtime.formats() {
            assert!(formats::codec(&format).is_some(), "{format}");
            assert_eq!(Runtime::of(&format), Some(*runtime));
        }
        if let Some(dialect) = Dialect::of(*runtime) {
            assert!(runtime.formats().skip(1).any(|format| format == dialect.format()), "{runtime}");
        }
        if runtime.can_resume() {
            assert!(formats::encoder(&runtime.format()).is_some(), "{runtime}");
        }
    }
}

#[test]
fn a_session_is_found_where_it_is_written() {
    let id = RuntimeSessionId::new("5f0c8a52-6a55-4b0e-9f38-3a1f0d5b7c11").unwrap();
    let (directory, at) = (Path::new("/home/ada/project"), "2026-11-15T20:10:00Z".parse().unwrap());
    for runtime in Runtime::resumable() {
        let home = tempfile::tempdir().unwrap();
        let homes = Homes::default().with(runtime, home.path());
        let path = runtime.place(&homes, SessionName { id: &id, directory, at }).unwrap();
        runtime.prepare(&path, directory).unwrap();
        fs::write(&path, format!(r#"{{"sessionId":"{id}","payload":{{"cwd":"/home/ada/project"}}}}"#)).unwrap();
        assert_eq!(crate::find_session(runtime, &homes, &id.clone().into()).as_ref(), Some(&path));
        assert_eq!(runtime.session_of(&path), Some(id.clone().into()));
        assert!(path.starts_with(runtime.search_folder(&homes, directory, at).unwrap()));
        assert!(runtime.is_of_directory(&path, directory));
        assert_eq!(crate::touched(&homes, &path).map(|found| found.runtime), Some(runtime));
        assert!(runtime.resume_command(&id, &path).is_some());
    }
}

#[test]
fn a_session_is_found_by_the_directory_that_is_named_like_it() {
    let home = tempfile::tempdir().unwrap();
    let homes = Homes::default().with(Runtime::COPILOT, home.path());
    let id = GivenSessionId::new("26369702-eea5-4b54-84a2-508905742d2f");
    let old = GivenSessionId::new("11111111-eea5-4b54-84a2-508905742d2f");
    let places = home.path().join("session-state");
    let (file, older) = (places.join(id.as_str()).join("events.jsonl"), places.join(format!("{old}.jsonl")));
    fs::create_dir_all(file.parent().unwrap().join("files")).unwrap();
    for path in [&file, &older, &file.with_file_name("other.jsonl")] {
        fs::write(path, "{}\n").unwrap();
    }
    assert_eq!(crate::find_session(Runtime::COPILOT, &homes, &id).as_ref(), Some(&file));
    assert_eq!(crate::find_session(Runtime::COPILOT, &homes, &old).as_ref(), Some(&older));
    assert_eq!(Runtime::COPILOT.session_of(&file), Some(id));
    assert_eq!(crate::discover(&homes).len(), 2);
}

#[test]
fn settings_say_how_long_sessions_are_kept() {
    let home = tempfile::tempdir().unwrap();
    let homes = Homes::default().with(Runtime::CLAUDE_CODE, home.path()).with(Runtime::GEMINI, home.path());
    let days = |settings: &str| {
        fs::write(home.path().join("settings.json"), settings).unwrap();
        [Runtime::CLAUDE_CODE, Runtime::GEMINI]
            .map(|runtime| runtime.retention_micros(&homes).map(|micros| micros / descriptor::DAY_MICROS))
    };
    assert_eq!(days("{}"), [Some(30), Some(30)]);
    assert_eq!(days("no settings"), [Some(30), Some(30)]);
    assert_eq!(days(r#"{"cleanupPeriodDays":90,"general":{"sessionRetention":{"maxAge":"1w"}}}"#), [Some(90), Some(7)]);
    assert_eq!(days(r#"{"general":{"sessionRetention":{"enabled":false}}}"#), [Some(30), None]);
}
