//! Many parts as one conversation in the same format.

use std::ops::Range;

use crate::{
    cbor::{self, CborArray, Major},
    error::FormatError,
    glue::Glue,
    json_array::JsonArray,
    measure::{LineCount, Measure},
    scan,
};

/// The rule of concatenation with what has to be known before the first byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JoinPlan {
    /// Appends lines. A line feed is added between two parts where the earlier lacks its own, and never at the end.
    Lines,
    /// Appends the elements of JSON arrays.
    ///
    /// Elements keep their bytes and the white space between them. What surrounds the elements comes from the first
    /// part in front and from the last part behind, so one part comes out as it went in. No part gives `[]`.
    JsonArray {
        /// How many parts will come.
        parts: u64,
    },
    /// Appends the elements of CBOR arrays.
    ///
    /// Elements keep their bytes. One part comes out as it went in; several become an array of known length with the
    /// shortest head. No part gives `0x80`.
    CborArray {
        /// How many parts will come.
        parts: u64,
        /// How many elements they hold together, as a [`Checker`](crate::Checker) counts them. Not looked at for a
        /// single part.
        elements: u64,
    },
    /// Appends bytes.
    Bytes,
}

/// Joins the parts of a conversation as their bytes arrive, in slices of any size.
///
/// For each part call `push` for its slices in order, then `end_part`; `finish` after the last part. The bytes that
/// come out are borrowed from the slices that go in; nothing is copied or kept.
///
/// Lines and bytes are not looked into: what was stored comes out. Arrays are parsed, as their ends must be found, so
/// a part that is not an array is an error; UTF-8 is not checked.
#[derive(Debug)]
pub struct Joiner {
    rule: JoinRule,
    /// How many parts have ended.
    ended_parts: u64,
    bytes: u64,
    chars: u64,
}

/// What a slice adds to the conversation: first the glue, then the body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub struct Joined<'s> {
    /// Bytes that no part holds.
    pub glue: Glue,
    /// The share of the slice that belongs into the conversation.
    pub body: &'s [u8],
}

/// The end of a joined conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub struct Ending {
    /// The last bytes; there are some only if an array had no part.
    pub glue: Glue,
    /// What was counted in all the bytes that came out.
    pub measure: Measure,
}

/// Says why parts cannot be joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum JoinError {
    /// A part is not what its format promises.
    #[error("cannot join part {part}")]
    Part {
        /// Which part; the first is 1.
        part: u64,
        /// What is wrong with it.
        #[source]
        source: FormatError,
    },
    /// There are more or fewer parts than planned.
    #[error("{planned} parts were planned and {found} came")]
    Parts {
        /// As many as the plan says.
        planned: u64,
        /// As many as came, the surplus one included.
        found: u64,
    },
    /// There are more or fewer elements than planned.
    #[error("{planned} elements were planned and {found} came")]
    Elements {
        /// As many as the plan says.
        planned: u64,
        /// As many as came.
        found: u64,
    },
}

#[derive(Debug)]
enum JoinRule {
    Lines { count: LineCount, line_is_open: bool, part_is_new: bool },
    JsonArray { parts: u64, array: JsonArray, elements: u64, is_glued: bool },
    CborArray { parts: u64, planned: u64, array: CborArray, elements: u64, is_glued: bool },
    Bytes,
}

impl Joiner {
    /// Begins a conversation without a part.
    pub fn new(plan: JoinPlan) -> Self {
        let rule = match plan {
            JoinPlan::Lines => JoinRule::Lines { count: LineCount::default(), line_is_open: false, part_is_new: false },
            JoinPlan::JsonArray { parts } => {
                JoinRule::JsonArray { parts, array: JsonArray::new(), elements: 0, is_glued: false }
            }
            JoinPlan::CborArray { parts, elements: planned } => {
                JoinRule::CborArray { parts, planned, array: CborArray::new(), elements: 0, is_glued: false }
            }
            JoinPlan::Bytes => JoinRule::Bytes,
        };
        Self { rule, ended_parts: 0, bytes: 0, chars: 0 }
    }

    /// Takes the next bytes of the part and returns what to write. After an error the conversation is lost.
    pub fn push<'s>(&mut self, bytes: &'s [u8]) -> Result<Joined<'s>, JoinError> {
        let in_part = |source| JoinError::Part { part: self.ended_parts + 1, source };
        let joined = match &mut self.rule {
            JoinRule::Lines { count, line_is_open, part_is_new } => {
                let mut glue = Glue::NONE;
                if let Some(last) = bytes.last() {
                    if *part_is_new && *line_is_open {
                        glue = Glue::new(b"\n");
                    }
                    *part_is_new = false;
                    *line_is_open = *last != b'\n';
                }
                count.push(&glue);
                count.push(bytes);
                Joined { glue, body: bytes }
            }
            JoinRule::JsonArray { parts, array, elements, is_glued } => {
                let turn = JoinTurn::of(self.ended_parts, *parts)?;
                let share = array.push(bytes).map_err(in_part)?;
                let mut glue = Glue::NONE;
                if !share.is_empty() && !*is_glued {
                    *is_glued = true;
                    if *elements > 0 {
                        glue = Glue::new(b",");
                    }
                }
                Joined { glue, body: &bytes[turn.widen(share, bytes.len())] }
            }
            JoinRule::CborArray { parts, planned, array, is_glued, .. } => {
                let turn = JoinTurn::of(self.ended_parts, *parts)?;
                let share = array.push(bytes).map_err(in_part)?;
                if turn.is_first && turn.is_last {
                    Joined { glue: Glue::NONE, body: bytes }
                } else {
                    let glue = if *is_glued { Glue::NONE } else { cbor::head(Major::Array, *planned) };
                    *is_glued = true;
                    Joined { glue, body: &bytes[share] }
                }
            }
            JoinRule::Bytes => Joined { glue: Glue::NONE, body: bytes },
        };
        self.count(&joined.glue);
        self.count(joined.body);
        Ok(joined)
    }

    /// Ends the part whose bytes were pushed last; without bytes it is an empty part.
    pub fn end_part(&mut self) -> Result<(), JoinError> {
        let in_part = |source| JoinError::Part { part: self.ended_parts + 1, source };
        match &mut self.rule {
            JoinRule::Lines { part_is_new, .. } => *part_is_new = true,
            JoinRule::JsonArray { array, elements, is_glued, .. } => {
                *elements += array.finish().map_err(in_part)?;
                *array = JsonArray::new();
                *is_glued = false;
            }
            JoinRule::CborArray { array, elements, .. } => {
                *elements += array.finish().map_err(in_part)?;
                *array = CborArray::new();
            }
            JoinRule::Bytes => {}
        }
        self.ended_parts += 1;
        Ok(())
    }

    /// Ends the conversation after its last part.
    pub fn finish(mut self) -> Result<Ending, JoinError> {
        let found = self.ended_parts;
        let (glue, messages) = match &self.rule {
            JoinRule::Lines { count, .. } => (Glue::NONE, Some(count.count())),
            JoinRule::JsonArray { parts, elements, .. } => {
                expect_parts(*parts, found)?;
                (if found == 0 { Glue::new(b"[]") } else { Glue::NONE }, Some(*elements))
            }
            JoinRule::CborArray { parts, planned, elements, .. } => {
                expect_parts(*parts, found)?;
                if found > 1 && planned != elements {
                    return Err(JoinError::Elements { planned: *planned, found: *elements });
                }
                (if found == 0 { cbor::head(Major::Array, 0) } else { Glue::NONE }, Some(*elements))
            }
            JoinRule::Bytes => (Glue::NONE, None),
        };
        self.count(&glue);
        Ok(Ending { glue, measure: Measure { messages, bytes: self.bytes, chars: self.chars } })
    }

    fn count(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len() as u64;
        self.chars += match self.rule {
            JoinRule::CborArray { .. } => bytes.len() as u64,
            JoinRule::Lines { .. } | JoinRule::JsonArray { .. } | JoinRule::Bytes => scan::utf16_units(bytes),
        };
    }
}

/// Where a part stands among the planned ones.
struct JoinTurn {
    is_first: bool,
    is_last: bool,
}

impl JoinTurn {
    const fn of(ended_parts: u64, planned: u64) -> Result<Self, JoinError> {
        if ended_parts >= planned {
            return Err(JoinError::Parts { planned, found: ended_parts + 1 });
        }
        Ok(Self { is_first: ended_parts == 0, is_last: ended_parts + 1 == planned })
    }

    /// Adds to the elements what surrounds them, in front if the part is the first and behind if it is the last.
    const fn widen(&self, share: Range<usize>, len: usize) -> Range<usize> {
        let start = if self.is_first { 0 } else { share.start };
        let end = if self.is_last { len } else { share.end };
        start..end
    }
}

const fn expect_parts(planned: u64, found: u64) -> Result<(), JoinError> {
    if planned == found { Ok(()) } else { Err(JoinError::Parts { planned, found }) }
}
