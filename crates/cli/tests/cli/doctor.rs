//! `ctx doctor`.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use insta::assert_snapshot;

use super::harness::{Ran, User};

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../formats/tests/fixtures");
/// Where Claude Code keeps the sessions of the fixtures.
const PROJECT: &str = ".claude/projects/-home-ada-project";
/// [`super::harness::NOW`], in seconds since 1970.
const NOW_SECONDS: u64 = 1_794_773_400;
const HOUR: u64 = 60 * 60;
const DAY: u64 = 24 * HOUR;

/// Copies a scene of real sessions to where its client keeps them; the files were written an hour ago.
fn copy_scene(user: &User, scene: &str, home: &str) {
    fn copy(from: &Path, to: &Path) {
        if from.is_dir() {
            fs::create_dir_all(to).unwrap();
            for entry in from.read_dir().unwrap().flatten() {
                copy(&entry.path(), &to.join(entry.file_name()));
            }
        } else {
            fs::copy(from, to).unwrap();
            written_before(to, HOUR);
        }
    }
    copy(&Path::new(FIXTURES).join(scene), &user.path(home));
}

fn written_before(file: &Path, seconds: u64) {
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(NOW_SECONDS - seconds);
    File::options().append(true).open(file).unwrap().set_modified(time).unwrap();
}

/// Has every client that is here ask for its hook, since half an hour.
fn install_hooks(user: &User) {
    user.done(&["init", "--yes", "--no-import"]);
    for file in
        [".claude/settings.json", ".codex/hooks.json", ".gemini/settings.json", ".pi/agent/extensions/contexture.js"]
    {
        if user.path(file).exists() {
            written_before(&user.path(file), HOUR / 2);
        }
    }
}

/// A user with sessions of every client and hooks in all of them.
fn with_sessions() -> User {
    let user = User::new();
    copy_scene(&user, "claude-code/subagent", ".claude");
    copy_scene(&user, "codex/session", ".codex");
    copy_scene(&user, "gemini/session", ".gemini");
    copy_scene(&user, "pi/session", ".pi/agent");
    install_hooks(&user);
    user
}

/// A user with one long session of Claude Code that is in the store, and with its hook.
fn with_stored_session() -> (User, PathBuf) {
    let user = User::new();
    copy_scene(&user, "claude-code/compacted", ".claude");
    install_hooks(&user);
    user.done(&["import"]);
    let file = user.path(PROJECT).join("8001dbd0-8627-44b2-a72a-8e5ab9359d57.jsonl");
    (user, file)
}

/// Returns what was said, without the line about the store, which is each engine's own.
fn shown(user: &User, ran: &Ran) -> String {
    let root = user.path("").canonicalize().unwrap();
    let text = ran.to_string().replace(root.to_str().unwrap(), "HOME");
    let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with("ok  store ")).collect();
    lines.join("\n")
}

#[test]
fn sessions_that_were_never_taken_in_are_found_and_taken_in_and_then_all_is_well() {
    let user = with_sessions();
    assert_snapshot!(shown(&user, &user.run(&["doctor"])), @"
    [exit 1]
    !!  sessions   6 on disk (138.7 kB): 0 complete
                   claude-code     3    93.2 kB: 3 never taken in
                   codex           1    27.0 kB: 1 never taken in
                   gemini          1    10.7 kB: 1 never taken in
                   pi              1     7.8 kB: 1 never taken in
    ok  hooks      not called yet: claude-code, codex, gemini, pi
    ok  spool      nothing waits for the store
    ok  agents     none at work
    ok  retention  the first of what is missing will be deleted in 29 days
    ok  log        nothing went wrong in the last 7 days

    To do:
      ctx doctor --fix  6 sessions were never taken in
    [stderr]
    error: 1 problem is left
    ");
    assert_snapshot!(shown(&user, &user.run(&["doctor", "--fix"])), @"
    ok  sessions   6 on disk (138.7 kB): all complete
                   claude-code     3    93.2 kB: all complete
                   codex           1    27.0 kB: all complete
                   gemini          1    10.7 kB: all complete
                   pi              1     7.8 kB: all complete
    ok  hooks      not called yet: claude-code, codex, gemini, pi
    ok  spool      nothing waits for the store
    ok  agents     none at work
    ok  retention  nothing that is missing will be deleted
    ok  log        nothing went wrong in the last 7 days
    [stderr]
    Took in 6 sessions: 11 new commits.
    All is well: everything that agents have said is in the store, byte for byte.
    ");
    assert_eq!(user.run(&["import", "--verify"]).code, 0);
    let journal = user.journal();
    for again in [&["doctor"][..], &["doctor", "--quick"], &["doctor", "--fix"]] {
        assert_eq!(user.run(again).code, 0, "{again:?}");
    }
    assert_eq!(user.journal(), journal);
}

#[test]
fn a_session_that_was_changed_in_the_middle_differs_until_it_is_taken_in_anew() {
    let (user, file) = with_stored_session();
    let text = fs::read_to_string(&file).unwrap();
    let at = text.find("\"timestamp\":\"2026").unwrap() + "\"timestamp\":\"".len();
    fs::write(&file, [&text[..at], "1", &text[at + 1..]].concat()).unwrap();
    written_before(&file, HOUR);
    // Its end is as it was.
    assert_eq!(user.run(&["doctor", "--quick"]).code, 0);
    assert_snapshot!(shown(&user, &user.run(&["doctor"])), @"
    [exit 1]
    !!  sessions   1 on disk (94.8 kB): 1 changed since
    ok  hooks      not called yet: claude-code
    ok  spool      nothing waits for the store
    ok  agents     none at work
    ok  retention  the first of what is missing will be deleted in 29 days
    ok  log        nothing went wrong in the last 7 days

    To do:
      ctx doctor --fix  1 session was changed since it was taken in
    [stderr]
    error: 1 problem is left
    ");
    assert_eq!(user.run(&["doctor", "--fix"]).code, 0);
    assert_eq!(user.run(&["import", "--verify"]).code, 0);
}

#[test]
fn a_session_that_has_grown_is_behind_unless_its_last_line_is_being_written() {
    let (user, file) = with_stored_session();
    let text = fs::read_to_string(&file).unwrap();
    let last = text.lines().last().unwrap();
    fs::write(&file, [&text, &last[..last.len() / 2]].concat()).unwrap();
    written_before(&file, HOUR);
    assert_eq!(user.run(&["doctor"]).code, 0);
    fs::write(&file, [&text, last, "\n", last, "\n"].concat()).unwrap();
    written_before(&file, HOUR);
    for depth in [&["doctor"][..], &["doctor", "--quick"]] {
        let ran = user.run(depth);
        assert_eq!(ran.code, 1);
        assert!(ran.stdout.contains("1 behind by 2 lines"), "{ran}");
    }
    assert_eq!(user.run(&["doctor", "--fix", "--quick"]).code, 0);
}

#[test]
fn what_a_hook_could_not_store_is_reported_and_stored_when_the_store_is_back() {
    let user = User::new();
    copy_scene(&user, "claude-code/session", ".claude");
    install_hooks(&user);
    // A file stands where the store belongs.
    user.file("place", "");
    let session = "e30a959e-0423-41fe-858f-2e65e3232563";
    let transcript = user.path(PROJECT).join(format!("{session}.jsonl"));
    let event = format!(
        r#"{{"hook_event_name":"Stop","session_id":"{session}","transcript_path":"{}"}}"#,
        transcript.display()
    );
    assert_eq!(user.pipe(event, &["--store", "place", "hook", "claude-code"]).code, 0);
    let ran = user.run(&["--store", "place", "doctor"]);
    assert_snapshot!(shown(&user, &ran), @"
    [exit 1]
    !!  store      place: it cannot be used
    --  sessions   1 on disk (38.3 kB), not compared
    ok  hooks      called: claude-code now
    !!  spool      1 entry waits for the store
    ok  agents     1 at work
    --  retention  not known, because nothing was compared
    !!  log        1 thing went wrong in the last 7 days
                   now, in the spool: cannot open the store at place: File exists (os error 17) (hook c…

    To do:
      ctx store check   cannot open the store at place: not a directory
      ctx doctor --fix  what sessions said waits in the spool (the oldest: now)
    [stderr]
    error: 2 problems are left
    ");
    assert_eq!(user.run(&["--store", "place", "doctor", "--fix"]).code, 1);
    fs::remove_file(user.path("place")).unwrap();
    let ran = user.run(&["--store", "place", "doctor", "--fix"]);
    assert_snapshot!(shown(&user, &ran), @"
    ok  sessions   1 on disk (38.3 kB): all complete
    ok  hooks      called: claude-code now
    ok  spool      nothing waits for the store
    ok  agents     1 at work
    ok  retention  nothing that is missing will be deleted
    ok  log        1 thing went wrong in the last 7 days
                   now, safe now: cannot open the store at place: File exists (os error 17) (hook claud…
    [stderr]
    Took in 1 entry from the spool.
    All is well: everything that agents have said is in the store, byte for byte.
    ");
}

#[test]
fn a_session_whose_agent_is_gone_is_closed() {
    let user = User::new();
    copy_scene(&user, "pi/session", ".pi/agent");
    install_hooks(&user);
    let session = "01a1e1c0-8637-757d-b20f-5d68a009a3ae";
    let event = format!(r#"{{"hook_event_name":"turn_end","session_id":"{session}"}}"#);
    user.pipe(event, &["hook", "pi"]);
    assert!(user.run(&["doctor"]).stdout.contains("agents     1 at work"));
    let sessions = user.path(".local/state/contexture/sessions");
    let listed = sessions.read_dir().unwrap().flatten().map(|entry| entry.path());
    for file in listed.filter(|path| path.extension().is_some_and(|extension| extension == "json")) {
        let text = fs::read_to_string(&file).unwrap();
        fs::write(&file, text.replace("\"started\":\"", "\"started\":\"before ")).unwrap();
    }
    assert_snapshot!(shown(&user, &user.run(&["doctor", "--quick"])), @"
    [exit 1]
    ok  sessions   1 on disk (7.8 kB): all complete
    ok  hooks      called: pi now
    ok  spool      nothing waits for the store
    !!  agents     none at work, 1 gone without a word
    ok  retention  nothing that is missing will be deleted
    ok  log        nothing went wrong in the last 7 days

    To do:
      ctx doctor --fix  1 session was left open by a crash
    [stderr]
    error: 1 problem is left
    ");
    // Import closes it too.
    assert!(user.run(&["import"]).stderr.contains("Closed 1 session"));
    assert!(user.run(&["doctor"]).stdout.contains("agents     none at work"));
}

#[test]
fn what_is_about_to_be_deleted_comes_first() {
    let user = User::new();
    copy_scene(&user, "claude-code/branches", ".claude");
    copy_scene(&user, "gemini/session", ".gemini");
    install_hooks(&user);
    let files = fs::read_dir(user.path(PROJECT)).unwrap().flatten().map(|entry| entry.path());
    let mut files: Vec<PathBuf> = files.collect();
    files.sort();
    written_before(&files[0], 28 * DAY);
    written_before(&files[1], 31 * DAY);
    assert_snapshot!(shown(&user, &user.run(&["doctor"])), @"
    [exit 1]
    !!  sessions   3 on disk (77.5 kB): 0 complete
                   claude-code     2    66.8 kB: 2 never taken in
                   gemini          1    10.7 kB: 1 never taken in
    ok  hooks      not called yet: claude-code, gemini
    ok  spool      nothing waits for the store
    ok  agents     none at work
    !!  retention  2 sessions not wholly in the store will be deleted, the first at any moment
                   at any moment: claude-code 4b18e31e-95c3-49d2-9a55-221899453e28.jsonl
                   in 2 days: claude-code 1b176561-9ee4-4d0a-ac33-88fbb7355e7d.jsonl
    ok  log        nothing went wrong in the last 7 days

    To do:
      ctx doctor --fix  2 sessions not wholly in the store are about to be deleted
      ctx doctor --fix  3 sessions were never taken in
    [stderr]
    error: 2 problems are left
    ");
    // Settings may say that they stay longer.
    let settings = user.read(".claude/settings.json").replacen('{', "{\"cleanupPeriodDays\":99,", 1);
    user.file(".claude/settings.json", settings);
    let kept = user.run(&["doctor"]);
    assert!(kept.stdout.contains("ok  retention"), "{kept}");
    assert_eq!(user.run(&["doctor", "--fix"]).code, 0);
}

#[test]
fn a_hook_that_is_not_called_is_missed() {
    let user = User::new();
    copy_scene(&user, "codex/session", ".codex");
    install_hooks(&user);
    user.done(&["import"]);
    assert_eq!(user.run(&["doctor"]).code, 0);
    written_before(&user.path(".codex/hooks.json"), 2 * HOUR);
    let ran = user.run(&["doctor"]);
    assert!(ran.stdout.contains("Codex works without calling its hook"), "{ran}");
    fs::remove_file(user.path(".codex/hooks.json")).unwrap();
    let ran = user.run(&["doctor"]);
    assert!(ran.stdout.contains("ctx init  Codex does not tell of its work"), "{ran}");
}

#[test]
fn programs_get_one_document_with_all_of_it() {
    let user = with_sessions();
    let ran = user.run(&["doctor", "--json"]);
    assert_eq!((ran.code, ran.stdout.lines().count()), (1, 1));
    let report: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(report["healthy"], false);
    assert_eq!(report["problems"][0]["command"], "ctx doctor --fix");
    assert_eq!(report["sessions"]["runtimes"]["claude-code"]["never"], 3);
    assert_eq!(report["sessions"]["incomplete"].as_array().unwrap().len(), 6);
    let fixed: serde_json::Value = serde_json::from_str(&user.done(&["doctor", "--fix", "--json"])).unwrap();
    assert_eq!((&fixed["healthy"], &fixed["fixed"]["sessions"]), (&true.into(), &6.into()));
}
