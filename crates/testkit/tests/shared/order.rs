//! Whoever follows the journal misses nothing, however late a transaction commits.

use std::time::Duration;

use contexture_core::JournalKind;
use contexture_testkit::{Backend as _, journal, postgres::PostgresBackend, say};

use crate::{open, psql::Psql};

/// Waits until a statement says so many.
async fn until(backend: &PostgresBackend, sql: &str, count: &str) {
    for _ in 0..500 {
        if backend.server().psql(sql).trim() == count {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("{sql} never became {count}");
}

#[tokio::test]
async fn a_record_that_is_committed_late_is_not_overtaken() {
    let backend = PostgresBackend::create().await;
    let (slow, fast, follower) = (open(&backend.url()).await, open(&backend.url()).await, open(&backend.url()).await);
    say("a").onto("slow").commit(&slow).await;
    say("b").onto("fast").commit(&fast).await;
    let seen = follower.journal_tip().await.unwrap();

    // Somebody keeps the row of a head. A checkpoint onto it has its place in the journal and cannot commit.
    let mut holder = Psql::connect(&backend.server().url());
    let schema = backend.schema();
    holder.run(&format!("BEGIN; SELECT 1 FROM {schema}.heads WHERE name = 'slow' FOR UPDATE"));
    let late = tokio::spawn(async move { say("late").onto("slow").commit(&slow).await });
    let waiting = format!(
        "SELECT count(*) FROM pg_stat_activity WHERE application_name = '{schema}' AND wait_event_type = 'Lock'"
    );
    until(&backend, &waiting, "1").await;

    // Meanwhile another wants to commit. If it could, a follower would go past the record that is still to come.
    let early = tokio::spawn(async move { say("early").onto("fast").commit(&fast).await });
    until(&backend, &waiting, "2").await;
    assert!(!early.is_finished());
    assert_eq!(follower.journal_after(seen, 100).await.unwrap(), []);

    holder.run("COMMIT");
    let (late, early) = (late.await.unwrap(), early.await.unwrap());
    let records = follower.journal_after(seen, 100).await.unwrap();
    let numbers: Vec<u64> = records.iter().map(|record| record.seq).collect();
    assert_eq!(numbers, (seen + 1..=seen + 4).collect::<Vec<_>>());
    let created = records.iter().filter(|record| record.kind == JournalKind::CommitCreated);
    let created: Vec<_> = created.map(|record| record.subject.clone()).collect();
    assert_eq!(created, [late.to_string(), early.to_string()]);
    assert_eq!(journal(&follower).await.len() as u64, seen + 4);
}

#[tokio::test]
async fn writers_of_other_spaces_do_not_wait() {
    let backend = PostgresBackend::create().await;
    let url = backend.url();
    let store = open(&url).await;
    say("a").onto("main").commit(&store).await;
    let mut holder = Psql::connect(&backend.server().url());
    holder.run(&format!("BEGIN; SELECT 1 FROM {}.spaces WHERE name = 'default' FOR UPDATE", backend.schema()));
    let held = tokio::spawn({
        let store = store.clone();
        async move { say("b").onto("main").commit(&store).await }
    });
    let harness = contexture_testkit::Harness { backend, clock: contexture_testkit::TestClock::fixed() };
    let elsewhere = harness.open_as("tester", "elsewhere").await;
    say("c").onto("main").commit(&elsewhere).await;
    assert!(!held.is_finished());
    holder.run("COMMIT");
    held.await.unwrap();
}
