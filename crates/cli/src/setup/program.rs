//! The command that others are told to call.

use std::{
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
};

use contexture_capture::Runtime;

use crate::shell;

/// This program, and the options that it is always to be called with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Program {
    pub(crate) path: PathBuf,
    /// Names the store and the space, if they are not those that the environment names.
    pub(crate) options: Vec<String>,
}

impl Program {
    /// Returns the name by which a program is found on a path of directories, if that leads to the file, else the file.
    ///
    /// What packages install is often a link to a place that the next version will not have.
    pub(crate) fn stable_path(file: PathBuf, search: Option<&OsStr>) -> PathBuf {
        let Ok(real) = fs::canonicalize(&file) else { return file };
        let name = file.file_name().unwrap_or(OsStr::new("ctx")).to_owned();
        let found = directories(search).map(|directory| directory.join(&name));
        let mut same = found.filter(|path| fs::canonicalize(path).is_ok_and(|found| found == real));
        same.next().unwrap_or(file)
    }

    /// Returns the words that tell of an event of a runtime.
    pub(super) fn hook_words(&self, runtime: Runtime) -> Vec<String> {
        self.words(&["hook", runtime.as_str()])
    }

    /// Returns the command line that tells of an event of a runtime.
    pub(super) fn hook_line(&self, runtime: Runtime) -> String {
        line(&self.hook_words(runtime))
    }

    /// Returns the command line that tells of an event of git.
    pub(super) fn git_line(&self, hook: &str) -> String {
        line(&self.words(&["git-hook", hook]))
    }

    fn words(&self, command: &[&str]) -> Vec<String> {
        let path = std::iter::once(self.path.to_string_lossy().into_owned());
        path.chain(self.options.iter().cloned()).chain(command.iter().map(ToString::to_string)).collect()
    }
}

/// Says whether a program is found on a path of directories.
pub(super) fn is_on_path(name: &str, search: Option<&OsStr>) -> bool {
    directories(search).any(|directory| directory.join(name).is_file())
}

/// Returns the program that some words call for the events of a runtime, if that is some `ctx`.
pub(super) fn called_for(runtime: Runtime, words: &[String]) -> Option<PathBuf> {
    // A shell takes variables that stand before the program.
    let program = words.iter().position(|word| !word.split_once('=').is_some_and(|(name, _)| is_variable(name)))?;
    let path = PathBuf::from(&words[program]);
    let is_ctx = path.file_stem().is_some_and(|name| name == "ctx");
    let is_hook = words.windows(2).any(|pair| pair[0] == "hook" && pair[1] == runtime.as_str());
    (is_ctx && is_hook).then_some(path)
}

fn is_variable(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}

fn line(words: &[String]) -> String {
    words.iter().map(|word| shell::quoted(word)).collect::<Vec<_>>().join(" ")
}

fn directories(search: Option<&OsStr>) -> impl Iterator<Item = PathBuf> {
    std::env::split_paths(search.unwrap_or_default()).filter(|directory| Path::is_absolute(directory))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn called(line: &str) -> Option<PathBuf> {
        called_for(Runtime::CODEX, &shell::words(line))
    }

    #[test]
    fn our_command_is_known_whatever_its_path_and_flags() {
        for line in ["ctx hook codex", "/opt/x/ctx --store '/a b' hook codex", "CTX_SPACE=team ctx hook codex --quiet"]
        {
            assert!(called(line).is_some(), "{line}");
        }
        let program = Program { path: "/my tools/ctx".into(), options: vec!["--space".into(), "team".into()] };
        assert_eq!(program.hook_line(Runtime::CODEX), "'/my tools/ctx' --space team hook codex");
        assert_eq!(called(&program.hook_line(Runtime::CODEX)), Some("/my tools/ctx".into()));
    }

    #[test]
    fn commands_of_others_are_not_ours() {
        for line in ["", "A=1", "ctx hook gemini", "ctx log codex", "ctxx hook codex", "echo ctx hook codex"] {
            assert_eq!(called(line), None, "{line}");
        }
    }
}
