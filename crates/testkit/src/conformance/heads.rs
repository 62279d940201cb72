//! Heads: set, moved, deleted, forked, each only from where the caller thought they were.

use std::time::Duration;

use contexture::{Error, Expect, Head, HeadMove, LogStart, StoreError};
use contexture_core::{Actor, CommitId};

use crate::{Backend, Harness, head, instant, observe, say, walked};

const MISSING: CommitId = CommitId::from_bytes([7; CommitId::LEN]);

fn is_conflict(error: &Error, expected: Option<CommitId>, actual: Option<CommitId>) -> bool {
    matches!(error, Error::Store(StoreError::HeadConflict { head, expected: e, actual: a })
        if head.as_str() == "main" && (*e, *a) == (expected, actual))
}

pub async fn a_head_is_made_moved_and_deleted<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let main = head("main");
    let (one, two) = (say("one").commit(&store).await, say("two").commit(&store).await);
    assert_eq!(store.head(&main).await.unwrap(), None);
    assert_eq!(store.set_head(&main, one, Expect::Anything).await.unwrap(), None);
    assert_eq!(store.head(&main).await.unwrap(), Some(one));
    assert_eq!(store.set_head(&main, two, Expect::At(one)).await.unwrap(), Some(one));
    assert_eq!(store.move_head(&main, one, Expect::Anything).await.unwrap(), two);
    assert_eq!(store.delete_head(&main, Expect::At(one)).await.unwrap(), one);
    assert_eq!(store.head(&main).await.unwrap(), None);
    assert_eq!(walked(&store, LogStart::Everything).await, [two, one]);
}

pub async fn a_head_that_is_elsewhere_is_a_conflict_and_stays<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let main = head("main");
    let (one, two) = (say("one").commit(&store).await, say("two").commit(&store).await);
    let error = store.set_head(&main, one, Expect::At(two)).await.unwrap_err();
    assert!(is_conflict(&error, Some(two), None), "{error:?}");
    store.set_head(&main, one, Expect::Absent).await.unwrap();
    let before = observe(&store).await;
    for (expect, expected) in
        [(Expect::Absent, None), (Expect::At(two), Some(two)), (Expect::At(MISSING), Some(MISSING))]
    {
        let refusals = [
            store.set_head(&main, two, expect).await.map(drop).unwrap_err(),
            store.move_head(&main, two, expect).await.map(drop).unwrap_err(),
            store.delete_head(&main, expect).await.map(drop).unwrap_err(),
            say("three").onto("main").expecting(expect).refused(&store).await,
            say("three").after(one).onto("main").expecting(expect).refused(&store).await,
        ];
        for error in refusals {
            assert!(is_conflict(&error, expected, Some(one)), "{error:?}");
        }
    }
    assert_eq!(observe(&store).await, before);
}

pub async fn a_head_points_to_commits_only<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let error = store.set_head(&head("main"), MISSING, Expect::Anything).await.unwrap_err();
    assert!(matches!(error, Error::Store(StoreError::NoCommit(MISSING))), "{error:?}");
    let error = store.fork(MISSING, &head("main")).await.unwrap_err();
    assert!(matches!(error, Error::Store(StoreError::NoCommit(MISSING))), "{error:?}");
    assert_eq!(store.journal_tip().await.unwrap(), 0);
}

pub async fn what_does_not_exist_is_neither_moved_nor_deleted<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let one = say("one").commit(&store).await;
    for expect in [Expect::Anything, Expect::Absent, Expect::At(one)] {
        for error in [
            store.move_head(&head("main"), one, expect).await.unwrap_err(),
            store.delete_head(&head("main"), expect).await.unwrap_err(),
        ] {
            assert!(matches!(&error, Error::Store(StoreError::NoHead(name)) if *name == head("main")), "{error:?}");
        }
    }
}

pub async fn a_fork_needs_a_free_name<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let one = say("one").onto("main").commit(&store).await;
    let two = say("two").onto("main").commit(&store).await;
    store.fork(one, &head("side")).await.unwrap();
    assert_eq!(store.head(&head("side")).await.unwrap(), Some(one));
    let error = store.fork(one, &head("main")).await.unwrap_err();
    assert!(is_conflict(&error, None, Some(two)), "{error:?}");
    assert_eq!(store.head(&head("main")).await.unwrap(), Some(two));
}

pub async fn a_checkpoint_onto_a_head_continues_it<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let mut chain = vec![say("again").onto("main").commit(&store).await];
    for expect in [None, Some(Expect::Anything), Some(Expect::At(chain[0]))] {
        let mut draft = say("again").onto("main");
        draft.request.expect = expect.map(|expect| match expect {
            Expect::At(_) => Expect::At(*chain.last().unwrap()),
            Expect::Anything | Expect::Absent => expect,
        });
        chain.push(draft.commit(&store).await);
    }
    chain.reverse();
    assert_eq!(store.head(&head("main")).await.unwrap(), Some(chain[0]));
    assert_eq!(walked(&store, LogStart::Commits(vec![chain[0]])).await, chain);
}

pub async fn an_explicit_parent_away_from_the_head_is_a_conflict<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let one = say("one").onto("main").commit(&store).await;
    let two = say("two").onto("main").commit(&store).await;
    let before = observe(&store).await;
    let error = say("late").after(one).onto("main").refused(&store).await;
    assert!(is_conflict(&error, Some(one), Some(two)), "{error:?}");
    assert_eq!(observe(&store).await, before);
    let three = say("three").after(two).onto("main").commit(&store).await;
    assert_eq!(store.head(&head("main")).await.unwrap(), Some(three));
}

pub async fn an_expectation_lets_a_head_go_another_way<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let one = say("one").onto("main").commit(&store).await;
    let two = say("two").onto("main").commit(&store).await;
    let other = say("other").after(one).onto("main").expecting(Expect::At(two)).commit(&store).await;
    assert_eq!(store.head(&head("main")).await.unwrap(), Some(other));
    let third = say("third").after(one).onto("main").expecting(Expect::Anything).commit(&store).await;
    assert_eq!(store.head(&head("main")).await.unwrap(), Some(third));
    assert_eq!(store.show(third).await.unwrap().commit.parent, Some(one));
    let fresh = say("fresh").after(two).onto("new").expecting(Expect::Absent).commit(&store).await;
    assert_eq!(store.head(&head("new")).await.unwrap(), Some(fresh));
}

pub async fn every_move_is_logged_with_who_and_when<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let (ada, bob) = (harness.open_as("ada", "default").await, harness.open_as("bob", "default").await);
    let main = head("main");
    let one = say("one").onto("main").commit(&ada).await;
    harness.clock.advance(Duration::from_secs(1));
    let two = say("two").onto("main").commit(&bob).await;
    bob.set_head(&main, two, Expect::Anything).await.unwrap();
    harness.clock.advance(Duration::from_secs(1));
    ada.delete_head(&main, Expect::Anything).await.unwrap();
    let entry = |seq, from, to, actor, seconds| HeadMove {
        seq,
        origin: from,
        target: to,
        actor: Actor::new(actor).unwrap(),
        at: instant(seconds),
    };
    // The space, a commit and a move by each; going where it is already is no move.
    let expected = [
        entry(6, Some(two), None, "ada", 2),
        entry(5, Some(one), Some(two), "bob", 1),
        entry(3, None, Some(one), "ada", 0),
    ];
    assert_eq!(ada.head_log(&main, u64::MAX, 10).await.unwrap(), expected);
    assert_eq!(ada.head_log(&main, 6, 1).await.unwrap(), expected[1..2]);
    assert_eq!(ada.head_log(&main, 3, 10).await.unwrap(), []);
    assert_eq!(ada.head_log(&head("other"), u64::MAX, 10).await.unwrap(), []);
}

pub async fn heads_are_listed_by_name_in_pages<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let one = say("one").commit(&store).await;
    for name in ["session/b", "main", "session/a", "sess%", "sessions", "session/ä"] {
        store.set_head(&head(name), one, Expect::Anything).await.unwrap();
    }
    let listed = |names: &[&str]| -> Vec<Head> {
        let at = |name: &&str| Head { name: head(name), commit: one, moved_at: instant(0) };
        names.iter().map(at).collect()
    };
    let all = ["main", "sess%", "session/a", "session/b", "session/ä", "sessions"];
    assert_eq!(store.heads("", None, 100).await.unwrap(), listed(&all));
    assert_eq!(store.heads("", None, 2).await.unwrap(), listed(&all[..2]));
    assert_eq!(store.heads("", Some(&head("sess%")), 2).await.unwrap(), listed(&all[2..4]));
    assert_eq!(store.heads("session/", None, 100).await.unwrap(), listed(&all[2..5]));
    assert_eq!(store.heads("sess%", None, 100).await.unwrap(), listed(&all[1..2]));
    assert_eq!(store.heads("none", None, 100).await.unwrap(), []);
}
