//! Connections that break at every point of a checkpoint: it happens once and whole, without the caller's help.

use std::time::{Duration, Instant};

use contexture::{Contexture, Error, LogStart, StoreError};
use contexture_capture::{Capture, ImportSettings, Verified};
use contexture_core::{Format, Machine, SpaceName};
use contexture_testkit::{
    Backend as _, assert_whole, head, noise,
    postgres::{PostgresBackend, Proxy},
    say, walked,
};

use crate::open;

/// A store reached through a proxy, and directly.
struct Setup {
    backend: PostgresBackend,
    proxy: Proxy,
    store: Contexture,
    direct: Contexture,
}

async fn setup(settings: &str) -> Setup {
    let backend = PostgresBackend::create().await;
    let direct = open(&backend.url()).await;
    let proxy = Proxy::to(backend.server().port());
    let port = |port: u16| format!("127.0.0.1:{port}/");
    let url = backend.url().replace(&port(backend.server().port()), &port(proxy.port()));
    let store = open(&format!("{url}{settings}")).await;
    Setup { backend, proxy, store, direct }
}

fn is_away(error: &Error) -> bool {
    matches!(error, Error::Store(StoreError::Lost { .. } | StoreError::Unreachable { .. }))
}

/// Whether what is cut is the first checkpoint on a connection or comes after others.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Connection {
    New,
    Used,
}

/// Cuts the connection after every so many bytes of a checkpoint, each time of another one.
async fn sweep(connection: Connection, cut: impl Fn(&Proxy, u64), length: impl Fn((u64, u64)) -> u64) {
    let Setup { backend: _backend, proxy, store, direct } = setup("").await;
    // Three, so that every statement is prepared.
    for n in 0..3 {
        say(&format!("warm {n}")).onto("main").commit(&store).await;
    }
    let before = length(proxy.counts());
    say("measured").onto("main").commit(&store).await;
    let bytes = length(proxy.counts()) - before;
    let mut made = 4;
    for at in (0..bytes + 40).step_by(usize::try_from(bytes / 60).unwrap().max(1)) {
        // After others a checkpoint is one statement, for which nothing needs to be asked.
        for n in (0..3).filter(|_| connection == Connection::Used) {
            say(&format!("before {at}, {n}")).onto("main").commit(&store).await;
            made += 1;
        }
        cut(&proxy, at);
        let id = say(&format!("cut {at}")).onto("main").commit(&store).await;
        made += 1;
        assert_eq!(direct.head(&head("main")).await.unwrap(), Some(id), "cut after {at} of {bytes} bytes");
        assert_eq!(direct.show(id).await.unwrap().depth + 1, made, "cut after {at} of {bytes} bytes");
    }
    let tip = direct.head(&head("main")).await.unwrap().unwrap();
    assert_eq!(walked(&direct, LogStart::Commits(vec![tip])).await.len() as u64, made);
    assert_whole(&direct, &SpaceName::new("default").unwrap()).await;
}

#[tokio::test]
async fn a_checkpoint_whose_request_is_cut_off_happens_once() {
    sweep(Connection::New, Proxy::cut_after_sent, |(sent, _)| sent).await;
}

#[tokio::test]
async fn a_later_checkpoint_whose_request_is_cut_off_happens_once() {
    sweep(Connection::Used, Proxy::cut_after_sent, |(sent, _)| sent).await;
}

#[tokio::test]
async fn a_checkpoint_whose_answer_is_cut_off_happens_once() {
    sweep(Connection::New, Proxy::cut_after_received, |(_, received)| received).await;
}

#[tokio::test]
async fn a_later_checkpoint_whose_answer_is_cut_off_happens_once() {
    sweep(Connection::Used, Proxy::cut_after_received, |(_, received)| received).await;
}

#[tokio::test]
async fn the_first_checkpoint_of_a_space_happens_once_too() {
    for at in (0..4000).step_by(250) {
        let Setup { backend: _backend, proxy, store, direct } = setup("").await;
        proxy.cut_after_received(at);
        say("first").onto("main").commit(&store).await;
        let tip = direct.head(&head("main")).await.unwrap().unwrap();
        assert_eq!(direct.show(tip).await.unwrap().depth, 0);
        assert_whole(&direct, &SpaceName::new("default").unwrap()).await;
    }
}

#[tokio::test]
async fn a_large_artifact_survives_lost_connections() {
    let Setup { backend: _backend, proxy, store, direct } = setup("").await;
    let content = noise("large", 2_000_000).into_bytes();
    for at in [0, 10_000, 400_000, 1_500_000, 1_990_000] {
        proxy.cut_after_sent(at);
        let stored = store.put_artifact(std::io::Cursor::new(content.clone())).await.unwrap();
        assert!(contexture_testkit::artifact(&direct, stored.id).await == content);
    }
}

#[tokio::test]
async fn an_imported_file_is_known_whatever_connection_was_lost() {
    let Setup { backend: _backend, proxy, store, direct } = setup("").await;
    let directory = tempfile::tempdir().unwrap();
    let settings = ImportSettings::new(Machine::new("laptop").unwrap(), "claude-code");
    for at in (0..6000).step_by(250) {
        let path = directory.path().join(format!("{at}.jsonl"));
        let line = format!(
            r#"{{"type":"user","uuid":"u","parentUuid":null,"sessionId":"s-{at}","message":{{"content":"go"}}}}"#
        );
        std::fs::write(&path, line + "\n").unwrap();
        proxy.cut_after_received(at);
        let format = Format::new("claude-code-v1").unwrap();
        Capture::new(&store).import_session(&path, format, &settings, &mut |_| {}).await.unwrap();
        let verified = Capture::new(&direct).verify_source(&settings.machine, &path).await.unwrap();
        assert!(matches!(verified, Verified::Same { left: 0, .. }), "cut after {at} bytes: {verified:?}");
    }
}

#[tokio::test]
async fn readers_recover_too() {
    let Setup { backend, proxy, store, direct: _direct } = setup("").await;
    let id = say("a").onto("main").commit(&store).await;
    proxy.cut();
    assert_eq!(store.head(&head("main")).await.unwrap(), Some(id));
    backend.terminate_connections();
    assert_eq!(walked(&store, LogStart::Commits(vec![id])).await, [id]);
    proxy.cut_after_received(100);
    assert_eq!(store.show(id).await.unwrap().id, id);
}

#[tokio::test]
async fn a_server_that_stays_away_is_an_error_in_time() {
    let Setup { backend: _backend, proxy, store, direct } = setup("&retry=1").await;
    let id = say("a").onto("main").commit(&store).await;
    proxy.refuse(true);
    proxy.cut();
    let start = Instant::now();
    let error = say("b").onto("main").send(&store).await.unwrap_err();
    assert!(is_away(&error), "{error:?}");
    let error = store.head(&head("main")).await.unwrap_err();
    assert!(is_away(&error), "{error:?}");
    assert!(start.elapsed() < Duration::from_secs(10));
    assert_eq!(direct.head(&head("main")).await.unwrap(), Some(id));
    proxy.refuse(false);
    say("c").onto("main").commit(&store).await;
}

#[tokio::test]
async fn a_retry_with_a_key_finds_what_a_lost_connection_hid() {
    let Setup { backend: _backend, proxy, store, direct } = setup("&retry=0").await;
    let draft = |n: u64| say(&format!("step {n}")).onto("main").key(&format!("key {n}"));
    for n in 0..3 {
        draft(n).commit(&store).await;
    }
    // As in each of the tries below: the connection is new, and a read has gone before.
    proxy.cut();
    store.head(&head("main")).await.unwrap();
    let before = proxy.counts().1;
    draft(3).commit(&store).await;
    let answer = proxy.counts().1 - before;
    let (mut lost, mut hidden) = (0, 0);
    // The last bytes are the answer to the commit.
    for (n, at) in (4..).zip((answer.saturating_sub(60)..answer).step_by(5)) {
        // There is a new connection, and once it is cut there will be no other.
        proxy.cut();
        store.head(&head("main")).await.unwrap();
        proxy.refuse(true);
        proxy.cut_after_received(at);
        let sent = draft(n).send(&store).await;
        // What is left of the allowance must not cut the connections that follow.
        proxy.cut_after_received(u64::MAX / 2);
        proxy.refuse(false);
        proxy.cut();
        if let Err(error) = &sent {
            assert!(is_away(error), "{error:?}");
            lost += 1;
            let tip = direct.head(&head("main")).await.unwrap().unwrap();
            hidden += u64::from(direct.show(tip).await.unwrap().depth == n);
        }
        let id = draft(n).commit(&store).await;
        assert_eq!(direct.head(&head("main")).await.unwrap(), Some(id));
        assert_eq!(direct.show(id).await.unwrap().depth, n);
    }
    assert!(lost > 0 && hidden > 0, "{lost} requests were lost, {hidden} of them after they were done");
}
