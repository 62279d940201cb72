//! Damage to annotations and idempotency keys.

use contexture_core::{CommitId, IdempotencyKey, JournalKind};
use contexture_store::{
    commit::CommitPlace,
    fsck::{AnnotationFault, FsckProblem, JournalFault, Phase, RequestFault},
};

use crate::fixture::Fixture;

fn annotation(fault: AnnotationFault) -> FsckProblem {
    FsckProblem::Annotation { seq: 13, fault }
}

fn request(fault: RequestFault) -> FsckProblem {
    FsckProblem::Request { key: IdempotencyKey::new("try-1").unwrap(), fault }
}

#[tokio::test]
async fn an_annotation_that_cannot_be_read_is_found() {
    let fixture = Fixture::new().await;
    let problems = fixture.problems_after("UPDATE annotations SET annotation = '{'").await;
    let what = "an annotation cannot be read: EOF while parsing an object at line 1 column 1".to_owned();
    assert_eq!(problems, [annotation(AnnotationFault::Unreadable { commit: fixture.second, what })]);
}

#[tokio::test]
async fn a_changed_annotation_is_not_what_the_journal_says() {
    let fixture = Fixture::new().await;
    let problems =
        fixture.problems_after("UPDATE annotations SET annotation = replace(annotation, 'half way', 'all done')").await;
    assert_eq!(problems, [annotation(AnnotationFault::JournaledOtherwise { commit: fixture.second })]);
}

#[tokio::test]
async fn an_annotation_of_nothing_is_found_and_missed_by_the_journal() {
    let fixture = Fixture::new().await;
    let problems = fixture.problems_after("UPDATE annotations SET line = 77").await;
    let subject = fixture.second.to_string();
    let expected = [
        FsckProblem::Journal {
            seq: 13,
            fault: JournalFault::NoSubject { kind: JournalKind::CommitAnnotated, subject },
        },
        annotation(AnnotationFault::NoCommit { place: CommitPlace { line: 77, position: 1 } }),
    ];
    assert_eq!(problems, expected);
}

#[tokio::test]
async fn a_request_for_a_commit_that_is_gone_is_found() {
    let fixture = Fixture::new().await;
    let problems = fixture.problems_after("UPDATE requests SET commit_id = zeroblob(16)").await;
    assert_eq!(problems, [request(RequestFault::NoCommit { commit: CommitId::from_bytes([0; 16]) })]);
}

#[tokio::test]
async fn a_request_that_cannot_be_read_is_found() {
    let fixture = Fixture::new().await;
    let problems = fixture.problems_after("UPDATE requests SET payload = x'07'").await;
    let what = "a payload digest has the wrong length".to_owned();
    assert_eq!(problems, [request(RequestFault::Unreadable { what })]);
}

#[tokio::test]
async fn a_key_that_is_none_is_found_by_its_row() {
    let fixture = Fixture::new().await;
    let problems = fixture.problems_after("UPDATE requests SET key = 'a' || char(10)").await;
    let what = "\"a\\n\" cannot be an idempotency key: it has a control character".to_owned();
    assert_eq!(problems, [FsckProblem::Row { phase: Phase::Requests, key: "\"a\\n\"".to_owned(), what }]);
}

#[tokio::test]
async fn a_key_that_is_not_text_ends_its_pass_and_not_the_check() {
    let fixture = Fixture::new().await;
    // With the one that is there, as many rows as a page has; the last key reads as another than it is.
    let problems = fixture
        .problems_after(
            "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 510) \
             INSERT INTO requests SELECT space, 'more-' || i, payload, commit_id, at FROM requests, n; \
             INSERT INTO requests SELECT space, CAST(x'ff' AS TEXT), payload, commit_id, at FROM requests LIMIT 1",
        )
        .await;
    let what = "its key is not text".to_owned();
    let rows = FsckProblem::Rows { phase: Phase::Requests, after: "\"\u{fffd}\"".to_owned(), until: None, what };
    assert_eq!(problems, [rows]);
}
