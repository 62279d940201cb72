//! `ctx hook`, `ctx current` and `ctx git-hook`, as agents and git call them.

use std::fs;

use serde_json::{Value, json};

use super::harness::{Ran, User};

const SESSION: &str = "0c3f0000-0000-4000-8000-000000000000";

impl User {
    /// Writes a line of a session of Claude Code.
    pub(crate) fn session_line(&self, kind: &str, uuid: &str, parent: Option<&str>, text: &str) {
        let content = match kind {
            "user" => json!(text),
            _ => json!([{"type": "text", "text": text}]),
        };
        self.session_message(kind, uuid, parent, &content);
    }

    fn session_message(&self, kind: &str, uuid: &str, parent: Option<&str>, content: &Value) {
        let message = match kind {
            "user" => json!({"role": "user", "content": content}),
            _ => json!({"role": "assistant", "model": "m", "id": uuid, "content": content}),
        };
        let line = json!({
            "type": kind, "uuid": uuid, "parentUuid": parent, "sessionId": SESSION, "message": message,
            "timestamp": "2026-11-15T20:00:00.000Z",
        });
        let path = self.path("session.jsonl");
        let before = fs::read_to_string(&path).unwrap_or_default();
        fs::write(path, format!("{before}{line}\n")).unwrap();
    }

    /// Calls the hook as an agent does; it must be silent and succeed.
    pub(crate) fn hear(&self, event: &str, more: &Value) {
        let ran = self.hook(event, more);
        assert_eq!((ran.code, ran.to_string().as_str()), (0, ""), "{event}");
    }

    fn hook(&self, event: &str, more: &Value) -> Ran {
        let mut event = json!({
            "hook_event_name": event, "session_id": SESSION, "transcript_path": self.path("session.jsonl"),
            "cwd": self.path("."),
        });
        event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.pipe(event.to_string(), &["hook", "claude-code"])
    }

    /// Returns what went wrong where nobody was told.
    fn troubles(&self) -> Vec<Value> {
        let log = fs::read_to_string(self.path(".local/state/contexture/capture.log")).unwrap_or_default();
        log.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    fn triggers(&self) -> Vec<String> {
        let log = self.done(&["--json", "log", &format!("session/{SESSION}")]);
        let trigger = |line: &str| serde_json::from_str::<Value>(line).unwrap()["trigger"].as_str().unwrap().to_owned();
        log.lines().map(trigger).collect()
    }
}

#[test]
fn the_log_says_what_was_done_where_nobody_has_summed_it_up() {
    let user = User::new();
    let call = |id: &str, name: &str, input: Value| json!({"type": "tool_use", "id": id, "name": name, "input": input});
    user.session_line("user", "u1", None, "Find the race");
    user.session_line("assistant", "a1", Some("u1"), "I look.");
    user.hear("PostToolUse", &json!({}));
    let edit = call("t1", "Edit", json!({"file_path": "/w/resume.rs", "old_string": "a", "new_string": "b"}));
    user.session_message("assistant", "a2", Some("a1"), &json!([{"type": "text", "text": "I mend it."}, edit]));
    user.hear("PostToolUse", &json!({}));
    let run = |id| call(id, "Bash", json!({"command": "cargo test \u{1b}[2J", "description": "Runs the tests"}));
    user.session_message("assistant", "a3", Some("a2"), &json!([run("t2"), run("t3"), run("t4")]));
    user.hear("PostToolUse", &json!({}));
    user.session_line("assistant", "a4", Some("a3"), "\nIt is mended.\nAll tests pass.");
    user.hear("Stop", &json!({}));
    let turn = user.done(&["log", &format!("session/{SESSION}")]);
    assert_eq!(turn, "ctx-d6e9201dfc  10m  Find the race  ▸ 4 calls · resume.rs · It is mended. …");
    let log = user.done(&["log", "--steps", "--oneline", &format!("session/{SESSION}")]);
    let gist = |line: &str| line.split_once("  ada").unwrap().0.split_once(' ').unwrap().1.to_owned();
    let gists: Vec<String> = log.lines().skip(1).map(gist).collect();
    assert_eq!(log.lines().next().unwrap().split(") ").last(), Some("It is mended.  ada@laptop, 10 minutes ago"));
    assert_eq!(gists, ["▸ Bash cargo test \u{fffd}[2J and 2 more calls", "▸ Edit /w/resume.rs", "Find the race"]);
}

#[test]
fn each_event_takes_in_what_is_new() {
    let user = User::new();
    user.hear("SessionStart", &json!({"source": "startup"}));
    user.session_line("user", "u1", None, "Find the race");
    user.hear("UserPromptSubmit", &json!({"prompt": "Find the race"}));
    user.session_line("assistant", "a1", Some("u1"), "I look");
    user.hear("PostToolUse", &json!({"tool_use_id": "a1"}));
    user.session_line("assistant", "a2", Some("a1"), "Found it");
    user.hear("Stop", &json!({"last_assistant_message": "Found it"}));
    user.hear("PreCompact", &json!({"trigger": "auto"}));
    user.session_line("user", "u2", Some("a2"), "Fix it");
    user.hear("SessionEnd", &json!({"reason": "logout"}));
    assert_eq!(user.triggers(), ["session_end", "turn_boundary", "tool_call"]);
    let shown: Value = serde_json::from_str(&user.done(&["--json", "show", "principal/ada@laptop"])).unwrap();
    assert_eq!(shown["labels"]["session-end"], "logout");
    assert_eq!(user.troubles(), [] as [Value; 0]);
}

impl User {
    /// Calls the hook with a setting of how often to capture.
    fn hear_every(&self, every: &str, event: &str) {
        let event = json!({
            "hook_event_name": event, "session_id": SESSION, "transcript_path": self.path("session.jsonl"), "cwd": "/",
        });
        self.file("event.json", event.to_string());
        let mut hook = self.command(&["hook", "claude-code"]);
        hook.env("CTX_EVERY", every).stdin(fs::File::open(self.path("event.json")).unwrap());
        assert_eq!(self.ran(hook.output()).to_string(), "", "{event}");
    }

    /// Writes a turn with a call, and tells of each event in it.
    fn turn_every(&self, every: &str, number: u32) {
        let [asked, called, said] = ["u", "c", "a"].map(|kind| format!("{kind}{number}"));
        let before = (number > 1).then(|| format!("a{}", number - 1));
        self.session_line("user", &asked, before.as_deref(), &format!("Question {number}"));
        let call = json!([{"type": "tool_use", "id": format!("t{number}"), "name": "Bash", "input": {}}]);
        self.session_message("assistant", &called, Some(&asked), &call);
        self.hear_every(every, "PostToolUse");
        self.session_line("assistant", &said, Some(&called), "Answer");
        self.hear_every(every, "Stop");
    }

    fn captured(&self) -> usize {
        self.done(&["list", "--all"]).lines().count()
    }
}

#[test]
fn an_interval_says_when_a_session_is_taken_in() {
    let user = User::new();
    user.turn_every("turn", 1);
    assert_eq!(user.triggers(), ["turn_boundary"], "the call alone was no reason");
    user.turn_every("call", 2);
    assert_eq!(user.triggers(), ["turn_boundary", "tool_call", "turn_boundary"]);
    user.turn_every("2 turns", 3);
    assert_eq!(user.captured(), 3);
    user.turn_every("2 turns", 4);
    // Each turn is a commit of its own, whenever it is taken in.
    assert_eq!(user.captured(), 5);
    user.turn_every("significant", 5);
    assert_eq!(user.captured(), 5);
    user.hear_every("significant", "PreCompact");
    assert_eq!(user.captured(), 6);
    user.turn_every("1h", 6);
    assert_eq!(user.captured(), 6, "the clock stands still");
    user.hear_every("significant", "SessionEnd");
    assert_eq!(user.captured(), 7);
    let whole = user.done(&["materialize", &format!("session/{SESSION}")]);
    assert_eq!(whole, user.read("session.jsonl").trim_end());
    assert_eq!(user.troubles(), [] as [Value; 0]);
}

#[test]
fn what_an_interval_has_left_is_there_for_whoever_asks_and_after_a_crash() {
    let user = User::new();
    user.turn_every("significant", 1);
    assert_eq!(user.captured(), 0);
    let current = user.done(&["current", "--session", SESSION]);
    assert!(user.done(&["materialize", &current]).contains("Question 1"));
    user.turn_every("significant", 2);
    assert_eq!(user.captured(), 1);
    let listed = fs::read_dir(user.path(".local/state/contexture/sessions")).unwrap();
    let mut read = listed.map(|entry| entry.unwrap().path()).map(|path| (fs::read_to_string(&path).unwrap(), path));
    let (text, listed) = read.find(|(text, _)| text.contains(SESSION)).unwrap();
    let mut session: Value = serde_json::from_str(&text).unwrap();
    session["agent"] = json!({"pid": 1, "started": "before"});
    fs::write(&listed, session.to_string()).unwrap();
    user.done(&["doctor", "--fix"]);
    assert_eq!(user.captured(), 2);
}

#[test]
fn the_configuration_says_how_often_and_a_flag_counts_more() {
    let user = User::new();
    user.done(&["init", "--every", "significant", "--runtime", "claude-code", "--yes", "--no-import"]);
    let configuration = ".config/contexture/config.toml";
    assert_eq!(user.read(configuration), "[capture]\nevery = \"significant\"\n");
    user.session_line("user", "u1", None, "Find the race");
    user.session_line("assistant", "a1", Some("u1"), "Found it");
    user.hear("Stop", &json!({}));
    assert_eq!(user.captured(), 0);
    let event =
        json!({"hook_event_name": "Stop", "session_id": SESSION, "transcript_path": user.path("session.jsonl")});
    assert_eq!(user.pipe(event.to_string(), &["hook", "claude-code", "--every", "turn"]).to_string(), "");
    assert_eq!(user.captured(), 1);
    // What is not understood keeps nothing from being captured, and is written down.
    user.session_line("user", "u2", Some("a1"), "Fix it");
    user.hear_every("often", "Stop");
    assert_eq!(user.captured(), 2);
    assert!(user.troubles()[0]["problem"].as_str().unwrap().contains("CTX_EVERY"));
    user.done(&["init", "--remove", "--yes"]);
    assert!(!user.path(configuration).exists());
}

#[test]
fn a_session_in_which_nobody_asked_is_not_what_the_principal_does() {
    let user = User::new();
    let line = |kind: &str, payload: Value| {
        json!({"timestamp": "2026-11-15T20:00:00.000Z", "type": kind, "payload": payload}).to_string() + "\n"
    };
    let meta = json!({"id": SESSION, "timestamp": "2026-11-15T20:00:00.000Z", "cwd": "/", "originator": "o", "cli_version": "1"});
    let path = user.path(format!("rollout-2026-11-15T20-00-00-{SESSION}.jsonl"));
    let hear = |name: &str| {
        let event = json!({"hook_event_name": name, "session_id": SESSION, "transcript_path": path, "cwd": "/"});
        assert_eq!(user.pipe(event.to_string(), &["hook", "codex"]).code, 0);
    };
    fs::write(&path, line("session_meta", meta.clone())).unwrap();
    hear("SessionEnd");
    assert_eq!(user.done(&["head", "list"]), "");
    let asked = json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Go"}]});
    fs::write(&path, line("session_meta", meta) + &line("response_item", asked)).unwrap();
    hear("SessionEnd");
    assert!(user.done(&["head", "list"]).contains("principal/ada@laptop"));
}

#[test]
fn an_agent_that_is_gone_when_it_had_said_all_has_not_crashed() {
    for (event, ending) in [("Stop", "exit"), ("PostToolUse", "crash")] {
        let user = User::new();
        user.session_line("user", "u1", None, "Find the race");
        user.session_line("assistant", "a1", Some("u1"), "I look.");
        user.hear(event, &json!({}));
        let listed = fs::read_dir(user.path(".local/state/contexture/sessions")).unwrap();
        let mut read = listed.map(|entry| entry.unwrap().path()).map(|path| (fs::read_to_string(&path).unwrap(), path));
        let (text, listed) = read.find(|(text, _)| text.contains(SESSION)).unwrap();
        // It was run by a process that is no more.
        let mut session: Value = serde_json::from_str(&text).unwrap();
        session["agent"] = json!({"pid": 1, "started": "before"});
        fs::write(&listed, session.to_string()).unwrap();
        let next = json!({"hook_event_name": "SessionStart", "session_id": "next", "transcript_path": "/nowhere"});
        assert_eq!(user.pipe(next.to_string(), &["hook", "claude-code"]).code, 0);
        let shown: Value =
            serde_json::from_str(&user.done(&["--json", "show", &format!("session/{SESSION}")])).unwrap();
        assert_eq!(shown["labels"]["session-end"], ending, "{event}");
    }
}

#[test]
fn an_event_that_makes_no_sense_is_no_trouble_for_the_agent() {
    let user = User::new();
    let inputs =
        ["", "no JSON", "[]", "{}", r#"{"session_id":7}"#, r#"{"session_id":"x","transcript_path":"/nowhere"}"#];
    for input in inputs {
        let ran = user.pipe(input, &["hook", "claude-code"]);
        assert_eq!((ran.code, ran.to_string().as_str()), (0, ""), "{input}");
    }
    // To some agents exit code 2 is a veto.
    assert_eq!(user.pipe("{}", &["hook", "some-agent"]).code, 0);
    assert_eq!(user.pipe("{}", &["hook", "claude-code", "--unknown"]).code, 0);
    assert!(user.troubles().iter().all(|trouble| trouble["during"].as_str().unwrap().starts_with("hook claude-code")));
    assert!(!user.troubles().is_empty());
}

#[test]
fn the_current_context_is_the_session_as_it_is_now() {
    let user = User::new();
    user.session_line("user", "u1", None, "Find the race");
    user.session_line("assistant", "a1", Some("u1"), "I look");
    user.hear("PreToolUse", &json!({"tool_use_id": "a1"}));
    // The hook has stored nothing; what was said is there all the same.
    let current = user.done(&["current", "--session", "0c3f"]);
    assert!(user.done(&["materialize", &current]).contains("I look"));
    assert_eq!(user.done(&["current", "--session", SESSION]), current);
    user.session_line("assistant", "a2", Some("a1"), "Found it");
    let later: Value = serde_json::from_str(&user.done(&["--json", "current", "--session", "0c3f"])).unwrap();
    assert_eq!((&later["session"], &later["by"]), (&json!(SESSION), &json!("name")));
    assert!(user.done(&["materialize", later["commit"].as_str().unwrap()]).contains("Found it"));
    assert_eq!(user.done(&["resolve", "ada@laptop"]), later["commit"].as_str().unwrap());
    // Of one that is over, the last is known.
    user.hear("SessionEnd", &json!({"reason": "logout"}));
    assert_eq!(user.done(&["current", "--session", SESSION]), later["commit"].as_str().unwrap());
}

#[test]
fn without_a_session_the_current_context_is_the_last_of_the_principal() {
    let user = User::new();
    let nothing = user.run(&["current"]);
    assert_eq!(nothing.code, 1);
    assert!(nothing.stderr.contains("ada@laptop has no commit"), "{nothing}");
    let unknown = user.run(&["current", "--session", "s-9"]);
    assert_eq!(unknown.code, 1);
    assert!(unknown.stderr.contains(r#"there is no session "s-9""#), "{unknown}");
    user.file("turn.txt", "I know it.");
    let commit = user.done(&["checkpoint", "--format", "text", "turn.txt"]);
    assert_eq!(user.done(&["current"]), commit);
}

#[test]
fn git_is_not_disturbed_where_no_agent_is_at_work() {
    let user = User::new();
    user.file("message", "Fix it\n");
    let ran = user.run(&["git-hook", "prepare-commit-msg", "message"]);
    assert_eq!((ran.to_string().as_str(), user.read("message").as_str()), ("", "Fix it\n"));
    assert_eq!(user.run(&["git-hook", "post-commit"]).code, 0);
}

/// A repository with two sessions of one agent's process at work in it.
fn two_sessions_of_one_process() -> User {
    let user = User::new();
    for id in ["anise-0001", "basil-0002"] {
        let line = json!({
            "type": "user", "uuid": format!("u-{id}"), "parentUuid": null, "sessionId": id,
            "message": {"role": "user", "content": format!("The word is {id}.")},
            "timestamp": "2026-11-15T20:00:00.000Z",
        });
        user.file(format!("{id}.jsonl"), format!("{line}\n"));
        let about = json!({"session_id": id, "transcript_path": user.path(format!("{id}.jsonl"))});
        user.hear("Stop", &about);
    }
    user
}

/// Returns what the program says where an agent has set variables.
fn told(user: &User, variables: &[(&str, &str)], arguments: &[&str]) -> Ran {
    user.ran(user.command(arguments).envs(variables.iter().copied()).output())
}

#[test]
fn what_the_agent_says_of_itself_goes_before_its_process() {
    let user = two_sessions_of_one_process();
    for id in ["anise-0001", "basil-0002"] {
        let ran = told(&user, &[("CLAUDE_CODE_SESSION_ID", id)], &["--json", "current"]);
        let current: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{ran}"));
        assert_eq!((&current["session"], &current["by"]), (&json!(id), &json!("runtime")));
        let text = user.done(&["materialize", current["commit"].as_str().unwrap(), "--format", "text"]);
        assert!(text.contains(id), "{text}");
    }
    // Of one that is over and that no hook has told of, the store knows all the same; of another one nothing is known.
    user.hear("SessionEnd", &json!({"session_id": "anise-0001", "transcript_path": user.path("anise-0001.jsonl")}));
    let ended = told(&user, &[("CLAUDE_CODE_SESSION_ID", "anise-0001")], &["current"]);
    assert_eq!(ended.stdout.trim(), user.done(&["current", "--session", "anise-0001"]));
    let unknown = told(&user, &[("CODEX_THREAD_ID", "cress-0003")], &["current"]);
    assert_eq!(unknown.code, 1);
    assert!(unknown.stderr.contains("nothing of the session cress-0003 is written down yet"), "{unknown}");
}

#[test]
fn where_two_sessions_remain_possible_both_are_named() {
    let user = two_sessions_of_one_process();
    let commits = ["anise-0001", "basil-0002"].map(|id| user.done(&["current", "--session", id]));
    let ran = user.run(&["current"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{ran}");
    assert!(ran.stderr.contains("several sessions may be meant: "), "{ran}");
    assert!(commits.iter().all(|commit| ran.stderr.contains(commit.as_str())), "{ran}");
    // No agent stands between this program and the one that says what is known, so the other one is further away.
    let both = [("CLAUDE_CODE_SESSION_ID", "anise-0001"), ("CODEX_THREAD_ID", "cress-0003")];
    assert_eq!(told(&user, &both, &["current"]).stdout.trim(), commits[0]);
    for (variables, trailers) in [
        (&[][..], format!("Context-Ambiguous: {}\nContext-Ambiguous: {}\n", commits[1], commits[0])),
        (&[("CLAUDE_CODE_SESSION_ID", "anise-0001")], format!("Context-Id: {}\n", commits[0])),
    ] {
        user.file("message", "Fix it\n");
        let mut command = user.command(&["git-hook", "prepare-commit-msg", "message"]);
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default()).envs(variables.iter().copied());
        let ran = user.ran(command.output());
        assert_eq!((ran.code, ran.to_string().as_str()), (0, ""));
        let mut written: Vec<String> = user.read("message").lines().skip(2).map(str::to_owned).collect();
        let mut expected: Vec<String> = trailers.lines().map(str::to_owned).collect();
        written.sort();
        expected.sort();
        assert_eq!(written, expected);
    }
}

#[test]
fn cursor_tells_of_its_agents_in_words_of_its_own() {
    let user = User::new();
    let place = user.path(format!(".cursor/projects/w/agent-transcripts/{SESSION}"));
    let path = place.join(format!("{SESSION}.jsonl"));
    fs::create_dir_all(place).unwrap();
    let say = |role: &str, text: &str| {
        let line = json!({"role": role, "message": {"content": [{"type": "text", "text": text}]}});
        let before = fs::read_to_string(&path).unwrap_or_default();
        fs::write(&path, format!("{before}{line}\n")).unwrap();
    };
    let hear = |runtime: &str, event: &str, more: Value| {
        let mut event = json!({
            "hook_event_name": event, "conversation_id": SESSION, "generation_id": "g", "cursor_version": "3.9.16",
            "workspace_roots": ["/srv/w"], "transcript_path": null,
        });
        event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let ran = user.pipe(format!("\u{feff}{event}"), &["hook", runtime]);
        assert_eq!((ran.code, ran.to_string().as_str()), (0, ""), "{event}");
    };
    let commits = || user.triggers().len();
    hear("cursor", "sessionStart", json!({"session_id": SESSION}));
    say("user", "<user_query>\nFind the race\n</user_query>");
    hear("cursor", "beforeSubmitPrompt", json!({"prompt": "Find the race", "attachments": []}));
    say("assistant", "I look.");
    hear("cursor", "afterFileEdit", json!({"file_path": "/srv/w/a.rs", "edits": [], "transcript_path": path}));
    assert_eq!(commits(), 1);
    say("assistant", "Found it.");
    // Its transcript names no calls, so none is waited for.
    hear("cursor", "postToolUse", json!({"tool_name": "Shell", "tool_use_id": "t1", "cwd": "", "tool_output": "{}"}));
    say("assistant", "Mended it.");
    hear("cursor", "stop", json!({"status": "completed", "loop_count": 0}));
    let session: Value = serde_json::from_str(&user.done(&["sessions", "--json"])).unwrap();
    let known = ["agent", "directory", "request", "state"].map(|field| session[field].as_str().unwrap_or_default());
    assert_eq!(known, ["cursor", "/srv/w", "Find the race", "running"]);
    // Where it is told to, it calls the hooks that are registered for Claude Code.
    let before = commits();
    say("user", "Test it");
    say("assistant", "It passes.");
    hear("claude-code", "Stop", json!({"session_id": SESSION, "transcript_path": path, "cwd": "/srv/w"}));
    assert_eq!(commits(), before + 1);
    hear("cursor", "sessionEnd", json!({"session_id": SESSION, "reason": "user_close"}));
    let session: Value = serde_json::from_str(&user.done(&["sessions", "--json"])).unwrap();
    assert_eq!((&session["state"], &session["turns"]), (&json!("ended"), &json!(2)));
    user.done(&["import", "--verify"]);
    assert_eq!(user.troubles(), [] as [Value; 0]);
}

/// A session that has called two agents, which have not called anything yet.
fn session_with_two_agents() -> User {
    let user = User::new();
    user.session_line("user", "u1", None, "Ask both");
    user.session_line("assistant", "a1", Some("u1"), "I ask.");
    user.hear("PostToolUse", &json!({}));
    fs::create_dir_all(user.path("session/subagents")).unwrap();
    for agent in ["anise", "basil"] {
        let line = json!({
            "type": "user", "uuid": format!("u-{agent}"), "parentUuid": null, "isSidechain": true, "agentId": agent,
            "sessionId": SESSION, "message": {"role": "user", "content": format!("The word is {agent}.")},
            "timestamp": "2026-11-15T20:01:00.000Z",
        });
        user.file(format!("session/subagents/agent-{agent}.jsonl"), format!("{line}\n"));
        user.hear("PreToolUse", &json!({"tool_name": "Task", "tool_use_id": format!("task-{agent}")}));
    }
    user
}

#[test]
fn of_agents_that_one_session_has_at_work_none_is_guessed() {
    let user = session_with_two_agents();
    let call = |event: &str, agent: &str| {
        user.hear(event, &json!({"tool_name": "Bash", "tool_use_id": format!("u-{agent}"), "agent_id": agent}));
    };
    let word_at = |commit: &str| user.done(&["materialize", commit, "--format", "text"]);
    // One alone is not confused with the one that waits for it.
    call("PreToolUse", "anise");
    let anise = user.done(&["current"]);
    assert!(word_at(&anise).contains("The word is anise."));
    // Its call began last, but that is no sign that it asks.
    call("PreToolUse", "basil");
    let ran = user.run(&["current"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{ran}");
    let names = ["anise", "basil"].map(|agent| format!("{SESSION}/agent-{agent}"));
    let basil = user.done(&["current", "--session", &names[1]]);
    assert!(word_at(&basil).contains("The word is basil."));
    for (name, commit) in names.iter().zip([&anise, &basil]) {
        assert!(ran.stderr.contains(&format!("{name} at {commit}")), "{ran}");
    }
    assert_eq!(user.done(&["current", "--session", &names[0]]), anise);
    assert_eq!(user.run(&["current", "--session", &format!("{SESSION}/agent-cress")]).code, 1);
    user.file("message", "Fix it\n");
    let mut command = user.command(&["git-hook", "prepare-commit-msg", "message"]);
    command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
    assert_eq!(user.ran(command.output()).code, 0);
    let mut written: Vec<String> = user.read("message").lines().skip(2).map(str::to_owned).collect();
    let mut expected = [&anise, &basil].map(|commit| format!("Context-Ambiguous: {commit}"));
    written.sort();
    expected.sort();
    assert_eq!(written, expected);
    // Who is named by the session alone is the one that people talk to, once it has called something itself.
    user.hear("PreToolUse", &json!({"tool_name": "Bash", "tool_use_id": "a1"}));
    assert!(word_at(&user.done(&["current", "--session", SESSION])).contains("I ask."));
    user.hear("PostToolUse", &json!({"tool_name": "Bash", "tool_use_id": "a1"}));
    // When the other one has its answer, only one remains.
    call("PostToolUse", "basil");
    assert_eq!(user.done(&["current"]), anise);
}
