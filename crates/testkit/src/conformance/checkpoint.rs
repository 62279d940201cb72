//! Checkpoints: what becomes a commit and what is refused.

use std::io;

use contexture::{
    Checkpoint, CheckpointContent, CreateOutcome, Error, LogStart, StoreError,
    formats::{FormatError, MAX_DEPTH},
};
use contexture_core::{
    Annotation, ArtifactId, Commit, CommitId, CommitKind, Count, Format, Machine, Principal, Provenance, RecordError,
    RuntimeSessionId, Tag, Template, Thread, Ticket, Trigger,
};

use crate::{Backend, Harness, artifact, head, instant, observe, say, spoken, stored, text, walked, write};

const MISSING: CommitId = CommitId::from_bytes([7; CommitId::LEN]);

/// A request that uses every field, on top of a commit.
fn full(parent: CommitId) -> Checkpoint {
    Checkpoint {
        kind: CommitKind::Snapshot,
        provenance: Provenance {
            template: Some(Template::new("coder").unwrap()),
            principal: Some(Principal::new("ada@host").unwrap()),
            machine: Some(Machine::new("engine").unwrap()),
            session: Some(RuntimeSessionId::new("4f1c").unwrap()),
            ticket: Some(Ticket::new("#12").unwrap()),
            thread: Some(Thread::new("a thread").unwrap()),
        },
        trigger: Trigger::SessionEnd,
        parent: Some(parent),
        merges: vec![parent],
        message_count: Count::new(3),
        token_count: Count::new(Count::MAX),
        created_at: Some(instant(-5)),
        ..Checkpoint::new(Format::new("claude-code-v1").unwrap())
    }
}

pub async fn a_commit_keeps_every_field_and_its_id_follows_from_them<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let root = say("one").commit(&store).await;
    let request = full(root);
    let made = store.checkpoint(request.clone(), CheckpointContent::Bytes(spoken(&["two"]))).await.unwrap();
    let expected = Commit {
        parent: Some(root),
        kind: request.kind,
        artifact: ArtifactId::of(&spoken(&["two"])),
        format: request.format,
        provenance: request.provenance,
        trigger: request.trigger,
        merges: request.merges,
        message_count: request.message_count,
        token_count: request.token_count,
        created_at: instant(-5),
    };
    let shown = store.show(made.id).await.unwrap();
    assert_eq!((made.id, made.outcome), (expected.id(), CreateOutcome::Created));
    assert_eq!((shown.commit, shown.id, shown.depth), (expected, made.id, 1));
}

pub async fn the_same_steps_give_the_same_ids_in_every_store<B: Backend>() {
    let mut histories = Vec::new();
    for _ in 0..2 {
        let harness = Harness::<B>::new().await;
        let store = harness.open().await;
        let root = say("one").onto("main").commit(&store).await;
        say("two").onto("main").commit(&store).await;
        say("side").after(root).by("ada").commit(&store).await;
        histories.push(observe(&store).await.journal);
    }
    assert_eq!(histories[0], histories[1]);
}

pub async fn the_same_commit_again_changes_nothing<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let first = say("one").summary("said one").send(&store).await.unwrap();
    let before = observe(&store).await;
    let again = say("one").summary("said one").send(&store).await.unwrap();
    assert_eq!((again.id, again.outcome), (first.id, CreateOutcome::AlreadyThere));
    assert_eq!(observe(&store).await, before);
}

pub async fn a_missing_parent_is_refused<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let error = say("one").after(MISSING).onto("main").refused(&store).await;
    assert!(matches!(error, Error::Store(StoreError::NoParent(MISSING))), "{error:?}");
    assert_eq!(store.journal_tip().await.unwrap(), 0);
}

pub async fn a_missing_merged_commit_is_refused<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let error = say("one").merging(&[MISSING]).refused(&store).await;
    assert!(matches!(error, Error::Store(StoreError::NoMerged(MISSING))), "{error:?}");
    assert_eq!(store.journal_tip().await.unwrap(), 0);
}

pub async fn a_compaction_needs_a_parent_and_a_snapshot_does_not<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let error = say("sum").kind(CommitKind::Compaction).refused(&store).await;
    assert!(matches!(error, Error::Record(RecordError::NeedsParent(CommitKind::Compaction))), "{error:?}");
    let root = say("all").kind(CommitKind::Snapshot).commit(&store).await;
    say("sum").kind(CommitKind::Compaction).after(root).commit(&store).await;
}

pub async fn empty_content_is_refused_unless_nothing_is_checked<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    for format in ["claude-code-v1", "text", "anthropic-messages-v1", "bureau-agent-v1"] {
        let error = write(format, []).refused(&store).await;
        assert!(matches!(error, Error::Empty), "{format}: {error:?}");
        let error = write(format, []).send_stream(&store).await.unwrap_err();
        assert!(matches!(error, Error::Empty), "{format}: {error:?}");
    }
    let id = write("text", []).unchecked().commit(&store).await;
    assert_eq!(store.show(id).await.unwrap().commit.artifact, ArtifactId::of(b""));
}

pub async fn malformed_content_is_refused_and_changes_nothing<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let deep = [b"[".repeat(MAX_DEPTH + 1), b"]".repeat(MAX_DEPTH + 1)].concat();
    let contents: [(&str, &[u8]); 6] = [
        ("claude-code-v1", b"{\"a\":1}\n{\"b\":"),
        ("claude-code-v1", b"\xff\n"),
        ("claude-code-v1", b"[1]\n"),
        ("anthropic-messages-v1", b"[1] 2"),
        ("anthropic-messages-v1", &deep),
        ("bureau-agent-v1", b"\x82\x01"),
    ];
    for (format, content) in contents {
        for sent in [write(format, content).send(&store).await, write(format, content).send_stream(&store).await] {
            let error = sent.unwrap_err();
            assert!(matches!(&error, Error::Malformed { format: named, .. } if named.as_str() == format), "{error:?}");
        }
        write(format, content).unchecked().commit(&harness.open_as("tester", "unchecked").await).await;
    }
    assert_eq!(store.journal_tip().await.unwrap(), 0);
}

pub async fn messages_are_counted_unless_the_caller_did<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let two = spoken(&["one", "two"]);
    let cases = [
        (write("claude-code-v1", two.clone()), Some(2)),
        (write("claude-code-v1", two).messages(9), Some(9)),
        (write("anthropic-messages-v1", "[1, [2], {}]"), Some(3)),
        (write("bureau-agent-v1", b"\x82\x01\x02"), Some(2)),
        (write("text", "hello\n"), None),
    ];
    for (draft, expected) in cases {
        let id = draft.commit(&store).await;
        assert_eq!(store.show(id).await.unwrap().commit.message_count, expected.and_then(Count::new));
    }
}

pub async fn a_stream_makes_the_commit_that_its_bytes_make<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let (bytes, streams) = (harness.open_as("tester", "bytes").await, harness.open_as("tester", "streams").await);
    let line = spoken(&["again"]);
    for lines in [1, 20_000, 100_000] {
        let draft = write("claude-code-v1", line.repeat(lines));
        let streamed = draft.clone().send_stream(&streams).await.unwrap();
        assert_eq!(streamed, draft.clone().send(&bytes).await.unwrap());
        let shown = streams.show(streamed.id).await.unwrap().commit;
        assert_eq!(shown.message_count, Count::new(lines as u64));
        assert!(artifact(&streams, shown.artifact).await == draft.content, "{lines} lines come back changed");
    }
}

pub async fn a_stream_that_goes_bad_at_its_end_commits_nothing<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let root = say("one").onto("main").commit(&store).await;
    let before = observe(&store).await;
    let lines = spoken(&["again"]).repeat(100_000);
    let content = [&lines, b"{\"say\":".as_slice()].concat();
    let end = content.len() as u64;
    let error = write("claude-code-v1", content).onto("main").send_stream(&store).await.unwrap_err();
    match error {
        Error::Malformed { source: FormatError::Truncated { place, .. }, .. } => assert_eq!(place.offset(), end),
        other => panic!("{other:?}"),
    }
    assert_eq!(observe(&store).await, before);
    assert_eq!(walked(&store, LogStart::Everything).await, [root]);
}

pub async fn a_reader_that_fails_commits_nothing<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    say("one").onto("main").commit(&store).await;
    let before = observe(&store).await;
    for lines in [0, 100_000] {
        let reader = BreaksOff(io::Cursor::new(spoken(&["again"]).repeat(lines)));
        let request = Checkpoint { head: Some(head("main")), ..say("").request };
        let error = store.checkpoint(request, CheckpointContent::Stream(Box::new(reader))).await.unwrap_err();
        assert!(matches!(error, Error::Io { .. } | Error::Store(StoreError::Input(_))), "{error:?}");
    }
    assert_eq!(observe(&store).await, before);
}

/// Yields bytes and then an error instead of the end.
struct BreaksOff(io::Cursor<Vec<u8>>);

impl io::Read for BreaksOff {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.0.read(buffer)? {
            0 => Err(io::ErrorKind::ConnectionReset.into()),
            count => Ok(count),
        }
    }
}

pub async fn a_stored_artifact_can_be_checked_in_and_a_missing_one_not<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let id = stored(&store, &spoken(&["one"])).await;
    let from_artifact = store.checkpoint(say("").request, CheckpointContent::Stored(id)).await.unwrap();
    assert_eq!(store.show(from_artifact.id).await.unwrap().commit.artifact, id);
    let missing = ArtifactId::of(b"nobody stored this");
    let error = store.checkpoint(say("").request, CheckpointContent::Stored(missing)).await.unwrap_err();
    assert!(matches!(error, Error::Store(StoreError::NoArtifact(id)) if id == missing), "{error:?}");
}

pub async fn annotations_of_a_checkpoint_come_with_the_commit<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let mut draft = say("one").summary("said one");
    draft.request.annotations.push(Annotation::Tag { tag: Tag::new("first").unwrap() });
    let id = draft.commit(&store).await;
    let shown = store.show(id).await.unwrap();
    assert_eq!(shown.annotations.summary, Some(text("said one")));
    assert_eq!(shown.annotations.tags, [Tag::new("first").unwrap()].into());
    assert_eq!(store.show(id).await.unwrap().commit.id(), say("one").commit(&store).await);
}

pub async fn the_head_of_a_thread_is_where_somebody_spoke_last<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let in_thread = |word: &str, thread: &str| {
        let mut draft = say(word);
        draft.request.provenance.thread = Some(Thread::new(thread).unwrap());
        draft
    };
    let thread = head("thread/-evt-example.org");
    let asked = in_thread("asked", "$evt:example.org").onto("main").commit(&store).await;
    // Another agent answers on a chain of its own, and a third goes on from what was asked.
    let answered = in_thread("answered", "$evt:example.org").onto("review").commit(&store).await;
    assert_eq!(store.head(&thread).await.unwrap(), Some(answered));
    let further = in_thread("further", "$evt:example.org").after(asked).commit(&store).await;
    assert_eq!(store.head(&thread).await.unwrap(), Some(further));
    let moves = store.head_log(&thread, u64::MAX, 10).await.unwrap();
    let places: Vec<_> = moves.iter().map(|it| it.target).collect();
    assert_eq!(places, [Some(further), Some(answered), Some(asked)]);
    assert_eq!(store.head(&head("main")).await.unwrap(), Some(asked), "the others stay");
    let again =
        in_thread("further", "$evt:example.org").after(asked).at(store.show(further).await.unwrap().commit.created_at);
    assert_eq!(again.commit(&store).await, further);
    // Whoever moves the head of the thread itself is told when it is elsewhere, as with any head.
    let late = in_thread("late", "$evt:example.org").after(asked).onto("thread/-evt-example.org");
    assert!(matches!(late.refused(&store).await, Error::Store(StoreError::HeadConflict { .. })));
    let named = in_thread("named", "$evt:example.org").onto("thread/-evt-example.org").commit(&store).await;
    assert_eq!(store.show(named).await.unwrap().commit.parent, Some(further));
    assert_eq!(store.head(&thread).await.unwrap(), Some(named));
}
