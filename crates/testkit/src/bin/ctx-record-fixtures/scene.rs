//! What happens in the recorded sessions.

use std::{
    fs,
    path::{Path, PathBuf},
};

use contexture_testkit::{
    clients::{Client, ClientResume, Workplace},
    model_server::{ModelServer, ScriptStep},
};
use serde_json::{Value, json};

use crate::{rewind, tidy};

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../formats/tests/fixtures");

/// What a sub-agent is told, and nobody else.
const ERRAND: &str = "Read the notes and say which colour they name.";

/// A client at work.
pub(crate) struct Scene {
    pub(crate) client: Client,
    pub(crate) workplace: Workplace,
    pub(crate) server: ModelServer,
}

impl Scene {
    /// Lets a client play, and keeps all files of its sessions.
    pub(crate) fn record(client: Client, name: &str, play: fn(&Self)) {
        let scene = Self { client, workplace: Workplace::new(), server: ModelServer::start() };
        scene.server.summarize_as("Ada asked which colour the door has. The notes say that it is green.");
        play(&scene);
        assert_eq!(scene.server.remaining_steps(), 0, "{client:?} did not say all of {name}");
        scene.keep(name);
        println!("Recorded {}/{name} with version {}.", scene.runtime(), client.version(scene.workplace.release()));
    }

    /// Sends a prompt, to which the model answers with some steps, and returns the session's id.
    pub(crate) fn say(
        &self,
        prompt: &str,
        resume: ClientResume<'_>,
        steps: impl IntoIterator<Item = ScriptStep>,
    ) -> String {
        self.say_with(prompt, resume, &[], steps)
    }

    /// Does what [`Scene::say`] does, with options of the client's own.
    pub(crate) fn say_with(
        &self,
        prompt: &str,
        resume: ClientResume<'_>,
        options: &[&str],
        steps: impl IntoIterator<Item = ScriptStep>,
    ) -> String {
        self.server.script(steps);
        // The vendors' own prompts are long, and none of our business.
        let instructions = self.workplace.root().join("instructions.md");
        fs::write(&instructions, "Be brief.").expect("the workplace can be written");
        let instructions = format!("model_instructions_file={:?}", instructions.display().to_string());
        let brief: &[&str] = match self.client {
            Client::ClaudeCode => &["--system-prompt", "Be brief.", "--tools", "Agent,Bash,Read"],
            Client::Codex => &["-c", &instructions, "-c", "skills.bundled.enabled=false"],
            Client::Gemini => &[],
            Client::Pi => &["--system-prompt", "Be brief."],
        };
        let run = self.client.run_with(&self.workplace, &self.server, prompt, resume, &[brief, options].concat());
        run.session().to_owned()
    }

    /// Returns the lines of the session's own transcript.
    pub(crate) fn transcript(&self, session: &str) -> Vec<Value> {
        let transcripts = self.client.transcripts(&self.workplace, session);
        // Codex begins another file when it goes back.
        let text = fs::read_to_string(&transcripts[0]).expect("the client wrote it");
        text.lines().map(|line| serde_json::from_str(line).expect("a transcript is JSON")).collect()
    }

    fn keep(&self, name: &str) {
        let (configuration, kinds): (_, &[_]) = match self.client {
            Client::ClaudeCode => (".claude", &["projects"]),
            Client::Codex => (".codex", &["sessions"]),
            Client::Gemini => (".gemini", &["tmp", "projects.json"]),
            Client::Pi => (".pi/agent", &["sessions"]),
        };
        let configuration = self.workplace.home().join(configuration);
        let kept = Path::new(FIXTURES).join(self.runtime()).join(name);
        if kept.exists() {
            fs::remove_dir_all(&kept).expect("the fixtures can be written");
        }
        let tidy = tidy::Tidy::of(self.workplace.root());
        for file in kinds.iter().flat_map(|kind| files(&configuration.join(kind))) {
            let path = file.strip_prefix(&configuration).expect("it is in there");
            let path = kept.join(tidy.name(path));
            let text = tidy.text(&fs::read_to_string(&file).expect("a transcript is UTF-8"));
            let directory = path.parent().expect("it is in the fixtures");
            fs::create_dir_all(directory).and_then(|()| fs::write(&path, text)).expect("the fixtures can be written");
        }
    }

    fn runtime(&self) -> &'static str {
        match self.client {
            Client::ClaudeCode => "claude-code",
            Client::Codex => "codex",
            Client::Gemini => "gemini",
            Client::Pi => "pi",
        }
    }
}

/// Thoughts, calls in parallel, a call that fails, a resumed session, and letters beyond ASCII.
pub(crate) fn session(scene: &Scene) {
    let failing = scene.client.shell("cat missing.txt");
    let session = scene.say(
        "What colour is the door?",
        ClientResume::No,
        [
            look(scene),
            ScriptStep::new().text("I look for more.").call(failing.0, failing.1),
            ScriptStep::new()
                .thinking("There is nothing else.")
                .text("The notes say *green*.\n\nThere are no other notes."),
        ],
    );
    let answer = ScriptStep::new().text("„Grün“ heißt 緑 (midori). 🚪");
    scene.say("Und was heißt „grün“ auf Japanisch?", ClientResume::Id(&session), [answer]);
}

/// A conversation that is summed up, by hand where there is a way, and by the client in the middle of a turn.
pub(crate) fn compacted(scene: &Scene) {
    let session = ask_about_the_door(scene);
    let session = ClientResume::Id(&session);
    if scene.client == Client::ClaudeCode {
        scene.say("/compact", session, []);
        scene.say("Are you sure?", session, [ScriptStep::new().text("Quite sure.")]);
    }
    scene.say("Look again.", session, [look(scene).context_tokens(990_000), ScriptStep::new().text("Still green.")]);
    scene.say("Good bye.", session, [ScriptStep::new().text("Good bye, Ada.")]);
}

/// A conversation that is summed up by a vendor, in a way that only the vendor can read.
pub(crate) fn compacted_sealed(scene: &Scene) {
    let sealed = ["-c", "model_providers.scripted.name=\"OpenAI\""];
    let steps = [look(scene).context_tokens(990_000), ScriptStep::new().text("The door is green.")];
    let session = scene.say_with("What colour is the door?", ClientResume::No, &sealed, steps);
    scene.say_with("Good bye.", ClientResume::Id(&session), &sealed, [ScriptStep::new().text("Good bye, Ada.")]);
}

/// A conversation that goes back and takes another way, and another session that goes on from a copy of it.
pub(crate) fn branches(scene: &Scene) {
    let session = ask_about_the_door(scene);
    scene.say("What did I ask?", ClientResume::Id(&session), [ScriptStep::new().text("About the door.")]);
    rewind::to_first_answer(scene, &session, "Are you sure?", ScriptStep::new().text("Quite sure."));
    scene.say("Is this a copy?", ClientResume::Fork(&session), [ScriptStep::new().text("It is.")]);
}

/// A conversation in which another agent does the work.
pub(crate) fn subagent(scene: &Scene) {
    let (shell, cat) = scene.client.shell("cat notes.txt");
    let work = ScriptStep::new().thinking("The notes are in a file.").text("I read.").call(shell, cat);
    let report = match scene.client {
        Client::Gemini => ScriptStep::new().call("complete_task", json!({"result": {"response": "They name green."}})),
        Client::ClaudeCode | Client::Codex | Client::Pi => ScriptStep::new().text("They name green."),
    };
    scene.server.script_for(ERRAND, [work, report]);

    let send = ScriptStep::new().text("I send an agent.");
    let answer = ScriptStep::new().text("The door is green.");
    let steps = match scene.client {
        Client::ClaudeCode => vec![send.call("Agent", errand(ERRAND, Errand::Waiting)), answer],
        Client::Codex => {
            // Its agents work beside it, and tell when they are done.
            let (shell, sleep) = scene.client.shell("sleep 2");
            let send = send.call("multi_agent_v1/spawn_agent", json!({"message": ERRAND}));
            vec![send, ScriptStep::new().text("I wait.").call(shell, sleep), answer]
        }
        Client::Gemini => {
            let errand = json!({"agent_name": "generalist", "prompt": ERRAND});
            vec![send.call("invoke_agent", errand), answer]
        }
        Client::Pi => panic!("pi has no sub-agents of its own"),
    };
    let session = scene.say("What colour is the door?", ClientResume::No, steps);
    if scene.client == Client::ClaudeCode {
        subagent_beside(scene, &session);
    }
}

/// Goes on with a sub-agent that works beside the conversation, and makes it go on when it is done.
fn subagent_beside(scene: &Scene, session: &str) {
    const COUNT: &str = "Count the lines of the notes.";
    let (shell, count) = scene.client.shell("wc -l notes.txt");
    scene.server.script_for(COUNT, [ScriptStep::new().call(shell, count), ScriptStep::new().text("There is one.")]);
    let send = ScriptStep::new().text("I send another.").call("Agent", errand(COUNT, Errand::Beside));
    let steps = [send, ScriptStep::new().text("It is on its way."), ScriptStep::new().text("The notes have one line.")];
    scene.say("How long are the notes?", ClientResume::Id(session), steps);
}

/// Whether Claude Code waits for a sub-agent.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Errand {
    Waiting,
    Beside,
}

fn errand(prompt: &str, errand: Errand) -> Value {
    let beside = errand == Errand::Beside;
    let agent = "general-purpose";
    json!({"description": "Look at notes", "prompt": prompt, "subagent_type": agent, "run_in_background": beside})
}

fn ask_about_the_door(scene: &Scene) -> String {
    scene.say("What colour is the door?", ClientResume::No, [look(scene), ScriptStep::new().text(rewind::FIRST_ANSWER)])
}

/// Reads the notes in two ways at once.
fn look(scene: &Scene) -> ScriptStep {
    let (shell, cat) = scene.client.shell("cat notes.txt");
    let notes = scene.workplace.project().join("notes.txt");
    let (tool, input) = match scene.client {
        Client::ClaudeCode => ("Read", json!({"file_path": notes})),
        Client::Codex => scene.client.shell("wc -l notes.txt"),
        Client::Gemini => ("read_file", json!({"file_path": "notes.txt"})),
        Client::Pi => ("read", json!({"path": "notes.txt"})),
    };
    ScriptStep::new().thinking("The notes may say.").text("I look.").call(shell, cat).call(tool, input)
}

/// Returns a file, or all files in a directory.
fn files(path: &Path) -> Vec<PathBuf> {
    if path.is_file() {
        return vec![path.to_owned()];
    }
    let entries = fs::read_dir(path).expect("the client made it");
    entries.flat_map(|entry| files(&entry.expect("it can be listed").path())).collect()
}
