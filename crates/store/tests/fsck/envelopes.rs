//! Damage to envelopes, injections, missing context and events.

use contexture_core::{
    ArtifactId, CommitId, EnvelopeId, EventKind, GapSeverity, GapStatus, InjectionId, JournalKind, MissingId,
    RecipeName, Stream, Subject,
};
use contexture_store::{
    JsonText, Result, Tx,
    artifact::{self, Hot},
    envelope::{self, EnvelopeRecord},
    event::{self, Event},
    fsck::{EnvelopeFault, FsckProblem, JournalFault, Phase, RecordFault},
    injection::{self, Injection},
    missing::{self, Missing, MissingChange},
};
use futures_util::FutureExt as _;

use crate::fixture::Fixture;

/// Record 15 of the journal is the envelope, 16 its injection, 17 what it misses, 18 an event, 19 a change of what is
/// missing.
async fn fill(tx: &mut Tx<'_>, commit: CommitId) -> Result<()> {
    let json = |text: &str| JsonText::new(text).unwrap();
    for content in ["document", "input", "rendering"] {
        artifact::put(tx, &Hot::encode(content.as_bytes().to_vec())).await?;
    }
    let kept = EnvelopeRecord {
        document: ArtifactId::of(b"document"),
        stream: Stream::new("main").unwrap(),
        recipe: RecipeName::new("turn").unwrap(),
        commit: Some(commit),
        created_at: tx.now(),
        artifacts: vec![ArtifactId::of(b"input"), ArtifactId::of(b"rendering")],
    };
    let (id, _) = envelope::put(tx, &kept).await?;
    injection::put(tx, &Injection { envelope: id, created_at: tx.now(), document: json("{}") }).await?;
    let gap = Missing {
        id: gap(),
        envelope: Some(id),
        created_at: tx.now(),
        changed_at: tx.now(),
        status: GapStatus::new("open").unwrap(),
        severity: GapSeverity::new("high").unwrap(),
        document: json("{}"),
    };
    missing::put(tx, &gap).await?;
    let subject = Subject::new("it").unwrap();
    let event = Event { kind: EventKind::AssemblyCreated, subject, envelope: Some(id), document: json("{}") };
    event::append(tx, &[event]).await?;
    let change = MissingChange { status: GapStatus::new("resolved").unwrap(), document: json("[]") };
    missing::change(tx, &gap.id, &change).await
}

async fn fixture() -> Fixture {
    let fixture = Fixture::new().await;
    let commit = fixture.merge;
    fixture.store.write(fixture.scope.clone(), commit, |tx, commit| fill(tx, *commit).boxed()).await.unwrap();
    let report = fixture.check().await;
    assert_eq!((report.problems.as_slice(), report.unreferenced.unwrap().artifacts), ([].as_slice(), 1));
    let checked = report.checked;
    let counts = [checked.envelopes, checked.envelope_artifacts, checked.injections, checked.missing, checked.events];
    assert_eq!((counts, checked.journal_records), ([1, 2, 1, 1, 1], 19));
    fixture
}

fn id() -> EnvelopeId {
    EnvelopeId::of(b"document")
}

fn gap() -> MissingId {
    MissingId::of(b"gap")
}

fn injection_id() -> InjectionId {
    InjectionId::of(&id(), b"{}")
}

fn envelope(fault: EnvelopeFault) -> FsckProblem {
    FsckProblem::Envelope { envelope: id(), fault }
}

fn injection(fault: RecordFault) -> FsckProblem {
    FsckProblem::Injection { injection: injection_id(), fault }
}

fn missing(fault: RecordFault) -> FsckProblem {
    FsckProblem::Missing { missing: gap(), fault }
}

fn event(fault: RecordFault) -> FsckProblem {
    FsckProblem::Event { seq: 18, fault }
}

fn no_subject(seq: i64, kind: JournalKind, subject: &str) -> FsckProblem {
    FsckProblem::Journal { seq, fault: JournalFault::NoSubject { kind, subject: subject.to_owned() } }
}

#[tokio::test]
async fn each_changed_field_of_an_envelope_is_not_what_the_journal_says() {
    for change in ["stream = 'other'", "recipe = 'other'", "created_at = created_at + 1", "commit_id = NULL"] {
        let problems = fixture().await.problems_after(&format!("UPDATE envelopes SET {change}")).await;
        assert_eq!(problems, [envelope(EnvelopeFault::JournaledOtherwise)], "{change}");
    }
}

#[tokio::test]
async fn an_envelope_from_no_commit_is_found() {
    let problems = fixture().await.problems_after("UPDATE envelopes SET commit_id = zeroblob(16)").await;
    assert_eq!(problems, [envelope(EnvelopeFault::NoCommit { commit: CommitId::from_bytes([0; 16]) })]);
}

#[tokio::test]
async fn an_envelope_with_another_document_has_another_id() {
    let other = ArtifactId::of(b"input");
    let sql = "UPDATE envelopes SET document = (SELECT artifact FROM envelope_artifacts WHERE position = 0)";
    let problems = fixture().await.problems_after(sql).await;
    assert_eq!(problems, [envelope(EnvelopeFault::OtherId { expected: EnvelopeId::of_artifact(&other) })]);
}

#[tokio::test]
async fn lost_documents_and_artifacts_are_named() {
    let sql = "DELETE FROM artifacts WHERE digest IN (SELECT document FROM envelopes UNION \
               SELECT artifact FROM envelope_artifacts WHERE position = 1)";
    let problems = fixture().await.problems_after(sql).await;
    let expected = [
        envelope(EnvelopeFault::NoDocument { artifact: ArtifactId::of(b"document") }),
        envelope(EnvelopeFault::NoArtifact { artifact: ArtifactId::of(b"rendering") }),
    ];
    assert_eq!(problems, expected);
}

#[tokio::test]
async fn an_artifact_that_was_taken_from_an_envelope_is_noticed() {
    let problems = fixture().await.problems_after("DELETE FROM envelope_artifacts WHERE position = 1").await;
    assert_eq!(problems, [envelope(EnvelopeFault::JournaledOtherwise)]);
}

#[tokio::test]
async fn what_belonged_to_a_lost_envelope_is_named() {
    let problems = fixture().await.problems_after("DELETE FROM envelopes").await;
    let gone = || RecordFault::NoEnvelope { envelope: id() };
    let expected = [
        no_subject(15, JournalKind::EnvelopeCreated, &id().to_string()),
        FsckProblem::EnvelopeArtifact { seq: 15, artifact: ArtifactId::of(b"input") },
        FsckProblem::EnvelopeArtifact { seq: 15, artifact: ArtifactId::of(b"rendering") },
        injection(gone()),
        missing(gone()),
        event(gone()),
    ];
    assert_eq!(problems, expected);
}

#[tokio::test]
async fn an_envelope_that_cannot_be_read_is_found() {
    let problems = fixture().await.problems_after("UPDATE envelopes SET stream = ''").await;
    let what = "\"\" cannot be a stream: it is empty".to_owned();
    assert_eq!(problems, [envelope(EnvelopeFault::Unreadable { what })]);
    let problems =
        fixture().await.problems_after("UPDATE envelope_artifacts SET artifact = x'07' WHERE position = 1").await;
    let what = "an artifact id has the wrong length".to_owned();
    let key = "record 15, position 1".to_owned();
    assert_eq!(problems, [FsckProblem::Row { phase: Phase::EnvelopeArtifacts, key, what }]);
}

#[tokio::test]
async fn a_changed_injection_is_found() {
    let problems = fixture().await.problems_after("UPDATE injections SET document = '[]'").await;
    assert_eq!(problems, [injection(RecordFault::OtherId)]);
    let problems = fixture().await.problems_after("UPDATE injections SET created_at = 0").await;
    assert_eq!(problems, [injection(RecordFault::JournaledOtherwise)]);
    let problems = fixture().await.problems_after("UPDATE injections SET document = '{'").await;
    assert_eq!(problems, [injection(RecordFault::Unreadable { what: "a record is not JSON".to_owned() })]);
}

#[tokio::test]
async fn each_changed_field_of_missing_context_is_not_what_the_journal_says() {
    for change in [
        "status = 'open'",
        "severity = 'low'",
        "document = '{}'",
        "created_at = 0",
        "changed_at = 0",
        "envelope = NULL",
        "changed_seq = 17",
    ] {
        let problems = fixture().await.problems_after(&format!("UPDATE missing SET {change}")).await;
        assert_eq!(problems, [missing(RecordFault::JournaledOtherwise)], "{change}");
    }
    let problems = fixture().await.problems_after("UPDATE missing SET changed_seq = 99").await;
    assert_eq!(problems, [missing(RecordFault::NotJournaled)]);
}

#[tokio::test]
async fn an_event_with_other_json_is_not_what_the_journal_says() {
    let problems = fixture().await.problems_after("UPDATE events SET document = '{} '").await;
    assert_eq!(problems, [event(RecordFault::JournaledOtherwise)]);
    let problems = fixture().await.problems_after("UPDATE events SET document = ''").await;
    assert_eq!(problems, [event(RecordFault::Unreadable { what: "a record is not JSON".to_owned() })]);
}

#[tokio::test]
async fn an_event_elsewhere_in_the_journal_is_missed_and_found() {
    let problems = fixture().await.problems_after("UPDATE events SET seq = 2").await;
    let expected = [
        no_subject(18, JournalKind::Event(EventKind::AssemblyCreated), "it"),
        FsckProblem::Event { seq: 2, fault: RecordFault::JournaledOtherwise },
    ];
    assert_eq!(problems, expected);
    let problems = fixture().await.problems_after("UPDATE events SET seq = 99").await;
    let expected = [
        no_subject(18, JournalKind::Event(EventKind::AssemblyCreated), "it"),
        FsckProblem::Event { seq: 99, fault: RecordFault::NotJournaled },
    ];
    assert_eq!(problems, expected);
}

#[tokio::test]
async fn lost_records_are_missed_by_the_journal() {
    let problems =
        fixture().await.problems_after("DELETE FROM injections; DELETE FROM missing; DELETE FROM events").await;
    let expected = [
        no_subject(16, JournalKind::InjectionCreated, &injection_id().to_string()),
        no_subject(17, JournalKind::MissingCreated, &gap().to_string()),
        no_subject(18, JournalKind::Event(EventKind::AssemblyCreated), "it"),
        no_subject(19, JournalKind::MissingChanged, &gap().to_string()),
    ];
    assert_eq!(problems, expected);
}
