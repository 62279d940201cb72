//! Damage to artifacts.

use contexture_core::ArtifactId;
use contexture_store::fsck::{ArtifactFault, CommitFault, FsckProblem, Phase, Unreferenced};
use rusqlite::params;

use crate::fixture::Fixture;

fn artifact(artifact: ArtifactId, fault: ArtifactFault) -> FsckProblem {
    FsckProblem::Artifact { artifact, fault }
}

/// Flips one bit of the body of the artifact that a condition finds, and returns its id.
fn flip_a_bit(fixture: &Fixture, condition: &str) -> ArtifactId {
    let connection = fixture.connection();
    let sql = format!("SELECT key, digest, body FROM artifacts WHERE {condition} ORDER BY key LIMIT 1");
    let (key, digest, mut body) = connection
        .query_row(&sql, [], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, Vec<u8>>(1)?, row.get::<_, Vec<u8>>(2)?)))
        .unwrap();
    body[0] ^= 1;
    connection.execute("UPDATE artifacts SET body = ?1 WHERE key = ?2", params![body, key]).unwrap();
    digest.as_slice().try_into().unwrap()
}

#[tokio::test]
async fn a_flipped_bit_is_found() {
    let fixture = Fixture::new().await;
    let hit = flip_a_bit(&fixture, "body = CAST('root' AS BLOB)");
    assert_eq!(hit, ArtifactId::of(b"root"));
    assert_eq!(fixture.check().await.problems, [artifact(hit, ArtifactFault::Damaged)]);
}

#[tokio::test]
async fn a_flipped_bit_in_a_part_hits_the_part_and_the_whole() {
    let fixture = Fixture::new().await;
    let part = flip_a_bit(&fixture, "key = (SELECT part FROM parts WHERE start > 0 ORDER BY start LIMIT 1)");
    let expected =
        [artifact(part, ArtifactFault::Damaged), artifact(fixture.large_artifact, ArtifactFault::PartDamaged { part })];
    assert_eq!(fixture.check().await.problems, expected);
}

#[tokio::test]
async fn a_wrong_size_is_found() {
    let fixture = Fixture::new().await;
    let problems = fixture.problems_after("UPDATE artifacts SET size = 5 WHERE body = CAST('root' AS BLOB)").await;
    assert_eq!(problems, [artifact(ArtifactId::of(b"root"), ArtifactFault::Damaged)]);
}

#[tokio::test]
async fn a_row_without_bytes_is_found() {
    let fixture = Fixture::new().await;
    let problems = fixture.problems_after("UPDATE artifacts SET body = NULL WHERE body = CAST('root' AS BLOB)").await;
    assert_eq!(problems, [artifact(ArtifactId::of(b"root"), ArtifactFault::Damaged)]);
}

#[tokio::test]
async fn an_unknown_encoding_does_not_end_the_check() {
    let fixture = Fixture::new().await;
    let hit = ArtifactId::of(b"root");
    let problems = fixture
        .problems_after(
            "UPDATE artifacts SET encoding = 'zip' WHERE body = CAST('root' AS BLOB); \
             UPDATE artifacts SET body = x'00' WHERE body = CAST('alone' AS BLOB)",
        )
        .await;
    let what = "\"zip\" is not one of raw, lz4, parts, withheld, absent".to_owned();
    let expected =
        [artifact(hit, ArtifactFault::Unreadable { what }), artifact(ArtifactId::of(b"alone"), ArtifactFault::Damaged)];
    assert_eq!(problems, expected);
}

#[tokio::test]
async fn a_digest_that_is_none_is_found_by_its_row() {
    let fixture = Fixture::new().await;
    let problems =
        fixture.problems_after("UPDATE artifacts SET digest = x'0102' WHERE body = CAST('root' AS BLOB)").await;
    let key: i64 = fixture
        .connection()
        .query_row("SELECT key FROM artifacts WHERE digest = x'0102'", [], |row| row.get(0))
        .unwrap();
    let what = "an artifact id has the wrong length".to_owned();
    let expected = [
        FsckProblem::Row { phase: Phase::Artifacts, key: key.to_string(), what },
        FsckProblem::Commit {
            commit: fixture.root,
            fault: CommitFault::NoArtifact { artifact: ArtifactId::of(b"root") },
        },
    ];
    assert_eq!(problems, expected);
}

#[tokio::test]
async fn a_missing_part_is_found_where_it_belongs() {
    let fixture = Fixture::new().await;
    let start = second_part(&fixture);
    let problems = fixture
        .problems_after(
            "DELETE FROM artifacts WHERE key = (SELECT part FROM parts WHERE start > 0 ORDER BY start LIMIT 1)",
        )
        .await;
    assert_eq!(problems, [artifact(fixture.large_artifact, ArtifactFault::NoPart { start })]);
}

#[tokio::test]
async fn parts_that_leave_bytes_out_are_found() {
    let fixture = Fixture::new().await;
    let start = second_part(&fixture);
    let problems =
        fixture.problems_after("DELETE FROM parts WHERE start = (SELECT min(start) FROM parts WHERE start > 0)").await;
    assert_eq!(problems, [artifact(fixture.large_artifact, ArtifactFault::PartsApart { start })]);
}

#[tokio::test]
async fn parts_that_end_early_are_found() {
    let fixture = Fixture::new().await;
    let found: i64 = fixture.connection().query_row("SELECT max(start) FROM parts", [], |row| row.get(0)).unwrap();
    let problems = fixture.problems_after("DELETE FROM parts WHERE start = (SELECT max(start) FROM parts)").await;
    let fault = ArtifactFault::PartsSize { found: found.cast_unsigned(), expected: 1_000_000 };
    assert_eq!(problems, [artifact(fixture.large_artifact, fault)]);
}

#[tokio::test]
async fn parts_of_another_whole_are_found() {
    let fixture = Fixture::new().await;
    let problems = fixture.problems_after("UPDATE artifacts SET digest = zeroblob(32) WHERE encoding = 'parts'").await;
    let expected = [
        artifact(ArtifactId::from_bytes([0; 32]), ArtifactFault::Damaged),
        FsckProblem::Commit {
            commit: fixture.large,
            fault: CommitFault::NoArtifact { artifact: fixture.large_artifact },
        },
    ];
    assert_eq!(problems, expected);
}

#[tokio::test]
async fn a_lost_artifact_is_a_problem_of_its_commit() {
    let fixture = Fixture::new().await;
    let problems = fixture.problems_after("DELETE FROM artifacts WHERE body = CAST('root' AS BLOB)").await;
    let fault = CommitFault::NoArtifact { artifact: ArtifactId::of(b"root") };
    assert_eq!(problems, [FsckProblem::Commit { commit: fixture.root, fault }]);
}

#[tokio::test]
async fn an_artifact_looked_for_in_the_wrong_row_is_found() {
    let fixture = Fixture::new().await;
    let problems = fixture
        .problems_after(
            "UPDATE commits SET artifact_key = (SELECT key FROM artifacts WHERE body = CAST('alone' AS BLOB)) \
             WHERE line = 1 AND position = 0",
        )
        .await;
    let fault = CommitFault::WrongArtifactKey { artifact: ArtifactId::of(b"root") };
    assert_eq!(problems, [FsckProblem::Commit { commit: fixture.root, fault }]);
    let bytes = "root".len() as u64;
    assert_eq!(fixture.check().await.unreferenced, Some(Unreferenced { artifacts: 1, bytes }));
}

fn second_part(fixture: &Fixture) -> u64 {
    let sql = "SELECT min(start) FROM parts WHERE start > 0";
    fixture.connection().query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap().cast_unsigned()
}
