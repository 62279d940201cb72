//! How `ctx --help` lists the commands: in groups, what a person needs first.

use std::fmt::Write as _;

use clap::{Command, CommandFactory as _, builder::styling::Style};

use super::Args;
use crate::conversation;

/// Longer lines than this are hard to read.
const MAX_COLUMNS: usize = 100;
/// Columns between the margin, a command's name and what it does.
const GAP: usize = 2;

/// Commands that serve one purpose.
struct CommandGroup {
    title: &'static str,
    commands: &'static [&'static str],
}

const GROUPS: &[CommandGroup] = &[
    CommandGroup {
        title: "See what agents did",
        commands: &["sessions", "log", "diff", "show", "cat", "search", "list", "blame", "why-commit", "demo"],
    },
    CommandGroup { title: "Resume from any point", commands: &["resume", "fork", "compact", "snapshot"] },
    CommandGroup {
        title: "Capture what agents do",
        commands: &["init", "import", "run", "watch", "doctor", "current"],
    },
    CommandGroup {
        title: "Assemble what a model is given",
        commands: &["assemble", "recipe", "trust", "envelope", "missing", "check"],
    },
    CommandGroup { title: "Let agents work together", commands: &["channel"] },
    CommandGroup {
        title: "Store: name, move, protect and check what is kept",
        commands: &[
            "head",
            "annotate",
            "export",
            "import-bundle",
            "secrets",
            "purge",
            "gc",
            "fsck",
            "stats",
            "store",
            "spaces",
        ],
    },
    CommandGroup {
        title: "Plumbing, for scripts and agents",
        commands: &[
            "checkpoint",
            "materialize",
            "resolve",
            "children",
            "artifact",
            "journal",
            "hook",
            "formats",
            "schema",
            "completions",
            "man",
        ],
    },
];

/// Returns the grammar, with help that lists the commands in groups.
pub(super) fn grammar() -> Command {
    let grammar = Args::command();
    let columns = terminal_size::terminal_size().map_or(MAX_COLUMNS, |(width, _)| usize::from(width.0));
    let header = *grammar.get_styles().get_header();
    let commands = listed(&grammar, columns.min(MAX_COLUMNS), header);
    grammar.help_template(format!(
        "{{before-help}}{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{commands}{header}Options:{header:#}\n\
         {{options}}{{after-help}}"
    ))
}

/// Returns the commands with what each does, a group after the other. One that is in no group stands with the last.
fn listed(grammar: &Command, columns: usize, header: Style) -> String {
    let literal = grammar.get_styles().get_literal();
    let name_columns = grammar.get_subcommands().map(|command| command.get_name().len()).max().unwrap_or_default();
    let indent = name_columns + 2 * GAP;
    let mut text = String::new();
    let line = |text: &mut String, command: &Command| {
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        let lines = conversation::wrap(&about, columns.saturating_sub(indent).max(indent));
        let name = command.get_name();
        for (at, part) in lines.iter().enumerate() {
            let name = if at == 0 { name } else { "" };
            let padding = indent - GAP - name.len();
            // Writing to a text cannot fail.
            let _written = writeln!(text, "{:GAP$}{literal}{name}{literal:#}{:padding$}{part}", "", "");
        }
    };
    for (at, group) in GROUPS.iter().enumerate() {
        let _written = writeln!(text, "{header}{}:{header:#}", group.title);
        let grouped = group.commands.iter().filter_map(|name| grammar.find_subcommand(name));
        grouped.for_each(|command| line(&mut text, command));
        if at + 1 == GROUPS.len() {
            ungrouped(grammar).for_each(|command| line(&mut text, command));
        }
        text.push('\n');
    }
    text
}

fn ungrouped(grammar: &Command) -> impl Iterator<Item = &Command> {
    let is_grouped = |name: &str| GROUPS.iter().any(|group| group.commands.contains(&name));
    grammar.get_subcommands().filter(move |command| !command.is_hide_set() && !is_grouped(command.get_name()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_is_in_one_group() {
        let grammar = Args::command();
        let forgotten: Vec<_> = ungrouped(&grammar).map(Command::get_name).collect();
        assert_eq!(forgotten, [""; 0], "a command belongs into a group of `ctx --help`");
        let mut grouped: Vec<_> = GROUPS.iter().flat_map(|group| group.commands).collect();
        let number = grouped.len();
        grouped.sort_unstable();
        grouped.dedup();
        assert_eq!(grouped.len(), number, "a command is in two groups");
        for name in grouped {
            assert!(grammar.find_subcommand(name).is_some_and(|command| !command.is_hide_set()), "{name}");
        }
    }

    #[test]
    fn what_a_command_does_is_wrapped_beside_its_name() {
        let listed = listed(&Args::command(), 60, Style::new());
        let listed = anstream::adapter::strip_str(&listed).to_string();
        assert!(listed.lines().all(|line| line.chars().count() <= 60), "{listed}");
        assert!(listed.contains("\n  show           "), "{listed}");
    }
}
