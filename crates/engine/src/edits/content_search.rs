//! Finding edits by what they wrote, in whatever file: lines are moved and copied, and several sessions may write one.

use std::collections::{HashMap, HashSet};

use contexture_core::{CommitId, Timestamp};
use contexture_store::{
    commit::StoredCommit,
    search::{self, Filter, PassageKind, Query, Words},
};
use futures_util::FutureExt as _;

use super::{EditRoom, FoundEdit, LONGEST_TURN_MICROS, Trace, attribution::is_distinct};
use crate::{Contexture, Result};

/// Words of a line that are looked for: more make the phrase no rarer.
const MAX_WORDS: usize = 24;
/// Commits that are looked at for one line. What more of them say is said everywhere.
const MAX_COMMITS: u32 = 24;
/// Commits that are looked at for all lines.
const MAX_ALL_COMMITS: usize = 256;

impl Contexture {
    /// Adds the edits that wrote the most telling of the lines. Returns whether there were more than could be looked at.
    pub(super) async fn trace_by_content(
        &self,
        trace: &Trace,
        by_order: &[Option<usize>],
        edits: &mut Vec<FoundEdit>,
        room: &mut EditRoom,
    ) -> Result<bool> {
        let mut commits: HashMap<CommitId, StoredCommit> = HashMap::new();
        let mut is_cut = false;
        for line in probes(trace, by_order) {
            let Some(query) = phrase(&trace.lines[line].text) else { continue };
            let until = trace.lines[line].until.map(|until| until.as_micros().saturating_add(LONGEST_TURN_MICROS));
            let until = until.and_then(Timestamp::from_micros);
            let filter = Filter { kind: Some(PassageKind::ToolCall), until, ..Filter::default() };
            let asked = Box::new((query, filter));
            let page = self.store.read(self.scope(), asked, |tx, asked| {
                search::newest(tx, (&asked.0, &asked.1), None, MAX_COMMITS).boxed()
            });
            let page: Vec<StoredCommit> = page.await?;
            for commit in page {
                if commits.len() < MAX_ALL_COMMITS {
                    commits.insert(commit.id, commit);
                } else {
                    is_cut = true;
                }
            }
        }
        let known: HashSet<(CommitId, String, Option<String>)> =
            edits.iter().map(|found| (found.commit.id, found.call.clone(), found.edit.path.clone())).collect();
        // A stable order, whatever the hashes are.
        let mut commits: Vec<StoredCommit> = commits.into_values().collect();
        commits.sort_by_key(|commit| std::cmp::Reverse(commit.seq));
        for commit in commits {
            for found in self.edits_in(commit, trace).await? {
                let place = (found.commit.id, found.call.clone(), found.edit.path.clone());
                if !known.contains(&place) && room.holds(&found) {
                    edits.push(found);
                }
            }
        }
        Ok(is_cut)
    }
}

/// Chooses the lines to look for: of each stretch with one edit, or with none, the longest; those with none first.
fn probes(trace: &Trace, by_order: &[Option<usize>]) -> Vec<usize> {
    const FOR_EACH: usize = 2;
    let mut stretches: Vec<(Option<usize>, Vec<usize>)> = Vec::new();
    for (line, traced) in trace.lines.iter().enumerate() {
        if !is_distinct(&traced.text) {
            continue;
        }
        match stretches.last_mut() {
            Some((edit, lines)) if *edit == by_order[line] => lines.push(line),
            _ => stretches.push((by_order[line], vec![line])),
        }
    }
    stretches.sort_by_key(|(edit, _)| edit.is_some());
    let mut chosen = Vec::new();
    for (_, mut lines) in stretches {
        lines.sort_by_key(|line| std::cmp::Reverse(trace.lines[*line].text.len()));
        chosen.extend(lines.into_iter().take(FOR_EACH));
    }
    chosen.truncate(trace.max_probes);
    chosen
}

/// Returns a line as a phrase; nothing when it says too little.
fn phrase(line: &str) -> Option<Query> {
    let words: Vec<&str> = Words::of(line).take(MAX_WORDS).map(|range| &line[range]).collect();
    if words.len() < 2 {
        return None;
    }
    format!("\"{}\"", words.join(" ")).parse().ok()
}
