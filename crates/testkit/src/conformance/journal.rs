//! The journal: one record per mutation, without gaps, chained.

use std::time::Duration;

use contexture::{Compaction, Contexture, Expect, Snapshot};
use contexture_core::{Actor, Annotation, JournalKind, Provenance, SpaceName};

use crate::{Backend, Harness, assert_whole, head, instant, journal, say, stored, text};

async fn mutations(store: &Contexture) -> Vec<(JournalKind, String)> {
    journal(store).await.into_iter().map(|record| (record.kind, record.subject)).collect()
}

pub async fn every_mutation_is_one_record_in_order<B: Backend>() {
    use JournalKind::{ArtifactStored, CommitAnnotated, CommitCreated, HeadDeleted, HeadMoved, SpaceCreated};

    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let one = say("one").onto("main").summary("first").commit(&store).await;
    let alone = stored(&store, b"alone").await;
    store.annotate(one, vec![Annotation::Summary { text: text("again") }; 2]).await.unwrap();
    store.fork(one, &head("side")).await.unwrap();
    let two = say("two").onto("side").commit(&store).await;
    store.move_head(&head("main"), two, Expect::At(one)).await.unwrap();
    store.delete_head(&head("side"), Expect::Anything).await.unwrap();
    let provenance = Provenance::default();
    let compaction = Compaction {
        commit: two,
        summary: b"sum".to_vec(),
        format: None,
        losses: Vec::new(),
        provenance: provenance.clone(),
        head: Some(head("main")),
        annotations: Vec::new(),
    };
    let sum = store.compact(compaction).await.unwrap().id;
    let snapshot = Snapshot { commit: sum, provenance, head: None, annotations: Vec::new() };
    let taken = store.snapshot(snapshot).await.unwrap().id;
    let expected = [
        (SpaceCreated, "default".to_owned()),
        (CommitCreated, one.to_string()),
        (CommitAnnotated, one.to_string()),
        (HeadMoved, "main".to_owned()),
        (ArtifactStored, alone.to_string()),
        (CommitAnnotated, one.to_string()),
        (CommitAnnotated, one.to_string()),
        (HeadMoved, "side".to_owned()),
        (CommitCreated, two.to_string()),
        (HeadMoved, "side".to_owned()),
        (HeadMoved, "main".to_owned()),
        (HeadDeleted, "side".to_owned()),
        (CommitCreated, sum.to_string()),
        (CommitAnnotated, sum.to_string()),
        (HeadMoved, "main".to_owned()),
        (CommitCreated, taken.to_string()),
    ];
    assert_eq!(mutations(&store).await, expected);
    assert_eq!(store.journal_tip().await.unwrap(), expected.len() as u64);
    assert_whole(&store, &SpaceName::new("default").unwrap()).await;
}

pub async fn a_record_says_who_and_when<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let (ada, bob) = (harness.open_as("ada", "default").await, harness.open_as("bob", "default").await);
    say("one").at(instant(-100)).commit(&ada).await;
    harness.clock.advance(Duration::from_secs(5));
    say("two").commit(&bob).await;
    let records = journal(&ada).await;
    let signed: Vec<_> = records.iter().map(|record| (record.actor.clone(), record.at)).collect();
    let (ada, bob) = (Actor::new("ada").unwrap(), Actor::new("bob").unwrap());
    assert_eq!(signed, [(ada.clone(), instant(0)), (ada, instant(0)), (bob, instant(5))]);
}

pub async fn pages_go_on_after_a_sequence_number<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    for word in ["one", "two", "three", "four"] {
        say(word).commit(&store).await;
    }
    let whole = journal(&store).await;
    assert_eq!(whole.len(), 5);
    assert_eq!(store.journal_after(0, 2).await.unwrap(), whole[..2]);
    assert_eq!(store.journal_after(2, 100).await.unwrap(), whole[2..]);
    assert_eq!(store.journal_after(5, 100).await.unwrap(), []);
    assert_eq!(store.journal_after(u64::MAX, 100).await.unwrap(), []);
}
