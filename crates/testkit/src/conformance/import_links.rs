//! Sessions that another session has started or that continue one are tied to it.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use contexture::{Contexture, LogStart};
use contexture_capture::{self as capture, Capture, ImportSettings, ImportedFile};
use contexture_core::{CommitId, GivenSessionId, Machine, SpaceName};

use crate::{Backend, Harness, assert_whole, head, walked};

fn fixture(scene: &str) -> Vec<PathBuf> {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../formats/tests/fixtures");
    let files = capture::session_files(&fixtures.join(scene));
    files.into_iter().filter(|path| !capture::is_document(path)).collect()
}

async fn import(store: &Contexture, path: &Path) -> ImportedFile {
    let stem = path.file_stem().unwrap().to_string_lossy();
    let settings = ImportSettings {
        agent: stem.strip_prefix("agent-").map(str::to_owned),
        ..ImportSettings::new(Machine::new("laptop").unwrap(), "runtime")
    };
    let format = capture::detect(path).unwrap();
    Capture::new(store).import_session(path, format, &settings, &mut |_| {}).await.unwrap()
}

async fn chain(store: &Contexture, name: &str) -> Vec<CommitId> {
    let tip = store.head(&head(name)).await.unwrap().unwrap();
    walked(store, LogStart::Commits(vec![tip])).await
}

async fn labels(store: &Contexture, commit: CommitId) -> BTreeMap<String, String> {
    let labels = store.show(commit).await.unwrap().annotations.labels;
    labels.into_iter().map(|(key, value)| (key.to_string(), value.as_str().to_owned())).collect()
}

/// The two agents of a session are tied to the turns that started them, whatever comes in first.
pub async fn a_sub_agent_names_the_turn_that_started_it<B: Backend>() {
    const SESSION: &str = "session/4522b405-2ae4-4135-aa64-1e667da6d7fc";
    let mut files = fixture("claude-code/subagent");
    for _ in 0..2 {
        files.reverse();
        let harness = Harness::<B>::new().await;
        let store = harness.open().await;
        for file in &files {
            import(&store, file).await;
            Capture::new(&store).link_sessions().await.unwrap();
        }
        let turns = chain(&store, SESSION).await;
        for (agent, turn) in [("ad926c9d8ac85d844", turns.len() - 1), ("aec23c7fd3bada23d", turns.len() - 2)] {
            let own = chain(&store, &format!("{SESSION}/agent-{agent}")).await;
            let labels = labels(&store, *own.last().unwrap()).await;
            assert_eq!(labels["spawned-by"], turns[turn].to_string());
        }
        assert_eq!(Capture::new(&store).link_sessions().await.unwrap(), capture::Linked::default());
        assert_whole(&store, &SpaceName::new("default").unwrap()).await;
    }
}

pub async fn a_thread_that_codex_started_names_the_turn_that_did<B: Backend>() {
    let mut files = fixture("codex/subagent");
    for _ in 0..2 {
        files.reverse();
        let harness = Harness::<B>::new().await;
        let store = harness.open().await;
        for file in &files {
            import(&store, file).await;
            Capture::new(&store).link_sessions().await.unwrap();
        }
        let parent = chain(&store, "session/01a1e1c0-112b-7140-89a1-07af3b3bebe1").await;
        let child = chain(&store, "session/01a1e1c0-11bf-7472-ac5e-b9faddc39163").await;
        let labels = labels(&store, *child.last().unwrap()).await;
        assert_eq!(labels["parent-session"], "01a1e1c0-112b-7140-89a1-07af3b3bebe1");
        let spawner = labels["spawned-by"].parse().unwrap();
        assert!(parent.contains(&spawner));
    }
}

pub async fn a_fork_by_reference_joins_the_chain_that_it_continues<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let files = fixture("codex/branches");
    for file in &files {
        assert_eq!(import(&store, file).await.forked_from, None);
    }
    // The first went back to its first answer, and the last was forked off after that.
    let session = chain(&store, "session/01a1e1c0-06ae-7033-a295-3c22b597a95f").await;
    let fork = chain(&store, "session/01a1e1c0-0d99-7842-bbe4-881e0bb1bde1").await;
    assert_eq!((session.len(), fork.len()), (2, 3));
    assert_eq!(fork[1..], session);
    // Alone it is a chain of its own, which says what it continues.
    let alone = Harness::<B>::new().await;
    let store = alone.open().await;
    let imported = import(&store, files.last().unwrap()).await;
    assert_eq!(imported.forked_from, Some(GivenSessionId::new("01a1e1c0-0ac3-7382-9913-b01de2606eb8")));
    let own = chain(&store, "session/01a1e1c0-0d99-7842-bbe4-881e0bb1bde1").await;
    assert_eq!(labels(&store, *own.last().unwrap()).await["forked-from"], imported.forked_from.unwrap().as_str());
}
