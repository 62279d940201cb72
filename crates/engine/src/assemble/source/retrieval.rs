//! Retrieval: what a full-text search of the space finds.

use std::collections::{BTreeMap, BTreeSet};

use contexture_assembly::{Hold, standard::ContextKind};
use contexture_core::CommitId;
use contexture_store::search::{Filter, Query, SearchRequest};

use super::{Gathering, ItemDraft, fenced, origin};
use crate::{FoundCommit, Result};

/// Most words of a question that are searched for.
const MAX_WORDS: usize = 6;
/// Shorter words say too little.
const LEAST_LETTERS: usize = 4;
/// Passages that are shown of a commit.
const MAX_PASSAGES: u32 = 3;

impl Gathering<'_> {
    pub(super) async fn retrieval(&mut self, query: Option<&str>, limit: u64) -> Result<Vec<ItemDraft>> {
        let limit = u32::try_from(limit).unwrap_or(u32::MAX);
        let queries: Vec<Query> = match (query, &self.request.trigger) {
            (Some(query), _) => match query.parse() {
                Ok(query) => vec![query],
                Err(error) => {
                    self.gap("retrieval", &format!("Nothing can be searched for: {error}."));
                    Vec::new()
                }
            },
            (None, Some(trigger)) => words(&trigger.text).iter().filter_map(|word| word.parse().ok()).collect(),
            (None, None) => Vec::new(),
        };
        if queries.is_empty() {
            return Ok(Vec::new());
        }
        self.engine.update_index(&mut |_| ()).await?;
        // A commit that has more of the words comes first, then one that was found earlier.
        let mut found: BTreeMap<CommitId, (usize, usize, FoundCommit)> = BTreeMap::new();
        let begin = self.engine.now();
        let max_ms = self.request.recipe.budget.max_search_ms;
        for query in queries {
            let passed = self.engine.now().as_micros().saturating_sub(begin.as_micros()).max(0).cast_unsigned() / 1000;
            if max_ms.is_some_and(|max| passed >= max) {
                self.gap("retrieval", &format!("The search took longer than {} milliseconds.", max_ms.unwrap_or(0)));
                break;
            }
            let request =
                SearchRequest { query, filter: Filter::default(), max_commits: limit, max_hits: MAX_PASSAGES };
            for (rank, hit) in self.engine.search(&request).await?.into_iter().enumerate() {
                let (words, best, _) = found.entry(hit.commit.id).or_insert((0, rank, hit));
                *words += 1;
                *best = rank.min(*best);
            }
        }
        let mut found: Vec<_> = found.into_values().collect();
        found.sort_by_key(|(words, rank, hit)| (std::cmp::Reverse(*words), *rank, std::cmp::Reverse(hit.commit.seq)));
        Ok(found.into_iter().take(limit as usize).map(|(.., hit)| draft(&hit)).collect())
    }
}

/// Returns the words of a question that say most: the longest.
fn words(text: &str) -> Vec<String> {
    let parts = text.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
    let distinct: BTreeSet<&str> = parts.filter(|word| word.chars().count() >= LEAST_LETTERS).collect();
    let mut words: Vec<&str> = distinct.into_iter().collect();
    words.sort_by_key(|word| std::cmp::Reverse(word.chars().count()));
    words.into_iter().take(MAX_WORDS).map(|word| format!("\"{word}\"")).collect()
}

fn draft(hit: &FoundCommit) -> ItemDraft {
    let commit = hit.commit.id;
    let lines = hit.passages.iter().filter_map(|passage| {
        let snippet = passage.snippet.as_ref()?;
        let role = passage.role.map_or("note", |role| role.as_str());
        Some(format!("{role}: {}", snippet.text))
    });
    let text = lines.collect::<Vec<_>>().join("\n");
    ItemDraft {
        id: format!("retrieval:{commit}"),
        kind: ContextKind::RetrievalResult,
        title: Some(format!("{commit} of {}", hit.commit.commit.created_at)),
        origin: origin("commit", commit.to_string(), text.as_bytes(), Hold::Pinned, Some(commit)),
        content: fenced(text),
        compact: None,
        messages: Vec::new(),
    }
}
