//! Entries: what the commits of a chain say, each read by its own format.

use std::sync::Arc;

use contexture_core::CommitId;
use contexture_formats::{self as formats, DESCRIBED_BYTES, codec::RecordStep};
use contexture_store::{
    Error as StoreError,
    artifact::{ArtifactReader, WithheldContent},
    commit::StoredCommit,
};

use crate::{
    Contexture, Result, Stop,
    assemble::RememberedTurns,
    chain::{Body, ChainPart, CommitParts, Detail, Route},
    excerpt::Excerpt,
    step_reader::StepReader,
};

/// How many characters are kept of content that is text but not understood.
pub(crate) const MAX_TEXT_CHARS: usize = 64 * 1024;

/// What the commits of a chain say, oldest first, one commit at a time.
pub struct Entries {
    parts: CommitParts,
    /// What was read before and need not be read again; nothing where all is read.
    remembered: Option<Arc<RememberedTurns>>,
}

/// The content of a commit before it is read.
pub(crate) struct UnreadContent {
    pub(crate) body: Body,
    /// What was taken away of it, or never came.
    pub(crate) withheld: Option<Arc<WithheldContent>>,
}

/// What one commit says.
#[derive(Debug, Clone)]
pub struct CommitContent {
    /// The commit.
    pub commit: StoredCommit,
    /// How many bytes its content has.
    pub size: u64,
    /// What its content says.
    pub said: ContentMeaning,
    /// What was taken away of its content, or never came: all of it, or some.
    pub withheld: Option<Arc<WithheldContent>>,
}

/// What content says, as far as it can be read.
#[derive(Debug, Clone)]
pub enum ContentMeaning {
    /// It is understood.
    Steps {
        /// What its records say, in order.
        steps: Vec<RecordStep>,
        /// How many records are broken and say nothing.
        unreadable: u64,
    },
    /// It is text in a format that is not understood.
    Text {
        /// The text, without its middle when it is long.
        text: String,
        /// How many characters were left out.
        left_out: u64,
    },
    /// It is neither.
    Opaque {
        /// Its first bytes, which may tell what it is.
        first: Vec<u8>,
    },
    /// It was taken away, or never came.
    Withheld,
}

impl Contexture {
    /// Starts to read what a chain says, from the commit where a materialization would begin.
    pub async fn entries(&self, commit: Option<CommitId>, stop: Stop) -> Result<Entries> {
        let route = match commit {
            Some(commit) => self.route(commit, stop).await?,
            None => Route::default(),
        };
        Ok(self.entries_of(&route))
    }

    pub(crate) fn entries_of(&self, route: &Route) -> Entries {
        Entries { parts: self.parts(route, Detail::Commits), remembered: None }
    }
}

impl Entries {
    /// Returns what the next commit says; nothing at the end. Memory is bounded, whatever the commit holds.
    pub async fn next(&mut self) -> Result<Option<CommitContent>> {
        let Some(remembered) = self.remembered.clone() else {
            return match self.next_commit().await? {
                Some((commit, content)) => self.read(commit, content).await.map(Some),
                None => Ok(None),
            };
        };
        let Some((payload, stored)) = self.parts.next_located().await? else { return Ok(None) };
        let id = payload.commit;
        // What is not stored any more is absent, whoever remembers it.
        let is_whole = payload.located.as_ref().is_some_and(|located| located.withheld().is_none());
        if let Some(turn) = remembered.find(id).filter(|_| is_whole) {
            return Ok(Some(CommitContent {
                commit: described(id, stored)?,
                size: turn.size,
                said: turn.said.clone(),
                withheld: None,
            }));
        }
        let ChainPart { stored, body, withheld, .. } = self.parts.part(payload, stored).await?;
        let content = self.read(described(id, stored)?, UnreadContent { body, withheld }).await?;
        if content.withheld.is_none() {
            remembered.remember(id, content.size, &content.said);
        }
        Ok(Some(content))
    }

    /// Takes what was read before from memory, and remembers what is read.
    pub(crate) fn remembering(self, remembered: &Arc<RememberedTurns>) -> Self {
        Self { remembered: Some(Arc::clone(remembered)), ..self }
    }

    /// Takes compactions and snapshots in the middle into account too.
    pub(crate) fn with_resets(self) -> Self {
        Self { parts: self.parts.with_resets(), ..self }
    }

    /// Returns the next commit with its content.
    pub(crate) async fn next_commit(&mut self) -> Result<Option<(StoredCommit, UnreadContent)>> {
        let Some(part) = self.parts.next().await? else { return Ok(None) };
        let ChainPart { commit: id, stored, body, withheld } = part;
        Ok(Some((described(id, stored)?, UnreadContent { body, withheld })))
    }

    /// Returns all bytes of a commit.
    pub(crate) async fn whole(&self, body: Body) -> Result<Vec<u8>> {
        self.parts.whole(body).await
    }

    /// Reads the bytes of a commit piece by piece.
    pub(crate) fn pieces(&self, body: Body) -> ContentPieces {
        match body {
            Body::Whole(bytes) => ContentPieces::Whole(Some(bytes)),
            Body::Large(located) => ContentPieces::Parts(Box::new(self.parts.reader(located))),
            Body::Withheld(_) => ContentPieces::Whole(None),
        }
    }

    /// Reads the content of a commit by the commit's format.
    pub(crate) async fn read(&self, commit: StoredCommit, content: UnreadContent) -> Result<CommitContent> {
        let UnreadContent { body, withheld } = content;
        let size = body.size();
        let said = match (formats::codec(&commit.commit.format), body) {
            (_, Body::Withheld(_)) => ContentMeaning::Withheld,
            (Some(codec), body) => self.steps(codec, body).await?,
            (None, body) => self.excerpt(body).await?,
        };
        Ok(CommitContent { commit, size, said, withheld })
    }

    async fn steps(&self, codec: &dyn formats::Codec, body: Body) -> Result<ContentMeaning> {
        let mut reader = StepReader::new(codec);
        let mut pieces = self.pieces(body);
        while let Some(piece) = pieces.next().await? {
            reader.push(&piece);
        }
        let (steps, unreadable) = reader.finish();
        Ok(ContentMeaning::Steps { steps, unreadable })
    }

    async fn excerpt(&self, body: Body) -> Result<ContentMeaning> {
        let mut excerpt = Excerpt::new(MAX_TEXT_CHARS);
        let mut first = Vec::new();
        let mut pieces = self.pieces(body);
        while let Some(piece) = pieces.next().await? {
            first.extend(piece.iter().take(DESCRIBED_BYTES - first.len()));
            excerpt.push(&piece);
        }
        Ok(match excerpt.finish() {
            Some((text, left_out)) => ContentMeaning::Text { text, left_out },
            None => ContentMeaning::Opaque { first },
        })
    }
}

/// The bytes of a commit, piece by piece.
pub(crate) enum ContentPieces {
    /// All of them, unless they were returned.
    Whole(Option<Vec<u8>>),
    /// From where they are.
    Parts(Box<ArtifactReader>),
}

impl ContentPieces {
    pub(crate) async fn next(&mut self) -> Result<Option<Vec<u8>>> {
        match self {
            Self::Whole(bytes) => Ok(bytes.take()),
            Self::Parts(reader) => Ok(reader.next().await?),
        }
    }
}

/// Returns the record of a commit.
fn described(id: CommitId, stored: Option<StoredCommit>) -> Result<StoredCommit> {
    // Both rows were read in one transaction, so one without the other means that the store is damaged.
    Ok(stored.ok_or_else(|| StoreError::Damaged { what: format!("commit {id} has no record") })?)
}
