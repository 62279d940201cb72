//! `ctx run` with the real agents: what they say is what they would say without it, and all of it is captured.

use std::{fs, process::Output};

use contexture_testkit::{
    clients::Client,
    model_server::{MessageRole, ScriptStep},
};
use serde_json::{Value, json};

use crate::stage::{CTX, QUESTION, Stage, id_of};

#[test]
fn a_run_of_claude_code_is_its_session() {
    is_its_session(Client::ClaudeCode);
}

#[test]
fn a_run_of_codex_is_its_session() {
    is_its_session(Client::Codex);
}

#[test]
fn a_run_of_gemini_is_its_session() {
    is_its_session(Client::Gemini);
}

#[test]
fn a_run_of_an_agent_that_tells_nothing_is_its_session_too() {
    for client in [Client::ClaudeCode, Client::Codex, Client::Pi] {
        if !client.available_or_skip("a_run_of_an_agent_that_tells_nothing_is_its_session_too") {
            continue;
        }
        let stage = Stage::new();
        stage.put_on_path(client);
        stage.server.script([ScriptStep::new().text("It is green.")]);
        let words = ask(client, QUESTION, Printed::Text);
        let ran = stage.run(&[], &words);
        assert!(String::from_utf8_lossy(&ran.stdout).contains("It is green."), "{client:?}");
        let session = stage.only_session();
        assert_eq!(stage.ctx(&["materialize", &session]), stage.kept(client, &session), "{client:?}");
    }
}

#[test]
fn a_run_without_a_session_of_its_own_is_what_was_printed() {
    for (client, word) in [(Client::ClaudeCode, "--no-session-persistence"), (Client::Codex, "--ephemeral")] {
        if !client.available_or_skip("a_run_without_a_session_of_its_own_is_what_was_printed") {
            continue;
        }
        let stage = Stage::new();
        stage.put_on_path(client);
        stage.server.script([ScriptStep::new().text("It is green.")]);
        let mut words = ask(client, QUESTION, Printed::Events);
        words.insert(2, word);
        let ran = stage.run(&[], &words);
        let session = stage.only_session();
        assert_eq!(stage.ctx(&["materialize", &session]), String::from_utf8(ran.stdout).unwrap(), "{client:?}");
    }
}

#[test]
fn a_run_goes_on_where_a_chain_ends_in_the_same_agent_and_in_others() {
    let origin = Client::ClaudeCode;
    if !origin.available_or_skip("a_run_goes_on_where_a_chain_ends") {
        return;
    }
    let stage = Stage::new();
    stage.put_on_path(origin);
    stage.server.script([ScriptStep::new().text("It is green.")]);
    stage.run(&[], &ask(origin, QUESTION, Printed::Events));
    stage.ctx(&["fork", &stage.only_session(), "--head", "work"]);
    for target in Client::ALL {
        if !target.available_or_skip("a_run_goes_on_where_a_chain_ends") {
            continue;
        }
        stage.put_on_path(target);
        let before = stage.commit("work");
        let (tool, input) = target.shell(&format!("{CTX} current > current.txt"));
        let answer = format!("So says {target:?}.");
        stage.server.script([ScriptStep::new().text("I look.").call(tool, input), ScriptStep::new().text(&answer)]);
        let printed = if target == Client::Pi { Printed::Text } else { Printed::Events };
        stage.run(&["--from", "work"], &ask(target, "What did I ask?", printed));
        let request = stage.server.turns().pop().unwrap();
        assert!(request.mentions(MessageRole::User, QUESTION), "{target:?}: {:?}", request.conversation());
        // The head has moved along, and what the tool was told is on the way.
        let chain: Vec<String> = stage.log("work").iter().map(id_of).collect();
        let asked = fs::read_to_string(stage.workplace.project().join("current.txt")).unwrap();
        let place = |id: &str| chain.iter().position(|known| known == id.trim());
        assert!(place(&asked) > Some(0) && place(&asked) < place(&before), "{target:?}: {asked} in {chain:?}");
        let text = stage.ctx(&["materialize", asked.trim(), "--format", "text"]);
        assert!(text.contains("I look.") && !text.contains(&answer), "{target:?}: {text}");
        assert!(stage.ctx(&["materialize", "work", "--format", "text"]).contains(&answer), "{target:?}");
        assert_eq!(stage.newly_imported(), 0, "{target:?}");
    }
}

#[test]
fn hooks_and_the_wrapper_capture_one_session() {
    let client = Client::ClaudeCode;
    if !client.available_or_skip("hooks_and_the_wrapper_capture_one_session") {
        return;
    }
    let stage = Stage::new();
    stage.put_on_path(client);
    let hook = json!([{"hooks": [{"type": "command", "command": format!("{CTX} hook claude-code")}]}]);
    let events = ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "SessionEnd"];
    let hooks: Value = events.iter().map(|event| ((*event).to_owned(), hook.clone())).collect();
    let settings = stage.workplace.home().join(".claude/settings.json");
    fs::create_dir_all(settings.parent().unwrap()).unwrap();
    fs::write(settings, json!({"hooks": hooks}).to_string()).unwrap();
    let (tool, input) = client.shell(&format!("{CTX} --json current > current.txt"));
    stage.server.script([ScriptStep::new().text("I look.").call(tool, input), ScriptStep::new().text("It is green.")]);
    stage.run(&[], &ask(client, QUESTION, Printed::Events));
    let session = stage.only_session();
    assert_eq!(stage.ctx(&["materialize", &session]), stage.kept(client, &session));
    assert_eq!(stage.newly_imported(), 0);
    let asked: Value =
        serde_json::from_str(&fs::read_to_string(stage.workplace.project().join("current.txt")).unwrap()).unwrap();
    assert_eq!((&asked["by"], asked["session"].as_str()), (&"socket".into(), session.strip_prefix("session/")));
    let state = stage.workplace.home().join(".local/state/contexture");
    assert!(state.join("fired/claude-code").exists());
    for place in ["sessions", "runs"] {
        assert_eq!(fs::read_dir(state.join(place)).unwrap().count(), 0, "{place}");
    }
}

fn is_its_session(client: Client) {
    if !client.available_or_skip("is_its_session") {
        return;
    }
    let stage = Stage::new();
    stage.put_on_path(client);
    let (tool, input) = client.shell(&format!("{CTX} current > current.txt"));
    stage.server.script([ScriptStep::new().text("I look.").call(tool, input), ScriptStep::new().text("It is green.")]);
    let ran = stage.run(&[], &ask(client, QUESTION, Printed::Events));
    let lines = String::from_utf8(ran.stdout).unwrap();
    assert!(lines.lines().all(|line| serde_json::from_str::<Value>(line).is_ok()), "{lines}");
    let session = stage.only_session();
    assert_eq!(stage.ctx(&["materialize", &session]), stage.kept(client, &session), "{client:?}");
    stage.ctx(&["import", "--verify"]);
    assert_eq!(stage.newly_imported(), 0, "{client:?}");
    // What the tool was told ends with the call that asked.
    let asked = fs::read_to_string(stage.workplace.project().join("current.txt")).unwrap();
    let text = stage.ctx(&["materialize", asked.trim(), "--format", "text"]);
    assert!(text.contains("I look.") && !text.contains("It is green."), "{client:?}: {text}");
    if client != Client::Gemini {
        // It tells its session of a call when that was answered.
        assert!(text.contains("current.txt"), "{client:?}: {text}");
    }
    let shown: Value = serde_json::from_str(&stage.ctx(&["--json", "show", &session])).unwrap();
    assert_eq!(shown["labels"]["session-end"], "exit 0", "{client:?}");
}

/// How an agent is to print what it does.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Printed {
    Events,
    Text,
}

/// Returns the command line by which an agent is asked something.
fn ask(client: Client, prompt: &'static str, printed: Printed) -> Vec<&'static str> {
    let events = printed == Printed::Events;
    let mut words = match client {
        Client::ClaudeCode => vec!["claude", "--print", "--dangerously-skip-permissions"],
        Client::Codex => vec!["codex", "exec", "--dangerously-bypass-approvals-and-sandbox"],
        Client::Gemini => vec!["gemini", "--model=gemini-2.5-pro", "--yolo"],
        Client::Pi => vec!["pi", "--print", "--offline", "--provider", "scripted", "--model", "scripted"],
    };
    match client {
        Client::ClaudeCode if events => words.extend(["--output-format", "stream-json", "--verbose"]),
        Client::Codex if events => words.push("--json"),
        Client::Gemini if events => words.extend(["--output-format", "stream-json"]),
        _ => {}
    }
    words.extend(if client == Client::Gemini { vec!["--prompt", prompt] } else { vec![prompt] });
    words
}

impl Stage {
    /// Wraps an agent and returns what came of it.
    fn run(&self, flags: &[&str], words: &[&str]) -> Output {
        let ran = self.command(&[&["run"], flags, &["--"], words].concat()).output().expect("the program starts");
        let (stdout, stderr) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
        assert!(ran.status.success(), "{words:?} ended with {}:\n{stdout}{stderr}", ran.status);
        assert_eq!(self.server.remaining_steps(), 0, "{words:?}:\n{stdout}{stderr}");
        ran
    }

    /// Returns the head of the only session that there is.
    fn only_session(&self) -> String {
        let heads = self.ctx(&["--json", "head", "list"]);
        let heads = heads.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let names = heads.filter_map(|head| Some(head["name"].as_str()?.to_owned()));
        let mut sessions: Vec<String> = names.filter(|name| name.starts_with("session/")).collect();
        assert_eq!(sessions.len(), 1, "{sessions:?}");
        sessions.remove(0)
    }

    /// Returns what a client has kept of the session that a head names.
    fn kept(&self, client: Client, head: &str) -> String {
        let session = head.trim_start_matches("session/");
        fs::read_to_string(client.transcripts(&self.workplace, session).remove(0)).unwrap()
    }
}
