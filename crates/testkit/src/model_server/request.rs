//! What clients sent.

use serde_json::Value;

use super::api::Api;

/// A request as it came.
#[derive(Debug, Clone)]
pub struct ModelRequest {
    api: Api,
    path: String,
    model: String,
    body: Value,
    purpose: Purpose,
}

/// Why a client asks the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// To go on with a conversation, its own or that of a sub-agent. The only one that takes a step of the script.
    Turn,
    /// To have a conversation summed up.
    Compaction,
    /// To help itself: a title, a topic, a quota, a warm-up.
    Side,
}

/// Who said something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageRole {
    /// The user, or the client in the user's name; the results of tools too.
    User,
    /// The model.
    Assistant,
    /// The client in its own name, in the middle of the conversation.
    Developer,
}

/// What was said, whatever the protocol.
#[derive(Debug, Clone, PartialEq)]
pub enum Utterance {
    /// A text.
    Text(String),
    /// A thought, or the vendor's summary of it.
    Thinking(String),
    /// A call of a tool.
    Call {
        /// The tool.
        name: String,
        /// The arguments, parsed if the protocol has them as a string of JSON.
        input: Value,
    },
    /// The text that a tool answered.
    Outcome(String),
}

/// A part of a conversation.
#[derive(Debug, Clone, PartialEq)]
pub struct ConversationMessage {
    /// Who.
    pub role: MessageRole,
    /// What.
    pub what: Utterance,
}

impl ModelRequest {
    pub(super) fn new(api: Api, path: &str, model: Option<&str>, body: Value) -> Self {
        let model = model.or(body["model"].as_str()).unwrap_or("scripted").to_owned();
        let purpose = api.purpose(&body);
        Self { api, path: path.to_owned(), model, body, purpose }
    }

    /// Returns the protocol.
    pub fn api(&self) -> Api {
        self.api
    }

    /// Returns the path, without the query.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Returns the name of the model that was asked.
    pub fn model(&self) -> &str {
        &self.model
    }

    /// Returns the body.
    pub fn body(&self) -> &Value {
        &self.body
    }

    /// Says why the client sent this.
    pub fn purpose(&self) -> Purpose {
        self.purpose
    }

    /// Returns what the request tells the model, in order and without the system prompt.
    pub fn conversation(&self) -> Vec<ConversationMessage> {
        self.api.conversation(&self.body)
    }

    /// Says whether somebody said or was answered a text that contains `text`.
    pub fn mentions(&self, role: MessageRole, text: &str) -> bool {
        self.conversation().iter().any(|said| said.role == role && said.what.text().is_some_and(|it| it.contains(text)))
    }

    /// Says whether the conversation has a call of `tool`.
    pub fn calls(&self, tool: &str) -> bool {
        let is_call = |said: &ConversationMessage| matches!(&said.what, Utterance::Call { name, .. } if name == tool);
        self.conversation().iter().any(is_call)
    }
}

impl Utterance {
    /// Returns the text, unless this is a call.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) | Self::Thinking(text) | Self::Outcome(text) => Some(text),
            Self::Call { .. } => None,
        }
    }
}

impl ConversationMessage {
    pub(super) fn text(role: MessageRole, text: &str) -> Self {
        Self { role, what: Utterance::Text(text.to_owned()) }
    }

    pub(super) fn thinking(text: &str) -> Self {
        Self { role: MessageRole::Assistant, what: Utterance::Thinking(text.to_owned()) }
    }

    pub(super) fn call(name: &str, input: Value) -> Self {
        Self { role: MessageRole::Assistant, what: Utterance::Call { name: name.to_owned(), input } }
    }

    pub(super) fn outcome(text: String) -> Self {
        Self { role: MessageRole::User, what: Utterance::Outcome(text) }
    }
}
