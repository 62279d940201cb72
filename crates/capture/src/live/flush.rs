//! Waiting for a runtime to write down what it has just said: it does so a moment after it tells its hooks.

use std::{
    io::{self, Read as _, Seek as _, SeekFrom},
    path::Path,
    thread,
    time::{Duration, Instant},
};

use contexture::open_found;
use memchr::memmem::Finder;

/// Bytes before what is new in which the text may be too, because another hook has captured it.
const LOOK_BACK: u64 = 256 * 1024;
/// Bytes that are looked at together.
const PIECE_BYTES: u64 = 1024 * 1024;
/// Longest text that is looked for.
const MAX_NEEDLE: usize = 64;
const PAUSE: Duration = Duration::from_millis(2);

/// Waits until a file holds a text, after about so many bytes, but no longer than allowed. Tells whether it does.
pub(super) fn wait_for(path: &Path, text: &str, after: u64, limit: Duration) -> bool {
    let Some(needle) = needle(text) else { return true };
    let start = Instant::now();
    let mut from = after.saturating_sub(LOOK_BACK);
    loop {
        match holds(path, &Finder::new(&needle), &mut from) {
            Ok(true) => return true,
            Ok(false) => {}
            // It may not be there yet.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(_) => return false,
        }
        if start.elapsed() >= limit {
            return false;
        }
        thread::sleep(PAUSE);
    }
}

/// Looks at what was added to a file, and remembers how far it looked.
fn holds(path: &Path, needle: &Finder<'_>, from: &mut u64) -> io::Result<bool> {
    let mut file = open_found(path)?;
    let mut bytes = Vec::new();
    while file.metadata()?.len() > *from {
        file.seek(SeekFrom::Start(*from))?;
        bytes.clear();
        let read = file.by_ref().take(PIECE_BYTES).read_to_end(&mut bytes)? as u64;
        if needle.find(&bytes).is_some() {
            return Ok(true);
        }
        *from += bytes.len().saturating_sub(needle.needle().len()) as u64;
        if read < PIECE_BYTES {
            break;
        }
    }
    Ok(false)
}

/// Returns a part of a text that is written in JSON as it is, whoever writes it.
fn needle(text: &str) -> Option<Vec<u8>> {
    let is_plain = |letter: char| letter.is_ascii_graphic() && !"\"\\/<>&'".contains(letter) || letter == ' ';
    let longest = text.split(|letter| !is_plain(letter)).max_by_key(|part| part.len())?;
    let part = longest.as_bytes();
    (!part.is_empty()).then(|| part[..part.len().min(MAX_NEEDLE)].to_vec())
}

#[cfg(test)]
mod tests {
    use std::{fs::File, io::Write as _};

    use super::*;

    #[test]
    fn the_text_is_found_once_it_is_written_and_no_sooner() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        writeln!(file, "{{\"said\":\"before\"}}").unwrap();
        let wait = |text: &str| wait_for(file.path(), text, 0, Duration::from_millis(20));
        assert!(!wait("It is \"done\" now."));
        let path = file.path().to_owned();
        let writer = thread::spawn(move || {
            thread::sleep(Duration::from_millis(30));
            let mut file = File::options().append(true).open(path).unwrap();
            writeln!(file, "{{\"said\":\"It is \\\"done\\\" now.\"}}").unwrap();
        });
        assert!(wait_for(file.path(), "It is \"done\" now.", 0, Duration::from_secs(20)));
        writer.join().unwrap();
    }

    #[test]
    fn nothing_is_awaited_that_could_be_written_in_another_way() {
        let text = |text: &str| needle(text).map(|part| String::from_utf8(part).unwrap());
        assert_eq!(text("naïve\nlines of text"), Some("lines of text".to_owned()));
        assert_eq!(text("\n\"é\""), None);
    }
}
