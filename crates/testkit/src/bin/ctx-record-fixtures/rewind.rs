//! How each client goes back in a conversation, without a terminal.

use std::{
    fs,
    io::{BufRead as _, BufReader, Write as _},
    process::{ChildStdin, ChildStdout, Stdio},
};

use contexture_testkit::{
    clients::{Client, ClientResume},
    model_server::ScriptStep,
};
use serde_json::{Value, json};

use crate::scene::Scene;

/// What the answer says that sessions go back to.
pub(crate) const FIRST_ANSWER: &str = "The door is green, say the notes.";

/// Goes on from the first answer of a session, as if nothing had been said since.
pub(crate) fn to_first_answer(scene: &Scene, session: &str, prompt: &str, step: ScriptStep) {
    let resume = ClientResume::Id(session);
    match scene.client {
        Client::ClaudeCode => {
            let answer = first_answer(scene, session, "uuid");
            scene.say_with(prompt, resume, &["--resume-session-at", &answer], [step]);
        }
        Client::Codex => {
            revert_last_turn(scene, session);
            scene.say(prompt, resume, [step]);
        }
        Client::Gemini => panic!("Gemini CLI cannot go back without a terminal"),
        Client::Pi => {
            let extension = scene.workplace.root().join("rewind.ts");
            fs::write(&extension, include_str!("rewind.ts")).expect("the workplace can be written");
            let command = format!("/rewind {}", first_answer(scene, session, "id"));
            let extension = extension.display().to_string();
            scene.say_with(prompt, resume, &["--extension", &extension, &command], [step]);
        }
    }
}

/// Returns the id of the line with the first answer.
fn first_answer(scene: &Scene, session: &str, id: &str) -> String {
    let lines = scene.transcript(session);
    let line = lines.iter().find(|line| line["message"].to_string().contains(FIRST_ANSWER));
    line.and_then(|line| line[id].as_str()).expect("the session has it").to_owned()
}

/// Has Codex take back a session's last turn, by the protocol that its editors use.
fn revert_last_turn(scene: &Scene, session: &str) {
    let lines = scene.transcript(session);
    let context = lines.iter().rfind(|line| line["type"] == "turn_context").expect("the session has turns");
    let turn = &context["payload"]["turn_id"];
    let mut command = scene.client.command(&scene.workplace, &scene.server);
    command.arg("app-server").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut codex = command.spawn().expect("Codex is installed");
    let mut input = codex.stdin.take().expect("it is piped");
    let mut output = BufReader::new(codex.stdout.take().expect("it is piped"));
    let client =
        json!({"clientInfo": {"name": "contexture", "version": "0"}, "capabilities": {"experimentalApi": true}});
    call(&mut input, &mut output, "initialize", &client);
    call(&mut input, &mut output, "thread/resume", &json!({"threadId": session}));
    call(&mut input, &mut output, "thread/revert", &json!({"threadId": session, "beforeTurnId": turn}));
    drop(input);
    codex.wait().expect("Codex ends when nobody speaks to it");
}

fn call(input: &mut ChildStdin, output: &mut BufReader<ChildStdout>, method: &str, params: &Value) {
    writeln!(input, "{}", json!({"id": method, "method": method, "params": params})).expect("Codex listens");
    let mut said = output.lines().map(|line| line.expect("Codex answers"));
    let answers = said.by_ref().map(|line| serde_json::from_str::<Value>(&line).expect("Codex speaks JSON"));
    let answer = answers.into_iter().find(|answer| answer["id"] == method).expect("Codex answers");
    assert!(answer["error"].is_null(), "{method}: {answer}");
}
