//! Rendering: items in the form that their reader takes.

mod fence;
mod messages;
mod prompt;

use contexture_core::{BlobSource, Entry, EntryPart, Role, Timestamp};
use contexture_formats::{Dialogue, dialogue::Losses};
use serde::{Deserialize, Serialize};

use crate::{
    item::{Item, ItemContent, Voice},
    recipe::{Rendering, Stability},
};

pub use fence::Fence;

/// What a picture counts, whatever its bytes: about what providers charge for one that they scale down.
pub const IMAGE_TOKENS: u64 = 1600;

/// The session that a transcript is written for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TranscriptSession {
    /// Its id, a UUID.
    pub id: String,
    /// The directory that the agent works in.
    pub directory: String,
    /// The branch there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The model to name where a format needs one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// When it is written.
    pub now: Timestamp,
}

/// Renders items for one reader.
#[derive(Debug, Clone, Copy)]
pub struct Renderer<'r> {
    /// The form.
    pub rendering: Rendering,
    /// What stands around texts.
    pub fence: &'r Fence,
    /// The session, where the form is a transcript.
    pub session: &'r TranscriptSession,
    /// Who serves the models that a transcript names.
    pub provider: Option<&'static str>,
}

/// A part of the window: an item, in one of its forms.
#[derive(Debug, Clone)]
pub struct WindowPiece<'p> {
    /// The item; none for a mark that says where something was left out.
    pub item: Option<&'p Item>,
    /// What it says here.
    pub content: std::borrow::Cow<'p, ItemContent>,
    /// How lasting the segment is that it stands in.
    pub stability: Stability,
}

/// A piece by itself, in the form of the whole: what is counted and proven of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fragment {
    /// Its text, without the bytes of pictures.
    pub text: String,
    /// How many pictures it has.
    pub images: u64,
}

/// Which model a request is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ModelCall<'c> {
    /// Its name.
    pub model: &'c str,
    /// Tokens that its answer may have.
    pub max_output: Option<u64>,
}

/// The whole.
#[derive(Debug, Clone, PartialEq)]
pub struct Rendered {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// What the form has no place for.
    pub losses: Losses,
}

impl Renderer<'_> {
    /// Renders a piece by itself.
    pub fn fragment(&self, item: Option<&Item>, content: &ItemContent) -> Fragment {
        let (content, images) = without_pictures(content);
        let text = match self.rendering {
            Rendering::Prompt | Rendering::ClaudeCode | Rendering::Codex | Rendering::Gemini | Rendering::Pi => {
                prompt::fragment(self.fence, item, &content)
            }
            Rendering::Anthropic | Rendering::OpenaiChat | Rendering::OpenaiResponses => {
                messages::fragment(self, item, &content)
            }
        };
        Fragment { text, images }
    }

    /// Renders pieces in their order; a request that names its model can be sent.
    pub fn whole(&self, pieces: &[WindowPiece<'_>], call: Option<ModelCall<'_>>) -> Rendered {
        match self.rendering {
            Rendering::Prompt => {
                let fragments = pieces.iter().map(|piece| prompt::fragment(self.fence, piece.item, &piece.content));
                let losses = Losses::default();
                Rendered { bytes: fragments.collect::<String>().into_bytes(), losses }
            }
            Rendering::Anthropic => messages::anthropic(self, pieces, call),
            Rendering::OpenaiChat => messages::openai_chat(self, pieces, call),
            Rendering::OpenaiResponses => messages::openai_responses(self, pieces, call),
            Rendering::ClaudeCode | Rendering::Codex | Rendering::Gemini | Rendering::Pi => {
                messages::transcript(self, pieces)
            }
        }
    }

    /// Returns what pieces say as entries of a conversation.
    fn entries<'p>(&self, pieces: impl IntoIterator<Item = (Option<&'p Item>, &'p ItemContent)>) -> Vec<Entry> {
        let mut entries = Vec::new();
        for (item, content) in pieces {
            match content {
                ItemContent::Entries(said) => entries.extend(said.iter().cloned()),
                ItemContent::Text { text, voice, fenced } => {
                    let role = match voice {
                        Voice::System => Role::System,
                        Voice::User => Role::User,
                    };
                    let text = if *fenced { self.fence.around(item, text) } else { text.clone() };
                    entries.push(Entry::new(role, vec![EntryPart::text(text)]));
                }
            }
        }
        entries
    }

    fn dialogue(&self, pieces: &[WindowPiece<'_>]) -> Dialogue {
        Dialogue::of(self.entries(pieces.iter().map(|piece| (piece.item, &*piece.content))))
    }
}

/// Returns content whose pictures have no bytes, and how many there are.
fn without_pictures(content: &ItemContent) -> (std::borrow::Cow<'_, ItemContent>, u64) {
    let ItemContent::Entries(entries) = content else { return (std::borrow::Cow::Borrowed(content), 0) };
    let mut images = 0;
    if !entries.iter().any(|entry| has_picture(&entry.parts)) {
        return (std::borrow::Cow::Borrowed(content), 0);
    }
    let entries =
        entries.iter().map(|entry| Entry { parts: emptied(&entry.parts, &mut images), ..entry.clone() }).collect();
    (std::borrow::Cow::Owned(ItemContent::Entries(entries)), images)
}

fn has_picture(parts: &[EntryPart]) -> bool {
    parts.iter().any(|part| match part {
        EntryPart::Blob { source: BlobSource::Base64(_), .. } => true,
        EntryPart::ToolResult { content, .. } => has_picture(content),
        _ => false,
    })
}

fn emptied(parts: &[EntryPart], images: &mut u64) -> Vec<EntryPart> {
    let mut all = Vec::with_capacity(parts.len());
    for part in parts {
        all.push(match part {
            EntryPart::Blob { media_type, source: BlobSource::Base64(_) } => {
                *images += 1;
                EntryPart::Blob { media_type: media_type.clone(), source: BlobSource::Base64(String::new()) }
            }
            EntryPart::ToolResult { call, content, is_error } => {
                let content = emptied(content, images);
                EntryPart::ToolResult { call: call.clone(), content, is_error: *is_error }
            }
            _ => part.clone(),
        });
    }
    all
}
