//! `ctx sessions`, and sessions where a commit is named.

use std::{fs, process::Command};

use contexture_testkit::clients::Terminal;
use insta::assert_snapshot;
use serde_json::{Value, json};

use super::harness::{Ran, User};

/// Sessions of Claude Code: id, directory, minute, and what was asked.
type Told<'t> = (&'t str, &'t str, u32, &'t [&'t str]);

impl User {
    /// Writes and imports sessions in which each request was answered.
    pub(crate) fn with_sessions(sessions: &[Told<'_>]) -> Self {
        let user = Self::new();
        for (id, directory, minute, requests) in sessions {
            user.session_file(id, directory, *minute, requests);
        }
        user.done(&["import"]);
        user
    }

    pub(crate) fn session_file(&self, id: &str, directory: &str, minute: u32, requests: &[&str]) {
        let project = self.path(format!(".claude/projects/-{}", directory.replace('/', "-")));
        fs::create_dir_all(&project).unwrap();
        let mut lines = String::new();
        let mut parent = Value::Null;
        for (turn, request) in requests.iter().enumerate() {
            for (kind, content) in [("user", json!(request)), ("assistant", json!([{"type": "text", "text": "Done."}]))]
            {
                let uuid = format!("{id}-{turn}-{kind}");
                let line = json!({
                    "type": kind, "uuid": uuid, "parentUuid": parent, "sessionId": id, "cwd": directory,
                    "gitBranch": "main", "timestamp": format!("2026-11-15T19:{minute:02}:{turn:02}.000Z"),
                    "message": {"role": kind, "content": content, "model": "m", "id": uuid},
                });
                lines += &line.to_string();
                lines.push('\n');
                parent = json!(uuid);
            }
        }
        fs::write(project.join(format!("{id}.jsonl")), lines).unwrap();
    }

    /// Runs the program in one of the user's directories.
    pub(crate) fn run_in(&self, directory: &str, arguments: &[&str]) -> Ran {
        self.ran(self.command_in(directory, arguments).output())
    }

    /// Prepares the program to run in one of the user's directories.
    fn command_in(&self, directory: &str, arguments: &[&str]) -> Command {
        // A path that is a store would be another one there.
        let store = match self.place.url() {
            url if url.contains("://") => url,
            path => self.path(path).to_str().unwrap().to_owned(),
        };
        let mut command = self.command(arguments);
        command.env("CTX_STORE", store).current_dir(self.path(directory));
        command
    }

    /// Makes a repository and returns its path as programs see it.
    pub(crate) fn repository(&self, name: &str) -> String {
        fs::create_dir_all(self.path(name).join(".git")).unwrap();
        self.path(name).canonicalize().unwrap().to_str().unwrap().to_owned()
    }
}

fn two_projects() -> (User, String) {
    let user = User::new();
    let here = user.repository("project");
    user.session_file("aaaa0001-0000-4000-8000-000000000000", &here, 10, &["Find the flaky test", "Mend it"]);
    user.session_file("bbbb0002-0000-4000-8000-000000000000", "/srv/other", 20, &["Write the page\nof errors"]);
    user.session_file(
        "aaaa0003-0000-4000-8000-000000000000",
        &format!("{here}/docs"),
        30,
        &["Read \u{1b}[31mthe\u{7} log"],
    );
    user.done(&["import"]);
    (user, here)
}

/// Returns what was shown, without sizes, because the directory of the test is in what was said.
fn shown(ran: &Ran, here: &str) -> String {
    let known = |line: &str| match line.rsplit_once(" · ") {
        Some((known, size)) if size.ends_with("bytes") || size.ends_with("kB") => known.to_owned(),
        _ => line.to_owned(),
    };
    ran.to_string().replace(here, "PROJECT").lines().map(known).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_newest_comes_first_and_a_repository_shows_its_own() {
    let (user, here) = two_projects();
    assert_snapshot!(shown(&user.run_in("project", &["sessions"]), &here), @"
    1  Read �[31mthe� log
       aaaa0003 · 40 minutes ago · claude-code · ended · ./docs · on main · 1 turn
    2  Find the flaky test
       aaaa0001 · 59 minutes ago · claude-code · ended · on main · 2 turns
    ");
    assert_snapshot!(shown(&user.run_in("project", &["sessions", "--all"]), &here), @"
    1  Read �[31mthe� log
       aaaa0003 · 40 minutes ago · claude-code · ended · ~/project/docs · on main · 1 turn
    ·  Write the page
       bbbb0002 · 50 minutes ago · claude-code · ended · /srv/other · on main · 1 turn
    2  Find the flaky test
       aaaa0001 · 59 minutes ago · claude-code · ended · ~/project · on main · 2 turns
    ");
    assert_snapshot!(shown(&user.run(&["sessions", "-n", "1"]), &here), @"
      1  Read �[31mthe� log
         aaaa0003 · 40 minutes ago · claude-code · ended · ~/project/docs · on main · 1 turn
    [stderr]
    There are 2 more: go on with --after 1794771000000000.aaaa0003
    ");
    fs::create_dir_all(user.path("empty/.git")).unwrap();
    assert_snapshot!(user.run_in("empty", &["sessions"]).stderr.replace(user.path("").canonicalize().unwrap().to_str().unwrap(), "HOME"), @"No sessions in HOME/empty; `ctx sessions --all` looks at those of every project, which are 3.");
}

#[test]
fn a_list_goes_on_where_it_ended_whatever_has_come_since() {
    let (user, here) = two_projects();
    let listed = |arguments: &[&str]| {
        let ran = user.run(&[&["sessions", "-n", "1"], arguments].concat());
        assert_eq!(ran.code, 0, "{arguments:?}\n{ran}");
        let cursor = ran.stderr.trim().split_once("--after ").map(|(_, cursor)| cursor.to_owned());
        (ran.stdout.lines().nth(1).unwrap_or_default().trim()[..8].to_owned(), cursor, ran.stderr)
    };
    let (first, cursor, _) = listed(&[]);
    let (second, further, said) = listed(&["--after", cursor.as_deref().unwrap()]);
    assert_eq!((&*first, &*second), ("aaaa0003", "bbbb0002"));
    assert!(said.starts_with("There is 1 more: go on with --after "), "{said}");
    // The first goes on, another one begins, and the list goes on where it was.
    let again = ["Read \u{1b}[31mthe\u{7} log", "And the rest of it"];
    user.session_file("aaaa0003-0000-4000-8000-000000000000", &format!("{here}/docs"), 30, &again);
    user.session_file("cccc0004-0000-4000-8000-000000000000", &here, 45, &["Begin anew"]);
    user.done(&["import"]);
    assert_eq!(listed(&["--after", cursor.as_deref().unwrap()]).0, "bbbb0002");
    let (third, end, _) = listed(&["--after", further.as_deref().unwrap()]);
    assert_eq!((&*third, end), ("aaaa0001", None));
    // Words are looked for as far as they are asked for.
    let ran = user.run(&["sessions", "-n", "1", "e"]);
    assert!(ran.stderr.starts_with("There are more: go on with --after "), "{ran}");
    let document: Value = serde_json::from_str(user.done(&["sessions", "--json"]).lines().last().unwrap()).unwrap();
    let ran = user.run(&["sessions", "--after", document["cursor"].as_str().unwrap()]);
    assert_eq!((&*ran.stdout, &*ran.stderr), ("", "There are no more.\n"));
    assert_eq!(user.run(&["sessions", "--after", "7"]).code, 2);
}

#[test]
fn the_working_trees_of_a_repository_are_one_project() {
    let user = User::new();
    let here = user.repository("project");
    let write = |name: &str, text: String| {
        fs::create_dir_all(user.path(name).parent().unwrap()).unwrap();
        user.file(name, text);
    };
    let home = user.path("").canonicalize().unwrap().display().to_string();
    let home = home.trim_end_matches('/');
    // As `git worktree add ../feature` leaves them, and a stranger's directory that says the same of itself.
    write("project/.git/worktrees/feature/gitdir", format!("{home}/feature/.git\n"));
    write("feature/.git", format!("gitdir: {here}/.git/worktrees/feature\n"));
    write("stranger/.git", format!("gitdir: {here}/.git/worktrees/feature\n"));
    user.session_file("aaaa0001-0000-4000-8000-000000000000", &here, 10, &["Find the flaky test"]);
    user.session_file("bbbb0002-0000-4000-8000-000000000000", &format!("{home}/feature/src"), 20, &["Mend it"]);
    user.session_file("cccc0003-0000-4000-8000-000000000000", &format!("{home}/stranger"), 30, &["Steal it"]);
    user.done(&["import"]);
    let ids = |directory: &str, arguments: &[&str]| {
        let listed = user.run_in(directory, &[arguments, &["--json"]].concat()).stdout;
        let id = |line: &str| {
            let document: Value = serde_json::from_str(line).unwrap();
            document["session"].as_str().unwrap()[..8].to_owned()
        };
        listed.lines().map(id).collect::<Vec<_>>()
    };
    for directory in ["project", "feature"] {
        assert_eq!(ids(directory, &["sessions"]), ["bbbb0002", "aaaa0001"], "{directory}");
        assert_eq!(ids(directory, &["list"]), ["bbbb0002", "aaaa0001"], "{directory}");
        assert_eq!(ids(directory, &["log"]), ["bbbb0002", "aaaa0001"], "{directory}");
        assert_eq!(ids(directory, &["show", "last"]), ["bbbb0002"], "{directory}");
    }
    assert_eq!(ids("stranger", &["sessions"]), ["cccc0003"]);
    assert_snapshot!(shown(&user.run_in("project", &["sessions"]), &here), @"
    1  Mend it
       bbbb0002 · 50 minutes ago · claude-code · ended · ~/feature/src · on main · 1 turn
    2  Find the flaky test
       aaaa0001 · 1 hour ago · claude-code · ended · on main · 1 turn
    ");
}

#[test]
fn a_list_can_be_narrowed_and_keeps_the_numbers() {
    let (user, here) = two_projects();
    let ids = |arguments: &[&str]| {
        let listed = user.run_in("project", &[&["sessions", "--json"], arguments].concat()).stdout;
        let id = |line: &str| {
            let document: Value = serde_json::from_str(line).unwrap();
            format!("{} {}", document["number"], &document["session"].as_str().unwrap()[..8])
        };
        listed.lines().map(id).collect::<Vec<_>>()
    };
    assert_eq!(ids(&[]), ["1 aaaa0003", "2 aaaa0001"]);
    assert_eq!(ids(&["FLAKY"]), ["2 aaaa0001"]);
    assert_eq!(ids(&["--all", "--since", "2026-11-15T19:15:00Z"]), ["1 aaaa0003", "null bbbb0002"]);
    assert_eq!(ids(&["--agent", "codex"]), [] as [&str; 0]);
    assert_eq!(ids(&["--all", "/srv/other"]), ["null bbbb0002"]);
    let document: Value =
        serde_json::from_str(&user.run_in("project", &["sessions", "flaky", "--json"]).stdout).unwrap();
    let known = ["directory", "branch", "model", "request", "turns", "commits", "messages", "state", "agent"];
    let expected = json!([here, "main", "m", "Find the flaky test", 2, 2, 4, "ended", "claude-code"]);
    assert_eq!(Value::from(known.map(|field| document[field].clone()).to_vec()), expected);
}

#[test]
fn a_session_is_named_by_number_beginning_or_last() {
    let (user, _) = two_projects();
    let named = |name: &str| {
        let ran = user.run_in("project", &["show", name, "--json"]);
        assert_eq!(ran.code, 0, "{name}\n{ran}");
        serde_json::from_str::<Value>(&ran.stdout).unwrap()["session"].as_str().unwrap()[..8].to_owned()
    };
    for (name, session) in [
        ("last", "aaaa0003"),
        ("1", "aaaa0003"),
        ("2", "aaaa0001"),
        ("2~1", "aaaa0001"),
        ("bbbb", "bbbb0002"),
        ("session/bbbb", "bbbb0002"),
        ("aaaa0001", "aaaa0001"),
    ] {
        assert_eq!(named(name), session, "{name}");
    }
    assert_snapshot!(user.run_in("project", &["show", "aaaa"]), @"
    [exit 1]
    [stderr]
    error: aaaa is ambiguous: session/aaaa0001-0000-4000-8000-000000000000, session/aaaa0003-0000-4000-8000-000000000000
      hint: type more of the one you mean
    ");
    assert_snapshot!(user.run_in("project", &["show", "7"]), @"
    [exit 1]
    [stderr]
    error: there is no session 7 in the list of 2
      hint: `ctx sessions` shows them
    ");
    assert_snapshot!(user.run_in("project", &["show", "nobody"]), @"
    [exit 1]
    [stderr]
    error: there is no head nobody
      hint: `ctx head list` shows the heads
    ");
    user.done(&["head", "set", "last", "bbbb0002"]);
    assert_eq!(named("last"), "bbbb0002", "a head goes first");
}

#[test]
fn what_went_on_from_another_session_says_so() {
    let user = User::with_sessions(&[("aaaa0001", "/srv/p", 10, &["Find the flaky test", "Mend it"])]);
    user.file("more.jsonl", "{\"turn\":1}\n");
    user.done(&[
        "checkpoint",
        "--format",
        "claude-code-v1",
        "--parent",
        "session/aaaa0001~1",
        "--session",
        "cccc0001",
        "--summary",
        "Something else",
        "more.jsonl",
    ]);
    assert_snapshot!(user.run(&["sessions"]), @"
    1  Something else
       cccc0001 · now · claude-code · ended · /srv/p · 1 turn · 11 bytes
       went on from aaaa0001 at ctx-e9d61b1df0
    2  Find the flaky test
       aaaa0001 · 59 minutes ago · claude-code · ended · /srv/p · on main · 2 turns · 1.1 kB
    ");
}

#[test]
fn commands_without_a_name_take_the_last_session_here_and_say_so() {
    let (user, _) = two_projects();
    for command in [&["cat"] as &[&str], &["show"], &["fork", "--head", "try"], &["export", "-o", "last.bundle"]] {
        let ran = user.run_in("project", command);
        assert_eq!(ran.code, 0, "{command:?}\n{ran}");
        let said = ran.stderr.lines().next().unwrap();
        let last = "The last session here is aaaa0003-0000-4000-8000-000000000000, 40 minutes ago: Read \u{fffd}[31mthe\u{fffd} log";
        assert_eq!(said, last, "{command:?}");
    }
    assert_eq!(user.run_in("project", &["resume", "--print", "--in", "pi"]).code, 0);
    fs::create_dir_all(user.path("empty/.git")).unwrap();
    let ran = user.run_in("empty", &["cat"]);
    assert_eq!((ran.code, ran.stderr.starts_with("error: there is no session in ")), (1, true), "{ran}");
}

#[test]
fn a_log_and_a_list_in_a_repository_are_of_that_repository() {
    let (user, _) = two_projects();
    let requests = |arguments: &[&str]| {
        let ran = user.run_in("project", arguments);
        assert_eq!(ran.code, 0, "{arguments:?}\n{ran}");
        let words = ["Read", "Mend", "Find", "Write", "Loose"];
        ran.stdout.lines().filter_map(|line| words.into_iter().find(|word| line.contains(word))).collect::<Vec<_>>()
    };
    assert_eq!(requests(&["log"]), ["Read", "Mend", "Find"]);
    assert_eq!(requests(&["list"]), ["Read", "Mend", "Find"]);
    assert_eq!(requests(&["log", "--all"]), ["Read", "Write", "Mend", "Find"], "in the order of their times");
    assert_eq!(requests(&["list", "--all", "-n", "2"]), ["Read", "Write"]);
    assert_eq!(requests(&["list", "-n", "2"]), ["Read", "Mend"]);
    let said = user.run_in("project", &["log"]).stderr;
    assert!(
        said.starts_with("The history of ") && said.ends_with("; `--all` shows that of every project.\n"),
        "{said}"
    );
    // A chain that names no directory belongs everywhere.
    user.file("loose.txt", "loose");
    user.done(&["checkpoint", "--head", "loose", "--summary", "Loose", "loose.txt"]);
    assert_eq!(requests(&["log"]), ["Loose", "Read", "Mend", "Find"]);
    assert_eq!(requests(&["list"]), ["Loose", "Read", "Mend", "Find"]);
    assert_eq!(requests(&["log", "bbbb"]), ["Write"]);
}

/// Returns the row that is marked on a screen.
fn marked(screen: &str) -> &str {
    screen.lines().find(|line| line.starts_with('›')).unwrap_or_default()
}

#[test]
fn at_a_terminal_a_person_chooses_what_to_go_on_with() {
    if !Terminal::available_or_skip("at_a_terminal_a_person_chooses_what_to_go_on_with") {
        return;
    }
    let (user, _) = two_projects();
    let start = || {
        let mut command = user.command_in("project", &["-c", "\"$0\" resume --print --in pi; sleep 60"]);
        command.env("TERM", "xterm-256color").env("PATH", "/usr/bin:/bin");
        // What it says at its end is seen as long as a shell stays.
        let mut shell = user.other_program("/bin/sh");
        shell.current_dir(command.get_current_dir().unwrap()).args(command.get_args()).arg(command.get_program());
        shell.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let terminal = Terminal::start(&shell);
        terminal.wait_for("2 of 2");
        terminal
    };
    let marks = |terminal: &Terminal, words: &str| terminal.wait_until(words, |screen| marked(screen).contains(words));
    let terminal = start();
    let first = marks(&terminal, "Read");
    // Nothing that others wrote moves the cursor or paints, and sessions of other projects are not there.
    assert!(first.contains("Read \u{fffd}[31mthe\u{fffd} log") && !first.contains("Write the page"), "{first}");
    terminal.press("Down");
    let second = marks(&terminal, "Find the flaky test");
    let preview = second.split_once("───").unwrap().1;
    assert!(preview.contains("aaaa0001") && preview.contains("Mend it") && preview.contains("2 turns"), "{second}");
    // The last one is the last one.
    terminal.press("Down");
    terminal.press("Up");
    marks(&terminal, "Read");
    terminal.type_text("flaky");
    terminal.wait_for("which session? flaky");
    terminal.wait_for("1 of 2");
    marks(&terminal, "Find the flaky test");
    terminal.type_text("x");
    terminal.wait_for("0 of 2");
    // Nothing is there to go on with.
    terminal.press("Enter");
    terminal.press("BSpace");
    terminal.wait_for("1 of 2");
    terminal.press("Enter");
    let told = terminal.wait_for("pi --session ");
    assert!(told.contains("Materialized 2 commits"), "{told}");
    let terminal = start();
    terminal.press("Escape");
    terminal.wait_for("Nothing was chosen.");
}
