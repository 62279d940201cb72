//! What is recorded of assemblies: what items are, what happened to them, and what a standard's reader makes of it.

use std::collections::{BTreeMap, BTreeSet};

use contexture::{
    Assemble, AssembledContext, Contexture, TriggerMessage,
    assembly::{
        check::{self, Level, Strictness},
        envelope::ItemRecord,
        standard::{ContextKind, EventType, MissingStatus},
    },
};
use contexture_core::{CommitId, CommitKind, JournalKind, Stream};
use serde_json::{Value, json};

use super::assemble::{RECIPE, chain, items, of_commit, recipe, request, turn};
use crate::{Backend, Harness, journal, write};

/// A chain of two turns, a compaction and another turn.
async fn compacted(store: &Contexture) -> [CommitId; 4] {
    let commits = chain(store, 2, 5).await;
    let summary = json!([{"role": "user", "content": "All of it in short."}]).to_string();
    let compaction = write("anthropic-messages-v1", summary).after(commits[1]).kind(CommitKind::Compaction);
    let compaction = compaction.commit(store).await;
    let tip = write("anthropic-messages-v1", turn(7, 5)).after(compaction).commit(store).await;
    [commits[0], commits[1], compaction, tip]
}

fn item<'a>(assembled: &'a AssembledContext, id: &str) -> &'a ItemRecord {
    assembled.document.items.iter().find(|item| item.id.as_str() == id).unwrap_or_else(|| panic!("{id} is an item"))
}

/// Returns the records of a kind in an export.
fn of(export: &Value, kind: &str) -> Vec<Value> {
    let records = export["records"].as_array().unwrap().iter();
    records.filter(|record| record["type"] == kind).map(|record| record["record"].clone()).collect()
}

/// Exports envelopes that were given to all their targets, and checks that as strictly as it can be checked.
async fn exported(store: &Contexture, assembled: &[&AssembledContext]) -> Value {
    for assembled in assembled {
        for (target, _) in &assembled.renderings {
            store.inject(assembled.envelope, *target, target.injection_point(), None, None).await.unwrap();
        }
    }
    let ids: Vec<_> = assembled.iter().map(|assembled| assembled.envelope).collect();
    // What is exported a second time says that it was exported before.
    store.export_context(&ids).await.unwrap();
    let export = store.export_context(&ids).await.unwrap().bytes;
    let report = check::check(&export, Strictness::Recommended);
    assert_eq!(report.level, Some(Level::Replayable), "{:?}", report.faults);
    assert!(report.notes.is_empty(), "{:?}", report.notes);
    serde_json::from_slice(&export).unwrap()
}

pub async fn items_of_a_history_are_what_they_are<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let [_, replaced, compaction, tip] = compacted(&store).await;
    let assembled = store.assemble(&of_commit(tip)).await.unwrap();
    let kind = |id: String| item(&assembled, &id).kind;
    assert_eq!(kind(format!("{compaction}#0")), ContextKind::ThreadSummary);
    assert_eq!(kind(format!("{tip}#0")), ContextKind::UserMessage);
    assert_eq!(kind(format!("{tip}#1")), ContextKind::ToolResult);
    assert_eq!(kind(format!("{tip}#2")), ContextKind::SessionHistory);
    let stands_for = item(&assembled, &format!("{compaction}#0")).replaces.clone().unwrap();
    assert_eq!((stands_for.commits, stands_for.last), (2, replaced));
    assert_eq!(item(&assembled, &format!("{tip}#0")).replaces, None);
    let long = chain(&store, 12, 200).await;
    let assembled = store.assemble(&of_commit(long[11])).await.unwrap();
    assert_eq!(item(&assembled, &format!("{}#summary", long[3])).kind, ContextKind::ThreadSummary);
}

pub async fn a_compaction_of_the_chain_is_exported_as_one<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let [_, replaced, compaction, tip] = compacted(&store).await;
    let assembled = store.assemble(&of_commit(tip)).await.unwrap();
    let export = exported(&store, &[&assembled]).await;
    let (compactions, summaries) = (of(&export, "context_compaction"), of(&export, "context_summary"));
    assert_eq!((compactions.len(), summaries.len()), (1, 1));
    assert_eq!(compactions[0]["source_item_refs"], json!([{"kind": "commits", "id": replaced, "commits": 2}]));
    assert_eq!(compactions[0]["summary_ref"], summaries[0]["summary_id"]);
    assert_eq!(compactions[0]["metadata"]["commit"], json!(compaction));
    assert_eq!(summaries[0]["content"], "All of it in short.");
    assert!(compactions[0]["loss_notes"].as_array().is_some_and(|notes| !notes.is_empty()));
    let refs = &of(&export, "context_envelope")[0]["compaction_refs"];
    assert_eq!(refs, &json!([compactions[0]["compaction_id"]]));
}

pub async fn every_event_of_the_standard_occurs<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let commits = chain(&store, 12, 200).await;
    let stream = Some(Stream::new("work").unwrap());
    let mut asked = Assemble { stream, ..of_commit(commits[10]) };
    asked.files = vec!["no/such/file".into()];
    asked.items = items(&json!([
        {"id": "note", "content": "first"}, {"id": "gone", "content": "only now"},
        {"id": "key", "content": "KEY=****", "redaction_state": "masked"},
    ]));
    let first = store.assemble(&asked).await.unwrap();
    for status in [MissingStatus::Requested, MissingStatus::Resolved] {
        store.settle_missing(first.document.gaps[0].id, status, vec![commits[0].to_string()], None).await.unwrap();
    }
    harness.clock.advance(std::time::Duration::from_secs(1));
    asked.commit = Some(commits[11]);
    asked.items = items(&json!([{"id": "note", "content": "second"}]));
    let second = store.assemble(&asked).await.unwrap();
    exported(&store, &[&first, &second]).await;
    let happened: BTreeSet<&str> = journal(&store)
        .await
        .iter()
        .filter_map(|record| match record.kind {
            JournalKind::Event(kind) => Some(kind.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(happened, EventType::all().map(EventType::as_str).collect());
    assert_eq!(happened.len(), 18);
    // What changed on the surface is named.
    let events = store.envelope_events(second.envelope, 0, 1000).await.unwrap();
    let data = |kind: &str| -> Value {
        let event = events.iter().find(|event| event.event.kind.as_str() == kind).unwrap();
        serde_json::from_str::<Value>(event.event.document.as_str()).unwrap()["data"].clone()
    };
    let (first, second) = (first.envelope, second.envelope);
    assert_eq!(data("context.item.updated")["items"], json!([format!("{second}/item/note")]));
    let removed = data("context.item.removed");
    let removed = removed["items"].as_array().unwrap();
    assert!(removed.contains(&json!(format!("{first}/item/gone"))), "{removed:?}");
    let added = data("context.item.added");
    let newest = format!("{second}/item/{}#0", commits[11]);
    assert!(added["items"].as_array().unwrap().contains(&json!(newest)), "{added}");
    assert_eq!(data("context.surface.updated")["updated"], 1);
}

pub async fn exports_keep_to_all_that_is_recommended<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let [.., tip] = compacted(&store).await;
    let audiences = ["model", "tool", "runtime", "ui", "user", "reviewer", "peer_agent", "evidence_export"];
    let renderings = ["prompt", "anthropic", "openai-chat", "openai-responses", "claude-code", "codex", "gemini", "pi"];
    let mut targets: Vec<String> = renderings.iter().map(|form| format!("model:{form}")).collect();
    targets.extend(audiences[1..].iter().map(|audience| format!("{audience}:prompt")));
    let every = RECIPE.replace("target = \"anthropic\"", &format!("target = {targets:?}\nscope = \"custom\""));
    let mut recipes = vec![recipe(&every)];
    recipes.extend(contexture::assembly::recipe::built_in().map(contexture::assembly::recipe::BuiltIn::recipe));
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("AGENTS.md"), "Be kind.\nBe brief.\n").unwrap();
    let given = items(&json!([
        {"id": "note", "content": "a note", "sensitivity": "internal", "media_type": "text/markdown"},
        {"id": "same", "content": "a note"}, {"id": "odd", "content": "a poem", "kind": "custom", "title": "poem"},
        {"id": "empty", "content": " "}, {"id": "hidden", "content": "hidden", "visibility": ["reviewer"]},
        {"id": "blocked", "content": "gone", "redaction_state": "policy_blocked", "policy_refs": ["legal"]},
        {"id": "masked", "content": "K=***", "redaction_state": "masked"},
    ]));
    for recipe in recipes {
        let has_files = recipe.name != "prompt";
        let asked = Assemble {
            commit: Some(tip),
            items: given.clone(),
            directory: directory.path().to_owned(),
            files: if has_files { vec!["AGENTS.md".into(), "no/such/file".into()] } else { Vec::new() },
            trigger: Some(TriggerMessage { text: "What is open?".into(), data: Some(json!({"n": 1})) }),
            correlation: BTreeMap::from([
                ("session_id".into(), "s".into()),
                ("step_id".into(), "7".into()),
                ("build".into(), "42".into()),
            ]),
            ..request(recipe)
        };
        let assembled = store.assemble(&asked).await.unwrap();
        let export = exported(&store, &[&assembled]).await;
        let items = of(&export, "context_item");
        for item in &items {
            for field in ["freshness", "sensitivity", "byte_size", "mime_type"] {
                assert!(!item[field].is_null(), "{field} of {item}");
            }
        }
        let note = items.iter().find(|item| item["item_id"].as_str().unwrap().ends_with("/note")).unwrap();
        assert_eq!(
            (&note["sensitivity"], &note["mime_type"], &note["byte_size"]),
            (&json!("internal"), &json!("text/markdown"), &json!(6))
        );
        let sources = of(&export, "context_source_ref");
        assert!(sources.iter().all(|source| source["authority"].is_string()));
        let step = sources.iter().find(|source| source["uri"] == json!(format!("{tip}#1"))).unwrap();
        assert_eq!(
            (&step["selector"]["type"], &step["selector"]["tool_call_ids"]),
            (&json!("message_part"), &json!(["call7"]))
        );
        if has_files {
            let file = sources.iter().find(|source| source["uri"] == "file:AGENTS.md").unwrap();
            assert_eq!(file["selector"], json!({"type": "line_range", "start": 1, "end": 2}));
        }
        for selection in of(&export, "context_selection") {
            assert!(selection["rationale"].is_string() && selection["query"] == json!("What is open?"), "{selection}");
            let signals = selection["ranking_signals"].as_object().unwrap();
            assert_eq!(signals.len(), assembled.document.items.len());
        }
        for budget in of(&export, "context_budget") {
            assert!(budget["metadata"]["visibility"]["hidden_items"].is_number(), "{budget}");
        }
    }
}
