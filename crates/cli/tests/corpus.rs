//! Whole directories of sessions: they come in, nothing comes twice, and each file comes back byte for byte.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
    process::Command,
};

use contexture::{
    Assemble, ContentMeaning, Contexture, Filter, Head, LogStart, Options, PageAfter, Stop, TriggerMessage,
    assembly::{
        envelope::Fate,
        recipe::{RecipeProvenance, built_in},
    },
    core::{Actor, CommitId, Machine, Principal, SpaceName},
};
use contexture_capture::{Capture, SessionOwner, SessionSearch};
use contexture_testkit::{
    TestClock, block_on,
    requests::{assert_anthropic, assert_openai_chat, assert_openai_responses},
};
use serde_json::Value;
use tempfile::TempDir;

#[test]
fn our_own_sessions_come_back_as_they_are() {
    let sessions = Path::new(env!("CARGO_MANIFEST_DIR")).join("../formats/tests/fixtures");
    let files = comes_back_as_it_is(&sessions);
    assert!(files >= 20, "{files} files are fewer than there are scenes");
}

#[test]
fn sessions_of_runtimes_that_are_only_read_come_back_as_they_are() {
    let sessions = Path::new(env!("CARGO_MANIFEST_DIR")).join("../formats/tests/readers");
    assert_eq!(comes_back_as_it_is(&sessions), 12, "there is a session in each format");
}

#[test]
fn real_sessions_come_back_as_they_are() {
    let Some(sessions) = shared("", "real_sessions_come_back_as_they_are") else { return };
    let files = comes_back_as_it_is(&sessions);
    writeln!(io::stderr(), "REPRODUCED {files} real sessions byte for byte").expect("standard error can be written");
    assert!(files > 300, "{files} files are fewer than there are");
}

#[test]
fn our_own_sessions_become_valid_requests() {
    let sessions = Path::new(env!("CARGO_MANIFEST_DIR")).join("../formats/tests/fixtures");
    let requests = become_valid_requests(&sessions, 1);
    assert!(requests >= 100, "{requests} requests are fewer than there are scenes");
}

#[test]
fn real_sessions_become_valid_requests() {
    let Some(sessions) = shared("", "real_sessions_become_valid_requests") else { return };
    let requests = become_valid_requests(&sessions, 5);
    writeln!(io::stderr(), "ASSEMBLED {requests} valid requests").expect("standard error can be written");
    assert!(requests > 300, "{requests} requests are fewer than there are sessions for");
}

#[test]
fn cases_that_are_easily_misread_are_read_as_what_they_are() {
    let Some(cases) = shared("cases", "cases_that_are_easily_misread_are_read_as_what_they_are") else { return };
    let store = TempDir::new().unwrap();
    import(&store, &cases);
    let file = |name: &str| {
        let mut found = fs::read_dir(&cases).unwrap().flatten().map(|entry| entry.path());
        let path = found.find(|path| path.file_name().unwrap().to_string_lossy().starts_with(name));
        fs::read_to_string(path.unwrap_or_else(|| panic!("there is no {name}"))).unwrap()
    };
    let heads = block_on(async { open(&store).await.heads("", None, 1000).await.unwrap() });
    let named = |name: &str| heads.iter().any(|head| head.name.as_str() == name);
    // The first record names no session.
    assert!(named("session/74a46b67-3e6f-4654-bcd1-18515ebe5c1a"));
    assert!(!heads.iter().any(|head| head.name.as_str().contains("head-name")));
    // Of three who follow one record the runtime is at the last.
    let leaf = ctx(&store, &["materialize", "session/c2fdc3c3-13e3-4ae9-a55f-a9e6fb3367ce"]);
    let holds = |uuid: &str| leaf.contains(&format!("\"uuid\":\"{uuid}"));
    assert_eq!([holds("5103d0"), holds("15a6e2"), holds("f3b65306")], [false, false, true]);
    // Prompts of the SDK are turns, though they are marked as meta.
    let log = ctx(&store, &["log", "session/01f6ed62-f1d2-4e08-b40b-e271095c7e16", "--json", "-n", "1000"]);
    assert_eq!(log.lines().count(), file("meta-prompts").matches("\"promptSource\":\"sdk\"").count());
    // The newer of two copies has the head.
    let newest = ctx(&store, &["materialize", "session/6af5816f-bb40-4a95-87b1-242bb63bd44f"]);
    let last = |text: &str| text.lines().rev().find(|line| line.contains("\"uuid\"")).unwrap().to_owned();
    assert_eq!(last(&newest), last(&file("older-copy-1")));
    let chat = |head: &str| -> Vec<Value> {
        let written = ctx(&store, &["materialize", head, "--format", "openai-chat-v1"]);
        serde_json::from_str(&written).unwrap()
    };
    let called = |messages: &[Value]| -> Vec<String> {
        let calls = messages.iter().flat_map(|message| message["tool_calls"].as_array().into_iter().flatten());
        calls.map(|call| call["id"].as_str().unwrap().to_owned()).collect()
    };
    // What pi prints is no empty session.
    let stream = chat("session/pi-tool");
    assert_eq!((called(&stream).len(), stream.last().unwrap()["content"].as_str()), (1, Some("done")));
    // Calls whose ids were taken out are as many as there are.
    let export: Value = serde_json::from_str(&file("redacted-ids")).unwrap();
    let parts = export["messages"].as_array().unwrap().iter().flat_map(|message| message["parts"].as_array().unwrap());
    let redacted = called(&chat("session/ses_31a9c4d23ffeDZCz4vmNDCOwQo"));
    assert_eq!(redacted.len(), parts.filter(|part| part["type"] == "tool").count());
    assert_eq!(redacted.iter().collect::<HashSet<_>>().len(), redacted.len());
    // A result that was written before its call answers it.
    let ordered = chat("session/1fb5e404-604d-4a2b-baf1-3beb42a67371");
    let said = serde_json::to_string(&ordered).unwrap();
    assert_eq!(said.matches("[result of a tool]").count(), 0);
    let answered: HashSet<&str> = ordered.iter().filter_map(|message| message["tool_call_id"].as_str()).collect();
    assert!(answered.contains("toolu_011AYY1MjgagsBnHRJhHFjqx"), "the call of line 163 has its result of line 162");
}

#[test]
fn the_newest_turn_of_every_session_is_reached_from_a_head() {
    let Some(sessions) = shared("", "the_newest_turn_of_every_session_is_reached_from_a_head") else { return };
    let directory = TempDir::new().unwrap();
    import(&directory, &sessions);
    block_on(async {
        let store = open(&directory).await;
        let heads = store.heads("", None, 10_000).await.unwrap();
        let mut reached: HashSet<CommitId> = HashSet::new();
        let mut walk = store.walk(LogStart::Commits(heads.iter().map(|head| head.commit).collect())).await.unwrap();
        loop {
            let page = walk.next(1000).await.unwrap();
            if page.is_empty() {
                break;
            }
            reached.extend(page.into_iter().map(|commit| commit.id));
        }
        let (mut newest, mut all, mut after) = (HashMap::new(), 0, None);
        loop {
            let page = store.list(&Filter::default(), after, 1000).await.unwrap();
            let Some(last) = page.last() else { break };
            after = Some(PageAfter { created_at: last.commit.created_at, seq: last.seq });
            all += page.len();
            for stored in page {
                let age = (stored.commit.created_at, stored.depth);
                let known = newest.entry(stored.commit.provenance.session.clone()).or_insert((age, stored.id));
                *known = (*known).max((age, stored.id));
            }
        }
        let mut lost = Vec::new();
        for (session, (_, id)) in newest.iter().filter(|(_, (_, id))| !reached.contains(id)) {
            if says_something(&store, *id).await {
                lost.push((session, id));
            }
        }
        writeln!(io::stderr(), "REACHED {} of {all} commits, {} sessions", reached.len(), newest.len()).unwrap();
        assert!(lost.is_empty(), "{} of {} sessions: {lost:?}", lost.len(), newest.len());
    });
}

#[test]
fn what_is_left_out_is_no_conversation_or_has_a_reason() {
    let Some(sessions) = shared("", "what_is_left_out_is_no_conversation_or_has_a_reason") else { return };
    let directory = TempDir::new().unwrap();
    let closing = import(&directory, &sessions);
    let skipped = closing["skipped"].as_array().unwrap();
    let unknown = skipped.iter().filter(|file| file["reason"].as_str().unwrap().contains("does not look like"));
    let unknown: Vec<&str> = unknown.map(|file| file["path"].as_str().unwrap()).collect();
    writeln!(io::stderr(), "LEFT OUT {} files, of {} nothing is known: {unknown:?}", skipped.len(), unknown.len())
        .unwrap();
    // What describes a session is none, and of Droid the session itself is read, not what it prints.
    let is_none = |path: &str| path.ends_with(".meta.json") || path.contains("droid_stream");
    assert!(unknown.iter().all(|path| is_none(path)), "{unknown:?}");
}

#[test]
fn the_order_in_which_copies_come_makes_no_difference() {
    let Some(sessions) = shared("claude", "the_order_in_which_copies_come_makes_no_difference") else { return };
    let owner = SessionOwner {
        principal: Principal::new("ada@laptop").unwrap(),
        machine: Machine::new("laptop").unwrap(),
        role: None,
    };
    let places = [sessions.clone(), sessions.with_file_name("cases")];
    let mut candidates = SessionSearch::default().at(&places).unwrap().candidates;
    let mut seen: Vec<Vec<(String, CommitId)>> = Vec::new();
    for _ in 0..2 {
        let directory = TempDir::new().unwrap();
        let heads = block_on(async {
            let store = open(&directory).await;
            for one in &candidates {
                let taken =
                    Capture::new(&store).import_found(std::slice::from_ref(one), &owner, &|_| {}).await.unwrap();
                assert!(taken.iter().all(Result::is_ok), "{}", one.path.display());
            }
            store.heads("session/", None, 10_000).await.unwrap()
        });
        seen.push(heads.into_iter().map(|head| (head.name.to_string(), head.commit)).collect());
        candidates.reverse();
    }
    let moved: Vec<_> = seen[0].iter().filter(|head| !seen[1].contains(head)).collect();
    assert!(moved.is_empty(), "{} of {} heads: {moved:?}", moved.len(), seen[0].len());
    assert_eq!(seen[0].len(), seen[1].len());
}

/// Tells whether anybody says anything in a chain.
async fn says_something(store: &Contexture, commit: CommitId) -> bool {
    let mut entries = store.entries(Some(commit), Stop::Root).await.unwrap();
    while let Some(content) = entries.next().await.unwrap() {
        let ContentMeaning::Steps { steps, .. } = content.said else { return true };
        if steps.iter().any(|step| step.entries.iter().any(|entry| !entry.parts.is_empty())) {
            return true;
        }
    }
    false
}

/// Returns a directory of real transcripts; where it is not, says that a test skipped.
fn shared(below: &str, test: &str) -> Option<PathBuf> {
    let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/transcripts").join(below);
    if place.is_dir() {
        return Some(place.canonicalize().unwrap());
    }
    writeln!(io::stderr(), "SKIPPED {test}: there are no transcripts here").expect("standard error can be written");
    None
}

/// Opens the store that `ctx` has filled.
async fn open(directory: &TempDir) -> Contexture {
    let options = Options {
        location: directory.path().join("store").as_path().into(),
        space: SpaceName::new("default").unwrap(),
        actor: Actor::new("ada").unwrap(),
        clock: TestClock::ticking().reader(),
        secrets: contexture_testkit::known_secrets(),
    };
    Contexture::open(options).await.unwrap()
}

/// Takes in a directory, and assembles one head of so many under several budgets. Returns how many requests were made.
fn become_valid_requests(sessions: &Path, one_of: usize) -> usize {
    let directory = TempDir::new().unwrap();
    import(&directory, &sessions.canonicalize().unwrap());
    block_on(async {
        let store = open(&directory).await;
        let heads = store.heads("", None, 10_000).await.unwrap();
        let mut requests = 0;
        for head in heads.iter().step_by(one_of) {
            for max_tokens in [100_000, 20_000, 4_000] {
                requests += becomes_valid_requests(&store, head, max_tokens).await;
            }
        }
        requests
    })
}

async fn becomes_valid_requests(store: &Contexture, head: &Head, max_tokens: u64) -> usize {
    let resume = built_in().into_iter().find(|recipe| recipe.name == "resume");
    let mut recipe = resume.expect("it comes with the program").recipe();
    recipe.budget.limits.max_tokens = Some(max_tokens);
    recipe.budget.limits.reserved_tokens = None;
    recipe.segments.iter_mut().for_each(|segment| segment.reserve = 0);
    recipe.targets = ["anthropic", "openai-chat", "openai-responses"].map(|target| target.parse().unwrap()).to_vec();
    let request = Assemble {
        recipe,
        provenance: RecipeProvenance::BuiltIn,
        commit: Some(head.commit),
        head: Some(head.name.clone()),
        stream: None,
        trigger: Some(TriggerMessage { text: "Go on.".to_owned(), data: None }),
        items: Vec::new(),
        files: Vec::new(),
        directory: PathBuf::from("/nowhere"),
        channel: None,
        correlation: BTreeMap::new(),
    };
    let assembled = store.assemble(&request).await.unwrap();
    let checks = [assert_anthropic, assert_openai_chat, assert_openai_responses];
    for (((target, bytes), record), check) in assembled.renderings.iter().zip(&assembled.document.targets).zip(checks) {
        check(bytes);
        let outcome = &record.outcome;
        assert_eq!(outcome.over_budget_tokens, 0, "{} {target}", head.name);
        assert!(outcome.total.tokens <= max_tokens, "{} {target}", head.name);
        let last = outcome.decisions.iter().rfind(|decision| decision.item.as_str() == "trigger");
        assert!(last.is_some_and(|decision| matches!(decision.fate, Fate::Included { .. })));
    }
    assert!(store.replay_envelope(assembled.envelope).await.unwrap().is_equal(), "{}", head.name);
    assembled.renderings.len()
}

/// Takes in a directory twice and compares. Returns how many files came in.
fn comes_back_as_it_is(sessions: &Path) -> u64 {
    let store = TempDir::new().unwrap();
    let sessions = sessions.canonicalize().unwrap();
    let before = contents(&sessions);
    let first = import(&store, &sessions);
    let second = import(&store, &sessions);
    assert_eq!(sum(&second, "files"), sum(&first, "files"));
    assert_eq!(sum(&second, "new_commits"), 0);
    assert!(sum(&first, "new_commits") > 0);
    let compared = ctx(&store, &["--json", "import", "--verify", sessions.to_str().unwrap()]);
    let same = compared.lines().filter(|line| line.contains(r#""result":"same""#)).count() as u64;
    assert_eq!(same, sum(&first, "files"));
    assert!(contents(&sessions) == before, "an import has changed a file");
    same
}

fn import(store: &TempDir, sessions: &Path) -> Value {
    let printed = ctx(store, &["--json", "import", sessions.to_str().unwrap()]);
    serde_json::from_str(printed.lines().last().expect("an import ends with a sum")).unwrap()
}

/// Adds up a count over all runtimes.
fn sum(closing: &Value, name: &str) -> u64 {
    closing["runtimes"].as_object().unwrap().values().map(|runtime| runtime[name].as_u64().unwrap()).sum()
}

fn contents(directory: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(directory).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(contents(&path));
        } else {
            found.insert(path.clone(), fs::read(&path).unwrap());
        }
    }
    found
}

fn ctx(store: &TempDir, arguments: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ctx"));
    let variables = [("CTX_PRINCIPAL", "ada@laptop"), ("CTX_MACHINE", "laptop")];
    command.env_clear().env("HOME", store.path()).env("CTX_STORE", store.path().join("store")).envs(variables);
    let output = command.args(arguments).output().unwrap();
    assert!(output.status.success(), "ctx {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}
