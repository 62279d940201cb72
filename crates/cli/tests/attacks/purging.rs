//! Content that was purged is nowhere any more.

use std::{collections::HashSet, fs, path::Path};

use contexture::core::ArtifactId;
use rusqlite::{Connection, params};

use crate::harness::{Ran, User};

/// What must be found nowhere: no two pieces of it are alike.
const CANARY: &str = "Zq7Xw2Lm9Rt4Kv1Bn8Hs3Jd6Fg5Py0Ca2Ue7Ti4W";
/// Shorter pieces of it occur by chance.
const PIECE: usize = 12;
const FINGERPRINT: [u8; 8] = [0x3f, 0x9c, 0x0a, 0x1b, 0x2c, 0x3d, 0x4e, 0x5f];
const FINGERPRINT_HEX: &str = "3f9c0a1b2c3d4e5f";

/// Returns a turn of Claude Code in which a user says something and is answered.
fn turn(number: usize, said: &str) -> String {
    let line = |role: &str, uuid: usize, parent: String, text: &str| {
        format!(
            r#"{{"type":"{role}","uuid":"00000000-0000-4000-8000-{uuid:012}","parentUuid":{parent},"sessionId":"s-1","timestamp":"2026-11-15T19:20:00Z","message":{{"role":"{role}","content":"{text}"}}}}"#
        )
    };
    let parent = |uuid: usize| match uuid {
        0 => "null".to_owned(),
        uuid => format!("\"00000000-0000-4000-8000-{:012}\"", uuid - 1),
    };
    let (asked, answered) = (2 * number, 2 * number + 1);
    [line("user", asked, parent(asked), said), line("assistant", answered, parent(answered), "Done."), String::new()]
        .join("\n")
}

/// Returns a user with three turns on `main`, of which the second holds the canary, a fork `review` from the first, an
/// index and an envelope that was made from all of it.
fn user() -> User {
    let user = User::new();
    for (number, said) in ["one fine day", &format!("the password is {CANARY} so there"), "three"].iter().enumerate() {
        user.file("turn.jsonl", turn(number, said));
        let summary = format!("asked: {said}");
        user.done(&[
            "checkpoint",
            "--format",
            "claude-code-v1",
            "--head",
            "main",
            "--session",
            "s-1",
            "--summary",
            &summary,
            "turn.jsonl",
        ]);
    }
    user.done(&["fork", "main~2", "--head", "review"]);
    user.file("turn.jsonl", turn(1, "another way"));
    user.done(&["checkpoint", "--format", "claude-code-v1", "--head", "review", "--session", "s-2", "turn.jsonl"]);
    user.done(&["search", "password"]);
    user.done(&["assemble", "resume", "--head", "main"]);
    assert!(is_somewhere(&user), "the canary is there before it is purged");
    user
}

/// Tells whether a piece of the canary is in a file of the store, in any case.
fn is_somewhere(user: &User) -> bool {
    holds(&user.path("store"), CANARY.as_bytes())
}

fn holds(directory: &Path, canary: &[u8]) -> bool {
    let files = fs::read_dir(directory).unwrap().map(|file| file.unwrap().path());
    files.into_iter().any(|file| {
        if file.is_dir() {
            return holds(&file, canary);
        }
        let bytes = fs::read(&file).unwrap().to_ascii_lowercase();
        let pieces: HashSet<Vec<u8>> = canary.windows(PIECE).map(<[u8]>::to_ascii_lowercase).collect();
        bytes.windows(PIECE).any(|piece| pieces.contains(piece))
    })
}

fn shows(ran: &Ran) -> bool {
    let said = format!("{}{}", ran.stdout, ran.stderr);
    CANARY.as_bytes().windows(PIECE).any(|piece| said.contains(std::str::from_utf8(piece).unwrap()))
}

/// Runs everything that reads, and makes sure that it goes on and shows nothing of the canary.
fn assert_readable(user: &User) {
    let envelope = user.done(&["envelope", "list", "--json"]);
    let envelope = envelope.lines().last().unwrap().split("\"id\":\"").nth(1).unwrap().split('"').next().unwrap();
    let reading: &[&[&str]] = &[
        &["log", "main"],
        &["log", "--all", "--graph"],
        &["list"],
        &["show", "main~1"],
        &["show", "main~1", "--entries"],
        &["cat", "main"],
        &["cat", "main", "--full", "--json"],
        &["materialize", "main"],
        &["materialize", "main", "--format", "codex-v1"],
        &["materialize", "main", "--tier", "rendered", "--format", "text"],
        &["assemble", "resume", "--head", "main"],
        &["search", "three"],
        &["stats"],
        &["journal"],
        &["head", "list"],
        &["fsck"],
        &["resume", "main", "--in", "codex", "--print"],
    ];
    for command in reading {
        let ran = user.run(command);
        assert_eq!(ran.code, 0, "{command:?}\n{ran}");
        assert!(!shows(&ran), "{command:?}\n{ran}");
    }
    for command in [&["envelope", "show", envelope][..], &["envelope", "replay", envelope], &["search", CANARY]] {
        let ran = user.run(command);
        assert!(ran.code <= 1, "{command:?}\n{ran}");
        assert!(!shows(&ran) || command[0] == "search", "{command:?}\n{ran}");
    }
    assert!(!is_somewhere(user), "reading brings nothing back");
}

#[test]
fn a_purged_turn_is_in_no_file_and_everything_else_goes_on() {
    let user = user();
    let artifact = user.done(&["show", "main~1", "--json"]);
    let artifact = artifact.split("\"artifact\":\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
    let bytes = user.done(&["materialize", "main"]);
    let looked = user.run(&["purge", "main~1", "--dry-run"]);
    assert!(looked.code == 0 && looked.stdout.contains("1 envelope") || looked.stdout.contains("env-"), "{looked}");
    assert!(is_somewhere(&user), "looking changes nothing");
    let unconfirmed = user.run(&["purge", "main~1"]);
    assert_eq!(unconfirmed.code, 2, "{unconfirmed}");
    assert!(is_somewhere(&user), "who is not sure changes nothing");

    let purged = user.run(&["purge", "main~1", "--yes", "--reason", "customer data"]);
    assert_eq!(purged.code, 0, "{purged}");
    assert!(!is_somewhere(&user), "{purged}");
    assert_readable(&user);

    let shown = user.done(&["show", "main~1"]);
    assert!(shown.contains("was purged by ada@laptop at 2026-11-15T20:10:00.000000Z: customer data"), "{shown}");
    let log = user.done(&["log", "main"]);
    assert!(log.contains("[purged: customer data]"), "{log}");
    let cat = user.done(&["cat", "main"]);
    assert!(cat.contains("one fine day") && cat.contains("three") && cat.contains("customer data"), "{cat}");
    let got = user.run(&["artifact", "get", &artifact]);
    assert!(got.code == 1 && got.stderr.contains("customer data"), "{got}");
    let materialized = user.run(&["materialize", "main"]);
    let left: Vec<&str> = bytes.lines().filter(|line| !line.contains(CANARY)).collect();
    assert!(materialized.stdout.lines().count() == left.len() - 1, "{materialized}");
    assert!(materialized.stderr.contains("content of 1 commit was purged"), "{materialized}");
    let translated = user.done(&["materialize", "main", "--format", "codex-v1"]);
    assert!(translated.contains("customer data") && translated.contains("three"), "{translated}");

    // The same bytes do not bring it back.
    user.file("turn.jsonl", turn(1, &format!("the password is {CANARY} so there")));
    user.done(&["checkpoint", "--format", "claude-code-v1", "--parent", "main~2", "turn.jsonl"]);
    assert!(!is_somewhere(&user), "a checkpoint of the same bytes leaves them purged");
    assert_eq!(user.run(&["fsck"]).code, 0);
}

#[test]
fn a_purged_large_turn_leaves_what_it_shares_with_others() {
    let user = User::new();
    let shared: String =
        (0..60_000u64).map(|n| n.wrapping_mul(0x9E37_79B9_7F4A_7C15).to_string()).collect::<Vec<_>>().join(" ");
    user.file("one.txt", format!("{shared}{CANARY}\n"));
    user.file("two.txt", format!("{shared}nothing\n"));
    user.done(&["checkpoint", "--format", "text", "--head", "one", "one.txt"]);
    user.done(&["checkpoint", "--format", "text", "--head", "two", "two.txt"]);
    assert!(is_somewhere(&user));
    user.done(&["purge", "one", "--yes"]);
    assert!(!is_somewhere(&user));
    assert_eq!(user.done(&["materialize", "two"]), user.read("two.txt").trim_end());
    assert_eq!(user.done(&["materialize", "one"]), "");
    user.done(&["fsck"]);
    user.done(&["checkpoint", "--format", "text", "--head", "again", "one.txt"]);
    user.done(&["purge", "--finish"]);
    assert!(!is_somewhere(&user), "large content stays purged too");
    user.done(&["fsck"]);
}

#[test]
fn a_purged_head_keeps_what_other_heads_lead_to() {
    let user = user();
    let purged = user.run(&["purge", "main", "--yes", "--reason", "gone"]);
    assert_eq!(purged.code, 0, "{purged}");
    assert!(!is_somewhere(&user));
    let cat = user.done(&["cat", "main"]);
    assert!(cat.contains("one fine day") && !cat.contains("three"), "{cat}");
    assert!(user.done(&["cat", "review"]).contains("another way"));
    assert_readable_after(&user, "main");
    user.done(&["purge", "review", "--all-of-it", "--yes"]);
    let cat = user.done(&["cat", "review"]);
    assert!(!cat.contains("one fine day") && !cat.contains("another way"), "{cat}");
}

fn assert_readable_after(user: &User, head: &str) {
    for command in [&["materialize", head][..], &["log", head], &["assemble", "resume", "--head", head], &["fsck"]] {
        let ran = user.run(command);
        assert!(ran.code == 0 && !shows(&ran), "{command:?}\n{ran}");
    }
}

#[test]
fn a_purged_session_takes_all_its_turns() {
    let user = user();
    user.done(&["purge", "session/s-1", "--yes"]);
    assert!(!is_somewhere(&user));
    let cat = user.done(&["cat", "review"]);
    assert!(!cat.contains("one fine day") && cat.contains("another way"), "{cat}");
    assert_readable_after(&user, "review");
}

#[test]
fn a_purged_secret_is_gone_wherever_it_is_and_what_surrounds_it_stays() {
    let user = user();
    // What a detector records.
    let database = Connection::open(user.path("store").join("contexture.db")).unwrap();
    let found: Vec<(i64, Vec<u8>)> = {
        let sql = "SELECT a.key, c.artifact FROM commits c JOIN artifacts a ON a.digest = c.artifact";
        let mut rows = database.prepare(sql).unwrap();
        rows.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap().map(Result::unwrap).collect()
    };
    let holder = turn(1, &format!("the password is {CANARY} so there"));
    let digest = ArtifactId::of(holder.as_bytes());
    let key = found.iter().find(|(_, id)| id.as_slice() == digest.as_bytes().as_slice()).unwrap().0;
    let start = i64::try_from(holder.find(CANARY).unwrap()).unwrap();
    let insert =
        "INSERT INTO findings (artifact, start, length, rule, fingerprint, cover) VALUES (?, ?, ?, 'test', ?, 'named')";
    database.execute(insert, params![key, start, i64::try_from(CANARY.len()).unwrap(), FINGERPRINT]).unwrap();
    database.execute("UPDATE artifacts SET has_findings = 1 WHERE key = ?", [key]).unwrap();
    drop(database);

    let purged = user.run(&["purge", "--secret", FINGERPRINT_HEX, "--yes", "--reason", "leaked"]);
    assert_eq!(purged.code, 0, "{purged}");
    assert!(!is_somewhere(&user), "{purged}");
    assert_readable(&user);
    let cat = user.done(&["cat", "main"]);
    let shown = format!("the password is [secret:test:{FINGERPRINT_HEX}] so there");
    assert!(cat.contains(&shown) && cat.contains("three"), "{cat}");
    assert!(user.done(&["log", "main"]).contains(&format!("asked: {shown}")));
    let show = user.done(&["show", "main~1"]);
    assert!(show.contains("was purged in part by ada@laptop") && show.contains("leaked"), "{show}");
    let found = user.done(&["search", "password"]);
    assert!(found.contains("[secret:test"), "{found}");
    assert!(user.run(&["materialize", "main"]).stderr.contains("content of 1 commit was purged"));

    let purged = user.run(&["purge", "main~1", "--yes"]);
    assert_eq!(purged.code, 0, "{purged}");
    assert!(!user.done(&["cat", "main"]).contains("the password is"), "what stood for it goes too");
    user.done(&["fsck"]);
}

#[test]
fn who_reads_an_older_state_keeps_a_purge_from_being_finished() {
    let user = user();
    let reader = Connection::open(user.path("store").join("contexture.db")).unwrap();
    reader.execute_batch("BEGIN; SELECT count(*) FROM artifacts").unwrap();
    let purged = user.run(&["purge", "main~1", "--yes"]);
    assert_eq!(purged.code, 1, "{purged}");
    assert!(purged.stderr.contains("ctx purge --finish"), "{purged}");
    assert!(!user.done(&["cat", "main"]).contains("password"), "it is gone for whoever asks the store");
    reader.execute_batch("COMMIT").unwrap();
    drop(reader);
    user.done(&["purge", "--finish"]);
    assert!(!is_somewhere(&user));
    user.done(&["fsck"]);
}

#[test]
fn a_session_that_was_written_to_be_resumed_keeps_nothing_of_what_is_purged() {
    let user = User::new();
    let home = user.path(".claude/projects/-");
    fs::create_dir_all(&home).unwrap();
    let turns: String = ["one fine day", &format!("the password is {CANARY} so there"), "three"]
        .iter()
        .enumerate()
        .map(|(number, said)| turn(number, said))
        .collect();
    let id = "5ec4e700-0000-4000-8000-000000000000";
    fs::write(home.join(format!("{id}.jsonl")), turns.replace("s-1", id)).unwrap();
    user.done(&["import"]);
    let session = format!("session/{id}");
    user.done(&["resume", &session, "--print", "--cwd", "."]);
    assert!(is_somewhere(&user));
    let purged = user.run(&["purge", &session, "--yes"]);
    assert_eq!(purged.code, 0, "{purged}");
    assert!(!is_somewhere(&user), "{purged}");
    assert_eq!(user.run(&["fsck"]).code, 0);
}
