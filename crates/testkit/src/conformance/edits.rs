//! Edits: which call wrote a line, and what led to it.

use contexture::{
    CallContext, Contexture, LineFinding, Nearness, Reasoning, Request, Thought, Trace, Traced, TracedFile, TracedLine,
    Within,
};
use contexture_core::{Annotation, ArtifactId, CommitId, CommitKind, LabelKey, Timestamp};
use serde_json::{Value, json};

use crate::{Backend, Draft, Harness, instant, text, write};

const FILE: &str = "/home/ada/project/src/a.rs";

fn said(messages: &Value) -> Draft {
    write("anthropic-messages-v1", messages.to_string())
}

/// Drafts a step in which a tool is called, and answers.
fn called(id: &str, name: &str, input: &Value, is_error: bool) -> Draft {
    said(&json!([
        {"role": "assistant", "content": [{"type": "tool_use", "id": id, "name": name, "input": input}]},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": id, "content": "answer", "is_error": is_error},
        ]},
    ]))
}

fn replaced(id: &str, old: &str, new: &str) -> Draft {
    called(id, "Edit", &json!({"file_path": FILE, "old_string": old, "new_string": new}), false)
}

fn written(id: &str, content: &str) -> Draft {
    called(id, "Write", &json!({"file_path": FILE, "content": content}), false)
}

async fn trace(store: &Contexture, within: Within, lines: &[(&str, Option<Timestamp>)]) -> Traced {
    store.update_index(&mut |_| {}).await.unwrap();
    let line =
        |(text, until): &(&str, Option<Timestamp>)| TracedLine { text: (*text).to_owned(), until: *until, place: None };
    let file = TracedFile { places: vec![FILE.to_owned()], inside: "src/a.rs".to_owned() };
    let lines = lines.iter().map(line).collect();
    let trace = Trace { file, lines, around: Vec::new(), within, max_commits: 100, max_probes: 16 };
    store.trace(&trace).await.unwrap()
}

/// Returns the calls that wrote some lines; `-` where none is found.
async fn writers(store: &Contexture, within: Within, lines: &[&str]) -> Vec<String> {
    let lines: Vec<_> = lines.iter().map(|line| (*line, None)).collect();
    calls(&trace(store, within, &lines).await)
}

fn calls(traced: &Traced) -> Vec<String> {
    let call = |finding: &LineFinding| {
        let calls: Vec<_> = finding.edits().into_iter().map(|edit| traced.edits[edit].call.clone()).collect();
        if calls.is_empty() { "-".to_owned() } else { calls.join("?") }
    };
    traced.lines.iter().map(call).collect()
}

pub async fn the_newest_call_that_wrote_a_line_is_found<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let first = written("w", "fn a() {\n    one();\n}\n").at(instant(10)).commit(&store).await;
    let second = replaced("e1", "    one();", "    two();\n    three();").after(first).at(instant(20));
    let second = second.commit(&store).await;
    let tip = replaced("e2", "    three();", "    four();\n    two();").after(second).at(instant(30));
    let tip = tip.commit(&store).await;
    let lines = ["fn a() {", "    two();", "four();", "}", "three();", "unheard_of();"];
    for within in [Within::Chain(tip), Within::Space] {
        assert_eq!(writers(&store, within, &lines).await, ["w", "e2", "e2", "-", "e1", "-"], "{within:?}");
    }
    assert_eq!(writers(&store, Within::Chain(second), &lines[1..3]).await, ["e1", "-"], "later ones are not asked");
    let before = Some(instant(30));
    let traced = trace(&store, Within::Space, &[("two();", before), ("two();", None)]).await;
    assert_eq!(calls(&traced), ["e1", "e2"], "a line is older than where it was seen");
    let found = &traced.edits[traced.lines[0].edits()[0]];
    assert_eq!((found.commit.id, found.at, found.nearness), (second, instant(20), Nearness::Same));
}

pub async fn a_line_without_words_belongs_to_its_neighbours<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let root = written("w", "fn a() {\n}\n").at(instant(10)).commit(&store).await;
    replaced("e", "}", "}\n\nfn b() {\n}").after(root).at(instant(20)).commit(&store).await;
    let lines = ["fn a() {", "}", "", "fn b() {", "}"];
    assert_eq!(writers(&store, Within::Space, &lines).await, ["w", "w", "e", "e", "e"]);
    assert_eq!(writers(&store, Within::Space, &lines[1..3]).await, ["-", "-"], "alone they say nothing");
}

pub async fn writing_a_whole_file_repeats_what_was_there<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let mut tip = written("w1", "one\ntwo\n").at(instant(10)).commit(&store).await;
    tip = replaced("e1", "two", "two\nthree").after(tip).at(instant(20)).commit(&store).await;
    tip = replaced("e2", "one", "").after(tip).at(instant(30)).commit(&store).await;
    written("w2", "one\ntwo\nthree\nfour\n").after(tip).at(instant(40)).commit(&store).await;
    let found = writers(&store, Within::Space, &["one", "two", "three", "four"]).await;
    assert_eq!(found, ["w2", "w1", "e1", "w2"], "what was taken out in between came back with the whole file");
    written("w3", "two\n").at(instant(50)).commit(&store).await;
    assert_eq!(writers(&store, Within::Space, &["three"]).await, ["-"], "it came back by something else");
}

pub async fn a_call_that_failed_wrote_nothing<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let input = json!({"file_path": FILE, "old_string": "a", "new_string": "line"});
    let root = called("ok", "Edit", &input, false).at(instant(10)).commit(&store).await;
    let failed = called("failed", "Edit", &input, true).after(root).at(instant(20)).commit(&store).await;
    // The answer came after the checkpoint.
    let asked = said(&json!([{"role": "assistant", "content": [
        {"type": "tool_use", "id": "late", "name": "Edit", "input": input}]}]));
    let asked = asked.after(failed).at(instant(30)).commit(&store).await;
    let answer = said(&json!([{"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": "late", "content": "no", "is_error": true}]}]));
    let tip = answer.after(asked).at(instant(40)).commit(&store).await;
    for within in [Within::Chain(tip), Within::Space] {
        assert_eq!(writers(&store, within, &["line"]).await, ["ok"], "{within:?}");
    }
}

pub async fn paths_are_taken_from_where_the_agent_works<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let patch = |id: &str, path: &str| {
        let patch = format!("*** Begin Patch\n*** Update File: {path}\n-old\n+line\n*** End Patch");
        let items = json!([{"type": "custom_tool_call", "call_id": id, "name": "apply_patch", "input": patch}]);
        write("openai-responses-v1", items.to_string())
    };
    let label = |directory: &str| Annotation::Label { key: LabelKey::new("cwd").unwrap(), value: text(directory) };
    let there = patch("there", "src/a.rs").at(instant(10)).commit(&store).await;
    store.annotate(there, vec![label("/home/ada/project")]).await.unwrap();
    let elsewhere = patch("elsewhere", "src/a.rs").at(instant(20)).commit(&store).await;
    store.annotate(elsewhere, vec![label("/home/ada/other")]).await.unwrap();
    patch("other", "lib/a.rs").after(there).at(instant(30)).commit(&store).await;
    assert_eq!(writers(&store, Within::Space, &["line"]).await, ["there"]);
    let traced = trace(&store, Within::Chain(elsewhere), &[("line", None)]).await;
    let found = &traced.edits[traced.lines[0].edits()[0]];
    assert_eq!((calls(&traced), found.nearness), (vec!["elsewhere".to_owned()], Nearness::Alike));
}

pub async fn no_more_is_looked_at_than_was_allowed<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let mut tip = written("w", "line\n").at(instant(0)).commit(&store).await;
    for number in 1..=70 {
        let read = called(&format!("r{number}"), "Read", &json!({"file_path": FILE}), false);
        tip = read.after(tip).at(instant(number)).commit(&store).await;
    }
    for within in [Within::Chain(tip), Within::Space] {
        let traced = trace(&store, within, &[("line", None)]).await;
        assert_eq!((calls(&traced), traced.is_cut), (vec!["w".to_owned()], false), "{within:?}");
        let file = TracedFile { places: vec![FILE.to_owned()], inside: "src/a.rs".to_owned() };
        let lines = vec![TracedLine { text: "line".to_owned(), until: None, place: None }];
        let trace = Trace { file, lines, around: Vec::new(), within, max_commits: 70, max_probes: 16 };
        let traced = store.trace(&trace).await.unwrap();
        assert_eq!((calls(&traced), traced.is_cut), (vec!["-".to_owned()], true), "{within:?}");
    }
}

pub async fn what_repeats_or_cannot_be_read_writes_nothing<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let root = written("w", "line\n").at(instant(10)).commit(&store).await;
    let lost = written("lost", "line\nlost\n");
    let content = ArtifactId::of(&lost.content);
    let lost = lost.after(root).at(instant(20)).commit(&store).await;
    let whole = replaced("again", "x", "line").kind(CommitKind::Snapshot).after(lost).at(instant(30));
    let tip = whole.commit(&store).await;
    store.update_index(&mut |_| {}).await.unwrap();
    harness.backend.lose_artifact(content).await;
    for within in [Within::Chain(tip), Within::Space] {
        assert_eq!(writers(&store, within, &["line", "lost"]).await, ["w", "-"], "{within:?}");
    }
}

pub async fn an_occasion_reaches_back_to_where_the_turn_began<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let call = |id: &str| json!({"type": "tool_use", "id": id, "name": "Bash", "input": {"command": "ls"}});
    let spoken = |words: &str| json!({"type": "text", "text": words});
    let asked = said(&json!([
        {"role": "user", "content": "Earlier"},
        {"role": "assistant", "content": [spoken("Done")]},
        {"role": "user", "content": " Make it so. "},
        {"role": "assistant", "content": [
            {"type": "thinking", "thinking": "First this", "signature": "c2ln"}, call("c1"), spoken("And then"), call("c2"),
        ]},
    ]));
    let asked = asked.at(instant(10)).commit(&store).await;
    let answered = said(&json!([
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c2", "content": "files"}]},
        {"role": "assistant", "content": [call("c3")]},
    ]));
    let tip = answered.after(asked).at(instant(20)).commit(&store).await;
    let context = |commit: CommitId, call: Option<&'static str>| {
        let store = store.clone();
        async move { store.call_context(commit, call).await.unwrap() }
    };
    let request = Some(Request { commit: asked, text: "Make it so.".to_owned(), at: instant(10) });
    let thought = |kind, text: &str| Some(Reasoning { kind, text: text.to_owned() });
    let expected = CallContext {
        commit: store.show(tip).await.unwrap(),
        request: request.clone(),
        reasoning: thought(Thought::Said, "And then"),
    };
    assert_eq!(context(tip, Some("c3")).await, expected);
    assert_eq!(context(tip, None).await, expected);
    let first = context(asked, Some("c1")).await;
    assert_eq!((first.request, first.reasoning), (request, thought(Thought::Thinking, "First this")));
    let alone = said(&json!([{"role": "assistant", "content": [call("c4")]}])).at(instant(30)).commit(&store).await;
    let alone = context(alone, Some("c4")).await;
    assert_eq!((alone.request, alone.reasoning), (None, None));
}
