//! Damage to commits.

use contexture_core::{CommitId, CommitKind, Format, JournalKind};
use contexture_store::{
    commit::CommitPlace,
    fsck::{CommitFault, FsckProblem, JournalFault, LineFault, Phase},
};

use crate::fixture::{Fixture, delta};

fn commit(commit: CommitId, fault: CommitFault) -> FsckProblem {
    FsckProblem::Commit { commit, fault }
}

fn nobody() -> CommitId {
    CommitId::from_bytes([0; 16])
}

#[tokio::test]
async fn a_changed_format_changes_the_id() {
    let fixture = Fixture::new().await;
    let problems = fixture.problems_after("UPDATE commits SET format = 'other' WHERE line = 1 AND position = 0").await;
    let mut altered = delta("root", None);
    altered.format = Format::new("other").unwrap();
    assert_eq!(problems, [commit(fixture.root, CommitFault::Altered { computed: altered.id() })]);
}

#[tokio::test]
async fn an_unknown_kind_does_not_end_the_check() {
    let fixture = Fixture::new().await;
    let problems = fixture
        .problems_after(
            "UPDATE commits SET kind = 'patch' WHERE line = 1 AND position = 1; \
             UPDATE commits SET depth = 7 WHERE line = 1 AND position = 3",
        )
        .await;
    let what = "\"patch\" is not one of delta, compaction, snapshot".to_owned();
    let expected = [
        commit(fixture.second, CommitFault::Unreadable { what }),
        commit(fixture.merge, CommitFault::WrongDepth { found: 7, expected: 3 }),
    ];
    assert_eq!(problems, expected);
}

#[tokio::test]
async fn a_root_turned_compaction_breaks_a_rule() {
    let fixture = Fixture::new().await;
    let problems =
        fixture.problems_after("UPDATE commits SET kind = 'compaction' WHERE line = 1 AND position = 0").await;
    let mut altered = delta("root", None);
    altered.kind = CommitKind::Compaction;
    let expected = [
        commit(fixture.root, CommitFault::Altered { computed: altered.id() }),
        commit(fixture.root, CommitFault::Invalid { what: "a compaction commit needs a parent".to_owned() }),
    ];
    assert_eq!(problems, expected);
}

#[tokio::test]
async fn a_wrong_parent_is_found_by_place() {
    let fixture = Fixture::new().await;
    let problems =
        fixture.problems_after("UPDATE commits SET parent = zeroblob(16) WHERE line = 1 AND position = 1").await;
    let computed = delta("second", Some(nobody())).id();
    let fault = CommitFault::WrongParent { found: Some(nobody()), expected: Some(fixture.root) };
    assert_eq!(problems, [commit(fixture.second, CommitFault::Altered { computed }), commit(fixture.second, fault)]);
}

#[tokio::test]
async fn a_fork_follows_its_fork_point() {
    let fixture = Fixture::new().await;
    let problems = fixture.problems_after("UPDATE lines SET fork_position = 0 WHERE key = 2").await;
    let expected = [
        commit(fixture.fork, CommitFault::WrongDepth { found: 2, expected: 1 }),
        commit(fixture.fork, CommitFault::WrongParent { found: Some(fixture.second), expected: Some(fixture.root) }),
    ];
    assert_eq!(problems, expected);
}

#[tokio::test]
async fn a_line_that_starts_at_a_root_starts_with_a_root() {
    let fixture = Fixture::new().await;
    let problems =
        fixture.problems_after("UPDATE lines SET fork_line = NULL, fork_position = NULL WHERE key = 2").await;
    let expected = [
        commit(fixture.fork, CommitFault::WrongDepth { found: 2, expected: 0 }),
        commit(fixture.fork, CommitFault::WrongParent { found: Some(fixture.second), expected: None }),
    ];
    assert_eq!(problems, expected);
}

#[tokio::test]
async fn one_wrong_depth_is_one_problem() {
    let fixture = Fixture::new().await;
    let problems = fixture.problems_after("UPDATE commits SET depth = -5 WHERE line = 1 AND position = 0").await;
    assert_eq!(problems, [commit(fixture.root, CommitFault::WrongDepth { found: -5, expected: 0 })]);
}

#[tokio::test]
async fn a_wrong_reset_is_found() {
    let fixture = Fixture::new().await;
    let problems = fixture
        .problems_after("UPDATE commits SET reset_line = NULL, reset_position = NULL WHERE line = 1 AND position = 2")
        .await;
    let own = CommitPlace { line: 1, position: 2 };
    let fault = CommitFault::WrongReset { found: None, expected: Some(own) };
    assert_eq!(problems, [commit(fixture.compaction, fault)]);

    let problems = fixture
        .problems_after(
            "UPDATE commits SET reset_line = 1, reset_position = 2 WHERE line = 1 AND position = 2; \
             UPDATE commits SET reset_line = 1, reset_position = 1 WHERE line = 1 AND position = 3",
        )
        .await;
    let fault = CommitFault::WrongReset { found: Some(CommitPlace { line: 1, position: 1 }), expected: Some(own) };
    assert_eq!(problems, [commit(fixture.merge, fault)]);
}

#[tokio::test]
async fn a_lost_commit_leaves_a_gap_on_its_line() {
    let fixture = Fixture::new().await;
    let problems = fixture.problems_after("DELETE FROM commits WHERE line = 1 AND position = 2").await;
    let expected =
        [no_subject(4, fixture.compaction), FsckProblem::Line { line: 1, fault: LineFault::Gap { first: 2, last: 2 } }];
    assert_eq!(problems, expected);
}

#[tokio::test]
async fn a_lost_tip_is_missed_by_the_journal_its_head_and_what_merges_it() {
    let fixture = Fixture::new().await;
    let problems = fixture.problems_after("DELETE FROM commits WHERE line = 2 AND position = 1").await;
    let (lost, head) = (fixture.large, crate::fixture::head_name("side"));
    let expected = [
        no_subject(6, lost),
        commit(fixture.merge, CommitFault::NoMerged { merged: lost }),
        FsckProblem::Head { head, fault: contexture_store::fsck::HeadFault::NoCommit { commit: lost } },
    ];
    assert_eq!(problems, expected);
}

#[tokio::test]
async fn a_cut_off_list_of_merges_is_found() {
    let fixture = Fixture::new().await;
    let problems =
        fixture.problems_after("UPDATE commits SET merges = zeroblob(15) WHERE line = 1 AND position = 3").await;
    let what = "a list of merged commits is cut off".to_owned();
    assert_eq!(problems, [commit(fixture.merge, CommitFault::Unreadable { what })]);
}

#[tokio::test]
async fn a_commit_that_the_journal_does_not_know_is_found() {
    let fixture = Fixture::new().await;
    let problems = fixture.problems_after("UPDATE commits SET seq = 99 WHERE line = 1 AND position = 0").await;
    assert_eq!(problems, [commit(fixture.root, CommitFault::NotJournaled { seq: 99 })]);
    let problems = fixture.problems_after("UPDATE commits SET seq = 3 WHERE line = 1 AND position = 0").await;
    assert_eq!(problems, [commit(fixture.root, CommitFault::JournaledOtherwise { seq: 3 })]);
}

#[tokio::test]
async fn a_changed_id_is_found_at_the_commit_and_after_it() {
    let fixture = Fixture::new().await;
    let problems = fixture.problems_after("UPDATE commits SET id = zeroblob(16) WHERE line = 3").await;
    let expected =
        [no_subject(8, fixture.snapshot), commit(nobody(), CommitFault::Altered { computed: fixture.snapshot })];
    assert_eq!(problems, expected);
}

#[tokio::test]
async fn an_id_that_is_none_is_found_by_its_row() {
    let fixture = Fixture::new().await;
    let problems = fixture.problems_after("UPDATE commits SET id = x'01' WHERE line = 3").await;
    let what = "a commit id has the wrong length".to_owned();
    let expected = [
        no_subject(8, fixture.snapshot),
        FsckProblem::Row { phase: Phase::Commits, key: "line 3, position 0".to_owned(), what },
    ];
    assert_eq!(problems, expected);
}

fn no_subject(seq: i64, commit: CommitId) -> FsckProblem {
    let fault = JournalFault::NoSubject { kind: JournalKind::CommitCreated, subject: commit.to_string() };
    FsckProblem::Journal { seq, fault }
}
