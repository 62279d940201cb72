//! Recipes: which sources an assembly has, in which segments, under which limits, for whom.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{
    candidate::Priority,
    standard::{ContextKind, OverflowStrategy, Scope, Target},
    vocabulary::vocabulary,
};

/// How to assemble a context.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Recipe {
    /// What people call it.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// What the envelopes made by it are for.
    pub scope: Scope,
    /// The name of the token counter.
    pub counter: String,
    /// For whom, and in which form; at least one.
    pub targets: Vec<TargetSpec>,
    /// How much there may be.
    pub budget: Budget,
    /// The parts of the window in their order: stable ones, then those that only grow, then those that change.
    pub segments: Vec<Segment>,
}

/// Who is to see an assembly, and in which form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct TargetSpec {
    /// Who.
    pub audience: Target,
    /// In which form.
    pub rendering: Rendering,
}

impl std::fmt::Display for TargetSpec {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.audience, self.rendering)
    }
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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Budget {
    /// The limits where a target has none of its own.
    pub limits: BudgetLimits,
    /// The limits of single targets, which take the place of the others one by one.
    pub targets: BTreeMap<Target, BudgetLimits>,
    /// What happens to what does not fit, where a segment does not say.
    pub overflow: OverflowStrategy,
}

/// Limits; those that are absent do not hold.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BudgetLimits {
    /// Tokens of all blocks together, those kept for the answer included.
    pub max_tokens: Option<u64>,
    /// Tokens that are kept for the answer.
    pub reserved_tokens: Option<u64>,
    /// Bytes of all blocks together.
    pub max_bytes: Option<u64>,
    /// Items.
    pub max_items: Option<u64>,
    /// UTF-16 code units of all blocks together; nothing exceeds it, not even what is required.
    pub max_chars: Option<u64>,
}

/// A part of the window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Segment {
    /// What it is called; no two are the same.
    pub name: String,
    /// What changes in it from one assembly to the next.
    pub stability: Stability,
    /// Tokens that no other segment may take.
    pub reserve: u64,
    /// Tokens that it may have at most.
    pub max_tokens: Option<u64>,
    /// What happens to what does not fit.
    pub overflow: Option<OverflowStrategy>,
    /// Where its items come from, in their order.
    pub sources: Vec<Source>,
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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Source {
    /// What is read.
    pub input: SourceInput,
    /// How much its items matter.
    pub priority: Priority,
    /// What its items are, where that is not what such a source gives by itself.
    pub kind: Option<ContextKind>,
    /// What people call its items.
    pub title: Option<String>,
    /// Who may see its items; everybody if absent.
    pub visibility: Option<Vec<Target>>,
    /// How far its items can be trusted, in words of the recipe.
    pub trust: Option<String>,
}

/// What a source reads.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "source", rename_all = "snake_case")]
pub enum SourceInput {
    /// The system prompt: a text, or a file with it.
    System {
        /// The text.
        text: Option<String>,
        /// The file, relative to the working directory.
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
        compact: Option<String>,
    },
    /// The conversation of the chain.
    History {
        /// Whether to go back beyond the newest compaction.
        beyond_compaction: bool,
        /// Whether the model's thinking is part of it.
        thinking: bool,
        /// The newest turns that are looked at; all that fit if absent.
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
        sender: Option<String>,
        /// How many messages at most.
        limit: Option<u64>,
        /// What is left when there is little room: so many messages.
        compact_limit: Option<u64>,
        /// Which end is taken: the newest ones or the oldest.
        newest: bool,
        /// From where on, in the words of the strategy that the recipe was read from.
        since: Option<String>,
    },
}
