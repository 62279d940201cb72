//! Many session files at once.

use std::{
    io,
    path::PathBuf,
    sync::atomic::{AtomicU64, Ordering},
};

use contexture_core::Format;
use futures_util::{StreamExt as _, stream};

use super::{
    fork,
    import::{ImportSettings, ImportedFile},
};
use crate::{Contexture, Error, Result};

/// Files that are read at the same time. Most are small, and what is stored at the same time shares a sync.
const AT_ONCE: usize = 16;

/// A session file and what it is taken for.
#[derive(Debug, Clone)]
pub struct SessionFile {
    /// The file.
    pub path: PathBuf,
    /// How it is written.
    pub format: Format,
    /// Whose it is.
    pub settings: ImportSettings,
}

impl Contexture {
    /// Takes in session files, several at once. Returns what became of each, in their order: one that cannot be read
    /// does not keep the others out. Progress is told in bytes of all of them.
    pub async fn import_sessions(
        &self,
        files: Vec<SessionFile>,
        progress: &(dyn Fn(u64) + Sync),
    ) -> Result<Vec<io::Result<ImportedFile>>> {
        let done = AtomicU64::new(0);
        let import = async |file: &SessionFile| {
            let mut before = 0;
            let mut tell = |at: u64| {
                let all = done.fetch_add(at.saturating_sub(before), Ordering::Relaxed) + at.saturating_sub(before);
                before = at;
                progress(all);
            };
            match self.import_session(&file.path, file.format.clone(), &file.settings, &mut tell).await {
                Ok(imported) => Ok(Ok(imported)),
                Err(Error::Io { source, .. }) => Ok(Err(source)),
                Err(error) => Err(error),
            }
        };
        // A fork by reference needs what it continues, and that may be a fork too.
        let (forks, others): (Vec<usize>, Vec<usize>) =
            (0..files.len()).partition(|at| fork::is_fork(&files[*at].path, &files[*at].format));
        let mut imported: Vec<Option<io::Result<ImportedFile>>> = files.iter().map(|_| None).collect();
        let mut running =
            stream::iter(&others).map(async |at| (*at, import(&files[*at]).await)).buffer_unordered(AT_ONCE);
        while let Some((at, file)) = running.next().await {
            imported[at] = Some(file?);
        }
        drop(running);
        for at in forks {
            imported[at] = Some(import(&files[at]).await?);
        }
        Ok(imported.into_iter().flatten().collect())
    }
}
