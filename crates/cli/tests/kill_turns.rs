//! Agents that are killed at any moment of their turns: in the end every message was acknowledged, and once.

use std::{
    path::Path,
    process::{Child, Command, Output, Stdio},
    thread,
    time::Duration,
};

use contexture_testkit::Numbers;
use serde_json::Value;
use tempfile::TempDir;

/// Messages, about each of which at least one turn is begun.
const ROUNDS: usize = 200;

struct Room(TempDir);

impl Room {
    fn command(&self, hour: usize, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ctx"));
        let day = 1 + hour / 24;
        let time = format!("2026-{:02}-{:02}T{:02}:00:00Z", 1 + day / 28, 1 + day % 28, hour % 24);
        command.env_clear().env("HOME", self.0.path()).env("CTX_STORE", self.store()).env("CTX_TIME", time);
        command.env("CTX_PRINCIPAL", "ada").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.args(arguments);
        command
    }

    fn store(&self) -> std::path::PathBuf {
        Path::join(self.0.path(), "store")
    }

    fn start(&self, hour: usize, arguments: &[&str]) -> Child {
        self.command(hour, arguments).spawn().unwrap()
    }

    fn run(&self, hour: usize, arguments: &[&str]) -> Output {
        self.command(hour, arguments).output().unwrap()
    }

    fn done(&self, hour: usize, arguments: &[&str]) -> String {
        let Output { status, stdout, stderr } = self.run(hour, arguments);
        assert!(status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&stderr));
        String::from_utf8(stdout).unwrap()
    }
}

/// Waits for a program, or kills it before that.
fn end(mut program: Child, numbers: &mut Numbers, killed: &mut usize) -> Option<String> {
    if numbers.below(2) == 0 {
        thread::sleep(Duration::from_micros(numbers.below(40_000) as u64));
        // It may be done already.
        _ = program.kill();
        *killed += 1;
    }
    let Output { status, stdout, .. } = program.wait_with_output().unwrap();
    status.success().then(|| String::from_utf8(stdout).unwrap())
}

fn turn_id(printed: &str) -> Option<String> {
    let first: Value = serde_json::from_str(printed.lines().next()?).ok()?;
    Some(first["id"].as_str()?.to_owned())
}

#[test]
fn every_message_is_acknowledged_once_whatever_is_killed() {
    let room = Room(tempfile::tempdir().unwrap());
    room.done(0, &["channel", "create", "work", "--user", "ada", "--agent", "dev"]);
    let begin = ["channel", "turn", "begin", "work", "--agent", "dev", "--json"];
    let (mut numbers, mut killed) = (Numbers(0xc4a7), 0);
    for round in 0..ROUNDS {
        // Whoever was killed is given up after an hour.
        let hour = 2 * round;
        let text = format!("message {round}");
        room.done(hour, &["channel", "post", "work", "--from", "ada", "--text", &text]);
        let beside = (numbers.below(3) == 0).then(|| room.start(hour, &begin));
        let begun = end(room.start(hour, &begin), &mut numbers, &mut killed);
        let other = beside.and_then(|beside| end(beside, &mut numbers, &mut killed));
        let ids: Vec<String> = [begun, other].iter().flatten().filter_map(|printed| turn_id(printed)).collect();
        assert!(ids.len() < 2, "two hold the turn at once: {ids:?}");
        for id in ids {
            end(room.start(hour, &["channel", "turn", "finish", &id, "--ack"]), &mut numbers, &mut killed);
        }
    }
    assert!(killed > ROUNDS / 2, "only {killed} were killed");
    let last = 2 * ROUNDS;
    let ended = room.run(last, &begin);
    if ended.status.success() {
        let id = turn_id(&String::from_utf8(ended.stdout).unwrap()).unwrap();
        room.done(last, &["channel", "turn", "finish", &id, "--ack"]);
    }
    let journal = room.done(last, &["journal", "--json"]);
    let records = journal.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let begun = records.filter(|record| record["kind"] == "turn.begun");
    let mut acknowledged = Vec::new();
    for record in begun.collect::<Vec<_>>() {
        let id = record["subject"].as_str().unwrap();
        let turn: Value = serde_json::from_str(&room.done(last, &["channel", "turn", "show", id, "--json"])).unwrap();
        if turn["state"]["is"] == "acknowledged" {
            acknowledged.push((turn["after"].as_u64().unwrap_or(0), turn["state"]["through"].as_u64().unwrap()));
        }
    }
    assert!(acknowledged.len() > ROUNDS / 10, "{} turns ended well", acknowledged.len());
    let mut next = 0;
    for (after, through) in acknowledged {
        assert_eq!(after, next, "what was acknowledged before is where the next turn begins");
        next = through;
    }
    assert_eq!(next, ROUNDS as u64, "every message is acknowledged");
    room.done(last, &["fsck"]);
}
