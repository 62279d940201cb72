//! What is written: unique pieces of chat-like JSON that compress as transcripts do.

use std::fmt::Write as _;

/// Makes payloads of one size, the same in every run.
pub(crate) struct Payloads {
    bytes: usize,
}

const WORDS: &[&str] = &[
    "the",
    "test",
    "fails",
    "because",
    "cursor",
    "moves",
    "before",
    "commit",
    "returns",
    "Result",
    "async",
    "fn",
    "store",
    "let",
    "await",
    "error",
    "branch",
    "agent",
    "read",
    "file",
    "src/lib.rs",
    "expected",
    "found",
    "None",
    "retry",
    "timeout",
    "socket",
    "panicked",
    "at",
    "line",
    "assertion",
    "left",
    "right",
    "tool",
    "call",
    "output",
];

impl Payloads {
    pub(crate) fn new(bytes: usize) -> Self {
        Self { bytes }
    }

    /// Returns the text of the nth message, of about the size that was asked for.
    pub(crate) fn text(&self, n: u64) -> String {
        let mut state = n.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x5DEE_CE66;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        };
        let mut text = String::with_capacity(self.bytes + 16);
        while text.len() < self.bytes {
            let draw = next();
            if draw % 7 == 0 {
                // Ids, hashes and numbers do not compress; transcripts are full of them.
                let _written = write!(text, "{:x} ", draw >> 20);
            } else {
                text.push_str(WORDS[usize::try_from(draw % WORDS.len() as u64).unwrap_or(0)]);
                text.push(' ');
            }
        }
        text.truncate(self.bytes);
        text
    }

    /// Returns the nth message as one line of a transcript, of exactly the size that was asked for.
    pub(crate) fn line(&self, n: u64) -> Vec<u8> {
        let start = format!(r#"{{"type":"assistant","uuid":"{n:032x}","message":{{"role":"assistant","content":""#);
        let end = "\"}}\n";
        let text = self.text(n);
        let room = self.bytes - start.len() - end.len();
        [start.as_bytes(), &text.as_bytes()[..room], end.as_bytes()].concat()
    }
}
