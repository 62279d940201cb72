//! Many at once, and again after the store was closed.

use std::collections::HashSet;

use contexture::{Contexture, Error, Expect, LogStart, StoreError};
use contexture_core::{Annotation, ArtifactId, CommitId, CommitKind, JournalKind, SpaceName};
use futures_util::future;

use crate::{Backend, Draft, Harness, assert_whole, head, journal, observe, say, stored, text, walked};

const TASKS: usize = 64;

fn space() -> SpaceName {
    SpaceName::new("default").unwrap()
}

/// Checks in one commit per task at the same time, half of them through each handle.
async fn storm(handles: [&Contexture; 2], draft: impl Fn(usize) -> Draft) -> Vec<CommitId> {
    let tasks = (0..TASKS).map(|n| {
        let (store, draft) = (handles[n % 2].clone(), draft(n));
        tokio::spawn(async move { draft.commit(&store).await })
    });
    future::join_all(tasks.collect::<Vec<_>>()).await.into_iter().map(Result::unwrap).collect()
}

pub async fn concurrent_checkpoints_are_all_durable_in_one_order<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let (one, other) = (harness.open().await, harness.open().await);
    let ids = storm([&one, &other], |n| say(&n.to_string())).await;
    drop((one, other));
    let store = harness.open().await;
    let mut seqs = HashSet::new();
    for id in &ids {
        seqs.insert(store.show(*id).await.unwrap().seq);
    }
    assert_eq!(seqs.len(), TASKS);
    assert_eq!(assert_whole(&store, &space()).await.commits.len(), TASKS);
}

pub async fn concurrent_checkpoints_onto_one_head_form_one_chain<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let (one, other) = (harness.open().await, harness.open().await);
    let ids = storm([&one, &other], |n| say(&n.to_string()).onto("main")).await;
    let tip = one.head(&head("main")).await.unwrap().unwrap();
    let chain = walked(&one, LogStart::Commits(vec![tip])).await;
    assert_eq!(chain.len(), TASKS);
    assert_eq!(chain.into_iter().collect::<HashSet<_>>(), ids.into_iter().collect());
    assert_eq!(one.show(tip).await.unwrap().depth, TASKS as u64 - 1);
    assert_whole(&one, &space()).await;
}

pub async fn one_of_many_that_expect_the_same_wins<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let (one, other) = (harness.open().await, harness.open().await);
    let root = say("root").onto("main").commit(&one).await;
    let tasks = (0..TASKS).map(|n| {
        let store = if n % 2 == 0 { one.clone() } else { other.clone() };
        let draft = say(&n.to_string()).onto("main").expecting(Expect::At(root));
        tokio::spawn(async move { draft.send(&store).await })
    });
    let outcomes = future::join_all(tasks.collect::<Vec<_>>()).await;
    let (won, lost): (Vec<_>, Vec<_>) = outcomes.into_iter().map(Result::unwrap).partition(Result::is_ok);
    assert_eq!(won.len(), 1);
    let winner = won.into_iter().next().unwrap().unwrap().id;
    for outcome in lost {
        let error = outcome.unwrap_err();
        assert!(
            matches!(&error, Error::Store(StoreError::HeadConflict { actual: Some(at), .. }) if *at == winner),
            "{error:?}"
        );
    }
    assert_eq!(walked(&one, LogStart::Everything).await, [winner, root], "losers leave nothing");
}

pub async fn programs_that_take_turns_go_on_from_each_other<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let programs = [harness.open().await, harness.open().await];
    let (main, side) = (head("main"), head("side"));
    let mut chain = Vec::new();
    for turn in 0..6 {
        let (one, other) = (&programs[turn % 2], &programs[(turn + 1) % 2]);
        // So often in a row that the program comes to rely on being alone.
        for n in 0..5 {
            chain.push(say(&format!("{turn}, {n}")).onto("main").commit(one).await);
        }
        let [.., before, last] = chain[..] else { unreachable!("five were made") };
        one.set_head(&side, last, Expect::Anything).await.unwrap();
        let late = say("late").onto("main").expecting(Expect::At(before)).send(other).await.unwrap_err();
        assert!(
            matches!(&late, Error::Store(StoreError::HeadConflict { actual: Some(at), .. }) if *at == last),
            "{late:?}"
        );
        assert_eq!(other.delete_head(&side, Expect::At(last)).await.unwrap(), last);
        assert_eq!(one.set_head(&side, before, Expect::Absent).await.unwrap(), None);
        // A child of a commit that both know as the last of its line.
        say(&format!("fork {turn}")).after(before).commit(other).await;
        assert_eq!(one.head(&main).await.unwrap(), Some(last));
    }
    let tip = *chain.last().unwrap();
    chain.reverse();
    for store in &programs {
        assert_eq!(walked(store, LogStart::Commits(vec![tip])).await, chain);
        assert_whole(store, &space()).await;
    }
}

pub async fn a_refused_checkpoint_is_not_taken_for_known<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let mut made = Vec::new();
    for n in 0..8 {
        let last = say(&n.to_string()).onto("main").commit(&store).await;
        made.push(last);
        let expecting = Expect::At(CommitId::from_bytes([7; CommitId::LEN]));
        say("refused").onto("main").expecting(expecting).send(&store).await.unwrap_err();
        assert_eq!(store.head(&head("main")).await.unwrap(), Some(last));
    }
    made.reverse();
    assert_eq!(walked(&store, LogStart::Everything).await, made);
    assert_whole(&store, &space()).await;
}

pub async fn concurrent_retries_of_one_request_make_one_commit<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let (one, other) = (harness.open().await, harness.open().await);
    let ids = storm([&one, &other], |_| say("once").key("k").onto("main")).await;
    assert_eq!(ids.iter().collect::<HashSet<_>>().len(), 1);
    let made = journal(&one).await.into_iter().filter(|record| record.kind == JournalKind::CommitCreated);
    assert_eq!(made.count(), 1);
}

pub async fn a_refused_checkpoint_takes_nothing_of_its_neighbours_with_it<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let missing = CommitId::from_bytes([7; CommitId::LEN]);
    let tasks = (0..TASKS).map(|n| {
        let store = store.clone();
        let draft = say(&n.to_string());
        let draft = if n % 3 == 0 { draft.after(missing) } else { draft };
        tokio::spawn(async move { (n, draft.send(&store).await) })
    });
    for outcome in future::join_all(tasks.collect::<Vec<_>>()).await {
        let (n, outcome) = outcome.unwrap();
        assert_eq!(outcome.is_err(), n % 3 == 0, "{n}: {outcome:?}");
        let content = ArtifactId::of(&say(&n.to_string()).content);
        assert_eq!(store.stat_artifact(content).await.is_err(), n % 3 == 0, "{n}: bytes of a refused checkpoint");
    }
    assert_eq!(assert_whole(&store, &space()).await.commits.len(), TASKS - TASKS.div_ceil(3));
}

pub async fn everything_is_there_after_reopening<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let one = say("one").by("ada").onto("main").summary("first").key("k").commit(&store).await;
    say("side").after(one).onto("side").commit(&store).await;
    say("sum").kind(CommitKind::Compaction).onto("main").commit(&store).await;
    stored(&store, &vec![3; 1_000_000]).await;
    store.annotate(one, vec![Annotation::Summary { text: text("again") }]).await.unwrap();
    store.delete_head(&head("side"), Expect::Anything).await.unwrap();
    let before = observe(&store).await;
    drop(store);
    for _ in 0..2 {
        let store = harness.open().await;
        assert_eq!(assert_whole(&store, &space()).await, before);
    }
    let (one, other) = (harness.open().await, harness.open().await);
    let two = say("two").onto("main").commit(&one).await;
    assert_eq!(other.head(&head("main")).await.unwrap(), Some(two), "handles see what others did");
}
