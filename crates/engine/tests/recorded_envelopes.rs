//! Assemblies whose bytes were recorded: whatever becomes faster, what is kept of an assembly stays the same.

use std::{collections::BTreeMap, fmt::Write as _, path::PathBuf};

use contexture::{
    Assemble, AssembledContext, Contexture, EnvelopeFilter, GivenItems, TriggerMessage,
    assembly::{
        Digest, Priority,
        envelope::Envelope,
        pipeline::PipelineVersion,
        recipe::{Recipe, RecipeProvenance, Syntax, TargetSpec},
    },
};
use contexture_core::{Annotation, ArtifactId, CommitId, EnvelopeId, LabelKey};
use contexture_testkit::{Harness, SqliteBackend, block_on, noise, text, write};
use serde_json::{Value, json};

const SEGMENTS: &str = r#"
[[segments]]
name = "system"
stability = "stable"
[[segments.sources]]
source = "system"
text = "You help."
[[segments]]
name = "history"
stability = "append"
reserve = 500
[[segments.sources]]
source = "history"
[[segments]]
name = "now"
stability = "volatile"
reserve = 400
overflow = "truncate_middle"
[[segments.sources]]
source = "items"
[[segments.sources]]
source = "retrieval"
limit = 2
[[segments.sources]]
source = "missing"
[[segments.sources]]
source = "trigger"
"#;

fn recipe(targets: &[&str], counter: &str, overflow: &str, max_tokens: u64) -> Recipe {
    let text = format!(
        "name = \"recorded\"\ncounter = {counter:?}\ntarget = {targets:?}\noverflow = {overflow:?}\n\
         [budget]\nmax_tokens = {max_tokens}\n{SEGMENTS}"
    );
    Recipe::parse(Syntax::Toml, text.as_bytes(), "recorded").unwrap()
}

fn request(commit: CommitId, recipe: Recipe) -> Assemble {
    let items = json!([
        {"id": "note", "content": "a note of the caller", "priority": "high"},
        {"id": "same", "content": "a note of the caller"},
        {"id": "data", "content": {"b": [1, 2.5], "a": "ü\u{1F600}\n"}, "title": "numbers"},
        {"id": "hidden", "content": "for reviewers", "visibility": ["reviewer"]},
        {"id": "blocked", "content": "[gone]", "redaction_state": "policy_blocked"},
        {"id": "masked", "content": "[masked]", "redaction_state": "masked", "redaction_method": "by hand"},
    ]);
    Assemble {
        recipe,
        provenance: RecipeProvenance::BuiltIn,
        commit: Some(commit),
        head: None,
        stream: None,
        trigger: Some(TriggerMessage { text: "Which question is open?".into(), data: Some(json!({"n": 1})) }),
        items: GivenItems::parse(items.to_string().as_bytes()).unwrap().0,
        files: Vec::new(),
        directory: PathBuf::from("/src"),
        channel: None,
        correlation: BTreeMap::from([("session_id".to_owned(), "s1".to_owned())]),
    }
}

/// A turn of Anthropic's messages, with thinking, a picture, two calls at once and a call that the next turn answers.
fn turn(n: usize, bytes: usize) -> String {
    let mut messages = vec![
        json!({"role": "user", "content": format!("question {n} \"{}\"", noise(&format!("q{n}"), 60))}),
        json!({"role": "assistant", "content": [
            {"type": "thinking", "thinking": format!("thought {n}"), "signature": "c2ln"},
            {"type": "text", "text": "I look.\n\n"},
            {"type": "tool_use", "id": format!("a{n}"), "name": "run", "input": {"z": n, "a": [null, true]}},
            {"type": "tool_use", "id": format!("b{n}"), "name": "read", "input": {}},
        ]}),
        json!({"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": format!("a{n}"), "content": format!("output {n} {}", noise(&format!("o{n}"), bytes))},
            {"type": "tool_result", "tool_use_id": format!("b{n}"), "is_error": true, "content": [{"type": "text", "text": "none\u{7}"}]},
        ]}),
        json!({"role": "assistant", "content": format!("answer {n} é")}),
    ];
    if n % 7 == 3 {
        let source = json!({"type": "base64", "media_type": "image/png", "data": "aGVsbG8="});
        messages.push(json!({"role": "user", "content": [{"type": "image", "source": source}]}));
    }
    if n % 5 == 2 {
        let call = json!({"type": "tool_use", "id": format!("late{n}"), "name": "wait", "input": {}});
        messages.push(json!({"role": "assistant", "content": [call]}));
    }
    if n % 5 == 3 && n > 0 {
        let result = json!({"type": "tool_result", "tool_use_id": format!("late{}", n - 1), "content": "it came"});
        messages.insert(0, json!({"role": "user", "content": [result]}));
    }
    Value::Array(messages).to_string()
}

async fn chain(store: &Contexture, turns: usize, bytes: usize) -> Vec<CommitId> {
    let mut commits: Vec<CommitId> = Vec::new();
    for n in 0..turns {
        let mut draft = write("anthropic-messages-v1", turn(n, bytes)).onto("main");
        if n % 3 != 1 {
            draft = draft.summary(&format!("turn {n} was done"));
        }
        for (at, key, value) in [(0, "cwd", "/src"), (0, "model", "opus"), (1, "branch", "main"), (4, "model", "haiku")]
        {
            if at == n {
                let (key, value) = (LabelKey::new(key).unwrap(), text(value));
                draft.request.annotations.push(Annotation::Label { key, value });
            }
        }
        if let Some(last) = commits.last() {
            draft = draft.after(*last);
        }
        commits.push(draft.commit(store).await);
    }
    commits
}

/// Returns digests of everything that is kept: inputs, renderings, the envelope and its events.
///
/// The version of the program is left out, because it is in the envelope and changes.
async fn kept(store: &Contexture, assembled: &AssembledContext) -> String {
    let mut document = assembled.document.clone();
    document.producer.version.clear();
    let mut all = format!("{} {}", short(&document.inputs.to_string()), document_digest(&document));
    for (target, bytes) in &assembled.renderings {
        let found = ArtifactId::of(bytes);
        assert_eq!(document.targets.iter().find(|made| made.outcome.target == *target).unwrap().artifact, found);
    }
    let renderings: String = document.targets.iter().map(|target| target.artifact.to_string()).collect();
    write!(all, " {}", short(&ArtifactId::of(renderings.as_bytes()).to_string())).unwrap();
    let events = store.envelope_events(assembled.envelope, 0, 1000).await.unwrap();
    // Ids of events follow from the id of the envelope, which has the version in it.
    let events = events.iter().map(|event| {
        let document = event.event.document.as_str().replace(&assembled.envelope.to_string(), "ENVELOPE");
        let mut event: Value = serde_json::from_str(&document).unwrap();
        event["event_id"] = Value::Null;
        event
    });
    let events = Value::Array(events.collect());
    write!(all, " {}", short(&ArtifactId::of(events.to_string().as_bytes()).to_string())).unwrap();
    assert!(store.replay_envelope(assembled.envelope).await.unwrap().is_equal());
    all
}

fn document_digest(document: &Envelope) -> String {
    let mut document = document.clone();
    // The envelope before has the version in its id too.
    document.previous = None;
    // The recordings are older than what envelopes say of it.
    document.recipe.provenance = None;
    for target in &mut document.targets {
        if let Some(prefix) = &mut target.prefix {
            prefix.of = EnvelopeId::of(b"before");
        }
    }
    let json = serde_json::to_vec(&document).unwrap();
    Digest::of(&json).to_string()["blake3:".len()..][..16].to_owned()
}

fn short(id: &str) -> String {
    id[..16].to_owned()
}

const ALL_TARGETS: [&str; 9] = [
    "prompt",
    "anthropic",
    "openai-chat",
    "openai-responses",
    "claude-code",
    "codex",
    "gemini",
    "pi",
    "reviewer:anthropic",
];

async fn recorded() -> Vec<String> {
    let harness = Harness::<SqliteBackend>::new().await;
    let store = harness.open().await;
    let commits = chain(&store, 60, 300).await;
    let mut found = Vec::new();
    for (targets, counter, overflow, max_tokens) in [
        (&["anthropic"][..], "chars4", "summarize_oldest", 3_000),
        (&["anthropic"], "chars4", "summarize_oldest", 3_000),
        (&ALL_TARGETS, "chars4", "summarize_oldest", 6_000),
        (&ALL_TARGETS, "o200k", "truncate_middle", 9_000),
        (&["prompt", "anthropic"], "claude-estimate", "truncate_tail", 100_000),
        (&["anthropic"], "chars4", "truncate_middle", 1000),
    ] {
        for at in [57, 58] {
            let request = request(commits[at], recipe(targets, counter, overflow, max_tokens));
            let request = Assemble { stream: Some("recorded".parse().unwrap()), ..request };
            found.push(kept(&store, &store.assemble(&request).await.unwrap()).await);
        }
    }
    let large = Harness::<SqliteBackend>::new().await;
    let store = large.open().await;
    let commits = chain(&store, 40, 20_000).await;
    for at in [38, 39] {
        let recipe = recipe(&["anthropic"], "chars4", "summarize_oldest", 150_000);
        found.push(kept(&store, &store.assemble(&request(commits[at], recipe)).await.unwrap()).await);
    }
    found
}

#[test]
fn what_is_kept_of_an_assembly_is_what_was_recorded() {
    let found = block_on(recorded());
    let expected: Vec<&str> = RECORDED.lines().filter(|line| !line.is_empty()).collect();
    assert_eq!(found, expected, "\n{}", found.join("\n"));
}

/// Assembles along a chain that grows, two streams in turn, and changes targets, counter and budget on the way.
async fn assembled_along(commits: usize, opens_again: bool) -> Vec<(EnvelopeId, Envelope, Vec<(TargetSpec, Vec<u8>)>)> {
    let harness = Harness::<SqliteBackend>::new().await;
    let mut store = harness.open().await;
    let commits = chain(&store, commits, 300).await;
    let recipes = [
        (&["anthropic"][..], "chars4", "summarize_oldest", 9_000),
        (&["anthropic"], "chars4", "summarize_oldest", 9_000),
        (&ALL_TARGETS, "chars4", "summarize_oldest", 9_000),
        (&ALL_TARGETS, "claude-estimate", "truncate_middle", 9_000),
        (&["anthropic", "prompt"], "o200k", "truncate_middle", 1_000),
        (&["anthropic"], "chars4", "truncate_tail", 9_000),
    ];
    let mut made = Vec::new();
    for (at, (targets, counter, overflow, max_tokens)) in (commits.len() - recipes.len()..).zip(recipes) {
        for stream in ["one", "other"] {
            if opens_again {
                store = harness.open().await;
            }
            let mut recipe = recipe(targets, counter, overflow, max_tokens);
            if stream == "other" {
                recipe.targets.reverse();
                recipe.segments[1].sources[0].priority = Priority::Low;
            }
            let request = Assemble { stream: Some(stream.parse().unwrap()), ..request(commits[at], recipe) };
            let assembled = store.assemble(&request).await.unwrap();
            made.push((assembled.envelope, assembled.document, assembled.renderings));
        }
    }
    made
}

#[test]
fn a_handle_that_assembled_before_assembles_what_a_fresh_one_does() {
    assert_eq!(block_on(assembled_along(60, false)), block_on(assembled_along(60, true)));
}

/// Envelopes that the program made before its pipeline had a second version, with every rendering, limits of every kind,
/// what is required and does not fit, and a chain with a compaction.
const OF_THE_FIRST_PIPELINE: &[u8] = include_bytes!("fixtures/assembly-1/envelopes.bundle");

#[test]
fn envelopes_of_the_first_pipeline_are_made_again_byte_for_byte() {
    block_on(async {
        let harness = Harness::<SqliteBackend>::new().await;
        let store = harness.open().await;
        store.import_bundle(std::io::Cursor::new(OF_THE_FIRST_PIPELINE)).await.unwrap();
        let envelopes = store.envelopes().list(&EnvelopeFilter::default(), None, 100).await.unwrap();
        assert_eq!(envelopes.len(), 7);
        for envelope in envelopes {
            let document = store.envelope_document(envelope.id).await.unwrap();
            assert_eq!(document.pipeline, PipelineVersion::First);
            let replayed = store.replay_envelope(envelope.id).await.unwrap();
            assert!(replayed.is_equal(), "{}", document.stream);
        }
    });
}

/// Of each assembly: the frozen inputs, the envelope, its renderings, its events.
const RECORDED: &str = "
art-55fdd80a2bae a610f964474a24d2 art-d6113784df6c art-e865cf366b93
art-9af7604866cd 6cb2231d2f88d639 art-5223b1fcfa24 art-4d9becbc5a7e
art-55fdd80a2bae 22eef8d16f3d5abb art-d6113784df6c art-860d87f479ea
art-9af7604866cd 6cb2231d2f88d639 art-5223b1fcfa24 art-430510fefb77
art-25e82c35bd7a 9987530e80b30885 art-61d03ab7fda2 art-7ba630400fda
art-948eea7409cf 8deda6b2dfe3b8af art-f3095df91fc8 art-55d459999b83
art-5b2d7d12b1dd 13eafc1005116661 art-cec2beca2b0d art-b0cd2607960a
art-eaf1cff3eed4 45e3a833f6697e11 art-b2374553710f art-d09e558286ed
art-08283f29e9c0 38760e4748acc43b art-1e8a875a5df9 art-97f0a7115ffa
art-c5e2cb2b4a1e 46988babc32da8fe art-c03e4a05ec1a art-082d56a29443
art-64e1bcf16e24 485055dca85da8ab art-50228f32d934 art-2361e25e98b7
art-4f7a60b3c62b fcf9a8e7d5ab486b art-507a0faa105f art-572eedbe3a01
art-9a9af190150a 7c0c04c889c084d9 art-0925d2094687 art-ce3ca54e8460
art-a2ce5e057a09 3cbc93adf2663491 art-1b642e8809b8 art-7c3acb7aa311
";
