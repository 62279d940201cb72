//! What holds between the parts of a recipe.

use std::collections::{BTreeMap, HashMap, hash_map::Entry};

use super::{BudgetLimits, Recipe, SourceKind, Stability, topic};
use crate::{mistake::MistakeKind, reader::Reader, standard::OverflowStrategy};

/// The strategies for what does not fit that assembly follows.
pub const OVERFLOW_STRATEGIES: [OverflowStrategy; 6] = [
    OverflowStrategy::Reject,
    OverflowStrategy::TruncateTail,
    OverflowStrategy::TruncateMiddle,
    OverflowStrategy::SummarizeOldest,
    OverflowStrategy::SummarizeLowPriority,
    OverflowStrategy::DeferToRetrieval,
];

/// A rule of recipes that was broken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Rule {
    /// A system prompt is given twice.
    #[error("text and file both say what the system prompt is; one of them must go")]
    TextAndFile,
    /// A system prompt is not given.
    #[error("it needs text or file")]
    NeitherTextNorFile,
    /// A segment comes after one that changes more.
    #[error(
        "it is {stability}, but segments[{earlier}] before it is {before}; stable come first, then append, then volatile"
    )]
    Order {
        /// What changes in it.
        stability: Stability,
        /// The one before.
        earlier: usize,
        /// What changes in that.
        before: Stability,
    },
    /// There is a second source of a kind that there may be once.
    #[error("a recipe has one {kind} source at most, and {first} is one")]
    Second {
        /// The kind.
        kind: SourceKind,
        /// Where the first is.
        first: String,
    },
    /// Something comes after the trigger.
    #[error("the trigger comes last: in the last segment, after all other sources")]
    TriggerNotLast,
    /// A source is in a segment of the wrong kind.
    #[error("a segment with a {kind} source must be {needed}, not {found}")]
    Stability {
        /// The kind of the source.
        kind: SourceKind,
        /// What the segment must be.
        needed: Stability,
        /// What it is.
        found: Stability,
    },
    /// A conversation stands beside another one.
    #[error("{first} is a conversation too; each is cut at its oldest end and needs a segment of its own")]
    TwoConversations {
        /// Where the other is.
        first: String,
    },
    /// Two sources take the same messages.
    #[error("{first} takes the same messages")]
    SameMessages {
        /// Which other one.
        first: String,
    },
    /// Nothing is left but the answer.
    #[error("it keeps {reserved} of {max} tokens for the answer, which leaves none for the context")]
    AnswerTakesAll {
        /// The tokens for the answer.
        reserved: u64,
        /// All tokens.
        max: u64,
    },
    /// The segments keep more than there is.
    #[error("the segments reserve {reserves} tokens, but there are {available} without those for the answer")]
    Reserves {
        /// What they keep together.
        reserves: u128,
        /// What there is.
        available: u64,
    },
    /// A segment keeps more than it may have.
    #[error("it is less than the {reserve} tokens that the segment reserves")]
    SegmentMax {
        /// What it keeps.
        reserve: u64,
    },
    /// A strategy of the standard is not one of ours.
    #[error("{strategy} is not done here; {} are", OVERFLOW_STRATEGIES.map(OverflowStrategy::as_str).join(", "))]
    Overflow {
        /// Which one.
        strategy: OverflowStrategy,
    },
}

/// Notes every rule that a recipe breaks.
pub(super) fn check(reader: &mut Reader, recipe: &Recipe) {
    names(reader, recipe);
    order(reader, recipe);
    sources(reader, recipe);
    budget(reader, recipe);
}

fn names(reader: &mut Reader, recipe: &Recipe) {
    let mut first_uses: HashMap<&str, usize> = HashMap::new();
    for (index, segment) in recipe.segments.iter().enumerate() {
        let first = *first_uses.entry(&segment.name).or_insert(index);
        if first != index {
            let problem = MistakeKind::Taken { what: "name", first: format!("segments[{first}]") };
            reader.add(format!("segments[{index}].name"), problem);
        }
    }
}

fn order(reader: &mut Reader, recipe: &Recipe) {
    let mut latest: BTreeMap<Stability, usize> = BTreeMap::new();
    for (index, segment) in recipe.segments.iter().enumerate() {
        let stability = segment.stability;
        let more_volatile = latest.iter().filter(|(before, _)| **before > stability);
        // The nearest one before it is where a person looks first.
        if let Some((&before, &earlier)) = more_volatile.max_by_key(|(_, index)| **index) {
            reader.add(format!("segments[{index}].stability"), Rule::Order { stability, earlier, before });
        }
        latest.insert(stability, index);
    }
}

fn sources(reader: &mut Reader, recipe: &Recipe) {
    let mut first_of_kind: BTreeMap<SourceKind, String> = BTreeMap::new();
    let mut first_of_messages = HashMap::new();
    for (index, segment) in recipe.segments.iter().enumerate() {
        let is_last_segment = index + 1 == recipe.segments.len();
        let mut wrong_stability = None;
        let mut conversation: Option<(SourceKind, String)> = None;
        for (place, source) in segment.sources.iter().enumerate() {
            let (path, kind) = (format!("segments[{index}].sources[{place}]"), source.input.kind());
            if let Some(first) = first_of_kind.get(&kind).filter(|_| is_single(kind)) {
                reader.add(format!("{path}.source"), Rule::Second { kind, first: first.clone() });
            } else if kind == SourceKind::Trigger && !(is_last_segment && place + 1 == segment.sources.len()) {
                reader.add(format!("{path}.source"), Rule::TriggerNotLast);
            }
            if let Some(needed) = needed_stability(kind).filter(|needed| *needed != segment.stability) {
                wrong_stability.get_or_insert(Rule::Stability { kind, needed, found: segment.stability });
            }
            if matches!(kind, SourceKind::History | SourceKind::Channel) {
                match &conversation {
                    Some((other, first)) if *other != kind => {
                        reader.add(format!("{path}.source"), Rule::TwoConversations { first: first.clone() });
                    }
                    Some(_) => {}
                    None => conversation = Some((kind, path.clone())),
                }
            }
            if let Some(messages) = topic::messages(&source.input) {
                match first_of_messages.entry(messages) {
                    Entry::Vacant(vacant) => _ = vacant.insert(path.clone()),
                    Entry::Occupied(first) => reader.add(&path, Rule::SameMessages { first: first.get().clone() }),
                }
            }
            first_of_kind.entry(kind).or_insert(path);
        }
        if let Some(rule) = wrong_stability {
            reader.add(format!("segments[{index}].stability"), rule);
        }
    }
}

/// Tells whether a recipe has one source of a kind at most: two would give the same items twice.
fn is_single(kind: SourceKind) -> bool {
    match kind {
        SourceKind::System
        | SourceKind::History
        | SourceKind::Channel
        | SourceKind::SkipHints
        | SourceKind::Files
        | SourceKind::Missing
        | SourceKind::Items
        | SourceKind::Trigger => true,
        SourceKind::Instructions | SourceKind::Text | SourceKind::Retrieval | SourceKind::Topic => false,
    }
}

/// Returns what a segment must be that has a source of some kind.
fn needed_stability(kind: SourceKind) -> Option<Stability> {
    match kind {
        SourceKind::System => Some(Stability::Stable),
        SourceKind::History | SourceKind::Channel => Some(Stability::Append),
        SourceKind::Instructions
        | SourceKind::Text
        | SourceKind::Files
        | SourceKind::Retrieval
        | SourceKind::Missing
        | SourceKind::Items
        | SourceKind::Trigger
        | SourceKind::SkipHints
        | SourceKind::Topic => None,
    }
}

fn budget(reader: &mut Reader, recipe: &Recipe) {
    let reserves = recipe.segments.iter().map(|segment| u128::from(segment.reserve)).sum();
    window(reader, "budget", recipe.budget.limits, recipe.budget.limits, reserves);
    for (&target, &own) in &recipe.budget.targets {
        window(reader, &format!("budget.targets.{target}"), own, recipe.budget.limits_for(target), reserves);
    }
    for (index, segment) in recipe.segments.iter().enumerate() {
        if segment.max_tokens.is_some_and(|max| max < segment.reserve) {
            reader.add(format!("segments[{index}].max_tokens"), Rule::SegmentMax { reserve: segment.reserve });
        }
    }
}

/// Checks the limits that are in force against what is kept; the mistake is where a limit was written.
fn window(reader: &mut Reader, path: &str, own: BudgetLimits, in_force: BudgetLimits, reserves: u128) {
    let Some(max) = in_force.max_tokens else { return };
    let reserved = in_force.reserved_tokens.unwrap_or(0);
    let written = if own.reserved_tokens.is_some() { "reserved_tokens" } else { "max_tokens" };
    if own.max_tokens.is_none() && own.reserved_tokens.is_none() {
        return;
    }
    let available = max.saturating_sub(reserved);
    if available == 0 {
        reader.add(format!("{path}.{written}"), Rule::AnswerTakesAll { reserved, max });
    } else if reserves > u128::from(available) {
        let written = if own.max_tokens.is_some() { "max_tokens" } else { written };
        reader.add(format!("{path}.{written}"), Rule::Reserves { reserves, available });
    }
}
