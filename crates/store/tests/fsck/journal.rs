//! Damage to the journal.

use contexture_core::{CommitId, JournalKind};
use contexture_store::fsck::{AnnotationFault, CommitFault, FsckProblem, HeadFault, JournalFault};

use crate::fixture::{Fixture, head_name};

fn record(seq: i64, fault: JournalFault) -> FsckProblem {
    FsckProblem::Journal { seq, fault }
}

#[tokio::test]
async fn a_changed_subject_breaks_the_chain_and_misses_its_commit() {
    let fixture = Fixture::new().await;
    let stranger = CommitId::from_bytes([1; 16]).to_string();
    let problems = fixture.problems_after(&format!("UPDATE journal SET subject = '{stranger}' WHERE seq = 2")).await;
    let expected = [
        record(2, JournalFault::ChainBroken),
        record(2, JournalFault::NoSubject { kind: JournalKind::CommitCreated, subject: stranger }),
        FsckProblem::Commit { commit: fixture.root, fault: CommitFault::JournaledOtherwise { seq: 2 } },
    ];
    assert_eq!(problems, expected);
}

#[tokio::test]
async fn a_changed_digest_breaks_the_chain_and_contradicts_its_commit() {
    let fixture = Fixture::new().await;
    let problems = fixture.problems_after("UPDATE journal SET digest = zeroblob(32) WHERE seq = 2").await;
    let expected = [
        record(2, JournalFault::ChainBroken),
        FsckProblem::Commit { commit: fixture.root, fault: CommitFault::JournaledOtherwise { seq: 2 } },
    ];
    assert_eq!(problems, expected);
}

#[tokio::test]
async fn a_changed_actor_breaks_the_chain_at_its_record_only() {
    let fixture = Fixture::new().await;
    let problems = fixture.problems_after("UPDATE journal SET actor = 'eve' WHERE seq = 9").await;
    assert_eq!(problems, [record(9, JournalFault::ChainBroken)]);
}

#[tokio::test]
async fn a_changed_chain_breaks_at_its_record_and_the_next() {
    let fixture = Fixture::new().await;
    let problems = fixture.problems_after("UPDATE journal SET chain = zeroblob(32) WHERE seq = 9").await;
    assert_eq!(problems, [record(9, JournalFault::ChainBroken), record(10, JournalFault::ChainBroken)]);
}

#[tokio::test]
async fn a_removed_record_leaves_a_gap_and_is_missed_by_its_commit() {
    let fixture = Fixture::new().await;
    let problems = fixture.problems_after("DELETE FROM journal WHERE seq = 2").await;
    let expected = [
        FsckProblem::JournalGap { first: 2, last: 2 },
        FsckProblem::Commit { commit: fixture.root, fault: CommitFault::NotJournaled { seq: 2 } },
    ];
    assert_eq!(problems, expected);
}

#[tokio::test]
async fn a_journal_cut_off_at_its_end_is_missed_by_what_it_recorded() {
    let fixture = Fixture::new().await;
    let problems = fixture.problems_after("DELETE FROM journal WHERE seq >= 12").await;
    let expected = [
        FsckProblem::Head { head: head_name("gone"), fault: HeadFault::MoveNotJournaled { seq: 12 } },
        FsckProblem::Annotation { seq: 13, fault: AnnotationFault::NotJournaled { commit: fixture.second } },
    ];
    assert_eq!(problems, expected);
}

#[tokio::test]
async fn a_record_that_cannot_be_read_does_not_end_the_check() {
    let fixture = Fixture::new().await;
    let problems = fixture
        .problems_after(
            "UPDATE journal SET kind = 'commit.burnt' WHERE seq = 9; UPDATE journal SET at = 0 WHERE seq = 12",
        )
        .await;
    let what = "\"commit.burnt\" is not one of space.created, commit.created, commit.annotated, head.moved, \
                head.deleted, artifact.stored, envelope.created, injection.created, missing.created, \
                missing.changed, secrets.policy, secrets.found, content.revealed, artifact.withheld, \
                annotation.withheld, artifacts.collected, channel.created, channel.changed, message.appended, \
                participant.registered, turn.begun, turn.changed, cursor.moved, context.*"
        .to_owned();
    let expected = [
        record(9, JournalFault::Unreadable { what }),
        record(12, JournalFault::ChainBroken),
        FsckProblem::Head { head: head_name("main"), fault: HeadFault::MoveJournaledOtherwise { seq: 9 } },
    ];
    assert_eq!(problems, expected);
}

#[tokio::test]
async fn a_renamed_space_breaks_every_link() {
    let mut fixture = Fixture::new().await;
    fixture.connection().execute("UPDATE spaces SET name = 'renamed'", []).unwrap();
    fixture.scope = crate::fixture::scope("renamed");
    let mut expected: Vec<_> = (1..=14).map(|seq| record(seq, JournalFault::ChainBroken)).collect();
    let subject = "default".to_owned();
    expected.insert(1, record(1, JournalFault::NoSubject { kind: JournalKind::SpaceCreated, subject }));
    assert_eq!(fixture.check().await.problems, expected);
}
