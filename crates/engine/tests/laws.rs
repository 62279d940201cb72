//! Laws of the product that hold for whatever goes in.

use contexture::{Attachment, Contexture, CreateOutcome, EnvelopeFilter, Error, NewEnvelope, Stop};
use contexture_core::{ArtifactId, CommitId, CommitKind, EnvelopeId, RecipeName, Stream};
use contexture_testkit::{
    Harness, SqliteBackend, artifact, block_on, instant, materialized,
    model::{Body, Conversation, Node, Tree},
    write,
};
use proptest::{collection::vec, prelude::*, sample::Index};

/// Bytes around every size at which the store does something else: no bytes, one row, one more part.
fn content() -> impl Strategy<Value = Vec<u8>> {
    const HOT: usize = 256 * 1024;
    let len = prop_oneof![0..3usize, HOT - 2..HOT + 3, HOT..3 * HOT, Just(8 * 1024), 4 * HOT - 1..4 * HOT + 2];
    let pattern = prop_oneof![vec(any::<u8>(), 1..2), vec(any::<u8>(), 1..5000), vec(any::<u8>(), 70_000..90_000)];
    (len, pattern).prop_map(|(len, pattern)| pattern.into_iter().cycle().take(len).collect())
}

/// A commit to be: after which of those before it, if any, and what.
#[derive(Debug, Clone)]
struct Planned {
    parent: Option<Index>,
    kind: CommitKind,
    body: Body,
}

fn planned(body: impl Strategy<Value = Body>) -> impl Strategy<Value = Planned> {
    let kind = prop_oneof![
        6 => Just(CommitKind::Delta),
        1 => Just(CommitKind::Compaction),
        1 => Just(CommitKind::Snapshot),
    ];
    // Most continue the newest, as chains do; the rest fork anywhere or begin anew.
    let parent = prop_oneof![
        6 => Just(None),
        3 => any::<Index>().prop_map(Some),
    ];
    (parent, kind, body).prop_map(|(parent, kind, body)| Planned { parent, kind, body })
}

/// Plants planned commits in a store and in a tree.
async fn plant(store: &Contexture, plan: &[Planned]) -> Tree {
    let mut tree = Tree::default();
    for (n, Planned { parent, kind, body }) in plan.iter().enumerate() {
        let parent = match parent {
            // One index in as many as there are commits stands for none.
            Some(index) => index.index(n + 1).checked_sub(1),
            None => n.checked_sub(1),
        };
        let kind = if parent.is_none() && *kind == CommitKind::Compaction { CommitKind::Snapshot } else { *kind };
        let mut draft = write(body.format().as_str(), body.bytes()).kind(kind).messages(n as u64);
        draft.request.parent = parent.map(|parent| tree.nodes()[parent].id);
        let id = draft.commit(store).await;
        tree.push(Node { id, parent, kind, body: body.clone() });
    }
    tree
}

async fn assert_materializes(store: &Contexture, tree: &Tree, tip: usize, stop: Stop) -> Result<(), TestCaseError> {
    let id = tree.nodes()[tip].id;
    match tree.materialize(tip, stop) {
        Conversation::Whole(body, commits) => {
            let (bytes, counted) = materialized(store, id, stop).await;
            let expected = body.bytes();
            prop_assert_eq!(String::from_utf8_lossy(&bytes), String::from_utf8_lossy(&expected));
            prop_assert_eq!(counted.format, Some(body.format()));
            prop_assert_eq!(counted.commits, commits as u64);
            prop_assert_eq!(counted.messages, body.messages().map(|messages| messages as u64));
            prop_assert_eq!(counted.bytes, bytes.len() as u64);
        }
        Conversation::Mixed => {
            let error = store.materialize(Some(id), stop, None).await.err();
            prop_assert!(matches!(error, Some(Error::Mixed { commit, .. }) if commit == id), "{:?}", error);
        }
        Conversation::NotAnAncestor => {
            let error = store.materialize(Some(id), stop, None).await.err();
            prop_assert!(matches!(error, Some(Error::NotAnAncestor { commit, .. }) if commit == id), "{:?}", error);
        }
    }
    Ok(())
}

fn assert_tree(plan: &[Planned]) -> Result<(), TestCaseError> {
    block_on(async {
        let harness = Harness::<SqliteBackend>::new().await;
        let store = harness.open().await;
        let tree = plant(&store, plan).await;
        let ids: Vec<CommitId> = tree.nodes().iter().map(|node| node.id).collect();
        for tip in 0..ids.len() {
            assert_materializes(&store, &tree, tip, Stop::Root).await?;
            assert_materializes(&store, &tree, tip, Stop::Compaction).await?;
            // Every third id is tried as a stop, beginning elsewhere for each tip: ancestors and strangers alike.
            for stop in ids.iter().skip(tip % 3).step_by(3) {
                assert_materializes(&store, &tree, tip, Stop::At(*stop)).await?;
            }
        }
        Ok(())
    })
}

/// Keeps documents, each in a stream, and compares every list and every latest with the documents as they first came.
fn assert_kept(kept: &[(u8, u8)]) -> Result<(), TestCaseError> {
    let stream = |number: u8| Stream::new(format!("stream {number}")).unwrap();
    let envelope = |document: u8, number: u8| NewEnvelope {
        document: vec![document; 3],
        stream: stream(number),
        recipe: RecipeName::new("turn").unwrap(),
        commit: None,
        created_at: instant(i64::from(document)),
        artifacts: vec![Attachment::bytes(vec![document % 2])],
        injections: Vec::new(),
        missing: Vec::new(),
        events: Vec::new(),
    };
    block_on(async {
        let harness = Harness::<SqliteBackend>::new().await;
        let store = harness.open().await;
        let mut first: Vec<(EnvelopeId, u8)> = Vec::new();
        for (document, number) in kept {
            let kept = store.keep_envelope(envelope(*document, *number)).await.unwrap();
            prop_assert_eq!(kept.id, EnvelopeId::of(&[*document; 3]));
            let is_new = first.iter().all(|(id, _)| *id != kept.id);
            prop_assert_eq!(kept.outcome, if is_new { CreateOutcome::Created } else { CreateOutcome::AlreadyThere });
            if is_new {
                first.push((kept.id, *number));
            }
        }
        // The space, and each envelope once.
        prop_assert_eq!(store.journal_tip().await.unwrap(), 1 + first.len() as u64);
        for number in 0..4 {
            let expected: Vec<_> = first.iter().rev().filter(|(_, of)| *of == number).map(|(id, _)| *id).collect();
            let filter = EnvelopeFilter { stream: Some(stream(number)), ..EnvelopeFilter::default() };
            let listed = store.envelopes().list(&filter, None, 1000).await.unwrap();
            prop_assert_eq!(&listed.iter().map(|stored| stored.id).collect::<Vec<_>>(), &expected);
            let mut walked = Vec::new();
            while let Some(found) = store.latest_envelope(&stream(number), walked.last().copied()).await.unwrap() {
                walked.push(found.id);
            }
            prop_assert_eq!(walked, expected, "going back from the latest meets each once");
        }
        let problems = store.fsck(&mut |_| {}).await.unwrap().problems;
        prop_assert_eq!(problems, vec![]);
        Ok(())
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_bytes_come_back_bit_equal(content in content()) {
        let (id, back, stat) = block_on(async {
            let harness = Harness::<SqliteBackend>::new().await;
            let store = harness.open().await;
            let put = store.put_artifact(std::io::Cursor::new(content.clone())).await.unwrap();
            (put.id, artifact(&store, put.id).await, store.stat_artifact(put.id).await.unwrap())
        });
        prop_assert_eq!(id, ArtifactId::of(&content));
        prop_assert_eq!(stat.size, content.len() as u64);
        prop_assert!(back == content);
    }

    #[test]
    fn materializing_is_joining_what_the_walk_comes_by(plan in vec(planned(Body::any()), 1..24)) {
        assert_tree(&plan)?;
    }

    #[test]
    fn a_document_is_kept_once_and_where_it_first_came(kept in vec((0..12u8, 0..4u8), 1..40)) {
        assert_kept(&kept)?;
    }

    #[test]
    fn every_format_joins_by_its_own_rule(body in Body::other(), plan in vec(planned(Body::any()), 1..12), more in vec(Body::other(), 12)) {
        let same = |other: &Body| other.format() == body.format();
        let plan: Vec<_> = plan.into_iter().zip(more).map(|(planned, other)| {
            let body = if same(&other) { other } else { body.clone() };
            Planned { body, ..planned }
        }).collect();
        assert_tree(&plan)?;
    }
}
