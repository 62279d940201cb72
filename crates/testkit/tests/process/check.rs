//! Opening a store after what writers did to it.

use std::{collections::HashSet, path::Path};

use contexture::{Contexture, Location, LogStart, Options, Stop};
use contexture_core::{Actor, CommitId, SpaceName};
use contexture_testkit::{TestClock, assert_sound, head, materialized, say, walked};

pub(crate) async fn open(store: &Path) -> Contexture {
    let options = Options {
        location: Location::Directory(store.to_owned()),
        space: SpaceName::new("default").unwrap(),
        actor: Actor::new("checker").unwrap(),
        clock: TestClock::fixed().reader(),
        secrets: contexture_testkit::known_secrets(),
    };
    Contexture::open(options).await.unwrap()
}

/// Panics unless everything acknowledged on a head is in what the head materializes to.
pub(crate) async fn assert_kept(store: &Path, name: &str, acknowledged: &[CommitId]) {
    let store = open(store).await;
    let Some(tip) = store.head(&head(name)).await.unwrap() else {
        assert_eq!(acknowledged, [], "the head is lost");
        return;
    };
    let chain = walked(&store, LogStart::Commits(vec![tip])).await;
    let (_, counted) = materialized(&store, tip, Stop::Root).await;
    assert_eq!((counted.commits, counted.messages), (chain.len() as u64, Some(chain.len() as u64)));
    let chain: HashSet<_> = chain.into_iter().collect();
    for id in acknowledged {
        assert!(chain.contains(id), "{id} is lost");
    }
}

/// Panics unless everything in a store is whole and it can be written.
pub(crate) async fn assert_whole(store: &Path) {
    let store = open(store).await;
    assert_sound(&store, &SpaceName::new("default").unwrap()).await;
    let id = say("after all").onto("check").commit(&store).await;
    assert_eq!(store.head(&head("check")).await.unwrap(), Some(id));
}
