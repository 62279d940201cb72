//! Resume: a chain becomes a session that a runtime goes on with.

use std::{
    fs,
    io::{self, Seek as _, Write as _},
    path::{Path, PathBuf},
};

use contexture_core::{CommitId, CommitKind, Format, HeadName};
use contexture_formats::{self as formats, Framing, Renamer, Splitter, Target, codec::Effect};
use tempfile::NamedTempFile;

use crate::{
    Contexture, Error, Materialized, Result, Stop, Stretch, Tier,
    capture::{
        Homes, ImportSettings, Runtime, SessionName,
        adopt::{Draft, Grafts},
    },
    chain::{Detail, Part},
};

/// What a session is to be made of.
#[derive(Debug, Clone)]
pub struct Resume {
    /// The commit to go on from.
    pub commit: CommitId,
    /// The head that is to go on with the session.
    pub head: Option<HeadName>,
    /// Who is to go on.
    pub runtime: Runtime,
    /// Id of the new session, a UUID.
    pub session: String,
    /// The directory that the agent will work in.
    pub directory: PathBuf,
}

/// A session that was written.
#[derive(Debug, Clone)]
pub struct Resumed {
    /// The file.
    pub path: PathBuf,
    /// How faithful it is, and what was counted in it.
    pub report: Materialized,
}

impl Contexture {
    /// Writes a session where its runtime looks for it. No session that is there is changed.
    ///
    /// What the runtime adds to the session goes onto the chain when the session is imported.
    pub async fn resume(&self, request: &Resume, homes: &Homes, settings: &ImportSettings) -> Result<Resumed> {
        let Resume { commit, head, runtime, session, directory } = request;
        let name = SessionName { id: session, directory, at: self.now() };
        let path = runtime.place(homes, name).ok_or(Error::NoPlace { runtime: *runtime })?;
        let format = runtime.format();
        runtime.prepare(&path, directory).map_err(unwritten)?;
        let beside = path.parent().unwrap_or(Path::new("."));
        let mut draft = tempfile::Builder::new().prefix(".ctx-").tempfile_in(beside).map_err(unwritten)?;
        let native = self.write_native(*commit, &format, session, &mut draft).await?;
        let (report, ends) = if let Some(native) = native {
            native
        } else {
            let target = Target {
                session: session.clone(),
                directory: directory.to_string_lossy().into_owned(),
                now: self.now(),
                ..self.target_of(Some(*commit)).await?
            };
            let translation =
                self.translate_as(Some(*commit), Stop::Compaction, &format, &target, Tier::Mapped).await?;
            rewrite(&mut draft, &translation.bytes).map_err(unwritten)?;
            (translation.report, vec![(u64::MAX, *commit)])
        };
        draft.as_file().sync_all().map_err(unwritten)?;
        let grafts = Grafts { ends, follow: head.clone() };
        self.adopt(Draft { written: draft.path(), place: &path, format }, grafts, settings).await?;
        draft.persist_noclobber(&path).map_err(|refused| unwritten(refused.error))?;
        fs::File::open(beside).and_then(|directory| directory.sync_all()).map_err(unwritten)?;
        Ok(Resumed { path, report })
    }

    /// Writes the runtime's own records with the new id and nothing else changed, if the chain is made of them.
    ///
    /// All of them go, also those before a compaction of the runtime's own: it keeps what it wants.
    async fn write_native(
        &self,
        commit: CommitId,
        format: &Format,
        session: &str,
        draft: &mut NamedTempFile,
    ) -> Result<Option<(Materialized, Vec<(u64, CommitId)>)>> {
        let plan = self.plan(Some(commit), Stop::Root).await?;
        if !plan.is_in(format) {
            return Ok(None);
        }
        let mut parts = self.parts(&plan, Detail::Commits).with_resets();
        let mut renamer = Renamer::new(format, session);
        let (mut ends, mut written): (Vec<(u64, CommitId)>, u64) = (Vec::new(), 0);
        let mut text = Counter::default();
        while let Some(Part { commit, stored, body }) = parts.next().await? {
            let is = |kind: CommitKind| stored.as_ref().is_some_and(|stored| stored.commit.kind == kind);
            if stored.as_ref().is_none_or(|stored| stored.commit.format != *format) {
                return Ok(None);
            }
            let content = parts.whole(body).await?;
            if !is(CommitKind::Delta) && !is_own_compaction(format, &content) {
                return Ok(None);
            }
            let mut splitter = Splitter::new(Framing::Lines, 0);
            let mut renamed = Vec::with_capacity(content.len() + 64);
            let mut take = |record: formats::Record<'_>| {
                text.messages += u64::from(!record.is_blank());
                renamed.extend_from_slice(&renamer.rename(record.bytes));
            };
            splitter
                .push(&content, &mut take)
                .and_then(|()| splitter.finish(&mut take))
                .map_err(|problem| unwritten(io::Error::other(problem.to_string())))?;
            if renamed.last().is_some_and(|last| *last != b'\n') {
                renamed.push(b'\n');
            }
            draft.write_all(&renamed).map_err(unwritten)?;
            text.chars += formats::utf16_units(&renamed);
            written += renamed.len() as u64;
            ends.push((written, commit));
        }
        if !renamer.has_head() {
            return Ok(None);
        }
        let report = Materialized {
            format: Some(format.clone()),
            tier: Tier::Native,
            segments: vec![Stretch { format: format.clone(), commits: ends.len() as u64, tier: Tier::Native }],
            losses: Vec::new(),
            commits: plan.commits,
            messages: Some(text.messages),
            bytes: written,
            tokens: text.chars.div_ceil(4),
            token_counter: "chars4",
        };
        Ok(Some((report, ends)))
    }
}

#[derive(Default)]
struct Counter {
    messages: u64,
    chars: u64,
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

fn rewrite(draft: &mut NamedTempFile, bytes: &[u8]) -> io::Result<()> {
    draft.as_file_mut().set_len(0)?;
    draft.as_file_mut().rewind()?;
    draft.write_all(bytes)
}

fn unwritten(source: io::Error) -> Error {
    Error::Io { attempt: "write the session", source }
}
