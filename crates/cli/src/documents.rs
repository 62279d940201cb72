//! Every command line in the documents is one that the program understands.

use std::{
    fs,
    path::{Path, PathBuf},
};

use clap::{CommandFactory as _, error::ErrorKind};

use crate::args::Args;

/// What documents write where a reader puts something of their own, and something that could stand there.
const PLACEHOLDERS: [(&str, &str); 14] = [
    ("COMMAND", "log"),
    ("DIR", "directory"),
    ("FILE", "file"),
    ("FINGERPRINT", "3f9c0a1b2c3d4e5f"),
    ("LINE", "42"),
    ("NAME", "name"),
    ("P", "ada@laptop"),
    ("RECIPE", "resume"),
    ("REF", "ctx-8d3f"),
    ("REV", "main"),
    ("SHELL", "bash"),
    ("T", "tag"),
    ("TEXT", "text"),
    ("URL", "postgres://ctx@localhost/ctx"),
];

/// What could stand for `ID`, which is the id of a commit, of an envelope or of missing context.
const IDS: [&str; 3] = ["ctx-8d3f", "env-8d3f", "mis-8d3f"];

/// A command line of a document.
#[derive(Debug, PartialEq, Eq)]
struct Mention {
    /// The line of the document, from 1 on.
    line: usize,
    /// The command and its arguments.
    text: String,
    /// Whether it is there to be typed, and not only to name a command.
    whole: bool,
}

#[test]
fn every_command_in_the_documents_exists_and_has_its_flags() {
    let mut problems = Vec::new();
    for (name, text) in documents() {
        for mention in mentions(&text) {
            if let Err(problem) = understood(&mention) {
                problems.push(format!("{name}:{}: `{}`: {problem}", mention.line, mention.text));
            }
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn no_document_uses_a_head_that_capture_does_not_make() {
    let problems: Vec<_> = documents()
        .iter()
        .flat_map(|(name, text)| {
            let uses =
                |mention: &Mention| mention.text.split([' ', '~']).any(|word| word == "main" || word == "--head=main");
            let found: Vec<_> = mentions(text).into_iter().filter(uses).collect();
            found
                .into_iter()
                .map(move |mention| format!("{name}:{}: `{}`", mention.line, mention.text))
                .collect::<Vec<_>>()
        })
        .collect();
    assert_eq!(problems, [""; 0], "who has only run `ctx init` has no such head");
}

#[test]
fn commands_are_found_in_blocks_spans_and_tables() {
    let document = "\
Use `ctx log` or\n`ctx show ID` and not `log`.\n\n```console\n$ ctx log \\\n    --graph\nctx is not here, `ctx fsck` is\n```\n\n\
```\nctx a && ctx b > file  # why\ngh comment \"see $(ctx current)\"\n```\n| x | `ctx init`, `ctx init --git` |\n";
    let found = mentions(document).into_iter().map(|mention| (mention.line, mention.text, mention.whole));
    let expected = [
        (1, "ctx log", false),
        (2, "ctx show ID", false),
        (5, "ctx log --graph", true),
        (7, "ctx fsck", false),
        (11, "ctx a", true),
        (11, "ctx b", true),
        (12, "ctx current", true),
        (14, "ctx init", false),
        (14, "ctx init --git", false),
    ];
    assert_eq!(found.collect::<Vec<_>>(), expected.map(|(line, text, whole)| (line, text.to_owned(), whole)));
}

#[test]
fn what_the_program_does_not_know_is_a_problem() {
    let understood = |text: &str, whole| understood(&Mention { line: 1, text: text.to_owned(), whole });
    for wrong in ["ctx lgo", "ctx log --grahp", "ctx recipe lst", "ctx fork main --head", "ctx list --since yesteryear"]
    {
        assert!(understood(wrong, false).is_err(), "{wrong}");
    }
    for right in
        ["ctx log --graph", "ctx annotate ID --summary TEXT [--tag T]", "ctx blame FILE:LINE", "ctx COMMAND --help"]
    {
        assert_eq!(understood(right, true), Ok(()), "{right}");
    }
    assert_eq!(understood("ctx children", false), Ok(()));
    assert!(understood("ctx children", true).is_err());
}

/// Returns the names and texts of all documents.
fn documents() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut paths: Vec<_> = fs::read_dir(root.join("docs")).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    paths.sort();
    paths.insert(0, root.join("README.md"));
    let named = |path: &PathBuf| path.strip_prefix(&root).unwrap().display().to_string();
    paths.iter().map(|path| (named(path), fs::read_to_string(path).unwrap())).collect()
}

/// Returns what is wrong with the commands of a text.
pub(crate) fn problems(text: &str) -> Vec<String> {
    mentions(text).iter().filter_map(|mention| understood(mention).err()).collect()
}

/// Returns the command lines of a document.
fn mentions(document: &str) -> Vec<Mention> {
    let mut found = Vec::new();
    let mut block: Option<Vec<(usize, &str)>> = None;
    for (line, text) in (1..).zip(document.lines()) {
        match (&mut block, text.trim_start().starts_with("```")) {
            (None, true) => block = Some(Vec::new()),
            (None, false) => found.extend(spans(line, text)),
            (Some(lines), false) => lines.push((line, text)),
            (Some(_), true) => found.extend(block.take().iter().flat_map(|lines| typed(lines))),
        }
    }
    found
}

/// Returns the spans of code in a line that are commands.
fn spans(line: usize, text: &str) -> impl Iterator<Item = Mention> {
    let spans = text.split('`').skip(1).step_by(2).flat_map(commands);
    spans.map(move |text| Mention { line, text, whole: false })
}

/// Returns what is typed in a block: behind a prompt where there is one, otherwise every line.
fn typed(lines: &[(usize, &str)]) -> Vec<Mention> {
    let prompted = lines.iter().any(|(_, text)| text.starts_with("$ "));
    let mut found = Vec::new();
    let mut lines = lines.iter();
    while let Some((line, text)) = lines.next() {
        let Some(typed) = (if prompted { text.strip_prefix("$ ") } else { Some(*text) }) else {
            found.extend(spans(*line, text));
            continue;
        };
        let mut typed = typed.to_owned();
        while let Some(start) = typed.strip_suffix('\\') {
            let next = lines.next().map_or("", |(_, text)| text.trim_start());
            typed = format!("{start}{next}");
        }
        found.extend(commands(&typed).into_iter().map(|text| Mention { line: *line, text, whole: true }));
    }
    found
}

/// Returns the commands of this program in a line of a shell, without what the shell does with their output.
fn commands(line: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut command = String::new();
    let mut quote = None;
    let mut letters = line.chars().peekable();
    let mut finish = |command: &mut String| {
        let text = std::mem::take(command).trim().to_owned();
        found.extend(text.starts_with("ctx ").then_some(text));
    };
    while let Some(letter) = letters.next() {
        match letter {
            '$' if quote != Some('\'') && letters.next_if_eq(&'(').is_some() => {
                finish(&mut command);
                quote = None;
            }
            ')' if quote.is_none() => finish(&mut command),
            '\'' | '"' if quote.is_none_or(|open| open == letter) => {
                quote = if quote.is_none() { Some(letter) } else { None };
                command.push(letter);
            }
            '&' | '|' | ';' | '>' | '<' if quote.is_none() && command.ends_with(' ') => {
                finish(&mut command);
                letters.next_if_eq(&letter);
            }
            '#' if quote.is_none() && command.ends_with(' ') => break,
            _ => command.push(letter),
        }
    }
    finish(&mut command);
    found
}

/// Checks that the program would take a command line for one that it knows.
fn understood(mention: &Mention) -> Result<(), String> {
    let tried = IDS.map(|id| Args::command().try_get_matches_from(words(&mention.text, id)).err());
    let [Some(refusal), Some(_), Some(_)] = tried else { return Ok(()) };
    match refusal.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => Ok(()),
        ErrorKind::MissingRequiredArgument
        | ErrorKind::MissingSubcommand
        | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
            if !mention.whole =>
        {
            Ok(())
        }
        _ => Err(refusal.to_string().lines().next().unwrap_or_default().to_owned()),
    }
}

/// Returns the words of a command line, with values where the document leaves them open.
fn words(command: &str, id: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = None;
    let mut quote = None;
    for letter in command.chars() {
        match letter {
            '\'' | '"' if quote.is_none_or(|open| open == letter) => {
                quote = if quote.is_none() { Some(letter) } else { None };
                word.get_or_insert_with(String::new);
            }
            ' ' if quote.is_none() => words.extend(word.take()),
            '[' | ']' | '…' if quote.is_none() => {}
            _ => word.get_or_insert_with(String::new).push(letter),
        }
    }
    words.extend(word);
    words.into_iter().map(|word| filled(&word, id)).collect()
}

/// Puts something that could stand there where a word leaves it open.
fn filled(word: &str, id: &str) -> String {
    let first = word.split('|').next().unwrap_or_default();
    let value = |part| {
        let known = PLACEHOLDERS.iter().find(|(placeholder, _)| *placeholder == part);
        known.map_or(if part == "ID" { id } else { part }, |(_, value)| value)
    };
    first.split(':').map(value).collect::<Vec<_>>().join(":")
}
