//! Damage to what is known of content that is not here.

use contexture_core::ArtifactId;
use contexture_store::{
    artifact,
    fsck::{ArtifactFault, FsckProblem},
};
use futures_util::FutureExt as _;

use crate::fixture::Fixture;

/// Returns a store whose first artifact was purged, with another shown for it.
async fn purged() -> (Fixture, ArtifactId) {
    let fixture = Fixture::new().await;
    let (id, large) = (ArtifactId::of(b"root"), fixture.large_artifact);
    let purging = fixture.store.write(fixture.scope.clone(), (id, large), |tx, (id, large)| {
        async move { artifact::withhold(tx, id, "asked for", Some(large)).await }.boxed()
    });
    purging.await.unwrap();
    let report = fixture.check().await;
    assert_eq!((report.problems, report.checked.withheld), (Vec::new(), 1));
    (fixture, id)
}

async fn fault_after(damage: &str) -> ArtifactFault {
    let (fixture, id) = purged().await;
    match fixture.problems_after(damage).await.as_slice() {
        [FsckProblem::Artifact { artifact, fault }] if *artifact == id => fault.clone(),
        others => panic!("{others:?}"),
    }
}

#[tokio::test]
async fn content_that_was_purged_and_is_here_is_found() {
    let fault = fault_after("UPDATE artifacts SET body = CAST('root' AS BLOB) WHERE encoding = 'withheld'").await;
    assert_eq!(fault, ArtifactFault::StillHere);
}

#[tokio::test]
async fn purged_content_that_nothing_explains_is_found() {
    assert_eq!(fault_after("DELETE FROM withheld").await, ArtifactFault::Unexplained);
}

#[tokio::test]
async fn another_reason_than_the_journal_has_is_found() {
    assert_eq!(fault_after("UPDATE withheld SET reason = 'another'").await, ArtifactFault::NotJournaled);
}

#[tokio::test]
async fn a_lost_substitute_is_found() {
    let fault = fault_after("UPDATE withheld SET substitute = artifact").await;
    assert_eq!(fault, ArtifactFault::NoSubstitute);
}
