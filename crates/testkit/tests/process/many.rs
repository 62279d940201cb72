//! Many processes on one store.

use contexture::LogStart;
use contexture_testkit::{block_on, head, walked};

use crate::{
    check,
    writer::{Answer, Writer},
};

const PROCESSES: usize = 16;
const COMMITS: usize = 50;

#[test]
fn sixteen_processes_write_one_store_and_lose_nothing() {
    let directory = tempfile::tempdir().unwrap();
    // There is no store yet: making it is part of the rush.
    let store = directory.path().join("store");
    let count = COMMITS.to_string();
    let start = |n| Writer::start(&store, &format!("session/{n}"), &["loop", &count, "1", "2000"]);
    let mut writers: Vec<_> = (0..PROCESSES).map(start).collect();
    let mut acknowledged = Vec::new();
    for writer in &mut writers {
        let answers = writer.rest();
        let acks: Vec<_> = answers.iter().filter_map(Answer::ack).collect();
        assert_eq!(acks.len(), COMMITS, "{answers:?}");
        acknowledged.push(acks);
    }
    assert!(writers.into_iter().all(Writer::ends_well));
    block_on(async {
        let opened = check::open(&store).await;
        for (n, mut acks) in acknowledged.into_iter().enumerate() {
            let tip = opened.head(&head(&format!("session/{n}"))).await.unwrap().unwrap();
            acks.reverse();
            assert_eq!(walked(&opened, LogStart::Commits(vec![tip])).await, acks);
        }
        assert_eq!(walked(&opened, LogStart::Everything).await.len(), PROCESSES * COMMITS);
        drop(opened);
        check::assert_whole(&store).await;
    });
}

#[test]
fn of_several_processes_that_expect_the_same_exactly_one_wins() {
    let directory = tempfile::tempdir().unwrap();
    let store = directory.path().join("store");
    let mut writers: Vec<_> = (0..4).map(|_| Writer::start(&store, "main", &["serve"])).collect();
    let mut expected = "absent".to_owned();
    let mut won = Vec::new();
    for round in 0..25 {
        for writer in &mut writers {
            writer.tell(format!("expect {expected}"));
        }
        let answers: Vec<_> = writers.iter_mut().map(|writer| writer.answer().expect("it answers")).collect();
        let winners: Vec<_> = answers.iter().filter_map(Answer::ack).collect();
        assert_eq!(winners.len(), 1, "round {round}: {answers:?}");
        let losers = answers.iter().filter(|answer| **answer == Answer::failed("HeadConflict"));
        assert_eq!(losers.count(), 3, "round {round}: {answers:?}");
        expected = winners[0].to_string();
        won.insert(0, winners[0]);
    }
    assert!(writers.into_iter().all(Writer::ends_well));
    block_on(async {
        assert_eq!(walked(&check::open(&store).await, LogStart::Everything).await, won, "losers leave nothing");
        check::assert_whole(&store).await;
    });
}
