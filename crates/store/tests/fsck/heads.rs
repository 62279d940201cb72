//! Damage to heads and the log of their moves.

use contexture_core::{CommitId, JournalKind};
use contexture_store::fsck::{FsckProblem, HeadFault, JournalFault, Phase};

use crate::fixture::{Fixture, head_name};

fn head(name: &str, fault: HeadFault) -> FsckProblem {
    FsckProblem::Head { head: head_name(name), fault }
}

#[tokio::test]
async fn a_head_that_points_to_nothing_is_found() {
    let fixture = Fixture::new().await;
    let problems = fixture.problems_after("UPDATE heads SET commit_id = zeroblob(16) WHERE name = 'main'").await;
    let commit = CommitId::from_bytes([0; 16]);
    let expected = [
        head("main", HeadFault::NoCommit { commit }),
        head("main", HeadFault::NotAsLogged { commit, logged: Some(fixture.merge) }),
    ];
    assert_eq!(problems, expected);
}

#[tokio::test]
async fn a_head_moved_without_a_log_is_found() {
    let fixture = Fixture::new().await;
    let problems = fixture
        .problems_after(
            "UPDATE heads SET commit_id = (SELECT id FROM commits WHERE line = 1 AND position = 0) WHERE name = 'main'",
        )
        .await;
    let fault = HeadFault::NotAsLogged { commit: fixture.root, logged: Some(fixture.merge) };
    assert_eq!(problems, [head("main", fault)]);
}

#[tokio::test]
async fn a_head_back_after_its_deletion_is_found() {
    let fixture = Fixture::new().await;
    let problems = fixture
        .problems_after(
            "UPDATE heads SET commit_id = (SELECT id FROM commits WHERE line = 1 AND position = 0) WHERE name = 'gone'",
        )
        .await;
    assert_eq!(problems, [head("gone", HeadFault::NotAsLogged { commit: fixture.root, logged: None })]);
}

#[tokio::test]
async fn a_lost_head_is_found_by_its_log() {
    let fixture = Fixture::new().await;
    let problems = fixture.problems_after("DELETE FROM heads WHERE name = 'main'").await;
    assert_eq!(problems, [head("main", HeadFault::Missing { logged: fixture.merge })]);
}

#[tokio::test]
async fn a_deleted_head_without_its_deletion_is_found() {
    let fixture = Fixture::new().await;
    let problems = fixture.problems_after("UPDATE heads SET commit_id = NULL WHERE name = 'main'").await;
    assert_eq!(problems, [head("main", HeadFault::Missing { logged: fixture.merge })]);
}

#[tokio::test]
async fn a_log_that_is_not_led_to_is_found() {
    let fixture = Fixture::new().await;
    let problems = fixture.problems_after("DELETE FROM heads WHERE name = 'gone'").await;
    assert_eq!(problems, [head("gone", HeadFault::LogBroken { seq: 12 })]);
}

#[tokio::test]
async fn a_move_that_does_not_lead_to_the_one_before_is_found() {
    let fixture = Fixture::new().await;
    let problems = fixture.problems_after("UPDATE reflog SET previous = NULL WHERE head = 'gone'").await;
    assert_eq!(problems, [head("gone", HeadFault::LogBroken { seq: 12 })]);
}

#[tokio::test]
async fn a_lost_move_is_found_by_the_journal_and_the_head() {
    let fixture = Fixture::new().await;
    let problems = fixture.problems_after("DELETE FROM reflog WHERE head = 'main'").await;
    let subject = "main".to_owned();
    let expected = [
        FsckProblem::Journal { seq: 9, fault: JournalFault::NoSubject { kind: JournalKind::HeadMoved, subject } },
        head("main", HeadFault::NotAsLogged { commit: fixture.merge, logged: None }),
    ];
    assert_eq!(problems, expected);
}

#[tokio::test]
async fn a_changed_move_is_not_what_the_journal_says() {
    let fixture = Fixture::new().await;
    let problems = fixture.problems_after("UPDATE reflog SET from_commit = zeroblob(16) WHERE head = 'side'").await;
    assert_eq!(problems, [head("side", HeadFault::MoveJournaledOtherwise { seq: 10 })]);
}

#[tokio::test]
async fn rows_that_cannot_be_read_do_not_end_the_check() {
    let fixture = Fixture::new().await;
    let problems = fixture
        .problems_after(
            "UPDATE heads SET commit_id = x'01' WHERE name = 'main'; \
             UPDATE reflog SET actor = '' WHERE head = 'gone' AND seq = 11; \
             UPDATE heads SET moved_at = 9223372036854775807 WHERE name = 'side'",
        )
        .await;
    let unreadable = |what: &str| HeadFault::Unreadable { what: what.to_owned() };
    let what = "\"\" cannot be an actor: it is empty".to_owned();
    let expected = [
        head("main", unreadable("a commit id has the wrong length")),
        head("side", unreadable("9223372036854775807 is no time")),
        head("gone", HeadFault::MoveUnreadable { seq: 11, what }),
    ];
    assert_eq!(problems, expected);
}

#[tokio::test]
async fn a_name_that_is_none_is_found_by_its_row() {
    let fixture = Fixture::new().await;
    let problems = fixture
        .problems_after(
            "INSERT INTO heads SELECT space, 'a b', commit_id, moved_at, moved_seq FROM heads WHERE name = 'main'; \
             INSERT INTO heads SELECT space, CAST(x'ff' AS TEXT), commit_id, moved_at, moved_seq FROM heads WHERE name = 'main'",
        )
        .await;
    let what = "\"a b\" cannot be a head name: it has white space".to_owned();
    let row = FsckProblem::Row { phase: Phase::Heads, key: "\"a b\"".to_owned(), what };
    // Bytes that are not UTF-8 read as the replacement character, which is a legal name that no log knows.
    let unlogged = head("\u{fffd}", HeadFault::NotAsLogged { commit: fixture.merge, logged: None });
    assert_eq!(problems, [row, unlogged]);
}
