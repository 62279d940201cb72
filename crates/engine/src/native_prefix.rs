//! A session that begins with its runtime's own records: they stay as they were stored, and what was said elsewhere
//! follows them.

use std::{
    fs::File,
    io::{self, Seek as _, Write},
};

use contexture_core::{CommitId, CommitKind, Format};
use contexture_formats::{
    self as formats, Dialogue, Framing, JoinPlan, Joiner, NativePrefix, RawRecord, Renamer, Replay, Splitter, Target,
    codec::Effect,
};
use contexture_store::commit::StoredCommit;
use tracing::{Instrument as _, debug_span};

use crate::{
    Contexture, Error, Materialized, Result, Stop, Stretch, Tier, Translation, TranslationLoss,
    chain::{Body, Plan},
    entries::{Entries, UnreadContent},
    translate::{self, Gathered},
};

/// Longest content of a commit that is held. One that is longer is a record that is too long to be read.
const MAX_HELD_BYTES: u64 = 2 * formats::codec::MAX_RECORD_BYTES as u64;

/// A session that was written for its runtime to go on with.
#[derive(Debug, Clone)]
pub struct WrittenSession {
    /// How faithful it is, and what was counted in it.
    pub report: Materialized,
    /// Where the bytes of each commit end, in order. What was mapped counts as the last commit's.
    pub ends: Vec<(u64, CommitId)>,
}

impl Contexture {
    /// Writes a chain into an empty file, as a session that the runtime of a format goes on with.
    ///
    /// What the runtime has written itself stays as it is, also before a compaction that it made: it keeps what it wants.
    pub async fn write_session(
        &self,
        commit: CommitId,
        format: &Format,
        target: &Target,
        file: &mut File,
    ) -> Result<WrittenSession> {
        let span = debug_span!("write_session", %commit);
        self.write_chain(commit, format, target, file).instrument(span).await
    }

    async fn write_chain(
        &self,
        commit: CommitId,
        format: &Format,
        target: &Target,
        file: &mut File,
    ) -> Result<WrittenSession> {
        let plan = self.plan(Some(commit), Stop::Root).await?;
        if let Some(written) = self.write_native_prefix(&plan, format, target, file).await? {
            return Ok(written);
        }
        let Translation { bytes, report } =
            self.translate_as(Some(commit), Stop::Compaction, format, target, Tier::Mapped).await?;
        file.set_len(0).and_then(|()| file.rewind()).and_then(|()| file.write_all(&bytes)).map_err(unwritten)?;
        Ok(WrittenSession { report, ends: vec![(bytes.len() as u64, commit)] })
    }

    /// Writes a chain as a session: the commits at its root that hold the runtime's own records as they are, only with
    /// the session's id, and the rest mapped after them.
    ///
    /// Nothing is returned, and what was written is void, when no such commits can stay as they are: there are none, the
    /// session is not described in them, or what comes later changes what they say.
    pub(crate) async fn write_native_prefix(
        &self,
        plan: &Plan,
        format: &Format,
        target: &Target,
        sink: &mut (dyn Write + Send),
    ) -> Result<Option<WrittenSession>> {
        let Some(appender) = formats::appender(format) else { return Ok(None) };
        let mut entries = self.entries_of(&plan.route).with_resets();
        let mut session = PrefixWriter::new(format, target, sink);
        let Some(Border { lead, rest }) = session.begin(plan, &mut entries).await? else {
            return Ok(None);
        };
        let mut segments =
            vec![Stretch { format: format.clone(), commits: session.ends.len() as u64, tier: Tier::Native }];
        if rest.is_empty() {
            return Ok(Some(session.end(plan, segments, Vec::new())));
        }
        let Some((tail, tip)) = gather(&lead, rest, &mut entries).await? else { return Ok(None) };
        let said = tail.replay.into_entries();
        if lead.is_called_by(&said) {
            return Ok(None);
        }
        let dialogue = Dialogue::going_on(said);
        let encoded = appender.append(&dialogue, target, &lead);
        let mut counted = dialogue.losses;
        counted.extend(&encoded.losses);
        session.put(tip, &encoded.bytes)?;
        segments.extend(tail.stretches);
        let mut written = session.end(plan, segments, translate::all_losses(tail.losses, &counted));
        written.report.raw = tail.raw;
        Ok(Some(written))
    }
}

/// Where a runtime's own records end.
struct Border {
    /// What must be known of them.
    lead: NativePrefix,
    /// Commits after them that are read already.
    rest: Vec<(StoredCommit, UnreadContent)>,
}

/// A session as far as it is written.
struct PrefixWriter<'s> {
    format: &'s Format,
    renamer: Renamer<'s>,
    sink: &'s mut (dyn Write + Send),
    joiner: Joiner,
    written: u64,
    ends: Vec<(u64, CommitId)>,
    /// What is not in the store any more.
    losses: Vec<TranslationLoss>,
}

impl<'s> PrefixWriter<'s> {
    fn new(format: &'s Format, target: &'s Target, sink: &'s mut (dyn Write + Send)) -> Self {
        let (renamer, joiner) = (Renamer::new(format, &target.session), Joiner::new(JoinPlan::Lines));
        Self { format, renamer, sink, joiner, written: 0, ends: Vec::new(), losses: Vec::new() }
    }

    /// Writes the commits at the root of a chain that are the runtime's own; nothing is returned if they cannot stand.
    async fn begin(&mut self, plan: &Plan, entries: &mut Entries) -> Result<Option<Border>> {
        let format = self.format;
        // Of a chain that is all the runtime's own, nothing need be known: nothing will follow.
        let is_mixed = !plan.is_in(format);
        let (mut lead, mut since) = (NativePrefix::default(), NativePrefix::default());
        let mut waiting = Vec::new();
        let mut next = None;
        while let Some((stored, unread)) = entries.next_commit().await? {
            let commit = &stored.commit;
            if self.ends.is_empty() && waiting.is_empty() && commit.parent.is_some() {
                return Ok(None);
            }
            if commit.format != *format {
                next = Some((stored, unread));
                break;
            }
            if let Body::Withheld(_) = unread.body {
                // Records of a runtime follow one another by reference, so what comes after a gap cannot stay as it is.
                if !is_mixed {
                    return Ok(None);
                }
                next = Some((stored, unread));
                break;
            }
            self.losses.extend(unread.withheld.as_deref().map(|gone| TranslationLoss::of_withheld(gone, stored.id)));
            if unread.body.size() > MAX_HELD_BYTES {
                // A record that was not read: there is nothing in it that anybody could change.
                if commit.kind != CommitKind::Delta || since.has_open_call() {
                    return Ok(None);
                }
                self.copy(stored.id, unread.body, entries).await?;
                continue;
            }
            let content = entries.whole(unread.body).await?;
            if commit.kind != CommitKind::Delta && !is_own_compaction(format, &content) {
                return Ok(None);
            }
            if is_mixed {
                since.follow(format, &content);
            }
            waiting.push((stored, content));
            // A call and its result are kept together, on either side of the border.
            if !since.has_open_call() {
                lead.extend(std::mem::take(&mut since));
                for (stored, content) in waiting.drain(..) {
                    self.keep(stored.id, &content)?;
                }
            }
        }
        let stands = !self.ends.is_empty() && self.renamer.has_head() && (lead.can_go_on() || !is_mixed);
        let unread = |content| UnreadContent { body: Body::Whole(content), withheld: None };
        let rest = waiting.into_iter().map(|(stored, content)| (stored, unread(content))).chain(next).collect();
        Ok(stands.then_some(Border { lead, rest }))
    }

    /// Writes the records of a commit as they are, only with the session's id.
    fn keep(&mut self, commit: CommitId, content: &[u8]) -> Result<()> {
        let mut renamed = Vec::with_capacity(content.len() + 64);
        let mut splitter = Splitter::new(Framing::Lines, 0);
        let mut take = |record: RawRecord<'_>| renamed.extend_from_slice(&self.renamer.rename(record.bytes));
        splitter
            .push(content, &mut take)
            .and_then(|()| splitter.finish(&mut take))
            .map_err(|problem| unwritten(io::Error::other(problem)))?;
        // Whoever goes on with the session appends whole lines.
        if renamed.last().is_some_and(|last| *last != b'\n') {
            renamed.push(b'\n');
        }
        self.put(commit, &renamed)
    }

    /// Writes the bytes of a commit as they are, piece by piece.
    async fn copy(&mut self, commit: CommitId, body: Body, entries: &Entries) -> Result<()> {
        let unjoinable = |source| Error::Unjoinable { commit, source };
        let mut pieces = entries.pieces(body);
        let mut last = None;
        while let Some(piece) = pieces.next().await? {
            self.write(commit, &piece)?;
            last = piece.last().copied();
        }
        if last.is_some_and(|last| last != b'\n') {
            self.write(commit, b"\n")?;
        }
        self.joiner.end_part().map_err(unjoinable)?;
        self.ends.push((self.written, commit));
        Ok(())
    }

    fn write(&mut self, commit: CommitId, bytes: &[u8]) -> Result<()> {
        let joined = self.joiner.push(bytes).map_err(|source| Error::Unjoinable { commit, source })?;
        self.sink.write_all(&joined.glue).and_then(|()| self.sink.write_all(joined.body)).map_err(unwritten)?;
        self.written += (joined.glue.len() + joined.body.len()) as u64;
        Ok(())
    }

    fn put(&mut self, commit: CommitId, bytes: &[u8]) -> Result<()> {
        self.write(commit, bytes)?;
        self.joiner.end_part().map_err(|source| Error::Unjoinable { commit, source })?;
        self.ends.push((self.written, commit));
        Ok(())
    }

    /// Ends the session and returns what was counted in it.
    fn end(self, plan: &Plan, segments: Vec<Stretch>, mut losses: Vec<TranslationLoss>) -> WrittenSession {
        losses.extend(self.losses);
        losses.sort_by_key(|loss| loss.kind);
        let measure = self.joiner.finish().expect("lines join whatever they hold").measure;
        let report = Materialized::new(Some(self.format.clone()), plan.route.commits, measure, segments, losses);
        WrittenSession { report, ends: self.ends }
    }
}

/// Replays what comes after a lead and returns it with its last commit, unless it changes what the lead says.
async fn gather(
    lead: &NativePrefix,
    rest: Vec<(StoredCommit, UnreadContent)>,
    entries: &mut Entries,
) -> Result<Option<(Gathered, CommitId)>> {
    let mut tail = Gathered::after(Replay::after(lead.ids().clone()));
    let mut tip = None;
    let mut rest = rest.into_iter();
    loop {
        let next = match rest.next() {
            Some(next) => Some(next),
            None => entries.next_commit().await?,
        };
        let Some((stored, unread)) = next else { break };
        if stored.commit.kind != CommitKind::Delta {
            return Ok(None);
        }
        tip = Some(stored.id);
        tail.take(entries.read(stored, unread).await?);
        if tail.replay.reaches_back() {
            return Ok(None);
        }
    }
    tail.end_text();
    Ok(tip.map(|tip| (tail, tip)))
}

/// Tells whether content is a compaction that the runtime made and knows how to read.
fn is_own_compaction(format: &Format, content: &[u8]) -> bool {
    let Some(codec) = formats::codec(format) else { return false };
    let mut is_own = false;
    let read = formats::read(codec, content, &mut |reading| {
        let effect = reading.step.map(|step| step.effect);
        is_own |= matches!(effect, Ok(Effect::Boundary(_) | Effect::Replace(_)));
    });
    read.is_ok() && is_own
}

fn unwritten(source: io::Error) -> Error {
    Error::Io { attempt: "write the session", source }
}
