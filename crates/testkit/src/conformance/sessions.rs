//! Sessions: which there are, what is theirs, and how they are named.

use std::path::PathBuf;

use contexture::{Contexture, Error, Reference, StoreError};
use contexture_core::{Annotation, CommitId, LabelKey};

use crate::{Backend, Harness, instant, say, text};

async fn label(store: &Contexture, commit: CommitId, key: &str, value: &str) {
    let label = Annotation::Label { key: LabelKey::new(key).unwrap(), value: text(value) };
    store.annotate(commit, vec![label]).await.unwrap();
}

async fn find(store: &Contexture, name: &str) -> Result<CommitId, Error> {
    store.find(&name.parse::<Reference>().unwrap()).await
}

/// Makes sessions of two turns each, by their ids, directories and times.
async fn sessions(store: &Contexture, told: &[(&str, &str, i64)]) -> Vec<CommitId> {
    let mut tips = Vec::new();
    for (id, directory, at) in told {
        let first =
            say(&format!("{id} begins")).session(id).at(instant(*at)).summary("asked first").commit(store).await;
        label(store, first, "cwd", directory).await;
        let second = say(&format!("{id} goes on")).after(first).session(id).at(instant(at + 1));
        tips.push(second.summary("asked then").onto(&format!("session/{id}")).commit(store).await);
    }
    tips
}

pub async fn sessions_come_newest_first_and_those_of_a_project_are_numbered<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    assert_eq!(store.sessions().await.unwrap(), []);
    assert!(matches!(find(&store, "last").await, Err(Error::NoSessions { project: None })));
    let tips =
        sessions(&store, &[("old", "/p", 10), ("new", "/q", 30), ("within", "/p/docs", 20), ("like", "/pp", 5)]).await;
    say("no session").commit(&store).await;
    let listed = |sessions: Vec<contexture::ListedSession>| {
        sessions.into_iter().map(|it| (it.session.id.to_string(), it.number)).collect::<Vec<_>>()
    };
    let expected = |numbers: [Option<u32>; 4]| {
        ["new", "within", "old", "like"].map(str::to_owned).into_iter().zip(numbers).collect::<Vec<_>>()
    };
    assert_eq!(listed(store.sessions().await.unwrap()), expected([Some(1), Some(2), Some(3), Some(4)]));
    let here = store.standing_in(Some(PathBuf::from("/p").into()));
    assert_eq!(listed(here.sessions().await.unwrap()), expected([None, Some(1), Some(2), None]));
    assert_eq!(here.last_session().await.unwrap().tip.id, tips[2]);
    let elsewhere = store.standing_in(Some(PathBuf::from("/z").into()));
    assert!(matches!(find(&elsewhere, "last").await, Err(Error::NoSessions { project: Some(_) })));
    assert!(matches!(find(&here, "3").await, Err(Error::NoSessionNumber { number: 3, sessions: 2 })));
}

pub async fn a_session_is_what_is_its_own_of_its_chain<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let tip = sessions(&store, &[("one", "/p", 10)]).await[0];
    // It goes on from the first, in another agent and on the same line.
    let further = say("two begins").after(tip).session("two").at(instant(20)).summary("and now").commit(&store).await;
    let step = say("two works").after(further).session("two").at(instant(21)).messages(3).commit(&store).await;
    // A branch of it is left behind, and a sub-agent carries its id and was there first.
    say("two, other").after(further).session("two").at(instant(19)).commit(&store).await;
    say("agent").session("two").at(instant(18)).summary("for an agent").commit(&store).await;
    store.set_head(&crate::head("session/two"), step, contexture::Expect::Absent).await.unwrap();
    let listed = store.sessions().await.unwrap();
    let two = &listed[0].session;
    assert_eq!((two.id.as_str(), two.tip.id, two.first.id), ("two", step, further));
    assert_eq!(two.directory.as_deref(), Some("/p"));
    let measures = store.measure_session(two).await.unwrap();
    assert_eq!((measures.turns, measures.commits, measures.request), (1, 2, Some(text("and now"))));
    assert_eq!(measures.origin, Some((tip, Some(listed[1].session.id.clone()))));
    let one = store.measure_session(&listed[1].session).await.unwrap();
    assert_eq!((one.turns, one.commits, one.origin), (2, 2, None));
    // What a sub-agent has to itself is no session of the list's numbers.
    let agent = say("started").session("child").at(instant(50)).commit(&store).await;
    label(&store, agent, "parent-session", "two").await;
    let numbers: Vec<_> = store.sessions().await.unwrap().iter().map(|listed| listed.number).collect();
    assert_eq!(numbers, [None, Some(1), Some(2)]);
}

pub async fn a_session_is_named_by_number_beginning_or_last<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let told = [("aaaa-1", "/p", 10), ("aaaa-2", "/p", 20), ("b%c_\u{10ffff}", "/p", 30), ("bbbb", "/p", 40)];
    let tips = sessions(&store, &told).await;
    for (name, tip) in [("last", 3), ("1", 3), ("4", 0), ("aaaa-1", 0), ("aaaa-2", 1), ("b%c_", 2), ("session/bbbb", 3)]
    {
        assert_eq!(find(&store, name).await.unwrap(), tips[tip], "{name}");
    }
    assert_eq!(find(&store, "last~1").await.unwrap(), store.show(tips[3]).await.unwrap().commit.parent.unwrap());
    match find(&store, "aaaa").await.unwrap_err() {
        Error::Store(StoreError::Ambiguous { candidates, .. }) => {
            assert_eq!(candidates, ["session/aaaa-1", "session/aaaa-2"]);
        }
        other => panic!("{other:?}"),
    }
    assert!(find(&store, "aaaa-3").await.is_err());
    let named = store.find_with_head(&"bbbb".parse().unwrap()).await.unwrap();
    assert_eq!(named, (tips[3], Some(crate::head("session/bbbb"))));
    // A head goes first, and a session whose head moved on is where that is.
    store.set_head(&crate::head("last"), tips[0], contexture::Expect::Absent).await.unwrap();
    assert_eq!(find(&store, "last").await.unwrap(), tips[0]);
}
