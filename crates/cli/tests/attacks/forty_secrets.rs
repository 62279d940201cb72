//! A session with forty secrets: nothing shows one of them, all are listed, and what was purged is in no file.

use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    fs,
    path::Path,
};

use contexture_secrets::{ShapeCheck, families};
use rusqlite::{Connection, types::ValueRef};
use serde_json::{Value, json};

use crate::{
    generate::{Random, secret},
    harness::User,
};

/// How many secrets there are.
const SECRETS: usize = 40;
/// Shorter pieces of a secret occur by chance.
const PIECE: usize = 12;
const SESSION: &str = "40404040-0000-4000-8000-000000000000";
const HEAD: &str = "session/40404040-0000-4000-8000-000000000000";

/// A secret that nobody ever had.
struct Planted {
    rule: String,
    /// What must be seen nowhere.
    value: String,
    /// How it stands in text.
    text: String,
}

/// Returns forty secrets of forty kinds.
fn planted() -> Vec<Planted> {
    let mut random = Random::new(40);
    let mut planted = vec![key(&mut random), url(&mut random), escaped(&mut random)];
    let plain = families().filter(|family| {
        family
            .shapes
            .first()
            .is_some_and(|shape| matches!(shape.check, ShapeCheck::Shape | ShapeCheck::Mixed | ShapeCheck::Crc32))
    });
    for family in plain.take(SECRETS - planted.len()) {
        let value = secret(&family.shapes[0], &mut random);
        planted.push(Planted { rule: family.id.to_owned(), text: value.clone(), value });
    }
    assert_eq!(planted.iter().map(|planted| &planted.rule).collect::<BTreeSet<_>>().len(), SECRETS);
    planted
}

/// A private key of several lines.
fn key(random: &mut Random) -> Planted {
    let mut line = |length| random.text(contexture_secrets::Alphabet::ALNUM, length);
    let body = [line(64), line(64), line(64), line(40)].join("\n");
    let dashes = "-".repeat(5);
    let value =
        format!("{dashes}BEGIN RSA {kind}{dashes}\n{body}\n{dashes}END RSA {kind}{dashes}", kind = "PRIVATE KEY");
    Planted { rule: "private-key".to_owned(), text: value.clone(), value: body }
}

/// A password in an address.
fn url(random: &mut Random) -> Planted {
    let value = random.text(contexture_secrets::Alphabet::ALNUM, 24);
    Planted { rule: "url-password".to_owned(), text: format!("postgres://deploy:{value}@db.example/app"), value }
}

/// A value that some write otherwise in JSON.
fn escaped(random: &mut Random) -> Planted {
    let mut part = || random.text(contexture_secrets::Alphabet::ALNUM, 14);
    let value = format!("{}&{}", part(), part());
    Planted { rule: "assigned-password".to_owned(), text: format!("DB_PASSWORD='{value}'"), value }
}

/// Writes the records of a session one after the other.
struct Records {
    lines: String,
    parent: Value,
    count: usize,
}

impl Records {
    fn new() -> Self {
        Self { lines: String::new(), parent: Value::Null, count: 0 }
    }

    fn add(&mut self, role: &str, content: &Value) {
        let uuid = format!("00000000-0000-4000-8000-{:012}", self.count);
        let record = json!({
            "type": role, "uuid": uuid, "parentUuid": self.parent, "sessionId": SESSION,
            "timestamp": format!("2026-11-15T{:02}:{:02}:00.000Z", 10 + self.count / 60, self.count % 60), "cwd": "/",
            "version": "2.0.0", "message": { "role": role, "content": content },
        });
        self.parent = uuid.into();
        self.count += 1;
        self.lines.push_str(&record.to_string().replace('&', "\\u0026"));
        self.lines.push('\n');
    }

    fn call(&mut self, name: &str, input: &Value, result: &str) {
        let id = format!("call-{}", self.count);
        self.add("assistant", &json!([{"type": "tool_use", "id": id, "name": name, "input": input}]));
        self.add("user", &json!([{"type": "tool_result", "tool_use_id": id, "content": result}]));
    }
}

fn session_and_more(planted: &[Planted]) -> String {
    let mut records = records(planted);
    records.add("user", &"one more thing".into());
    records.add("assistant", &json!([{"type": "text", "text": "Done."}]));
    records.lines
}

fn session(planted: &[Planted]) -> String {
    records(planted).lines
}

/// Plants each secret in one of the places where text stands, and the first in three turns.
fn records(planted: &[Planted]) -> Records {
    let mut records = Records::new();
    for (number, Planted { text, .. }) in planted.iter().enumerate() {
        let plain = format!("step {number}");
        // A first line is shortened where it is told what a turn is about, maybe in the middle of a secret.
        let asked = if number % 6 == 0 { format!("{plain:185} {text} is it") } else { plain };
        records.add("user", &asked.into());
        match number % 6 {
            1 => records.add("assistant", &json!([{"type": "text", "text": format!("I use {text} now.")}])),
            2 => {
                let arguments = json!({"env": {"list": [format!("x {text} y")]}}).to_string();
                records.call("mcp__deploy", &json!({"arguments": arguments}), "done");
            }
            3 => records.call("Bash", &json!({"command": "env"}), &format!("HOME=/\nit={text}\n")),
            4 => {
                let (old, new) = ("nothing", format!("the {text} is new\n"));
                records.call("Edit", &json!({"file_path": "/a", "old_string": old, "new_string": new}), "done");
            }
            5 => records.add("assistant", &json!([{"type": "thinking", "thinking": format!("so {text} then")}])),
            _ => {}
        }
        records.add("assistant", &json!([{"type": "text", "text": "Done."}]));
    }
    for number in 0..2 {
        records.add("user", &format!("again {number}: {}", planted[0].text).into());
        records.add("assistant", &json!([{"type": "text", "text": "Done."}]));
    }
    records
}

fn user_with(planted: &[Planted], prepare: &[&[&str]]) -> User {
    let user = User::new();
    for command in prepare {
        user.done(command);
    }
    let home = user.path(".claude/projects/-");
    fs::create_dir_all(&home).unwrap();
    fs::write(home.join(format!("{SESSION}.jsonl")), session(planted)).unwrap();
    user.done(&["import"]);
    user.done(&["annotate", HEAD, "--summary", &format!("used {} here", planted[3].text)]);
    user.done(&["annotate", HEAD, "--label", &format!("note=used {} here", planted[4].text)]);
    user.done(&["assemble", "resume", "--head", HEAD, "--trigger", &format!("Use {}.", planted[3].text)]);
    user
}

/// Returns a piece of a secret that is shown, if one is.
fn piece_in(shown: &str, Planted { value, .. }: &Planted) -> Option<String> {
    let quoted = serde_json::to_string(value).unwrap();
    let forms = [value.as_str(), &quoted[1..quoted.len() - 1]];
    let pieces = forms.iter().flat_map(|form| form.as_bytes().windows(PIECE));
    let pieces = pieces.map(|piece| std::str::from_utf8(piece).unwrap());
    pieces.filter(|piece| shown.contains(piece)).map(str::to_owned).next()
}

fn assert_hidden(shown: &str, planted: &[Planted], what: &[&str]) {
    for one in planted {
        let piece = piece_in(shown, one);
        assert_eq!(piece, None, "{what:?} shows some of the {}:\n{shown}", one.rule);
    }
}

const SHOWING: &[&[&str]] = &[
    &["log", "--all"],
    &["log", "--all", "--graph"],
    &["list"],
    &["show", HEAD],
    &["show", HEAD, "--entries"],
    &["cat", HEAD],
    &["cat", HEAD, "--full"],
    &["search", "step"],
    &["search", "used"],
    &["materialize", HEAD],
    &["materialize", HEAD, "--format", "codex-v1"],
    &["assemble", "resume", "--head", HEAD],
    &["envelope", "list"],
    &["envelope", "show", "last", "--all"],
    &["envelope", "export", "last"],
    &["envelope", "replay", "last"],
    &["secrets", "list"],
    &["journal"],
    &["missing", "list"],
    &["head", "list"],
    &["stats"],
    &["export", "--all", "-o", "-"],
];

fn assert_nothing_shows(user: &User, planted: &[Planted]) {
    for command in SHOWING {
        for more in [&[][..], &["--json"]] {
            let ran = user.run(&[command, more].concat());
            assert_hidden(&format!("{}{}", ran.stdout, ran.stderr), planted, command);
        }
    }
}

/// Returns the fingerprints of secrets by their rules.
fn listed(user: &User) -> BTreeMap<String, String> {
    let listed = user.done(&["secrets", "list", "--json"]);
    let documents = listed.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let text = |document: &Value, name: &str| document[name].as_str().unwrap().to_owned();
    documents.map(|document| (text(&document, "rule"), text(&document, "fingerprint"))).collect()
}

/// Returns where a piece of a secret is, in any of the files below a directory or in a row of the store.
fn place_of(user: &User, planted: &Planted) -> Option<String> {
    let quoted = serde_json::to_string(&planted.value).unwrap();
    let twice = serde_json::to_string(&quoted).unwrap();
    let forms = [planted.value.as_str(), &quoted[1..quoted.len() - 1], &twice[3..twice.len() - 3]];
    let mut pieces: HashSet<Vec<u8>> =
        forms.iter().flat_map(|form| form.as_bytes().windows(PIECE)).map(<[u8]>::to_vec).collect();
    // Base64 depends on what stands before.
    for skipped in 0..3 {
        let whole = base64(&planted.value.as_bytes()[skipped..]);
        pieces.extend(whole.as_bytes().windows(16).map(<[u8]>::to_vec));
    }
    let beginnings: HashSet<[u8; 4]> = pieces.iter().map(|piece| piece[..4].try_into().unwrap()).collect();
    let holds = |bytes: &[u8]| {
        (0..bytes.len().saturating_sub(PIECE - 1)).any(|start| {
            beginnings.contains(&bytes[start..start + 4])
                && [PIECE, 16]
                    .iter()
                    .any(|length| bytes.get(start..start + length).is_some_and(|piece| pieces.contains(piece)))
        })
    };
    let mut directories = vec![user.path("store"), user.path(".local/state")];
    while let Some(directory) = directories.pop() {
        for file in fs::read_dir(&directory).into_iter().flatten() {
            let file = file.unwrap().path();
            if file.is_dir() {
                directories.push(file);
            } else if holds(&fs::read(&file).unwrap()) {
                return Some(file.display().to_string());
            }
        }
    }
    rows(&user.path("store").join("contexture.db")).into_iter().find(|(_, bytes)| holds(bytes)).map(|(name, _)| name)
}

/// Returns what all rows of a database hold, artifacts as they were before they were compressed.
fn rows(database: &Path) -> Vec<(String, Vec<u8>)> {
    let database = Connection::open(database).unwrap();
    let tables: Vec<String> = {
        let sql = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'passage_words%'";
        let mut tables = database.prepare(sql).unwrap();
        tables.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    };
    let mut found = Vec::new();
    for table in tables {
        let mut statement = database.prepare(&format!("SELECT * FROM {table}")).unwrap();
        let names: Vec<String> = statement.column_names().map(str::to_owned).collect();
        let mut rows = statement.query([]).unwrap();
        while let Some(row) = rows.next().unwrap() {
            let is_lz4 =
                names.iter().any(|name| name == "encoding") && row.get::<_, String>("encoding").unwrap() == "lz4";
            for (column, name) in names.iter().enumerate() {
                let bytes = match row.get_ref(column).unwrap() {
                    ValueRef::Blob(bytes) if is_lz4 && name == "body" => {
                        let size = usize::try_from(row.get::<_, i64>("size").unwrap()).unwrap();
                        lz4_flex::block::decompress(bytes, size).unwrap()
                    }
                    ValueRef::Text(bytes) | ValueRef::Blob(bytes) => bytes.to_vec(),
                    ValueRef::Null | ValueRef::Integer(_) | ValueRef::Real(_) => continue,
                };
                found.push((format!("{table}.{name}"), bytes));
            }
        }
    }
    found
}

fn base64(bytes: &[u8]) -> String {
    let digits: Vec<char> = ('A'..='Z').chain('a'..='z').chain('0'..='9').chain(['+', '/']).collect();
    let mut text = String::new();
    for three in bytes.chunks_exact(3) {
        let bits = three.iter().fold(0usize, |bits, byte| bits << 8 | usize::from(*byte));
        text.extend([18, 12, 6, 0].map(|shift| digits[bits >> shift & 63]));
    }
    text
}

#[test]
fn none_of_forty_secrets_is_shown_and_all_are_listed() {
    let planted = planted();
    let user = user_with(&planted, &[]);
    let listed = listed(&user);
    for Planted { rule, .. } in &planted {
        assert!(listed.contains_key(rule), "{rule} is not in {listed:?}");
    }
    assert_eq!(listed.len(), SECRETS, "{listed:?}");
    assert_nothing_shows(&user, &planted);
    user.done(&["fsck"]);
}

#[test]
fn a_purged_one_of_forty_secrets_is_in_no_file() {
    let planted = planted();
    let user = user_with(&planted, &[]);
    let listed = listed(&user);
    for one in &planted[..5] {
        assert!(place_of(&user, one).is_some(), "the {} is there before it is purged", one.rule);
        let looked = user.done(&["purge", "--secret", &listed[&one.rule], "--dry-run"]);
        assert!(looked.contains("a secret in"), "{looked}");
        user.done(&["purge", "--secret", &listed[&one.rule], "--yes"]);
        let place = place_of(&user, one);
        assert_eq!(place, None, "the {} is there after it was purged", one.rule);
    }
    assert_nothing_shows(&user, &planted);
    user.done(&["fsck"]);
    let exact = user.run(&["materialize", HEAD, "--reveal"]).stdout;
    assert!(planted[..5].iter().all(|one| piece_in(&exact, one).is_none()), "{exact}");
    assert!(planted[5..].iter().all(|one| piece_in(&exact, one).is_some()), "what else there is stays");
    // The session is the agent's and still has them; they do not come back, whether it has grown or was copied.
    let file = user.path(".claude/projects/-").join(format!("{SESSION}.jsonl"));
    fs::write(&file, session_and_more(&planted)).unwrap();
    user.done(&["import"]);
    assert!(user.done(&["cat", HEAD]).contains("one more thing"));
    user.file("copy.jsonl", session_and_more(&planted));
    user.done(&["import", "copy.jsonl"]);
    for one in &planted[..5] {
        assert_eq!(place_of(&user, one), None, "an import brings the {} back", one.rule);
    }
}

/// Returns how many patches of originals the store keeps.
fn patches(user: &User) -> i64 {
    let database = Connection::open(user.path("store").join("contexture.db")).unwrap();
    let sql = "SELECT count(*) FROM sealed_originals WHERE patch IS NOT NULL";
    database.query_row(sql, [], |row| row.get(0)).unwrap()
}

#[test]
fn the_original_of_a_purged_secret_is_gone_from_a_sealed_space() {
    let planted = planted();
    let user = user_with(&planted, &[&["secrets", "seal"]]);
    let listed = listed(&user);
    let exact = user.run(&["materialize", HEAD, "--reveal"]).stdout;
    assert!(planted.iter().all(|one| piece_in(&exact, one).is_some()));
    for one in &planted[..3] {
        let command = ["purge", "--secret", &listed[&one.rule]];
        let looked = user.done(&[&command[..], &["--dry-run"]].concat());
        assert!(looked.contains("the encrypted original of a secret in"), "{looked}");
        user.done(&[&command[..], &["--yes"]].concat());
        let exact = user.run(&["materialize", HEAD, "--reveal"]).stdout;
        assert_eq!(piece_in(&exact, one), None, "the {} is opened after it was purged", one.rule);
        assert!(exact.contains(&format!("[secret:{}:", one.rule)), "{exact}");
        let again = user.run(&[&command[..], &["--yes"]].concat());
        assert!(again.stderr.contains("nothing to purge"), "{again}");
    }
    let exact = user.run(&["materialize", HEAD, "--reveal"]).stdout;
    assert!(planted[3..].iter().all(|one| piece_in(&exact, one).is_some()), "what else there is stays");
    user.file("copy.jsonl", session(&planted));
    user.done(&["import", "copy.jsonl"]);
    let exact = user.run(&["materialize", HEAD, "--reveal"]).stdout;
    assert!(planted[..3].iter().all(|one| piece_in(&exact, one).is_none()), "an import brings an original back");
    assert_eq!(planted.iter().find_map(|one| place_of(&user, one)), None);
    user.done(&["fsck"]);

    // Who cannot open a patch can only destroy all of it.
    let before = patches(&user);
    user.done(&["secrets", "key", "--destroy", "--yes"]);
    let looked = user.done(&["purge", "--secret", &listed[&planted[6].rule], "--dry-run"]);
    assert!(looked.contains("this machine cannot open them"), "{looked}");
    assert_eq!(patches(&user), before, "looking changes nothing");
    user.done(&["purge", "--secret", &listed[&planted[6].rule], "--yes"]);
    assert_eq!(patches(&user), before - 1);
    user.done(&["purge", &format!("session/{SESSION}"), "--yes"]);
    assert_eq!(patches(&user), 0, "the originals of a session go with it");
    user.done(&["fsck"]);
}

#[test]
fn a_purged_session_of_a_sealed_space_stays_purged() {
    let planted = planted();
    let user = user_with(&planted, &[&["secrets", "seal"]]);
    user.done(&["purge", &format!("session/{SESSION}"), "--yes"]);
    assert_eq!(patches(&user), 0);
    user.file("copy.jsonl", session(&planted));
    user.done(&["import", "copy.jsonl"]);
    assert_eq!(patches(&user), 0, "an import brings the originals of purged content back");
    user.done(&["fsck"]);
}

#[test]
fn a_purged_session_leaves_none_of_its_secrets_in_any_file() {
    let planted = planted();
    let user = user_with(&planted, &[]);
    user.done(&["purge", &format!("session/{SESSION}"), "--yes"]);
    assert_eq!(planted.iter().find_map(|one| place_of(&user, one)), None);
    user.file("copy.jsonl", session(&planted));
    user.done(&["import", "copy.jsonl"]);
    assert_eq!(planted.iter().find_map(|one| place_of(&user, one)), None, "a copy brings it back");
    user.done(&["fsck"]);
}

#[test]
fn a_copy_of_a_session_brings_no_purged_secret_back() {
    let planted = planted();
    let user = user_with(&planted, &[]);
    // The last prompt holds it.
    user.done(&["purge", "--secret", &listed(&user)[&planted[0].rule], "--yes"]);
    assert_eq!(place_of(&user, &planted[0]), None);
    user.file("copy.jsonl", session(&planted));
    user.done(&["import", "copy.jsonl"]);
    assert_eq!(place_of(&user, &planted[0]), None, "a copy brings it back");
}

#[test]
fn what_waits_in_the_spool_is_purged_too() {
    let planted = planted();
    let user = user_with(&planted, &[]);
    let listed = listed(&user);
    let file = user.path(".claude/projects/-").join(format!("{SESSION}.jsonl"));
    let spool = || {
        let event = json!({
            "hook_event_name": "Stop", "session_id": SESSION, "transcript_path": file, "cwd": user.path("."),
        });
        // What stands where the store would be is no directory. The spool is of the store that is named.
        let store = user.path("store");
        fs::rename(&store, user.path("away")).unwrap();
        fs::write(&store, "").unwrap();
        assert_eq!(user.pipe(event.to_string(), &["hook", "claude-code"]).code, 0);
        fs::remove_file(&store).unwrap();
        fs::rename(user.path("away"), &store).unwrap();
    };
    for what in [["--secret", &listed[&planted[3].rule]].as_slice(), &[&format!("session/{SESSION}")]] {
        let mut records = records(&planted);
        records.add("user", &format!("this came late: {}", planted[3].text).into());
        fs::write(&file, records.lines).unwrap();
        spool();
        let holds = || user.path(".local/state/contexture/spool").exists() && in_state(&user, &planted[3]);
        assert!(holds(), "it waits in the spool");
        let looked = user.done(&[&["purge", "--dry-run"], what].concat());
        assert!(looked.contains("spool"), "{looked}");
        user.done(&[&["purge", "--yes"], what].concat());
        assert!(!holds(), "it waits in the spool after it was purged");
    }
}

/// Tells whether a file of the state directory holds a secret.
fn in_state(user: &User, planted: &Planted) -> bool {
    let mut directories = vec![user.path(".local/state")];
    while let Some(directory) = directories.pop() {
        for file in fs::read_dir(&directory).into_iter().flatten() {
            let file = file.unwrap().path();
            if file.is_dir() {
                directories.push(file);
            } else if piece_in(&String::from_utf8_lossy(&fs::read(&file).unwrap()), planted).is_some() {
                return true;
            }
        }
    }
    false
}
