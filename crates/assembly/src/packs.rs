//! Packs: texts with priorities and a budget in, one prompt and a decision about each out.
//!
//! The budget stage does the work; this is its plainest use, where the parts are joined as they are.

mod report;
mod request;

use crate::{
    budget::{self, Limits, Selection},
    counter::TokenCounter,
    measure::TokenCount,
};

pub use report::{BudgetReport, DecisionReport, GuardReport, PackReport, Reason, Status};
pub use request::{DEFAULT_MAX_CHARS, PackRefusal, PackRequest};

/// A prompt that was put together from packs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AssembledPacks<'r> {
    /// The budget, where there is one.
    pub max_tokens: Option<TokenCount>,
    /// What became of every pack.
    pub selection: Selection<'r>,
    /// The prompt.
    pub context: String,
    /// The tokens of the prompt, which are counted in the whole and may be fewer than those of the parts.
    pub tokens: TokenCount,
}

/// Puts a prompt together. The counter is the one that the request was measured with.
pub fn assemble<'r>(counter: &dyn TokenCounter, request: &'r PackRequest) -> AssembledPacks<'r> {
    let Limits { max_tokens, max_chars } = request.limits;
    let mut parts_max = max_tokens;
    loop {
        let selection = budget::select(counter, Limits { max_tokens: parts_max, max_chars }, &request.candidates);
        let context = selection.to_text();
        let tokens = counter.count(&context);
        let excess = max_tokens.map_or(TokenCount::ZERO, |max| tokens.beyond(max));
        if excess == TokenCount::ZERO || !selection.has_optional() {
            return AssembledPacks { max_tokens, selection, context, tokens };
        }
        // Some tokenizers find more in a whole than in its parts; then the parts get less.
        parts_max = parts_max.map(|max| max.beyond(excess));
    }
}

impl AssembledPacks<'_> {
    /// Returns how many tokens there are beyond the budget, which only required packs cause.
    pub fn over_budget(&self) -> TokenCount {
        self.max_tokens.map_or(TokenCount::ZERO, |max| self.tokens.beyond(max))
    }
}
