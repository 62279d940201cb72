//! `openai-responses-v1`: items of OpenAI's Responses API, the elements of a JSON array.

use super::{Codec, Framing, Outline, RecordMark, RecordStep, response_item, spoken_text::MessageHead, tolerant_json};
use crate::RecordProblem;

pub(crate) struct OpenaiResponses;

impl Codec for OpenaiResponses {
    fn framing(&self) -> Framing {
        Framing::JsonArray
    }

    fn outline(&self, record: &[u8]) -> Result<Outline, RecordProblem> {
        let MessageHead { id, role, content } = tolerant_json::record(record)?;
        let words = content.spoken().filter(|_| role.as_deref() == Some("user"));
        Ok(Outline {
            id,
            mark: words.map_or(RecordMark::None, |words| RecordMark::Turn(Some(words))),
            ..Outline::default()
        })
    }

    fn step(&self, record: &[u8]) -> Result<RecordStep, RecordProblem> {
        // A compaction item replaces nothing here: whoever made the array has left out what it stands for.
        Ok(RecordStep::append(response_item::item(tolerant_json::record(record)?)))
    }
}

#[cfg(test)]
mod tests {
    use contexture_core::{Entry, EntryPart, Role};

    use super::*;

    #[test]
    fn an_item_is_an_entry_and_a_users_words_are_a_turn() {
        let record =
            br#"{"type":"message","id":"msg_1","role":"user","content":[{"type":"input_text","text":"why?"}]}"#;
        let entry = Entry { id: Some("msg_1".into()), ..Entry::new(Role::User, vec![EntryPart::text("why?")]) };
        assert_eq!(OpenaiResponses.step(record), Ok(RecordStep::append(entry)));
        let outline = OpenaiResponses.outline(record).unwrap();
        assert_eq!((outline.id.as_deref(), outline.mark), (Some("msg_1"), RecordMark::Turn(Some("why?".into()))));
        let call = br#"{"type":"function_call","id":"fc_1","call_id":"c","name":"n","arguments":"{}"}"#;
        assert_eq!(OpenaiResponses.outline(call).unwrap().mark, RecordMark::None);
        assert!(OpenaiResponses.step(b"[{}]").is_err());
    }
}
