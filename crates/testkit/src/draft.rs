//! Builders, so that a test says in one line what it checks in.

use std::fmt::Write as _;

use contexture::{Check, Checkpoint, CheckpointContent, Checkpointed, Contexture, Error, Expect};
use contexture_core::{
    ArtifactId, CommitId, CommitKind, Count, Format, HeadName, IdempotencyKey, Principal, RuntimeSessionId,
    SummaryText, Timestamp,
};

/// A checkpoint that is being put together.
#[derive(Clone)]
#[must_use]
pub struct Draft {
    /// What to ask for.
    pub request: Checkpoint,
    /// The bytes to check in.
    pub content: Vec<u8>,
}

/// Drafts a delta of one Claude Code line that says something.
pub fn say(word: &str) -> Draft {
    write("claude-code-v1", spoken(&[word]))
}

/// Returns the lines that saying these words one after the other amounts to.
pub fn spoken(words: &[&str]) -> Vec<u8> {
    let mut lines = String::new();
    for word in words {
        writeln!(lines, r#"{{"say":"{word}"}}"#).expect("a string can be written to");
    }
    lines.into_bytes()
}

/// Drafts a delta of these bytes in this format.
pub fn write(format: &str, content: impl Into<Vec<u8>>) -> Draft {
    Draft { request: Checkpoint::new(Format::new(format).unwrap()), content: content.into() }
}

/// Returns text that no compressor makes much smaller: the same for the same seed.
pub fn noise(seed: &str, len: usize) -> String {
    let (mut noise, mut block) = (String::with_capacity(len + 2 * ArtifactId::LEN), ArtifactId::of(seed.as_bytes()));
    while noise.len() < len {
        noise.push_str(&block.to_string()[ArtifactId::PREFIX.len()..]);
        block = ArtifactId::of(block.as_bytes());
    }
    noise.truncate(len);
    noise
}

/// Takes a text as a head's name.
pub fn head(name: &str) -> HeadName {
    HeadName::new(name).unwrap()
}

/// Takes a text of any length up to the bound of annotations.
pub fn text(text: &str) -> SummaryText {
    SummaryText::new(text).unwrap()
}

/// Returns the instant so many seconds after the start of 2026.
pub fn instant(seconds: i64) -> Timestamp {
    Timestamp::from_micros(1_767_225_600_000_000 + seconds * 1_000_000).unwrap()
}

impl Draft {
    /// Puts it after a commit.
    pub fn after(mut self, parent: CommitId) -> Self {
        self.request.parent = Some(parent);
        self
    }

    /// Moves a head to it.
    pub fn onto(mut self, name: &str) -> Self {
        self.request.head = Some(head(name));
        self
    }

    /// Says where that head must be.
    pub fn expecting(mut self, expect: Expect) -> Self {
        self.request.expect = Some(expect);
        self
    }

    /// Says what the content is to its parent.
    pub fn kind(mut self, kind: CommitKind) -> Self {
        self.request.kind = kind;
        self
    }

    /// Says who made it.
    pub fn by(mut self, principal: &str) -> Self {
        self.request.provenance.principal = Some(Principal::new(principal).unwrap());
        self
    }

    /// Says in which session it was made.
    pub fn session(mut self, session: &str) -> Self {
        self.request.provenance.session = Some(RuntimeSessionId::new(session).unwrap());
        self
    }

    /// Says when it was made.
    pub fn at(mut self, instant: Timestamp) -> Self {
        self.request.created_at = Some(instant);
        self
    }

    /// Makes a retry safe.
    pub fn key(mut self, key: &str) -> Self {
        self.request.key = Some(IdempotencyKey::new(key).unwrap());
        self
    }

    /// Brings back the conclusion of other commits.
    pub fn merging(mut self, merged: &[CommitId]) -> Self {
        self.request.merges = merged.to_vec();
        self
    }

    /// Sums it up.
    pub fn summary(mut self, summary: &str) -> Self {
        self.request = self.request.summary(text(summary));
        self
    }

    /// Claims a number of messages.
    pub fn messages(mut self, count: u64) -> Self {
        self.request.message_count = Count::new(count);
        self
    }

    /// Stores the content whatever it is.
    pub fn unchecked(mut self) -> Self {
        self.request.check = Check::Nothing;
        self
    }

    /// Checks it in.
    pub async fn commit(self, store: &Contexture) -> CommitId {
        self.send(store).await.unwrap().id
    }

    /// Checks it in and returns why that was refused.
    pub async fn refused(self, store: &Contexture) -> Error {
        self.send(store).await.expect_err("the checkpoint is refused")
    }

    /// Tries to check it in.
    pub async fn send(self, store: &Contexture) -> Result<Checkpointed, Error> {
        store.checkpoint(self.request, CheckpointContent::Bytes(self.content)).await
    }

    /// Tries to check it in from a reader, as content of unknown length.
    pub async fn send_stream(self, store: &Contexture) -> Result<Checkpointed, Error> {
        let reader = std::io::Cursor::new(self.content);
        store.checkpoint(self.request, CheckpointContent::Stream(Box::new(reader))).await
    }
}
