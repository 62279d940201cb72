//! Sources: where items come from. A new one is a variant of a recipe's input and a module here.

mod channel;
mod file;
mod given;
mod given_text;
mod missing;
mod named_files;
mod retrieval;
mod topic;

use contexture_assembly::{
    Digest, Hold, Item, ItemContent, ItemOrigin, PromptPlace, RunPart, TokenCounts, Voice,
    envelope::{Gap, GapKind},
    pipeline::PreparedItems,
    recipe::{Recipe, SourceInput, SourceSpec},
    standard::{ContextKind, ItemId, Severity},
};
use contexture_core::{CommitId, MessageSequence};

pub use channel::ChannelContext;
pub(super) use channel::{ReadChannel, read as read_channel};
pub use given::{GivenItem, GivenItems};
pub use given_text::TriggerMessage;
pub(super) use missing::FoundAgain;
pub(super) use named_files::NamedFiles;

use topic::TopicSelection;

use super::Assemble;
use crate::{Contexture, Result, SecretGuard, assemble::masked};

/// Items of one source and segment keep their order; those of the next source come after them.
const ITEMS_PER_SOURCE: i64 = 1 << 32;

/// A source of a recipe at its place.
#[derive(Debug, Clone, Copy)]
pub(super) struct Placed<'r> {
    pub(super) source: &'r SourceSpec,
    /// Its segment, counted from 0.
    pub(super) segment: usize,
    /// Its place among the sources of the segment.
    pub(super) order: i64,
}

/// Returns the sources of a recipe.
pub(super) fn of_recipe(recipe: &Recipe) -> impl Iterator<Item = Placed<'_>> {
    recipe.segments.iter().enumerate().flat_map(|(segment, rule)| {
        (0i64..).zip(&rule.sources).map(move |(order, source)| Placed { source, segment, order })
    })
}

impl Placed<'_> {
    /// Tells whether it says what other sources could not read, and so is read after them.
    pub(super) fn is_missing(&self) -> bool {
        matches!(self.source.input, SourceInput::Missing)
    }

    pub(super) fn is_run(&self) -> bool {
        matches!(self.source.input, SourceInput::History { .. } | SourceInput::Channel { .. })
    }

    pub(super) fn is_channel(&self) -> bool {
        matches!(self.source.input, SourceInput::Channel { .. })
    }
}

/// Reads sources, and notes what could not be read.
pub(super) struct Gathering<'g> {
    pub(super) engine: &'g Contexture,
    pub(super) guard: &'g SecretGuard,
    pub(super) request: &'g Assemble,
    pub(super) counts: &'g TokenCounts<'g>,
    pub(super) files: NamedFiles,
    /// What was worked out of the items so far.
    pub(super) prepared: PreparedItems,
    pub(super) gaps: Vec<Gap>,
    /// What was missing in an earlier assembly and is no more.
    pub(super) found: Vec<FoundAgain>,
    /// The channel, where the request is for a turn in one.
    pub(super) channel: Option<ReadChannel>,
}

/// What a source found, before the recipe says how much it matters.
struct ItemDraft {
    id: String,
    kind: ContextKind,
    title: Option<String>,
    origin: ItemOrigin,
    content: ItemContent,
    compact: Option<ItemContent>,
    /// The messages of a channel that it tells.
    messages: Vec<MessageSequence>,
}

impl Gathering<'_> {
    /// Returns the items of a source, as the recipe places and ranks them, after those that were read before.
    pub(super) async fn items(&mut self, placed: &Placed<'_>, read: &[Item]) -> Result<Vec<Item>> {
        let drafts = match &placed.source.input {
            SourceInput::System { text, file } => self.system(text.as_deref(), file.as_deref()),
            SourceInput::Instructions { files } => self.instructions(files),
            SourceInput::Text { text, compact, instruction } => {
                vec![given_text::text(placed, text, compact.as_deref(), *instruction)]
            }
            SourceInput::Files { files } => self.files(files),
            SourceInput::Retrieval { query, limit } => self.retrieval(query.as_deref(), *limit).await?,
            SourceInput::Missing => self.missing(read).await?,
            SourceInput::Trigger => self.trigger(),
            SourceInput::Items => return self.given(placed).await,
            SourceInput::SkipHints => self.skip_hints(placed).await?,
            SourceInput::Topic {
                topic,
                sender,
                since,
                strategy,
                amount,
                compact_strategy,
                compact_amount,
                if_missing,
            } => {
                let selection = TopicSelection {
                    topic,
                    sender: sender.as_deref(),
                    since: *since,
                    full: (*strategy, *amount),
                    compact: (*compact_strategy, *compact_amount),
                    if_missing: *if_missing,
                };
                self.topic(placed, &selection).await?
            }
            // Read apart from the others, because how much of it is read depends on them.
            SourceInput::History { .. } | SourceInput::Channel { .. } => Vec::new(),
        };
        Ok((0i64..).zip(drafts).map(|(n, draft)| placed.item(n, draft)).collect())
    }

    /// Notes that something could not be read.
    fn gap(&mut self, subject: &str, why: &str) {
        self.gap_of(subject, why, Severity::Medium);
    }

    /// Notes that something could not be read, and how much that matters.
    fn gap_of(&mut self, subject: &str, why: &str, severity: Severity) {
        self.gaps.push(Gap {
            kind: GapKind::Unreadable,
            subject: subject.to_owned(),
            target: None,
            question: format!("What does {subject} say? {why}"),
            severity,
            blocked_actions: Vec::new(),
            candidates: vec![subject.to_owned()],
        });
    }
}

impl Placed<'_> {
    fn item(&self, n: i64, draft: ItemDraft) -> Item {
        let ItemDraft { id, kind, title, origin, content, compact, messages } = draft;
        let source = self.source;
        Item {
            id: ItemId::new(id).expect("ids of sources are not empty"),
            kind: source.kind.unwrap_or(kind),
            segment: self.segment,
            place: self.place(n),
            part: RunPart::Alone,
            priority: source.priority,
            title: title.or_else(|| source.title.clone()),
            origin,
            visibility: source.visibility.clone(),
            trust: source.trust.clone(),
            redaction: text_of(&content).and_then(|text| masked::redaction(text.as_bytes())),
            at: None,
            sensitivity: source.sensitivity.clone(),
            media_type: None,
            replaces: None,
            messages,
            content,
            compact,
        }
    }

    pub(super) fn place(&self, n: i64) -> PromptPlace {
        PromptPlace { order: self.order.saturating_mul(ITEMS_PER_SOURCE).saturating_add(n), tie: 0 }
    }

    /// Returns the name of the source in ids.
    fn name(&self) -> String {
        format!("{}.{}", self.segment, self.order)
    }
}

fn text_of(content: &ItemContent) -> Option<&str> {
    match content {
        ItemContent::Text { text, .. } => Some(text),
        ItemContent::Entries(_) => None,
    }
}

/// Says that a text in the recipe or of the caller is where an item comes from.
fn origin(kind: &str, uri: String, content: &[u8], hold: Hold, commit: Option<CommitId>) -> ItemOrigin {
    ItemOrigin { kind: kind.to_owned(), uri, digest: Digest::of(content), hold, commit }
}

fn fenced(text: String) -> ItemContent {
    ItemContent::Text { text, voice: Voice::User, fenced: true }
}
