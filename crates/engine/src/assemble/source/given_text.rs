//! Texts that the recipe or the caller says: the system prompt, notes, the trigger.

use contexture_assembly::{Hold, ItemContent, Voice, standard::ContextKind};
use serde_json::Value;

use super::{Gathering, ItemDraft, Placed, fenced, origin};
use crate::assemble::pretty;

/// What the model is asked now.
#[derive(Debug, Clone, PartialEq)]
pub struct TriggerMessage {
    /// In words.
    pub text: String,
    /// What belongs to it.
    pub data: Option<Value>,
}

pub(super) fn text(placed: &Placed<'_>, text: &str, compact: Option<&str>, instruction: bool) -> ItemDraft {
    let (kind, content): (_, fn(String) -> ItemContent) =
        if instruction { (ContextKind::DeveloperInstruction, instructed) } else { (ContextKind::ManualNote, fenced) };
    ItemDraft {
        id: format!("text:{}", placed.name()),
        kind,
        title: None,
        origin: origin("recipe", format!("recipe:text:{}", placed.name()), text.as_bytes(), Hold::Pinned, None),
        content: content(text.to_owned()),
        compact: compact.map(|compact| content(compact.to_owned())),
        messages: Vec::new(),
    }
}

fn instructed(text: String) -> ItemContent {
    ItemContent::Text { text, voice: Voice::System, fenced: false }
}

pub(super) fn system(text: &str, uri: String, hold: Hold) -> ItemDraft {
    ItemDraft {
        id: "system".to_owned(),
        kind: ContextKind::SystemPrompt,
        title: None,
        origin: origin("system", uri, text.as_bytes(), hold, None),
        content: ItemContent::Text { text: text.to_owned(), voice: Voice::System, fenced: false },
        compact: None,
        messages: Vec::new(),
    }
}

impl Gathering<'_> {
    /// Returns what is asked, after what belongs to it.
    pub(super) fn trigger(&self) -> Vec<ItemDraft> {
        if let (None, Some(context)) = (&self.request.trigger, &self.request.channel) {
            return self.channel_trigger(context);
        }
        let Some(TriggerMessage { text, data }) = &self.request.trigger else { return Vec::new() };
        let draft = |id: &str, said: String, title: Option<&str>, fenced: bool| ItemDraft {
            id: id.to_owned(),
            kind: ContextKind::UserMessage,
            title: title.map(str::to_owned),
            origin: origin("trigger", id.to_owned(), said.as_bytes(), Hold::Pinned, None),
            content: ItemContent::Text { text: said, voice: Voice::User, fenced },
            compact: None,
            messages: Vec::new(),
        };
        let data = data.as_ref().map(|data| draft("trigger:data", pretty(data), Some("data"), true));
        data.into_iter().chain([draft("trigger", text.clone(), None, false)]).collect()
    }
}
