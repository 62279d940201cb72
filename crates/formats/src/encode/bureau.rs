//! `bureau-agent-v1`: messages that Bureau's agents go on with, a CBOR array.
//!
//! Keys are the names of Go's fields, in the order of Core Deterministic Encoding; a field that says nothing is left out,
//! which Go reads as its zero value.

use std::borrow::Cow;

use contexture_core::EntryPart;

use super::{EncodedDialogue, Encoder, Target, calls, plain_text};
use crate::{
    Framing,
    cbor::writer::CborWriter,
    dialogue::{Dialogue, LossKind, Losses, Speaker, Turn},
};

pub(crate) struct BureauEncoder;

struct BureauMessage<'d> {
    role: &'static str,
    content: Vec<BureauBlock<'d>>,
}

/// A part of a message. Thinking is text: how Bureau writes a block of it is not known.
enum BureauBlock<'d> {
    Text(String),
    ToolUse { id: Cow<'d, str>, name: Cow<'d, str>, input: Vec<u8> },
    ToolResult { call: Cow<'d, str>, content: String, is_error: bool },
}

impl Encoder for BureauEncoder {
    fn framing(&self) -> Framing {
        Framing::CborArray
    }

    fn encode(&self, dialogue: &Dialogue, _: &Target) -> EncodedDialogue {
        let mut losses = Losses::default();
        let mut messages: Vec<BureauMessage<'_>> =
            dialogue.turns.iter().map(|turn| message(turn, &mut losses)).collect();
        if !dialogue.system.is_empty() {
            losses.add_many(LossKind::SystemAsUser, dialogue.system.len() as u64);
            let instructions = dialogue.system.iter().cloned().map(BureauBlock::Text);
            match messages.first_mut() {
                Some(first) => drop(first.content.splice(..0, instructions)),
                None => messages.push(BureauMessage { role: "user", content: instructions.collect() }),
            }
        }
        let mut content = CborWriter::default();
        content.array(messages.len());
        for message in &messages {
            message.write(&mut content);
        }
        EncodedDialogue { bytes: content.into_bytes(), losses }
    }
}

fn message<'d>(turn: &'d Turn, losses: &mut Losses) -> BureauMessage<'d> {
    let role = match turn.speaker {
        Speaker::User => "user",
        Speaker::Assistant => "assistant",
    };
    let mut content: Vec<BureauBlock<'d>> = turn.parts.iter().filter_map(|part| block(part, losses)).collect();
    if content.is_empty() {
        content.push(BureauBlock::Text(plain_text::note(&turn.parts)));
    }
    BureauMessage { role, content }
}

fn block<'d>(part: &'d EntryPart, losses: &mut Losses) -> Option<BureauBlock<'d>> {
    Some(match part {
        EntryPart::ToolCall { id, name, input } => {
            let (id, name) = calls::SESSION.call(id, name, losses);
            let input = serde_json::to_vec(&calls::object_input(input, losses)).expect("JSON has text keys");
            BureauBlock::ToolUse { id, name, input }
        }
        EntryPart::ToolResult { call, content, is_error } => {
            let text = content.iter().filter_map(|part| plain_text::for_session(part, losses));
            BureauBlock::ToolResult {
                call: calls::SESSION.id(call),
                content: text.collect::<Vec<_>>().join("\n"),
                is_error: *is_error == Some(true),
            }
        }
        part => BureauBlock::Text(plain_text::for_session(part, losses)?),
    })
}

impl BureauMessage<'_> {
    fn write(&self, to: &mut CborWriter) {
        to.map(2);
        to.text("Role");
        to.text(self.role);
        to.text("Content");
        to.array(self.content.len());
        for block in &self.content {
            block.write(to);
        }
    }
}

impl BureauBlock<'_> {
    fn write(&self, to: &mut CborWriter) {
        to.map(2);
        match self {
            Self::Text(text) => {
                to.text("Text");
                to.text(text);
                to.text("Type");
                to.text("text");
            }
            Self::ToolUse { id, name, input } => {
                to.text("Type");
                to.text("tool_use");
                to.text("ToolUse");
                to.map(3);
                to.text("ID");
                to.text(id);
                to.text("Name");
                to.text(name);
                to.text("Input");
                // Go writes raw JSON as a string of bytes.
                to.bytes(input);
            }
            Self::ToolResult { call, content, is_error } => {
                to.text("Type");
                to.text("tool_result");
                to.text("ToolResult");
                to.map(3);
                to.text("Content");
                to.text(content);
                to.text("IsError");
                to.bool(*is_error);
                to.text("ToolUseID");
                to.text(call);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use contexture_core::{BlobSource, Entry, Role};
    use serde_json::{Value, json};

    use super::*;
    use crate::{
        cbor::value,
        encode::samples::{self, assistant, call, result, user},
    };

    #[test]
    fn blocks_have_the_names_that_go_gives_their_fields() {
        let image = EntryPart::Blob { media_type: "image/png".into(), source: BlobSource::Base64("AA==".into()) };
        let dialogue = Dialogue::of(vec![
            Entry::new(Role::System, vec![EntryPart::text("be brief")]),
            user(vec![EntryPart::text("go")]),
            assistant(vec![
                EntryPart::Thinking { text: "hm".into(), seal: None },
                call("a|1", json!({"n": [1]})),
                call("b", json!({})),
            ]),
            user(vec![result("a|1", vec![EntryPart::text("x"), image], None), result("b", vec![], Some(true))]),
        ]);
        let EncodedDialogue { bytes, losses } = BureauEncoder.encode(&dialogue, &samples::target());
        let messages = value::to_json(&bytes).unwrap();
        let id = messages[1]["Content"][1]["ToolUse"]["ID"].clone();
        let answer = |call: &Value, text: &str, is_error: bool| json!({"Type": "tool_result", "ToolResult": {"Content": text, "IsError": is_error, "ToolUseID": call}});
        let called = |id: &Value, input: Value| json!({"Type": "tool_use", "ToolUse": {"ID": id, "Name": "run", "Input": input}});
        let expected = json!([
            {"Role": "user", "Content": [{"Text": "be brief", "Type": "text"}, {"Text": "go", "Type": "text"}]},
            {"Role": "assistant", "Content": [
                {"Text": "<thinking>\nhm\n</thinking>", "Type": "text"},
                called(&id, json!({"n": [1]})),
                called(&json!("b"), json!({}))]},
            {"Role": "user", "Content": [answer(&id, "x\n[image/png]", false), answer(&json!("b"), "", true)]}
        ]);
        assert_eq!(messages, expected);
        let lost: Vec<_> = losses.counts().iter().map(|count| count.loss).collect();
        let expected = [LossKind::ThinkingAsText, LossKind::IdChanged, LossKind::BlobAsNote, LossKind::SystemAsUser];
        assert_eq!(lost, expected);
        // Raw JSON of Go is a string of bytes, and keys come shortest first.
        let key = [&[0x65][..], b"Input", &[0x49], br#"{"n":[1]}"#].concat();
        assert!(bytes.windows(key.len()).any(|window| window == key), "{bytes:02x?}");
    }
}
