//! Input of any size and shape: memory stays bounded, and what a limit turned away is told.

use std::{
    fs::{self, File},
    io::{Read as _, Write as _},
    path::Path,
    process::{Command, Stdio},
    time::Duration,
};

use contexture_testkit::noise;
use serde_json::json;

use crate::harness::User;

/// Most memory that any of it may take.
const MAX_RESIDENT: u64 = 200 * 1024 * 1024;
const MIB: usize = 1024 * 1024;

/// How a program ended that was watched.
struct Watched {
    code: i32,
    stdout: String,
    stderr: String,
    peak: u64,
}

impl User {
    /// Runs a command and notes the most memory it had.
    fn watched(&self, arguments: &[&str]) -> Watched {
        self.watch(&mut self.command(arguments))
    }

    fn watch(&self, command: &mut Command) -> Watched {
        let (stdout, stderr) = (self.path("watched.out"), self.path("watched.err"));
        let mut child =
            command.stdout(File::create(&stdout).unwrap()).stderr(File::create(&stderr).unwrap()).spawn().unwrap();
        let mut peak = 0;
        let status = loop {
            peak = peak.max(peak_of(child.id()));
            match child.try_wait().unwrap() {
                Some(status) => break status,
                None => std::thread::sleep(Duration::from_millis(1)),
            }
        };
        let text = |path: &Path| {
            let mut bytes = Vec::new();
            File::open(path).unwrap().take(MIB as u64).read_to_end(&mut bytes).unwrap();
            String::from_utf8_lossy(&bytes).into_owned()
        };
        Watched { code: status.code().unwrap_or(-1), stdout: text(&stdout), stderr: text(&stderr), peak }
    }

    /// Runs a command that must succeed in bounded memory and returns what it said.
    fn bounded(&self, arguments: &[&str]) -> String {
        let Watched { code, stdout, stderr, peak } = self.watched(arguments);
        assert!(peak < MAX_RESIDENT, "{arguments:?}: {} MiB\n{stderr}", peak / MIB as u64);
        assert_eq!(code, 0, "{arguments:?}\n{stdout}{stderr}");
        println!("{:>4} MiB {arguments:?}", peak / MIB as u64);
        format!("{stdout}{stderr}")
    }

    /// Takes a session in, reads it in every way there is, and returns what import said.
    fn lived_through(&self, session: &str) -> String {
        let path = self.path(session);
        let path = path.to_str().unwrap();
        let said = self.bounded(&["import", path]);
        assert!(self.bounded(&["import", "--verify", path]).contains("Byte for byte the same: 1 file"));
        let head = format!("session/{SESSION}");
        for command in [
            &["cat", &head][..],
            &["log", &head],
            &["show", &head, "--entries"],
            &["search", "needle"],
            &["assemble", "resume", "--head", &head, "--trigger", "Go on."],
            &["materialize", &head, "--stop", "root", "-o", "out.jsonl"],
            &["doctor"],
        ] {
            let Watched { stdout, stderr, peak, code } = self.watched(command);
            println!("{:>4} MiB {command:?}", peak / MIB as u64);
            assert!(peak < MAX_RESIDENT, "{command:?}: {} MiB", peak / MIB as u64);
            assert!(code == 0 || command == ["doctor"], "{command:?}\n{stdout}{stderr}");
        }
        said
    }
}

const SESSION: &str = "0c3f0000-0000-4000-8000-000000000000";

/// Reads the most memory that a process has had.
fn peak_of(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    kilobytes.unwrap_or(0) * 1024
}

fn record(number: usize, content: &serde_json::Value) -> String {
    let parent = number.checked_sub(1).map(|before| format!("u{before}"));
    let line = json!({
        "type": if number.is_multiple_of(2) { "user" } else { "assistant" }, "uuid": format!("u{number}"),
        "parentUuid": parent, "sessionId": SESSION, "timestamp": "2026-11-15T20:00:00.000Z",
        "message": {"role": if number.is_multiple_of(2) { "user" } else { "assistant" }, "content": content},
    });
    format!("{line}\n")
}

/// Writes a session whose second record has a text of a length.
fn with_long_record(sink: &mut dyn std::io::Write, length: usize) {
    sink.write_all(record(0, &json!("the first needle")).as_bytes()).unwrap();
    let long = record(1, &json!([{"type": "text", "text": "@"}]));
    let (before, after) = long.split_once('@').unwrap();
    sink.write_all(before.as_bytes()).unwrap();
    let piece = vec![b'x'; MIB];
    for _ in 0..length / MIB {
        sink.write_all(&piece).unwrap();
    }
    sink.write_all(after.as_bytes()).unwrap();
    sink.write_all(record(2, &json!("the last needle")).as_bytes()).unwrap();
}

#[test]
fn a_long_record_is_kept_and_named_and_not_read() {
    let user = User::new();
    with_long_record(&mut File::create(user.path("session.jsonl")).unwrap(), 128 * MIB);
    let said = user.lived_through("session.jsonl");
    assert!(said.contains("line 2 is 134.2 MB long, more than 16.8 MB; kept as it is, not read"), "{said}");
    let told = user.done(&["cat", &format!("session/{SESSION}")]);
    assert!(told.contains("was not read"), "{told}");
    assert!(told.contains("the first needle") && told.contains("the last needle"), "{told}");
    assert!(same(&user.path("session.jsonl"), &user.path("out.jsonl")));
    // A second import finds nothing new, and a line that is added goes onto the chain.
    let journal = user.journal();
    user.bounded(&["import", user.path("session.jsonl").to_str().unwrap()]);
    assert_eq!(user.journal(), journal);
    let more = record(3, &json!([{"type": "text", "text": "after it"}]));
    File::options().append(true).open(user.path("session.jsonl")).unwrap().write_all(more.as_bytes()).unwrap();
    user.bounded(&["import", user.path("session.jsonl").to_str().unwrap()]);
    assert!(user.done(&["cat", &format!("session/{SESSION}")]).contains("after it"));
    for format in ["codex-v1", "text", "openai-chat-v1"] {
        let head = format!("session/{SESSION}");
        user.bounded(&["materialize", &head, "--format", format, "-o", "other"]);
        assert!(user.read("other").contains("was not read"), "{format}");
    }
}

fn same(one: &Path, other: &Path) -> bool {
    Command::new("cmp").arg(one).arg(other).stdout(Stdio::null()).status().unwrap().success()
}

#[test]
fn several_sessions_of_large_records_take_no_more_than_one() {
    let user = User::new();
    let text = noise("large", 15 * MIB);
    let mut named = vec!["import".to_owned(), "--runtime".to_owned(), "claude-code".to_owned()];
    for session in 0..4 {
        let path = user.path(format!("0c3f0000-0000-4000-8000-{session:012}.jsonl"));
        let mut file = File::create(&path).unwrap();
        for number in 0..4 {
            // Each is another one.
            let (end, start) = text.split_at((session * 4 + number) * MIB / 2);
            file.write_all(record(number, &json!(format!("{start}{end}"))).as_bytes()).unwrap();
        }
        named.push(path.to_str().unwrap().to_owned());
    }
    let named: Vec<&str> = named.iter().map(String::as_str).collect();
    user.bounded(&named);
    user.bounded(&["import", "--verify"]);
}

#[test]
fn a_sparse_file_without_a_line_feed_is_kept() {
    let user = User::new();
    let mut session = File::create(user.path("session.jsonl")).unwrap();
    session.write_all(record(0, &json!("the first needle")).as_bytes()).unwrap();
    session.set_len(1 << 29).unwrap();
    let said = user.bounded(&["import", user.path("session.jsonl").to_str().unwrap()]);
    assert!(said.contains("line 2 is 536.9 MB long"), "{said}");
    user.bounded(&["materialize", &format!("session/{SESSION}"), "-o", "out.jsonl"]);
    assert!(same(&user.path("session.jsonl"), &user.path("out.jsonl")));
}

#[test]
fn a_small_file_that_unpacks_to_much_is_cut_off_with_a_report() {
    let user = User::new();
    let packed = File::create(user.path("session.jsonl.zst")).unwrap();
    let mut packing = Command::new("zstd").args(["-q", "-c"]).stdin(Stdio::piped()).stdout(packed).spawn().unwrap();
    with_long_record(packing.stdin.as_mut().unwrap(), 3072 * MIB);
    drop(packing.stdin.take());
    assert!(packing.wait().unwrap().success());
    let size = fs::metadata(user.path("session.jsonl.zst")).unwrap().len();
    assert!(size < 400_000, "{size}");
    let said = user.bounded(&["import", user.path("session.jsonl.zst").to_str().unwrap()]);
    assert!(said.contains("unpacks to more than"), "{said}");
    assert!(user.done(&["cat", &format!("session/{SESSION}")]).contains("the first needle"));
    user.bounded(&["import", "--verify", user.path("session.jsonl.zst").to_str().unwrap()]);
    user.watched(&["doctor"]);
}

#[test]
fn records_that_would_grow_when_they_are_read_are_not_read() {
    let user = User::new();
    let call = |input: &str| {
        let line = record(1, &json!([{"type": "tool_use", "id": "c", "name": "t", "input": "@"}]));
        line.replace("\"@\"", input)
    };
    let inputs = [
        format!("{{\"a\":[{}0]}}", "0,".repeat(5 * MIB)),
        format!("{{\"a\":[{}0]}}", "{\"\":0},".repeat(MIB)),
        format!("{{\"a\":{}{}}}", "[".repeat(2 * MIB), "]".repeat(2 * MIB)),
        format!("{{{}\"z\":0}}", (0..MIB).map(|key| format!("\"{key:x}\":0,")).collect::<Vec<_>>().concat()),
    ];
    for input in inputs {
        let lines = [record(0, &json!("the first needle")), call(&input), record(2, &json!("the last needle"))];
        user.file("session.jsonl", lines.concat());
        let said = user.lived_through("session.jsonl");
        assert!(said.contains("kept as it is, not read") || said.contains("no record"), "{said}");
        assert!(same(&user.path("session.jsonl"), &user.path("out.jsonl")));
        fs::remove_dir_all(user.path("store")).unwrap();
    }
}

#[test]
fn many_records_that_each_grow_a_little_are_told_as_far_as_they_fit() {
    let user = User::new();
    let grown = format!("{{\"a\":[{}0]}}", "{\"\":0},".repeat(8 * 1024));
    let mut session = File::create(user.path("session.jsonl")).unwrap();
    session.write_all(record(0, &json!("the first needle")).as_bytes()).unwrap();
    for number in 0..300 {
        let line = record(1, &json!([{"type": "tool_use", "id": "c", "name": "t", "input": "@"}]));
        let line = line.replace("\"u1\"", &format!("\"a{number}\"")).replace("\"@\"", &grown);
        session.write_all(line.as_bytes()).unwrap();
    }
    user.lived_through("session.jsonl");
    assert!(same(&user.path("session.jsonl"), &user.path("out.jsonl")));
}

#[test]
fn many_tiny_records_take_no_more_than_few_large_ones() {
    let user = User::new();
    let mut session = File::create(user.path("session.jsonl")).unwrap();
    session.write_all(record(0, &json!("the first needle")).as_bytes()).unwrap();
    session.write_all("{}\n".repeat(3 * MIB).as_bytes()).unwrap();
    user.lived_through("session.jsonl");
    assert!(same(&user.path("session.jsonl"), &user.path("out.jsonl")));
}

#[test]
fn a_long_document_is_kept_and_not_read() {
    let user = User::new();
    let mut session = File::create(user.path("session.json")).unwrap();
    let begin = format!("{{\"sessionId\":\"{SESSION}\",\"startTime\":\"2026-11-15T20:00:00.000Z\",\"messages\":[");
    session.write_all(begin.as_bytes()).unwrap();
    let content = "x".repeat(MIB);
    for number in 0..150 {
        let message = json!({"id": format!("m{number}"), "type": "user", "content": content});
        let comma = if number == 0 { "" } else { "," };
        write!(session, "{comma}{message}").unwrap();
    }
    session.write_all(b"]}").unwrap();
    let path = user.path("session.json");
    let said = user.bounded(&["import", "--runtime", "gemini", path.to_str().unwrap()]);
    assert!(said.contains("kept as it is, not read"), "{said}");
    user.bounded(&["import", "--verify", "--runtime", "gemini", path.to_str().unwrap()]);
}

#[test]
fn content_of_any_size_that_was_checked_in_is_told_in_bounded_memory() {
    let user = User::new();
    with_long_record(&mut File::create(user.path("turn.jsonl")).unwrap(), 128 * MIB);
    user.bounded(&["checkpoint", "--format", "claude-code-v1", "--head", "main", "turn.jsonl"]);
    for command in [
        &["cat", "main"][..],
        &["show", "main", "--entries"],
        &["search", "needle"],
        &["materialize", "main", "-o", "out.jsonl"],
        &["materialize", "main", "--format", "text", "-o", "out.txt"],
    ] {
        user.bounded(command);
    }
    assert!(user.read("out.txt").contains("the last needle"));
}
