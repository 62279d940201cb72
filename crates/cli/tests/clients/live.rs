//! Sessions that are taken in while they go on, proven with the real agents: their hooks, their tools, their ends.

use std::{
    fs,
    io::Write as _,
    path::Path,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use contexture_testkit::{
    clients::{Client, ClientResume, Run},
    model_server::ScriptStep,
};
use serde_json::{Value, json};

use crate::stage::{CTX, QUESTION, SUMMARY, Stage, name, said};

#[test]
fn hooks_of_claude_code_take_in_each_turn() {
    hooks_take_in_each_turn(Client::ClaudeCode);
}

#[test]
fn hooks_of_codex_take_in_each_turn() {
    hooks_take_in_each_turn(Client::Codex);
}

#[test]
fn hooks_of_gemini_take_in_each_turn() {
    hooks_take_in_each_turn(Client::Gemini);
}

#[test]
fn hooks_of_pi_take_in_each_turn() {
    hooks_take_in_each_turn(Client::Pi);
}

#[test]
fn a_commit_that_claude_code_makes_names_its_context() {
    a_commit_names_its_context(Client::ClaudeCode);
}

#[test]
fn a_commit_that_codex_makes_names_its_context() {
    a_commit_names_its_context(Client::Codex);
}

#[test]
fn a_commit_that_gemini_makes_is_led_back_to_its_context() {
    let client = Client::Gemini;
    let Some(stage) = Stage::for_client(client, "a_commit_that_gemini_makes") else { return };
    // It turns git's hooks off for its tools, so the commit names nothing; what was written tells.
    let window = json!({"file_path": stage.workplace.project().join("window.txt"), "content": "The window is blue.\n"});
    let (tool, input) = client.shell("git add . && git commit --quiet --message 'Note the window'");
    stage.server.script([
        ScriptStep::new().text("I note it.").call("write_file", window),
        ScriptStep::new().call(tool, input),
        ScriptStep::new().text("It is noted."),
    ]);
    let session = stage.prompt(client, "Note that the window is blue.", ClientResume::No).session().to_owned();
    stage.assert_complete(client, &session);
    let story = stage.ctx(&["why-commit", "HEAD"]);
    assert!(story.contains("Note that the window is blue."), "{story}");
    let story = stage.ctx(&["blame", "window.txt:1"]);
    assert!(story.contains("Note that the window is blue.") && story.contains("ctx resume"), "{story}");
}

#[test]
fn a_commit_that_pi_makes_names_its_context() {
    a_commit_names_its_context(Client::Pi);
}

#[test]
fn a_compaction_in_the_middle_is_taken_in_after_what_it_sums_up() {
    for client in Client::ALL {
        let Some(stage) = Stage::for_client(client, "a_compaction_in_the_middle") else { continue };
        let session = stage.look_once(client);
        stage.server.summarize_as(SUMMARY);
        let (tool, input) = client.shell("cat notes.txt");
        let full = ScriptStep::new().text("Again.").call(tool, input).context_tokens(990_000);
        stage.server.script([full, ScriptStep::new().text("Still green.")]);
        stage.prompt(client, "Look again.", ClientResume::Id(&session));
        stage.assert_complete(client, &session);
        let commits = stage.log(&format!("session/{session}"));
        let compactions: Vec<&Value> = commits.iter().filter(|commit| commit["type"] == "compaction").collect();
        assert!(!compactions.is_empty(), "{client:?}: {commits:#?}");
        let parent = compactions[compactions.len() - 1]["parent"].as_str().unwrap();
        let before = stage.ctx(&["materialize", parent, "--format", "text"]);
        assert!(before.contains("The notes say green."), "{client:?}: {before}");
    }
}

#[test]
fn an_agent_that_another_starts_is_taken_in_and_tied_to_it() {
    let client = Client::ClaudeCode;
    let Some(stage) = Stage::for_client(client, "an_agent_that_another_starts") else { return };
    let (tool, input) = client.shell("ctx current > ../agent-context.txt; cat notes.txt");
    stage.server.script_for(
        "Read the notes",
        [ScriptStep::new().call(tool, input), ScriptStep::new().text("The notes say that it is green.")],
    );
    let task = json!({"description": "Read", "prompt": "Read the notes.", "subagent_type": "general-purpose"});
    stage.server.script([ScriptStep::new().text("I ask.").call("Agent", task), ScriptStep::new().text("It is green.")]);
    let session = stage.prompt(client, QUESTION, ClientResume::No).session().to_owned();
    stage.assert_complete(client, &session);
    let heads = stage.ctx(&["head", "list"]);
    let agent = heads.split_whitespace().find(|word| word.contains("/agent-")).expect("the agent has a head");
    let first = stage.log(agent).pop().unwrap();
    let spawner = first["labels"]["spawned-by"].as_str().unwrap_or_else(|| panic!("{first:#}"));
    assert_eq!(stage.show(spawner)["session"], session.as_str());
    // What the agent knew at its call, not what the one knows that waits for it.
    let current = fs::read_to_string(stage.workplace.home().join("agent-context.txt")).unwrap();
    assert!(
        stage.log(agent).iter().any(|commit| commit["id"] == current.trim()),
        "{current}\n{}",
        stage.ctx(&["log", "--graph", "--all"])
    );
}

#[test]
fn two_sessions_at_once_in_one_project_keep_apart() {
    let client = Client::ClaudeCode;
    let Some(stage) = Stage::for_client(client, "two_sessions_at_once") else { return };
    for name in ["anise", "basil"] {
        let (tool, input) = client.shell(&format!("ctx current > ../{name}.txt"));
        stage.server.script_for(name, [ScriptStep::new().call(tool, input), ScriptStep::new().text("Noted.")]);
    }
    let sessions: Vec<String> = thread::scope(|scope| {
        let ask = |name: &'static str| {
            let stage = &stage;
            scope.spawn(move || {
                stage.prompt(client, &format!("The word is {name}."), ClientResume::No).session().to_owned()
            })
        };
        ["anise", "basil"].map(ask).into_iter().map(|asked| asked.join().unwrap()).collect()
    });
    for (session, name) in sessions.iter().zip(["anise", "basil"]) {
        stage.assert_complete(client, session);
        let current = fs::read_to_string(stage.workplace.home().join(format!("{name}.txt"))).unwrap();
        assert_eq!(stage.show(current.trim())["session"], session.as_str());
        let text = stage.ctx(&["materialize", current.trim(), "--format", "text"]);
        assert!(text.contains(name) && text.contains("ctx current"), "{text}");
    }
}

#[test]
fn an_agent_that_is_killed_leaves_its_session_whole_and_the_next_start_ends_it() {
    for client in [Client::ClaudeCode, Client::Codex, Client::Pi] {
        let Some(stage) = Stage::for_client(client, "an_agent_that_is_killed") else { continue };
        let (tool, input) = client.shell("touch ../started; sleep 60");
        stage.server.script([ScriptStep::new().text("I wait.").call(tool, input)]);
        let mut agent = stage.start(client, "Wait for it.");
        wait_until(|| stage.workplace.home().join("started").exists());
        kill_group(&mut agent);
        stage.server.script([ScriptStep::new().text("Hello again.")]);
        stage.prompt(client, "Hello.", ClientResume::No);
        let sessions = stage.ctx(&["--json", "head", "list"]);
        let heads = sessions.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let heads = heads.filter(|head| head["name"].as_str().unwrap().starts_with("session/"));
        let tips: Vec<Value> = heads.map(|head| stage.show(head["commit"].as_str().unwrap())).collect();
        let crashed = tips.iter().find(|tip| tip["labels"]["session-end"] == "crash");
        let crashed = crashed.unwrap_or_else(|| panic!("{client:?}: {tips:#?}"));
        let text = stage.ctx(&["materialize", crashed["id"].as_str().unwrap(), "--format", "text"]);
        assert!(text.contains("Wait for it.") && text.contains("sleep 60"), "{client:?}: {text}");
        stage.assert_complete(client, crashed["session"].as_str().unwrap());
    }
}

#[test]
fn a_run_that_prints_its_answer_and_ends_is_no_crash() {
    for client in Client::ALL {
        let Some(stage) = Stage::for_client(client, "a_run_that_prints_its_answer") else { continue };
        stage.server.script([ScriptStep::new().text("It is green.")]);
        stage.put_on_path(client);
        let program = stage.workplace.home().join("bin").join(match client {
            Client::ClaudeCode => "claude",
            Client::Codex => "codex",
            Client::Gemini => "gemini",
            Client::Pi => "pi",
        });
        let words: &[&str] = match client {
            Client::ClaudeCode => &["-p", QUESTION],
            Client::Codex => &["exec", "--dangerously-bypass-hook-trust", QUESTION],
            Client::Gemini => &["--model=gemini-2.5-pro", "-p", QUESTION],
            Client::Pi => &["-p", "--provider", "scripted", "--model", "scripted", QUESTION],
        };
        let ended = said(stage.workplace.program(&program).args(words).stdin(Stdio::null()));
        assert!(ended.contains("It is green."), "{client:?}: {ended}");
        stage.drain();
        let sessions = stage.ctx(&["--json", "head", "list", "session/"]);
        let session: Value = serde_json::from_str(sessions.lines().next().unwrap()).unwrap();
        let ending = stage.show(session["commit"].as_str().unwrap())["labels"]["session-end"].clone();
        assert!(ending.is_string() && ending != "crash", "{client:?}: {ending}");
    }
}

#[test]
fn agents_that_are_killed_at_any_moment_leave_each_line_once() {
    for client in [Client::ClaudeCode, Client::Codex, Client::Gemini, Client::Pi] {
        let Some(stage) = Stage::for_client(client, "agents_that_are_killed_at_any_moment") else { continue };
        // From before the first hook to after the last, wherever that is on this machine.
        for (round, killed_after) in [400, 700, 1000, 1400, 1900].map(Duration::from_millis).into_iter().enumerate() {
            let task = format!("Task {round}");
            let (tool, input) = client.shell("cat notes.txt");
            let look = || ScriptStep::new().text("I look once more.").call(tool, input.clone());
            stage.server.script_for(&task, [look(), look(), look(), look(), ScriptStep::new().text("It is green.")]);
            let mut agent = stage.start(client, &format!("{task}: look four times."));
            thread::sleep(killed_after);
            kill_group(&mut agent);
        }
        stage.server.script([ScriptStep::new().text("Hello again.")]);
        stage.prompt(client, "Hello.", ClientResume::No);
        stage.drain();
        let health = stage.doctor();
        for session in health["sessions"]["incomplete"].as_array().unwrap() {
            // An agent that wrote its first record and was killed before its first hook began has told nobody. That is all
            // that may be left, and the command that the doctor names takes it in.
            assert_eq!(session["state"], "never", "{client:?}: {health}");
            assert_eq!(health["problems"][0]["command"], "ctx doctor --fix", "{client:?}");
            stage.ctx(&["doctor", "--fix"]);
        }
        let health: Value = serde_json::from_str(&stage.ctx(&["--json", "doctor"])).unwrap();
        assert_eq!(health["sessions"]["incomplete"], json!([]), "{client:?}");
        let commits = stage.ctx(&["--json", "list", "-n", "10000"]);
        let count = |line: &str| serde_json::from_str::<Value>(line).unwrap()["message_count"].as_u64().unwrap();
        let stored: u64 = commits.lines().map(count).sum();
        let written = stage.session_lines();
        // Some records belong to no conversation, so there may be fewer; what was taken in twice would make it more.
        assert!((1..=written).contains(&stored), "{client:?}: {stored} messages of {written} lines");
    }
}

#[test]
fn a_store_that_is_away_disturbs_no_turn_and_loses_nothing() {
    let client = Client::ClaudeCode;
    let Some(stage) = Stage::for_client(client, "a_store_that_is_away") else { return };
    // A file where the store's directory belongs: nobody can write there, whoever it is.
    let store = stage.workplace.home().join(".local/share/contexture");
    fs::create_dir_all(store.parent().unwrap()).unwrap();
    fs::write(&store, "in the way").unwrap();
    let session = stage.look_once(client);
    let transcript = client.transcripts(&stage.workplace, &session).remove(0);
    let text = fs::read_to_string(&transcript).unwrap();
    assert!(!text.contains("hook_non_blocking_error") && !text.contains("hook_blocking_error"), "{text}");
    fs::remove_file(&store).unwrap();
    // Not even the session is there any more.
    let kept = fs::read(&transcript).unwrap();
    fs::remove_file(&transcript).unwrap();
    stage.server.script([ScriptStep::new().text("Hello again.")]);
    stage.prompt(client, "Hello.", ClientResume::No);
    let stored = stage.ctx(&["materialize", &format!("session/{session}"), "--stop", "root"]);
    assert_eq!(stored, String::from_utf8(kept.clone()).unwrap());
    fs::write(&transcript, kept).unwrap();
    stage.assert_complete(client, &session);
}

fn hooks_take_in_each_turn(client: Client) {
    let Some(stage) = Stage::for_client(client, "hooks_take_in_each_turn") else { return };
    let session = stage.look_once(client);
    stage.assert_complete(client, &session);
    let head = format!("session/{session}");
    let commits = stage.log(&head);
    let triggers: Vec<&str> = commits.iter().map(|commit| commit["trigger"].as_str().unwrap()).collect();
    assert!(triggers.contains(&"turn_boundary"), "{client:?}: {triggers:?}");
    // Gemini CLI writes nothing down between a call and its answer.
    assert!(triggers.contains(&"tool_call") || client == Client::Gemini, "{client:?}: {triggers:?}");
    let text = stage.ctx(&["materialize", &head, "--format", "text"]);
    assert!(text.contains(QUESTION) && text.contains("The notes say green."), "{client:?}: {text}");
    assert!(stage.show(&head)["labels"]["session-end"].is_string(), "{client:?}");
    // It is what Ada does now, and nothing is left to import.
    let principal = stage.ctx(&["--json", "head", "list"]);
    let is_principal = |line: &&str| line.contains("\"principal/") && line.contains(commits[0]["id"].as_str().unwrap());
    assert!(principal.lines().any(|line| is_principal(&line)), "{client:?}: {principal}");
    // A resumed session goes on with its chain.
    stage.server.script([ScriptStep::new().text("Nothing else.")]);
    stage.prompt(client, "What else?", ClientResume::Id(&session));
    stage.assert_complete(client, &session);
    let later = stage.log(&head);
    assert!(later.iter().any(|commit| commit["id"] == commits[0]["id"]), "{client:?}");
}

fn a_commit_names_its_context(client: Client) {
    let Some(stage) = Stage::for_client(client, "a_commit_names_its_context") else { return };
    let command = "echo The window is blue. >> notes.txt && git commit --quiet --all --message 'Note the window'";
    let (tool, input) = client.shell(command);
    stage.server.script([
        ScriptStep::new().thinking("Somebody must write it down.").text("I note it.").call(tool, input),
        ScriptStep::new().text("It is noted."),
    ]);
    let session = stage.prompt(client, "Note that the window is blue.", ClientResume::No).session().to_owned();
    let trailer = stage.git(&["log", "-1", "--format=%(trailers:key=Context-Id,valueonly)"]);
    let context = trailer.trim();
    assert!(context.starts_with("ctx-"), "{client:?}: {}", stage.git(&["log", "-1"]));
    let shown = stage.show(context);
    assert_eq!(shown["session"], session.as_str(), "{client:?}");
    let made = stage.git(&["rev-parse", "HEAD"]);
    assert_eq!(shown["labels"]["git-commit"], made.trim(), "{client:?}");
    // What was known at the call, and not after it.
    let text = stage.ctx(&["materialize", context, "--format", "text"]);
    assert!(text.contains("Note that the window is blue.") && !text.contains("It is noted."), "{client:?}: {text}");
    assert!(text.contains("git commit") || client == Client::Gemini, "{client:?}: {text}");
    stage.assert_complete(client, &session);
    // A commit that no agent has a hand in names none.
    stage.git(&["commit", "--quiet", "--allow-empty", "--message=By hand"]);
    assert_eq!(stage.git(&["log", "-1", "--format=%(trailers:key=Context-Id,valueonly)"]).trim(), "");
}

impl Stage {
    /// Makes one on which a client calls the hooks; nothing, if the client is not there.
    pub(crate) fn for_client(client: Client, test: &str) -> Option<Self> {
        if !client.available_or_skip(test) {
            return None;
        }
        let stage = Self::new();
        stage.hook_up(client);
        Some(stage)
    }

    /// Has a client call the hooks.
    pub(crate) fn hook_up(&self, client: Client) {
        self.workplace.put_on_path(Path::new(CTX));
        self.git(&["config", "user.name", "Ada"]);
        self.git(&["config", "user.email", "ada@example.org"]);
        // Its settings are there before the hooks are added to them.
        drop(client.command(&self.workplace, &self.server));
        self.ctx(&["init", "--yes", "--git", "--runtime", name(client)]);
    }

    /// Has a session of one turn, with a tool call.
    fn look_once(&self, client: Client) -> String {
        let (tool, input) = client.shell("cat notes.txt");
        self.server.script([
            ScriptStep::new().thinking("The notes may say.").text("I look.").call(tool, input),
            ScriptStep::new().text("The notes say green."),
        ]);
        let session = self.prompt(client, QUESTION, ClientResume::No).session().to_owned();
        assert_eq!(self.server.remaining_steps(), 0);
        session
    }

    fn prompt(&self, client: Client, prompt: &str, resume: ClientResume<'_>) -> Run {
        client.run_with(&self.workplace, &self.server, prompt, resume, options(client))
    }

    /// Starts a client in a process group of its own and does not wait for it.
    fn start(&self, client: Client, prompt: &str) -> Child {
        let mut command = client.ask(&self.workplace, &self.server, prompt, ClientResume::No, options(client));
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    }

    /// Asserts that the store holds every byte of a session's files, each line once, and that nothing is left to do.
    fn assert_complete(&self, client: Client, session: &str) {
        self.drain();
        let mut files = client.transcripts(&self.workplace, session);
        if client == Client::Gemini {
            // It may begin another file when a session is resumed, and then writes to the first all the same.
            files.truncate(1);
        }
        for path in files {
            let verified = self.ctx(&["--json", "import", "--verify", path.to_str().unwrap()]);
            let verified: Value = serde_json::from_str(verified.lines().next().unwrap()).unwrap();
            assert_eq!((&verified["result"], &verified["left"]), (&json!("same"), &json!(0)), "{client:?}: {verified}");
        }
        let troubles = fs::read_to_string(self.workplace.home().join(".local/state/contexture/capture.log"));
        let spooled = |text: &str| text.lines().all(|line| line.contains("\"is_spooled\":true"));
        assert!(troubles.as_ref().is_ok_and(|text| spooled(text)) || troubles.is_err(), "{client:?}: {troubles:?}");
    }

    /// Counts the lines of all sessions that agents have kept.
    fn session_lines(&self) -> u64 {
        let mut find = self.workplace.program(Path::new("find"));
        let files =
            said(find.arg(self.workplace.home()).args(["-path", "*/.*/*.jsonl", "-not", "-path", "*contexture*"]));
        let lines = |path: &str| fs::read_to_string(path).unwrap().lines().count() as u64;
        files.lines().map(lines).sum()
    }

    /// Returns what the doctor finds, healthy or not.
    fn doctor(&self) -> Value {
        let output = self.command(&["--json", "doctor"]).output().unwrap();
        let first = output.stdout.split(|byte| *byte == b'\n').next().unwrap();
        serde_json::from_slice(first).unwrap()
    }

    /// Does what the next session would: on a machine that is busy a hook may have left something in the spool.
    fn drain(&self) {
        let mut hook = self.workplace.program(Path::new(CTX));
        let mut hook = hook.args(["hook", "claude-code"]).stdin(Stdio::piped()).spawn().unwrap();
        let event = json!({"hook_event_name": "SessionStart", "session_id": "next", "transcript_path": "/nowhere"});
        hook.stdin.take().unwrap().write_all(event.to_string().as_bytes()).unwrap();
        assert!(hook.wait().unwrap().success());
    }

    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        said(self.workplace.program(Path::new("git")).args(arguments))
    }
}

/// What a client needs to call hooks without asking a person.
fn options(client: Client) -> &'static [&'static str] {
    match client {
        Client::Codex => &["--dangerously-bypass-hook-trust"],
        Client::ClaudeCode | Client::Gemini | Client::Pi => &[],
    }
}

fn wait_until(happens: impl Fn() -> bool) {
    let start = Instant::now();
    while !happens() {
        assert!(start.elapsed() < Duration::from_mins(1), "it does not happen");
        thread::sleep(Duration::from_millis(10));
    }
}

fn kill_group(leader: &mut Child) {
    let group = format!("-{}", leader.id());
    assert!(Command::new("kill").args(["-s", "KILL", "--", &group]).status().unwrap().success());
    leader.wait().unwrap();
}
