//! What an assembly leaves behind: what was there, what became of it for each target, and what they were given.

use std::collections::BTreeMap;

use contexture_core::{ArtifactId, CommitId, EnvelopeId, HeadName, MessageSequence, MissingId, Timestamp, vocabulary};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    candidate::{Priority, RunPart, Variant},
    digest::Digest,
    item::{Item, ItemOrigin, Redaction, ReplacedTurns},
    pipeline::PipelineVersion,
    recipe::{BudgetLimits, Recipe, RecipeProvenance, Stability, TargetSpec},
    render::TranscriptSession,
    standard::{Audience, ContextKind, ContextScope, ItemId, OmissionReason, OverflowStrategy, Severity},
};

/// Everything that an assembly is made of. The same inputs give the same assembly.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Inputs {
    /// How to assemble.
    pub recipe: Recipe,
    /// What the assembly continues: assemblies of one stream begin alike.
    pub stream: String,
    /// The session that transcripts are written for.
    pub session: TranscriptSession,
    /// The items.
    pub items: Vec<Item>,
    /// What a run has before its first item that was not even read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unread: Option<UnreadTurns>,
    /// What a channel has before its first message that was not even read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unread_messages: Option<UnreadMessages>,
    /// The rules to assemble by.
    #[serde(default, skip_serializing_if = "PipelineVersion::is_first")]
    pub pipeline: PipelineVersion,
}

/// Turns that were not read, because newer ones fill the budget.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UnreadTurns {
    /// The segment that they belong to, counted from 0.
    pub segment: usize,
    /// How many turns.
    pub turns: u64,
    /// The oldest.
    pub first: CommitId,
    /// The newest.
    pub last: CommitId,
}

/// Messages of a channel that were not read, because newer ones fill the budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UnreadMessages {
    /// The segment that they belong to, counted from 0.
    pub segment: usize,
    /// How many at most; some of them may be for others.
    pub messages: u64,
}

/// An item, without what it says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ItemRecord {
    /// Its id.
    pub id: ItemId,
    /// What it is.
    pub kind: ContextKind,
    /// The name of its segment.
    pub segment: String,
    /// How much it matters.
    pub priority: Priority,
    /// What people call it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Where it comes from.
    pub origin: ItemOrigin,
    /// Who may see it; everybody if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub visibility: Option<Vec<Audience>>,
    /// How far it can be trusted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trust: Option<String>,
    /// What was done to what nobody may see.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redaction: Option<Redaction>,
    /// How sensitive it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sensitivity: Option<String>,
    /// The media type of what was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub media_type: Option<String>,
    /// What of the chain it stands for, where it is the summary of a compaction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaces: Option<ReplacedTurns>,
    /// The messages of a channel that it tells, by their places.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub messages: Vec<MessageSequence>,
    /// Whether it sums up a turn that may be left out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_summary: bool,
}

/// What a target was given, and why.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TargetOutcome {
    /// Who, and in which form.
    pub target: TargetSpec,
    /// The limits that held.
    pub limits: BudgetLimits,
    /// What was there, by the counter of the recipe.
    pub total: ItemTotals,
    /// Tokens beyond the budget, which only required items cause.
    pub over_budget_tokens: u64,
    /// What became of each segment, in the order of the window.
    pub segments: Vec<SegmentOutcome>,
    /// What became of each item, in the order of the window.
    pub decisions: Vec<ItemDecision>,
    /// What the target was given, in order.
    pub blocks: Vec<Block>,
    /// The whole.
    pub rendering: Whole,
    /// How much of it stays when something is added.
    pub window: WindowReport,
    /// What the form has no place for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub losses: Vec<RenderingLoss>,
}

/// How much there is of something.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ItemTotals {
    /// In tokens.
    pub tokens: u64,
    /// In bytes, without those of pictures.
    pub bytes: u64,
    /// In items.
    pub items: u64,
}

/// What became of a segment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SegmentOutcome {
    /// What it is called.
    pub name: String,
    /// What changes in it.
    pub stability: Stability,
    /// Tokens that no other segment could take.
    pub reserve: u64,
    /// Tokens that it could have at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u64>,
    /// What happened to what did not fit.
    pub overflow: OverflowStrategy,
    /// What is in it.
    pub total: ItemTotals,
    /// What was left out of it, as far as it was read.
    pub omitted: ItemTotals,
}

/// What became of an item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ItemDecision {
    /// The item.
    pub item: ItemId,
    /// In, as what; or out, and why.
    #[serde(flatten)]
    pub fate: Fate,
}

/// Whether an item is in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum Fate {
    /// It is.
    Included {
        /// Which of its forms.
        variant: Variant,
        /// The tokens that it had before a part of it was cut, if one was.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cut_from: Option<u64>,
        /// Its tokens.
        tokens: u64,
        /// Its bytes.
        bytes: u64,
    },
    /// It is not.
    Omitted {
        /// Why, in a word of the standard.
        reason: OmissionReason,
        /// Why, in words.
        note: String,
        /// The tokens that it has.
        tokens: u64,
    },
}

/// A piece of what a target was given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Block {
    /// The item; none for a mark that says where something was left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item: Option<ItemId>,
    /// The segment.
    pub segment: String,
    /// The digest of its bytes.
    pub digest: Digest,
    /// Its tokens.
    pub tokens: u64,
    /// Its bytes.
    pub bytes: u64,
}

/// The bytes that a target was given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Whole {
    /// Their digest.
    pub digest: Digest,
    /// How many.
    pub bytes: u64,
}

/// How much of an assembly stays when something is added.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WindowReport {
    /// Blocks that stay as they are.
    pub lasting_blocks: u64,
    /// Their bytes.
    pub lasting_bytes: u64,
    /// Their tokens.
    pub lasting_tokens: u64,
    /// How many tokens can be added to the history before they do not; absent where nothing limits that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holds_for_tokens: Option<u64>,
    /// The turns that were left out, the unread ones included.
    pub turns_left_out: u64,
}

/// Something that the form has no place for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RenderingLoss {
    /// What.
    pub kind: String,
    /// How often.
    pub count: u64,
}

vocabulary! {
    /// What is known to be missing.
    GapKind {
        /// A required item does not fit.
        RequiredTooLarge = "required_too_large",
        /// A part of a required item was cut.
        RequiredCut = "required_cut",
        /// A source could not be read.
        Unreadable = "unreadable",
        /// A target sees nothing.
        NothingVisible = "nothing_visible",
    }
}

/// Something that is known to be missing from an assembly.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Gap {
    /// What happened.
    pub kind: GapKind,
    /// What it is about: an item or a source.
    pub subject: String,
    /// For whom it is missing; for everybody if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<TargetSpec>,
    /// What is not known.
    pub question: String,
    /// How much that matters.
    pub severity: Severity,
    /// What cannot be done without it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blocked_actions: Vec<String>,
    /// Where it may be found.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub candidates: Vec<String>,
}

/// The envelope of an assembly, as it is kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Envelope {
    /// The version of this form.
    pub format: u32,
    /// What it is for.
    pub scope: ContextScope,
    /// When it was made.
    pub created_at: Timestamp,
    /// What made it.
    pub producer: Producer,
    /// Who asked for it.
    pub actor: String,
    /// What it continues.
    pub stream: String,
    /// The assembly that it follows in the stream.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous: Option<EnvelopeId>,
    /// Which attempt at the same turn it is, the first being 1.
    pub attempt: u64,
    /// What tells one turn from another: the digest of the commit and of what was asked.
    pub turn: Digest,
    /// Ids that the caller's runtime gave: `session_id`, `turn_id` and the like.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub correlation: BTreeMap<String, String>,
    /// What it was made by.
    pub recipe: RecipeRef,
    /// The head that the history was read from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<HeadName>,
    /// The commit that the history was read from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<CommitId>,
    /// What tokens were counted by.
    pub counter: CounterRef,
    /// The rules that it was assembled by.
    #[serde(default, skip_serializing_if = "PipelineVersion::is_first")]
    #[schemars(with = "u32")]
    pub pipeline: PipelineVersion,
    /// The frozen inputs.
    pub inputs: ArtifactId,
    /// What was there.
    pub items: Vec<ItemRecord>,
    /// What was there and not even read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unread: Option<UnreadTurns>,
    /// What each target was given.
    pub targets: Vec<TargetRecord>,
    /// What is missing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gaps: Vec<GapRecord>,
}

impl Envelope {
    /// The version of the form.
    pub const FORMAT: u32 = 1;
}

/// What made an envelope.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Producer {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
}

/// A recipe, by name and content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RecipeRef {
    /// Its name.
    pub name: String,
    /// The id that its canonical form has as an artifact.
    pub digest: ArtifactId,
    /// Where it came from; older envelopes do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provenance: Option<RecipeProvenance>,
}

/// A counter, by name and version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CounterRef {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: u32,
}

/// What a target was given, and where that is kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TargetRecord {
    /// What it was given.
    #[serde(flatten)]
    pub outcome: TargetOutcome,
    /// The bytes.
    pub artifact: ArtifactId,
    /// How much of it the assembly before began with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prefix: Option<Prefix>,
}

/// How much of an assembly is what the one before began with, in whole blocks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Prefix {
    /// The one before.
    pub of: EnvelopeId,
    /// Blocks that are the same.
    pub blocks: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Their tokens.
    pub tokens: u64,
    /// Where the two part, if one does not go on where the other ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub broken: Option<Break>,
}

/// Where two assemblies part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Break {
    /// What the one before has there; a mark where that is no item.
    pub before: Option<ItemId>,
    /// What this one has there; a mark where that is no item.
    pub after: Option<ItemId>,
    /// The segment of it.
    pub segment: String,
}

/// Something that is missing, with its id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GapRecord {
    /// Its id.
    pub id: MissingId,
    /// What it is.
    #[serde(flatten)]
    pub gap: Gap,
}

impl Prefix {
    /// Compares the blocks of two assemblies.
    pub fn between(of: EnvelopeId, before: &[Block], after: &[Block]) -> Self {
        let same = before.iter().zip(after).take_while(|(before, after)| before.digest == after.digest).count();
        let sum = |measure: fn(&Block) -> u64| after[..same].iter().map(measure).sum();
        let broken = match (before.get(same), after.get(same)) {
            (Some(old), Some(new)) => {
                Some(Break { before: old.item.clone(), after: new.item.clone(), segment: new.segment.clone() })
            }
            _ => None,
        };
        let (bytes, tokens) = (sum(|block| block.bytes), sum(|block| block.tokens));
        Self { of, blocks: same as u64, bytes, tokens, broken }
    }
}

impl Envelope {
    /// Returns the summaries of the chain's own compactions that some target was given, with what they stand for.
    pub fn chain_compactions(&self) -> impl Iterator<Item = (&ItemRecord, &ReplacedTurns)> {
        let is_in = |item: &ItemRecord| {
            self.targets
                .iter()
                .flat_map(|target| &target.outcome.blocks)
                .any(|block| block.item.as_ref() == Some(&item.id))
        };
        let found = self.items.iter().filter_map(|item| Some((item, item.replaces.as_ref()?)));
        found.filter(move |(item, _)| is_in(item))
    }
}

impl ItemRecord {
    /// Describes an item of some inputs.
    pub fn of(item: &Item, inputs: &Inputs) -> Self {
        Self {
            id: item.id.clone(),
            kind: item.kind,
            segment: inputs.recipe.segments[item.segment].name.clone(),
            priority: item.priority,
            title: item.title.clone(),
            origin: item.origin.clone(),
            visibility: item.visibility.clone(),
            trust: item.trust.clone(),
            redaction: item.redaction.clone(),
            sensitivity: item.sensitivity.clone(),
            media_type: item.media_type.clone(),
            replaces: item.replaces.clone(),
            messages: item.messages.clone(),
            is_summary: matches!(item.part, RunPart::Summary(_)),
        }
    }
}
