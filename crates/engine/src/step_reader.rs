//! What the records of a commit say, as far as that can be held.

use contexture_core::{BlobSource, Entry, EntryPart, Flags, Role, ToolInput};
use contexture_formats::{Codec, RawRecord, Splitter, codec::RecordStep};
use serde_json::Value;

/// Room for what the records of one commit say. Nearly all commits take less than a hundredth.
const MAX_HELD: usize = 24 * 1024 * 1024;
/// Room that an entry or a value takes beside its letters, at most.
const VALUE_BYTES: usize = 320;

/// Reads the records of a commit, which comes in pieces of any size.
///
/// A record that is too large is told as a note, and so is what comes after there is no more room.
pub(crate) struct StepReader<'c> {
    codec: &'c dyn Codec,
    splitter: Splitter,
    taken: TakenSteps,
    is_broken: bool,
}

#[derive(Default)]
struct TakenSteps {
    steps: Vec<RecordStep>,
    unreadable: u64,
    held: usize,
    /// Bytes for which there was no room.
    left_out: u64,
}

impl<'c> StepReader<'c> {
    pub(crate) fn new(codec: &'c dyn Codec) -> Self {
        let framing = codec.framing();
        let splitter = Splitter::bounded(framing, framing.max_record_bytes());
        Self { codec, splitter, taken: TakenSteps::default(), is_broken: false }
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        let (codec, taken) = (self.codec, &mut self.taken);
        if !self.is_broken {
            self.is_broken = self.splitter.push(bytes, &mut |record| taken.take(codec, record)).is_err();
        }
    }

    /// Returns the steps, and how many records are broken and say nothing.
    pub(crate) fn finish(self) -> (Vec<RecordStep>, u64) {
        let Self { codec, splitter, mut taken, .. } = self;
        // What comes after a place where no further record can be told apart counts as one.
        if splitter.finish(&mut |record| taken.take(codec, record)).is_err() {
            taken.unreadable += 1;
        }
        if taken.left_out > 0 {
            taken.steps.push(note(&format!("[{} bytes of this commit were not read]", taken.left_out)));
        }
        (taken.steps, taken.unreadable)
    }
}

impl TakenSteps {
    fn take(&mut self, codec: &dyn Codec, record: RawRecord<'_>) {
        if record.is_blank() {
            return;
        }
        if self.held > MAX_HELD {
            self.unreadable += 1;
            self.left_out += record.size;
            return;
        }
        let read = if record.is_too_long() { None } else { Some(codec.step(record.bytes)) };
        let step = match read {
            Some(Ok(step)) => step,
            Some(Err(problem)) if !problem.is_too_large() => {
                self.unreadable += 1;
                return;
            }
            None | Some(Err(_)) => {
                self.unreadable += 1;
                note(&format!("[a record of {} bytes that was not read]", record.size))
            }
        };
        self.held += room(&step);
        self.steps.push(step);
    }
}

fn note(text: &str) -> RecordStep {
    let flags = Flags { meta: true, ..Flags::default() };
    RecordStep::append(Entry { flags, ..Entry::new(Role::User, vec![EntryPart::text(text)]) })
}

/// Estimates the room that a step takes.
fn room(step: &RecordStep) -> usize {
    VALUE_BYTES + step.entries.iter().map(|entry| VALUE_BYTES + parts(&entry.parts)).sum::<usize>()
}

fn parts(all: &[EntryPart]) -> usize {
    let part = |part: &EntryPart| {
        VALUE_BYTES
            + match part {
                EntryPart::Text { text }
                | EntryPart::Summary { text }
                | EntryPart::ToolCall { input: ToolInput::Text(text), .. }
                | EntryPart::Blob {
                    source: BlobSource::Base64(text) | BlobSource::Url(text) | BlobSource::File(text),
                    ..
                } => text.len(),
                EntryPart::Thinking { text, seal } => text.len() + seal.as_ref().map_or(0, |seal| seal.data.len()),
                EntryPart::ToolCall { input: ToolInput::Json(value), .. } | EntryPart::Native { value, .. } => {
                    values(value)
                }
                EntryPart::ToolResult { content, .. } => parts(content),
            }
    };
    all.iter().map(part).sum()
}

fn values(value: &Value) -> usize {
    VALUE_BYTES
        + match value {
            Value::Null | Value::Bool(_) | Value::Number(_) => 0,
            Value::String(text) => text.len(),
            Value::Array(items) => items.iter().map(values).sum(),
            Value::Object(fields) => fields.iter().map(|(name, field)| name.len() + values(field)).sum(),
        }
}
