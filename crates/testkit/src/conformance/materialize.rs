//! Materialize: how far it goes back, and what it leaves out.

use contexture::{Error, Expect, Materialized, Stop, StoreError, Stretch, Tier};
use contexture_core::{ArtifactId, CommitId, CommitKind, Format};

use crate::{Backend, Harness, head, materialized, say, spoken, write};

const MISSING: CommitId = CommitId::from_bytes([7; CommitId::LEN]);

pub async fn nothing_materializes_to_an_empty_conversation<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let cases: [(Option<&str>, &[u8], Option<u64>); 5] = [
        (None, b"", None),
        (Some("text"), b"", None),
        (Some("claude-code-v1"), b"", Some(0)),
        (Some("anthropic-messages-v1"), b"[]", Some(0)),
        (Some("bureau-agent-v1"), b"\x80", Some(0)),
    ];
    for (format, expected, messages) in cases {
        let format = format.map(|name| Format::new(name).unwrap());
        let mut bytes = Vec::new();
        let empty = store.materialize(None, Stop::Compaction, format.clone()).await.unwrap();
        let counted = empty.write_to(&mut bytes).await.unwrap();
        assert_eq!(bytes, expected);
        let size = expected.len() as u64;
        assert_eq!(
            counted,
            Materialized {
                format,
                tier: Tier::Native,
                segments: Vec::new(),
                losses: Vec::new(),
                commits: 0,
                messages,
                bytes: size,
                tokens: size.div_ceil(4),
                token_counter: "chars4".to_owned(),
                raw: vec![],
                artifact: None,
            }
        );
    }
    assert_eq!(store.journal_tip().await.unwrap(), 0);
}

pub async fn counts_are_measured_and_not_what_commits_claim<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let root = say("grüße 😀").messages(100).commit(&store).await;
    let tip = write("claude-code-v1", spoken(&["two", "three"])).messages(0).after(root).commit(&store).await;
    let (bytes, counted) = materialized(&store, tip, Stop::Compaction).await;
    let expected = spoken(&["grüße 😀", "two", "three"]);
    assert_eq!(bytes, expected);
    let chars = String::from_utf8(expected.clone()).unwrap().encode_utf16().count() as u64;
    let format = Format::new("claude-code-v1").unwrap();
    assert_eq!(
        counted,
        Materialized {
            format: Some(format.clone()),
            tier: Tier::Native,
            segments: vec![Stretch { format, commits: 2, tier: Tier::Native }],
            losses: Vec::new(),
            commits: 2,
            messages: Some(3),
            bytes: expected.len() as u64,
            tokens: chars.div_ceil(4),
            token_counter: "chars4".to_owned(),
            raw: vec![],
            artifact: None,
        }
    );
}

pub async fn it_goes_back_to_the_nearest_compaction_or_snapshot<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    for kind in [CommitKind::Compaction, CommitKind::Snapshot] {
        let one = say("one").commit(&store).await;
        let two = say("two").after(one).commit(&store).await;
        let first = say("first sum").kind(kind).after(two).commit(&store).await;
        let three = say("three").after(first).commit(&store).await;
        let second = say("second sum").kind(kind).after(three).commit(&store).await;
        let four = say("four").after(second).commit(&store).await;
        for (commit, expected) in [
            (two, spoken(&["one", "two"])),
            (first, spoken(&["first sum"])),
            (three, spoken(&["first sum", "three"])),
            (second, spoken(&["second sum"])),
            (four, spoken(&["second sum", "four"])),
        ] {
            assert_eq!(materialized(&store, commit, Stop::Compaction).await.0, expected);
        }
        let (bytes, counted) = materialized(&store, four, Stop::Root).await;
        assert_eq!(bytes, spoken(&["one", "two", "three", "four"]), "root never repeats compacted content");
        assert_eq!((counted.commits, counted.messages), (6, Some(4)));
    }
}

pub async fn a_root_snapshot_is_part_of_the_conversation<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let root = say("before").kind(CommitKind::Snapshot).commit(&store).await;
    let one = say("one").after(root).commit(&store).await;
    let sum = say("sum").kind(CommitKind::Compaction).after(one).commit(&store).await;
    let two = say("two").after(sum).commit(&store).await;
    assert_eq!(materialized(&store, one, Stop::Compaction).await.0, spoken(&["before", "one"]));
    assert_eq!(materialized(&store, two, Stop::Root).await.0, spoken(&["before", "one", "two"]));
}

pub async fn it_goes_back_to_an_ancestor_that_is_included<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let one = say("one").commit(&store).await;
    let two = say("two").after(one).commit(&store).await;
    let sum = say("sum").kind(CommitKind::Compaction).after(two).commit(&store).await;
    let three = say("three").after(sum).commit(&store).await;
    let fork = say("fork").after(two).commit(&store).await;
    for (commit, stop, expected) in [
        (three, three, spoken(&["three"])),
        (three, sum, spoken(&["sum", "three"])),
        (three, two, spoken(&["two", "three"])),
        (three, one, spoken(&["one", "two", "three"])),
        (sum, sum, spoken(&["sum"])),
        (fork, fork, spoken(&["fork"])),
        (fork, two, spoken(&["two", "fork"])),
        (fork, one, spoken(&["one", "two", "fork"])),
    ] {
        assert_eq!(materialized(&store, commit, Stop::At(stop)).await.0, expected);
    }
}

pub async fn a_stop_that_is_no_ancestor_is_refused<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let one = say("one").commit(&store).await;
    let two = say("two").after(one).commit(&store).await;
    let fork = say("fork").after(one).commit(&store).await;
    let other = say("other").commit(&store).await;
    for (commit, stop) in [(one, two), (two, fork), (fork, two), (two, other), (other, one)] {
        let error = store.materialize(Some(commit), Stop::At(stop), None).await.err().unwrap();
        match error {
            Error::NotAnAncestor { stop: named, commit: of } => assert_eq!((named, of), (stop, commit)),
            other => panic!("{other:?}"),
        }
    }
}

pub async fn a_missing_commit_or_stop_is_named<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let one = say("one").commit(&store).await;
    for (commit, stop) in [(MISSING, Stop::Compaction), (MISSING, Stop::Root), (one, Stop::At(MISSING))] {
        let error = store.materialize(Some(commit), stop, None).await.err().unwrap();
        assert!(matches!(error, Error::Store(StoreError::NoCommit(MISSING))), "{error:?}");
    }
}

pub async fn absent_and_damaged_bytes_are_told_apart<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let one = say("one").commit(&store).await;
    let two = say("two").after(one).commit(&store).await;
    let three = say("three").after(two).commit(&store).await;
    let (lost, damaged) = (ArtifactId::of(&spoken(&["two"])), ArtifactId::of(&spoken(&["three"])));
    harness.backend.lose_artifact(lost).await;
    harness.backend.damage_artifact(damaged).await;
    let materialization = store.materialize(Some(three), Stop::Root, None).await.unwrap();
    let error = materialization.write_to(&mut Vec::new()).await.unwrap_err();
    match error {
        Error::AbsentArtifact { commit, artifact } => assert_eq!((commit, artifact), (two, lost)),
        other => panic!("{other:?}"),
    }
    let materialization = store.materialize(Some(three), Stop::At(three), None).await.unwrap();
    let error = materialization.write_to(&mut Vec::new()).await.unwrap_err();
    assert!(matches!(error, Error::Store(StoreError::DamagedArtifact(id)) if id == damaged), "{error:?}");
    assert_eq!(materialized(&store, one, Stop::Root).await.0, spoken(&["one"]));
}

pub async fn forks_share_the_past_and_nothing_else<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let one = say("one").onto("main").commit(&store).await;
    let sum = say("sum").kind(CommitKind::Compaction).onto("main").commit(&store).await;
    let two = say("two").onto("main").commit(&store).await;
    store.fork(sum, &head("side")).await.unwrap();
    store.fork(one, &head("old")).await.unwrap();
    let side = say("side").onto("side").commit(&store).await;
    let old = say("old").onto("old").commit(&store).await;
    let deep = say("deep").after(side).commit(&store).await;
    say("rewound").onto("side").after(sum).expecting(Expect::At(side)).commit(&store).await;
    for (commit, recent, all) in [
        (two, spoken(&["sum", "two"]), spoken(&["one", "two"])),
        (side, spoken(&["sum", "side"]), spoken(&["one", "side"])),
        (deep, spoken(&["sum", "side", "deep"]), spoken(&["one", "side", "deep"])),
        (old, spoken(&["one", "old"]), spoken(&["one", "old"])),
    ] {
        assert_eq!(materialized(&store, commit, Stop::Compaction).await.0, recent);
        assert_eq!(materialized(&store, commit, Stop::Root).await.0, all);
    }
}

pub async fn long_chains_come_out_whole_and_in_order<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let words: Vec<_> = (0..300).map(|n| format!("word {n}")).collect();
    let mut words: Vec<&str> = words.iter().map(String::as_str).collect();
    let mut chain: Vec<CommitId> = Vec::new();
    for (n, word) in words.iter().enumerate() {
        // Every so often a branch is left behind, so that the chain goes on over several lines.
        if n % 90 == 89 {
            say("left behind").after(chain[n - 10]).commit(&store).await;
            say("left behind too").after(chain[n - 1]).commit(&store).await;
        }
        let draft = say(word);
        let draft = match chain.last() {
            Some(parent) => draft.after(*parent),
            None => draft,
        };
        chain.push(draft.commit(&store).await);
    }
    for end in [63, 64, 65, 128, 300] {
        assert!(materialized(&store, chain[end - 1], Stop::Root).await.0 == spoken(&words[..end]), "{end} commits");
    }
    words.drain(..70);
    let (bytes, counted) = materialized(&store, chain[299], Stop::At(chain[70])).await;
    assert!(bytes == spoken(&words));
    assert_eq!((counted.commits, counted.messages), (230, Some(230)));
}
