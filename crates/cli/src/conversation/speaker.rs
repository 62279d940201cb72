//! Who speaks.

use contexture::{
    StoredCommit,
    core::{Entry, Principal, Role},
};

/// Who speaks, by the name that heads a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Speaker {
    pub(super) name: String,
    pub(super) voice: SpeakerVoice,
}

/// What kind of speaker it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SpeakerVoice {
    User,
    Assistant,
    Summary,
    /// What the runtime or somebody else put there.
    Other,
}

impl Speaker {
    pub(super) fn of(commit: &StoredCommit, entry: &Entry) -> Self {
        let principal = commit.commit.provenance.principal.as_ref().map(Principal::as_str);
        let author = entry.author.as_deref();
        let is_runtime = entry.flags.synthetic || (entry.flags.meta && entry.role == Role::User);
        let (voice, word, name) = match entry.role {
            Role::User | Role::Assistant if is_runtime => (SpeakerVoice::Other, "Runtime", None),
            Role::User => (SpeakerVoice::User, "User", author.or(principal)),
            Role::Assistant => (SpeakerVoice::Assistant, "Assistant", author.or(entry.model.as_deref())),
            Role::System => (SpeakerVoice::Other, "Instructions", None),
            Role::Tool => (SpeakerVoice::Other, "Tool", author),
        };
        let side = entry.flags.side_chain.then_some("side chain");
        let details: Vec<&str> = name.into_iter().chain(side).collect();
        let name = if details.is_empty() { word.to_owned() } else { format!("{word} ({})", details.join(", ")) };
        Self { name, voice }
    }

    pub(super) fn tool() -> Self {
        Self { name: "Tool".to_owned(), voice: SpeakerVoice::Other }
    }

    pub(super) fn summary() -> Self {
        Self { name: "Summary of what came before".to_owned(), voice: SpeakerVoice::Summary }
    }

    /// What speaks where nobody is known to.
    pub(super) fn content_of(commit: &StoredCommit) -> Self {
        Self { name: format!("Content in the format {}", commit.commit.format), voice: SpeakerVoice::Other }
    }
}
