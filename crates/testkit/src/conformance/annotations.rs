//! Annotations: a history that is only added to, and its fold.

use std::time::Duration;

use contexture::{Error, StoreError};
use contexture_core::{Actor, Annotation, Annotations, CommitId, LabelKey, Noted, Tag};

use crate::{Backend, Harness, instant, say, text};

fn summary(words: &str) -> Annotation {
    Annotation::Summary { text: text(words) }
}

fn tag(word: &str) -> Annotation {
    Annotation::Tag { tag: Tag::new(word).unwrap() }
}

fn untag(word: &str) -> Annotation {
    Annotation::Untag { tag: Tag::new(word).unwrap() }
}

fn label(key: &str, value: &str) -> Annotation {
    Annotation::Label { key: LabelKey::new(key).unwrap(), value: text(value) }
}

pub async fn everything_said_is_kept_with_who_and_when<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let (ada, bob) = (harness.open_as("ada", "default").await, harness.open_as("bob", "default").await);
    let id = say("one").summary("first").commit(&ada).await;
    harness.clock.advance(Duration::from_secs(1));
    bob.annotate(id, vec![summary("second"), tag("green")]).await.unwrap();
    harness.clock.advance(Duration::from_secs(1));
    ada.annotate(id, vec![summary("first")]).await.unwrap();
    let noted = |annotation, author: &str, seconds| Noted {
        annotation,
        author: Actor::new(author).unwrap(),
        at: instant(seconds),
    };
    let expected = [
        noted(summary("first"), "ada", 0),
        noted(summary("second"), "bob", 1),
        noted(tag("green"), "bob", 1),
        noted(summary("first"), "ada", 2),
    ];
    assert_eq!(ada.annotation_history(id).await.unwrap(), expected);
}

pub async fn the_latest_is_in_force<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let id = say("one").commit(&store).await;
    let next = say("two").after(id).summary("about two").commit(&store).await;
    let said =
        vec![tag("a"), tag("b"), label("cwd", "/a"), summary("old"), untag("a"), label("cwd", "/b"), summary("new")];
    store.annotate(id, said).await.unwrap();
    let expected = Annotations {
        summary: Some(text("new")),
        tags: [Tag::new("b").unwrap()].into(),
        labels: [(LabelKey::new("cwd").unwrap(), text("/b"))].into(),
        coverage: None,
    };
    assert_eq!(store.show(id).await.unwrap().annotations, expected);
    store.annotate(id, vec![summary("")]).await.unwrap();
    assert_eq!(store.show(id).await.unwrap().annotations, Annotations { summary: None, ..expected });
    let other = Annotations { summary: Some(text("about two")), ..Annotations::default() };
    assert_eq!(store.show(next).await.unwrap().annotations, other);
}

pub async fn only_commits_are_annotated<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let missing = CommitId::from_bytes([7; CommitId::LEN]);
    let refusals = [
        store.annotate(missing, vec![summary("nothing")]).await.unwrap_err(),
        store.annotation_history(missing).await.map(drop).unwrap_err(),
    ];
    for error in refusals {
        assert!(matches!(error, Error::Store(StoreError::NoCommit(id)) if id == missing), "{error:?}");
    }
    assert_eq!(store.journal_tip().await.unwrap(), 0);
}
