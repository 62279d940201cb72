//! Many session files at once.

use std::{
    cmp::Reverse,
    collections::{HashMap, HashSet},
    fs, io,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
};

use contexture_core::{Format, GivenSessionId};
use futures_util::{StreamExt as _, stream};
use serde::{Deserialize, Serialize};

use crate::{
    Capture, Error, Result, Runtime, discover, fork,
    import::{ImportSettings, ImportedFile},
    input::{id_in_name, known_as},
    reading_budget::{ReadingShare, known_length},
};

/// Files that are read at the same time, as far as their shares of the memory allow: what is stored at the same time shares a
/// sync.
const AT_ONCE: usize = 64;

/// A session file and what it is taken for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionFile {
    /// The file.
    pub path: PathBuf,
    /// How it is written.
    pub format: Format,
    /// Whose it is.
    pub settings: ImportSettings,
}

impl SessionFile {
    /// Describes a file. Which agent it is of is told by its place.
    pub fn new(path: &Path, format: Format, settings: ImportSettings) -> Self {
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let settings = ImportSettings { agent: discover::agent_of(&path), ..settings };
        Self { path, format, settings }
    }

    /// Describes the file that a runtime keeps of a session.
    pub fn of_runtime(runtime: Runtime, path: &Path, settings: &ImportSettings) -> Self {
        let settings = ImportSettings { runtime: runtime.as_str().to_owned(), ..settings.clone() };
        Self::new(path, runtime.format(), settings)
    }
}

impl Capture<'_> {
    /// Takes in session files, several at once. Returns what became of each, in their order: one that cannot be read
    /// does not keep the others out. Progress is told in bytes of all of them.
    pub async fn import_sessions(
        self,
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
        let mut imported: Vec<Option<io::Result<ImportedFile>>> = files.iter().map(|_| None).collect();
        for wave in waves(&files).into_iter().flat_map(|wave| one_by_one(&files, wave)) {
            let mut wave: Vec<(u32, usize)> = wave.into_iter().map(|at| (known_length(&files[at].path), at)).collect();
            // The longest first, so that none of them is left alone at the end.
            wave.sort_unstable_by_key(|(length, at)| (Reverse(*length), *at));
            let reading = stream::iter(&wave).map(async |(length, at)| {
                let _share = ReadingShare::of(*length).await;
                (*at, import(&files[*at]).await)
            });
            let mut running = reading.buffer_unordered(AT_ONCE);
            while let Some((at, file)) = running.next().await {
                imported[at] = Some(file?);
            }
        }
        Ok(imported.into_iter().flatten().collect())
    }
}

/// Puts files in an order in which a fork by reference comes after what it continues, which may be a fork too.
fn waves(files: &[SessionFile]) -> Vec<Vec<usize>> {
    let continued: Vec<Option<GivenSessionId>> =
        files.iter().map(|file| fork::continued(&file.path, &file.format)).collect();
    let (mut left, first): (Vec<usize>, Vec<usize>) = (0..files.len()).partition(|at| continued[*at].is_some());
    let mut waves = vec![first];
    while !left.is_empty() {
        let names: HashSet<GivenSessionId> = left.iter().filter_map(|at| id_in_name(&files[*at].path)).collect();
        let waits = |at: &usize| continued[*at].as_ref().is_some_and(|id| names.contains(id));
        let (waiting, ready): (Vec<usize>, Vec<usize>) = left.iter().partition(|at| waits(at));
        // Those that wait for each other wait in vain.
        let (wave, rest) = if ready.is_empty() { (waiting, ready) } else { (ready, waiting) };
        waves.push(wave);
        left = rest;
    }
    waves
}

/// Parts files of the same session, so that they come one after another and the last of them stands for the session.
fn one_by_one(files: &[SessionFile], wave: Vec<usize>) -> Vec<Vec<usize>> {
    let mut seen: HashMap<String, usize> = HashMap::new();
    let mut parts: Vec<Vec<usize>> = Vec::new();
    for at in wave {
        let earlier = session_mark(&files[at].path).map_or(0, |mark| {
            let count = seen.entry(mark).or_default();
            *count += 1;
            *count - 1
        });
        if parts.len() <= earlier {
            parts.resize_with(earlier + 1, Vec::new);
        }
        parts[earlier].push(at);
    }
    parts
}

/// Returns the part of a file's name that all runtimes take from the id of its session: eight hexadecimal digits.
fn session_mark(path: &Path) -> Option<String> {
    let path = known_as(path);
    let stem = path.file_stem()?.to_str()?;
    let mark = stem.get(stem.len().checked_sub(8)?..)?;
    mark.bytes().all(|letter| letter.is_ascii_hexdigit()).then(|| mark.to_owned())
}

#[cfg(test)]
mod tests {
    use contexture_core::Machine;

    use super::*;

    #[test]
    fn files_of_one_session_come_one_after_another() {
        let settings = ImportSettings::new(Machine::new("laptop").unwrap(), "gemini");
        let file = |name: &str| SessionFile {
            path: name.into(),
            format: Format::new("gemini-v1").unwrap(),
            settings: settings.clone(),
        };
        let names = ["a/session-1-0123abcd.jsonl", "b/notes.jsonl", "b/session-2-0123abcd.jsonl", "c/notes.jsonl"];
        let files: Vec<SessionFile> = names.into_iter().map(file).collect();
        assert_eq!(one_by_one(&files, vec![0, 1, 2, 3]), [vec![0, 1, 3], vec![2]]);
    }
}
