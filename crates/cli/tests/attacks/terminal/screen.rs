//! What a terminal must not be sent.

/// What bytes were sent to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stream {
    /// A pipe.
    Plain,
    /// A pipe for which colours were asked.
    Coloured,
    /// A terminal, which ends lines its own way.
    Terminal,
    /// The same, shown content with lines of its own.
    TerminalWithContent,
}

impl Stream {
    fn is_terminal(self) -> bool {
        matches!(self, Self::Terminal | Self::TerminalWithContent)
    }
}

/// The parameters of the styles that the program uses. Text that is hidden or blinks is none of them.
const STYLES: &[&str] = &["", "0", "1", "2", "3", "4", "31", "32", "33", "34", "35", "36"];
/// How a bar begins its line anew.
const REDRAWN: &str = "\r\u{1b}[2K";
/// More marks than this on one letter cover the lines around it.
const MAX_MARKS: usize = 10;

/// Returns what of some bytes would steer a terminal, or pass for a line of the program's own.
pub(super) fn offences(bytes: &[u8], stream: Stream) -> Vec<String> {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return vec![format!("not UTF-8: {}", String::from_utf8_lossy(bytes).escape_debug())];
    };
    let text = if stream.is_terminal() {
        // A terminal ends lines its own way, and a bar that shows progress is drawn anew in its line.
        text.replace("\r\n", "\n").replace(REDRAWN, "")
    } else {
        text.to_owned()
    };
    let mut offences = Vec::new();
    for line in text.split('\n') {
        let mut rest = line;
        let mut marks = 0;
        while let Some(letter) = rest.chars().next() {
            if stream != Stream::Plain
                && let Some(after) = after_style(rest)
            {
                rest = after;
                continue;
            }
            marks = if ('\u{300}'..='\u{36f}').contains(&letter) { marks + 1 } else { 0 };
            if (letter.is_control() && letter != '\t') || is_unseen(letter) || marks > MAX_MARKS {
                offences.push(format!("{letter:?} in {line:?}"));
                break;
            }
            rest = &rest[letter.len_utf8()..];
        }
        if line.starts_with("FORGED") && stream != Stream::TerminalWithContent {
            offences.push(format!("a forged line: {line:?}"));
        }
    }
    offences
}

fn after_style(text: &str) -> Option<&str> {
    let (parameters, rest) = text.strip_prefix("\u{1b}[")?.split_once('m')?;
    parameters.split(';').all(|parameter| STYLES.contains(&parameter)).then_some(rest)
}

fn is_unseen(letter: char) -> bool {
    matches!(letter, '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}
