//! Looking at commits: one, its children, a walk over history.

use std::collections::HashSet;

use contexture::{Contexture, Error, LogStart, StoreError};
use contexture_core::{CommitId, CommitKind, Trigger};

use crate::{Backend, Harness, instant, observe, say, walked, write};

const MISSING: CommitId = CommitId::from_bytes([7; CommitId::LEN]);

async fn chain(store: &Contexture, mut tip: CommitId, name: &str, length: usize) -> Vec<CommitId> {
    let mut ids = Vec::new();
    for n in 0..length {
        tip = say(&format!("{name} {n}")).after(tip).commit(store).await;
        ids.push(tip);
    }
    ids
}

pub async fn a_commit_knows_its_depth_and_place_in_the_journal<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let one = say("one").onto("main").commit(&store).await;
    let two = say("two").onto("main").commit(&store).await;
    let fork = say("fork").after(one).commit(&store).await;
    let sum = say("sum").kind(CommitKind::Compaction).after(fork).commit(&store).await;
    // The space takes the first record, and every move of a head one more.
    for (id, depth, seq) in [(one, 0, 2), (two, 1, 4), (fork, 1, 6), (sum, 2, 7)] {
        let shown = store.show(id).await.unwrap();
        assert_eq!((shown.depth, shown.seq), (depth, seq));
    }
    let error = store.show(MISSING).await.unwrap_err();
    assert!(matches!(error, Error::Store(StoreError::NoCommit(MISSING))), "{error:?}");
}

pub async fn children_come_in_the_order_they_were_made<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let root = say("root").commit(&store).await;
    assert_eq!(store.children(root, 10).await.unwrap(), []);
    let mut made = Vec::new();
    for word in ["b", "a", "d", "c"] {
        let child = say(word).after(root).summary(word).commit(&store).await;
        say("grandchild").after(child).commit(&store).await;
        made.push(store.show(child).await.unwrap());
    }
    assert_eq!(store.children(root, 10).await.unwrap(), made);
    assert_eq!(store.children(root, 3).await.unwrap(), made[..3]);
    assert_eq!(store.children(root, 1).await.unwrap(), made[..1]);
    let fork = made[2].id;
    let ids: Vec<_> = store.children(fork, 10).await.unwrap().into_iter().map(|child| child.id).collect();
    assert_eq!(ids, [say("grandchild").after(fork).commit(&store).await]);
    let error = store.children(MISSING, 10).await.unwrap_err();
    assert!(matches!(error, Error::Store(StoreError::NoCommit(MISSING))), "{error:?}");
}

pub async fn a_walk_from_several_commits_meets_each_once_before_its_parent<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let root = say("root").commit(&store).await;
    let trunk = chain(&store, root, "trunk", 150).await;
    let early = chain(&store, trunk[10], "early", 80).await;
    let late = chain(&store, trunk[100], "late", 5).await;
    let twig = chain(&store, early[40], "twig", 3).await;
    let stranger = say("stranger").commit(&store).await;
    let starts = vec![twig[2], late[4], trunk[120], early[60], trunk[120]];
    let met = walked(&store, LogStart::Commits(starts)).await;
    let expected: Vec<_> = [&[root], &trunk[..=120], &early[..=60], &late, &twig].concat();
    assert_eq!(met.iter().collect::<HashSet<_>>(), expected.iter().collect::<HashSet<_>>());
    assert_eq!(met.len(), expected.len(), "a commit is met twice");
    assert_child_before_parent(&store, &met).await;
    let walk = store.walk(LogStart::Commits(vec![trunk[120], twig[2]])).await.unwrap();
    for (id, expected) in [
        (trunk[120], true),
        (trunk[121], false),
        (early[40], true),
        (early[41], false),
        (stranger, false),
        (root, true),
    ] {
        assert_eq!(walk.reaches(&store.show(id).await.unwrap()), expected, "{id}");
    }
    assert!(!met.contains(&stranger));
    let everything = walked(&store, LogStart::Everything).await;
    assert_eq!(everything.len(), 1 + 150 + 80 + 5 + 3 + 1);
    assert_eq!(everything[0], stranger, "the newest comes first");
    assert_child_before_parent(&store, &everything).await;
}

async fn assert_child_before_parent(store: &Contexture, met: &[CommitId]) {
    let mut seen = HashSet::new();
    for id in met {
        seen.insert(*id);
        let parent = store.show(*id).await.unwrap().commit.parent;
        assert!(parent.is_none_or(|parent| !seen.contains(&parent)), "{id} comes after its parent");
    }
}

pub async fn a_walk_yields_pages_of_the_size_asked_for<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let root = say("root").commit(&store).await;
    let mut expected = chain(&store, root, "trunk", 9).await;
    expected.reverse();
    expected.push(root);
    let mut walk = store.walk(LogStart::Commits(vec![expected[0]])).await.unwrap();
    for page in [&expected[..4], &expected[4..8], &expected[8..], &[]] {
        let ids: Vec<_> = walk.next(4).await.unwrap().into_iter().map(|commit| commit.id).collect();
        assert_eq!(ids, page);
    }
}

pub async fn a_walk_shows_commits_as_they_are<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let one = say("one").by("ada").summary("first").commit(&store).await;
    let two = say("two").after(one).merging(&[one]).commit(&store).await;
    let expected = [store.show(two).await.unwrap(), store.show(one).await.unwrap()];
    for start in [LogStart::Everything, LogStart::Commits(vec![two])] {
        assert_eq!(store.walk(start).await.unwrap().next(10).await.unwrap(), expected);
    }
}

pub async fn a_walk_from_a_missing_commit_is_refused<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let one = say("one").commit(&store).await;
    let error = store.walk(LogStart::Commits(vec![one, MISSING])).await.err().unwrap();
    assert!(matches!(error, Error::Store(StoreError::NoCommit(MISSING))), "{error:?}");
    assert_eq!(walked(&store, LogStart::Commits(vec![])).await, []);
}

pub async fn looking_writes_nothing<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let empty = observe(&store).await;
    assert_eq!((empty.commits, empty.heads, empty.journal), (vec![], vec![], vec![]));
    assert_eq!(store.spaces().await.unwrap(), []);
    assert_eq!(store.journal_tip().await.unwrap(), 0);
}

pub async fn a_timeline_follows_the_times_and_never_tells_a_parent_first<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    // What was taken in first happened last.
    let new = say("new").at(instant(90)).commit(&store).await;
    let newer = say("newer").after(new).at(instant(100)).commit(&store).await;
    let old = say("old").at(instant(10)).commit(&store).await;
    let older_child = say("older child").after(old).at(instant(95)).commit(&store).await;
    assert_eq!(walked(&store, LogStart::Timeline).await, [newer, older_child, new, old]);
    assert_eq!(walked(&store, LogStart::Commits(vec![older_child, newer])).await, [newer, older_child, new, old]);
    // A fork whose times lie before those of what it forks off.
    let fork = say("fork").after(new).at(instant(5)).commit(&store).await;
    let twig = say("twig").after(fork).at(instant(4)).commit(&store).await;
    for start in [LogStart::Timeline, LogStart::Commits(vec![twig, older_child, newer])] {
        let met = walked(&store, start).await;
        assert_eq!(met, [newer, older_child, old, twig, fork, new]);
        assert_child_before_parent(&store, &met).await;
    }
    let root = say("root").commit(&store).await;
    let trunk = chain(&store, root, "trunk", 150).await;
    chain(&store, trunk[10], "early", 80).await;
    chain(&store, trunk[100], "late", 5).await;
    let everything = walked(&store, LogStart::Timeline).await;
    assert_eq!(everything.len(), 6 + 1 + 150 + 80 + 5);
    assert_child_before_parent(&store, &everything).await;
}

/// Returns a line in which an agent calls a tool, or says something.
fn spoken(uuid: &str, content: &str) -> String {
    format!(
        r#"{{"type":"assistant","uuid":"{uuid}","message":{{"role":"assistant","id":"{uuid}","content":[{content}]}}}}"#
    ) + "\n"
}

fn edited(uuid: &str, path: &str) -> String {
    let input = format!(r#"{{"file_path":"{path}","old_string":"a","new_string":"b"}}"#);
    spoken(uuid, &format!(r#"{{"type":"tool_use","id":"{uuid}","name":"Edit","input":{input}}}"#))
}

pub async fn a_turn_is_what_was_done_until_the_next_request<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let step = |content: String| write("claude-code-v1", content).session("s");
    let mut call = step(edited("a1", "/p/one.rs")).summary("Mend it");
    call.request.trigger = Trigger::ToolCall;
    let asked = call.commit(&store).await;
    let mut call = step(edited("a2", "/p/two.rs") + &edited("a3", "/p/one.rs")).after(asked);
    call.request.trigger = Trigger::ToolCall;
    let called = call.commit(&store).await;
    let said = step(spoken("a4", r#"{"type":"text","text":"Mended."}"#)).after(called).commit(&store).await;
    let next =
        step(spoken("a5", r#"{"type":"text","text":"Yes."}"#)).after(said).summary("Is it?").commit(&store).await;
    let turns = async |start: CommitId, marked: &[CommitId]| {
        let marked = marked.iter().copied().collect();
        let mut walk = store.turns(LogStart::Commits(vec![start]), marked).await.unwrap();
        let mut turns = Vec::new();
        while let Some(turn) = walk.next().await.unwrap() {
            turns.push(turn);
        }
        turns
    };
    let told = turns(next, &[]).await;
    let ids = |turn: &contexture::LoggedTurn| turn.commits.iter().map(|stored| stored.id).collect::<Vec<_>>();
    assert_eq!(told.iter().map(ids).collect::<Vec<_>>(), [vec![next], vec![said, called, asked]]);
    let outcome = &told[1].outcome;
    assert_eq!((told[1].request.as_deref(), outcome.said.as_deref()), (Some("Mend it"), Some("Mended.")));
    assert_eq!(
        (outcome.calls(), outcome.files.as_slice()),
        (3, ["/p/one.rs", "/p/two.rs"].map(String::from).as_slice())
    );
    // A commit that is marked, or that something else goes on from, stands for itself.
    assert_eq!(
        turns(next, &[asked]).await.iter().map(ids).collect::<Vec<_>>(),
        [vec![next], vec![said, called], vec![asked]]
    );
    step(spoken("b1", r#"{"type":"text","text":"Otherwise."}"#)).after(called).commit(&store).await;
    assert_eq!(
        turns(next, &[]).await.iter().map(ids).collect::<Vec<_>>(),
        [vec![next], vec![said], vec![called, asked]]
    );
}

pub async fn two_chains_are_compared_from_where_they_part<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let step = |content: String| write("claude-code-v1", content);
    let root = step(edited("r", "/p/root.rs")).summary("begin").commit(&store).await;
    let trunk = step(edited("t1", "/p/both.rs")).after(root).summary("one way").commit(&store).await;
    let fork = step(edited("f1", "/p/both.rs")).after(root).summary("another").commit(&store).await;
    let further = step(edited("f2", "/p/fork.rs")).after(fork).summary("and on").commit(&store).await;
    let stranger = say("stranger").commit(&store).await;
    let told = async |before: CommitId, after: CommitId| {
        let difference = store.compare(before, after).await.unwrap();
        let turns = |side: &contexture::ChainSide| side.turns.iter().map(|turn| turn.last().id).collect::<Vec<_>>();
        (difference.base, turns(&difference.before), turns(&difference.after))
    };
    assert_eq!(told(trunk, further).await, (Some(root), vec![trunk], vec![further, fork]));
    assert_eq!(told(root, further).await, (Some(root), vec![], vec![further, fork]));
    assert_eq!(told(further, fork).await, (Some(fork), vec![further], vec![]));
    assert_eq!(told(trunk, trunk).await, (Some(trunk), vec![], vec![]));
    assert_eq!(told(stranger, root).await, (None, vec![stranger], vec![root]));
    let difference = store.compare(trunk, further).await.unwrap();
    assert_eq!((difference.before.commits, difference.after.commits), (1, 2));
    let files: Vec<_> = difference.after.files.into_keys().collect();
    assert_eq!(files, ["/p/both.rs", "/p/fork.rs"]);
}
