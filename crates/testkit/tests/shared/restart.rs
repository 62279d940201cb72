//! A server that restarts under load.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use contexture::{Contexture, LogStart};
use contexture_core::{CommitId, SpaceName};
use contexture_testkit::{
    assert_whole, head,
    postgres::{PostgresServer, Shutdown},
    say, walked,
};

use crate::open;

const WRITERS: usize = 6;

/// Checks in onto a head of its own until it is told to stop, and returns what was acknowledged.
async fn write(store: Contexture, name: String, stop: Arc<AtomicBool>) -> Vec<CommitId> {
    let mut acknowledged = Vec::new();
    while !stop.load(Ordering::Relaxed) {
        let text = format!("{name} {}", acknowledged.len());
        acknowledged.push(say(&text).onto(&name).commit(&store).await);
    }
    acknowledged
}

#[tokio::test]
async fn nothing_that_was_acknowledged_is_lost_or_made_twice() {
    let server = Arc::new(PostgresServer::start());
    let stop = Arc::new(AtomicBool::new(false));
    let mut writers = Vec::new();
    for n in 0..WRITERS {
        // Some share a handle, as the threads of a program do; others are programs of their own.
        let store = open(&server.url()).await;
        for twin in 0..2 {
            writers.push(tokio::spawn(write(store.clone(), format!("head-{n}-{twin}"), Arc::clone(&stop))));
        }
    }
    for mode in [Shutdown::Fast, Shutdown::Immediate, Shutdown::Fast, Shutdown::Immediate] {
        tokio::time::sleep(Duration::from_millis(400)).await;
        let server = Arc::clone(&server);
        tokio::task::spawn_blocking(move || server.restart(mode)).await.unwrap();
    }
    tokio::time::sleep(Duration::from_millis(400)).await;
    stop.store(true, Ordering::Relaxed);
    let store = open(&server.url()).await;
    let mut commits = 0;
    for (n, writer) in writers.into_iter().enumerate() {
        let mut acknowledged = writer.await.unwrap();
        commits += acknowledged.len();
        let name = format!("head-{}-{}", n / 2, n % 2);
        assert!(acknowledged.len() > 4, "{name} wrote only {}", acknowledged.len());
        let tip = store.head(&head(&name)).await.unwrap().unwrap();
        acknowledged.reverse();
        assert_eq!(walked(&store, LogStart::Commits(vec![tip])).await, acknowledged, "{name}");
    }
    let found = assert_whole(&store, &SpaceName::new("default").unwrap()).await;
    assert_eq!(found.commits.len(), commits);
}
