//! One JSON value (RFC 8259), checked byte by byte as it arrives.

use crate::{
    MAX_DEPTH,
    error::{ContentPosition, FormatError},
    scan,
};

/// Follows one value and says where it ends or goes wrong.
///
/// Accepts what `serde_json` accepts when it skips a value: `\u` escapes need four hex digits but not a valid pair, and
/// numbers may have any size. Whether the text is UTF-8 is left to the caller; no byte that starts or continues a
/// longer character has a meaning outside strings.
#[derive(Debug)]
pub(crate) struct Scanner {
    state: State,
    /// Whether the string being read is an object's key.
    in_key: bool,
    depth: usize,
    /// Bit n says whether the container at depth n + 1 is an object; what lies above `depth` is stale.
    objects: [u64; MAX_DEPTH / 64],
    commas: u64,
}

/// What is wrong, and how many bytes of the slice come before it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) at: usize,
    pub(crate) kind: FaultKind,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum FaultKind {
    /// The byte does not belong there; the text says what does.
    Unexpected(&'static str),
    /// The container would be nested deeper than [`MAX_DEPTH`].
    TooDeep,
}

impl FaultKind {
    /// Says the same with a place in the part.
    pub(crate) const fn at(self, place: ContentPosition) -> FormatError {
        match self {
            Self::Unexpected(reason) => FormatError::NotJson { place, reason },
            Self::TooDeep => FormatError::TooDeep { place },
        }
    }
}

/// What the next byte has to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Value,
    ElementOrEnd,
    KeyOrEnd,
    Key,
    Colon,
    CommaOrEnd,
    Text,
    Escape,
    /// That many hex digits.
    Hex(u8),
    /// These bytes.
    Word(&'static [u8]),
    Number(Number),
    Complete,
}

/// How far a number has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Number {
    Minus,
    Zero,
    Integer,
    Point,
    Fraction,
    Exponent,
    ExponentSign,
    ExponentDigits,
}

impl Scanner {
    pub(crate) const fn new() -> Self {
        Self { state: State::Value, in_key: false, depth: 0, objects: [0; MAX_DEPTH / 64], commas: 0 }
    }

    /// Takes bytes until the value ends, and returns how many those were.
    ///
    /// White space before the value belongs to it, what follows it does not.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Result<usize, Fault> {
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            let next = match self.state {
                State::Text => {
                    at += scan::plain_text(&bytes[at..]);
                    // Line feeds and quotes are common in transcripts, so a whole escape takes no turn of its own.
                    while let [b'\\', escaped, ..] = bytes[at..]
                        && is_short_escape(escaped)
                    {
                        at += 2;
                        at += scan::plain_text(&bytes[at..]);
                    }
                    let Some(&stop) = bytes.get(at) else { break };
                    self.leave_text(stop)
                }
                State::Escape => escape(byte),
                State::Hex(left) => hex(byte, left),
                State::Word(rest) => self.word(byte, rest),
                State::Number(number) => match number.step(byte) {
                    Some(further) => Ok(State::Number(further)),
                    None if number.may_end() => {
                        // The byte after a number belongs to what follows and is looked at again.
                        self.state = self.after_value();
                        continue;
                    }
                    None => Err(FaultKind::Unexpected("expected a digit")),
                },
                State::Complete => return Ok(at),
                space if scan::is_space(byte) => Ok(space),
                State::ElementOrEnd if byte == b']' => Ok(self.leave()),
                State::ElementOrEnd | State::Value => self.value(byte),
                State::KeyOrEnd if byte == b'}' => Ok(self.leave()),
                State::KeyOrEnd | State::Key => self.key(byte),
                State::Colon if byte == b':' => Ok(State::Value),
                State::Colon => Err(FaultKind::Unexpected("expected ':' after a key")),
                State::CommaOrEnd => self.comma_or_end(byte),
            };
            self.state = next.map_err(|kind| Fault { at, kind })?;
            at += 1;
        }
        Ok(at)
    }

    /// Forgets the value and expects another.
    pub(crate) const fn restart(&mut self) {
        self.state = State::Value;
        self.depth = 0;
        self.commas = 0;
    }

    pub(crate) fn is_complete(&self) -> bool {
        self.state == State::Complete
    }

    /// Returns the commas between the elements of the outermost container.
    pub(crate) const fn commas(&self) -> u64 {
        self.commas
    }

    /// Says what is left open if the bytes end here, or nothing if the value is whole.
    pub(crate) fn unfinished(&self) -> Option<&'static str> {
        match self.state {
            State::Complete => None,
            State::Text | State::Escape | State::Hex(_) => Some("inside a string"),
            State::Word(_) => Some("inside a literal"),
            State::Number(number) if self.depth == 0 && number.may_end() => None,
            State::Number(_) => Some("inside a number"),
            State::Value if self.depth == 0 => Some("before a value"),
            State::Value | State::ElementOrEnd | State::KeyOrEnd | State::Key | State::Colon | State::CommaOrEnd => {
                Some(if self.in_object() { "inside an object" } else { "inside an array" })
            }
        }
    }

    fn value(&mut self, byte: u8) -> Result<State, FaultKind> {
        match byte {
            b'"' => {
                self.in_key = false;
                Ok(State::Text)
            }
            b'{' | b'[' => self.enter(byte == b'{'),
            b'-' => Ok(State::Number(Number::Minus)),
            b'0' => Ok(State::Number(Number::Zero)),
            b'1'..=b'9' => Ok(State::Number(Number::Integer)),
            b't' => Ok(State::Word(b"rue")),
            b'f' => Ok(State::Word(b"alse")),
            b'n' => Ok(State::Word(b"ull")),
            _ => Err(FaultKind::Unexpected("expected a JSON value")),
        }
    }

    const fn key(&mut self, byte: u8) -> Result<State, FaultKind> {
        if byte != b'"' {
            return Err(FaultKind::Unexpected("expected a key in double quotes"));
        }
        self.in_key = true;
        Ok(State::Text)
    }

    fn comma_or_end(&mut self, byte: u8) -> Result<State, FaultKind> {
        let in_object = self.in_object();
        match byte {
            b',' => {
                self.commas += u64::from(self.depth == 1);
                Ok(if in_object { State::Key } else { State::Value })
            }
            b'}' if in_object => Ok(self.leave()),
            b']' if !in_object => Ok(self.leave()),
            _ if in_object => Err(FaultKind::Unexpected("expected ',' or '}'")),
            _ => Err(FaultKind::Unexpected("expected ',' or ']'")),
        }
    }

    const fn leave_text(&self, stop: u8) -> Result<State, FaultKind> {
        match stop {
            b'"' if self.in_key => Ok(State::Colon),
            b'"' => Ok(self.after_value()),
            b'\\' => Ok(State::Escape),
            _ => Err(FaultKind::Unexpected("a control character in a string has to be escaped")),
        }
    }

    const fn word(&self, byte: u8, rest: &'static [u8]) -> Result<State, FaultKind> {
        match rest.split_first() {
            Some((wanted, [])) if byte == *wanted => Ok(self.after_value()),
            Some((wanted, rest)) if byte == *wanted => Ok(State::Word(rest)),
            _ => Err(FaultKind::Unexpected("expected true, false or null")),
        }
    }

    fn enter(&mut self, object: bool) -> Result<State, FaultKind> {
        if self.depth == MAX_DEPTH {
            return Err(FaultKind::TooDeep);
        }
        let (word, bit) = (self.depth / 64, self.depth % 64);
        self.objects[word] = (self.objects[word] & !(1 << bit)) | (u64::from(object) << bit);
        self.depth += 1;
        Ok(if object { State::KeyOrEnd } else { State::ElementOrEnd })
    }

    const fn leave(&mut self) -> State {
        self.depth -= 1;
        self.after_value()
    }

    const fn in_object(&self) -> bool {
        self.depth > 0 && self.objects[(self.depth - 1) / 64] >> ((self.depth - 1) % 64) & 1 == 1
    }

    const fn after_value(&self) -> State {
        if self.depth == 0 { State::Complete } else { State::CommaOrEnd }
    }
}

impl Number {
    /// Returns how far the number is with one more byte, or nothing if the byte does not continue it.
    const fn step(self, byte: u8) -> Option<Self> {
        match (self, byte) {
            (Self::Minus, b'0') => Some(Self::Zero),
            (Self::Minus, b'1'..=b'9') | (Self::Integer, b'0'..=b'9') => Some(Self::Integer),
            (Self::Zero | Self::Integer, b'.') => Some(Self::Point),
            (Self::Point | Self::Fraction, b'0'..=b'9') => Some(Self::Fraction),
            (Self::Zero | Self::Integer | Self::Fraction, b'e' | b'E') => Some(Self::Exponent),
            (Self::Exponent, b'+' | b'-') => Some(Self::ExponentSign),
            (Self::Exponent | Self::ExponentSign | Self::ExponentDigits, b'0'..=b'9') => Some(Self::ExponentDigits),
            _ => None,
        }
    }

    const fn may_end(self) -> bool {
        matches!(self, Self::Zero | Self::Integer | Self::Fraction | Self::ExponentDigits)
    }
}

const fn escape(byte: u8) -> Result<State, FaultKind> {
    match byte {
        _ if is_short_escape(byte) => Ok(State::Text),
        b'u' => Ok(State::Hex(4)),
        _ => Err(FaultKind::Unexpected("expected one of \"\\/bfnrtu after a backslash")),
    }
}

const fn hex(byte: u8, left: u8) -> Result<State, FaultKind> {
    if !byte.is_ascii_hexdigit() {
        return Err(FaultKind::Unexpected("expected four hex digits after \\u"));
    }
    Ok(if left > 1 { State::Hex(left - 1) } else { State::Text })
}

const fn is_short_escape(byte: u8) -> bool {
    matches!(byte, b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't')
}

#[cfg(test)]
mod tests;
