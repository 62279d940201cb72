//! Edits: which tool call wrote a line of a file, and what led to it.
//!
//! Commits are looked at newest first, one at a time and never more than was allowed. Nothing is stored for this: a call
//! is an edit by the shape of what it is given.

mod attribution;
mod block_scores;
mod call_context;
mod content_search;
mod file;
mod line_writers;
mod reformatted;

use std::collections::HashSet;

use contexture_core::{CommitId, CommitKind, EntryPart, Timestamp};
use contexture_formats::{
    DisplayItem, display_items,
    edit::{self, Edit, Line},
};
use contexture_store::{
    Error as StoreError,
    commit::{PageAfter, StoredCommit},
    search::{self, Filter, PassageKind, Query},
};
use futures_util::FutureExt as _;
use tracing::{Instrument as _, debug_span};

pub use attribution::{LineFinding, MatchGrade};
pub use call_context::{CallContext, Reasoning, Request, Thought};
pub use file::{Nearness, TracedFile};

use crate::{CommitContent, ContentMeaning, Contexture, Error, LogStart, Result, Stop, Walk};
use attribution::Attribution;
use line_writers::LineWriters;

/// Commits that are asked for at once.
const PAGE: u32 = 64;
/// Edits that are held beside those that wrote a line as it is.
const MAX_EDITS: usize = 512;
/// Lines of them, in all.
const MAX_EDIT_LINES: usize = 200_000;
/// Fewest lines that an edit of another file has in common with those that are asked for.
const MIN_REPEATED: usize = 2;
/// Children that are asked how a call ended.
const MAX_CHILDREN: u32 = 8;
/// A turn that wrote a line may end this long after the line was kept elsewhere.
const LONGEST_TURN_MICROS: i64 = 24 * 60 * 60 * 1_000_000;

/// What to lead back to the calls that wrote it.
#[derive(Debug, Clone)]
pub struct Trace {
    /// The file.
    pub file: TracedFile,
    /// Lines of it, in their order.
    pub lines: Vec<TracedLine>,
    /// All lines of the file, which tell where in it those are; none when only those are known.
    pub around: Vec<String>,
    /// Where to look.
    pub within: Within,
    /// Most commits whose content is looked at.
    pub max_commits: u64,
    /// Most lines that are looked for by what they say, in whatever file.
    pub max_probes: usize,
}

/// A line whose origin is looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TracedLine {
    /// The line.
    pub text: String,
    /// When it was there: it was written before that.
    pub until: Option<Timestamp>,
    /// Its place among all lines of the file, from 0.
    pub place: Option<usize>,
}

/// Where to look for edits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Within {
    /// This commit and those before it.
    Chain(CommitId),
    /// Everything that the index knows; [`update_index`](Contexture::update_index) goes before it.
    Space,
}

/// What was found of the lines.
#[derive(Debug, Clone, Default)]
pub struct Traced {
    /// What is known of each line.
    pub lines: Vec<LineFinding>,
    /// The edits.
    pub edits: Vec<FoundEdit>,
    /// Whether there were more commits than could be looked at.
    pub is_cut: bool,
}

/// A call that changed a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundEdit {
    /// The commit that holds the call.
    pub commit: StoredCommit,
    /// The call.
    pub call: String,
    /// The tool.
    pub tool: String,
    /// When it was called.
    pub at: Timestamp,
    /// What it changed.
    pub edit: Edit,
    /// Whether the file is the one that was asked for.
    pub nearness: Nearness,
}

impl LineFinding {
    /// Returns the edits that it names, by their places among those found.
    pub fn edits(&self) -> Vec<usize> {
        match self {
            Self::Nothing => Vec::new(),
            Self::Written { edit, .. } => vec![*edit],
            Self::Ambiguous { edits, .. } => edits.clone(),
        }
    }
}

impl Contexture {
    /// Finds the tool calls that wrote lines of a file: for each line the newest that did, before the line was there.
    ///
    /// Lines are known by what they say and by what stands around them, in this file and, with enough around them, in
    /// others. Where calls of several sessions may have written a line, all of them are named. A call that failed wrote nothing, and one that wrote the whole file may have repeated what was there already, so
    /// an older one that wrote the line counts more. Lines without letters and digits belong to their neighbours. What
    /// cannot be read is passed over.
    pub async fn trace(&self, trace: &Trace) -> Result<Traced> {
        self.trace_lines(trace).instrument(debug_span!("trace", max_commits = trace.max_commits)).await
    }

    async fn trace_lines(&self, trace: &Trace) -> Result<Traced> {
        let mut writers = LineWriters::new(trace);
        let mut room = EditRoom::default();
        let mut is_cut = self.trace_by_name(trace, &mut writers, &mut room).await?;
        let (by_order, mut edits) = writers.finish();
        if trace.within == Within::Space {
            is_cut |= self.trace_by_content(trace, &by_order, &mut edits, &mut room).await?;
        }
        // Whether a call has failed is asked of those that matter.
        let (mut dead, mut sound) = (HashSet::new(), HashSet::new());
        loop {
            let lines = Attribution::new(trace, &edits, by_order.clone(), &dead).findings();
            let mut named: Vec<usize> = lines.iter().flat_map(LineFinding::edits).collect();
            named.sort_unstable();
            named.dedup();
            named.retain(|edit| !sound.contains(edit));
            let known = dead.len();
            for edit in named {
                if self.failed_later(&edits[edit]).await? {
                    dead.insert(edit);
                } else {
                    sound.insert(edit);
                }
            }
            if dead.len() == known {
                return Ok(Traced { lines, edits, is_cut });
            }
        }
    }

    /// Looks through the commits that name the file, newest first, until every line has its edit. Returns whether there
    /// were more than could be looked at.
    async fn trace_by_name(&self, trace: &Trace, writers: &mut LineWriters<'_>, room: &mut EditRoom) -> Result<bool> {
        let mut candidates = self.candidates(trace).await?;
        let mut left = trace.max_commits;
        while left > 0 && !writers.is_done() {
            let page = candidates.next(self).await?;
            if page.is_empty() {
                return Ok(false);
            }
            for commit in page {
                if left == 0 || writers.is_done() {
                    break;
                }
                left -= 1;
                for found in self.edits_in(commit, trace).await? {
                    if found.nearness == Nearness::Elsewhere || !writers.wants(&found) {
                        if room.holds(&found) {
                            writers.set_aside(found);
                        }
                    } else if !self.failed_later(&found).await? {
                        writers.take(found);
                    }
                }
            }
        }
        Ok(!writers.is_done())
    }

    async fn candidates(&self, trace: &Trace) -> Result<Candidates> {
        Ok(match trace.within {
            Within::Chain(id) => Candidates::Walk(Box::new(self.walk(LogStart::Commits(vec![id])).await?)),
            Within::Space => match trace.file.query() {
                Some(query) => {
                    let until = trace
                        .lines
                        .iter()
                        .map(|line| line.until)
                        .max_by_key(|until| until.map_or(i64::MAX, Timestamp::as_micros));
                    let until = until.flatten().map(|until| until.as_micros().saturating_add(LONGEST_TURN_MICROS));
                    let until = until.and_then(Timestamp::from_micros);
                    let filter = Filter { kind: Some(PassageKind::ToolCall), until, ..Filter::default() };
                    Candidates::Named { query: Box::new((query, filter)), after: None }
                }
                // A name without words is in no index.
                None => Candidates::Walk(Box::new(self.walk(LogStart::Everything).await?)),
            },
        })
    }

    /// Returns the edits of a file that a commit holds, newest first.
    async fn edits_in(&self, commit: StoredCommit, trace: &Trace) -> Result<Vec<FoundEdit>> {
        // What stands for a history repeats it.
        if commit.commit.kind != CommitKind::Delta && commit.commit.parent.is_some() {
            return Ok(Vec::new());
        }
        let Some(steps) = self.steps_of(commit.id).await? else { return Ok(Vec::new()) };
        let (mut calls, mut failed) = (Vec::new(), HashSet::new());
        for item in display_items(steps) {
            let DisplayItem::Entry(entry) = item else { continue };
            let at = entry.at.unwrap_or(commit.commit.created_at);
            for part in entry.parts {
                match part {
                    EntryPart::ToolCall { id, name, input } => calls.push((id, name, input, at)),
                    EntryPart::ToolResult { call, is_error: Some(true), .. } => {
                        failed.insert(call);
                    }
                    _ => {}
                }
            }
        }
        // Looked up for the first path that needs it; the root stands for a directory that is not known.
        let mut directory: Option<Option<String>> = None;
        let is_chain = matches!(trace.within, Within::Chain(_));
        let wanted: HashSet<&str> = trace.lines.iter().map(|line| line.text.trim()).collect();
        let mut found = Vec::new();
        for (call, tool, input, at) in calls.into_iter().rev().filter(|(call, ..)| !failed.contains(call)) {
            let mut edits = edit::of(&input);
            if edits.is_empty() {
                edits = edit::by_commands(&input);
            }
            for edit in edits.into_iter().rev() {
                let Some(path) = &edit.path else { continue };
                if !trace.file.may_be(path) {
                    if repeats_lines(&edit, &wanted) {
                        let (commit, call, tool) = (commit.clone(), call.clone(), tool.clone());
                        found.push(FoundEdit { commit, call, tool, at, edit, nearness: Nearness::Elsewhere });
                    }
                    continue;
                }
                if directory.is_none() && !path.starts_with('/') {
                    let known = self.target_of(Some(commit.id)).await?.directory;
                    directory = Some(Some(known).filter(|known| known != "/"));
                }
                let directory = directory.as_ref().and_then(Option::as_deref);
                let nearness = trace.file.nearness(path, directory, is_chain);
                let nearness = nearness.or_else(|| repeats_lines(&edit, &wanted).then_some(Nearness::Elsewhere));
                let Some(nearness) = nearness else { continue };
                found.push(FoundEdit {
                    commit: commit.clone(),
                    call: call.clone(),
                    tool: tool.clone(),
                    at,
                    edit,
                    nearness,
                });
            }
        }
        Ok(found)
    }

    /// Tells whether a commit that follows says that a call failed: its result may have come after the checkpoint.
    async fn failed_later(&self, found: &FoundEdit) -> Result<bool> {
        for child in self.children(found.commit.id, MAX_CHILDREN).await? {
            let failed = self.steps_of(child.id).await?.into_iter().flatten().flat_map(|step| step.entries).any(|entry| {
                let fails = |part: &EntryPart| {
                    matches!(part, EntryPart::ToolResult { call, is_error: Some(true), .. } if *call == found.call)
                };
                entry.parts.iter().any(fails)
            });
            if failed {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns what the records of a commit say; nothing when they cannot be read.
    async fn steps_of(&self, commit: CommitId) -> Result<Option<Vec<contexture_formats::codec::RecordStep>>> {
        let reading = async { self.entries(Some(commit), Stop::At(commit)).await?.next().await };
        match reading.await {
            Ok(Some(CommitContent { said: ContentMeaning::Steps { steps, .. }, .. })) => Ok(Some(steps)),
            // Nobody understands it, or a check of the store says what is wrong.
            Ok(
                Some(CommitContent {
                    said: ContentMeaning::Text { .. } | ContentMeaning::Opaque { .. } | ContentMeaning::Withheld,
                    ..
                })
                | None,
            )
            | Err(
                Error::AbsentArtifact { .. }
                | Error::Store(StoreError::Damaged { .. } | StoreError::DamagedArtifact(_) | StoreError::NoArtifact(_)),
            ) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// What is held of edits that may matter, in all.
struct EditRoom {
    edits: usize,
    lines: usize,
}

impl Default for EditRoom {
    fn default() -> Self {
        Self { edits: MAX_EDITS, lines: MAX_EDIT_LINES }
    }
}

impl EditRoom {
    /// Tells whether there is room for one more edit, and takes it.
    fn holds(&mut self, found: &FoundEdit) -> bool {
        let lines = found.edit.lines.len();
        let has_room = self.edits > 0 && self.lines >= lines;
        if has_room {
            (self.edits, self.lines) = (self.edits - 1, self.lines - lines);
        }
        has_room
    }
}

/// Tells whether an edit of another file holds enough of the lines to be where they come from.
fn repeats_lines(edit: &Edit, wanted: &HashSet<&str>) -> bool {
    let is_wanted = |line: &&Line| matches!(line, Line::Added(text) if text.contains(char::is_alphanumeric) && wanted.contains(text.trim()));
    edit.lines.iter().filter(is_wanted).take(MIN_REPEATED).count() == MIN_REPEATED
}

/// Commits that may hold edits, newest first.
enum Candidates {
    /// All of a history.
    Walk(Box<Walk>),
    /// Those whose calls name the file.
    Named { query: Box<(Query, Filter)>, after: Option<PageAfter> },
}

impl Candidates {
    /// Returns some further ones; none at the end.
    async fn next(&mut self, engine: &Contexture) -> Result<Vec<StoredCommit>> {
        match self {
            Self::Walk(walk) => walk.next(PAGE).await,
            Self::Named { query, after } => {
                let reading = engine.store.read(engine.scope(), (query.clone(), *after), |tx, (asked, from)| {
                    search::newest(tx, (&asked.0, &asked.1), *from, PAGE).boxed()
                });
                let page = reading.await?;
                if let Some(last) = page.last() {
                    *after = Some(PageAfter { created_at: last.commit.created_at, seq: last.seq });
                }
                Ok(page)
            }
        }
    }
}
