//! Spaces: nothing crosses from one to another.

use std::io;

use contexture::{
    CheckpointContent, CreateOutcome, Error, Expect, Filter, LogStart, Moment, Reference, Space, Stop, StoreError,
};
use contexture_core::{Actor, ArtifactId, ArtifactPrefix, JournalKind, JournalRecord, Principal, SpaceName};

use crate::{Backend, Harness, assert_whole, head, instant, journal, observe, say, spoken, stored, walked};

pub async fn what_one_space_holds_another_does_not_see<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let (here, there) = (harness.open_as("ada", "here").await, harness.open_as("ada", "there").await);
    let one = say("one").by("ada").onto("main").key("k").commit(&here).await;
    let artifact = ArtifactId::of(&spoken(&["one"]));
    assert_eq!(there.journal_tip().await.unwrap(), 0);
    assert_eq!(there.head(&head("main")).await.unwrap(), None);
    assert_eq!(there.heads("", None, 10).await.unwrap(), []);
    assert_eq!(there.head_log(&head("main"), u64::MAX, 10).await.unwrap(), []);
    assert_eq!(there.list(&Filter::default(), None, 10).await.unwrap(), []);
    assert_eq!(walked(&there, LogStart::Everything).await, []);
    let moment = Moment { principal: Principal::new("ada").unwrap(), at: instant(1000) };
    assert_eq!((here.resolve(&moment).await.unwrap(), there.resolve(&moment).await.unwrap()), (Some(one), None));
    let refusals = [
        there.show(one).await.map(drop).unwrap_err(),
        there.children(one, 10).await.map(drop).unwrap_err(),
        there.annotate(one, vec![]).await.unwrap_err(),
        there.annotation_history(one).await.map(drop).unwrap_err(),
        there.materialize(Some(one), Stop::Root, None).await.map(drop).unwrap_err(),
        there.walk(LogStart::Commits(vec![one])).await.map(drop).unwrap_err(),
        there.fork(one, &head("main")).await.unwrap_err(),
        there.export(&[one], &[], &mut Vec::new()).await.map(drop).unwrap_err(),
    ];
    for error in refusals {
        assert!(matches!(error, Error::Store(StoreError::NoCommit(id)) if id == one), "{error:?}");
    }
    let refusals = [
        there.stat_artifact(artifact).await.map(drop).unwrap_err(),
        there.get_artifact(artifact, &mut Vec::new()).await.map(drop).unwrap_err(),
        there.checkpoint(say("").request, CheckpointContent::Stored(artifact)).await.map(drop).unwrap_err(),
    ];
    for error in refusals {
        assert!(matches!(error, Error::Store(StoreError::NoArtifact(id)) if id == artifact), "{error:?}");
    }
    let error = say("two").after(one).refused(&there).await;
    assert!(matches!(error, Error::Store(StoreError::NoParent(id)) if id == one), "{error:?}");
    let error = say("two").merging(&[one]).refused(&there).await;
    assert!(matches!(error, Error::Store(StoreError::NoMerged(id)) if id == one), "{error:?}");
    for text in [one.to_string(), one.to_string()[..10].to_owned()] {
        let error = there.find(&text.parse::<Reference>().unwrap()).await.unwrap_err();
        assert!(matches!(error, Error::Store(StoreError::NoMatch { .. })), "{error:?}");
    }
    let prefix: ArtifactPrefix = artifact.to_string()[..10].parse().unwrap();
    let error = there.find_artifact(&prefix).await.unwrap_err();
    assert!(matches!(error, Error::Store(StoreError::NoMatch { .. })), "{error:?}");
    assert_eq!(there.journal_tip().await.unwrap(), 0);
}

pub async fn the_same_things_live_in_two_spaces_without_meeting<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let (here, there) = (harness.open_as("ada", "here").await, harness.open_as("ada", "there").await);
    let one = say("one").onto("main").key("k").send(&here).await.unwrap();
    let same = say("one").onto("main").key("k").send(&there).await.unwrap();
    assert_eq!((one.id, one.outcome), (same.id, same.outcome), "content decides the id, not the space");
    let other = say("other").key("l").onto("main").send(&there).await.unwrap();
    assert_eq!(other.outcome, CreateOutcome::Created);
    say("third").key("l").onto("side").commit(&here).await;
    assert_eq!(here.head(&head("main")).await.unwrap(), Some(one.id));
    assert_eq!(there.head(&head("main")).await.unwrap(), Some(other.id));
    let before = observe(&here).await;
    there.delete_head(&head("main"), Expect::Anything).await.unwrap();
    there.annotate(one.id, vec![]).await.unwrap();
    stored(&there, &vec![1; 300_000]).await;
    assert_eq!(observe(&here).await, before);
    assert_whole(&here, &SpaceName::new("here").unwrap()).await;
    assert_whole(&there, &SpaceName::new("there").unwrap()).await;
    let put = here.put_artifact(io::Cursor::new(vec![1; 300_000])).await.unwrap();
    assert_ne!(put.new_bytes, 0, "artifacts are not shared between spaces");
}

pub async fn a_space_is_made_by_the_first_write<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let (a, b) = (harness.open_as("ada", "a").await, harness.open_as("ada", "b").await);
    assert_eq!(a.spaces().await.unwrap(), []);
    say("one").commit(&b).await;
    let space = |name| Space { name: SpaceName::new(name).unwrap(), created_at: instant(0) };
    assert_eq!(a.spaces().await.unwrap(), [space("b")]);
    stored(&a, b"artifact").await;
    assert_eq!(b.spaces().await.unwrap(), [space("a"), space("b")]);
    let first = journal(&a).await.remove(0);
    assert_eq!((first.kind, first.subject.as_str(), first.seq), (JournalKind::SpaceCreated, "a", 1));
}

pub async fn a_handle_leads_to_another_space_and_acts_for_another<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let here = harness.open_as("ada", "here").await;
    let there = here.in_space(SpaceName::new("there").unwrap()).acting_as(Actor::new("ben").unwrap());
    let one = say("one").onto("main").commit(&here).await;
    say("two").onto("main").commit(&there).await;
    assert!(there.show(one).await.is_err(), "the other space has its own commits");
    let opened = harness.open_as("ben", "there").await;
    assert_eq!(observe(&opened).await, observe(&there).await);
    let actors = |records: Vec<JournalRecord>| records.into_iter().map(|record| record.actor).collect::<Vec<_>>();
    let is_all = |actors: Vec<Actor>, name: &str| actors.iter().all(|actor| actor.as_str() == name);
    assert!(is_all(actors(journal(&here).await), "ada"), "the handle that was asked stays as it is");
    assert!(is_all(actors(journal(&there).await), "ben"));
    assert_whole(&here, &SpaceName::new("here").unwrap()).await;
    assert_whole(&there, &SpaceName::new("there").unwrap()).await;
}
