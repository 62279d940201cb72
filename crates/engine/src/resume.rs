//! Resume: a chain becomes a session that a runtime goes on with.

use std::{
    fs,
    io::{self, Seek as _, Write as _},
    path::{Path, PathBuf},
};

use contexture_core::{CommitId, HeadName};
use contexture_formats::Target;
use tempfile::NamedTempFile;

use crate::{
    Contexture, Error, Materialized, Result, Stop, Tier,
    capture::{
        Homes, ImportSettings, Runtime, SessionName,
        adopt::{Draft, Grafts},
    },
    lead::Led,
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
        let target = Target {
            session: session.clone(),
            directory: directory.to_string_lossy().into_owned(),
            now: self.now(),
            ..self.target_of(Some(*commit)).await?
        };
        // All records of the runtime's own go, also those before a compaction that it made: it keeps what it wants.
        let plan = self.plan(Some(*commit), Stop::Root).await?;
        let led = self.write_led(&plan, &format, &target, &mut draft).await?;
        let (report, ends) = if let Some(Led { report, ends }) = led {
            (report, ends)
        } else {
            let translation =
                self.translate_as(Some(*commit), Stop::Compaction, &format, &target, Tier::Mapped).await?;
            rewrite(&mut draft, &translation.bytes).map_err(unwritten)?;
            let end = translation.bytes.len() as u64;
            (translation.report, vec![(end, *commit)])
        };
        draft.as_file().sync_all().map_err(unwritten)?;
        let grafts = Grafts { ends, follow: head.clone() };
        self.adopt(Draft { written: draft.path(), place: &path, format }, grafts, settings).await?;
        draft.persist_noclobber(&path).map_err(|refused| unwritten(refused.error))?;
        fs::File::open(beside).and_then(|directory| directory.sync_all()).map_err(unwritten)?;
        Ok(Resumed { path, report })
    }
}

fn rewrite(draft: &mut NamedTempFile, bytes: &[u8]) -> io::Result<()> {
    draft.as_file_mut().set_len(0)?;
    draft.as_file_mut().rewind()?;
    draft.write_all(bytes)
}

fn unwritten(source: io::Error) -> Error {
    Error::Io { attempt: "write the session", source }
}
