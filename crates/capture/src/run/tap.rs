//! The tap: keeps what a program prints as a session of its own, and hears what it tells.

use std::{
    fs::{self, File},
    io::{self, Write as _},
    os::unix::fs::OpenOptionsExt as _,
    path::PathBuf,
};

use contexture::{
    Clock,
    core::{Entry, EntryPart, Format, GivenSessionId, Role},
};

use super::PrintedOutput;
use crate::{CheckpointMoment, Dialect};

/// Longest first line that is waited for.
const MAX_FIRST_LINE: usize = 64 * 1024;
/// Text that is held before it is written down without being asked.
const MAX_HELD: usize = 1024 * 1024;
/// Longest event that is waited for. One that is longer is kept and not heard.
const MAX_EVENT: usize = 16 * 1024 * 1024;
/// Most bytes that are kept of what a program prints. The rest is shown and not kept.
const MAX_KEPT: u64 = 1024 * 1024 * 1024;

/// What is made of the bytes that a program prints.
pub struct Tap {
    path: PathBuf,
    clock: Clock,
    /// What the program was asked, for a session of plain text.
    command: String,
    shape: TapShape,
    file: Keeping,
    /// Bytes that were written there.
    written: u64,
    /// The id of the session that the program says it is in.
    session: Option<GivenSessionId>,
    /// A text that the session's file holds once it is up to date with what was heard last.
    awaited: Option<String>,
}

/// How the bytes are read.
enum TapShape {
    /// Nobody knows yet; what has come of the first line.
    Unknown(Vec<u8>),
    /// As events, with what has come of the next one.
    Events(Dialect, Vec<u8>),
    /// As text, with what is not written down.
    Text(Vec<u8>),
}

/// Where they are kept.
enum Keeping {
    /// Nowhere yet.
    Not,
    File(File),
    /// No longer: the program keeps a better session itself, or there was a problem.
    NoMore(Option<io::Error>),
}

impl Tap {
    /// Keeps what is printed in a file, which is made when there is something. Without a dialect, the first line decides.
    pub fn new(path: PathBuf, clock: Clock, command: String, dialect: Option<Dialect>) -> Self {
        let shape = dialect.map_or(TapShape::Unknown(Vec::new()), |dialect| TapShape::Events(dialect, Vec::new()));
        Self { path, clock, command, shape, file: Keeping::Not, written: 0, session: None, awaited: None }
    }

    /// Takes what is printed for text.
    #[must_use]
    pub fn of_text(self) -> Self {
        Self { shape: TapShape::Text(Vec::new()), ..self }
    }

    /// Keeps nothing, because nothing can be heard.
    #[must_use]
    pub fn closed(self) -> Self {
        Self { file: Keeping::NoMore(None), ..self }
    }

    /// Returns how the program tells what happens, if it does.
    pub fn dialect(&self) -> Option<Dialect> {
        match self.shape {
            TapShape::Events(dialect, _) => Some(dialect),
            TapShape::Unknown(_) | TapShape::Text(_) => None,
        }
    }

    /// Describes what was printed.
    pub fn printed(&self) -> PrintedOutput {
        let text = || Format::new("events-v1").expect("the names of formats are legal");
        let kept = match &self.file {
            // Without a second handle nothing can be synced, so nothing counts as kept.
            Keeping::File(file) => file.try_clone().ok(),
            Keeping::Not | Keeping::NoMore(_) => None,
        };
        PrintedOutput {
            path: self.path.clone(),
            format: self.dialect().map_or_else(text, Dialect::format),
            runtime: self.dialect().map(Dialect::runtime),
            session: self.session.clone(),
            kept,
        }
    }

    /// Takes out a text that the session's file holds once it is up to date with what was heard since the last time.
    pub fn take_awaited(&mut self) -> Option<String> {
        self.awaited.take()
    }

    /// Returns why not all that was printed is kept, if that is so.
    pub fn into_problem(self) -> Option<io::Error> {
        match self.file {
            Keeping::NoMore(problem) => problem,
            Keeping::Not | Keeping::File(_) => None,
        }
    }

    /// Takes what was printed and returns what has happened by it, the last if several things have.
    pub fn take(&mut self, bytes: &[u8]) -> Option<CheckpointMoment> {
        match &mut self.shape {
            TapShape::Unknown(line) => {
                line.extend_from_slice(bytes);
                let end = line.iter().position(|byte| *byte == b'\n');
                if end.is_none() && line.len() < MAX_FIRST_LINE {
                    return None;
                }
                let line = std::mem::take(line);
                let first = &line[..end.unwrap_or(line.len())];
                self.shape = Dialect::of_first_line(first)
                    .map_or_else(|| TapShape::Text(Vec::new()), |dialect| TapShape::Events(dialect, Vec::new()));
                self.take(&line)
            }
            TapShape::Text(held) => {
                held.extend_from_slice(bytes);
                if held.len() > MAX_HELD {
                    self.write_lines();
                }
                None
            }
            TapShape::Events(dialect, held) => {
                let dialect = *dialect;
                held.extend_from_slice(bytes);
                let end = held.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
                let lines: Vec<u8> = held.drain(..end).collect();
                if held.len() > MAX_EVENT {
                    // That a line is open must not be forgotten.
                    held.drain(..held.len() - 1);
                    held.shrink_to(MAX_HELD);
                }
                self.append(bytes);
                let mut last = None;
                for line in lines.split(|byte| *byte == b'\n') {
                    let heard = dialect.hear(line);
                    self.session = heard.session.or(self.session.take());
                    if let Some(happened) = heard.moment {
                        self.awaited.clone_from(&happened.awaited);
                        last = Some(happened);
                    }
                }
                last
            }
        }
    }

    /// Tells whether there is text that is not written down.
    pub fn holds_text(&self) -> bool {
        matches!(&self.shape, TapShape::Text(held) if !held.is_empty())
    }

    /// Writes down the lines of text that are whole, so that little is lost if the machine stops.
    pub fn write_lines(&mut self) {
        let TapShape::Text(held) = &mut self.shape else { return };
        let end = held.iter().rposition(|byte| *byte == b'\n').map(|last| last + 1);
        let end = end.unwrap_or(if held.len() > MAX_HELD { held.len() } else { 0 });
        let text = held.drain(..end).collect::<Vec<_>>();
        self.write_text(&text);
    }

    /// Writes down everything that was printed, and what was asked.
    pub fn write_all(&mut self) {
        if let TapShape::Unknown(line) = &mut self.shape {
            self.shape = TapShape::Text(std::mem::take(line));
        }
        let TapShape::Text(held) = &mut self.shape else { return };
        let text: Vec<u8> = held.drain(..whole_letters(held)).collect();
        self.write_question();
        self.write_text(&text);
    }

    /// Writes down the rest when nothing more will come.
    pub fn finish(&mut self) {
        self.write_all();
        if let TapShape::Text(held) = &mut self.shape {
            let rest = std::mem::take(held);
            self.write_text(&rest);
        }
        if matches!(&self.shape, TapShape::Events(_, held) if !held.is_empty()) {
            // Only what ends a line counts as written.
            self.append(b"\n");
        }
    }

    /// Keeps nothing any longer: the program's own session tells more.
    pub fn give_up_file(&mut self) {
        if let Keeping::File(_) = self.file {
            // What stays behind is only in the way.
            _ = fs::remove_file(&self.path);
        }
        self.file = Keeping::NoMore(None);
    }

    fn write_text(&mut self, text: &[u8]) {
        if text.is_empty() {
            return;
        }
        self.write_question();
        // Terminals end lines in two letters.
        self.write_entry(Role::Assistant, String::from_utf8_lossy(text).replace("\r\n", "\n"));
    }

    fn write_question(&mut self) {
        if let Keeping::Not = self.file {
            self.write_entry(Role::User, self.command.clone());
        }
    }

    fn write_entry(&mut self, role: Role, text: String) {
        let entry = Entry { at: Some((self.clock)()), ..Entry::new(role, vec![EntryPart::text(text)]) };
        let mut line = serde_json::to_vec(&entry).expect("an entry has a JSON form");
        line.push(b'\n');
        self.append(&line);
    }

    fn append(&mut self, bytes: &[u8]) {
        if let Keeping::Not = self.file {
            let made = File::options().append(true).create_new(true).mode(0o600).open(&self.path);
            self.file = made.map_or_else(|problem| Keeping::NoMore(Some(problem)), Keeping::File);
        }
        let Keeping::File(file) = &mut self.file else { return };
        self.written += bytes.len() as u64;
        if self.written > MAX_KEPT {
            let problem = format!("it has printed more than {} MiB, and the rest is not kept", MAX_KEPT >> 20);
            self.file = Keeping::NoMore(Some(io::Error::other(problem)));
            return;
        }
        // Whatever the disk does, the program goes on.
        if let Err(problem) = file.write_all(bytes) {
            self.file = Keeping::NoMore(Some(problem));
        }
    }
}

/// Returns how much of a text has no letter that is cut off at the end.
fn whole_letters(text: &[u8]) -> usize {
    for (back, byte) in (1..=3).zip(text.iter().rev()) {
        let length = match byte {
            0b1000_0000..0b1100_0000 => continue,
            0b1100_0000..0b1110_0000 => 2,
            0b1110_0000..0b1111_0000 => 3,
            0b1111_0000.. => 4,
            ..0b1000_0000 => 1,
        };
        return if length > back { text.len() - back } else { text.len() };
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use std::{path::Path, sync::Arc};

    use super::*;

    fn tap(path: &Path) -> Tap {
        let clock: Clock = Arc::new(|| "2026-11-15T20:10:00Z".parse().unwrap());
        Tap::new(path.to_owned(), clock, "agent --go".to_owned(), None)
    }

    fn texts(path: &Path) -> Vec<String> {
        let lines = fs::read_to_string(path).unwrap();
        lines.lines().map(|line| serde_json::from_str::<Entry>(line).unwrap().text()).collect()
    }

    #[test]
    fn text_is_written_by_whole_lines_and_all_of_it_in_the_end() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("run.jsonl");
        let mut tap = tap(&path);
        assert_eq!(tap.take(b"one\ntw"), None);
        tap.write_lines();
        assert_eq!(texts(&path), ["agent --go", "one\n"]);
        tap.take(b"o \xc3");
        tap.write_all();
        tap.take(b"\xa9 \xff\xc3");
        tap.finish();
        assert_eq!(texts(&path), ["agent --go", "one\n", "two ", "é \u{fffd}", "\u{fffd}"]);
        assert_eq!(tap.printed().format.as_str(), "events-v1");
    }

    #[test]
    fn events_are_kept_byte_for_byte_and_heard() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("run.jsonl");
        let mut tap = tap(&path);
        let lines =
            "{\"type\":\"thread.started\",\"thread_id\":\"t\"}\nnoise\n{\"type\":\"turn.completed\"}\n{\"open\"";
        let middle = 50;
        assert_eq!(tap.take(&lines.as_bytes()[..middle]), None);
        let happened = tap.take(&lines.as_bytes()[middle..]).unwrap();
        assert_eq!(
            (happened.trigger.as_str(), tap.printed().session),
            ("turn_boundary", Some(GivenSessionId::new("t")))
        );
        assert_eq!(fs::read_to_string(&path).unwrap(), lines);
        tap.finish();
        assert_eq!(fs::read_to_string(&path).unwrap(), format!("{lines}\n"));
        tap.give_up_file();
        assert!(!path.exists());
    }
}
