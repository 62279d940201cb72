//! Resume: a chain becomes a session that a runtime goes on with.

use std::{
    ffi::OsString,
    io,
    path::{Path, PathBuf},
};

use contexture::{Contexture, Disclosure, LogStart, Materialized, Reference, Stop, WrittenSession};
use contexture_core::{CommitId, HeadName, Machine, RuntimeSessionId, Trigger};
use contexture_formats::Target;
use contexture_store::{DurableFile, FileAccess, NameTaken};
use tracing::{Instrument as _, debug_span};

use crate::{
    Capture, Error, Homes, ImportSettings, Result, ResumeCommand, Runtime, SessionName,
    adopt::{AdoptedDraft, Grafts},
};

/// Commits that are looked at together.
const COMMITS_PER_PAGE: u32 = 64;

/// What a session is to be made of.
#[derive(Debug, Clone)]
pub struct ResumeRequest {
    /// The commit to go on from.
    pub commit: CommitId,
    /// The head that is to go on with the session.
    pub head: Option<HeadName>,
    /// Who is to go on.
    pub runtime: Runtime,
    /// Id of the new session, a UUID.
    pub session: RuntimeSessionId,
    /// The directory that the agent will work in.
    pub directory: PathBuf,
    /// What the agent will be given beside the command that resumes, as far as it is known.
    pub arguments: Vec<OsString>,
}

/// Where a session goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResumePoint {
    /// The commit.
    pub commit: CommitId,
    /// The head that is there and goes on with it.
    pub head: Option<HeadName>,
}

/// A session that was written.
#[derive(Debug, Clone)]
pub struct ResumedSession {
    /// The file.
    pub path: PathBuf,
    /// The command that goes on with it.
    pub command: ResumeCommand,
    /// How faithful it is, and what was counted in it.
    pub report: Materialized,
    /// What was seen of secrets: all where the session goes on in the runtime and on the machine that it came from.
    pub disclosure: Disclosure,
}

impl Capture<'_> {
    /// Finds where to go on: at the end of a chain, or at an earlier commit of it.
    pub async fn resume_point(self, chain: &Reference, at: Option<&Reference>) -> Result<ResumePoint> {
        let (tip, head) = self.engine.find_with_head(chain).await?;
        let Some(at) = at else { return Ok(ResumePoint { commit: tip, head }) };
        let commit = self.engine.find(at).await?;
        // Says so when it is not on the chain.
        self.engine.entries(Some(tip), Stop::At(commit)).await?;
        Ok(ResumePoint { commit, head: head.filter(|_| commit == tip) })
    }

    /// Returns the runtime that a commit comes from, if that can go on with it.
    pub async fn resuming_runtime(self, commit: CommitId) -> Result<Runtime> {
        let format = self.engine.show(commit).await?.commit.format;
        Runtime::of(&format).filter(|runtime| runtime.can_resume()).ok_or(Error::NoRuntime { commit, format })
    }

    /// Returns the directory that was worked in at a commit, if it is here.
    pub async fn working_directory(self, commit: CommitId) -> Result<Option<PathBuf>> {
        let known = PathBuf::from(self.engine.target_of(Some(commit)).await?.directory);
        Ok(Some(known).filter(|known| known != Path::new("/") && known.is_dir()))
    }

    /// Writes a session where its runtime looks for it. No session that is there is changed.
    ///
    /// What the runtime adds to the session goes onto the chain when the session is imported.
    pub async fn resume(
        self,
        request: &ResumeRequest,
        homes: &Homes,
        settings: &ImportSettings,
    ) -> Result<ResumedSession> {
        let span = debug_span!("resume", commit = %request.commit, runtime = request.runtime.as_str());
        self.write_resumed(request, homes, settings).instrument(span).await
    }

    async fn write_resumed(
        self,
        request: &ResumeRequest,
        homes: &Homes,
        settings: &ImportSettings,
    ) -> Result<ResumedSession> {
        let ResumeRequest { commit, head, runtime, session, directory, arguments } = request;
        let name = SessionName { id: session, directory, at: self.engine.now() };
        let nowhere = || Error::NoPlace { runtime: *runtime };
        let path = runtime.place(homes, name).ok_or_else(nowhere)?;
        let command = runtime.resume_command(session, &path).ok_or_else(nowhere)?;
        let format = runtime.format();
        runtime.prepare(&path, directory).map_err(unwritten)?;
        let beside = path.parent().unwrap_or(Path::new("."));
        let mut draft = DurableFile::begin(beside, FileAccess::Private).map_err(unwritten)?;
        let target = self.engine.target_of(Some(*commit)).await?;
        let target = Target {
            session: session.to_string(),
            directory: directory.to_string_lossy().into_owned(),
            provider: runtime.provider(homes, arguments).or(target.provider),
            now: self.engine.now(),
            ..target
        };
        let engine = self.disclosing_to(*commit, *runtime, &settings.machine).await?;
        let writing = engine.write_session(*commit, &format, &target, draft.as_file_mut());
        let WrittenSession { report, ends } = writing.await?;
        draft.sync().map_err(unwritten)?;
        let grafts = Grafts { ends, follow: head.clone() };
        self.adopt(AdoptedDraft { written: draft.draft_path(), place: &path, format }, grafts, settings).await?;
        draft.publish(&path, NameTaken::Refuse).map_err(unwritten)?;
        engine.record_reveal(format!("{commit} in session {session}")).await?;
        Ok(ResumedSession { path, command, report, disclosure: engine.disclosure() })
    }

    /// Counts the turns that a session of its own has added at the end of a chain, whoever took them in.
    pub async fn turns_of(self, session: &RuntimeSessionId, tip: CommitId) -> Result<u64> {
        let mut walk = self.engine.walk(LogStart::Commits(vec![tip])).await?;
        let (mut commits, mut turns) = (0_u64, 0);
        'walk: loop {
            let page = walk.next(COMMITS_PER_PAGE).await?;
            if page.is_empty() {
                break;
            }
            for stored in page {
                let commit = stored.commit;
                if commit.provenance.session.as_ref() != Some(session) {
                    break 'walk;
                }
                commits += 1;
                turns += u64::from(commit.trigger == Trigger::TurnBoundary);
            }
        }
        // The last one may have been broken off while a tool was at work.
        Ok(turns.max(commits.min(1)))
    }

    /// Returns a handle that shows a chain as it came where all of it was written by this runtime on this machine, and
    /// there is something to hide in it.
    async fn disclosing_to(self, commit: CommitId, runtime: Runtime, machine: &Machine) -> Result<Contexture> {
        let origin = self.engine.secret_origin(commit).await?;
        let is_own = origin.iter().all(|(format, from)| {
            Runtime::of(format).is_some_and(|own| own == runtime) && from.as_ref() == Some(machine)
        });
        Ok(if is_own && !origin.is_empty() { self.engine.exact().await? } else { self.engine.masking() })
    }
}

fn unwritten(source: io::Error) -> Error {
    Error::Io { attempt: "write the session", source }
}
