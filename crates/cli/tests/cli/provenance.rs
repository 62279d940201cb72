//! How often lines are led back to the right session after all that is done to repositories: a measurement with a
//! repository whose every line has a known author.

use std::{collections::BTreeMap, fmt::Write as _, fs};

use insta::assert_snapshot;
use serde_json::{Value, json};

use super::blame::Developer;

/// Files as they are in the end. Each line begins with who made it: the sessions `a`, `b` and `c`, or a person `h`.
const CLIENT: &str = "\
a pub struct Client {
a     address: String,
a     retries: u32,
a }
a
a impl Client {
a     pub fn connect(&self) -> Result<Stream> {
b         for attempt in 0..self.retries {
b             if let Ok(stream) = Stream::open(&self.address) {
b                 return Ok(stream);
b             }
b             wait_before(attempt);
b         }
h         log::warn!(\"gave up on {}\", self.address);
a         Err(Error::Unreachable)
a     }
a }
";
const SERVER: &str = "\
c use std::net::TcpListener;
c
c pub fn serve(port: u16) -> Result<()> {
c     let listener = TcpListener::bind((\"0.0.0.0\", port))?;
h     // One after the other: see the notes.
c     for stream in listener.incoming() {
c         answer(stream?)?;
c     }
c     Ok(())
c }
";
const AMENDED: &str = "\
a pub fn wait_before(attempt: u32) {
a     std::thread::sleep(backoff(attempt));
a }
h
h pub fn backoff(attempt: u32) -> Duration {
h     Duration::from_millis(100 << attempt)
h }
";
const FORMATTED: &str = "\
b function greet(name, mood) {
b     const text = \"Hello \" + name + \", you are \" + mood;
b     return text.trim();
b }
b const table = {
b     one: 1,
b     two: 2,
b     three: 3,
b     four: 4,
b };
h // Written by hand below.
h export const unused = table.five;
b export default greet;
";
const CHANGED: &str = "\
a pub fn connect_with_patience(limit: u32) -> Result<Stream> {
a     let stream = retry_with_patience(open, limit)?;
a     finish_connection(stream, limit)
a }
";
const BOTH: &str = "\
h # Settings
b retries = 3 # as the service asks for
h timeout = 10
";
const COINCIDENCE: &str = "\
h use std::net::TcpListener;
h
h fn answer(stream: TcpStream) -> Result<()> {
h     greet(stream)?;
h     Ok(())
h }
";
const GROWN: &str = "\
c pub fn parse(text: &str) -> Option<Record> {
c     let line = text.lines().next()?;
b     let fields: Vec<_> = line.split('\\t').collect();
c     Record::of(&fields)
c }
h
h pub fn parse_all(text: &str) -> Vec<Record> {
h     let line = text.lines().next()?;
h     text.lines().filter_map(parse).collect()
h }
";

/// Returns what a file says, without who made it, but for the lines of those who had not begun yet.
fn said(annotated: &str, authors: &str) -> String {
    let is_there = |line: &&str| line.starts_with(|author| authors.contains(author));
    annotated.lines().filter(is_there).fold(String::new(), |text, line| text + text_of(line) + "\n")
}

fn text_of(line: &str) -> &str {
    line.split_once(' ').map_or("", |(_, text)| text)
}

/// Has a session write a whole file.
fn written(developer: &Developer, session: &str, clock: &str, file: &str, content: &str) {
    developer.turn_in(session, clock, "Write it.", ("Write", &json!({"file_path": file, "content": content})));
    developer.file(file, content);
}

/// Has a session change a file.
fn changed(developer: &Developer, session: &str, clock: &str, file: &str, (old, new): (&str, &str)) {
    let edit = json!({"file_path": file, "old_string": old, "new_string": new});
    developer.turn_in(session, clock, "Change it.", ("Edit", &edit));
    let before = developer.user.read(format!("repo/{file}"));
    assert!(before.contains(old), "{before}");
    developer.file(file, &before.replacen(old, new, 1));
}

/// Makes the repository, with all that is done to it.
fn repository() -> Developer {
    let developer = Developer::new();
    let git = |clock: &str, words: &str| developer.git(clock, &words.split(' ').collect::<Vec<_>>());
    developer.file("README.md", "A project\n");
    developer.commit("10:00", "Start");

    // A branch of two sessions and a person, squashed without its trailers.
    git("10:01", "checkout --quiet -b feature");
    let simple = said(CLIENT, "a").replacen(
        "Result<Stream> {\n",
        "Result<Stream> {\n        if let Ok(stream) = Stream::open(&self.address) { return Ok(stream) }\n",
        1,
    );
    written(&developer, "a", "10:02", "src/client.rs", &simple);
    developer.commit("10:05", "Add a client");
    let by_b: String = said(CLIENT, "b");
    let old = "        if let Ok(stream) = Stream::open(&self.address) { return Ok(stream) }\n";
    changed(&developer, "b", "10:10", "src/client.rs", (old, &by_b));
    developer.commit("10:15", "Retry");
    developer.file("src/client.rs", &said(CLIENT, "abh"));
    developer.commit("10:20", "Warn");
    git("10:21", "checkout --quiet main");
    developer.file("README.md", "A project\n\nIt has a client.\n");
    developer.commit("10:22", "Say what it is");
    git("10:30", "merge --quiet --squash feature");
    developer.commit("10:30", "Add a client that retries");

    // A branch that is rebased, and a file that is moved in it.
    git("11:00", "checkout --quiet -b topic HEAD~1");
    written(&developer, "c", "11:02", "src/server.rs", &said(SERVER, "c"));
    developer.commit("11:05", "Add a server");
    developer.file("src/server.rs", &said(SERVER, "ch"));
    developer.commit("11:10", "Say why");
    git("11:20", "rebase --quiet main");
    git("11:21", "checkout --quiet main");
    git("11:21", "merge --quiet --ff-only topic");
    developer.git("11:30", &["mv", "src/server.rs", "src/listener.rs"]);
    developer.commit("11:30", "Move the server");

    // A commit that is amended by hand.
    written(&developer, "a", "12:00", "src/wait.rs", &said(AMENDED, "a"));
    developer.commit("12:05", "Wait");
    developer.file("src/wait.rs", &said(AMENDED, "ah"));
    git("12:10", "add --all");
    git("12:10", "commit --quiet --amend --no-edit");

    // A formatter.
    let dense = "function greet(name, mood) { const text = 'Hello ' + name + ', you are ' + mood; return text.trim() }\n\
                 const table = {one: 1, two: 2, three: 3, four: 4};\n\
                 export default greet\n";
    written(&developer, "b", "13:00", "src/greet.js", dense);
    developer.commit("13:05", "Greet");
    developer.file("src/greet.js", &said(FORMATTED, "bh"));
    developer.commit("13:10", "Format");

    // A hand that changes a line.
    let earlier = said(CHANGED, "a").replacen("(open, limit)", "(open, 3)", 1);
    written(&developer, "a", "13:20", "src/connect.rs", &earlier);
    developer.commit("13:25", "Connect");
    developer.file("src/connect.rs", &said(CHANGED, "a"));
    developer.commit("13:30", "Obey the limit");

    // A copy.
    developer.file("src/copy.rs", &said(CLIENT, "abh"));
    developer.commit("14:00", "Copy the client");

    // Two sessions write the same line into the same place, and one of them is thrown away.
    developer.file("conf/settings.toml", "# Settings\ntimeout = 10\n");
    developer.commit("15:00", "Settings");
    let line = "retries = 3 # as the service asks for\n";
    changed(&developer, "a", "15:01", "conf/settings.toml", ("timeout = 10\n", &format!("{line}timeout = 10\n")));
    git("15:02", "checkout --quiet -- conf/settings.toml");
    changed(&developer, "b", "15:03", "conf/settings.toml", ("timeout = 10\n", &format!("{line}timeout = 10\n")));
    developer.commit("15:05", "Retry as asked");

    // A person writes what sessions have written elsewhere, and repeats a line of the same file.
    developer.file("src/answer.rs", &said(COINCIDENCE, "h"));
    developer.commit("16:00", "Answer");
    let earlier =
        said(GROWN, "c").replacen("    Record::of(", "    let fields = line.split('\\t');\n    Record::of(", 1);
    written(&developer, "c", "16:10", "src/parse.rs", &earlier);
    developer.commit("16:15", "Parse");
    let new = "    let fields: Vec<_> = line.split('\\t').collect();\n";
    changed(&developer, "b", "16:20", "src/parse.rs", ("    let fields = line.split('\\t');\n", new));
    developer.commit("16:25", "Collect");
    developer.file("src/parse.rs", &said(GROWN, "bch"));
    developer.commit("16:30", "Parse all");
    developer
}

/// How many lines of a file were led back rightly.
#[derive(Default)]
struct Tally {
    right: u32,
    ambiguous: u32,
    unknown: u32,
    wrong: u32,
    grades: BTreeMap<String, u32>,
    mistakes: String,
}

fn measure(developer: &Developer, file: &str, annotated: &str) -> Tally {
    let mut tally = Tally::default();
    let lines: Vec<&str> = annotated.lines().collect();
    for run in developer.documents(&["blame", file]) {
        let first = usize::try_from(run["first_line"].as_u64().unwrap()).unwrap();
        for (number, text) in run["lines"].as_array().unwrap().iter().enumerate() {
            let line = lines[first - 1 + number];
            assert_eq!(text.as_str().unwrap(), text_of(line), "{file}");
            // One without words is its neighbour's.
            if !text_of(line).contains(char::is_alphanumeric) {
                continue;
            }
            let author = &line[..1];
            let session = |story: &Value| story["context"]["session"].as_str().unwrap().to_owned();
            let candidates: Vec<String> = run["candidates"].as_array().into_iter().flatten().map(session).collect();
            let found = (run["context"].is_object()).then(|| session(&run));
            let place = match (found, author) {
                (None, "h") if candidates.is_empty() => &mut tally.right,
                (None, _) if candidates.is_empty() => &mut tally.unknown,
                (None, _) if candidates.iter().any(|name| name == author) => &mut tally.ambiguous,
                (Some(name), author) if name == author => {
                    *tally.grades.entry(run["grade"].as_str().unwrap().to_owned()).or_default() += 1;
                    &mut tally.right
                }
                (found, _) => {
                    writeln!(tally.mistakes, "{file}: {line:?} led to {found:?} {candidates:?}").unwrap();
                    &mut tally.wrong
                }
            };
            *place += 1;
        }
    }
    tally
}

#[test]
fn lines_are_led_back_through_squash_rebase_amend_formatter_move_and_copy() {
    let developer = repository();
    let mut report = String::new();
    for (file, what, annotated) in [
        ("src/client.rs", "squash", CLIENT),
        ("src/listener.rs", "rebase and move", SERVER),
        ("src/wait.rs", "amend", AMENDED),
        ("src/greet.js", "formatter", FORMATTED),
        ("src/connect.rs", "change by hand", CHANGED),
        ("src/copy.rs", "copy", CLIENT),
        ("conf/settings.toml", "two sessions", BOTH),
        ("src/answer.rs", "coincidence", COINCIDENCE),
        ("src/parse.rs", "repetition", GROWN),
    ] {
        let Tally { right, ambiguous, unknown, wrong, grades, mistakes } = measure(&developer, file, annotated);
        let grades: Vec<String> = grades.iter().map(|(grade, count)| format!("{count} {grade}")).collect();
        let grades = grades.join(", ");
        writeln!(
            report,
            "{what:<16} right {right:>2}, ambiguous {ambiguous}, unknown {unknown}, wrong {wrong}  {grades}"
        )
        .unwrap();
        report.truncate(report.trim_end().len());
        report.push('\n');
        report.push_str(&mistakes);
    }
    assert_snapshot!(report, @"
    squash           right 11, ambiguous 0, unknown 0, wrong 0  10 exact
    rebase and move  right  7, ambiguous 0, unknown 0, wrong 0  6 exact
    amend            right  4, ambiguous 0, unknown 0, wrong 0  2 exact
    formatter        right 11, ambiguous 0, unknown 0, wrong 0  9 reformatted
    change by hand   right  3, ambiguous 0, unknown 0, wrong 0  2 exact, 1 near
    copy             right 10, ambiguous 0, unknown 1, wrong 0  9 exact
    two sessions     right  2, ambiguous 1, unknown 0, wrong 0
    coincidence      right  4, ambiguous 0, unknown 0, wrong 0
    repetition       right  7, ambiguous 0, unknown 0, wrong 0  4 exact
    ");
}

/// Makes a commit as an agent does whose session is where Claude Code keeps it and that no hook has told of.
fn committed_by(developer: &Developer, session: &str, clock: &str, (file, options): (&str, &[&str])) {
    let line = json!({
        "type": "user", "uuid": format!("u-{session}"), "parentUuid": null, "sessionId": session,
        "timestamp": "2026-11-15T10:00:00.000Z", "message": {"role": "user", "content": format!("Write {file}.")},
    });
    let kept = format!(".claude/projects/p/{session}.jsonl");
    fs::create_dir_all(developer.user.path(&kept).parent().unwrap()).unwrap();
    developer.user.file(kept, format!("{line}\n"));
    developer.file(file, &format!("{file} by {session}\n"));
    developer.git(clock, &["add", "--all"]);
    let options = [&["commit", "--quiet"], options].concat();
    in_session(developer, session, clock, &options);
}

fn in_session(developer: &Developer, session: &str, clock: &str, arguments: &[&str]) {
    let store = developer.store();
    let variables = [
        ("CLAUDE_CODE_SESSION_ID", session),
        ("CTX_STORE", &store),
        ("CTX_PRINCIPAL", "ada@laptop"),
        ("CTX_MACHINE", "laptop"),
        ("GIT_SEQUENCE_EDITOR", "true"),
        ("GIT_EDITOR", "true"),
    ];
    developer.git_in(clock, &variables, arguments);
}

/// Returns the sessions of the contexts that a commit names, in their order, and the agents.
fn named(developer: &Developer, revision: &str) -> (Vec<String>, String) {
    let trailer = |key: &str| {
        let format = format!("--format=%(trailers:key={key},valueonly)");
        developer.git("20:00", &["log", "-1", &format, revision])
    };
    let session = |context: &str| {
        let shown: Value = serde_json::from_str(&developer.run(&["--json", "show", context]).stdout).unwrap();
        shown["session"].as_str().unwrap().to_owned()
    };
    (trailer("Context-Id").lines().map(session).collect(), trailer("Assisted-by"))
}

#[test]
fn what_commits_say_of_their_contexts_survives_a_squash_and_a_rebase() {
    let developer = Developer::new();
    developer.file("README.md", "A project\n");
    developer.commit("10:00", "Start");
    let ran = developer.run(&["init", "--git", "--assisted-by", "--yes", "--runtime", "claude-code"]);
    assert_eq!(ran.code, 0, "{ran}");
    let git = |clock: &str, words: &str| developer.git(clock, &words.split(' ').collect::<Vec<_>>());
    let both = (vec!["anise-01".to_owned(), "basil-02".to_owned()], "Claude Code".to_owned());

    git("10:01", "checkout --quiet -b feature");
    committed_by(&developer, "anise-01", "10:02", ("a.txt", &["--message", "Add a"]));
    committed_by(&developer, "basil-02", "10:03", ("b.txt", &["--message", "Add b"]));
    assert_eq!(named(&developer, "HEAD"), (vec!["basil-02".to_owned()], "Claude Code".to_owned()));
    git("10:04", "checkout --quiet main");
    git("10:05", "merge --quiet --squash feature");
    git("10:05", "commit --quiet --message Both");
    let (mut sessions, agents) = named(&developer, "HEAD");
    sessions.sort();
    assert_eq!((sessions, agents), both);

    // A fixup is melted in, and somebody else's rebase makes the commit anew.
    git("10:10", "checkout --quiet -b topic HEAD~1");
    committed_by(&developer, "anise-01", "10:12", ("c.txt", &["--message", "Add c"]));
    committed_by(&developer, "basil-02", "10:13", ("c.txt", &["--fixup", "HEAD"]));
    in_session(&developer, "cress-03", "10:14", &["rebase", "--quiet", "--interactive", "--autosquash", "main"]);
    let (mut sessions, agents) = named(&developer, "HEAD");
    sessions.sort();
    assert_eq!((sessions, agents), both);
    assert_eq!(developer.git("10:15", &["log", "--format=%s", "main.."]), "Add c");

    // A server puts messages one after the other, so only the last one's trailers are trailers to git.
    let (one, two) = (context_of(&developer, "feature~1"), context_of(&developer, "feature"));
    let message =
        format!("Both (#7)\n\n* Add a\n\nContext-Id: {one}\n\n* Add b\n\nContext-Id: {two}\n\nSigned-off-by: Ada");
    git("10:20", "checkout --quiet main");
    developer.git("10:20", &["commit", "--quiet", "--allow-empty", "--no-verify", "--message", &message]);
    let origin = &developer.documents(&["why-commit"])[0];
    let recorded: Vec<&str> =
        origin["git"]["recorded"].as_array().unwrap().iter().map(|id| id.as_str().unwrap()).collect();
    assert_eq!(recorded, [one.as_str(), two.as_str()]);
    assert_eq!(origin["ambiguous"][0]["candidates"].as_array().map(Vec::len), Some(2));
}

fn context_of(developer: &Developer, revision: &str) -> String {
    developer.git("20:00", &["log", "-1", "--format=%(trailers:key=Context-Id,valueonly)", revision])
}
