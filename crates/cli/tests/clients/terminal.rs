//! What a person does: `ctx resume` at a terminal, an agent's screen, a question, and the agent's end.

use std::io::{self, Write as _};

use contexture_testkit::{
    clients::{Client, ClientRelease, Terminal},
    model_server::{MessageRole, ScriptStep},
};

use crate::{
    resume::Kept,
    stage::{QUESTION, Stage, name},
};

/// Keeps Codex from putting a copy of itself into the home as a server, which takes a while.
const NO_SERVER: &str = "--no-daemon";

/// What agents tell their models of themselves.
const NOTES: [(Client, &str); 5] = [
    (Client::Codex, "<environment_context>"),
    (Client::Codex, "<permissions instructions>"),
    (Client::Codex, "<skills_instructions>"),
    (Client::Codex, "<collaboration_mode>"),
    (Client::Gemini, "<session_context>"),
];

#[test]
fn every_agent_opens_a_session_of_claude_code_at_a_terminal() {
    every_agent_opens(Client::ClaudeCode);
}

#[test]
fn every_agent_opens_a_session_of_codex_at_a_terminal() {
    every_agent_opens(Client::Codex);
}

#[test]
fn every_agent_opens_a_session_of_gemini_at_a_terminal() {
    every_agent_opens(Client::Gemini);
}

#[test]
fn every_agent_opens_a_session_of_pi_at_a_terminal() {
    every_agent_opens(Client::Pi);
}

#[test]
fn codex_opens_what_it_has_listed() {
    let Some(stage) = stage(Client::Codex, "codex_opens_what_it_has_listed") else { return };
    let session = stage.have_session(Client::ClaudeCode);
    stage.ctx(&["import"]);
    stage.put_on_path(Client::Codex);
    let written = stage.ctx(&["--json", "resume", &format!("session/{session}"), "--in", "codex", "--print"]);
    let written: serde_json::Value = serde_json::from_str(&written).unwrap();
    // Whoever looks at the list has Codex note of each session who serves its model.
    let codex = |words: &[&str]| {
        let mut codex = Client::Codex.command(&stage.workplace, &stage.server);
        codex.args(words);
        Terminal::start(&codex)
    };
    let list = codex(&["resume"]);
    list.wait_for(QUESTION);
    drop(list);
    let opened = codex(&["resume", written["session"].as_str().unwrap()]);
    opened.wait_for("There is no window.");
    stage.server.script([ScriptStep::new().text("About the door.")]);
    opened.say("What did I ask?", "About the door.");
}

#[test]
fn what_hooks_have_taken_in_was_added() {
    let client = Client::ClaudeCode;
    let Some(stage) = stage(client, "what_hooks_have_taken_in_was_added") else { return };
    stage.hook_up(client);
    let session = stage.have_session(client);
    stage.put_on_path(client);
    let terminal = Terminal::start(&stage.command(&["resume", &format!("session/{session}")]));
    terminal.wait_for("There is no window.");
    stage.server.script([ScriptStep::new().text("About the door.")]);
    terminal.say("What did I ask?", "About the door.");
    terminal.say("/quit", "Took in 1 turn from Claude Code.");
}

#[test]
fn a_session_in_which_nobody_asked_is_not_what_ada_does_now() {
    let client = Client::Codex;
    let Some(stage) = stage(client, "a_session_in_which_nobody_asked") else { return };
    stage.hook_up(client);
    let mut codex = client.command(&stage.workplace, &stage.server);
    codex.args(["--dangerously-bypass-hook-trust", NO_SERVER]);
    let terminal = Terminal::start(&codex);
    terminal.wait_for("Ask Codex to do anything");
    terminal.leave("/quit");
    assert_eq!(stage.ctx(&["head", "list"]), "");
}

/// Lets each agent go on with a session of one, as a person would.
fn every_agent_opens(origin: Client) {
    let Some(stage) = stage(origin, "every_agent_opens") else { return };
    let session = stage.have_session(origin);
    stage.ctx(&["import"]);
    let tip = stage.commit(&format!("session/{session}"));
    for target in Client::ALL.into_iter().filter(|target| target.released_or_skip(stage.release(), "every_agent_opens"))
    {
        stage.put_on_path(target);
        let mut resume = stage.command(&["resume", &tip, "--in", name(target)]);
        if target == Client::Codex {
            resume.args(["--", NO_SERVER]);
        }
        let terminal = Terminal::start(&resume);
        terminal.wait_for("There is no window.");
        terminal.wait_for(QUESTION);
        stage.server.script([ScriptStep::new().text("About the door.")]);
        terminal.say("What did I ask?", "About the door.");
        let request = stage.last_request();
        let kept = Kept::of(&request);
        let [from, into] =
            [origin, target].map(|client| format!("{} {}", name(client), client.version(stage.release())));
        // Past what the test runner captures, because it shows that of failed tests only.
        let told = writeln!(io::stderr(), "OPENED  {from:>19} → {into:<19} at a terminal: {kept}");
        told.expect("standard error can be written");
        assert_eq!(kept, Kept::ALL, "{origin:?} → {target:?}: {:?}", request.conversation());
        for (_, note) in NOTES.iter().filter(|(client, _)| *client == origin && *client != target) {
            assert!(!request.mentions(MessageRole::User, note), "{target:?} is told {note} of {origin:?}");
        }
        terminal.say("/quit", &format!("Took in 1 turn from {}.", title(target)));
        let head = stage.newest_session(&tip);
        assert_eq!(stage.commit(&format!("{head}~1")), tip, "{origin:?} → {target:?}");
    }
}

fn title(client: Client) -> &'static str {
    match client {
        Client::ClaudeCode => "Claude Code",
        Client::Codex => "Codex",
        Client::Gemini => "Gemini CLI",
        Client::Pi => "pi",
    }
}

/// Makes a stage with the newest clients; nothing, if one is not there or no terminal is.
fn stage(client: Client, test: &str) -> Option<Stage> {
    let release = ClientRelease::Newest;
    let are_there = Terminal::available_or_skip(test)
        && client.released_or_skip(release, test)
        && Client::ClaudeCode.released_or_skip(release, test);
    are_there.then(|| Stage::of(release))
}

impl Stage {
    /// Returns the head of the session that went on from a commit last.
    fn newest_session(&self, from: &str) -> String {
        let newest = self.ctx(&["--json", "children", from]);
        let newest = newest.lines().last().unwrap_or_else(|| panic!("nothing goes on from {from}"));
        let newest: serde_json::Value = serde_json::from_str(newest).unwrap();
        format!("session/{}", newest["session"].as_str().unwrap())
    }
}
