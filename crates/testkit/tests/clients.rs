//! What the real clients tell a model and keep on disk: the ground that import and resume stand on.

use std::{
    fs,
    path::{Path, PathBuf},
};

use contexture_testkit::{
    clients::{Client, ClientResume, Run, Workplace},
    model_server::{MessageRole, ModelRequest, ModelServer, Purpose, ScriptStep, Utterance},
};
use serde_json::json;

const QUESTION: &str = "What colour is the door?";
const SUMMARY: &str = "Ada wanted to know the colour of the door.";

#[test]
fn claude_code_resumes_with_what_was_said_and_done() {
    resumes_with_what_was_said_and_done(Client::ClaudeCode);
}

#[test]
fn codex_resumes_with_what_was_said_and_done() {
    resumes_with_what_was_said_and_done(Client::Codex);
}

#[test]
fn gemini_resumes_with_what_was_said_and_done() {
    resumes_with_what_was_said_and_done(Client::Gemini);
}

#[test]
fn pi_resumes_with_what_was_said_and_done() {
    resumes_with_what_was_said_and_done(Client::Pi);
}

#[test]
fn claude_code_goes_on_from_a_summary() {
    goes_on_from_a_summary(Client::ClaudeCode);
}

#[test]
fn codex_goes_on_from_a_summary() {
    goes_on_from_a_summary(Client::Codex);
}

#[test]
fn gemini_goes_on_from_a_summary() {
    goes_on_from_a_summary(Client::Gemini);
}

#[test]
fn pi_goes_on_from_a_summary() {
    goes_on_from_a_summary(Client::Pi);
}

#[test]
fn claude_code_compacts_when_told_to() {
    let client = Client::ClaudeCode;
    if !client.available_or_skip("claude_code_compacts_when_told_to") {
        return;
    }
    let (workplace, server) = (Workplace::new(), ModelServer::start());
    server.summarize_as(SUMMARY);
    let first = ask_about_the_door(client, &workplace, &server);
    let compacted = client.run(&workplace, &server, "/compact", ClientResume::Id(first.session()));
    assert_eq!(compacted.session(), first.session());
    let purposes: Vec<_> = server.requests().iter().map(ModelRequest::purpose).collect();
    assert_eq!(purposes, [Purpose::Turn, Purpose::Turn, Purpose::Compaction]);
    let transcript = fs::read_to_string(compacted.transcript()).unwrap();
    assert!(transcript.contains("compact_boundary") && transcript.contains(SUMMARY), "{transcript}");
}

#[test]
fn claude_code_keeps_a_transcript_of_its_own_for_a_subagent() {
    let client = Client::ClaudeCode;
    if !client.available_or_skip("claude_code_keeps_a_transcript_of_its_own_for_a_subagent") {
        return;
    }
    let (workplace, server) = (Workplace::new(), ModelServer::start());
    let errand = json!({
        "description": "Read notes",
        "prompt": "Read the notes.",
        "subagent_type": "general-purpose",
        "run_in_background": false,
    });
    let (tool, input) = client.shell("cat notes.txt");
    server.script([ScriptStep::new().call("Agent", errand), ScriptStep::new().text("It is green.")]);
    server.script_for(
        "Read the notes.",
        [ScriptStep::new().call(tool, input), ScriptStep::new().text("They say green.")],
    );
    let run = client.run(&workplace, &server, QUESTION, ClientResume::No);
    run.session();
    assert_eq!(server.remaining_steps(), 0);
    let [own, agent] = run.transcripts.as_slice() else { panic!("two transcripts, not {:?}", run.transcripts) };
    let (own, agent) = (fs::read_to_string(own).unwrap(), fs::read_to_string(agent).unwrap());
    assert!(own.contains(QUESTION) && !agent.contains(QUESTION));
    assert!(agent.contains("cat notes.txt") && !own.contains("cat notes.txt"));
}

#[test]
fn a_fork_goes_on_in_a_session_of_its_own() {
    for client in [Client::ClaudeCode, Client::Codex, Client::Pi] {
        if !client.available_or_skip("a_fork_goes_on_in_a_session_of_its_own") {
            continue;
        }
        let (workplace, server) = (Workplace::new(), ModelServer::start());
        let first = ask_about_the_door(client, &workplace, &server);
        let before = fs::read(first.transcript()).unwrap();
        server.script([ScriptStep::new().text("A copy.")]);
        let fork = client.run(&workplace, &server, "What is this?", ClientResume::Fork(first.session()));
        assert_ne!(fork.session(), first.session());
        assert_ne!(fork.transcript(), first.transcript());
        assert_eq!(fs::read(first.transcript()).unwrap(), before);
        assert_eq!(conversation(&last_turn(&server))[..first_turn(client).len()], first_turn(client));
    }
}

#[test]
fn a_transcript_is_all_that_a_client_needs_to_resume() {
    for client in Client::ALL {
        if !client.available_or_skip("a_transcript_is_all_that_a_client_needs_to_resume") {
            continue;
        }
        let (workplace, elsewhere, server) = (Workplace::new(), Workplace::new(), ModelServer::start());
        let first = ask_about_the_door(client, &workplace, &server);
        move_transcript(first.transcript(), &workplace, &elsewhere);
        server.script([ScriptStep::new().text("About the door.")]);
        let second = client.run(&elsewhere, &server, "What did I ask?", ClientResume::Id(first.session()));
        assert_eq!(second.session(), first.session());
        assert_eq!(conversation(&last_turn(&server))[..first_turn(client).len()], first_turn(client), "{client:?}");
    }
}

/// Copies a transcript to another home, as if it had been written there.
fn move_transcript(transcript: &Path, from: &Workplace, to: &Workplace) {
    let slug = |path: &Path| path.display().to_string().replace(|letter: char| !letter.is_ascii_alphanumeric(), "-");
    let moved = |text: &str| {
        let text = text.replace(&from.root().display().to_string(), &to.root().display().to_string());
        text.replace(&slug(from.root()), &slug(to.root()))
    };
    let place = PathBuf::from(moved(&transcript.display().to_string()));
    fs::create_dir_all(place.parent().unwrap()).unwrap();
    fs::write(&place, moved(&fs::read_to_string(transcript).unwrap())).unwrap();
}

fn resumes_with_what_was_said_and_done(client: Client) {
    if !client.available_or_skip("resumes_with_what_was_said_and_done") {
        return;
    }
    let (workplace, server) = (Workplace::new(), ModelServer::start());
    let first = ask_about_the_door(client, &workplace, &server);
    server.script([ScriptStep::new().text("About the door.")]);
    let second = client.run(&workplace, &server, "What did I ask?", ClientResume::Id(first.session()));
    assert_eq!(second.session(), first.session());
    assert_eq!(server.remaining_steps(), 0);

    let turns: Vec<_> = server.turns().iter().map(conversation).collect();
    let expected = [first_turn(client), vec!["user: What did I ask?".to_owned()]].concat();
    assert_eq!(turns, [expected[..1].to_vec(), expected[..4].to_vec(), expected.clone()]);

    let transcript = fs::read_to_string(second.transcript()).unwrap();
    let is_kept = |said: &str| transcript.contains(said);
    assert!([QUESTION, "The notes may say.", "About the door."].into_iter().all(is_kept), "{transcript}");
}

fn goes_on_from_a_summary(client: Client) {
    if !client.available_or_skip("goes_on_from_a_summary") {
        return;
    }
    let (workplace, server) = (Workplace::new(), ModelServer::start());
    server.summarize_as(SUMMARY);
    let first = ask_about_the_door(client, &workplace, &server);
    let (tool, input) = client.shell("cat notes.txt");
    let full = ScriptStep::new().text("Again.").call(tool, input).context_tokens(990_000);
    server.script([full, ScriptStep::new().text("Still green."), ScriptStep::new().text("Good bye.")]);
    client.run(&workplace, &server, "Look again.", ClientResume::Id(first.session()));
    let last = client.run(&workplace, &server, "Farewell.", ClientResume::Id(first.session()));
    assert_eq!(last.session(), first.session());
    assert_eq!(server.remaining_steps(), 0);

    assert!(server.requests().iter().any(|request| request.purpose() == Purpose::Compaction));
    let request = last_turn(&server);
    assert!(request.mentions(MessageRole::User, SUMMARY), "{:?}", request.conversation());
    assert!(!request.mentions(MessageRole::Assistant, "The notes say green."), "{:?}", request.conversation());
    assert!(fs::read_to_string(last.transcript()).unwrap().contains(SUMMARY));
}

/// Has a session in which the client uses a tool.
fn ask_about_the_door(client: Client, workplace: &Workplace, server: &ModelServer) -> Run {
    let (tool, input) = client.shell("cat notes.txt");
    let look = ScriptStep::new().thinking("The notes may say.").text("I look.").call(tool, input);
    server.script([look, ScriptStep::new().text("The notes say green.")]);
    let run = client.run(workplace, server, QUESTION, ClientResume::No);
    run.session();
    run
}

/// Returns what the model must have been told of that session.
fn first_turn(client: Client) -> Vec<String> {
    let call = format!("assistant calls {}", client.shell("").0);
    let said = [
        "user: What colour is the door?",
        "assistant: I look.",
        &call,
        "result: green",
        "assistant: The notes say green.",
    ];
    said.map(str::to_owned).to_vec()
}

fn last_turn(server: &ModelServer) -> ModelRequest {
    server.turns().pop().expect("the client had a turn")
}

/// Returns what a request tells, without what clients add of their own and say in their own way.
fn conversation(request: &ModelRequest) -> Vec<String> {
    let mut conversation: Vec<String> = request
        .conversation()
        .into_iter()
        .filter_map(|said| match (said.role, said.what) {
            (MessageRole::Developer, _) | (_, Utterance::Thinking(_)) => None,
            (MessageRole::User, Utterance::Text(text)) => (!text.starts_with('<')).then(|| format!("user: {text}")),
            (MessageRole::Assistant, Utterance::Text(text)) => Some(format!("assistant: {text}")),
            (_, Utterance::Call { name, .. }) => Some(format!("assistant calls {name}")),
            (_, Utterance::Outcome(text)) if text.contains("The door is green.") => Some("result: green".to_owned()),
            (_, Utterance::Outcome(text)) => Some(format!("result: {text}")),
        })
        .collect();
    // Gemini CLI says the results of a resumed session twice.
    conversation.dedup();
    conversation
}
