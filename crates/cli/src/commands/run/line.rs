//! The command line of an agent: which agent it is, how it will speak, and how it is told to go on with a session.

use std::{
    ffi::{OsStr, OsString},
    path::Path,
};

use contexture_capture::{Dialect, Runtime};

/// Programs that fetch another one and run it.
const FETCHERS: &[&str] = &["npx", "bunx", "pnpx"];

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
        let known = words.get(program).and_then(|word| Runtime::of_program(&name(word)));
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
        self.runtime?.dialect(self.arguments())
    }

    /// Tells whether the agent was told to keep no session.
    pub(super) fn is_ephemeral(&self) -> bool {
        self.runtime.is_some_and(|runtime| runtime.is_ephemeral(self.arguments()))
    }

    /// Returns the command line by which the agent goes on with a session, as it is told to.
    pub(super) fn resuming(self, runtime: Runtime, resume: Vec<OsString>) -> Self {
        let place = self.arguments + runtime.resume_at(self.arguments());
        let mut words = self.words;
        words.splice(place..place, resume);
        Self { words, ..self }
    }

    pub(super) fn into_words(self) -> Vec<OsString> {
        self.words
    }

    pub(super) fn arguments(&self) -> &[OsString] {
        self.words.get(self.arguments..).unwrap_or_default()
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

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> Line {
        Line::new(text.split(' ').map(Into::into).collect(), None)
    }

    fn resumed(text: &str) -> String {
        let line = line(text);
        let runtime = line.runtime().unwrap();
        let resume = runtime.resume_command(&"ID".parse().unwrap(), Path::new("/s.jsonl")).unwrap();
        let words = line.resuming(runtime, resume.arguments).into_words();
        words.join(OsStr::new(" ")).into_string().unwrap()
    }

    #[test]
    fn an_agent_is_known_by_its_name_and_through_npx() {
        let runtime = |text: &str| line(text).runtime();
        assert_eq!(runtime("/usr/bin/claude -p hi"), Some(Runtime::CLAUDE_CODE));
        assert_eq!(runtime("npx -y @openai/codex@0.166.0 exec"), Some(Runtime::CODEX));
        assert_eq!(runtime("npx gemini"), Some(Runtime::GEMINI));
        assert_eq!(runtime("pi"), Some(Runtime::PI));
        assert_eq!((runtime("sh -c claude"), runtime("npx"), runtime("npx -y cowsay claude")), (None, None, None));
        assert_eq!(Line::new(vec!["./mine".into()], Some(Runtime::PI)).runtime(), Some(Runtime::PI));
    }

    #[test]
    fn events_are_expected_where_they_were_asked_for() {
        let dialect = |text: &str| line(text).dialect();
        assert_eq!(dialect("claude -p hi --output-format stream-json --verbose"), Dialect::of(Runtime::CLAUDE_CODE));
        assert_eq!(dialect("claude --output-format=stream-json -p hi"), Dialect::of(Runtime::CLAUDE_CODE));
        assert_eq!(dialect("gemini -o stream-json -p hi"), Dialect::of(Runtime::GEMINI));
        assert_eq!(dialect("codex -m o3 exec --json hi"), Dialect::of(Runtime::CODEX));
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
