//! Compactions and snapshots: points where materialization may start.

use contexture::{Compaction, Contexture, Error, Snapshot, Stop, StoreError, formats};
use contexture_core::{Annotation, CommitId, CommitKind, Count, Coverage, Format, Provenance, Tag, Trigger};

use crate::{Backend, Harness, head, materialized, observe, say, spoken, text, write};

const MISSING: CommitId = CommitId::from_bytes([7; CommitId::LEN]);

fn compaction(commit: CommitId, summary: impl Into<Vec<u8>>) -> Compaction {
    Compaction {
        commit,
        summary: summary.into(),
        format: None,
        losses: Vec::new(),
        provenance: Provenance::default(),
        head: None,
        annotations: Vec::new(),
    }
}

fn snapshot(commit: CommitId) -> Snapshot {
    Snapshot { commit, provenance: Provenance::default(), head: None, annotations: Vec::new() }
}

async fn coverage(store: &Contexture, id: CommitId) -> Coverage {
    store.show(id).await.unwrap().annotations.coverage.expect("a compaction says what it covers")
}

fn covering(first: CommitId, last: CommitId, commits: u64, words: &[&str]) -> Coverage {
    Coverage {
        first,
        last,
        commits: Count::new(commits).unwrap(),
        messages: Count::new(words.len() as u64).unwrap(),
        bytes: Count::new(spoken(words).len() as u64).unwrap(),
        losses: Vec::new(),
    }
}

pub async fn plain_text_becomes_an_entry_of_the_chains_format<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let one = say("one").commit(&store).await;
    let sum = store.compact(compaction(one, "what was \"said\"\n")).await.unwrap().id;
    let two = say("two").after(sum).commit(&store).await;
    let format = Format::new("claude-code-v1").unwrap();
    let entry = formats::summary_entry(&format, "what was \"said\"").unwrap();
    let (bytes, counted) = materialized(&store, two, Stop::Compaction).await;
    assert_eq!(bytes, [entry, spoken(&["two"])].concat());
    assert_eq!((counted.commits, counted.messages), (2, Some(2)));
    assert_eq!(materialized(&store, two, Stop::Root).await.0, spoken(&["one", "two"]));
    let shown = store.show(sum).await.unwrap().commit;
    assert_eq!((shown.kind, shown.trigger, shown.format), (CommitKind::Compaction, Trigger::Compaction, format));
}

pub async fn a_summary_in_the_chains_format_is_taken_as_it_is<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    for (format, content, summary) in [
        ("claude-code-v1", b"{\"n\":1}\n".as_slice(), b"{\"sum\":1}".as_slice()),
        ("anthropic-messages-v1", b"[1]", b"[ \"sum\" ]"),
        ("bureau-agent-v1", b"\x81\x01", b"\x81\x63sum"),
        ("text", b"one", b"[sum"),
    ] {
        let one = write(format, content).commit(&store).await;
        let sum = store.compact(compaction(one, summary)).await.unwrap().id;
        assert_eq!(materialized(&store, sum, Stop::Compaction).await.0, summary);
    }
}

pub async fn a_summary_may_be_in_another_format<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let one = say("one").commit(&store).await;
    let format = Some(Format::new("text").unwrap());
    let sum = store.compact(Compaction { format, ..compaction(one, "said one") }).await.unwrap().id;
    assert_eq!(materialized(&store, sum, Stop::Compaction).await.0, b"said one");
    assert_eq!(materialized(&store, sum, Stop::Root).await.0, spoken(&["one"]));
}

pub async fn coverage_is_what_the_summary_replaces<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let one = say("one").commit(&store).await;
    let two = write("claude-code-v1", spoken(&["two", "three"])).after(one).commit(&store).await;
    let fork = say("fork").after(one).commit(&store).await;
    let losses = vec![text("the tone"), text("two jokes")];
    let first = Compaction { losses: losses.clone(), ..compaction(two, spoken(&["sum"])) };
    let sum = store.compact(first).await.unwrap().id;
    let expected = Coverage { losses, ..covering(one, two, 2, &["one", "two", "three"]) };
    assert_eq!(coverage(&store, sum).await, expected);
    let on_fork = store.compact(compaction(fork, spoken(&["sum"]))).await.unwrap().id;
    assert_eq!(coverage(&store, on_fork).await, covering(one, fork, 2, &["one", "fork"]));
    let four = say("four").after(sum).commit(&store).await;
    let side = say("side").after(sum).commit(&store).await;
    for tip in [four, side] {
        let again = store.compact(compaction(tip, "sum of the sum")).await.unwrap().id;
        assert_eq!(coverage(&store, again).await, covering(sum, tip, 2, &["sum", "four"]));
    }
    let of_itself = store.compact(compaction(sum, "shorter")).await.unwrap().id;
    assert_eq!(coverage(&store, of_itself).await, covering(sum, sum, 1, &["sum"]));
}

pub async fn a_compaction_moves_a_head_from_what_it_covers<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let one = say("one").onto("main").commit(&store).await;
    let two = say("two").onto("main").commit(&store).await;
    let before = observe(&store).await;
    let late = Compaction { head: Some(head("main")), ..compaction(one, "late") };
    let error = store.compact(late).await.unwrap_err();
    assert!(matches!(error, Error::Store(StoreError::HeadConflict { .. })), "{error:?}");
    assert_eq!(observe(&store).await, before);
    let timely = Compaction {
        head: Some(head("main")),
        annotations: vec![Annotation::Tag { tag: Tag::new("short").unwrap() }],
        ..compaction(two, "timely")
    };
    let sum = store.compact(timely).await.unwrap().id;
    assert_eq!(store.head(&head("main")).await.unwrap(), Some(sum));
    assert_eq!(store.show(sum).await.unwrap().annotations.tags, [Tag::new("short").unwrap()].into());
}

pub async fn what_cannot_be_a_summary_is_refused<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let lines = say("one").commit(&store).await;
    let unknown = write("goose-jsonl", "{}\n").commit(&store).await;
    let before = observe(&store).await;
    let error = store.compact(compaction(lines, " \n")).await.unwrap_err();
    assert!(matches!(error, Error::Empty), "{error:?}");
    let error = store.compact(compaction(lines, "{\"sum\":")).await.unwrap_err();
    assert!(matches!(error, Error::Malformed { .. }), "{error:?}");
    let error = store.compact(compaction(lines, b"\xff\xfe".as_slice())).await.unwrap_err();
    assert!(matches!(error, Error::Malformed { .. }), "{error:?}");
    let error = store.compact(compaction(unknown, "in plain words")).await.unwrap_err();
    assert!(matches!(&error, Error::NoSummaryEntry(format) if format.as_str() == "goose-jsonl"), "{error:?}");
    let error = store.compact(compaction(MISSING, "sum")).await.unwrap_err();
    assert!(matches!(error, Error::Store(StoreError::NoCommit(MISSING))), "{error:?}");
    assert_eq!(observe(&store).await, before);
}

pub async fn a_snapshot_is_what_its_commit_materializes_to<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let one = say("one").onto("main").commit(&store).await;
    let sum = store.compact(compaction(one, spoken(&["sum"]))).await.unwrap().id;
    let two = write("claude-code-v1", &spoken(&["two"])[..13]).after(sum).onto("side").commit(&store).await;
    let request = Snapshot { head: Some(head("side")), ..snapshot(two) };
    let taken = store.snapshot(request).await.unwrap().id;
    let three = say("three").onto("side").commit(&store).await;
    let shown = store.show(taken).await.unwrap().commit;
    assert_eq!((shown.kind, shown.parent, shown.message_count), (CommitKind::Snapshot, Some(two), Count::new(2)));
    let whole = materialized(&store, two, Stop::Compaction).await.0;
    assert_eq!(materialized(&store, taken, Stop::Compaction).await.0, whole);
    let (bytes, counted) = materialized(&store, three, Stop::Compaction).await;
    assert_eq!(bytes, spoken(&["sum", "two", "three"]));
    assert_eq!((counted.commits, counted.messages), (2, Some(3)));
    assert_eq!(materialized(&store, three, Stop::Root).await.0, spoken(&["one", "two", "three"]));
}

pub async fn a_large_snapshot_is_streamed<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let mut expected = Vec::new();
    for n in 0..20 {
        let content = spoken(&[&n.to_string()]).repeat(10_000);
        expected.extend_from_slice(&content);
        write("claude-code-v1", content).onto("main").commit(&store).await;
    }
    let tip = store.head(&head("main")).await.unwrap().unwrap();
    let taken = store.snapshot(snapshot(tip)).await.unwrap().id;
    assert!(materialized(&store, taken, Stop::Compaction).await.0 == expected);
    assert_eq!(store.show(taken).await.unwrap().commit.message_count, Count::new(200_000));
}

pub async fn a_snapshot_that_cannot_be_taken_changes_nothing<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let one = say("one").onto("main").commit(&store).await;
    let two = write("text", "two").onto("main").commit(&store).await;
    let before = observe(&store).await;
    let error = store.snapshot(snapshot(two)).await.unwrap_err();
    assert!(matches!(error, Error::Mixed { .. }), "{error:?}");
    let error = store.snapshot(snapshot(MISSING)).await.unwrap_err();
    assert!(matches!(error, Error::Store(StoreError::NoCommit(MISSING))), "{error:?}");
    let late = Snapshot { head: Some(head("main")), ..snapshot(one) };
    let error = store.snapshot(late).await.unwrap_err();
    assert!(matches!(error, Error::Store(StoreError::HeadConflict { .. })), "{error:?}");
    assert_eq!(observe(&store).await, before);
}
