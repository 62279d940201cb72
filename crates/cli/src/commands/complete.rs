//! `ctx complete`: what may stand at a place of a command line. The scripts of `ctx completions` call it.

mod known_names;
mod typed_line;

use std::{ffi::OsString, process, time::Duration};

use clap::Args;
use contexture_capture::Watchdog;

use self::typed_line::{Expected, TypedLine};
use crate::{
    args::{self, Globals},
    error::Result,
    invocation::Invocation,
    output::Output,
};

/// How long somebody who has pressed a key waits at most.
const LIMIT: Duration = Duration::from_secs(2);

/// Prints what may stand at the end of a command line, a value a line, with what it is behind a tab
///
/// It says nothing where nothing is known, when something goes wrong, and when it takes longer than two seconds.
#[derive(Debug, Args)]
pub(crate) struct Complete {
    /// The words of the command line behind `ctx`; the last one is to be completed
    #[arg(value_name = "WORD", last = true)]
    words: Vec<OsString>,
}

/// Something that may stand at a place.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Candidate {
    value: String,
    about: String,
}

impl Complete {
    pub(crate) async fn run(self, invocation: &Invocation, output: &mut Output) -> Result<()> {
        let _watchdog = Watchdog::start(LIMIT, || {}, || process::exit(0));
        let words: Vec<String> = self.words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
        let grammar = args::whole_grammar();
        let line = TypedLine::read(&grammar, &words);
        let candidates = match line.expected {
            Expected::One(candidates) => candidates,
            Expected::Name(kind) => {
                let given = invocation.globals.clone();
                let (store, space) = (line.store.or(given.store.clone()), line.space.or(given.space.clone()));
                let globals = Globals { store, space, ..given };
                let place = Invocation { globals, ..invocation.clone() };
                // Nobody has asked for a message here.
                known_names::find(&place, kind, &line.current).await.unwrap_or_default()
            }
            Expected::Anything => Vec::new(),
        };
        for Candidate { value, about } in candidates {
            if !value.starts_with(&line.current) || !is_plain(&value) {
                continue;
            }
            let about = about.replace('\t', " ");
            output.line(format_args!("{}{value}\t{about}", line.prefix))?;
        }
        Ok(())
    }
}

/// Tells whether no shell takes a value for anything but a word. Names that are not plain are typed, not completed.
fn is_plain(value: &str) -> bool {
    !value.starts_with(['~', '='])
        && value.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_./@+=:,".contains(letter))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_shell_would_obey_is_not_offered() {
        for plain in ["session/0c3f-4d", "principal/ada@laptop", "--head", "ctx-8d3f", "v1.2"] {
            assert!(is_plain(plain), "{plain}");
        }
        for hostile in
            ["a b", "$(id)", "`id`", "x;id", "*", "~root", "a'b", "a\"b", "a\\b", "a\nb", "a&b", "é", "!x", "#x"]
        {
            assert!(!is_plain(hostile), "{hostile}");
        }
    }
}
