//! Damage to lines.

use contexture_store::fsck::{FsckProblem, LineFault};

use crate::fixture::Fixture;

fn line(line: i64, fault: LineFault) -> FsckProblem {
    FsckProblem::Line { line, fault }
}

#[tokio::test]
async fn an_empty_line_is_found() {
    let fixture = Fixture::new().await;
    let problems = fixture.problems_after("INSERT INTO lines (space) VALUES (1)").await;
    assert_eq!(problems, [line(4, LineFault::Empty)]);
}

#[tokio::test]
async fn a_fork_point_without_a_commit_is_found() {
    let fixture = Fixture::new().await;
    let problems = fixture.problems_after("UPDATE lines SET fork_position = 99 WHERE key = 2").await;
    assert_eq!(problems, [line(2, LineFault::NoForkPoint { fork_line: 1, fork_position: 99 })]);
}

#[tokio::test]
async fn half_a_fork_point_is_found() {
    let fixture = Fixture::new().await;
    let problems = fixture.problems_after("UPDATE lines SET fork_position = NULL WHERE key = 2").await;
    assert_eq!(problems, [line(2, LineFault::HalfFork)]);
}

#[tokio::test]
async fn a_line_that_forks_off_itself_is_found() {
    let fixture = Fixture::new().await;
    let problems = fixture.problems_after("UPDATE lines SET fork_line = 2, fork_position = 99 WHERE key = 2").await;
    assert_eq!(problems, [line(2, LineFault::NotOlder { fork_line: 2 })]);
}

#[tokio::test]
async fn a_line_that_is_gone_is_missed_by_its_commits() {
    let fixture = Fixture::new().await;
    let problems = fixture.problems_after("DELETE FROM lines WHERE key = 2").await;
    assert_eq!(problems, [line(2, LineFault::Missing)]);
}

#[tokio::test]
async fn a_line_of_another_space_is_missed_by_its_commits() {
    let fixture = Fixture::new().await;
    let problems = fixture
        .problems_after(
            "INSERT INTO spaces (key, name, created_at) VALUES (2, 'other', 0); \
             UPDATE lines SET space = 2 WHERE key = 1",
        )
        .await;
    let expected = [line(2, LineFault::ForeignFork { fork_line: 1 }), line(1, LineFault::OtherSpace)];
    assert_eq!(problems, expected);
}
