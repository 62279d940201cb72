//! What is reported about packs, in the shape that programs read.

use contexture_core::vocabulary;
use serde::Serialize;

use super::AssembledPacks;
use crate::{
    budget::{CandidateOutcome, Decision, Omission, Shortening},
    candidate::{CandidateId, Variant},
    measure::{CharCount, TokenCount},
};

/// Everything about an assembly of packs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PackReport<'a> {
    /// The prompt.
    pub context: &'a str,
    /// What became of every pack, in the order of the prompt.
    pub decisions: Vec<DecisionReport<'a>>,
    /// How the tokens compare with what was allowed.
    pub budget: BudgetReport,
    /// What the limit of characters did.
    pub guard: GuardReport,
}

/// What became of a pack.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DecisionReport<'a> {
    /// The pack.
    pub id: &'a CandidateId,
    /// In or out.
    pub status: Status,
    /// Which of its texts is in.
    pub variant: Option<Variant>,
    /// Why it is out, or shorter than it was selected.
    pub reason: Option<Reason>,
    /// Whether its end was cut off.
    pub truncated: bool,
    /// Its characters in the prompt.
    pub chars: CharCount,
    /// Its tokens, counted alone.
    pub tokens: TokenCount,
}

/// How the tokens compare with what was allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BudgetReport {
    /// What was allowed, where there is a budget.
    pub max_tokens: Option<TokenCount>,
    /// What the prompt has.
    pub final_tokens: TokenCount,
    /// What the prompt has too much.
    pub over_budget_tokens: TokenCount,
}

/// What the limit of characters did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GuardReport {
    /// Whether it was exceeded.
    pub applied: bool,
    /// The characters that were selected.
    pub before_chars: CharCount,
    /// The characters of the prompt.
    pub after_chars: CharCount,
}

vocabulary! {
    /// Whether a pack is in the prompt.
    Status {
        /// It is.
        Included = "included",
        /// It is not.
        Skipped = "skipped",
    }
}

vocabulary! {
    /// Why a pack is out, or shorter than it was selected.
    Reason {
        /// It has no text.
        Empty = "empty",
        /// It does not fit into the tokens that were left.
        Budget = "budget",
        /// It does not fit into the limit of characters.
        MaxChars = "max_chars",
    }
}

impl AssembledPacks<'_> {
    /// Reports everything about it.
    pub fn report(&self) -> PackReport<'_> {
        let guard = self.selection.guard;
        PackReport {
            context: &self.context,
            decisions: self.selection.decisions.iter().map(DecisionReport::from).collect(),
            budget: BudgetReport {
                max_tokens: self.max_tokens,
                final_tokens: self.tokens,
                over_budget_tokens: self.over_budget(),
            },
            guard: GuardReport { applied: guard.is_applied(), before_chars: guard.before, after_chars: guard.after },
        }
    }
}

impl<'a> From<&'a Decision<'_>> for DecisionReport<'a> {
    fn from(Decision { candidate, outcome }: &'a Decision<'_>) -> Self {
        let id = &candidate.id;
        match outcome {
            CandidateOutcome::Included(inclusion) => Self {
                id,
                status: Status::Included,
                variant: Some(inclusion.variant),
                reason: inclusion.shortened.map(|_| Reason::MaxChars),
                truncated: inclusion.shortened == Some(Shortening::Cut),
                chars: inclusion.text.chars(),
                tokens: inclusion.text.tokens(),
            },
            CandidateOutcome::Omitted(omission) => Self {
                id,
                status: Status::Skipped,
                variant: None,
                reason: Some(Reason::from(*omission)),
                truncated: false,
                chars: CharCount::ZERO,
                tokens: TokenCount::ZERO,
            },
        }
    }
}

impl From<Omission> for Reason {
    fn from(omission: Omission) -> Self {
        match omission {
            Omission::Empty => Self::Empty,
            // Packs are no run, where summaries stand for others.
            Omission::Budget { .. } | Omission::Summarized | Omission::Needless => Self::Budget,
            Omission::MaxChars => Self::MaxChars,
        }
    }
}
