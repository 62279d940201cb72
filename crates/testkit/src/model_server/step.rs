//! What the scripted model answers.

use serde_json::Value;

/// One answer of the model: all that it thinks, says and calls before the client speaks again.
///
/// ```
/// use contexture_testkit::model_server::ScriptStep;
/// use serde_json::json;
///
/// let step = ScriptStep::new().thinking("A look helps.").text("I look.").call("Bash", json!({"command": "ls"}));
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ScriptStep {
    pub(super) blocks: Vec<Block>,
    pub(super) context_tokens: Option<u64>,
}

/// A part of an answer.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Block {
    Thinking(String),
    Text(String),
    Call { name: String, input: Value },
}

impl ScriptStep {
    /// Returns an answer that says nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a thought.
    #[must_use]
    pub fn thinking(self, text: &str) -> Self {
        self.with(Block::Thinking(text.to_owned()))
    }

    /// Adds a text.
    #[must_use]
    pub fn text(self, text: &str) -> Self {
        self.with(Block::Text(text.to_owned()))
    }

    /// Adds a call of one of the client's tools; several of them in one step are parallel calls.
    ///
    /// Some of Codex's tools take free text, which is an input that is a JSON string; others are in a namespace, which
    /// is the part of the name before a slash.
    #[must_use]
    pub fn call(self, tool: &str, input: Value) -> Self {
        self.with(Block::Call { name: tool.to_owned(), input })
    }

    /// Says how many tokens the conversation has come to; otherwise that is estimated from the request.
    ///
    /// Clients compact by themselves when this is too much for the model.
    #[must_use]
    pub fn context_tokens(mut self, tokens: u64) -> Self {
        self.context_tokens = Some(tokens);
        self
    }

    fn with(mut self, block: Block) -> Self {
        self.blocks.push(block);
        self
    }
}
