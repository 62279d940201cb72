//! Damage to the database file itself.

use contexture_core::ArtifactId;
use contexture_store::fsck::{ArtifactFault, CommitFault, FsckProblem, Phase};
use futures_util::FutureExt as _;

use crate::fixture::{Fixture, chain};

/// Returns a page of a table that is not its first of a type: a `leaf` holds rows, an `overflow` the rest of a long one.
fn page_of(fixture: &Fixture, table: &str, kind: &str) -> usize {
    let sql = "SELECT pageno FROM dbstat WHERE name = ?1 AND pagetype = ?2 ORDER BY path LIMIT 1 OFFSET 1";
    let page: i64 = fixture.connection().query_row(sql, [table, kind], |row| row.get(0)).unwrap();
    usize::try_from(page).unwrap()
}

/// Returns the problems without what the engine says of itself, which must be something.
async fn problems_but_the_engines(fixture: &Fixture) -> Vec<FsckProblem> {
    let problems = fixture.check().await.problems;
    let (engines, ours): (Vec<_>, Vec<_>) =
        problems.into_iter().partition(|problem| matches!(problem, FsckProblem::Engine { .. }));
    assert!(!engines.is_empty());
    ours
}

fn malformed() -> String {
    "the database could not answer a query: database disk image is malformed".to_owned()
}

#[tokio::test]
async fn an_unreadable_page_of_a_long_row_hits_that_row_and_the_whole_it_is_part_of() {
    let fixture = Fixture::new().await;
    let part: Vec<u8> = fixture
        .connection()
        .query_row("SELECT digest FROM artifacts WHERE key = (SELECT min(key) FROM artifacts)", [], |row| row.get(0))
        .unwrap();
    let part: ArtifactId = part.as_slice().try_into().unwrap();
    let page = page_of(&fixture, "artifacts", "overflow");
    let fixture = fixture.with_page_overwritten(page).await;
    let unreadable =
        |artifact| FsckProblem::Artifact { artifact, fault: ArtifactFault::Unreadable { what: malformed() } };
    assert_eq!(problems_but_the_engines(&fixture).await, [unreadable(part), unreadable(fixture.large_artifact)]);
    assert_eq!(fixture.check().await.unreferenced.map(|unreferenced| unreferenced.artifacts), Some(1));
}

#[tokio::test]
async fn artifacts_behind_an_unreadable_page_are_still_checked() {
    let fixture = Fixture::new().await;
    fixture.connection().execute("UPDATE artifacts SET size = 0 WHERE body = CAST('alone' AS BLOB)", []).unwrap();
    let page = page_of(&fixture, "artifacts", "leaf");
    let fixture = fixture.with_page_overwritten(page).await;
    let rows = FsckProblem::Rows {
        phase: Phase::Artifacts,
        after: "row 1".to_owned(),
        until: Some("row 3".to_owned()),
        what: malformed(),
    };
    let behind = FsckProblem::Artifact { artifact: ArtifactId::of(b"alone"), fault: ArtifactFault::Damaged };
    let fault = ArtifactFault::Unreadable { what: malformed() };
    let whole = FsckProblem::Artifact { artifact: fixture.large_artifact, fault };
    assert_eq!(problems_but_the_engines(&fixture).await, [rows, behind, whole]);
}

#[tokio::test]
async fn commits_behind_an_unreadable_page_are_still_checked() {
    let fixture = Fixture::new().await;
    let ids = fixture.store.write(fixture.scope.clone(), (), |tx, ()| chain(tx, 1500).boxed()).await.unwrap();
    fixture.connection().execute("UPDATE commits SET depth = 7 WHERE line = 4 AND position = 1499", []).unwrap();
    let page = page_of(&fixture, "commits", "leaf");
    let fixture = fixture.with_page_overwritten(page).await;
    let problems = problems_but_the_engines(&fixture).await;
    let [FsckProblem::Rows { phase: Phase::Commits, until: Some(_), .. }, behind] = problems.as_slice() else {
        panic!("some rows and the commit behind them are hit: {problems:#?}");
    };
    let fault = CommitFault::WrongDepth { found: 7, expected: 1499 };
    assert_eq!(*behind, FsckProblem::Commit { commit: ids[1499], fault });
    assert!(fixture.check().await.checked.commits > 1400);
}
