//! Damage to the index that searches ask.

use contexture_store::{
    commit::CommitPlace,
    fsck::{FsckProblem, PassageFault},
    search::{self, Cursor, IndexChange, Moved, PassageKind, Spot},
};
use futures_util::FutureExt as _;

use crate::fixture::Fixture;

/// Returns a fixture of whose commits one is in the index.
async fn indexed() -> Fixture {
    let fixture = Fixture::new().await;
    let passage = search::passages(&fixture.store, "some words").remove(0);
    let spot = Spot { entry: Some(1), part: 0, passage: 0, role: None, kind: PassageKind::Text };
    let add = IndexChange::Add { place: CommitPlace { line: 1, position: 0 }, spot, passage };
    let writing = fixture.store.write(fixture.scope.clone(), [add], |tx, add| {
        let start = Cursor { seq: 0, inside: 0, rules: search::RULES, passages: 0, bytes: 0 };
        async move {
            search::begin(tx).await?;
            search::drop_some(tx, 1).await?;
            search::advance(tx, &start, (14, 0), add).await
        }
        .boxed()
    });
    assert_eq!(writing.await.unwrap(), Moved::Here);
    fixture
}

fn passage(fault: PassageFault) -> FsckProblem {
    FsckProblem::Passage { passage: 1, fault }
}

#[tokio::test]
async fn a_whole_index_is_counted() {
    let report = indexed().await.check().await;
    assert_eq!((report.problems, report.checked.passages), (vec![], 1));
}

#[tokio::test]
async fn a_passage_of_no_commit_is_found() {
    let problems = indexed().await.problems_after("UPDATE passages SET line = 77").await;
    assert_eq!(problems, [passage(PassageFault::NoCommit { place: CommitPlace { line: 77, position: 0 } })]);
}

#[tokio::test]
async fn a_passage_without_words_is_found() {
    let problems = indexed().await.problems_after("DELETE FROM passage_words WHERE rowid = 1").await;
    assert_eq!(problems, [passage(PassageFault::NoWords)]);
}

#[tokio::test]
async fn a_passage_that_cannot_be_read_is_found() {
    let problems = indexed().await.problems_after("UPDATE passages SET kind = 'song'").await;
    assert!(
        matches!(&problems[..], [FsckProblem::Passage { fault: PassageFault::Unreadable { .. }, .. }]),
        "{problems:?}"
    );
}

#[tokio::test]
async fn an_index_ahead_of_the_journal_is_found() {
    let problems = indexed().await.problems_after("UPDATE search_cursors SET seq = 99").await;
    assert_eq!(problems, [FsckProblem::IndexAhead { seq: 99, tip: 14 }]);
}
