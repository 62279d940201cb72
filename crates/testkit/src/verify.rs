//! Whether a store is whole.

use std::collections::HashSet;

use contexture::{Contexture, Error, Stop};
use contexture_core::{ArtifactId, ChainDigest, JournalKind, JournalRecord, SpaceName};

use crate::{Observed, artifact, journal, observe};

/// Panics unless the journal is gapless and chained and the checker finds nothing wrong.
pub async fn assert_sound(store: &Contexture, space: &SpaceName) {
    assert_chained(&journal(store).await, space);
    let report = store.fsck(&mut |_| {}).await.unwrap();
    assert_eq!((report.problems, report.problems_left_out), (vec![], 0));
}

/// Panics unless the store is sound and everything its journal tells of is there, judged from outside.
pub async fn assert_whole(store: &Contexture, space: &SpaceName) -> Observed {
    assert_sound(store, space).await;
    let observed = observe(store).await;
    let created = observed.journal.iter().filter(|record| record.kind == JournalKind::CommitCreated);
    let journaled: Vec<_> = created.map(|record| (record.subject.clone(), record.seq)).collect();
    let seen: Vec<_> = observed.commits.iter().rev().map(|commit| (commit.id.to_string(), commit.seq)).collect();
    assert_eq!(seen, journaled, "the journal tells of other commits than there are");
    let mut before = HashSet::new();
    for stored in observed.commits.iter().rev() {
        assert_eq!(stored.commit.id(), stored.id, "a record has another id than it is stored under");
        assert!(stored.commit.parent.is_none_or(|parent| before.contains(&parent)), "{} is an orphan", stored.id);
        before.insert(stored.id);
        assert_eq!(ArtifactId::of(&artifact(store, stored.commit.artifact).await), stored.commit.artifact);
        match store.materialize(Some(stored.id), Stop::Compaction, None).await {
            Ok(materialization) => drop(materialization.write_to(&mut std::io::sink()).await.unwrap()),
            Err(error) => assert!(matches!(error, Error::Mixed { .. }), "{}: {error:?}", stored.id),
        }
    }
    for head in &observed.heads {
        assert!(before.contains(&head.commit), "{} points nowhere", head.name);
    }
    observed
}

fn assert_chained(journal: &[JournalRecord], space: &SpaceName) {
    let mut previous = ChainDigest::GENESIS;
    for (record, seq) in journal.iter().zip(1..) {
        assert_eq!(record.seq, seq, "the journal has a gap");
        assert_eq!(record.chain, record.link(space, previous), "record {seq} breaks the chain");
        previous = record.chain;
    }
}
