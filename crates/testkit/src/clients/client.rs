//! What can be done with every client.

use std::{
    fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::{Value, json};

use super::{
    claude_code, codex, gemini,
    installation::{self, ClientRelease},
    pi, process,
    process::Run,
    workplace::Workplace,
};
use crate::model_server::ModelServer;

/// An agent client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Client {
    /// Anthropic's Claude Code.
    ClaudeCode,
    /// OpenAI's Codex.
    Codex,
    /// Google's Gemini CLI.
    Gemini,
    /// The pi coding agent.
    Pi,
}

/// Which conversation a client goes on with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClientResume<'id> {
    /// None: a new one.
    No,
    /// The session with this id.
    Id(&'id str),
    /// A new session that starts as a copy of the one with this id. Gemini CLI cannot do that.
    Fork(&'id str),
}

impl Client {
    /// Every client.
    pub const ALL: [Self; 4] = [Self::ClaudeCode, Self::Codex, Self::Gemini, Self::Pi];

    /// Says whether the client is installed at the version that the tests are written for.
    pub fn available(self) -> bool {
        self.is_in(ClientRelease::chosen())
    }

    /// Says whether the client is installed; if not, tells whoever runs the tests that one was skipped.
    pub fn available_or_skip(self, test: &str) -> bool {
        self.released_or_skip(ClientRelease::chosen(), test)
    }

    /// Does what [`Client::available_or_skip`] does, for a release that the test names.
    pub fn released_or_skip(self, release: ClientRelease, test: &str) -> bool {
        let available = self.is_in(release);
        if !available {
            let which = match release {
                ClientRelease::Pinned => "",
                ClientRelease::Newest => "the newest ",
            };
            // Past what the test runner captures, because it shows that of failed tests only.
            let noted =
                writeln!(io::stderr(), "SKIPPED {test}: {which}{self:?} is not installed; run `cargo xtask clients`");
            noted.expect("standard error can be written");
        }
        available
    }

    fn is_in(self, release: ClientRelease) -> bool {
        release.modules().is_some_and(|modules| modules.join(self.script()).exists())
    }

    /// Returns the installed version.
    pub fn version(self, release: ClientRelease) -> String {
        let manifest = modules(release).join(self.package()).join("package.json");
        let manifest = fs::read_to_string(manifest).expect("an installed package has a manifest");
        let manifest: Value = serde_json::from_str(&manifest).expect("a manifest is JSON");
        manifest["version"].as_str().expect("a package has a version").to_owned()
    }

    /// Sends a prompt without a terminal and waits until the client has done all that the model makes it do.
    ///
    /// Nobody is asked for permission. The client is ended if it takes minutes.
    pub fn run(self, workplace: &Workplace, server: &ModelServer, prompt: &str, resume: ClientResume<'_>) -> Run {
        self.run_with(workplace, server, prompt, resume, &[])
    }

    /// Does what [`Client::run`] does, with options of the client's own.
    pub fn run_with(
        self,
        workplace: &Workplace,
        server: &ModelServer,
        prompt: &str,
        resume: ClientResume<'_>,
        options: &[&str],
    ) -> Run {
        let mut run = process::run(&mut self.ask(workplace, server, prompt, resume, options));
        run.session = match self {
            Self::ClaudeCode => claude_code::session(&run.stdout),
            Self::Codex => codex::session(&run.stdout),
            Self::Gemini => gemini::session(&run.stdout),
            Self::Pi => pi::session(&run.stdout),
        };
        if let Some(session) = &run.session {
            run.transcripts = self.transcripts(workplace, session);
        }
        run
    }

    /// Returns the command that sends a prompt without a terminal, and configures the home for it.
    pub fn ask(
        self,
        workplace: &Workplace,
        server: &ModelServer,
        prompt: &str,
        resume: ClientResume<'_>,
        options: &[&str],
    ) -> Command {
        let mut command = self.command(workplace, server);
        match self {
            Self::ClaudeCode => claude_code::ask(&mut command, prompt, resume, options),
            Self::Codex => codex::ask(&mut command, prompt, resume, options),
            Self::Gemini => gemini::ask(&mut command, prompt, resume, options),
            Self::Pi => pi::ask(&mut command, prompt, resume, options),
        }
        command
    }

    /// Returns a session's transcripts: its own first, then those of its sub-agents.
    pub fn transcripts(self, workplace: &Workplace, session: &str) -> Vec<PathBuf> {
        match self {
            Self::ClaudeCode => claude_code::transcripts(workplace, session),
            Self::Codex => codex::transcripts(workplace, session),
            Self::Gemini => gemini::transcripts(workplace, session),
            Self::Pi => pi::transcripts(workplace, session),
        }
    }

    /// Returns the client's command without arguments, and configures the home for it.
    pub fn command(self, workplace: &Workplace, server: &ModelServer) -> Command {
        let mut command = workplace.program(&installation::node());
        command.arg(modules(workplace.release()).join(self.script()));
        match self {
            Self::ClaudeCode => claude_code::configure(&mut command, workplace, server),
            Self::Codex => codex::configure(&mut command, workplace, server),
            Self::Gemini => gemini::configure(&mut command, workplace, server),
            Self::Pi => pi::configure(&mut command, workplace, server),
        }
        command
    }

    /// Returns the name and the input of a call of the client's own tool that runs a shell command.
    pub fn shell(self, command: &str) -> (&'static str, Value) {
        match self {
            Self::ClaudeCode => ("Bash", json!({"command": command, "description": "Run a command"})),
            Self::Codex => ("exec_command", json!({"cmd": command})),
            Self::Gemini => ("run_shell_command", json!({"command": command, "description": "Run a command"})),
            Self::Pi => ("bash", json!({"command": command})),
        }
    }

    fn package(self) -> &'static Path {
        Path::new(match self {
            Self::ClaudeCode => "@anthropic-ai/claude-code",
            Self::Codex => "@openai/codex",
            Self::Gemini => "@google/gemini-cli",
            Self::Pi => "@earendil-works/pi-coding-agent",
        })
    }

    /// Returns where the program is in `node_modules`.
    fn script(self) -> PathBuf {
        self.package().join(match self {
            // The program proper is put in its place by a script of the package, and those are not run.
            Self::ClaudeCode => "cli-wrapper.cjs",
            Self::Codex => "bin/codex.js",
            Self::Gemini => "bundle/gemini.js",
            Self::Pi => "dist/bundle/cli.js",
        })
    }
}

fn modules(release: ClientRelease) -> PathBuf {
    release.modules().expect("the clients are not installed: run `cargo xtask clients`")
}
