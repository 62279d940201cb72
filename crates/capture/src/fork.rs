//! Forks by reference: a session file that holds only what came after another one.

use std::{
    io::{self, BufRead as _, Read as _},
    path::Path,
};

use contexture_core::{ArtifactId, CommitId, Format, GivenSessionId, RuntimeSessionId};
use contexture_formats::{Codec, codec, codec::Effect};
use contexture_store::{
    commit::{self, Filter},
    source::{self, SourceSegment, TranscriptSource},
};
use futures_util::FutureExt as _;

use crate::{
    Capture, Error, Result, Runtime,
    input::SessionInput,
    steps::{Base, State},
};

/// Longest first line that is looked at.
const MAX_FIRST_LINE: u64 = 4 * 1024 * 1024;
/// Rows that are read at once.
const PER_PAGE: u32 = 256;

/// The part of another session that a session continues.
pub(crate) struct ContinuedPrefix {
    /// The other session.
    pub(crate) session: GivenSessionId,
    /// The number of the first record that is not of it.
    pub(crate) end_ordinal: Option<u64>,
    /// How many bytes it has, where records have no numbers.
    pub(crate) end_offset: Option<u64>,
    /// Reads the number of a record.
    pub(crate) ordinal_of: fn(line: &[u8]) -> Option<u64>,
}

/// Reads in the first line of a session which part of another one it continues.
pub(crate) type ReadPrefix = fn(first_line: &[u8]) -> Option<ContinuedPrefix>;

/// Where a prefix ends.
struct PrefixEnd {
    artifact: ArtifactId,
    /// What the artifact holds, up to the cut and after it.
    before: Vec<u8>,
    after: Vec<u8>,
}

impl Capture<'_> {
    /// Returns what a session goes on from, and the session's id when that is not here.
    pub(crate) async fn base_of(self, path: &Path, format: &Format) -> Result<(Option<Base>, Option<GivenSessionId>)> {
        let reading = |source| Error::Io { attempt: "read the session", source };
        let Some(base) = continued_prefix(path, format).map_err(reading)? else {
            return Ok((None, None));
        };
        let missing = Ok((None, Some(base.session.clone())));
        let Some(parent) = self.source_of(&base.session, format).await? else { return missing };
        let exact = self.engine.exact().await?;
        let Some(cut) = Capture::new(&exact).cut(&parent, &base).await? else { return missing };
        let session = serde_json::from_str::<State>(&parent.state).ok().and_then(|state| state.session);
        let Some(session) = session.and_then(|session| session.checked()) else { return missing };
        let Some((id, before)) = self.commit_with(session, cut.artifact).await? else { return missing };
        let decoder = codec(format).expect("a format with forks is understood");
        // What the runtime wrote for the next turn before anybody spoke changes nothing.
        let base = if says_nothing(decoder, &cut.after) {
            Base { tip: Some(id), prefix: Vec::new() }
        } else {
            Base { tip: before, prefix: cut.before }
        };
        Ok((Some(base), None))
    }

    /// Finds the file of a session.
    async fn source_of(self, id: &GivenSessionId, format: &Format) -> Result<Option<TranscriptSource>> {
        let finding = self
            .engine
            .store()
            .read(self.engine.scope(), id.to_owned(), |tx, id| source::of_session(tx, id, PER_PAGE).boxed());
        Ok(finding.await?.into_iter().find(|source| source.format == *format))
    }

    /// Finds where a prefix ends in the stored bytes of a session: by the numbers of its records, else by its length.
    async fn cut(self, parent: &TranscriptSource, base: &ContinuedPrefix) -> Result<Option<PrefixEnd>> {
        let mut last: Option<(ArtifactId, Vec<u8>)> = None;
        let mut at = 0;
        while at < parent.size {
            let place = (parent.machine.clone(), parent.path.clone(), at);
            let paging = self.engine.store().read(self.engine.scope(), place, |tx, (machine, path, at)| {
                source::segments(tx, machine, path, *at, PER_PAGE).boxed()
            });
            let page = paging.await?;
            // Where a stretch is missing, the one before it comes again.
            if page.last().is_none_or(|segment| segment.start + segment.length <= at) {
                break;
            }
            for segment in page {
                // Where content was purged, it cannot be told where the fork begins.
                let Some(content) = self.step_artifact(segment.artifact).await? else { return Ok(None) };
                if let Some(end) = base.ends_in(&segment, &content) {
                    return Ok(match (end, last) {
                        (0, last) => last.map(|(artifact, before)| PrefixEnd { artifact, before, after: Vec::new() }),
                        (end, _) => {
                            let (before, after) = content.split_at(end.min(content.len()));
                            Some(PrefixEnd {
                                artifact: segment.artifact,
                                before: before.to_vec(),
                                after: after.to_vec(),
                            })
                        }
                    });
                }
                at = segment.start + segment.length;
                last = Some((segment.artifact, content));
            }
        }
        // All of it.
        Ok(last.map(|(artifact, before)| PrefixEnd { artifact, before, after: Vec::new() }))
    }

    /// Returns the commit of a session that holds an artifact, and its parent.
    async fn commit_with(
        self,
        session: RuntimeSessionId,
        artifact: ArtifactId,
    ) -> Result<Option<(CommitId, Option<CommitId>)>> {
        let filter = Filter { session: Some(session), ..Filter::default() };
        let mut after = None;
        loop {
            let page = self.engine.list(&filter, after, PER_PAGE).await?;
            let Some(last) = page.last() else { return Ok(None) };
            after = Some(commit::PageAfter { created_at: last.commit.created_at, seq: last.seq });
            if let Some(found) = page.iter().find(|found| found.commit.artifact == artifact) {
                return Ok(Some((found.id, found.commit.parent)));
            }
        }
    }
}

impl ContinuedPrefix {
    /// Returns where in an artifact the prefix ends, if it ends in the stretch that lies there.
    fn ends_in(&self, segment: &SourceSegment, content: &[u8]) -> Option<usize> {
        let start = usize::try_from(segment.part_start).ok()?;
        let stretch = content.get(start..start + usize::try_from(segment.length).ok()?)?;
        let Some(end) = self.end_ordinal else {
            let end = self.end_offset?.checked_sub(segment.start)?;
            return (end < segment.length).then(|| start + usize::try_from(end).unwrap_or(usize::MAX));
        };
        let mut at = start;
        for line in stretch.split_inclusive(|byte| *byte == b'\n') {
            if (self.ordinal_of)(line).is_some_and(|ordinal| ordinal >= end) {
                return Some(at);
            }
            at += line.len();
        }
        None
    }
}

/// Returns the id of the session that a file continues, which should be taken in before.
pub(crate) fn continued(path: &Path, format: &Format) -> Option<GivenSessionId> {
    continued_prefix(path, format).ok().flatten().map(|base| base.session)
}

/// Reads what a file says it continues.
fn continued_prefix(path: &Path, format: &Format) -> io::Result<Option<ContinuedPrefix>> {
    let Some(read) = Runtime::files_in(format).and_then(|files| files.continues) else { return Ok(None) };
    let mut line = Vec::new();
    SessionInput::open(path)?.take(MAX_FIRST_LINE).read_until(b'\n', &mut line)?;
    Ok(read(&line))
}

pub(crate) fn says_nothing(decoder: &dyn Codec, lines: &[u8]) -> bool {
    let is_nothing = |line: &[u8]| decoder.step(line).is_ok_and(|step| step.effect == Effect::Nothing);
    lines.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty()).all(is_nothing)
}
