//! The command line of an agent: which agent it is, how it will speak, and how it is told to go on with a session.

use std::{
    ffi::{OsStr, OsString},
    path::Path,
};

use contexture::core::RuntimeSessionId;
use contexture_capture::Runtime;

use crate::live::run::Dialect;

/// Programs that fetch another one and run it.
const FETCHERS: &[&str] = &["npx", "bunx", "pnpx"];
/// Options of Codex that are followed by a value, as of `codex exec --help` and `codex --help`.
const CODEX_VALUES: &[&str] = &[
    "-c",
    "--config",
    "--enable",
    "--disable",
    "-i",
    "--image",
    "-m",
    "--model",
    "--local-provider",
    "-p",
    "--profile",
    "-s",
    "--sandbox",
    "-a",
    "--ask-for-approval",
    "-C",
    "--cd",
    "--add-dir",
    "--thread-source",
    "--cyber-access-program",
    "--output-schema",
    "--color",
    "-o",
    "--output-last-message",
];

/// A command line, not empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Line {
    words: Vec<OsString>,
    /// Where the arguments of the agent begin.
    arguments: usize,
    runtime: Option<Runtime>,
}

impl Line {
    /// Reads a command line. Who names the agent is right.
    pub(super) fn new(words: Vec<OsString>, named: Option<Runtime>) -> Self {
        let is_fetcher = words.first().is_some_and(|word| FETCHERS.contains(&&*name(word)));
        let fetched = words.iter().skip(1).position(|word| !word.to_string_lossy().starts_with('-'));
        let program = if is_fetcher { fetched.map_or(0, |place| place + 1) } else { 0 };
        let known = words.get(program).and_then(|word| agent(&name(word)));
        let arguments = if known.is_some() { program + 1 } else { 1 };
        Self { words, arguments, runtime: named.or(known) }
    }

    /// Returns the agent, if it is one that is known.
    pub(super) fn runtime(&self) -> Option<Runtime> {
        self.runtime
    }

    /// Returns what the program is called.
    pub(super) fn program(&self) -> String {
        self.words.first().map(|word| name(word)).unwrap_or_default()
    }

    /// Returns how the agent tells what happens, if it was told to.
    pub(super) fn dialect(&self) -> Option<Dialect> {
        match self.runtime? {
            Runtime::ClaudeCode => self.is_set("--output-format", None, "stream-json").then_some(Dialect::Claude),
            Runtime::Gemini => self.is_set("--output-format", Some("-o"), "stream-json").then_some(Dialect::Gemini),
            Runtime::Codex => {
                let is_json = self.flags().any(|word| word == "--json" || word == "--experimental-json");
                (is_json && self.codex_exec().is_some()).then_some(Dialect::Codex)
            }
            Runtime::Pi => None,
        }
    }

    /// Tells whether the agent was told to keep no session.
    pub(super) fn is_ephemeral(&self) -> bool {
        let word = match self.runtime {
            Some(Runtime::ClaudeCode) => "--no-session-persistence",
            Some(Runtime::Codex) => "--ephemeral",
            Some(Runtime::Pi) => "--no-session",
            Some(Runtime::Gemini) | None => return false,
        };
        self.flags().any(|flag| flag == word)
    }

    /// Returns the command line by which the agent goes on with a session.
    pub(super) fn resuming(self, runtime: Runtime, session: &RuntimeSessionId, path: &Path) -> Self {
        let (_, resume) = runtime.resume_command(session, path);
        let place = match self.codex_exec() {
            // The options stay with `exec`: what follows does not take all of them.
            Some(exec) => self.codex_positional(exec + 1),
            None => self.arguments,
        };
        let mut words = self.words;
        words.splice(place..place, resume);
        Self { words, ..self }
    }

    pub(super) fn into_words(self) -> Vec<OsString> {
        self.words
    }

    /// Returns the words up to the one after which nothing is an option.
    fn flags(&self) -> impl Iterator<Item = std::borrow::Cow<'_, str>> {
        self.words[self.arguments..].iter().map(|word| word.to_string_lossy()).take_while(|word| word != "--")
    }

    fn is_set(&self, option: &str, short: Option<&str>, value: &str) -> bool {
        let flags: Vec<_> = self.flags().collect();
        let is_option = |word: &str| word == option || Some(word) == short;
        let joined = format!("{option}={value}");
        flags.windows(2).any(|pair| is_option(&pair[0]) && pair[1] == value) || flags.iter().any(|word| *word == joined)
    }

    /// Returns where Codex is told to work without a terminal.
    fn codex_exec(&self) -> Option<usize> {
        if self.runtime != Some(Runtime::Codex) {
            return None;
        }
        let first = self.codex_positional(self.arguments);
        let is_exec = self.words.get(first).is_some_and(|word| word == "exec" || word == "e");
        is_exec.then_some(first)
    }

    /// Returns where the first word is that is neither an option nor the value of one.
    fn codex_positional(&self, from: usize) -> usize {
        let mut place = from;
        while let Some(word) = self.words.get(place) {
            let word = word.to_string_lossy();
            if !word.starts_with('-') || word == "--" || word == "-" {
                break;
            }
            place += if CODEX_VALUES.contains(&&*word) { 2 } else { 1 };
        }
        place.min(self.words.len())
    }
}

/// Returns what a program is called, without where it lies.
fn name(word: &OsStr) -> String {
    let text = word.to_string_lossy();
    // A package is named by its owner too, and a path by nothing else than its last part.
    if text.starts_with('@') {
        return text.into_owned();
    }
    Path::new(word).file_name().map_or(text.clone(), OsStr::to_string_lossy).into_owned()
}

/// Returns the agent that a program or package is.
fn agent(name: &str) -> Option<Runtime> {
    let (owner, package) = name.rsplit_once('/').unwrap_or(("", name));
    let package = package.split('@').next().unwrap_or(package);
    Some(match (owner, package) {
        ("", "claude") | ("@anthropic-ai", "claude-code") => Runtime::ClaudeCode,
        ("" | "@openai", "codex") => Runtime::Codex,
        ("", "gemini") | ("@google", "gemini-cli") => Runtime::Gemini,
        ("", "pi") | ("@earendil-works" | "@mariozechner", "pi-coding-agent") => Runtime::Pi,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> Line {
        Line::new(text.split(' ').map(Into::into).collect(), None)
    }

    fn resumed(text: &str) -> String {
        let line = line(text);
        let runtime = line.runtime().unwrap();
        let words = line.resuming(runtime, &"ID".parse().unwrap(), Path::new("/s.jsonl")).into_words();
        words.join(OsStr::new(" ")).into_string().unwrap()
    }

    #[test]
    fn an_agent_is_known_by_its_name_and_through_npx() {
        let runtime = |text: &str| line(text).runtime();
        assert_eq!(runtime("/usr/bin/claude -p hi"), Some(Runtime::ClaudeCode));
        assert_eq!(runtime("npx -y @openai/codex@0.166.0 exec"), Some(Runtime::Codex));
        assert_eq!(runtime("npx gemini"), Some(Runtime::Gemini));
        assert_eq!(runtime("pi"), Some(Runtime::Pi));
        assert_eq!((runtime("sh -c claude"), runtime("npx"), runtime("npx -y cowsay claude")), (None, None, None));
        assert_eq!(Line::new(vec!["./mine".into()], Some(Runtime::Pi)).runtime(), Some(Runtime::Pi));
    }

    #[test]
    fn events_are_expected_where_they_were_asked_for() {
        let dialect = |text: &str| line(text).dialect();
        assert_eq!(dialect("claude -p hi --output-format stream-json --verbose"), Some(Dialect::Claude));
        assert_eq!(dialect("claude --output-format=stream-json -p hi"), Some(Dialect::Claude));
        assert_eq!(dialect("gemini -o stream-json -p hi"), Some(Dialect::Gemini));
        assert_eq!(dialect("codex -m o3 exec --json hi"), Some(Dialect::Codex));
        for other in ["claude -p hi", "claude -p -- --output-format=stream-json", "codex --json", "codex exec hi"] {
            assert_eq!(dialect(other), None, "{other}");
        }
        assert!(line("codex exec --ephemeral hi").is_ephemeral() && !line("claude -p hi").is_ephemeral());
    }

    #[test]
    fn each_agent_goes_on_in_its_own_words() {
        assert_eq!(resumed("claude -p hi"), "claude --resume ID -p hi");
        assert_eq!(
            resumed("npx -y @anthropic-ai/claude-code -p hi"),
            "npx -y @anthropic-ai/claude-code --resume ID -p hi"
        );
        assert_eq!(resumed("gemini -p hi"), "gemini --resume ID -p hi");
        assert_eq!(resumed("pi -p hi"), "pi --session /s.jsonl -p hi");
        assert_eq!(resumed("codex -m o3 hi"), "codex resume ID -m o3 hi");
        assert_eq!(
            resumed("codex -m o3 exec -s read-only --json hi"),
            "codex -m o3 exec -s read-only --json resume ID hi"
        );
        assert_eq!(resumed("codex exec --json -- hi"), "codex exec --json resume ID -- hi");
        assert_eq!(resumed("codex exec"), "codex exec resume ID");
    }
}
