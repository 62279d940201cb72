//! Idempotency keys: a retry makes nothing new.

use std::time::Duration;

use contexture::{CreateOutcome, Error, Expect, StoreError};

use crate::{Backend, Draft, Harness, head, instant, observe, say, write};

pub async fn a_retry_gives_the_same_commit_however_late<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let first = say("one").key("k").onto("main").send(&store).await.unwrap();
    say("two").onto("main").commit(&store).await;
    let before = observe(&store).await;
    harness.clock.advance(Duration::from_hours(24));
    drop(store);
    let store = harness.open().await;
    let again = say("one").key("k").onto("main").send(&store).await.unwrap();
    assert_eq!((first.outcome, again.outcome), (CreateOutcome::Created, CreateOutcome::AlreadyThere));
    assert_eq!(again.id, first.id);
    assert_eq!(observe(&store).await, before);
}

pub async fn a_key_used_for_another_request_is_a_conflict<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let parent = say("parent").commit(&store).await;
    let first = say("one").key("k").commit(&store).await;
    let before = observe(&store).await;
    let others: [Draft; 8] = [
        say("two"),
        say("one").after(parent),
        say("one").by("ada"),
        say("one").at(instant(1)),
        say("one").onto("main"),
        say("one").messages(1),
        say("one").summary("said one"),
        write("codex-v1", say("one").content),
    ];
    for other in others {
        let error = other.key("k").refused(&store).await;
        match error {
            Error::Store(StoreError::KeyConflict { key, commit }) => assert_eq!((key.as_str(), commit), ("k", first)),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(observe(&store).await, before);
}

pub async fn two_keys_for_one_commit_both_find_it<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let first = say("one").key("k").send(&store).await.unwrap();
    let second = say("one").key("l").send(&store).await.unwrap();
    assert_eq!((second.id, second.outcome), (first.id, CreateOutcome::AlreadyThere));
    let error = say("two").key("l").refused(&store).await;
    assert!(matches!(error, Error::Store(StoreError::KeyConflict { .. })), "{error:?}");
}

pub async fn a_refused_request_does_not_use_up_its_key<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    say("one").onto("main").commit(&store).await;
    let error = say("two").key("k").onto("main").expecting(Expect::Absent).refused(&store).await;
    assert!(matches!(error, Error::Store(StoreError::HeadConflict { .. })), "{error:?}");
    let id = say("three").key("k").onto("main").commit(&store).await;
    assert_eq!(store.head(&head("main")).await.unwrap(), Some(id));
}
