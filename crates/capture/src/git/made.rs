//! Commits of git that are made in a context: they name it, and it names them.

use std::{ffi::OsString, path::Path, time::Duration};

use contexture::Contexture;
use contexture_core::{Annotation, CommitId, LabelKey, SummaryText};

use super::{AMBIGUOUS_TRAILER, CONTEXT_TRAILER, Git};
use crate::{CaptureConfig, Result, SessionLookup};

/// The label of a context that names the git commits made in it.
const LABEL: &str = "git-commit";

/// A commit of git that names the contexts it was made in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContextualCommit {
    /// Its id, as git writes it.
    made: String,
    /// The contexts.
    named: Vec<CommitId>,
}

/// Adds the trailer that names the caller's context to the file of a commit's message. Returns the contexts that the
/// commit then names; none when the caller belongs to no session, or nothing of it is known.
///
/// Where several sessions may be the caller's, none is chosen: the trailer [`AMBIGUOUS_TRAILER`] names all of them.
pub async fn add_context_trailer(
    config: &CaptureConfig,
    git: &Git,
    directory: &Path,
    message: OsString,
    patience: Duration,
) -> Result<Vec<CommitId>> {
    let SessionLookup { bound, unlisted } = SessionLookup::find(config, None)?;
    let trailer = if bound.len() + unlisted.len() > 1 { AMBIGUOUS_TRAILER } else { CONTEXT_TRAILER };
    let mut contexts = Vec::new();
    for bound in &bound {
        contexts.extend(bound.flush(config, patience).await?);
    }
    contexts.dedup();
    if contexts.is_empty() {
        return Ok(contexts);
    }
    // A message that is amended keeps what it names.
    let mut words: Vec<OsString> =
        ["interpret-trailers", "--in-place", "--if-exists", "addIfDifferent"].map(OsString::from).into();
    for context in &contexts {
        words.extend(["--trailer".into(), format!("{trailer}: {context}").into()]);
    }
    words.push(message);
    git.ask(directory, "add the trailer", &words)?;
    Ok(contexts)
}

impl Git {
    /// Returns the last commit of the repository around a directory; nothing if it names no context.
    pub fn last_made(&self, directory: &Path) -> Result<Option<ContextualCommit>> {
        let format = format!("--format=%H%n%(trailers:key={CONTEXT_TRAILER},valueonly)");
        let printed = self.ask(directory, "read the commit", &["log", "-1", "--no-color", &format])?;
        Ok(ContextualCommit::of(&String::from_utf8_lossy(&printed)))
    }
}

impl ContextualCommit {
    fn of(printed: &str) -> Option<Self> {
        let mut lines = printed.lines().map(str::trim).filter(|line| !line.is_empty());
        let made = lines.next()?.to_owned();
        let named: Vec<CommitId> = lines.filter_map(|line| line.parse().ok()).collect();
        (!named.is_empty()).then_some(Self { made, named })
    }

    /// Labels the contexts that it names with its id, in the store of the session that the caller belongs to.
    pub async fn note(&self, config: &CaptureConfig) -> Result<()> {
        let bound = SessionLookup::find(config, None)?.only();
        let config = bound.map_or_else(|| Ok(config.clone()), |bound| config.for_session(&bound.session))?;
        let engine = config.open_promptly().await?;
        for commit in &self.named {
            self.label(&engine, *commit).await?;
        }
        Ok(())
    }

    async fn label(&self, engine: &Contexture, commit: CommitId) -> Result<()> {
        let key = LabelKey::new(LABEL).expect("the word is a legal key");
        let labels = engine.show(commit).await?.annotations.labels;
        let before = labels.get(&key).map(ToString::to_string).unwrap_or_default();
        if before.split(' ').any(|known| known == self.made) {
            return Ok(());
        }
        let value = SummaryText::new(format!("{before} {}", self.made).trim()).map_err(contexture::Error::from)?;
        engine.annotate(commit, vec![Annotation::Label { key, value }]).await?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_commit_that_names_contexts_is_noted() {
        let context = CommitId::from_bytes([1; 16]);
        let expected = ContextualCommit { made: "abc".to_owned(), named: vec![context] };
        assert_eq!(ContextualCommit::of(&format!("abc\n\n{context}\nctx-nothing\n")), Some(expected));
        assert_eq!(ContextualCommit::of("abc\n\nctx-nothing\n"), None);
        assert_eq!(ContextualCommit::of(""), None);
    }
}
