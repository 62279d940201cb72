//! Commits of git that are made in a context: they name it, and it names them.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    time::Duration,
};

use contexture::{Contexture, read_found};
use contexture_core::{Annotation, CommitId, LabelKey, SummaryText};

use super::{
    AMBIGUOUS_TRAILER, ASSISTED_TRAILER, CONTEXT_TRAILER, Git,
    trailers::{OriginTrailer, origin_trailers},
};
use crate::{BoundSession, CaptureConfig, Result, Runtime, SessionLookup};

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

/// What is added to the file of a commit's message.
#[derive(Debug, Clone)]
pub struct MessageTrailers {
    /// The file, as git names it.
    pub message: OsString,
    /// Whether the agent is named too, by `Assisted-by`.
    pub names_agent: bool,
    /// How long the agent may take to write down the call that makes the commit.
    pub patience: Duration,
}

/// Adds the trailer that names the caller's context to the file of a commit's message. Returns the contexts that the
/// caller adds; none when it belongs to no session, or nothing of that is known.
///
/// Where several sessions may be the caller's, none is chosen: the trailer [`AMBIGUOUS_TRAILER`] names all of them. What
/// messages say that are squashed into this one is kept, each thing once. Whoever replays commits of others, as a rebase
/// does, has not made them and is not named.
pub async fn add_context_trailer(
    config: &CaptureConfig,
    git: &Git,
    directory: &Path,
    request: MessageTrailers,
) -> Result<Vec<CommitId>> {
    let MessageTrailers { message, names_agent, patience } = request;
    let state = RepositoryState::of(git, directory);
    let mut trailers = state.squashed;
    // One that cannot be read says nothing; git itself reports it.
    let text = read_found(&directory.join(&message)).unwrap_or_default();
    trailers.extend(origin_trailers(&String::from_utf8_lossy(&text), true));
    let names_context = trailers.iter().any(|trailer| trailer.key != ASSISTED_TRAILER);
    let mut contexts = Vec::new();
    let is_settled = state.is_squash && names_context;
    if !(state.is_replay || is_settled) {
        let SessionLookup { bound, unlisted } = SessionLookup::find(config, None)?;
        let key = if bound.len() + unlisted.len() > 1 { AMBIGUOUS_TRAILER } else { CONTEXT_TRAILER };
        for bound in &bound {
            contexts.extend(bound.flush(config, patience).await?);
        }
        contexts.dedup();
        trailers.extend(contexts.iter().map(|context| OriginTrailer { key, value: context.to_string() }));
        let mut agents: Vec<&str> = bound.iter().filter_map(agent).collect();
        agents.dedup();
        if let ([agent], [], true, false) = (&agents[..], &unlisted[..], names_agent, contexts.is_empty()) {
            trailers.push(OriginTrailer { key: ASSISTED_TRAILER, value: (*agent).to_owned() });
        }
    }
    if trailers.is_empty() {
        return Ok(contexts);
    }
    // A message that is amended keeps what it names.
    let mut words: Vec<OsString> =
        ["interpret-trailers", "--in-place", "--if-exists", "addIfDifferent"].map(OsString::from).into();
    for OriginTrailer { key, value } in &trailers {
        words.extend(["--trailer".into(), format!("{key}: {value}").into()]);
    }
    words.push(message);
    git.ask(directory, "add the trailer", &words)?;
    Ok(contexts)
}

/// Returns what people call the agent of a session.
fn agent(bound: &BoundSession) -> Option<&'static str> {
    Runtime::named(&bound.session.file.settings.runtime).map(Runtime::title)
}

/// What git is in the middle of.
#[derive(Default)]
struct RepositoryState {
    /// Commits that were made before are made again.
    is_replay: bool,
    /// Several commits become one.
    is_squash: bool,
    /// What the messages of those say.
    squashed: Vec<OriginTrailer>,
}

impl RepositoryState {
    /// Looks at the files by which git knows what it is at. What cannot be told is not so.
    fn of(git: &Git, directory: &Path) -> Self {
        const MERGED: [&str; 2] = ["SQUASH_MSG", "rebase-merge/message-squash"];
        const REPLAYED: [&str; 4] = ["rebase-merge", "rebase-apply", "CHERRY_PICK_HEAD", "REVERT_HEAD"];
        let names = MERGED.iter().chain(&REPLAYED).flat_map(|name| ["--git-path", name]);
        let arguments: Vec<&str> = std::iter::once("rev-parse").chain(names).collect();
        let Ok(printed) = git.ask(directory, "find its files", &arguments) else { return Self::default() };
        let printed = String::from_utf8_lossy(&printed).into_owned();
        let places: Vec<PathBuf> = printed.lines().map(|line| directory.join(line)).collect();
        let (merged, replayed) = places.split_at(MERGED.len().min(places.len()));
        let messages: Vec<Vec<u8>> = merged.iter().filter_map(|place| read_found(place).ok()).collect();
        // A fixup leaves a message out by making it a comment.
        let said = |message: &Vec<u8>| origin_trailers(&String::from_utf8_lossy(message), true);
        Self {
            is_replay: replayed.iter().any(|place| place.exists()),
            is_squash: !messages.is_empty(),
            squashed: messages.iter().flat_map(said).collect(),
        }
    }
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
