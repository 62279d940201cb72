//! Whole directories of sessions: they come in, nothing comes twice, and each file comes back byte for byte.

use std::{
    collections::BTreeMap,
    fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
    process::Command,
};

use contexture::{
    Assemble, Contexture, Head, Options, TriggerMessage,
    assembly::{
        envelope::Fate,
        recipe::{RecipeProvenance, built_in},
    },
    core::{Actor, SpaceName},
};
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
    assert_eq!(comes_back_as_it_is(&sessions), 9, "there is a session in each format");
}

#[test]
fn real_sessions_come_back_as_they_are() {
    let sessions = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/transcripts");
    if !sessions.is_dir() {
        let skipped =
            writeln!(io::stderr(), "SKIPPED real_sessions_come_back_as_they_are: there are no transcripts here");
        skipped.expect("standard error can be written");
        return;
    }
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
    let sessions = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/transcripts");
    if !sessions.is_dir() {
        let skipped =
            writeln!(io::stderr(), "SKIPPED real_sessions_become_valid_requests: there are no transcripts here");
        skipped.expect("standard error can be written");
        return;
    }
    let requests = become_valid_requests(&sessions, 5);
    writeln!(io::stderr(), "ASSEMBLED {requests} valid requests").expect("standard error can be written");
    assert!(requests > 300, "{requests} requests are fewer than there are sessions for");
}

/// Takes in a directory, and assembles one head of so many under several budgets. Returns how many requests were made.
fn become_valid_requests(sessions: &Path, one_of: usize) -> usize {
    let directory = TempDir::new().unwrap();
    import(&directory, &sessions.canonicalize().unwrap());
    block_on(async {
        let options = Options {
            location: directory.path().join("store").as_path().into(),
            space: SpaceName::new("default").unwrap(),
            actor: Actor::new("ada").unwrap(),
            clock: TestClock::ticking().reader(),
            secrets: contexture_testkit::known_secrets(),
        };
        let store = Contexture::open(options).await.unwrap();
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
