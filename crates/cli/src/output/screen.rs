//! A whole terminal for a moment, in which a person chooses something. What was on it comes back.

use std::io::{self, Write};

use rustix::termios;

use super::{Palette, Passing, clean};
use crate::raw_mode::RawMode;

/// Takes another page of the terminal, without a cursor.
const ENTER: &str = "\x1b[?1049h\x1b[?25l";
/// Gives the page back.
const LEAVE: &str = "\x1b[?25h\x1b[?1049l";
/// The size of a terminal that does not tell.
const USUAL_SIZE: (usize, usize) = (24, 80);
/// The least that is drawn on.
const LEAST_SIZE: (usize, usize) = (6, 40);
/// Most keys that are read at once.
const KEY_BYTES: usize = 256;

/// A key, or what somebody has typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Key {
    Up,
    Down,
    PageUp,
    PageDown,
    Enter,
    Erase,
    /// Leaving without a choice.
    Leave,
    Letter(char),
}

/// The terminal, drawn on standard error.
pub(crate) struct Screen {
    palette: Palette,
    _mode: RawMode,
}

impl Screen {
    pub(super) fn open(palette: Palette) -> io::Result<Self> {
        let mode = RawMode::begin()?;
        let screen = Self { palette, _mode: mode };
        write(ENTER.as_bytes())?;
        Ok(screen)
    }

    /// Returns the colours.
    pub(crate) fn palette(&self) -> Palette {
        self.palette
    }

    /// Returns the lines and columns there are.
    pub(crate) fn size() -> (usize, usize) {
        let size = termios::tcgetwinsize(io::stderr()).ok();
        let told = size.map(|size| (usize::from(size.ws_row), usize::from(size.ws_col)));
        let (lines, columns) = told.filter(|(lines, columns)| *lines > 0 && *columns > 0).unwrap_or(USUAL_SIZE);
        (lines.max(LEAST_SIZE.0), columns.max(LEAST_SIZE.1))
    }

    /// Draws lines from the top, each cleaned. They must fit.
    pub(crate) fn draw(&self, lines: &[String]) -> io::Result<()> {
        let passing = Passing { styles: self.palette.is_coloured(), line_feeds: false };
        let mut page = String::from("\x1b[H");
        for (at, line) in lines.iter().enumerate() {
            if at > 0 {
                page.push_str("\r\n");
            }
            page.push_str(&clean(line, passing));
            page.push_str("\x1b[K");
        }
        page.push_str("\x1b[J");
        write(page.as_bytes())
    }

    /// Waits for keys. The end of the input is leaving.
    pub(crate) fn keys() -> io::Result<Vec<Key>> {
        let mut bytes = [0; KEY_BYTES];
        let read = rustix::io::read(io::stdin(), &mut bytes)?;
        Ok(if read == 0 { vec![Key::Leave] } else { parse(&bytes[..read]) })
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        // Nobody sees a terminal that is gone.
        _ = write(LEAVE.as_bytes());
    }
}

fn write(bytes: &[u8]) -> io::Result<()> {
    let mut terminal = io::stderr().lock();
    terminal.write_all(bytes)?;
    terminal.flush()
}

/// Reads what a terminal sends for keys. What is unknown is nothing.
fn parse(bytes: &[u8]) -> Vec<Key> {
    const SEQUENCES: &[(&[u8], Key)] = &[
        (b"\x1b[A", Key::Up),
        (b"\x1bOA", Key::Up),
        (b"\x1b[B", Key::Down),
        (b"\x1bOB", Key::Down),
        (b"\x1b[5~", Key::PageUp),
        (b"\x1b[6~", Key::PageDown),
    ];
    let (mut keys, mut rest) = (Vec::new(), bytes);
    while let Some(first) = rest.first() {
        if let Some((sequence, key)) = SEQUENCES.iter().find(|(sequence, _)| rest.starts_with(sequence)) {
            keys.push(*key);
            rest = &rest[sequence.len()..];
            continue;
        }
        let taken = match first {
            0x1b if rest.len() == 1 => {
                keys.push(Key::Leave);
                1
            }
            // Another key that sends several letters.
            0x1b => rest.len(),
            b'\r' | b'\n' => {
                keys.push(Key::Enter);
                1
            }
            0x7f | 0x08 => {
                keys.push(Key::Erase);
                1
            }
            0x03 | 0x04 => {
                keys.push(Key::Leave);
                1
            }
            0x10 => {
                keys.push(Key::Up);
                1
            }
            0x0e => {
                keys.push(Key::Down);
                1
            }
            0..0x20 => 1,
            _ => {
                let valid = String::from_utf8_lossy(rest);
                let letter = valid.chars().next().unwrap_or(char::REPLACEMENT_CHARACTER);
                if letter != char::REPLACEMENT_CHARACTER && !letter.is_control() {
                    keys.push(Key::Letter(letter));
                }
                if letter == char::REPLACEMENT_CHARACTER { 1 } else { letter.len_utf8() }
            }
        };
        rest = &rest[taken.min(rest.len())..];
    }
    keys
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_read_however_terminals_send_them() {
        assert_eq!(parse(b"\x1b[A\x1bOB\x1b[6~"), [Key::Up, Key::Down, Key::PageDown]);
        assert_eq!(parse("né\x7f\r".as_bytes()), [Key::Letter('n'), Key::Letter('é'), Key::Erase, Key::Enter]);
        assert_eq!(
            (parse(b"\x1b"), parse(b"\x03"), parse(b"\x10\x0e")),
            (vec![Key::Leave], vec![Key::Leave], vec![Key::Up, Key::Down])
        );
        assert_eq!(parse(b"\x1b[1;5C\xff\x01"), []);
        assert_eq!(parse(b"\xff\xfea\x01"), [Key::Letter('a')]);
    }
}
