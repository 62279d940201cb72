//! What a report says of a whole store, and how.

use contexture_core::CommitId;
use contexture_store::{
    Result, Store, Tx,
    fsck::{self, CheckedCounts, CommitFault, FsckProblem, FsckReport, LineFault, Phase, Progress, Unreferenced},
    stats,
};
use futures_util::FutureExt as _;
use tempfile::TempDir;

use crate::fixture::{FILE, Fixture, chain, delta, insert, scope};

#[tokio::test]
async fn a_whole_store_is_clean_and_everything_in_it_is_counted() {
    let fixture = Fixture::new().await;
    let stats = fixture.store.read(fixture.scope.clone(), (), |tx, ()| stats::collect(tx).boxed()).await.unwrap();
    let report = fixture.check().await;
    assert!(report.is_clean());
    let expected = FsckReport {
        checked: CheckedCounts {
            artifacts: stats.artifacts.count,
            bytes: 1_000_000 + "rootsecondcompactionforkmergesnapshotalone".len() as u64,
            commits: 7,
            lines: 3,
            heads: 2,
            head_moves: 4,
            annotations: 1,
            requests: 1,
            journal_records: 14,
            ..CheckedCounts::default()
        },
        problems: Vec::new(),
        problems_left_out: 0,
        unreferenced: Some(Unreferenced { artifacts: 1, bytes: "alone".len() as u64 }),
    };
    assert_eq!(report, expected);
}

#[tokio::test]
async fn a_space_that_nobody_wrote_to_is_clean() {
    let directory = TempDir::new().unwrap();
    let store = Store::open(directory.path()).await.unwrap();
    let report = fsck::check(&store, &scope("nobody"), &mut |_| {}).await.unwrap();
    assert_eq!(report, FsckReport { unreferenced: Some(Unreferenced::default()), ..FsckReport::default() });
}

#[tokio::test]
async fn damage_in_one_space_is_no_problem_of_another() {
    let fixture = Fixture::new().await;
    fixture
        .store
        .write(scope("other"), (), |tx, ()| async move { insert(tx, "theirs", &delta("theirs", None)).await }.boxed())
        .await
        .unwrap();
    let problems = fixture
        .problems_after("UPDATE commits SET depth = 9 WHERE space = (SELECT key FROM spaces WHERE name = 'other')")
        .await;
    assert_eq!(problems, []);
    let report = fsck::check(&fixture.store, &scope("other"), &mut |_| {}).await.unwrap();
    let commit = delta("theirs", None).id();
    assert_eq!(
        report.problems,
        [FsckProblem::Commit { commit, fault: CommitFault::WrongDepth { found: 9, expected: 0 } }]
    );
    assert_eq!(report.checked.commits, 1);
}

#[tokio::test]
async fn problems_beyond_the_cap_are_counted() {
    let fixture = Fixture::new().await;
    let problems = fixture
        .problems_after(
            "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1200) \
             INSERT INTO lines (space) SELECT 1 FROM n",
        )
        .await;
    assert_eq!(problems.len(), FsckReport::MAX_PROBLEMS);
    assert_eq!(problems[0], FsckProblem::Line { line: 4, fault: LineFault::Empty });
    assert_eq!(fixture.check().await.problems_left_out, 200);
}

#[tokio::test]
async fn progress_goes_through_the_phases_and_ends_each_at_its_total() {
    let fixture = Fixture::new().await;
    let mut seen = Vec::new();
    fsck::check(&fixture.store, &fixture.scope, &mut |progress| seen.push(progress)).await.unwrap();
    let mut last_of_each: Vec<Progress> = Vec::new();
    for progress in seen {
        match last_of_each.last_mut() {
            Some(last) if last.phase == progress.phase => *last = progress,
            _ => last_of_each.push(progress),
        }
    }
    let stats = fixture.store.read(fixture.scope.clone(), (), |tx, ()| stats::collect(tx).boxed()).await.unwrap();
    let (artifacts, parts) = (stats.artifacts.count, stats.artifacts.parts);
    let phases = [
        (Phase::Engine, 1),
        (Phase::Journal, 14),
        (Phase::Artifacts, artifacts),
        (Phase::Lines, 3),
        (Phase::Commits, 7),
        (Phase::Heads, 2),
        (Phase::HeadMoves, 4),
        (Phase::Annotations, 1),
        (Phase::Requests, 1),
        (Phase::Envelopes, 0),
        (Phase::EnvelopeArtifacts, 0),
        (Phase::Injections, 0),
        (Phase::Missing, 0),
        (Phase::Events, 0),
        (Phase::Channels, 0),
        (Phase::Messages, 0),
        (Phase::Passages, 0),
        (Phase::Renderings, 0),
        (Phase::Unreferenced, 7 + parts + artifacts),
    ];
    assert_eq!(last_of_each, phases.map(|(phase, rows)| Progress { phase, done: rows, total: rows }));
}

#[tokio::test]
async fn a_check_beside_a_writer_finds_nothing_wrong() {
    let fixture = Fixture::new().await;
    let writing = async {
        let mut tip = fixture.merge;
        for step in 0..200 {
            let label = format!("beside {step}");
            let writing = fixture
                .store
                .write(fixture.scope.clone(), (label, tip), |tx, (label, tip)| append(tx, label.clone(), *tip).boxed());
            tip = writing.await.unwrap();
        }
    };
    let checking = async {
        for _ in 0..5 {
            assert_eq!(fixture.check().await.problems, []);
        }
    };
    tokio::join!(writing, checking);
}

async fn append(tx: &mut Tx<'_>, label: String, tip: CommitId) -> Result<CommitId> {
    let next = insert(tx, &label, &delta(&label, Some(tip))).await?;
    // Every other commit forks, so lines come to be while they are checked.
    let other = format!("{label}, again");
    insert(tx, &other, &delta(&other, Some(tip))).await?;
    Ok(next)
}

#[tokio::test]
async fn a_chain_longer_than_a_page_is_checked_to_its_end() {
    let directory = TempDir::new().unwrap();
    let store = Store::open(directory.path()).await.unwrap();
    let scope = scope("default");
    let ids = store.write(scope.clone(), (), |tx, ()| chain(tx, 1500).boxed()).await.unwrap();
    let report = fsck::check(&store, &scope, &mut |_| {}).await.unwrap();
    assert_eq!((report.problems.as_slice(), report.checked.commits), ([].as_slice(), 1500));
    let connection = rusqlite::Connection::open(directory.path().join(FILE)).unwrap();
    connection.execute("UPDATE commits SET depth = 0 WHERE position IN (511, 512, 1499)", []).unwrap();
    let report = fsck::check(&store, &scope, &mut |_| {}).await.unwrap();
    let wrong = |at: usize, expected| FsckProblem::Commit {
        commit: ids[at],
        fault: CommitFault::WrongDepth { found: 0, expected },
    };
    assert_eq!(report.problems, [wrong(511, 511), wrong(512, 512), wrong(1499, 1499)]);
}

#[tokio::test]
async fn a_problem_names_what_it_hits_in_text_and_json() {
    let fixture = Fixture::new().await;
    let problems = fixture.problems_after("UPDATE commits SET depth = 9 WHERE line = 1 AND position = 2").await;
    let [problem] = problems.as_slice() else {
        panic!("one damage is one problem: {problems:?}");
    };
    let id = fixture.compaction;
    assert_eq!(problem.to_string(), format!("commit {id} has depth 9 where 2 belongs"));
    assert_eq!(
        serde_json::to_string(problem).unwrap(),
        format!(r#"{{"thing":"commit","commit":"{id}","fault":"wrong_depth","found":9,"expected":2}}"#)
    );
}
