//! Removing what nothing refers to, beside those who write.

use std::{io::Write as _, process::Stdio};

use contexture_testkit::noise;
use serde_json::Value;

use crate::harness::User;

/// When what was stored at the usual time is old.
const LATER: &str = "2026-11-17T20:10:00Z";

fn later(user: &User, arguments: &[&str]) -> String {
    let ran = user.ran(user.command(arguments).env("CTX_TIME", LATER).output());
    assert_eq!(ran.code, 0, "{arguments:?}\n{ran}");
    ran.stdout + &ran.stderr
}

/// Returns what a check counts that nothing refers to.
fn unreferenced(user: &User) -> u64 {
    let report: Value = serde_json::from_str(&user.done(&["--json", "fsck"])).unwrap();
    assert_eq!(report["problems"], Value::Array(Vec::new()));
    report["unreferenced"]["artifacts"].as_u64().unwrap()
}

/// Kills a program that stores large content once some pieces of it are stored.
fn kill_in_the_middle(user: &User, seed: &str) {
    let before = unreferenced(user);
    let arguments = ["checkpoint", "--format", "text", "--head", "main", "-"];
    let mut child = user.command(&arguments).stdin(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(noise(seed, 12 << 20).as_bytes()).unwrap();
    // The content has no end yet, so nothing refers to the pieces.
    while unreferenced(user) == before {}
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn what_killed_programs_left_goes_and_all_that_was_acknowledged_stays() {
    let user = User::with_history();
    user.file("large.txt", noise("kept", 2 << 20));
    user.done(&["checkpoint", "--format", "text", "--head", "large", "large.txt"]);
    let alone = user.done(&["artifact", "put", "large.txt"]);
    let before = unreferenced(&user);
    kill_in_the_middle(&user, "one");
    kill_in_the_middle(&user, "other");
    let left = unreferenced(&user);
    assert!(left > before);
    let heads = user.done(&["head", "list"]);
    let young = user.run(&["gc"]);
    assert!(young.stderr.contains("may be too young to judge"), "{young}");
    assert!(later(&user, &["gc", "--dry-run"]).contains("Would remove"));
    assert_eq!(unreferenced(&user), left);
    let done: Value = serde_json::from_str(&later(&user, &["--json", "gc"])).unwrap();
    assert_eq!(done["artifacts"].as_u64().unwrap(), left - before);
    assert_eq!(unreferenced(&user), before);
    assert_eq!(user.done(&["head", "list"]), heads);
    assert_eq!(user.done(&["materialize", "large"]), user.read("large.txt"));
    assert_eq!(user.done(&["artifact", "get", &alone]), user.read("large.txt"));
    let main = user.done(&["log", "main", "--json"]);
    assert_eq!(main.lines().count(), 5, "{main}");
}

#[test]
fn a_grace_that_is_too_short_for_others_is_named() {
    let user = User::with_history();
    let ran = user.run(&["gc", "--grace", "0s"]);
    assert_eq!(ran.code, 0, "{ran}");
    assert!(ran.stderr.contains("whoever is storing large content now"), "{ran}");
    assert_eq!(user.run(&["gc", "--grace", "soon"]).code, 2);
    assert_eq!(user.run(&["gc", "--shrink", "--dry-run"]).code, 2);
}

#[test]
fn a_longer_grace_keeps_what_is_younger() {
    let user = User::new();
    kill_in_the_middle(&user, "one");
    let left = unreferenced(&user);
    // Two days have passed.
    assert!(later(&user, &["gc", "--grace", "7d"]).contains("may be too young to judge"));
    assert_eq!(unreferenced(&user), left);
    later(&user, &["gc", "--grace", "1d"]);
    assert_eq!(unreferenced(&user), 0);
}

#[test]
fn the_room_goes_back_to_the_disk_when_somebody_says_so() {
    let user = User::with_history();
    kill_in_the_middle(&user, "one");
    let bytes = |document: &str, field: &str| serde_json::from_str::<Value>(document).unwrap()["files"][field].as_u64();
    let kept = later(&user, &["--json", "gc"]);
    let shrunk = later(&user, &["--json", "gc", "--shrink"]);
    assert!(bytes(&shrunk, "database_bytes") < bytes(&kept, "database_bytes"), "{kept}{shrunk}");
    assert_eq!(unreferenced(&user), 0);
    assert_eq!(user.done(&["log", "main", "--json"]).lines().count(), 5);
}
