//! The one place where what is shown is cleaned of all that could steer a terminal or mislead its reader.

use std::{
    borrow::Cow,
    fmt::Write as _,
    io::{self, Write},
};

use unicode_width::UnicodeWidthChar as _;

/// Stands where something was taken out.
const REPLACEMENT: char = '\u{fffd}';
/// Marks on one letter that are shown: more than any script needs, and not enough to cover other lines.
const MAX_MARKS: usize = 8;
/// Parameters of the styles that the program and its parser of arguments use.
const STYLES: &[&str] = &["", "0", "1", "2", "3", "4", "31", "32", "33", "34", "35", "36"];

/// What may pass beside text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Passing {
    /// Sequences that set one of the program's own styles.
    pub(crate) styles: bool,
    /// Line feeds.
    pub(crate) line_feeds: bool,
}

impl Passing {
    /// One line without styles.
    pub(crate) const LINE: Self = Self { styles: false, line_feeds: false };
    /// Lines without styles.
    pub(crate) const LINES: Self = Self { styles: false, line_feeds: true };
}

/// Returns a text of which a terminal obeys nothing but what may pass. What else it would obey, and what would turn or
/// hide letters, is replaced.
pub(crate) fn clean(text: &str, passing: Passing) -> Cow<'_, str> {
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\t') || (byte == b'\n' && passing.line_feeds)) {
        return Cow::Borrowed(text);
    }
    let mut cleaned = String::with_capacity(text.len());
    let mut rest = text;
    let mut marks = 0;
    while let Some(letter) = rest.chars().next() {
        if let Some(style) = style_at(rest).filter(|_| passing.styles) {
            cleaned.push_str(style);
            rest = &rest[style.len()..];
            continue;
        }
        rest = &rest[letter.len_utf8()..];
        marks = if letter.width() == Some(0) { marks + 1 } else { 0 };
        match letter {
            '\t' => cleaned.push('\t'),
            '\r' if rest.starts_with('\n') => {}
            '\n' if passing.line_feeds => cleaned.push('\n'),
            _ if misleads(letter) => cleaned.push(REPLACEMENT),
            _ if marks == MAX_MARKS + 1 => cleaned.push(REPLACEMENT),
            _ if marks > MAX_MARKS => {}
            _ => cleaned.push(letter),
        }
    }
    Cow::Owned(cleaned)
}

/// Returns a JSON text in which letters that could steer a terminal are escaped. It means the same.
pub(super) fn escape_json(json: &str) -> Cow<'_, str> {
    if json.is_ascii() && !json.contains('\u{7f}') {
        return Cow::Borrowed(json);
    }
    let mut escaped = String::with_capacity(json.len() + 16);
    let mut marks = 0;
    for letter in json.chars() {
        marks = if letter.width() == Some(0) { marks + 1 } else { 0 };
        if misleads(letter) || marks > MAX_MARKS {
            for unit in letter.encode_utf16(&mut [0; 2]) {
                write!(escaped, "\\u{unit:04x}").expect("a string takes everything");
            }
        } else {
            escaped.push(letter);
        }
    }
    Cow::Owned(escaped)
}

/// Tells whether a letter does something to a terminal, or to the letters around it, that cannot be seen.
fn misleads(letter: char) -> bool {
    let is_unseen = matches!(
        letter,
        // Turning the direction of writing.
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{206f}'
        // Lines and paragraphs that other programs break there.
        | '\u{2028}' | '\u{2029}'
        // Nothing to see. The two joiners that scripts and pictures are written with may stay.
        | '\u{ad}' | '\u{180e}' | '\u{200b}' | '\u{2060}'..='\u{2064}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e007f}'
    );
    letter.is_control() || is_unseen
}

/// Returns the sequence at the start of a text that sets one of the program's own styles.
fn style_at(text: &str) -> Option<&str> {
    let (parameters, rest) = text.strip_prefix("\u{1b}[")?.split_once('m')?;
    let is_ours = parameters.split(';').all(|parameter| STYLES.contains(&parameter));
    is_ours.then(|| &text[..text.len() - rest.len()])
}

/// Cleans bytes that come in pieces.
pub(crate) struct CleanWriter<W> {
    sink: W,
    passing: Passing,
    /// The start of a letter whose end has not come yet.
    started: Vec<u8>,
    has_replaced: bool,
    is_in_line: bool,
}

impl<W: Write> CleanWriter<W> {
    pub(crate) fn new(sink: W, passing: Passing) -> Self {
        Self { sink, passing, started: Vec::new(), has_replaced: false, is_in_line: false }
    }

    /// Returns where the bytes go, for what is clean already.
    pub(super) fn sink(&mut self) -> &mut W {
        &mut self.sink
    }

    /// Tells whether anything was not shown as it is.
    pub(super) fn has_replaced(&self) -> bool {
        self.has_replaced
    }

    /// Shows that a letter has never ended, if one was started, and ends the line if what was written is not exact anyway.
    pub(super) fn end(&mut self) -> io::Result<()> {
        let started = std::mem::take(&mut self.started);
        self.pass(&String::from_utf8_lossy(&started), !started.is_empty())?;
        if self.has_replaced && self.is_in_line { self.pass("\n", true) } else { Ok(()) }
    }

    fn pass(&mut self, text: &str, was_replaced: bool) -> io::Result<()> {
        let cleaned = clean(text, self.passing);
        self.has_replaced |= was_replaced || *cleaned != *text;
        self.is_in_line = cleaned.chars().next_back().map_or(self.is_in_line, |last| last != '\n');
        self.sink.write_all(cleaned.as_bytes())
    }
}

impl<W: Write> Write for CleanWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut started = std::mem::take(&mut self.started);
        started.extend_from_slice(bytes);
        let mut chunks = started.utf8_chunks().peekable();
        while let Some(chunk) = chunks.next() {
            let (text, broken) = (chunk.valid(), chunk.invalid());
            // The last bytes may be the start of a letter.
            if chunks.peek().is_none() && std::str::from_utf8(broken).is_err_and(|error| error.error_len().is_none()) {
                self.pass(text, false)?;
                self.started = broken.to_vec();
                break;
            }
            self.pass(text, false)?;
            if !broken.is_empty() {
                self.pass(REPLACEMENT.encode_utf8(&mut [0; 4]), true)?;
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.sink.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_passes_that_a_terminal_obeys() {
        for (text, expected) in [
            ("a\u{1b}[31mb\tc\nd\r", "a\u{fffd}[31mb\tc\u{fffd}d\u{fffd}"),
            ("one\r\ntwo", "one\u{fffd}two"),
            ("\u{9b}2J\u{8}\u{7f}\u{0}", "\u{fffd}2J\u{fffd}\u{fffd}\u{fffd}"),
            ("user\u{202e}resu\u{2069}", "user\u{fffd}resu\u{fffd}"),
            ("a\u{200b}b\u{2028}c\u{feff}\u{e0041}", "a\u{fffd}b\u{fffd}c\u{fffd}\u{fffd}"),
            ("👩\u{200d}👧 é\u{301} ü ไทย", "👩\u{200d}👧 é\u{301} ü ไทย"),
        ] {
            assert_eq!(clean(text, Passing::LINE), expected, "{text:?}");
        }
        assert_eq!(clean("one\r\ntwo\n", Passing::LINES), "one\ntwo\n");
        let flood = format!("e{}x", "\u{301}".repeat(100));
        assert_eq!(clean(&flood, Passing::LINE), format!("e{}\u{fffd}x", "\u{301}".repeat(MAX_MARKS)));
    }

    #[test]
    fn only_styles_of_the_program_pass_and_only_where_there_are_any() {
        let styled = Passing { styles: true, ..Passing::LINE };
        assert_eq!(clean("\u{1b}[1m\u{1b}[31mred\u{1b}[0m", styled), "\u{1b}[1m\u{1b}[31mred\u{1b}[0m");
        assert_eq!(clean("\u{1b}[8mhidden\u{1b}[2J\u{1b}[1", styled), "\u{fffd}[8mhidden\u{fffd}[2J\u{fffd}[1");
        assert_eq!(clean("\u{1b}[1mx", Passing::LINE), "\u{fffd}[1mx");
    }

    #[test]
    fn pieces_are_cleaned_as_the_whole_is() {
        let bytes = "aé\u{202e}👩\u{1b}]x\u{7}\n".as_bytes();
        for piece in 1..bytes.len() {
            let mut writer = CleanWriter::new(Vec::new(), Passing::LINES);
            bytes.chunks(piece).for_each(|piece| writer.write_all(piece).unwrap());
            writer.end().unwrap();
            assert_eq!(String::from_utf8(writer.sink.clone()).unwrap(), "aé\u{fffd}👩\u{fffd}]x\u{fffd}\n");
            assert!(writer.has_replaced());
        }
        let mut writer = CleanWriter::new(Vec::new(), Passing::LINES);
        writer.write_all(b"a\xffb\xe2\x80").unwrap();
        writer.end().unwrap();
        assert_eq!(String::from_utf8(writer.sink).unwrap(), "a\u{fffd}b\u{fffd}\n");
    }

    #[test]
    fn an_escaped_document_means_the_same() {
        let text = format!("a\u{202e}\u{9b}\u{e0041}é\n\u{1b}e{}", "\u{301}".repeat(50));
        let json = serde_json::to_string(&text).unwrap();
        let escaped = escape_json(&json);
        assert!(!escaped.contains(misleads) && !escaped.contains(&"\u{301}".repeat(MAX_MARKS + 1)), "{escaped}");
        assert_eq!(serde_json::from_str::<String>(&escaped).unwrap(), text);
    }
}
