//! Bundles: chains go from one store to another as they are, or not at all.

use std::io;

use contexture::{BundleProblem, Contexture, Error, Expect, ExportSummary, ImportSummary, Stop, StoreError};
use contexture_core::{Annotation, CommitId, CommitKind, HeadName, SpaceName, Tag};

use crate::{Backend, Harness, assert_whole, exported, head, materialized, observe, say, spoken, text, write};

async fn import(store: &Contexture, bundle: &[u8]) -> Result<ImportSummary, Error> {
    store.import_bundle(io::Cursor::new(bundle.to_vec())).await
}

/// Makes a history with a fork, a merge, a compaction, annotations, a large artifact and two heads.
async fn history(store: &Contexture) -> Vec<CommitId> {
    let one = say("one").onto("main").summary("first").commit(store).await;
    let large = write("claude-code-v1", spoken(&["large"]).repeat(100_000)).onto("main").commit(store).await;
    store.fork(one, &head("side")).await.unwrap();
    let side = say("side").onto("side").commit(store).await;
    let merged = say("merged").onto("main").merging(&[side]).commit(store).await;
    let sum = say("sum").kind(CommitKind::Compaction).onto("main").commit(store).await;
    // The same content as before: the bundle holds it once.
    let again = say("one").onto("main").commit(store).await;
    let tag = |word| Tag::new(word).unwrap();
    let toggled = vec![
        Annotation::Tag { tag: tag("kept") },
        Annotation::Untag { tag: tag("kept") },
        Annotation::Tag { tag: tag("kept") },
        Annotation::Summary { text: text("new words") },
    ];
    store.annotate(large, toggled).await.unwrap();
    vec![one, large, side, merged, sum, again]
}

pub async fn a_bundle_carries_all_that_leads_to_its_heads<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let (here, there) = (harness.open_as("ada", "here").await, harness.open_as("bob", "there").await);
    let ids = history(&here).await;
    let mut bundle = Vec::new();
    let summary = here.export(&[], &[head("main")], &mut bundle).await.unwrap();
    let artifact_bytes = ["one", "side", "merged", "sum"].map(|word| spoken(&[word]).len()).iter().sum::<usize>()
        + spoken(&["large"]).len() * 100_000;
    assert_eq!(
        summary,
        ExportSummary {
            commits: 6,
            artifacts: 5,
            artifact_bytes: artifact_bytes as u64,
            annotations: 5,
            heads: 1,
            envelopes: 0,
            left_out_artifacts: 0,
        }
    );
    assert_eq!(contexture::verify_bundle(bundle.as_slice()).unwrap(), summary);
    let imported = import(&there, &bundle).await.unwrap();
    assert_eq!(
        imported,
        ImportSummary {
            commits: 6,
            new_commits: 6,
            new_annotations: 5,
            moved_heads: vec![head("main")],
            ..ImportSummary::default()
        }
    );
    for id in &ids {
        let (original, copy) = (here.show(*id).await.unwrap(), there.show(*id).await.unwrap());
        assert_eq!(
            (original.commit, original.depth, original.annotations),
            (copy.commit, copy.depth, copy.annotations)
        );
        assert_eq!(here.annotation_history(*id).await.unwrap(), there.annotation_history(*id).await.unwrap());
        for stop in [Stop::Compaction, Stop::Root] {
            assert!(materialized(&here, *id, stop).await == materialized(&there, *id, stop).await);
        }
    }
    assert_eq!(there.head(&head("main")).await.unwrap(), Some(ids[5]));
    assert_eq!(there.head(&head("side")).await.unwrap(), None);
    assert_whole(&there, &SpaceName::new("there").unwrap()).await;
}

pub async fn a_bundle_of_everything_holds_what_no_head_leads_to<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let (here, there) = (harness.open_as("ada", "here").await, harness.open_as("bob", "there").await);
    history(&here).await;
    let (alone, beside) = (say("alone").commit(&here).await, say("beside").commit(&here).await);
    let mut bundle = Vec::new();
    let summary = here.export_all(&mut bundle).await.unwrap();
    assert_eq!((summary.commits, summary.heads), (8, 2));
    assert_eq!(import(&there, &bundle).await.unwrap().new_commits, 8);
    for id in [alone, beside] {
        assert_eq!(there.show(id).await.unwrap().commit, here.show(id).await.unwrap().commit);
    }
    assert_whole(&there, &SpaceName::new("there").unwrap()).await;
}

pub async fn taking_in_a_bundle_again_changes_nothing<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let (here, there) = (harness.open_as("ada", "here").await, harness.open_as("bob", "there").await);
    history(&here).await;
    let bundle = exported(&here, &[], &[head("main"), head("side")]).await;
    let (at_home, before) = (observe(&here).await, import(&there, &bundle).await.map(drop));
    assert!(before.is_ok());
    let before = observe(&there).await;
    for (store, unchanged) in [(&here, at_home), (&there, before)] {
        let nothing_new = ImportSummary { commits: 6, ..ImportSummary::default() };
        assert_eq!(import(store, &bundle).await.unwrap(), nothing_new);
        assert_eq!(observe(store).await, unchanged);
    }
}

pub async fn a_bundle_of_commits_has_no_heads_and_only_their_past<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let (here, there) = (harness.open_as("ada", "here").await, harness.open_as("bob", "there").await);
    let ids = history(&here).await;
    let bundle = exported(&here, &[ids[1], ids[2]], &[]).await;
    import(&there, &bundle).await.unwrap();
    assert_eq!(there.heads("", None, 10).await.unwrap(), []);
    let mut found: Vec<_> = observe(&there).await.commits.iter().map(|commit| commit.id).collect();
    found.sort();
    let mut expected = vec![ids[0], ids[1], ids[2]];
    expected.sort();
    assert_eq!(found, expected);
}

pub async fn heads_move_forward_or_stay<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let (here, there) = (harness.open_as("ada", "here").await, harness.open_as("bob", "there").await);
    let heads = [head("behind"), head("same"), head("ahead"), head("apart"), head("new")];
    let one = say("one").commit(&here).await;
    let two = say("two").after(one).commit(&here).await;
    let three = say("three").after(two).commit(&here).await;
    for name in &heads {
        here.set_head(name, two, Expect::Absent).await.unwrap();
    }
    import(&there, &exported(&here, &[three], &[]).await).await.unwrap();
    let apart = say("apart").after(one).commit(&there).await;
    for (name, at) in [("behind", one), ("same", two), ("ahead", three), ("apart", apart)] {
        there.set_head(&head(name), at, Expect::Absent).await.unwrap();
    }
    let summary = import(&there, &exported(&here, &[], &heads).await).await.unwrap();
    assert_eq!(summary.moved_heads, [head("behind"), head("new")]);
    assert_eq!(summary.kept_heads, [head("ahead"), head("apart")]);
    let mut at = Vec::new();
    for name in &heads {
        at.push(there.head(name).await.unwrap().unwrap());
    }
    assert_eq!(at, [two, two, three, apart, two]);
}

pub async fn a_bundle_joins_what_a_store_already_has<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let (here, there) = (harness.open_as("ada", "here").await, harness.open_as("bob", "there").await);
    let one = say("one").onto("main").commit(&here).await;
    say("one").onto("mine").commit(&there).await;
    let own = say("own").onto("mine").summary("mine").commit(&there).await;
    let two = say("two").onto("main").commit(&here).await;
    here.annotate(one, vec![Annotation::Summary { text: text("from here") }]).await.unwrap();
    let summary = import(&there, &exported(&here, &[], &[head("main")]).await).await.unwrap();
    assert_eq!((summary.commits, summary.new_commits, summary.new_annotations), (2, 1, 1));
    assert_eq!(materialized(&there, own, Stop::Root).await.0, spoken(&["one", "own"]));
    assert_eq!(materialized(&there, two, Stop::Root).await.0, spoken(&["one", "two"]));
    assert_eq!(there.show(one).await.unwrap().annotations.summary, Some(text("from here")));
    assert_whole(&there, &SpaceName::new("there").unwrap()).await;
}

pub async fn a_damaged_bundle_changes_nothing<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let (here, empty) = (harness.open_as("ada", "here").await, harness.open_as("bob", "empty").await);
    let used = harness.open_as("bob", "used").await;
    history(&here).await;
    say("one").onto("main").commit(&used).await;
    let before = observe(&used).await;
    let bundle = exported(&here, &[], &[head("main")]).await;
    let mut damaged = vec![b"".to_vec(), b"not a bundle at all".to_vec(), [bundle.as_slice(), b"more"].concat()];
    damaged.extend((1..8).map(|eighth| bundle[..bundle.len() * eighth / 8].to_vec()));
    damaged.push(bundle[..bundle.len() - 1].to_vec());
    for at in [0, 7, bundle.len() / 3, bundle.len() / 2, bundle.len() - 20] {
        let mut flipped = bundle.clone();
        flipped[at] ^= 0x55;
        damaged.push(flipped);
    }
    for bundle in damaged {
        let error = contexture::verify_bundle(bundle.as_slice()).unwrap_err();
        assert!(matches!(error, Error::Bundle { .. }), "{error:?}");
        for store in [&empty, &used] {
            let error = import(store, &bundle).await.unwrap_err();
            assert!(matches!(error, Error::Bundle { .. }), "{error:?}");
        }
    }
    assert_eq!(observe(&used).await, before);
    assert_eq!(empty.journal_tip().await.unwrap(), 0, "not even the space is made");
    let error = import(&empty, b"CTXBNDL\x63").await.unwrap_err();
    assert!(matches!(error, Error::Bundle { problem: BundleProblem::Newer { found: 0x63, .. } }), "{error:?}");
}

pub async fn what_is_not_there_cannot_be_exported<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let missing = CommitId::from_bytes([7; CommitId::LEN]);
    let error = store.export(&[missing], &[], &mut Vec::new()).await.unwrap_err();
    assert!(matches!(error, Error::Store(StoreError::NoCommit(id)) if id == missing), "{error:?}");
    let error = store.export(&[], &[head("main")], &mut Vec::new()).await.unwrap_err();
    assert!(matches!(&error, Error::Store(StoreError::NoHead(name)) if *name == head("main")), "{error:?}");
    let nothing: [HeadName; 0] = [];
    let bundle = exported(&store, &[], &nothing).await;
    assert_eq!(import(&store, &bundle).await.unwrap(), ImportSummary::default());
    assert_eq!(store.journal_tip().await.unwrap(), 0);
}
