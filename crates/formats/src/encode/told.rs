//! What is told in words because the target has no form of its own for it.

use contexture_core::{BlobSource, Part, Seal, SealScheme};

use crate::dialogue::{self, Loss, Losses};

/// Stands for a message of which nothing is left, where a target wants words.
pub(super) const NO_CONTENT: &str = "(no content)";

/// Returns a part in words, and notes what is lost; nothing if no words are left.
pub(super) fn in_words(part: &Part, losses: &mut Losses) -> Option<String> {
    match part {
        Part::Text { text } | Part::Summary { text } => (!text.trim().is_empty()).then(|| text.clone()),
        Part::Thinking { text, seal } => {
            note_seal(text, seal.as_ref(), losses);
            if text.is_empty() {
                return None;
            }
            losses.add(Loss::ThinkingAsText);
            Some(format!("<thinking>\n{text}\n</thinking>"))
        }
        Part::Blob { media_type, source } => {
            losses.add(Loss::BlobAsNote);
            Some(match source {
                BlobSource::Base64(_) => format!("[{media_type}]"),
                BlobSource::Url(place) | BlobSource::File(place) => format!("[{media_type}: {place}]"),
            })
        }
        Part::Native { .. } => {
            losses.add(Loss::NativePart);
            None
        }
        Part::ToolCall { .. } | Part::ToolResult { .. } => Some(dialogue::text_of(std::slice::from_ref(part))),
    }
}

/// Notes if a seal holds more than can be read. Of thinking that was only signed nothing is lost but the proof.
pub(super) fn note_seal(text: &str, seal: Option<&Seal>, losses: &mut Losses) {
    let hides = |seal: &Seal| match seal.scheme {
        SealScheme::OpenaiEncrypted | SealScheme::AnthropicRedacted => true,
        SealScheme::AnthropicSignature | SealScheme::GeminiSignature => text.is_empty(),
    };
    losses.add_many(Loss::SealedThinking, u64::from(seal.is_some_and(hides)));
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn told(part: &Part) -> (Option<String>, Vec<Loss>) {
        let mut losses = Losses::default();
        let words = in_words(part, &mut losses);
        (words, losses.counts().iter().map(|count| count.loss).collect())
    }

    fn thinking(text: &str, scheme: Option<SealScheme>) -> Part {
        Part::Thinking { text: text.into(), seal: scheme.map(|scheme| Seal { scheme, data: "x".into() }) }
    }

    #[test]
    fn thinking_is_told_as_far_as_it_can_be_read() {
        let words = || Some("<thinking>\nhm\n</thinking>".to_owned());
        assert_eq!(told(&thinking("hm", None)), (words(), vec![Loss::ThinkingAsText]));
        assert_eq!(told(&thinking("hm", Some(SealScheme::AnthropicSignature))), (words(), vec![Loss::ThinkingAsText]));
        assert_eq!(
            told(&thinking("hm", Some(SealScheme::OpenaiEncrypted))),
            (words(), vec![Loss::SealedThinking, Loss::ThinkingAsText])
        );
        assert_eq!(told(&thinking("", Some(SealScheme::GeminiSignature))), (None, vec![Loss::SealedThinking]));
    }

    #[test]
    fn what_cannot_be_shown_leaves_a_note() {
        let blob = |source| Part::Blob { media_type: "image/png".into(), source };
        let lost = vec![Loss::BlobAsNote];
        assert_eq!(told(&blob(BlobSource::Base64("AA==".into()))), (Some("[image/png]".into()), lost.clone()));
        assert_eq!(told(&blob(BlobSource::File("/a".into()))), (Some("[image/png: /a]".into()), lost));
        let native = Part::Native { kind: "k".into(), value: Value::Null };
        assert_eq!(told(&native), (None, vec![Loss::NativePart]));
        assert_eq!(told(&Part::text(" \n")), (None, vec![]));
    }
}
