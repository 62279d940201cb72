//! Whether a store and a model show the same.

use std::{collections::BTreeSet, io};

use contexture::{Contexture, Error, Filter, ImportSummary, Moment, Stop};
use contexture_core::{CommitId, HeadName, Principal, SpaceName};
use contexture_testkit::{
    Backend, Harness, assert_whole, exported, instant, materialized,
    model::{Conversation, Seen, World},
    observe,
};

use crate::step::PRINCIPALS;

/// Compares everything that can be seen.
pub(crate) async fn whole(store: &Contexture, world: &World) {
    let observed = assert_whole(store, &SpaceName::new("default").unwrap()).await;
    assert_eq!(Seen::from(observed), world.seen);
    for (tip, node) in world.tree.nodes().iter().enumerate() {
        conversation(store, world, tip, Stop::Compaction).await;
        conversation(store, world, tip, Stop::Root).await;
        // Some other commit, which may be an ancestor or not.
        let stop = world.tree.nodes()[tip * 7 % (tip + 1)].id;
        conversation(store, world, tip, Stop::At(stop)).await;
        let expected: Vec<_> = world.tree.children(tip).iter().map(|&at| world.tree.nodes()[at].id).collect();
        let children = store.children(node.id, 100).await.unwrap();
        assert_eq!(children.iter().map(|child| child.id).collect::<Vec<_>>(), expected);
    }
    found(store, world).await;
}

async fn conversation(store: &Contexture, world: &World, tip: usize, stop: Stop) {
    let id = world.tree.nodes()[tip].id;
    match world.tree.materialize(tip, stop) {
        Conversation::Whole(body, commits) => {
            let (bytes, counted) = materialized(store, id, stop).await;
            assert_eq!(String::from_utf8_lossy(&bytes), String::from_utf8_lossy(&body.bytes()));
            assert_eq!((counted.format, counted.commits), (Some(body.format()), commits as u64));
        }
        Conversation::Mixed => {
            let error = store.materialize(Some(id), stop, None).await.err();
            assert!(matches!(error, Some(Error::Mixed { .. })), "{error:?}");
        }
        Conversation::NotAnAncestor => {
            let error = store.materialize(Some(id), stop, None).await.err();
            assert!(matches!(error, Some(Error::NotAnAncestor { .. })), "{error:?}");
        }
    }
}

/// Compares what is found by time and by missing summary.
async fn found(store: &Contexture, world: &World) {
    let mut newest_first: Vec<_> = world.seen.commits.iter().collect();
    newest_first.sort_by_key(|(commit, seq, _)| std::cmp::Reverse((commit.created_at, *seq)));
    for principal in PRINCIPALS.map(|name| Principal::new(name).unwrap()) {
        for at in [instant(0), instant(10), world.now] {
            let expected = newest_first.iter().find(|(commit, ..)| {
                commit.provenance.principal.as_ref() == Some(&principal) && commit.created_at <= at
            });
            let moment = Moment { principal: principal.clone(), at };
            assert_eq!(store.resolve(&moment).await.unwrap(), expected.map(|(commit, ..)| commit.id()));
        }
    }
    let summed_up = |id| world.seen.in_force.get(&id).is_some_and(|annotations| annotations.summary.is_some());
    let expected: Vec<_> = newest_first.iter().map(|(commit, ..)| commit.id()).filter(|id| !summed_up(*id)).collect();
    let listed = store.list(&Filter { missing_summary: true, ..Filter::default() }, None, 1000).await.unwrap();
    assert_eq!(listed.iter().map(|commit| commit.id).collect::<Vec<_>>(), expected);
}

/// Takes commits and all heads to another space and compares what arrives; then takes them back, which changes nothing.
pub(crate) async fn copied(harness: &Harness<impl Backend>, world: &World, commits: &[CommitId], space: &str) {
    let (home, abroad) = (harness.open().await, harness.open_as("carrier", space).await);
    let heads: Vec<HeadName> = world.seen.heads.iter().map(|head| head.name.clone()).collect();
    let bundle = exported(&home, commits, &heads).await;
    let summary = abroad.import_bundle(io::Cursor::new(bundle.clone())).await.unwrap();
    let expected = closure(world, commits.iter().copied().chain(world.seen.heads.iter().map(|head| head.commit)));
    assert_eq!((summary.commits, summary.new_commits), (expected.len() as u64, expected.len() as u64));
    assert_eq!(summary.moved_heads, heads);
    let arrived = assert_whole(&abroad, &SpaceName::new(space).unwrap()).await;
    assert_eq!(arrived.commits.iter().map(|commit| commit.id).collect::<BTreeSet<_>>(), expected);
    for commit in &arrived.commits {
        let tip = world.tree.find(commit.id).unwrap();
        assert_eq!(commit.commit, world.seen.commits[tip].0);
        assert_eq!(arrived.notes.get(&commit.id), world.seen.notes.get(&commit.id));
        conversation(&abroad, world, tip, Stop::Root).await;
        conversation(&abroad, world, tip, Stop::Compaction).await;
    }
    for (head, original) in arrived.heads.iter().zip(&world.seen.heads) {
        assert_eq!((&head.name, head.commit), (&original.name, original.commit));
    }
    let before = observe(&home).await;
    let nothing_new = ImportSummary { commits: summary.commits, ..ImportSummary::default() };
    assert_eq!(home.import_bundle(io::Cursor::new(bundle)).await.unwrap(), nothing_new);
    assert_eq!(observe(&home).await, before);
}

/// Returns commits with all that leads to them and to what they merge.
fn closure(world: &World, starts: impl Iterator<Item = CommitId>) -> BTreeSet<CommitId> {
    let mut left: Vec<_> = starts.collect();
    let mut closure = BTreeSet::new();
    while let Some(id) = left.pop() {
        if closure.insert(id) {
            let (commit, ..) = &world.seen.commits[world.tree.find(id).unwrap()];
            left.extend(commit.parent);
            left.extend(&commit.merges);
        }
    }
    closure
}
