//! Programs that write at once while another follows.

use std::{collections::HashSet, path::Path, thread, time::Duration};

use contexture::Contexture;
use contexture_core::{CommitId, JournalKind};
use contexture_testkit::{Backend as _, postgres::PostgresBackend};

use crate::{
    open,
    writer::{Answer, Writer},
};

const PROCESSES: usize = 4;
const COMMITS: usize = 150;

/// Follows the journal until so many commits were made. No number may be missing and none may come twice.
async fn follow(store: Contexture, commits: usize) -> Vec<CommitId> {
    let (mut seq, mut seen) = (0, Vec::new());
    while seen.len() < commits {
        let page = store.journal_after(seq, 7).await.unwrap();
        if page.is_empty() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        for record in page {
            assert_eq!(record.seq, seq + 1);
            seq = record.seq;
            if record.kind == JournalKind::CommitCreated {
                seen.push(record.subject.parse().unwrap());
            }
        }
    }
    seen
}

#[tokio::test]
async fn a_follower_sees_every_commit_of_every_program_once_and_in_order() {
    let backend = PostgresBackend::create().await;
    let store = open(&backend.url()).await;
    let url = backend.url();
    let writers: Vec<_> = (0..PROCESSES)
        .map(|n| {
            let url = url.clone();
            thread::spawn(move || {
                let count = COMMITS.to_string();
                let mut writer = Writer::start(Path::new(&url), &format!("head-{n}"), &["loop", &count, "1", "500"]);
                writer.rest()
            })
        })
        .collect();
    let seen = tokio::time::timeout(Duration::from_mins(2), follow(store, PROCESSES * COMMITS)).await.unwrap();
    let mut position = HashSet::new();
    for writer in writers {
        let acknowledged: Vec<CommitId> = writer.join().unwrap().iter().filter_map(Answer::ack).collect();
        assert_eq!(acknowledged.len(), COMMITS);
        let places: Vec<usize> =
            acknowledged.iter().map(|id| seen.iter().position(|other| other == id).unwrap()).collect();
        assert!(places.is_sorted(), "a program's own commits come in the order in which it made them");
        position.extend(places);
    }
    assert_eq!(position.len(), seen.len());
}
