//! Assemble: what a model is given, and the envelope that proves it.

use std::{collections::BTreeMap, io, path::PathBuf};

use contexture::{
    Assemble, AssembledContext, Contexture, Error, GivenItems, MissingFilter, TriggerMessage,
    assembly::{
        check::{self, Level, Strictness},
        envelope::{Fate, GapKind, TargetOutcome},
        pipeline::Rejected,
        recipe::{Recipe, RecipeProvenance, RequiredOverflow, Syntax},
        standard::{InjectionPoint, MissingStatus, OmissionReason},
    },
};
use contexture_core::{CommitId, EventKind, JournalKind, SpaceName, Stream};
use serde_json::{Value, json};

use crate::{Backend, Harness, assert_whole, head, journal, noise, write};

/// A recipe with everything in it that this suite asks for.
pub(super) const RECIPE: &str = r#"
name = "all"
counter = "chars4"
target = "anthropic"
[budget]
max_tokens = 2000
[[segments]]
name = "system"
stability = "stable"
[[segments.sources]]
source = "system"
text = "You help."
[[segments]]
name = "history"
stability = "append"
[[segments.sources]]
source = "history"
[[segments]]
name = "notes"
stability = "volatile"
reserve = 200
[[segments.sources]]
source = "files"
[[segments.sources]]
source = "items"
[[segments.sources]]
source = "missing"
[[segments.sources]]
source = "trigger"
"#;

pub(super) fn recipe(text: &str) -> Recipe {
    Recipe::parse(Syntax::Toml, text.as_bytes(), "test").unwrap()
}

pub(super) fn request(recipe: Recipe) -> Assemble {
    Assemble {
        recipe,
        provenance: RecipeProvenance::BuiltIn,
        commit: None,
        head: None,
        stream: None,
        trigger: Some(TriggerMessage { text: "Go on.".into(), data: None }),
        items: Vec::new(),
        files: Vec::new(),
        directory: PathBuf::from("."),
        channel: None,
        correlation: BTreeMap::new(),
    }
}

pub(super) fn of_commit(commit: CommitId) -> Assemble {
    Assemble { commit: Some(commit), ..request(recipe(RECIPE)) }
}

pub(super) fn items(json: &Value) -> Vec<contexture::GivenItem> {
    GivenItems::parse(json.to_string().as_bytes()).unwrap().0
}

/// A turn of Anthropic's messages: a question, a call with its result, an answer.
pub(super) fn turn(n: usize, words: usize) -> String {
    let filler = "word ".repeat(words);
    json!([
        {"role": "user", "content": format!("question {n}")},
        {"role": "assistant", "content": [{"type": "tool_use", "id": format!("call{n}"), "name": "run", "input": {"n": n}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": format!("call{n}"), "content": format!("output {n} {filler}")}]},
        {"role": "assistant", "content": format!("answer {n}")}
    ])
    .to_string()
}

/// A chain of turns, each with a summary.
pub(super) async fn chain(store: &Contexture, turns: usize, words: usize) -> Vec<CommitId> {
    let mut commits: Vec<CommitId> = Vec::new();
    for n in 0..turns {
        let mut draft =
            write("anthropic-messages-v1", turn(n, words)).summary(&format!("turn {n} was done")).onto("main");
        if let Some(last) = commits.last() {
            draft = draft.after(*last);
        }
        commits.push(draft.commit(store).await);
    }
    commits
}

fn outcome(assembled: &AssembledContext) -> &TargetOutcome {
    &assembled.document.targets[0].outcome
}

fn text(assembled: &AssembledContext) -> String {
    String::from_utf8(assembled.renderings[0].1.clone()).unwrap()
}

fn reason(assembled: &AssembledContext, id: &str) -> Option<OmissionReason> {
    let decision = outcome(assembled).decisions.iter().find(|decision| decision.item.as_str() == id);
    match &decision.unwrap_or_else(|| panic!("{id} is an item")).fate {
        Fate::Omitted { reason, .. } => Some(*reason),
        Fate::Included { .. } => None,
    }
}

async fn is_replayable(store: &Contexture, assembled: &AssembledContext) -> bool {
    let replayed = store.replay_envelope(assembled.envelope).await.unwrap();
    assert_eq!(replayed.targets[0].bytes, assembled.renderings[0].1);
    replayed.is_equal()
}

pub async fn a_turn_leaves_an_envelope_that_can_be_replayed<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let commits = chain(&store, 3, 5).await;
    let assembled = store.assemble(&of_commit(commits[2])).await.unwrap();
    let said = text(&assembled);
    for n in 0..3 {
        assert!(said.contains(&format!("question {n}")) && said.contains(&format!("output {n}")), "{said}");
    }
    assert!(said.contains("You help.") && said.contains("Go on."));
    assert!(outcome(&assembled).total.tokens <= 2000);
    assert!(is_replayable(&store, &assembled).await);
    assert_eq!(store.envelope_document(assembled.envelope).await.unwrap(), assembled.document);
    // What was there then is there still when the chain has grown.
    write("anthropic-messages-v1", turn(9, 5)).after(commits[2]).commit(&store).await;
    assert!(is_replayable(&store, &assembled).await);
    assert_whole(&store, &SpaceName::new("default").unwrap()).await;
}

pub async fn the_oldest_turns_go_first_and_leave_their_summaries<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let commits = chain(&store, 12, 200).await;
    let assembled = store.assemble(&of_commit(commits[11])).await.unwrap();
    let said = text(&assembled);
    assert!(outcome(&assembled).total.tokens <= 2000);
    assert!(said.contains("question 11") && !said.contains("question 0"), "{said}");
    assert!(said.contains("turn 7 was done") && said.contains("earlier turns of this conversation left out"), "{said}");
    // Of every turn it can be asked why it is in or out.
    for (n, commit) in commits.iter().enumerate() {
        let why = store.why(assembled.envelope, &commit.to_string()).await.unwrap();
        let is_in = why.answers.iter().all(|answer| matches!(answer.fate, Fate::Included { .. }));
        let has_step =
            |answer: &&contexture::Answer| !answer.item.as_ref().is_some_and(|id| id.as_str().ends_with("#summary"));
        assert!(why.answers.iter().filter(has_step).count() >= 1, "turn {n}");
        assert!(!is_in || n > 0, "turn {n} cannot be whole");
    }
    assert!(is_replayable(&store, &assembled).await);
}

pub async fn a_long_history_is_read_no_further_than_the_budget_reaches<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let commits = chain(&store, 150, 50).await;
    let assembled = store.assemble(&of_commit(commits[149])).await.unwrap();
    let unread = assembled.document.unread.clone().expect("most of it is not read");
    assert_eq!((unread.first, unread.turns), (commits[0], 150 - 16));
    assert_eq!(unread.last, commits[133]);
    let why = store.why(assembled.envelope, &commits[3].to_string()).await.unwrap();
    let Fate::Omitted { reason, .. } = &why.answers[0].fate else { panic!("it is out") };
    assert_eq!(*reason, OmissionReason::BudgetLimit);
    let other = write("text", "elsewhere").commit(&store).await;
    let unknown = store.why(assembled.envelope, &other.to_string()).await.unwrap_err();
    assert!(matches!(unknown, Error::NotInEnvelope { .. }), "{unknown}");
    // Where the first turns do not fill the budget, no more are read than probably do.
    let larger = Assemble {
        recipe: recipe(&RECIPE.replace("max_tokens = 2000", "max_tokens = 8000")),
        ..of_commit(commits[149])
    };
    let assembled = store.assemble(&larger).await.unwrap();
    let unread = assembled.document.unread.clone().expect("most of it is not read");
    let tokens = outcome(&assembled).total.tokens;
    assert!((6000..=8000).contains(&tokens) && (60..134).contains(&unread.turns), "{tokens}, {}", unread.turns);
    assert!(is_replayable(&store, &assembled).await);
}

pub async fn a_compaction_is_where_the_history_begins<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let commits = chain(&store, 2, 5).await;
    let summary = json!([{"role": "user", "content": "All of it in short."}]).to_string();
    let compaction =
        write("anthropic-messages-v1", summary).after(commits[1]).kind(contexture_core::CommitKind::Compaction);
    let compaction = compaction.commit(&store).await;
    let tip = write("anthropic-messages-v1", turn(7, 5)).after(compaction).commit(&store).await;
    let said = text(&store.assemble(&of_commit(tip)).await.unwrap());
    assert!(
        said.contains("All of it in short.") && said.contains("question 7") && !said.contains("question 1"),
        "{said}"
    );
    let mut beyond = of_commit(tip);
    beyond.recipe = recipe(&RECIPE.replace("source = \"history\"", "source = \"history\"\nbeyond_compaction = true"));
    let said = text(&store.assemble(&beyond).await.unwrap());
    assert!(said.contains("question 1") && said.contains("question 7"), "{said}");
}

pub async fn omitted_items_have_reasons<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let five = json!([
        {"id": "a", "content": "one"}, {"id": "b", "content": "two", "priority": "high"},
        {"id": "c", "content": "three"}, {"id": "d", "content": "four", "priority": "low"},
        {"id": "e", "content": "one"}, {"id": "f", "content": "hidden", "visibility": ["reviewer"]},
        {"id": "g", "content": " "}
    ]);
    let mut asked = request(recipe(&RECIPE.replace("max_tokens = 2000", "max_items = 4")));
    asked.items = items(&five);
    let assembled = store.assemble(&asked).await.unwrap();
    let reasons: Vec<_> = ["a", "b", "c", "d", "e", "f", "g"].iter().map(|id| reason(&assembled, id)).collect();
    let (limit, same) = (Some(OmissionReason::BudgetLimit), Some(OmissionReason::Duplicate));
    let (hidden, empty) = (Some(OmissionReason::NotVisibleToTarget), Some(OmissionReason::Custom));
    assert_eq!(reasons, [None, None, limit, limit, same, hidden, empty], "system, trigger, b and a are in");
}

pub async fn what_was_redacted_is_reported_as_such<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let mut asked = request(recipe(RECIPE));
    asked.items = items(&json!([
        {"id": "key", "content": "KEY=****", "redaction_state": "masked", "redaction_method": "pattern", "policy_refs": ["no-secrets"]},
        {"id": "plan", "content": "the merger", "redaction_state": "policy_blocked", "policy_refs": ["legal"]},
    ]));
    let assembled = store.assemble(&asked).await.unwrap();
    let (target, _) = assembled.renderings[0];
    assert!(text(&assembled).contains("KEY=****") && !text(&assembled).contains("merger"));
    assert_eq!(reason(&assembled, "plan"), Some(OmissionReason::PolicyBlocked));
    store.inject(assembled.envelope, target, InjectionPoint::MessageHistory, None, None).await.unwrap();
    let export = store.export_context(&[assembled.envelope]).await.unwrap().bytes;
    let report = check::check(&export, Strictness::Recommended);
    assert_eq!(report.level, Some(Level::Replayable), "{:?}", report.faults);
    let value: Value = serde_json::from_slice(&export).unwrap();
    let records = value["records"].as_array().unwrap();
    let of = |kind: &'static str| {
        records.iter().filter(move |record| record["type"] == kind).map(|record| &record["record"])
    };
    let item = of("context_item").find(|item| item["item_id"].as_str().unwrap().ends_with("/key")).unwrap();
    assert_eq!((&item["redaction_state"], &item["redaction_method"]), (&json!("masked"), &json!("pattern")));
    assert_eq!(item["policy_refs"][0]["id"], "no-secrets");
    let blocks = of("context_assembly").flat_map(|assembly| assembly["ordered_blocks"].as_array().unwrap());
    assert_eq!(blocks.filter(|block| block["redaction_state"] == "masked").count(), 1);
    let evidence = of("context_envelope").next().unwrap()["evidence_refs"].as_array().unwrap();
    assert_eq!(evidence.len(), 2, "what it was made of, and what was sent");
}

pub async fn a_retry_is_another_envelope<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let commits = chain(&store, 1, 5).await;
    let mut asked = of_commit(commits[0]);
    asked.correlation = BTreeMap::from([("session_id".into(), "s".into()), ("run_id".into(), "r".into())]);
    let first = store.assemble(&asked).await.unwrap();
    harness.clock.advance(std::time::Duration::from_secs(1));
    let second = store.assemble(&asked).await.unwrap();
    assert_ne!(first.envelope, second.envelope);
    assert_eq!((first.document.attempt, second.document.attempt), (1, 2));
    assert_eq!(second.document.previous, Some(first.envelope));
    let prefix = second.document.targets[0].prefix.clone().unwrap();
    assert_eq!((prefix.tokens, prefix.broken), (outcome(&first).total.tokens, None), "nothing changed");
    assert!(is_replayable(&store, &first).await && is_replayable(&store, &second).await);
    // Another question is another turn.
    asked.trigger = Some(TriggerMessage { text: "And now?".into(), data: Some(json!({"n": 1.5})) });
    let third = store.assemble(&asked).await.unwrap();
    assert_eq!(third.document.attempt, 1);
    let broken = third.document.targets[0].prefix.clone().unwrap().broken.unwrap();
    assert_eq!(broken.after.unwrap().as_str(), "trigger:data");
    assert!(text(&third).contains("\\\"n\\\": 1.5"), "{}", text(&third));
}

pub async fn what_is_missing_is_raised_and_settled<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let stream = Some(Stream::new("work").unwrap());
    let mut asked = Assemble { stream, ..request(recipe(RECIPE)) };
    asked.files = vec!["no/such/file.rs".into()];
    let gone = contexture_core::ArtifactId::of(b"gone").to_string();
    asked.items = items(&json!([{"id": "ref", "artifact": gone}]));
    let assembled = store.assemble(&asked).await.unwrap();
    let mut subjects: Vec<_> = assembled.document.gaps.iter().map(|record| record.gap.subject.clone()).collect();
    subjects.sort();
    assert_eq!(subjects, [gone.clone(), "file:no/such/file.rs".to_owned()]);
    let open = store.list_missing(&MissingFilter::default(), None, 10).await.unwrap();
    assert_eq!(open.len(), 2);
    // A model is told what is missing, at once and until it is settled, and once.
    let prompt = text(&assembled);
    assert_eq!(prompt.matches("What does file:no/such/file.rs say?").count(), 1, "{prompt}");
    asked.files = Vec::new();
    asked.items = Vec::new();
    let prompt = text(&store.assemble(&asked).await.unwrap());
    assert_eq!(prompt.matches("What does file:no/such/file.rs say?").count(), 1, "{prompt}");
    assert!(prompt.contains(&gone), "{prompt}");
    // Other prompts are not about it, be they of another stream or of none.
    let other = Assemble { stream: Some(Stream::new("other").unwrap()), ..request(recipe(RECIPE)) };
    for unrelated in [other, request(recipe(RECIPE))] {
        let prompt = text(&store.assemble(&unrelated).await.unwrap());
        assert!(!prompt.contains("no/such/file.rs"), "{prompt}");
    }
    // The same gap is one gap.
    asked.files = vec!["no/such/file.rs".into()];
    let again = store.assemble(&asked).await.unwrap();
    let first = assembled.document.gaps.iter().find(|record| record.gap.subject.starts_with("file:")).unwrap();
    assert_eq!(again.document.gaps, std::slice::from_ref(first));
    assert_eq!(store.list_missing(&MissingFilter::default(), None, 10).await.unwrap().len(), 2);
    for stored in open {
        let with = vec!["art-found".to_owned()];
        let settled =
            store.settle_missing(stored.missing.id, MissingStatus::Resolved, with, Some("moved".into())).await;
        assert_eq!(settled.unwrap().status, MissingStatus::Resolved);
    }
    asked.files = Vec::new();
    let prompt = text(&store.assemble(&asked).await.unwrap());
    assert!(!prompt.contains("no/such/file.rs"), "{prompt}");
    let resolved =
        |record: &&contexture_core::JournalRecord| record.kind == JournalKind::Event(EventKind::MissingResolved);
    assert_eq!(journal(&store).await.iter().filter(resolved).count(), 2);
    // What was settled and is missing again is open again, and what can be read again is settled.
    let directory = tempfile::tempdir().unwrap();
    directory.path().clone_into(&mut asked.directory);
    asked.files = vec!["no/such/file.rs".into()];
    store.assemble(&asked).await.unwrap();
    let is_open = async |store: &Contexture| {
        let known = store.missing(first.id).await.unwrap();
        known.missing.status.as_str() == "open"
    };
    assert!(is_open(&store).await);
    std::fs::create_dir_all(directory.path().join("no/such")).unwrap();
    std::fs::write(directory.path().join("no/such/file.rs"), "fn here() {}").unwrap();
    let found = store.assemble(&asked).await.unwrap();
    assert!(text(&found).contains("fn here()") && !text(&found).contains("What does file"), "{}", text(&found));
    assert!(!is_open(&store).await);
    // Each envelope with the gap proves what became of it.
    let both = [assembled.envelope, again.envelope];
    for envelope in both {
        let target = assembled.renderings[0].0;
        store.inject(envelope, target, InjectionPoint::MessageHistory, None, None).await.unwrap();
    }
    for envelopes in [&both[..1], &both[1..], &both] {
        let export = store.export_context(envelopes).await.unwrap().bytes;
        let report = check::check(&export, Strictness::Recommended);
        assert_eq!(report.level, Some(Level::Replayable), "{:?}", report.faults);
    }
}

pub async fn what_is_required_and_does_not_fit_is_reported_or_rejected<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let long = items(&json!([{"id": "long", "content": "word ".repeat(4000), "priority": "required"}]));
    let mut asked = Assemble { items: long, ..request(recipe(RECIPE)) };
    let refused = store.assemble(&asked).await.unwrap_err();
    assert!(matches!(refused, Error::Rejected(Rejected::Required { .. })), "{refused}");
    asked.recipe = recipe(&RECIPE.replace("[budget]", "[budget]\nrequired = \"include\""));
    let over = store.assemble(&asked).await.unwrap();
    assert!(outcome(&over).over_budget_tokens > 0);
    assert!(over.document.gaps.iter().all(|record| record.gap.kind == GapKind::RequiredTooLarge));
    asked.recipe = recipe(&RECIPE.replace("[budget]", "overflow = \"truncate_middle\"\n[budget]"));
    let cut = store.assemble(&asked).await.unwrap();
    assert_eq!(outcome(&cut).over_budget_tokens, 0);
    assert!(text(&cut).contains("characters left out"));
    assert!(is_replayable(&store, &cut).await);
    asked.recipe = recipe(&RECIPE.replace("[budget]", "overflow = \"reject\"\n[budget]"));
    let rejected = store.assemble(&asked).await.unwrap_err();
    assert!(matches!(rejected, Error::Rejected(_)), "{rejected}");
    let failed =
        |record: &&contexture_core::JournalRecord| record.kind == JournalKind::Event(EventKind::AssemblyFailed);
    assert_eq!(journal(&store).await.iter().filter(failed).count(), 2);
    let mut nothing = request(recipe(RECIPE));
    nothing.recipe.budget.limits.max_tokens = Some(0);
    assert!(matches!(store.assemble(&nothing).await, Err(Error::Rejected(_))));
    nothing.recipe.budget.required = RequiredOverflow::Include;
    let required = store.assemble(&nothing).await.unwrap();
    assert!(outcome(&required).over_budget_tokens > 0 && is_replayable(&store, &required).await);
    let alone = RECIPE.replace("[[segments.sources]]\nsource = \"missing\"\n", "");
    let empty = Assemble { trigger: None, ..request(recipe(&alone)) };
    assert_eq!(outcome(&store.assemble(&empty).await.unwrap()).total.items, 1, "an empty history is no mistake");
}

pub async fn tokens_are_counted_once<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let commits = chain(&store, 5, 20).await;
    let mut asked = of_commit(commits[4]);
    asked.recipe.counter = Some("o200k".into());
    let first = store.assemble(&asked).await.unwrap();
    assert!(first.texts_counted > 10, "{}", first.texts_counted);
    harness.clock.advance(std::time::Duration::from_secs(1));
    let second = store.assemble(&asked).await.unwrap();
    assert_eq!(second.texts_counted, 0);
    assert_eq!(outcome(&first).total, outcome(&second).total);
    assert!(is_replayable(&store, &second).await);
}

pub async fn exports_reach_the_highest_level<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let commits = chain(&store, 12, 200).await;
    let mut asked = of_commit(commits[11]);
    asked.recipe =
        recipe(&RECIPE.replace("target = \"anthropic\"", "target = [\"model:openai-chat\", \"tool:prompt\"]"));
    asked.correlation = BTreeMap::from([("session_id".into(), "s".into()), ("turn_id".into(), "t".into())]);
    asked.files = vec!["no/such/file".into()];
    let assembled = store.assemble(&asked).await.unwrap();
    let level = |export: &[u8]| check::check(export, Strictness::Recommended).level;
    let before = store.export_context(&[assembled.envelope]).await.unwrap();
    assert_eq!(level(&before.bytes), Some(Level::Readable), "nobody said that anything was sent");
    for (target, _) in &assembled.renderings {
        let sent = store.inject(assembled.envelope, *target, InjectionPoint::MessageHistory, Some("m".into()), None);
        assert!(sent.await.unwrap().is_as_assembled);
    }
    let export = store.export_context(&[assembled.envelope]).await.unwrap();
    let faults = check::check(&export.bytes, Strictness::Recommended).faults;
    assert_eq!(level(&export.bytes), Some(Level::Replayable), "{faults:?}");
    let value: Value = serde_json::from_slice(&export.bytes).unwrap();
    let of = |kind: &str| -> Vec<Value> {
        let records = value["records"].as_array().unwrap().iter();
        records.filter(|record| record["type"] == kind).map(|record| record["record"].clone()).collect()
    };
    assert_eq!((of("context_assembly").len(), of("context_injection").len()), (2, 2), "each target has its own");
    let envelope = &of("context_envelope")[0];
    assert_eq!((&envelope["session_id"], &envelope["turn_id"]), (&json!("s"), &json!("t")));
    let compaction = &of("context_compaction")[0];
    assert!(compaction["loss_notes"].as_array().is_some_and(|notes| !notes.is_empty()));
    let missing = &of("missing_context")[0];
    assert!(missing["metadata"]["requested_action"].as_str().is_some_and(|action| action.starts_with("ctx missing")));
}

pub async fn what_was_really_sent_may_be_something_else<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let assembled = store.assemble(&request(recipe(RECIPE))).await.unwrap();
    let (target, _) = assembled.renderings[0];
    let sent = Some(b"something else".to_vec());
    let injected = store.inject(assembled.envelope, target, InjectionPoint::SystemPrompt, None, sent).await.unwrap();
    assert!(!injected.is_as_assembled);
    let export = store.export_context(&[assembled.envelope]).await.unwrap();
    assert_eq!(
        check::check(&export.bytes, Strictness::Demanded).level,
        Some(Level::Replayable),
        "{:?}",
        check::check(&export.bytes, Strictness::Demanded)
    );
    assert!(is_replayable(&store, &assembled).await);
}

pub async fn a_replay_is_equal_in_another_store<B: Backend>() {
    let (here, there) = (Harness::<B>::new().await, Harness::<B>::new().await);
    let (store, other) = (here.open().await, there.open().await);
    let commits = chain(&store, 5, 100).await;
    let mut asked = of_commit(commits[4]);
    asked.items = items(&json!([{"content": noise("note", 400)}]));
    asked.stream = Some(Stream::new("work").unwrap());
    let mut envelopes = Vec::new();
    for question in ["First?", "Second?"] {
        asked.trigger = Some(TriggerMessage { text: question.into(), data: None });
        envelopes.push(store.assemble(&asked).await.unwrap());
    }
    let mut bundle = Vec::new();
    store.export(&[], &[head("main")], &mut bundle).await.unwrap();
    other.import_bundle(io::Cursor::new(bundle)).await.unwrap();
    for envelope in &envelopes {
        assert!(is_replayable(&other, envelope).await);
    }
    asked.trigger = Some(TriggerMessage { text: "Third?".into(), data: None });
    let third = other.assemble(&asked).await.unwrap();
    assert_eq!(third.document.previous, Some(envelopes[1].envelope), "the stream goes on there");
}
