//! Tells values that somebody made up by chance from those that mean something.

use contexture_assembly::{OpenAi, TokenCounter as _};

/// What a value is said to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Claim {
    Password,
    Secret,
    Token,
}

impl Claim {
    /// The shortest and longest value that is believed.
    fn length(self) -> (usize, usize) {
        match self {
            Self::Password => (8, 128),
            Self::Secret => (12, 512),
            Self::Token => (16, 2048),
        }
    }

    /// How many characters a token of a language model may hold on average: words hold four, chance two.
    fn most_characters_per_token(self) -> f64 {
        match self {
            Self::Password => 2.3,
            Self::Secret | Self::Token => 2.4,
        }
    }
}

/// What examples and references hold, in small letters.
const TELLTALES: [&str; 40] = [
    "example",
    "your",
    "xxxx",
    "changeme",
    "change-me",
    "change_me",
    "placeholder",
    "dummy",
    "redacted",
    "sample",
    "insert",
    "replace",
    "****",
    "...",
    "todo",
    "secret",
    "passw",
    "token",
    "apikey",
    "api_key",
    "api-key",
    "process.env",
    "environ",
    "getenv",
    "undefined",
    "null",
    "true",
    "false",
    "test",
    "mock",
    "fake",
    "foobar",
    "abcdef",
    "123456",
    "lorem",
    "://",
    "${",
    "{{",
    "$(",
    "hunter2",
];

/// Tells whether nobody would remember such a value.
pub(crate) fn is_likely(value: &[u8], claim: Claim) -> bool {
    let (least, most) = claim.length();
    let Ok(text) = std::str::from_utf8(value) else { return false };
    (least..=most).contains(&value.len())
        && value.iter().all(u8::is_ascii_graphic)
        && !is_example(value)
        && is_varied(value, claim)
        && !is_reference(value)
        && !is_uuid(value)
        && looks_random(text, claim)
}

/// Tells whether a value only stands for one.
pub(crate) fn is_example(value: &[u8]) -> bool {
    let small = value.to_ascii_lowercase();
    TELLTALES.iter().any(|telltale| memchr::memmem::find(&small, telltale.as_bytes()).is_some())
        || value.iter().any(|byte| matches!(byte, b'<' | b'>'))
        || distinct(value) < 5
}

fn is_varied(value: &[u8], claim: Claim) -> bool {
    let letters = value.iter().any(u8::is_ascii_alphabetic);
    let digits = value.iter().any(u8::is_ascii_digit);
    let signs = value.iter().any(|byte| byte.is_ascii_punctuation() && !matches!(byte, b'-' | b'_' | b'.' | b'/'));
    let varied = if claim == Claim::Password { digits || signs } else { digits };
    letters && varied && distinct(value) >= 6
}

/// Variables, paths, calls, options and formats.
fn is_reference(value: &[u8]) -> bool {
    let path =
        value.starts_with(b"/") || value.starts_with(b"./") || value.starts_with(b"~") || value.starts_with(b"../");
    let variable =
        matches!(value[0], b'$' | b'%' | b'{' | b'[' | b'(' | b'@' | b'!' | b'\\' | b'-' | b'*' | b'#' | b':');
    let call = value.iter().any(|byte| matches!(byte, b'(' | b'{' | b'[' | b'|' | b'\\' | b'"' | b'`'));
    path || variable || call
}

fn is_uuid(value: &[u8]) -> bool {
    value.len() == 36
        && value.iter().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

/// Asks a tokenizer, whose words are those of the language. It is the last test, because it is the slowest.
#[allow(clippy::cast_precision_loss, reason = "both are small")]
pub(crate) fn looks_random(text: &str, claim: Claim) -> bool {
    text.len() as f64 <= OpenAi::Cl100k.count(text).get() as f64 * claim.most_characters_per_token()
}

fn distinct(value: &[u8]) -> usize {
    let mut seen = [false; 256];
    for &byte in value {
        seen[usize::from(byte)] = true;
    }
    seen.iter().filter(|&&seen| seen).count()
}
