//! Several sessions in one process of an agent: what is done in each is tied to that one.

use std::{
    fs,
    io::{BufRead as _, BufReader, Write as _},
    process::{Child, ChildStdin, ChildStdout, Stdio},
};

use contexture_testkit::{
    clients::{Client, Workplace},
    model_server::ScriptStep,
};
use serde_json::{Value, json};

use crate::stage::{CTX, Stage};

/// A server of Codex, which holds several conversations.
struct AppServer {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    asked: u64,
}

impl AppServer {
    fn start(stage: &Stage) -> Self {
        let mut command = Client::Codex.command(&stage.workplace, &stage.server);
        command.args(["app-server", "-c", "bypass_hook_trust=true"]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let (input, output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        let mut server = Self { child, input, output, asked: 0 };
        server.ask("initialize", &json!({"clientInfo": {"name": "test", "version": "1"}}));
        server.send(&json!({"jsonrpc": "2.0", "method": "initialized"}));
        server
    }

    /// Begins a conversation and returns its id.
    fn thread(&mut self, workplace: &Workplace) -> String {
        let started = self.ask(
            "thread/start",
            &json!({
                "cwd": workplace.project(), "approvalPolicy": "never", "sandbox": "danger-full-access",
                "config": {"bypass_hook_trust": true},
            }),
        );
        started["thread"]["id"].as_str().unwrap_or_else(|| panic!("{started}")).to_owned()
    }

    fn say(&mut self, thread: &str, text: &str) {
        self.ask("turn/start", &json!({"threadId": thread, "input": [{"type": "text", "text": text}]}));
    }

    /// Reads on until some turns are over.
    fn wait_for_turns(&mut self, mut turns: usize) {
        while turns > 0 {
            let message = self.read();
            turns -= usize::from(message["method"] == "turn/completed");
        }
    }

    fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.asked += 1;
        let id = self.asked;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        loop {
            let message = self.read();
            if message["id"] == id && message.get("method").is_none() {
                assert!(message.get("error").is_none(), "{message}");
                return message["result"].clone();
            }
        }
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.input, "{message}").unwrap();
    }

    fn read(&mut self) -> Value {
        let mut line = String::new();
        assert!(self.output.read_line(&mut line).unwrap() > 0, "the server has ended");
        serde_json::from_str(&line).unwrap()
    }
}

impl Drop for AppServer {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ended = self.child.kill();
        let _reaped = self.child.wait();
    }
}

#[test]
fn two_sessions_in_one_process_make_commits_that_name_their_own() {
    let Some(stage) = Stage::for_client(Client::Codex, "two_sessions_in_one_process") else { return };
    // Each makes its commit while the call of the other one is under way.
    for (name, other) in [("anise", "basil"), ("basil", "anise")] {
        let wait = |file: &str| format!("while [ ! -e ../{file} ]; do sleep 0.05; done");
        let turn = if name == "anise" { String::new() } else { format!("{}; ", wait("anise-done")) };
        let command = format!(
            "touch ../{name}-begun; {}; {turn}{CTX} current > ../{name}-context 2>&1; echo {name} > {name}.txt; \
             git add {name}.txt; git commit --quiet --message 'Note {name}'; touch ../{name}-done; {}",
            wait(&format!("{other}-begun")),
            wait(&format!("{other}-done")),
        );
        let (tool, input) = Client::Codex.shell(&command);
        stage.server.script_for(name, [ScriptStep::new().call(tool, input), ScriptStep::new().text("Noted.")]);
    }
    let mut server = AppServer::start(&stage);
    let threads = ["anise", "basil"].map(|name| (server.thread(&stage.workplace), name));
    for (thread, name) in &threads {
        server.say(thread, &format!("The word is {name}."));
    }
    server.wait_for_turns(2);
    for (thread, name) in &threads {
        let subject = format!("--grep=Note {name}");
        let trailer = stage.git(&["log", "-1", &subject, "--format=%(trailers:key=Context-Id,valueonly)"]);
        let context = trailer.trim();
        assert!(context.starts_with("ctx-"), "{name}: {}", stage.git(&["log"]));
        assert_eq!(stage.show(context)["session"], thread.as_str(), "{name}");
        let current = fs::read_to_string(stage.workplace.home().join(format!("{name}-context"))).unwrap();
        assert!(current.starts_with("ctx-"), "{name}: {current}");
        assert_eq!(stage.show(current.trim())["session"], thread.as_str(), "{name}");
        let text = stage.ctx(&["materialize", context, "--format", "text"]);
        assert!(text.contains(&format!("The word is {name}.")), "{text}");
    }
}
