//! Recipes: which sources an assembly has, in which segments, under which limits, for whom.

mod provenance;
mod target;

mod agent;
mod read;
mod rules;
mod source;
mod strategy;
mod topic;
mod written;

mod built_in;

use std::collections::BTreeMap;

use contexture_core::vocabulary;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use built_in::{BuiltIn, built_in};
pub use provenance::{FileNamer, RecipeProvenance, RecipeTrust};
pub use read::{NotToml, RecipeRefusal, Syntax};
pub use rules::{OVERFLOW_STRATEGIES, Rule};
pub use target::UnknownTarget;
pub use topic::{IfMissing, Since, TopicEnd, TopicMark};

use crate::{
    candidate::Priority,
    standard::{Audience, ContextKind, ContextScope, OverflowStrategy},
};

/// How to assemble a context.
#[derive(Debug, Clone, PartialEq)]
pub struct Recipe {
    /// What people call it.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// What the envelopes made by it are for.
    pub scope: ContextScope,
    /// The model that requests name; without one they are for somebody who adds it.
    pub model: Option<String>,
    /// Tokens that the answer to a request may have; what the budget keeps for it if absent.
    pub max_output: Option<u64>,
    /// The token counter; that of the target if absent.
    pub counter: Option<String>,
    /// For whom, and in which form; at least one.
    pub targets: Vec<TargetSpec>,
    /// How much there may be.
    pub budget: BudgetSpec,
    /// The parts of the window in their order: stable ones, then those that only grow, then those that change.
    pub segments: Vec<SegmentSpec>,
}

/// Who is to see an assembly, and in which form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TargetSpec {
    /// Who.
    pub audience: Audience,
    /// In which form.
    pub rendering: Rendering,
}

vocabulary! {
    /// The form of an assembly.
    Rendering {
        /// One text.
        Prompt = "prompt",
        /// A request's `system` and `messages` as the API of Anthropic takes them.
        Anthropic = "anthropic",
        /// `messages` of OpenAI's Chat Completions.
        OpenaiChat = "openai-chat",
        /// `instructions` and `input` of OpenAI's Responses.
        OpenaiResponses = "openai-responses",
        /// A transcript of Claude Code.
        ClaudeCode = "claude-code",
        /// A rollout of Codex.
        Codex = "codex",
        /// A session of Gemini CLI.
        Gemini = "gemini",
        /// A session of pi.
        Pi = "pi",
    }
}

/// How much there may be in an assembly.
#[derive(Debug, Clone, PartialEq)]
pub struct BudgetSpec {
    /// The limits where a target has none of its own.
    pub limits: BudgetLimits,
    /// The limits of single targets, which take the place of the others one by one.
    pub targets: BTreeMap<Audience, BudgetLimits>,
    /// What happens to what does not fit, where a segment does not say.
    pub overflow: OverflowStrategy,
    /// What happens to what is required and does not fit, where the overflow does not cut it.
    pub required: RequiredOverflow,
    /// How long may be searched, in milliseconds: after that no further search begins. No limit if absent.
    pub max_search_ms: Option<u64>,
}

vocabulary! {
    /// What happens to what is required and does not fit.
    RequiredOverflow {
        /// Nothing is assembled.
        Reject = "reject",
        /// It is in all the same, and the budget is exceeded.
        Include = "include",
    }
}

/// Limits; those that are absent do not hold.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BudgetLimits {
    /// Tokens of all blocks together, those kept for the answer included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u64>,
    /// Tokens that are kept for the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reserved_tokens: Option<u64>,
    /// Bytes of all blocks together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_bytes: Option<u64>,
    /// Items.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_items: Option<u64>,
    /// UTF-16 code units of all blocks together; nothing exceeds it, not even what is required.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_chars: Option<u64>,
}

/// A part of the window.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SegmentSpec {
    /// What it is called; no two are the same.
    pub name: String,
    /// What changes in it from one assembly to the next.
    pub stability: Stability,
    /// Tokens that no other segment may take.
    #[serde(skip_serializing_if = "is_nothing")]
    pub reserve: u64,
    /// Tokens that it may have at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u64>,
    /// What happens to what does not fit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overflow: Option<OverflowStrategy>,
    /// Where its items come from, in their order.
    pub sources: Vec<SourceSpec>,
}

vocabulary! {
    /// What changes in a segment from one assembly to the next, the least first.
    Stability {
        /// Nothing, as long as the sources stay the same.
        Stable = "stable",
        /// Items are added at its end.
        Append = "append",
        /// Anything.
        Volatile = "volatile",
    }
}

/// Where items come from.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SourceSpec {
    /// What is read.
    #[serde(flatten)]
    pub input: SourceInput,
    /// How much its items matter.
    pub priority: Priority,
    /// What its items are, where that is not what such a source gives by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<ContextKind>,
    /// What people call its items.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Who may see its items; everybody if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub visibility: Option<Vec<Audience>>,
    /// How far its items can be trusted, in words of the recipe.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trust: Option<String>,
    /// How sensitive its items are, in words of the recipe.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sensitivity: Option<String>,
}

/// What a source reads.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "source", rename_all = "snake_case")]
pub enum SourceInput {
    /// The system prompt: a text, or a file with it.
    System {
        /// The text.
        #[serde(skip_serializing_if = "Option::is_none")]
        text: Option<String>,
        /// The file, relative to the working directory.
        #[serde(skip_serializing_if = "Option::is_none")]
        file: Option<String>,
    },
    /// Instructions in files, such as `AGENTS.md`; those that are not there are passed over.
    Instructions {
        /// The files, relative to the working directory.
        files: Vec<String>,
    },
    /// A text of the recipe's own.
    Text {
        /// The text.
        text: String,
        /// A shorter text that may stand for it.
        #[serde(skip_serializing_if = "Option::is_none")]
        compact: Option<String>,
        /// Whether a model takes it as an instruction.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        instruction: bool,
    },
    /// The conversation of the chain.
    History {
        /// Whether to go back beyond the newest compaction.
        beyond_compaction: bool,
        /// Whether the model's thinking is part of it.
        thinking: bool,
        /// The newest turns that are looked at; all that fit if absent.
        #[serde(skip_serializing_if = "Option::is_none")]
        max_turns: Option<u64>,
    },
    /// Files: those that the recipe names and those that the caller gives.
    Files {
        /// The recipe's own files, relative to the working directory. They must be there.
        files: Vec<String>,
    },
    /// What a search of the space finds.
    Retrieval {
        /// What to search for; the trigger's text if absent.
        #[serde(skip_serializing_if = "Option::is_none")]
        query: Option<String>,
        /// How many results at most.
        limit: u64,
    },
    /// What is known to be missing and still open.
    Missing,
    /// Items that the caller gives.
    Items,
    /// What the model is asked now: comes last and once.
    Trigger,
    /// Messages of a topic of a channel.
    Topic {
        /// The topic.
        topic: String,
        /// The sender, where only one counts.
        #[serde(skip_serializing_if = "Option::is_none")]
        sender: Option<String>,
        /// From where on.
        #[serde(skip_serializing_if = "Option::is_none")]
        since: Option<Since>,
        /// Which end is taken.
        strategy: TopicEnd,
        /// How many messages at most.
        #[serde(skip_serializing_if = "Option::is_none")]
        amount: Option<u64>,
        /// Which end is taken when there is little room.
        compact_strategy: TopicEnd,
        /// How many messages at most when there is little room.
        compact_amount: u64,
        /// What happens when it is required and there is no message.
        #[serde(skip_serializing_if = "IfMissing::is_usual")]
        if_missing: IfMissing,
    },
    /// A channel as an agent that has a turn in it is told it, up to the message to answer.
    Channel {
        /// The newest messages that are looked at; all that fit if absent.
        #[serde(skip_serializing_if = "Option::is_none")]
        max_messages: Option<u64>,
    },
    /// Criteria that validators found to be beyond what can be checked.
    SkipHints,
}

vocabulary! {
    /// The kinds of sources, by the words that recipes use.
    SourceKind {
        /// The system prompt.
        System = "system",
        /// Instructions in files.
        Instructions = "instructions",
        /// A text of the recipe's own.
        Text = "text",
        /// The conversation of the chain.
        History = "history",
        /// Files.
        Files = "files",
        /// What a search finds.
        Retrieval = "retrieval",
        /// What is known to be missing.
        Missing = "missing",
        /// Items that the caller gives.
        Items = "items",
        /// What the model is asked now.
        Trigger = "trigger",
        /// Messages of a topic.
        Topic = "topic",
        /// A channel as an agent is told it.
        Channel = "channel",
        /// Criteria that cannot be checked.
        SkipHints = "skip_hints",
    }
}

impl Recipe {
    /// Tells whether it has a source of a kind.
    pub fn has(&self, kind: SourceKind) -> bool {
        self.segments.iter().flat_map(|segment| &segment.sources).any(|source| source.input.kind() == kind)
    }

    /// Returns the name of the counter that tokens are counted by: what the recipe says, or else what fits its first target
    /// that is for a model, or its first one.
    pub fn token_counter(&self) -> &str {
        let model = self.targets.iter().find(|target| target.audience == Audience::Model);
        let target = model.or(self.targets.first());
        self.counter.as_deref().unwrap_or_else(|| target.map_or(Rendering::Prompt, |target| target.rendering).counter())
    }
}

impl Rendering {
    /// Tells whether it is what an API takes, which names a model and how long the answer may be.
    pub const fn is_request(self) -> bool {
        match self {
            Self::Anthropic | Self::OpenaiChat | Self::OpenaiResponses => true,
            Self::Prompt | Self::ClaudeCode | Self::Codex | Self::Gemini | Self::Pi => false,
        }
    }

    /// Returns the name of the counter that comes nearest to what the usual reader of the form counts.
    pub const fn counter(self) -> &'static str {
        match self {
            Self::Anthropic | Self::ClaudeCode => "claude-estimate",
            Self::OpenaiChat | Self::OpenaiResponses | Self::Codex => "o200k",
            // Anybody may read these.
            Self::Prompt | Self::Gemini | Self::Pi => "chars4",
        }
    }
}

impl BudgetLimits {
    /// Returns these limits with those of others where there are none.
    #[must_use]
    pub fn or(self, others: Self) -> Self {
        Self {
            max_tokens: self.max_tokens.or(others.max_tokens),
            reserved_tokens: self.reserved_tokens.or(others.reserved_tokens),
            max_bytes: self.max_bytes.or(others.max_bytes),
            max_items: self.max_items.or(others.max_items),
            max_chars: self.max_chars.or(others.max_chars),
        }
    }
}

impl BudgetSpec {
    /// Returns a budget that nothing exceeds.
    pub(crate) fn without_limits(overflow: OverflowStrategy) -> Self {
        let (limits, targets) = (BudgetLimits::default(), BTreeMap::new());
        Self { limits, targets, overflow, required: RequiredOverflow::Reject, max_search_ms: None }
    }

    /// Returns the limits that hold for a target.
    pub fn limits_for(&self, target: Audience) -> BudgetLimits {
        self.targets.get(&target).map_or(self.limits, |own| own.or(self.limits))
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature is serde's")]
fn is_nothing(number: &u64) -> bool {
    *number == 0
}
