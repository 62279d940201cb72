//! What becomes plain text because a target has no form of its own for it.

use contexture_core::{BlobSource, EntryPart, Seal, SealScheme};

use crate::{
    dialogue::{self, LossKind, Losses},
    summary,
};

/// Stands for a message of which nothing is left, where a target wants text.
pub(super) const NO_CONTENT: &str = "(no content)";

/// Returns a part as text for a model's API, and notes what is lost; nothing if no text is left.
pub(super) fn for_model(part: &EntryPart, losses: &mut Losses) -> Option<String> {
    match part {
        EntryPart::Text { text } | EntryPart::Summary { text } => (!text.trim().is_empty()).then(|| text.clone()),
        EntryPart::Thinking { text, seal } => {
            note_seal(text, seal.as_ref(), losses);
            (!text.is_empty()).then(|| thinking(text, losses))
        }
        other => rest(other, losses),
    }
}

/// Returns a part as text for the session of a runtime, and notes what is lost; nothing if it has no text.
pub(super) fn for_session(part: &EntryPart, losses: &mut Losses) -> Option<String> {
    match part {
        EntryPart::Text { text } => Some(text.clone()),
        EntryPart::Summary { text } => Some(summary::headed(text)),
        EntryPart::Thinking { text, .. } if text.is_empty() => {
            losses.add(LossKind::SealedThinking);
            None
        }
        EntryPart::Thinking { text, .. } => Some(thinking(text, losses)),
        other => rest(other, losses),
    }
}

/// Returns what stands for a user's turn of which a target can show nothing, so that there still is one.
pub(super) fn note(parts: &[EntryPart]) -> String {
    let note = |part: &EntryPart| match part {
        EntryPart::Thinking { .. } => "[thinking]".to_owned(),
        _ => dialogue::text_of(std::slice::from_ref(part)),
    };
    parts.iter().map(note).collect::<Vec<_>>().join("\n")
}

/// Notes if a seal holds more than can be read. Of thinking that was only signed nothing is lost but the proof.
pub(super) fn note_seal(text: &str, seal: Option<&Seal>, losses: &mut Losses) {
    let hides = |seal: &Seal| match seal.scheme {
        SealScheme::OpenaiEncrypted | SealScheme::AnthropicRedacted => true,
        SealScheme::AnthropicSignature | SealScheme::GeminiSignature => text.is_empty(),
    };
    losses.add_many(LossKind::SealedThinking, u64::from(seal.is_some_and(hides)));
}

fn thinking(text: &str, losses: &mut Losses) -> String {
    losses.add(LossKind::ThinkingAsText);
    format!("<thinking>\n{text}\n</thinking>")
}

/// What all targets are given the same of parts that are neither said nor thought.
fn rest(part: &EntryPart, losses: &mut Losses) -> Option<String> {
    match part {
        EntryPart::Blob { media_type, source } => {
            losses.add(LossKind::BlobAsNote);
            Some(match source {
                BlobSource::Base64(_) => format!("[{media_type}]"),
                BlobSource::Url(place) | BlobSource::File(place) => format!("[{media_type}: {place}]"),
            })
        }
        EntryPart::Native { .. } => {
            losses.add(LossKind::NativePart);
            None
        }
        other => Some(dialogue::text_of(std::slice::from_ref(other))),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn text(part: &EntryPart) -> (Option<String>, Vec<LossKind>) {
        let mut losses = Losses::default();
        let text = for_model(part, &mut losses);
        (text, losses.counts().iter().map(|count| count.loss).collect())
    }

    fn thinking(text: &str, scheme: Option<SealScheme>) -> EntryPart {
        EntryPart::Thinking { text: text.into(), seal: scheme.map(|scheme| Seal { scheme, data: "x".into() }) }
    }

    #[test]
    fn thinking_becomes_text_as_far_as_it_can_be_read() {
        let words = || Some("<thinking>\nhm\n</thinking>".to_owned());
        assert_eq!(text(&thinking("hm", None)), (words(), vec![LossKind::ThinkingAsText]));
        assert_eq!(
            text(&thinking("hm", Some(SealScheme::AnthropicSignature))),
            (words(), vec![LossKind::ThinkingAsText])
        );
        assert_eq!(
            text(&thinking("hm", Some(SealScheme::OpenaiEncrypted))),
            (words(), vec![LossKind::SealedThinking, LossKind::ThinkingAsText])
        );
        assert_eq!(text(&thinking("", Some(SealScheme::GeminiSignature))), (None, vec![LossKind::SealedThinking]));
    }

    #[test]
    fn what_cannot_be_shown_leaves_a_note() {
        let blob = |source| EntryPart::Blob { media_type: "image/png".into(), source };
        let lost = vec![LossKind::BlobAsNote];
        assert_eq!(text(&blob(BlobSource::Base64("AA==".into()))), (Some("[image/png]".into()), lost.clone()));
        assert_eq!(text(&blob(BlobSource::File("/a".into()))), (Some("[image/png: /a]".into()), lost));
        let native = EntryPart::Native { kind: "k".into(), value: Value::Null };
        assert_eq!(text(&native), (None, vec![LossKind::NativePart]));
        assert_eq!(text(&EntryPart::text(" \n")), (None, vec![]));
    }
}
