//! The protocols, and what is the same in all of them.

use serde_json::Value;

use super::{
    chat, gemini, messages,
    reply::Reply,
    request::{ConversationMessage, Purpose},
    responses,
};

/// A protocol between a client and a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Api {
    /// Anthropic's Messages: Claude Code and pi.
    Messages,
    /// OpenAI's Chat Completions.
    Chat,
    /// OpenAI's Responses: Codex.
    Responses,
    /// Google's `generateContent`: Gemini CLI.
    Gemini,
}

/// How an answer travels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Transfer {
    /// As one JSON document.
    Whole,
    /// As server-sent events.
    Stream,
}

impl Api {
    /// Says why a client sent a body.
    pub(super) fn purpose(self, body: &Value) -> Purpose {
        match self {
            Self::Messages => messages::purpose(body),
            Self::Chat => chat::purpose(body),
            Self::Responses => responses::purpose(body),
            Self::Gemini => gemini::purpose(body),
        }
    }

    /// Returns what a body tells the model, without the system prompt.
    pub(super) fn conversation(self, body: &Value) -> Vec<ConversationMessage> {
        match self {
            Self::Messages => messages::conversation(body),
            Self::Chat => chat::conversation(body),
            Self::Responses => responses::conversation(body),
            Self::Gemini => gemini::conversation(body),
        }
    }

    /// Writes a summary as the client that sent a body wants it.
    pub(super) fn enclose(self, summary: &str, body: &Value) -> String {
        match self {
            Self::Messages => messages::enclose(summary, body),
            Self::Chat | Self::Responses => summary.to_owned(),
            Self::Gemini => gemini::enclose(summary),
        }
    }

    /// Writes an answer.
    pub(super) fn write(self, reply: &Reply, transfer: Transfer) -> String {
        match (self, transfer) {
            (Self::Messages, Transfer::Whole) => messages::document(reply).to_string(),
            (Self::Messages, Transfer::Stream) => messages::events(reply).iter().map(named_event).collect(),
            (Self::Chat, Transfer::Whole) => chat::document(reply).to_string(),
            (Self::Chat, Transfer::Stream) => chat::events(reply),
            (Self::Responses, Transfer::Whole) => responses::document(reply).to_string(),
            (Self::Responses, Transfer::Stream) => responses::events(reply).iter().map(named_event).collect(),
            (Self::Gemini, Transfer::Whole) => gemini::document(reply).to_string(),
            (Self::Gemini, Transfer::Stream) => format!("data: {}\n\n", gemini::document(reply)),
        }
    }
}

/// Writes an event whose name is its type.
fn named_event(event: &Value) -> String {
    format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or_default())
}
