//! A model that says what a script says, over the three protocols that agent clients speak, and OpenAI's Chat Completions.
//!
//! It lets tests run the real clients without a network, a key or a model, and see all that a client sends.

mod api;
mod chat;
mod gemini;
mod messages;
mod reply;
mod request;
mod responses;
mod script;
mod serve;
mod step;

pub use api::Api;
pub use request::{ConversationMessage, MessageRole, ModelRequest, Purpose, Utterance};
pub use serve::ModelServer;
pub use step::ScriptStep;
