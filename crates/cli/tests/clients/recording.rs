//! Recordings of a terminal in documents: what was typed, what was answered to questions, and what was shown.

use std::{
    collections::HashMap,
    fs,
    io::{Read as _, Write as _},
    path::Path,
    process::Command,
};

use pty_process::{
    Size,
    blocking::{self, Pty},
};

/// How a question ends whose answer stands behind it.
const QUESTION_ENDS: &str = "] ";

/// A document with recordings.
pub(crate) struct Recording {
    parts: Vec<RecordingPart>,
}

enum RecordingPart {
    Prose(String),
    Command { line: String, shown: String },
}

impl Recording {
    /// Takes the console blocks of a document apart.
    pub(crate) fn read(document: &str) -> Self {
        let mut parts = Vec::new();
        let mut in_console = false;
        for line in document.lines() {
            let is_fence = line.starts_with("```");
            match (line.strip_prefix("$ "), parts.last_mut()) {
                (Some(command), _) if in_console => {
                    parts.push(RecordingPart::Command { line: command.to_owned(), shown: String::new() });
                }
                (_, Some(RecordingPart::Command { shown, .. })) if in_console && !is_fence => {
                    shown.push_str(line);
                    shown.push('\n');
                }
                _ => {
                    in_console = line == "```console" || in_console && !is_fence;
                    parts.push(RecordingPart::Prose(format!("{line}\n")));
                }
            }
        }
        Self { parts }
    }

    /// Types all commands again and returns the document with what is shown now. `show` is given each command with the
    /// answers that were given to its questions.
    pub(crate) fn replay(&self, mut show: impl FnMut(&str, &[String]) -> String) -> String {
        let part = |part: &RecordingPart| match part {
            RecordingPart::Prose(text) => text.clone(),
            RecordingPart::Command { line, shown } => {
                let answers: Vec<_> = shown.lines().filter_map(answer).collect();
                format!("$ {line}\n{}", show(line, &answers))
            }
        };
        self.parts.iter().map(part).collect()
    }
}

/// Returns what was answered to the question in a line, if it is one.
fn answer(line: &str) -> Option<String> {
    let (question, answer) = line.split_once(QUESTION_ENDS)?;
    question.contains("[y/N").then(|| answer.to_owned())
}

/// Compares documents, or writes what is shown now where `CTX_RECORD` asks for it.
pub(crate) fn compare(path: &Path, recorded: &str, shown: &str) {
    if std::env::var_os("CTX_RECORD").is_some() {
        fs::write(path, shown).unwrap();
    } else {
        let (recorded, now) = (steady(recorded), steady(shown));
        let differs = recorded.lines().zip(now.lines()).find(|(recorded, now)| recorded != now);
        let advice = "if that is right, CTX_RECORD=1 records it anew";
        assert!(recorded == now, "{} is not what is shown: first {differs:#?}; {advice}\n{shown}", path.display());
    }
}

/// Runs a command at a terminal of 80 columns, answers its questions, and returns what the terminal shows.
pub(crate) fn at_terminal(command: Command, answers: &[String]) -> String {
    let (mut pty, pts) = blocking::open().unwrap();
    pty.resize(Size::new(24, 80)).unwrap();
    let mut child = blocking::Command::from(command).spawn(pts).unwrap();
    let shown = converse(&mut pty, answers);
    child.wait().unwrap();
    shown
}

fn converse(pty: &mut Pty, answers: &[String]) -> String {
    let (mut shown, mut buffer, mut answers) = (Vec::new(), [0; 4096], answers.iter());
    // The end is an error: nobody has the other side of the terminal open any more.
    while let Ok(read @ 1..) = pty.read(&mut buffer) {
        shown.extend_from_slice(&buffer[..read]);
        if shown.ends_with(QUESTION_ENDS.as_bytes()) {
            let answer = answers.next().map_or("", String::as_str);
            // The terminal shows what is typed.
            pty.write_all(format!("{answer}\n").as_bytes()).unwrap();
        }
    }
    plain(&String::from_utf8_lossy(&shown).replace("\r\n", "\n"))
}

/// Returns a text without what steers a terminal: bars of progress and what clears them.
fn plain(text: &str) -> String {
    let mut lines = Vec::new();
    for line in text.lines() {
        // What a return goes over is not seen.
        let line = line.rsplit('\r').next().unwrap_or_default();
        let mut plain = String::new();
        let mut letters = line.chars();
        while let Some(letter) = letters.next() {
            if letter == '\u{1b}' {
                _ = letters.by_ref().skip_while(|it| *it == '[').find(char::is_ascii_alphabetic);
            } else {
                plain.push(letter);
            }
        }
        lines.push(plain.trim_end().to_owned() + "\n");
    }
    lines.concat()
}

/// Returns a document with what is another each time made the same: ids by the order in which they occur, times, sizes.
fn steady(document: &str) -> String {
    let mut ids: HashMap<String, usize> = HashMap::new();
    let line = |line: &str| {
        let mut words: Vec<String> = Vec::new();
        for word in line.split_whitespace() {
            let number = |word: &String| word.trim_start_matches('(').starts_with(|it: char| it.is_ascii_digit());
            match (word.trim_start_matches('(').trim_end_matches([',', '.', ':', ';', ')']), words.as_slice()) {
                ("ago", [.., count, _unit]) if number(count) => {
                    words.truncate(words.len() - 2);
                    words.push("TIME".to_owned());
                }
                ("kB" | "MB" | "bytes" | "tokens" | "B", [.., count]) if number(count) => {
                    words.pop();
                    words.push("SIZE".to_owned());
                }
                ("now", _) => words.push("TIME".to_owned()),
                (path, _) if path.contains('/') && has_uuid(path) => words.push("FILE".to_owned()),
                (at, _) if is_moment(at) => words.push("TIME".to_owned()),
                (_, [.., before]) if before == "version" => words.push("VERSION".to_owned()),
                _ => words.push(steady_word(word, &mut ids)),
            }
        }
        words.join(" ") + "\n"
    };
    document.lines().map(line).collect()
}

/// Tells whether a UUID stands in a word.
fn has_uuid(word: &str) -> bool {
    let groups: Vec<_> = word.split(['-', '/', '.']).map(str::len).collect();
    groups.windows(5).any(|lengths| lengths == [8, 4, 4, 4, 12])
}

/// Tells whether a word is a date, a time of day or an age.
fn is_moment(word: &str) -> bool {
    let is_made_of = |mark: char| {
        let parts: Vec<_> = word.trim_end_matches('Z').split(mark).collect();
        parts.len() == 3 && parts.iter().all(|part| part.len() >= 2 && part.chars().all(|it| it.is_ascii_digit()))
    };
    let digits = word.trim_end_matches(['s', 'm', 'h']);
    let is_age = digits.len() + 1 == word.len() && !digits.is_empty() && digits.chars().all(|it| it.is_ascii_digit());
    is_made_of('-') || is_made_of(':') || is_age
}

/// Puts numbers in the places of ids, and hides versions.
fn steady_word(word: &str, ids: &mut HashMap<String, usize>) -> String {
    let mut steady = String::new();
    let mut rest = word;
    while let Some(start) = rest.find(|letter: char| letter.is_ascii_alphanumeric()) {
        let end = rest[start..].find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '-');
        let end = end.map_or(rest.len(), |end| start + end);
        steady.push_str(&rest[..start]);
        let token = &rest[start..end];
        let digits = token.trim_start_matches("ctx-");
        let is_hex = digits.chars().all(|it| it.is_ascii_hexdigit() || it == '-');
        let is_version =
            token.chars().all(|it| it.is_ascii_digit()) && rest[end..].starts_with('.') && steady.ends_with('/');
        if is_version {
            return steady + "VERSION";
        }
        if is_hex && digits.len() >= 7 && digits.contains(|it: char| it.is_ascii_digit()) {
            let next = ids.len() + 1;
            let number = ids.entry(digits[..7].to_owned()).or_insert(next);
            steady.push_str("ID-");
            steady.push_str(&number.to_string());
        } else {
            steady.push_str(token);
        }
        rest = &rest[end..];
    }
    steady + rest
}

#[test]
fn a_recording_is_typed_again_with_its_answers() {
    let document =
        "# Page\n\n```console\n$ a b\nGo on? [y/N] y\nok ctx-8d3f41c09a, 3 seconds ago\n$ c\n```\nEnd `$ x`.\n";
    let recording = Recording::read(document);
    assert_eq!(recording.replay(|_, _| String::new()), "# Page\n\n```console\n$ a b\n$ c\n```\nEnd `$ x`.\n");
    let mut typed = Vec::new();
    let shown = recording.replay(|line, answers| {
        typed.push((line.to_owned(), answers.to_vec()));
        if line == "c" { String::new() } else { "Go on? [y/N] y\nok ctx-000000009a, 12 minutes ago\n".to_owned() }
    });
    assert_eq!(typed, [("a b".to_owned(), vec!["y".to_owned()]), ("c".to_owned(), Vec::new())]);
    assert_eq!(steady(document), steady(&shown));
    assert!(steady(document).contains("ok ID-1, TIME"));
    assert_ne!(steady(document), steady(&shown.replace("ok", "no")));
}

#[test]
fn what_steers_a_terminal_is_not_shown() {
    assert_eq!(plain("a\u{1b}[2Kb\r\u{1b}[1mc\u{1b}[0m  \nd"), "c\nd\n");
}
