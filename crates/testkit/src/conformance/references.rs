//! How people name commits: heads, abbreviated ids, steps back.

use std::collections::HashMap;

use contexture::{Contexture, Error, Expect, Reference, StoreError};
use contexture_core::{ArtifactId, ArtifactPrefix, CommitId};

use crate::{Backend, Draft, Harness, head, say, stored};

async fn find(store: &Contexture, text: &str) -> Result<CommitId, Error> {
    store.find(&text.parse::<Reference>().unwrap()).await
}

/// Returns the digits of an id.
fn digits(id: CommitId) -> String {
    id.to_string().trim_start_matches(CommitId::PREFIX).to_owned()
}

/// Returns two drafts of which the ids start with the same four digits, found by trying.
async fn look_alikes<B: Backend>() -> (Draft, Draft) {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let first = say("0").commit(&store).await;
    let mut commit = store.show(first).await.unwrap().commit;
    let mut seen = HashMap::new();
    for n in 0u32.. {
        let draft = say(&n.to_string());
        commit.artifact = ArtifactId::of(&draft.content);
        if let Some(earlier) = seen.insert(digits(commit.id())[..4].to_owned(), draft.clone()) {
            return (earlier, draft);
        }
    }
    unreachable!("65536 beginnings are used up before 2^32 tries")
}

pub async fn an_id_may_be_cut_to_what_is_unambiguous<B: Backend>() {
    let (first, second) = look_alikes::<B>().await;
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let one = first.commit(&store).await;
    for text in [one.to_string(), digits(one), digits(one).to_uppercase(), digits(one)[..4].to_owned(), one.short()] {
        assert_eq!(find(&store, &text).await.unwrap(), one, "{text}");
    }
    let two = second.commit(&store).await;
    let error = find(&store, &digits(one)[..4]).await.unwrap_err();
    let mut candidates = [one.to_string(), two.to_string()];
    candidates.sort();
    match error {
        Error::Store(StoreError::Ambiguous { prefix, candidates: named }) => {
            assert_eq!((prefix, named.as_slice()), (one.to_string()[..8].to_owned(), candidates.as_slice()));
        }
        other => panic!("{other:?}"),
    }
    let shared = digits(one).bytes().zip(digits(two).bytes()).take_while(|(a, b)| a == b).count();
    for id in [one, two] {
        assert_eq!(find(&store, &digits(id)[..=shared]).await.unwrap(), id);
    }
}

pub async fn what_no_id_starts_with_is_refused<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let one = say("one").commit(&store).await;
    let other = if digits(one).starts_with('0') { "ctx-ffff" } else { "ctx-0000" };
    let error = find(&store, other).await.unwrap_err();
    assert!(matches!(&error, Error::Store(StoreError::NoMatch { prefix, .. }) if prefix == other), "{error:?}");
    let error = find(&store, "nobody").await.unwrap_err();
    assert!(matches!(&error, Error::Store(StoreError::NoHead(name)) if *name == head("nobody")), "{error:?}");
}

pub async fn a_head_goes_before_an_id_that_starts_so<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let (one, two) = (say("one").commit(&store).await, say("two").commit(&store).await);
    let short = digits(one)[..6].to_owned();
    assert_eq!(find(&store, &short).await.unwrap(), one);
    store.set_head(&head(&short), two, Expect::Absent).await.unwrap();
    assert_eq!(find(&store, &short).await.unwrap(), two);
    assert_eq!(find(&store, &format!("ctx-{short}")).await.unwrap(), one);
    store.delete_head(&head(&short), Expect::Anything).await.unwrap();
    assert_eq!(find(&store, &short).await.unwrap(), one);
}

pub async fn steps_back_follow_parents_over_forks<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let mut chain = vec![say("0").commit(&store).await];
    for n in 1..10 {
        // A child made before it puts every other commit on a line of its own.
        if n % 2 == 0 {
            say("left behind").after(chain[n - 1]).commit(&store).await;
        }
        chain.push(say(&n.to_string()).after(chain[n - 1]).commit(&store).await);
    }
    store.set_head(&head("main"), chain[9], Expect::Absent).await.unwrap();
    for (back, id) in chain.iter().rev().enumerate() {
        assert_eq!(find(&store, &format!("main~{back}")).await.unwrap(), *id);
        assert_eq!(find(&store, &format!("{}~{back}", chain[9])).await.unwrap(), *id);
    }
    assert_eq!(find(&store, "main~").await.unwrap(), chain[8]);
    for steps in [10, u64::MAX] {
        let error = find(&store, &format!("main~{steps}")).await.unwrap_err();
        match error {
            Error::NoAncestor { commit, depth, back } => assert_eq!((commit, depth, back), (chain[9], 9, steps)),
            other => panic!("{other:?}"),
        }
    }
}

pub async fn artifacts_are_found_by_abbreviated_ids<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let id = stored(&store, b"artifact").await;
    for text in [id.to_string(), id.to_string()[..8].to_owned(), id.short()] {
        assert_eq!(store.find_artifact(&text.parse::<ArtifactPrefix>().unwrap()).await.unwrap(), id);
    }
    let mut seen = HashMap::new();
    let (first, second) = (0u32..)
        .find_map(|n| {
            let content = n.to_be_bytes();
            let digits = ArtifactId::of(&content).to_string()[..8].to_owned();
            seen.insert(digits, content).map(|earlier| (earlier, content))
        })
        .unwrap();
    let (first, second) = (stored(&store, &first).await, stored(&store, &second).await);
    let prefix: ArtifactPrefix = first.to_string()[..8].parse().unwrap();
    let error = store.find_artifact(&prefix).await.unwrap_err();
    let mut candidates = [first.to_string(), second.to_string()];
    candidates.sort();
    assert!(matches!(&error, Error::Store(StoreError::Ambiguous { candidates: named, .. }) if *named == candidates));
}
