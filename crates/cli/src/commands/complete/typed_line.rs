//! A command line that is being typed.

use std::{any::TypeId, ffi::OsString};

use clap::{Arg, Command};
use contexture::{
    Reference,
    core::{GivenSessionId, HeadName, RuntimeSessionId, SpaceName},
};

use super::Candidate;
use crate::values::{At, StartPoint, StopAt};

/// What was typed up to a place, and what is expected there.
#[derive(Debug)]
pub(super) struct TypedLine {
    pub(super) expected: Expected,
    /// What of it stands there already.
    pub(super) current: String,
    /// What the shell takes for the beginning of the same word.
    pub(super) prefix: String,
    /// `--store`, as far as it was given.
    pub(super) store: Option<OsString>,
    /// `--space`.
    pub(super) space: Option<SpaceName>,
}

/// What is expected at a place.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Expected {
    /// One of these.
    One(Vec<Candidate>),
    /// The name of something in the store.
    Name(NameKind),
    /// A file, or something that nobody knows.
    Anything,
}

/// What is named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NameKind {
    /// A head or a commit.
    Commit,
    Head,
    Session,
    /// A channel.
    Channel,
}

impl TypedLine {
    /// Reads the words behind the program's name, of which the last is not finished.
    pub(super) fn read(grammar: &Command, words: &[String]) -> Self {
        let (current, before) = words.split_last().map_or(("", &[][..]), |(last, before)| (last.as_str(), before));
        let mut state = ReadState { command: grammar, awaiting: None, positional: 0, is_plain: false };
        let (mut store, mut space) = (None, None);
        for word in before {
            if let Some((arg, value)) = state.pass(word) {
                match arg.get_long() {
                    Some("store") => store = Some(OsString::from(value)),
                    Some("space") => space = SpaceName::new(value).ok(),
                    _ => {}
                }
            }
        }
        // To bash `=` is a word.
        let current = if current == "=" && state.awaiting.is_some() { "" } else { current };
        let (prefix, current) = match current.split_once('=') {
            Some((flag, value)) if flag.starts_with("--") && state.awaiting.is_none() && !state.is_plain => {
                state.awaiting = state.flag(flag);
                (format!("{flag}="), value)
            }
            _ => (String::new(), current),
        };
        Self { expected: state.expected(current), current: current.to_owned(), prefix, store, space }
    }
}

/// How far a line was read.
struct ReadState<'g> {
    command: &'g Command,
    /// The flag whose value comes next.
    awaiting: Option<&'g Arg>,
    /// How many arguments without a flag came before.
    positional: usize,
    /// Whether `--` came before, so that nothing is a flag any more.
    is_plain: bool,
}

impl<'g> ReadState<'g> {
    /// Passes a finished word; returns what it is the value of.
    fn pass<'w>(&mut self, word: &'w str) -> Option<(&'g Arg, &'w str)> {
        if self.awaiting.is_some() && word == "=" {
            return None;
        }
        if let Some(arg) = self.awaiting.take() {
            return Some((arg, word));
        }
        if !self.is_plain && word.starts_with('-') && word != "-" {
            if word == "--" {
                self.is_plain = true;
                return None;
            }
            let (name, value) = word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value)));
            let arg = self.flag(name)?;
            if let Some(value) = value {
                return Some((arg, value));
            }
            self.awaiting = Some(arg);
            return None;
        }
        match self.command.find_subcommand(word) {
            Some(child) if self.positional == 0 => self.command = child,
            _ => self.positional += 1,
        }
        None
    }

    /// Returns a flag that takes a value.
    fn flag(&self, name: &str) -> Option<&'g Arg> {
        let is_it = |arg: &&Arg| match name.strip_prefix("--") {
            Some(long) => arg.get_long() == Some(long),
            // Of several letters only the last one can take a value.
            None => name.chars().last().is_some_and(|letter| arg.get_short() == Some(letter)),
        };
        self.command.get_arguments().filter(|arg| arg.get_action().takes_values()).find(is_it)
    }

    fn expected(&self, current: &str) -> Expected {
        if let Some(arg) = self.awaiting {
            return values(arg);
        }
        if current.starts_with('-') && !self.is_plain {
            return Expected::One(flags(self.command));
        }
        if self.positional == 0 && self.command.has_subcommands() {
            return Expected::One(subcommands(self.command));
        }
        let positionals: Vec<&Arg> = self.command.get_positionals().collect();
        let last = positionals.last().filter(|arg| takes_many(arg));
        positionals.get(self.positional).or(last).map_or(Expected::Anything, |arg| values(arg))
    }
}

fn takes_many(arg: &Arg) -> bool {
    matches!(arg.get_action(), clap::ArgAction::Append)
}

fn flags(command: &Command) -> Vec<Candidate> {
    let shown = command.get_arguments().filter(|arg| !arg.is_hide_set());
    let flag = |arg: &Arg| {
        let about = arg.get_help().map(ToString::to_string).unwrap_or_default();
        Some(Candidate { value: format!("--{}", arg.get_long()?), about })
    };
    shown.filter_map(flag).collect()
}

fn subcommands(command: &Command) -> Vec<Candidate> {
    let shown = command.get_subcommands().filter(|command| !command.is_hide_set());
    let candidate = |command: &Command| Candidate {
        value: command.get_name().to_owned(),
        about: command.get_about().map(ToString::to_string).unwrap_or_default(),
    };
    shown.map(candidate).collect()
}

/// Returns what an argument may be, by the type that it is read as.
fn values(arg: &Arg) -> Expected {
    let possible = arg.get_possible_values();
    if !possible.is_empty() {
        let candidate = |value: &clap::builder::PossibleValue| Candidate {
            value: value.get_name().to_owned(),
            about: value.get_help().map(ToString::to_string).unwrap_or_default(),
        };
        return Expected::One(possible.iter().filter(|value| !value.is_hide_set()).map(candidate).collect());
    }
    let read_as = arg.get_value_parser().type_id();
    let is_one_of = |types: &[TypeId]| types.iter().any(|known| read_as == *known);
    let commits = [TypeId::of::<Reference>(), TypeId::of::<StartPoint>(), TypeId::of::<StopAt>(), TypeId::of::<At>()];
    let sessions = [TypeId::of::<RuntimeSessionId>(), TypeId::of::<GivenSessionId>()];
    let names_head = arg.get_value_names().is_some_and(|names| names.iter().any(|name| name.contains("HEAD")));
    let names_channel = arg.get_value_names().is_some_and(|names| names.iter().any(|name| name == "CHANNEL"));
    if names_channel {
        Expected::Name(NameKind::Channel)
    } else if is_one_of(&commits) || names_head {
        Expected::Name(NameKind::Commit)
    } else if is_one_of(&[TypeId::of::<HeadName>()]) {
        Expected::Name(NameKind::Head)
    } else if is_one_of(&sessions) {
        Expected::Name(NameKind::Session)
    } else {
        Expected::Anything
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args;

    fn read(line: &str) -> TypedLine {
        let words: Vec<_> = line.split(' ').skip(1).map(str::to_owned).collect();
        TypedLine::read(&args::whole_grammar(), &words)
    }

    fn offered(line: &str) -> Vec<String> {
        let line = read(line);
        let Expected::One(candidates) = line.expected else { panic!("{line:?}") };
        let values = candidates.into_iter().map(|candidate| candidate.value);
        values.filter(|value| value.starts_with(&line.current)).collect()
    }

    #[test]
    fn commands_flags_and_values_are_offered_where_they_may_stand() {
        assert_eq!(offered("ctx ma"), ["materialize", "man"]);
        assert_eq!(offered("ctx head "), ["list", "set", "move", "delete", "log", "help"]);
        assert_eq!(offered("ctx --json log --gr"), ["--graph"]);
        assert_eq!(offered("ctx resume x --in co"), ["codex"]);
        assert_eq!(offered("ctx resume x --in=co"), ["codex"]);
        assert_eq!(read("ctx resume x --in=co").prefix, "--in=");
        assert_eq!(offered("ctx resume x --in = co"), ["codex"]);
        assert_eq!(offered("ctx completions "), ["bash", "elvish", "fish", "powershell", "zsh"]);
    }

    #[test]
    fn names_are_expected_by_what_an_argument_is_read_as() {
        for line in ["ctx log ", "ctx log a ", "ctx show ses", "ctx cat --stop ", "ctx run --from ", "ctx purge "] {
            assert_eq!(read(line).expected, Expected::Name(NameKind::Commit), "{line}");
        }
        for line in ["ctx head log ", "ctx checkpoint --head ", "ctx checkpoint f --head=ma"] {
            assert_eq!(read(line).expected, Expected::Name(NameKind::Head), "{line}");
        }
        assert_eq!(read("ctx list --session ").expected, Expected::Name(NameKind::Session));
        for line in ["ctx show a ", "ctx checkpoint ", "ctx run -- cla", "ctx log -n ", "ctx import a "] {
            assert_eq!(read(line).expected, Expected::Anything, "{line}");
        }
    }

    #[test]
    fn the_store_that_was_typed_is_the_one_that_is_asked() {
        let line = read("ctx --store /a --space=team log ");
        assert_eq!((line.store, line.space), (Some("/a".into()), Some(SpaceName::new("team").unwrap())));
    }
}
