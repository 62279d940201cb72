//! The state of the store itself: measures, and what a check finds.

use contexture::{
    Contexture,
    fsck::{CheckedCounts, FsckProblem, Unreferenced},
    stats::{CommitStats, Tallied},
};
use contexture_core::{ArtifactId, CommitKind, Format, Principal};
use contexture_store::table::{Column, TABLES, Table};

use crate::{Backend, EngineColumn, Harness, head, instant, noise, say, spoken, stored, write};

/// Makes a little of everything: three commits of which two hold the same, a fork, a head, a key, an artifact.
async fn fill(store: &Contexture) {
    let one = say("one").by("ada").onto("main").key("k").summary("first").at(instant(5)).commit(store).await;
    say("sum").kind(CommitKind::Compaction).onto("main").at(instant(9)).commit(store).await;
    say("one").by("ada").after(one).at(instant(7)).commit(store).await;
    stored(store, b"alone").await;
}

pub async fn measures_count_what_is_there<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    fill(&store).await;
    fill(&harness.open_as("tester", "elsewhere").await).await;
    write("text", noise("large", 300_000)).by("bob").at(instant(6)).commit(&store).await;
    let stats = store.stats().await.unwrap();
    let expected = CommitStats {
        count: 4,
        deltas: 3,
        compactions: 1,
        snapshots: 0,
        bytes: (spoken(&["one", "sum", "one"]).len() + 300_000) as u64,
        first_at: Some(instant(5)),
        last_at: Some(instant(9)),
    };
    assert_eq!(stats.commits, expected);
    assert_eq!((stats.lines, stats.forks, stats.heads), (3, 1, 1));
    // The space, four commits, one annotation, two moves, one artifact.
    assert_eq!((stats.annotations, stats.requests, stats.journal_records), (1, 1, 9));
    assert_eq!((stats.artifacts.large, stats.artifacts.large_bytes), (1, 300_000));
    assert_eq!(stats.artifacts.count, 3 + 1 + stats.artifacts.distinct_parts);
    let tallied = |name, commits| Tallied { name: Principal::new(name).unwrap(), commits };
    assert_eq!((stats.principals.distinct, stats.principals.top), (2, vec![tallied("ada", 2), tallied("bob", 1)]));
    let formats: Vec<_> = stats.formats.top.iter().map(|format| (format.name.as_str(), format.commits)).collect();
    assert_eq!(formats, [("claude-code-v1", 3), ("text", 1)]);
}

pub async fn measures_of_an_empty_space_are_zero<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let stats = harness.open().await.stats().await.unwrap();
    assert_eq!((stats.commits, stats.artifacts.count, stats.journal_records), (CommitStats::default(), 0, 0));
    assert_eq!((stats.principals.distinct, stats.formats.top), (0, Vec::<Tallied<Format>>::new()));
}

pub async fn a_check_of_a_whole_space_finds_nothing<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    fill(&harness.open_as("tester", "elsewhere").await).await;
    fill(&store).await;
    let mut progress = Vec::new();
    let report = store.fsck(&mut |step| progress.push(step)).await.unwrap();
    assert_eq!((report.problems, report.problems_left_out), (vec![], 0));
    assert_eq!(report.unreferenced, Some(Unreferenced { artifacts: 1, bytes: 5 }));
    let expected = CheckedCounts {
        artifacts: 3,
        bytes: (spoken(&["one", "sum"]).len() + 5) as u64,
        commits: 3,
        lines: 2,
        heads: 1,
        head_moves: 2,
        annotations: 1,
        requests: 1,
        journal_records: 8,
        ..CheckedCounts::default()
    };
    assert_eq!(report.checked, expected);
    assert!(!progress.is_empty() && progress.iter().all(|step| step.done <= step.total));
}

pub async fn a_check_names_what_is_damaged_and_what_is_lost<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let lost = say("lost").onto("main").commit(&store).await;
    say("damaged").onto("main").commit(&store).await;
    let damaged = ArtifactId::of(&spoken(&["damaged"]));
    harness.backend.lose_artifact(ArtifactId::of(&spoken(&["lost"]))).await;
    harness.backend.damage_artifact(damaged).await;
    let problems = store.fsck(&mut |_| {}).await.unwrap().problems;
    assert_eq!(problems.len(), 2, "{problems:?}");
    assert!(
        problems.iter().any(|found| matches!(found, FsckProblem::Artifact { artifact, .. } if *artifact == damaged))
    );
    assert!(problems.iter().any(|found| matches!(found, FsckProblem::Commit { commit, .. } if *commit == lost)));
    assert!(store.head(&head("main")).await.unwrap().is_some(), "looking does no harm");
}

pub async fn every_table_is_described_column_by_column<B: Backend>() {
    let harness = Harness::<B>::new().await;
    drop(harness.open().await);
    let columns = |table: &'static Table| {
        table.columns.iter().map(|Column { name, kind, is_optional, .. }| EngineColumn {
            table: table.name.to_owned(),
            name: (*name).to_owned(),
            kind: *kind,
            is_optional: *is_optional,
            key_place: (1..).zip(table.key).find(|(_, column)| *column == name).map_or(0, |(place, _)| place),
        })
    };
    let mut described: Vec<EngineColumn> = TABLES.iter().copied().flat_map(columns).collect();
    described.sort_by(|one, other| one.table.cmp(&other.table));
    assert_eq!(described, harness.backend.columns().await);
}
