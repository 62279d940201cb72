//! What becomes words because a target has no form of its own for it.

use contexture_core::{BlobSource, Part};

use crate::{
    dialogue::{self, Loss, Losses},
    summary,
};

/// Returns a part as words, and notes what is lost; nothing if it has no words.
pub(super) fn of(part: &Part, losses: &mut Losses) -> Option<String> {
    match part {
        Part::Text { text } => Some(text.clone()),
        Part::Summary { text } => Some(summary::headed(text)),
        Part::Thinking { text, .. } if text.is_empty() => {
            losses.add(Loss::SealedThinking);
            None
        }
        Part::Thinking { text, .. } => {
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

/// Returns what stands for a user's turn of which a target can show nothing, so that there still is one.
pub(super) fn note(parts: &[Part]) -> String {
    let note = |part: &Part| match part {
        Part::Thinking { .. } => "[thinking]".to_owned(),
        _ => dialogue::text_of(std::slice::from_ref(part)),
    };
    parts.iter().map(note).collect::<Vec<_>>().join("\n")
}
