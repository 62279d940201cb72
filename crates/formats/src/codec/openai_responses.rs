//! `openai-responses-v1`: items of OpenAI's Responses API, the elements of a JSON array.

use serde::Deserialize;

use super::{Codec, Framing, Mark, Outline, Step, lenient, response_item, words::Words};
use crate::RecordProblem;

pub(super) struct OpenaiResponses;

#[derive(Deserialize)]
struct Head {
    #[serde(default, deserialize_with = "lenient::maybe")]
    id: Option<String>,
    #[serde(default, deserialize_with = "lenient::maybe")]
    role: Option<String>,
    #[serde(default)]
    content: Words,
}

impl Codec for OpenaiResponses {
    fn framing(&self) -> Framing {
        Framing::JsonArray
    }

    fn outline(&self, record: &[u8]) -> Result<Outline, RecordProblem> {
        let Head { id, role, content } = lenient::object(record)?;
        let words = content.spoken().filter(|_| role.as_deref() == Some("user"));
        Ok(Outline { id, mark: words.map_or(Mark::None, |words| Mark::Turn(Some(words))), ..Outline::default() })
    }

    fn step(&self, record: &[u8]) -> Result<Step, RecordProblem> {
        // A compaction item replaces nothing here: whoever made the array has left out what it stands for.
        Ok(Step::append(response_item::item(lenient::object(record)?)))
    }
}

#[cfg(test)]
mod tests {
    use contexture_core::{Entry, Part, Role};

    use super::*;

    #[test]
    fn an_item_is_an_entry_and_a_users_words_are_a_turn() {
        let record =
            br#"{"type":"message","id":"msg_1","role":"user","content":[{"type":"input_text","text":"why?"}]}"#;
        let entry = Entry { id: Some("msg_1".into()), ..Entry::new(Role::User, vec![Part::text("why?")]) };
        assert_eq!(OpenaiResponses.step(record), Ok(Step::append(entry)));
        let outline = OpenaiResponses.outline(record).unwrap();
        assert_eq!((outline.id.as_deref(), outline.mark), (Some("msg_1"), Mark::Turn(Some("why?".into()))));
        let call = br#"{"type":"function_call","id":"fc_1","call_id":"c","name":"n","arguments":"{}"}"#;
        assert_eq!(OpenaiResponses.outline(call).unwrap().mark, Mark::None);
        assert!(OpenaiResponses.step(b"[{}]").is_err());
    }
}
