//! Search: where in the space something was said.
//!
//! A checkpoint indexes nothing. The index follows the journal when somebody searches, so what a search costs before it
//! can ask is what was added since the last one.

mod document;
mod index;
mod snippet;

use contexture_core::Role;
use contexture_store::{
    Error as StoreError,
    artifact::ArtifactReader,
    commit::{self, StoredCommit},
    search::{self, Hit, PassageKind, SearchRequest, Spot},
};
use futures_util::FutureExt as _;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tracing::{Instrument as _, debug_span};

pub use index::{Indexed, Indexing};
pub use snippet::Snippet;

use crate::{Contexture, Result};
use document::{Extractor, SearchDocument};

/// A commit in which something was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundCommit {
    /// The commit.
    pub commit: StoredCommit,
    /// The passages that match best, in the order of the conversation.
    pub passages: Vec<FoundPassage>,
    /// How many passages of it match.
    pub matching_passages: u64,
}

/// A passage in which something was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FoundPassage {
    /// In which entry of the commit it is, the first being 1; nothing when it is in what is said about the commit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entry: Option<u64>,
    /// Who says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
    /// What it is.
    pub kind: PassageKind,
    /// How well it matches; only comparable with others of the same search.
    pub score: i64,
    /// The piece of it that matches; nothing when the content cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snippet: Option<Snippet>,
}

impl Contexture {
    /// Searches what the index knows: the commits that match best first, then the newest.
    ///
    /// [`update_index`](Self::update_index) goes before it, unless what was added since need not be found.
    pub async fn search(&self, request: &SearchRequest) -> Result<Vec<FoundCommit>> {
        let finding = self.store.read(self.scope(), request.clone(), |tx, asked| {
            async move {
                if let Some(commit) = &asked.filter.ancestors_of {
                    commit::require(tx, commit).await?;
                }
                let mut found: Vec<(StoredCommit, Vec<Hit>)> = Vec::new();
                for hit in search::find(tx, asked).await? {
                    match found.last_mut() {
                        Some((commit, hits)) if commit.place == hit.place => hits.push(hit),
                        _ => found.push((commit::at(tx, hit.place).await?, vec![hit])),
                    }
                }
                Ok::<_, StoreError>(found)
            }
            .boxed()
        });
        let mut found = Vec::new();
        for (commit, mut hits) in finding.instrument(debug_span!("search")).await.map_err(index::of_index)? {
            hits.sort_by_key(|hit| (hit.spot.entry.is_none(), hit.spot.entry, hit.spot.part, hit.spot.passage));
            let texts = self.texts(&commit, &hits).await?;
            let matching_passages = hits.first().map_or(0, |hit| hit.hits_in_commit);
            let passages = hits.iter().zip(texts).map(|(hit, text)| {
                let Hit { spot: Spot { entry, role, kind, .. }, score, .. } = *hit;
                let snippet = text.map(|text| snippet::cut(&text, &request.query));
                FoundPassage { entry, role, kind, score, snippet }
            });
            found.push(FoundCommit { passages: passages.collect(), commit, matching_passages });
        }
        Ok(found)
    }

    /// Returns the texts of passages of a commit, as far as they can be read.
    async fn texts(&self, commit: &StoredCommit, hits: &[Hit]) -> Result<Vec<Option<String>>> {
        let mut texts = vec![None; hits.len()];
        let mut pick = |documents: Vec<SearchDocument>| {
            for document in documents {
                for (text, hit) in texts.iter_mut().zip(hits) {
                    if (hit.spot.entry, hit.spot.part) == (document.entry, document.part) {
                        let passage = search::passages(&self.store, &document.text)
                            .into_iter()
                            .nth(usize::try_from(hit.spot.passage).unwrap_or(usize::MAX));
                        *text = passage.map(|passage| document.text[passage.range].to_owned());
                    }
                }
            }
            texts.iter().all(Option::is_some)
        };
        if pick(document::notes(&commit.annotations)) {
            return Ok(texts);
        }
        let reading = async {
            let mut reader = ArtifactReader::open(&self.store, &self.scope(), commit.commit.artifact).await?;
            let mut extractor = Extractor::new(&commit.commit.format);
            while let Some(piece) = reader.next().await? {
                extractor.push(&piece);
                if pick(extractor.take()) {
                    return Ok(());
                }
            }
            extractor.finish();
            pick(extractor.take());
            Ok(())
        };
        match reading.await {
            // The passage was found all the same, and a check of the store says what is wrong.
            Ok(())
            | Err(
                StoreError::Damaged { .. }
                | StoreError::DamagedArtifact(_)
                | StoreError::NoArtifact(_)
                | StoreError::Withheld(_),
            ) => Ok(texts),
            Err(error) => Err(error.into()),
        }
    }
}
