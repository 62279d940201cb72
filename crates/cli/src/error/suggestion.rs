//! What a command that there is not was probably meant to be.

use std::ffi::OsString;

use clap::{Command, CommandFactory as _};
use contexture_assembly::nearest;

use crate::args::Args;

/// Words that people know from git and other programs, and what does here what they want.
const FOREIGN: &[(&[&str], &str)] = &[
    (&["branch", "branches", "heads"], "`ctx head list` lists the heads, `ctx fork ID --head NAME` starts a branch"),
    (&["status", "st"], "`ctx sessions` says what was done last, `ctx doctor` whether all is captured"),
    (
        &["commit", "add", "ci", "save", "capture", "record"],
        "after `ctx init` each turn is a commit; `ctx checkpoint FILE` makes one by hand",
    ),
    (
        &["checkout", "switch", "co", "continue", "restore", "open"],
        "`ctx resume last` goes on with the last session here, `ctx resume ID` from any commit",
    ),
    (&["history", "hist", "turns"], "`ctx log` shows the history"),
    (&["reflog"], "`ctx head log NAME` shows where a head was, `ctx journal` every change"),
    (
        &["clone", "push", "backup"],
        "`ctx export --all -o FILE` writes all chains to a file; `ctx store --help` tells of stores that are shared",
    ),
    (
        &["pull", "fetch", "load"],
        "`ctx import-bundle FILE` takes in what `ctx export` wrote, `ctx import` the sessions of agents",
    ),
    (
        &["merge", "rebase", "cherry-pick"],
        "`ctx checkpoint FILE --head NAME --merge ID` notes that a commit brings back another",
    ),
    (
        &["tag", "notes", "label", "describe"],
        "`ctx annotate ID --tag TEXT --summary TEXT` says something about a commit",
    ),
    (&["reset", "revert", "undo"], "nothing is lost: `ctx fork ID --head NAME` goes on from an earlier commit"),
    (
        &["rm", "remove", "delete", "forget", "redact"],
        "`ctx purge ID` removes content for good, `ctx head delete NAME` only a name",
    ),
    (&["grep", "find"], "`ctx search TEXT` finds where something was said"),
    (&["ls", "ls-files", "session", "ps"], "`ctx sessions` lists sessions, `ctx list` commits"),
    (&["view", "read", "print", "transcript"], "`ctx cat last` shows a conversation to be read"),
    (&["setup", "install", "enable", "hooks"], "`ctx init` has your agents captured"),
    (&["uninstall", "disable"], "`ctx init --remove` takes out what `ctx init` added"),
    (&["config", "settings"], "`ctx store --help` says where the store is set, `ctx --help` which variables there are"),
    (
        &["verify", "validate"],
        "`ctx fsck` checks the store, `ctx doctor` whether all is captured, `ctx check FILE` records of the standard",
    ),
    (&["prune", "clean", "repack"], "`ctx gc` removes what nothing refers to"),
    (&["context", "whoami", "pwd"], "`ctx current` prints the commit that the caller is at"),
    (&["init-agents", "agents", "runtimes"], "`ctx init` sets up the agents of this machine"),
    (&["build", "pack", "prompt"], "`ctx assemble` puts together what a model is given"),
    (&["tutorial", "tour", "quickstart"], "`ctx demo` shows all of it at work"),
    (&["version"], "`ctx --version` prints it"),
];

/// Returns what was typed in place of a command, and what helps.
pub(super) fn of(word: &str, arguments: impl IntoIterator<Item = OsString>) -> (String, String) {
    let grammar = Args::command();
    let (path, parent) = parent(&grammar, word, arguments);
    let typed = format!("{path} {word}");
    let known = parent.get_subcommands().filter(|command| !command.is_hide_set()).map(Command::get_name);
    let foreign = || FOREIGN.iter().find(|(words, _)| words.contains(&&*word.to_lowercase()));
    if path == "ctx"
        && let Some((_, does)) = foreign()
    {
        return (typed, (*does).to_owned());
    }
    let hint = match nearest(word, known) {
        Some(meant) => format!("did you mean `{path} {meant}`? `{path} --help` lists the commands"),
        None => format!("`{path} --help` lists the commands"),
    };
    (typed, hint)
}

/// Returns the command that a word was taken for a part of, and how it is called.
fn parent<'g>(
    grammar: &'g Command,
    word: &str,
    arguments: impl IntoIterator<Item = OsString>,
) -> (String, &'g Command) {
    let (mut path, mut parent) = ("ctx".to_owned(), grammar);
    let given = arguments.into_iter().skip(1).take_while(|argument| argument != word);
    for argument in given {
        if let Some(child) = argument.to_str().and_then(|name| parent.find_subcommand(name)) {
            path = format!("{path} {}", child.get_name());
            parent = child;
        }
    }
    (path, parent)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::documents;

    #[test]
    fn foreign_words_lead_to_commands_that_there_are() {
        let grammar = Args::command();
        let mut seen = Vec::new();
        for (words, does) in FOREIGN {
            assert_eq!(documents::problems(does), [""; 0], "{does}");
            for word in *words {
                assert!(grammar.find_subcommand(word).is_none(), "`ctx {word}` exists");
                assert!(!seen.contains(word), "{word} stands there twice");
                seen.push(word);
            }
        }
    }

    #[test]
    fn the_command_that_was_begun_says_which_parts_it_has() {
        let of = |word: &str, line: &str| super::of(word, line.split(' ').map(OsString::from)).1;
        assert_eq!(of("lgo", "ctx lgo"), "did you mean `ctx log`? `ctx --help` lists the commands");
        assert_eq!(
            of("lst", "ctx --json recipe lst"),
            "did you mean `ctx recipe list`? `ctx recipe --help` lists the commands"
        );
        assert_eq!(of("xyzzy", "ctx xyzzy"), "`ctx --help` lists the commands");
    }
}
