//! Documents: the texts of a commit, each of which is searched by itself.

use contexture_core::{Annotations, Entry, EntryPart, Format, Role, ToolInput};
use contexture_formats::{Codec, RawRecord, Splitter, codec, codec::Effect};
use contexture_store::search::PassageKind;
use serde_json::Value;

/// Most bytes of a document that are searched. What comes after them is not found.
pub(super) const MAX_DOCUMENT_BYTES: usize = 1024 * 1024;

/// A text of a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SearchDocument {
    /// In which entry it is, the first being 1; nothing when it is said about the commit.
    pub(super) entry: Option<u64>,
    /// Which part of that it is.
    pub(super) part: u64,
    pub(super) role: Option<Role>,
    pub(super) kind: PassageKind,
    pub(super) text: String,
}

/// Takes the documents out of a commit's content, which comes in pieces of any size.
///
/// The same content always gives the same documents: that is how a passage is found again.
pub(super) struct Extractor {
    reading: PassageReading,
    entries: u64,
    parts: u64,
    /// The last document, which the next record may go on with.
    open: Option<SearchDocument>,
    ready: Vec<SearchDocument>,
}

enum PassageReading {
    Records {
        codec: &'static dyn Codec,
        splitter: Box<Splitter>,
    },
    /// A format that nobody reads: the text itself, as far as it is one.
    Bytes(Vec<u8>),
    /// Nothing more can be read.
    Over,
}

impl Extractor {
    pub(super) fn new(format: &Format) -> Self {
        let reading = match codec(format) {
            Some(codec) => {
                let framing = codec.framing();
                let splitter = Splitter::bounded(framing, framing.max_record_bytes());
                PassageReading::Records { codec, splitter: Box::new(splitter) }
            }
            None => PassageReading::Bytes(Vec::new()),
        };
        Self { reading, entries: 0, parts: 0, open: None, ready: Vec::new() }
    }

    /// Takes the next bytes.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        match std::mem::replace(&mut self.reading, PassageReading::Over) {
            PassageReading::Over => {}
            PassageReading::Bytes(mut text) => {
                text.extend(&bytes[..bytes.len().min(MAX_DOCUMENT_BYTES - text.len())]);
                self.reading = PassageReading::Bytes(text);
            }
            PassageReading::Records { codec, mut splitter } => {
                let pushed = splitter.push(bytes, &mut |record| self.read(codec, record));
                if pushed.is_ok() {
                    self.reading = PassageReading::Records { codec, splitter };
                }
            }
        }
    }

    /// Takes the end of the content.
    pub(super) fn finish(&mut self) {
        match std::mem::replace(&mut self.reading, PassageReading::Over) {
            PassageReading::Over => {}
            PassageReading::Bytes(bytes) => self.plain(&bytes),
            PassageReading::Records { codec, splitter } => {
                // What cannot be read is not searched.
                let _read = splitter.finish(&mut |record| self.read(codec, record));
            }
        }
        self.ready.extend(self.open.take());
    }

    /// Returns the documents that are whole.
    pub(super) fn take(&mut self) -> Vec<SearchDocument> {
        std::mem::take(&mut self.ready)
    }

    fn plain(&mut self, bytes: &[u8]) {
        let text = match std::str::from_utf8(bytes) {
            Ok(text) => text,
            // A character that the bound has cut in two.
            Err(error) if error.error_len().is_none() && bytes.len() == MAX_DOCUMENT_BYTES => {
                std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default()
            }
            Err(_) => return,
        };
        self.ready.push(SearchDocument {
            entry: Some(1),
            part: 0,
            role: None,
            kind: PassageKind::Text,
            text: text.to_owned(),
        });
    }

    fn read(&mut self, codec: &dyn Codec, record: RawRecord<'_>) {
        // What is too long says nothing.
        if record.is_blank() || record.is_too_long() {
            return;
        }
        let Ok(step) = codec.step(record.bytes) else {
            return;
        };
        if step.effect == Effect::Nothing {
            return;
        }
        for entry in step.entries {
            self.entry(entry, step.effect == Effect::Continue);
        }
    }

    fn entry(&mut self, entry: Entry, goes_on: bool) {
        let role = entry.role;
        let goes_on = goes_on && self.open.as_ref().is_some_and(|open| open.role == Some(role));
        if !goes_on {
            self.entries += 1;
            self.parts = 0;
        }
        let kind_of_text = if entry.flags.compact_summary { PassageKind::Summary } else { PassageKind::Text };
        for (number, part) in entry.parts.into_iter().enumerate() {
            let Some((kind, text)) = text_of(part, kind_of_text) else {
                continue;
            };
            match &mut self.open {
                Some(open) if goes_on && number == 0 && open.kind == kind => push_bounded(&mut open.text, &text),
                open => {
                    // Some formats let the user hand in what a tool answered.
                    let role = Some(if kind == PassageKind::ToolResult { Role::Tool } else { role });
                    let mut document =
                        SearchDocument { entry: Some(self.entries), part: self.parts, role, kind, text: String::new() };
                    push_bounded(&mut document.text, &text);
                    self.parts += 1;
                    self.ready.extend(open.replace(document));
                }
            }
        }
    }
}

/// Returns what a part says, and as what.
fn text_of(part: EntryPart, kind_of_text: PassageKind) -> Option<(PassageKind, String)> {
    Some(match part {
        EntryPart::Text { text } => (kind_of_text, text),
        EntryPart::Thinking { text, .. } => (PassageKind::Thinking, text),
        EntryPart::ToolCall { name, input, .. } => {
            let mut text = name;
            match input {
                ToolInput::Json(value) => strings(&value, &mut text),
                ToolInput::Text(input) => push_line(&mut text, &input),
            }
            (PassageKind::ToolCall, text)
        }
        EntryPart::ToolResult { content, .. } => {
            let mut text = String::new();
            for (_, said) in content.into_iter().filter_map(|part| text_of(part, PassageKind::Text)) {
                push_line(&mut text, &said);
            }
            (PassageKind::ToolResult, text)
        }
        EntryPart::Summary { text } => (PassageKind::Summary, text),
        EntryPart::Blob { .. } | EntryPart::Native { .. } => return None,
    })
}

/// Adds the strings of a value, each on a line of its own.
fn strings(value: &Value, text: &mut String) {
    match value {
        Value::String(string) => push_line(text, string),
        Value::Array(items) => items.iter().for_each(|item| strings(item, text)),
        Value::Object(fields) => fields.values().for_each(|field| strings(field, text)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn push_line(text: &mut String, line: &str) {
    if !text.is_empty() {
        text.push('\n');
    }
    text.push_str(line);
}

fn push_bounded(text: &mut String, more: &str) {
    let room = MAX_DOCUMENT_BYTES - text.len();
    text.push_str(&more[..more.floor_char_boundary(room)]);
}

/// Returns what is said about a commit.
pub(super) fn notes(annotations: &Annotations) -> Vec<SearchDocument> {
    let summary = annotations.summary.iter().map(|text| (PassageKind::Summary, text.as_str().to_owned()));
    let tags = annotations.tags.iter().map(|tag| (PassageKind::Label, tag.to_string()));
    let labels =
        annotations.labels.iter().map(|(key, value)| (PassageKind::Label, format!("{key}={}", value.as_str())));
    let texts = summary.chain(tags).chain(labels);
    texts.zip(0..).map(|((kind, text), part)| SearchDocument { entry: None, part, role: None, kind, text }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn documents(format: &str, content: &[u8], piece: usize) -> Vec<SearchDocument> {
        let mut extractor = Extractor::new(&Format::new(format).unwrap());
        let mut documents = Vec::new();
        for piece in content.chunks(piece) {
            extractor.push(piece);
            documents.extend(extractor.take());
        }
        extractor.finish();
        documents.extend(extractor.take());
        documents
    }

    fn lines_of(format: &str, content: &str) -> Vec<String> {
        let whole = documents(format, content.as_bytes(), usize::MAX);
        assert_eq!(documents(format, content.as_bytes(), 7), whole, "pieces change nothing");
        let tell = |document: &SearchDocument| {
            let role = document.role.map_or("-", Role::as_str);
            let entry = document.entry.unwrap_or(0);
            format!("{entry}.{} {role} {}: {}", document.part, document.kind, document.text)
        };
        whole.iter().map(tell).collect()
    }

    #[test]
    fn each_part_of_an_entry_is_a_document() {
        let content = concat!(
            r#"{"role":"user","content":"Fix it"}"#,
            ",",
            r#"{"role":"assistant","content":[{"type":"text","text":"I look"},"#,
            r#"{"type":"tool_use","id":"c","name":"Bash","input":{"command":"cargo test","limit":3,"also":["a"]}}]}"#,
            ",",
            r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":[{"type":"text","text":"E0502"},"#,
            r#"{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}}]}]}"#,
        );
        let lines = lines_of("anthropic-messages-v1", &format!("[{content}]"));
        let expected = [
            "1.0 user text: Fix it",
            "2.0 assistant text: I look",
            "2.1 assistant tool-call: Bash\na\ncargo test",
            "3.0 tool tool-result: E0502",
        ];
        let unordered = lines.iter().map(|line| line.replace("cargo test\na", "a\ncargo test")).collect::<Vec<_>>();
        assert_eq!(unordered, expected);
    }

    #[test]
    fn a_format_that_nobody_reads_is_its_text() {
        assert_eq!(lines_of("notes", "some words"), ["1.0 - text: some words"]);
        assert_eq!(documents("notes", b"\xff\x00", 10), []);
        let long = format!("a{}", "é".repeat(MAX_DOCUMENT_BYTES));
        assert_eq!(documents("notes", long.as_bytes(), 1000)[0].text.len(), MAX_DOCUMENT_BYTES - 1);
    }

    #[test]
    fn what_cannot_be_read_is_no_document() {
        assert_eq!(lines_of("claude-code-v1", "garbage\n{\"type\":\"mode\"}\n"), Vec::<String>::new());
        assert_eq!(lines_of("anthropic-messages-v1", "[1,"), Vec::<String>::new());
    }
}
