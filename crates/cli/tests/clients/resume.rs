//! Conversations that go on in another agent, proven with the real ones: what each tells its model first.

use std::{
    fmt, fs,
    io::{self, Write as _},
    path::PathBuf,
};

use contexture_testkit::{
    clients::{Client, ClientRelease, ClientResume},
    model_server::{MessageRole, ModelRequest, ScriptStep, Utterance},
};
use serde_json::Value;

use crate::stage::{QUESTION, SUMMARY, Stage, name};

const SECOND: &str = "And the “window”?";

#[test]
fn every_agent_goes_on_with_a_session_of_claude_code() {
    every_agent_goes_on_with(Client::ClaudeCode, ClientRelease::chosen());
}

#[test]
fn every_newest_agent_goes_on_with_a_session_of_claude_code() {
    every_agent_goes_on_with(Client::ClaudeCode, ClientRelease::Newest);
}

#[test]
fn every_agent_goes_on_with_a_session_of_codex() {
    every_agent_goes_on_with(Client::Codex, ClientRelease::chosen());
}

#[test]
fn every_newest_agent_goes_on_with_a_session_of_codex() {
    every_agent_goes_on_with(Client::Codex, ClientRelease::Newest);
}

#[test]
fn every_agent_goes_on_with_a_session_of_gemini() {
    every_agent_goes_on_with(Client::Gemini, ClientRelease::chosen());
}

#[test]
fn every_newest_agent_goes_on_with_a_session_of_gemini() {
    every_agent_goes_on_with(Client::Gemini, ClientRelease::Newest);
}

#[test]
fn every_agent_goes_on_with_a_session_of_pi() {
    every_agent_goes_on_with(Client::Pi, ClientRelease::chosen());
}

#[test]
fn every_newest_agent_goes_on_with_a_session_of_pi() {
    every_agent_goes_on_with(Client::Pi, ClientRelease::Newest);
}

#[test]
fn claude_code_comes_back_to_its_own_records() {
    comes_back(Client::ClaudeCode, Client::Codex);
}

#[test]
fn codex_comes_back_to_its_own_records() {
    comes_back(Client::Codex, Client::Pi);
}

#[test]
fn gemini_comes_back_to_its_own_records() {
    comes_back(Client::Gemini, Client::ClaudeCode);
}

#[test]
fn pi_comes_back_to_its_own_records() {
    comes_back(Client::Pi, Client::Codex);
}

#[test]
fn a_fork_does_not_see_what_its_sibling_says() {
    for client in Client::ALL {
        if !client.available_or_skip("a_fork_does_not_see_what_its_sibling_says") {
            continue;
        }
        let stage = Stage::new();
        let session = stage.have_session(client);
        stage.ctx(&["import"]);
        for (head, secret) in [("try/a", "The secret is anise."), ("try/b", "The secret is basil.")] {
            stage.ctx(&["fork", &format!("session/{session}"), "--head", head]);
            stage.go_on(client, head, secret);
            // Gemini CLI tidies up when it starts, also what it wrote itself when a minute has passed.
            stage.ctx(&["import"]);
        }
        let other = stage.last_request();
        assert!(!other.mentions(MessageRole::User, "anise"), "{client:?}: {:?}", other.conversation());
        let texts = ["try/a", "try/b"].map(|head| stage.ctx(&["materialize", head, "--format", "text"]));
        assert!(texts[0].contains("anise") && !texts[0].contains("basil"), "{client:?}: {}", texts[0]);
        assert!(texts[1].contains("basil") && !texts[1].contains("anise"), "{client:?}: {}", texts[1]);
        assert!(texts.iter().all(|text| text.contains(QUESTION)), "{client:?}");
    }
}

#[test]
fn a_compacted_session_comes_in_whole_and_goes_on() {
    for client in Client::ALL {
        if !client.available_or_skip("a_compacted_session_comes_in_whole_and_goes_on") {
            continue;
        }
        let stage = Stage::new();
        let session = stage.have_session(client);
        stage.server.summarize_as(SUMMARY);
        let (tool, input) = client.shell("cat notes.txt");
        let full = ScriptStep::new().text("Again.").call(tool, input).context_tokens(990_000);
        stage.server.script([full, ScriptStep::new().text("Still green."), ScriptStep::new().text("Good bye.")]);
        client.run(&stage.workplace, &stage.server, "Look again.", ClientResume::Id(&session));
        client.run(&stage.workplace, &stage.server, "Farewell.", ClientResume::Id(&session));
        stage.ctx(&["import"]);
        stage.ctx(&["import", "--verify"]);
        let head = format!("session/{session}");
        let commits: Vec<Value> =
            stage.ctx(&["--json", "log", &head]).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        // The first of them: Gemini CLI repeats its summary when a session is resumed.
        let compaction = commits.iter().rfind(|commit| commit["trigger"] == "compaction");
        let compaction = compaction.unwrap_or_else(|| panic!("{client:?}: no compaction among {commits:#?}"));
        // Before it lies the original; from it on, what the model was told.
        let before = stage.ctx(&["materialize", compaction["parent"].as_str().unwrap(), "--format", "text"]);
        assert!(before.contains("The notes say green."), "{client:?}: {before}");
        let after = stage.ctx(&["materialize", &head, "--format", "text"]);
        assert!(after.contains(SUMMARY) && after.contains("Good bye."), "{client:?}: {after}");
        for target in Client::ALL.into_iter().filter(|target| target.available()) {
            stage.go_on(target, &head, "What did I ask?");
            let request = stage.last_request();
            assert!(
                request.mentions(MessageRole::User, SUMMARY),
                "{client:?} → {target:?}: {:?}",
                request.conversation()
            );
            assert!(request.mentions(MessageRole::Assistant, "Good bye."), "{client:?} → {target:?}");
            assert!(!request.mentions(MessageRole::Assistant, "The notes say green."), "{client:?} → {target:?}");
        }
    }
}

#[test]
fn the_agent_is_started_and_what_it_adds_is_kept() {
    let client = Client::ClaudeCode;
    if !client.available_or_skip("the_agent_is_started_and_what_it_adds_is_kept") {
        return;
    }
    let stage = Stage::new();
    let session = stage.have_session(client);
    stage.ctx(&["import"]);
    stage.put_on_path(client);
    stage.server.script([ScriptStep::new().text("About the door.")]);
    let head = format!("session/{session}");
    let before = stage.commit(&head);
    let agent = ["--", "--print", "--dangerously-skip-permissions", "What did I ask?"];
    let said = stage.ctx(&[&["resume", &head], &agent[..]].concat());
    assert!(said.contains("About the door."), "{said}");
    assert!(stage.last_request().mentions(MessageRole::User, QUESTION));
    // Without an import: the head has moved on by one turn.
    assert_eq!(stage.commit(&format!("{head}~1")), before);
    assert!(stage.ctx(&["materialize", &head, "--format", "text"]).contains("About the door."));
}

fn every_agent_goes_on_with(origin: Client, release: ClientRelease) {
    if !origin.released_or_skip(release, "every_agent_goes_on_with") {
        return;
    }
    let stage = Stage::of(release);
    let session = stage.have_session(origin);
    let source = stage.transcript(origin, &session);
    let before = fs::read(&source).unwrap();
    stage.ctx(&["import"]);
    stage.ctx(&["import", "--verify"]);
    let tip = stage.commit(&format!("session/{session}"));
    for target in Client::ALL {
        if !target.released_or_skip(release, "every_agent_goes_on_with") {
            continue;
        }
        let resumed = stage.go_on(target, &tip, "What did I ask?");
        let kept = Kept::of(&stage.last_request());
        tell([origin, target], release, &kept);
        assert_eq!(kept, Kept::ALL, "{origin:?} → {target:?}: {:?}", stage.last_request().conversation());
        assert!(fs::read(&source).unwrap() == before, "{origin:?}: the session that was there has changed");
        if target == origin {
            assert_renamed(&before, &session, &resumed);
        }
        // What the agent added goes onto the chain that it went on with.
        stage.ctx(&["import"]);
        let head = format!("session/{}", resumed.session);
        assert_eq!(stage.commit(&format!("{head}~1")), tip, "{origin:?} → {target:?}");
        let text = stage.ctx(&["materialize", &head, "--format", "text"]);
        assert!(text.contains(QUESTION) && text.contains("About the door."), "{origin:?} → {target:?}: {text}");
        stage.ctx(&["import", "--verify"]);
        assert_eq!(stage.newly_imported(), 0, "{origin:?} → {target:?}");
    }
}

/// Lets a session go on in another agent and then in its own, which finds its own records and what was said elsewhere.
fn comes_back(origin: Client, other: Client) {
    if !origin.available_or_skip("comes_back") || !other.available_or_skip("comes_back") {
        return;
    }
    let stage = Stage::new();
    let session = stage.have_session(origin);
    let before = fs::read(stage.transcript(origin, &session)).unwrap();
    stage.ctx(&["import"]);
    let tip = stage.commit(&format!("session/{session}"));
    let (tool, input) = other.shell("echo hinge");
    let looks = ScriptStep::new().text("I look at the hinge.").call(tool, input);
    let away = stage.go_on_by(other, &tip, "Does it squeak?", [looks, ScriptStep::new().text("It squeaks.")]);
    stage.ctx(&["import"]);
    let head = format!("session/{}", away.session);
    let back = stage.go_on(origin, &head, "What did I ask?");
    let request = stage.last_request();
    let said = request.conversation();
    assert_eq!(Kept::of(&request), Kept::ALL, "{origin:?} → {other:?} → {origin:?}: {said:?}");
    let texts = [
        (MessageRole::User, "Does it squeak?"),
        (MessageRole::Assistant, "I look at the hinge."),
        (MessageRole::Assistant, "It squeaks."),
    ];
    for (role, text) in texts {
        assert!(request.mentions(role, text), "{origin:?} → {other:?} → {origin:?}: no {text:?} in {said:?}");
    }
    let called = |said: &str| said.contains("echo hinge");
    assert!(
        said.iter().any(|said| matches!(&said.what, Utterance::Call { .. }) && called(&format!("{:?}", said.what)))
    );
    assert!(said.iter().any(|said| matches!(&said.what, Utterance::Outcome(text) if text.contains("hinge"))));
    // What the agent wrote itself comes first and is as it was; nothing of it is written again.
    let segments = back.report["segments"].as_array().unwrap();
    let tiers: Vec<_> = segments.iter().map(|segment| segment["tier"].as_str().unwrap()).collect();
    assert_eq!(tiers, ["native", "mapped"], "{segments:?}");
    let length = String::from_utf8(before.clone()).unwrap().lines().count();
    let own: String = back.written.split_inclusive('\n').take(length).collect();
    assert!(own.contains("There is no window.") && !back.written[own.len()..].contains("There is no window."));
    let own = Resumed { written: own, ..back };
    assert_renamed(&before, &session, &own);
    // The turn goes onto the chain, and nothing comes in twice.
    let known = stage.commit(&head);
    stage.ctx(&["import"]);
    assert_eq!(stage.commit(&format!("session/{}~1", own.session)), known, "{origin:?} → {other:?} → {origin:?}");
    stage.ctx(&["import", "--verify"]);
    assert_eq!(stage.newly_imported(), 0, "{origin:?} → {other:?} → {origin:?}");
}

/// Asserts that a session is another one with a new id and nothing else changed.
fn assert_renamed(source: &[u8], session: &str, resumed: &Resumed) {
    let source = String::from_utf8(source.to_owned()).unwrap();
    let mut source = source.lines().map(|line| [line.to_owned(), line.replace(session, &resumed.session)]);
    for line in resumed.written.lines() {
        assert!(source.any(|theirs| theirs.iter().any(|form| form == line)), "not a line of the session: {line}");
    }
    assert!(resumed.written.contains(QUESTION));
}

/// What of a conversation a model was told of.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Kept {
    texts: usize,
    calls: usize,
    results: usize,
}

impl Kept {
    pub(crate) const ALL: Self = Self { texts: 5, calls: 3, results: 3 };

    pub(crate) fn of(request: &ModelRequest) -> Self {
        let said = request.conversation();
        let texts = [
            (MessageRole::User, QUESTION),
            (MessageRole::Assistant, "I look."),
            (MessageRole::Assistant, "The notes say green."),
            (MessageRole::User, SECOND),
            (MessageRole::Assistant, "There is no window."),
        ];
        let mut calls = Vec::new();
        let mut results = Vec::new();
        for said in &said {
            match &said.what {
                Utterance::Call { .. } => calls.push(format!("{:?}", said.what)),
                Utterance::Outcome(text) => results.push(text.clone()),
                Utterance::Text(_) | Utterance::Thinking(_) => {}
            }
        }
        // Gemini CLI says the results of a resumed session twice.
        for list in [&mut calls, &mut results] {
            list.sort();
            list.dedup();
        }
        let commands = ["cat notes.txt", "cat window.txt", "echo frame"];
        let outcomes = ["The door is green.", "window.txt", "frame"];
        let has = |list: &[String], word: &str| list.iter().any(|text| text.contains(word));
        Self {
            texts: texts.iter().filter(|(role, text)| request.mentions(*role, text)).count(),
            calls: commands.iter().filter(|command| has(&calls, command)).count(),
            results: outcomes.iter().filter(|outcome| has(&results, outcome)).count(),
        }
    }
}

impl fmt::Display for Kept {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self { texts, calls, results }, all) = (self, Self::ALL);
        write!(formatter, "texts {texts} of {}, ", all.texts)?;
        write!(formatter, "tool calls {calls} of {}, results {results} of {}", all.calls, all.results)
    }
}

/// Tells whoever runs the tests what was kept.
fn tell(pair: [Client; 2], release: ClientRelease, kept: &Kept) {
    let [origin, target] = pair.map(|client| format!("{} {}", name(client), client.version(release)));
    let told = writeln!(io::stderr(), "RESUMED {origin:>19} → {target:<19} {kept}");
    told.expect("standard error can be written");
}

/// A session that `ctx resume` has written, as it was then.
struct Resumed {
    session: String,
    written: String,
    report: Value,
}

impl Stage {
    /// Has a session of two turns, with tool calls of which one fails.
    pub(crate) fn have_session(&self, client: Client) -> String {
        let call = |command| client.shell(command);
        let look = call("cat notes.txt");
        self.server.script([
            ScriptStep::new().thinking("The notes may say.").text("I look.").call(look.0, look.1),
            ScriptStep::new().text("The notes say green."),
        ]);
        let first = client.run(&self.workplace, &self.server, QUESTION, ClientResume::No);
        let session = first.session().to_owned();
        let (fail, echo) = (call("cat window.txt"), call("echo frame"));
        self.server.script([
            ScriptStep::new().call(fail.0, fail.1).call(echo.0, echo.1),
            ScriptStep::new().text("There is no window."),
        ]);
        client.run(&self.workplace, &self.server, SECOND, ClientResume::Id(&session));
        assert_eq!(self.server.remaining_steps(), 0);
        session
    }

    /// Goes on with a commit in a client, which is asked something.
    fn go_on(&self, client: Client, commit: &str, prompt: &str) -> Resumed {
        self.go_on_by(client, commit, prompt, [ScriptStep::new().text("About the door.")])
    }

    /// Goes on with a commit in a client, which is asked something that the model takes these steps to answer.
    fn go_on_by<const N: usize>(&self, client: Client, commit: &str, prompt: &str, steps: [ScriptStep; N]) -> Resumed {
        // Its settings are there before: a session names who serves its models as they do.
        client.command(&self.workplace, &self.server);
        let written = self.ctx(&["--json", "resume", commit, "--in", name(client), "--print"]);
        let written: Value = serde_json::from_str(&written).unwrap();
        let session = written["session"].as_str().unwrap().to_owned();
        let path = PathBuf::from(written["path"].as_str().unwrap());
        let written_text = fs::read_to_string(path).unwrap();
        let resumed = Resumed { session: session.clone(), written: written_text, report: written["report"].clone() };
        self.server.script(steps);
        let run = client.run(&self.workplace, &self.server, prompt, ClientResume::Id(&session));
        assert_eq!(run.session(), session, "{client:?} went on with another session");
        assert_eq!(self.server.remaining_steps(), 0);
        resumed
    }

    fn transcript(&self, client: Client, session: &str) -> PathBuf {
        client.transcripts(&self.workplace, session).remove(0)
    }

    pub(crate) fn last_request(&self) -> ModelRequest {
        self.server.turns().pop().expect("the client had a turn")
    }
}
