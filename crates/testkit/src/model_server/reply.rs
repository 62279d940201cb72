//! An answer with all that makes it one particular answer.

use std::hash::{BuildHasher as _, RandomState};

use super::{
    api::Api,
    request::ModelRequest,
    responses,
    step::{Block, ScriptStep},
};

/// What every signature and every encrypted thought is. Only the vendors can make real ones, and only they look.
pub(super) const OPAQUE: &str = "c2NyaXB0ZWQgdGhvdWdodCwgc2VhbGVkIGJ5IG5vYm9keQ==";

/// A step on its way to a client.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) id: String,
    pub(super) model: String,
    /// Each with an id of its own.
    pub(super) blocks: Vec<(String, Block)>,
    pub(super) input_tokens: u64,
    pub(super) output_tokens: u64,
    /// The text is a summary that the client is not to read.
    pub(super) is_sealed: bool,
}

impl Reply {
    pub(super) fn new(request: &ModelRequest, step: ScriptStep) -> Self {
        let input_tokens = step.context_tokens.unwrap_or_else(|| tokens(&request.body().to_string()));
        let output_tokens = step.blocks.iter().map(|block| tokens(&format!("{block:?}"))).sum();
        let blocks = step.blocks.into_iter().map(|block| (unique(), block)).collect();
        let is_sealed = request.api() == Api::Responses && responses::wants_sealed_summary(request.body());
        Self { id: unique(), model: request.model().to_owned(), blocks, input_tokens, output_tokens, is_sealed }
    }

    pub(super) fn calls_tools(&self) -> bool {
        self.blocks.iter().any(|(_, block)| matches!(block, Block::Call { .. }))
    }
}

fn tokens(text: &str) -> u64 {
    text.len().div_ceil(4) as u64
}

/// Returns an id that no other server gave or will give: a client may take a session from one to another, and would
/// take two answers with one id for one.
fn unique() -> String {
    let random = || RandomState::new().hash_one(0_u8);
    format!("{:016x}{:08x}", random(), random() >> 32)
}
