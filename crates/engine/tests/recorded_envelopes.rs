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
art-6274b49cd029 7c05a170b0b63607 art-d6113784df6c art-cfe1d29b79d3
art-8324818f1864 542a32dd2b62feaa art-5223b1fcfa24 art-13e43842e2fb
art-6274b49cd029 94388a1a7da73157 art-d6113784df6c art-cfe1d29b79d3
art-8324818f1864 542a32dd2b62feaa art-5223b1fcfa24 art-13e43842e2fb
art-36c663316768 0c1febfc6ef6eaf9 art-186191fe8ceb art-9084eb53ea22
art-262fc1a5af98 04e9bbad9a2420c9 art-aedfe8e8290a art-06466c773537
art-e22321c5c405 998bc2cb340defe7 art-6a9dc2dfe5a7 art-cd6c87ca822c
art-3e0a14fc24a1 622c47c1c66b3528 art-33958d682beb art-57a05eb38d0f
art-539497b99fbb fc61c76a29c583b6 art-1e8a875a5df9 art-b895e36279a2
art-cf3a457b27bd 87ff167dce6bd67e art-c03e4a05ec1a art-73c224a9d96a
art-55a0300528d1 01ac53e5fcd1b6d2 art-50228f32d934 art-299f03c6eb50
art-e775ed433e29 aa4ca1a689c435b9 art-507a0faa105f art-6afad14ebe6b
art-26e776478e44 71b17d66e51f413d art-0925d2094687 art-c4d12f2d8a94
art-515eb3ca17e7 d9514976027c6db7 art-1b642e8809b8 art-a39702f94b45
";
