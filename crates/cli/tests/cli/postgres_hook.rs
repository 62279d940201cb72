//! Hooks whose server is away or silent.

use std::{
    net::TcpListener,
    time::{Duration, Instant},
};

use contexture_testkit::postgres::Proxy;

use crate::cli::harness::User;

#[test]
fn a_hook_keeps_what_a_server_cannot_take_and_hands_it_over_once_it_can() {
    let user = User::new();
    let backend = &user.place.backend;
    let proxy = Proxy::to(backend.server().port());
    let url = user.place.url().replace(&backend.server().port().to_string(), &proxy.port().to_string());
    let hear = |event: &str| {
        let start = Instant::now();
        let event = serde_json::json!({
            "hook_event_name": event, "session_id": "s-1", "transcript_path": user.path("session.jsonl"), "cwd": "/",
        });
        let ran = user.pipe(event.to_string(), &["--store", &url, "hook", "claude-code"]);
        assert_eq!((ran.code, ran.to_string().as_str()), (0, ""));
        start.elapsed()
    };
    user.session_line("user", "u1", None, "one");
    hear("Stop");
    proxy.refuse(true);
    // Each one is told at once that the server is away, and does not use up the two seconds that it has.
    user.session_line("assistant", "a1", Some("u1"), "two");
    assert!(hear("PostToolUse") < Duration::from_millis(1900));
    user.session_line("assistant", "a2", Some("a1"), "three");
    assert!(hear("Stop") < Duration::from_millis(1900));
    let before = user.read("session.jsonl");
    // The server is back, and the session's file is gone.
    proxy.refuse(false);
    std::fs::remove_file(user.path("session.jsonl")).unwrap();
    hear("SessionEnd");
    // Hooks leave a server alone for a while that did not answer; an import does not.
    assert_eq!(user.run(&["--store", &url, "import"]).code, 0);
    assert_eq!(user.run(&["materialize", "session/0c3f0000-0000-4000-8000-000000000000"]).stdout, before);
}

#[test]
fn a_hook_does_not_wait_for_a_server_that_says_nothing() {
    let user = User::new();
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("postgres://ada@127.0.0.1:{}/nowhere", silent.local_addr().unwrap().port());
    user.session_line("user", "u1", None, "one");
    let event = serde_json::json!({
        "hook_event_name": "Stop", "session_id": "s-1", "transcript_path": user.path("session.jsonl"), "cwd": "/",
    });
    let hear = || {
        let start = Instant::now();
        assert_eq!(user.pipe(event.to_string(), &["--store", &url, "hook", "claude-code"]).code, 0);
        start.elapsed()
    };
    assert!(hear() < Duration::from_secs(5));
    // The next one does not even try.
    assert!(hear() < Duration::from_secs(1));
}
