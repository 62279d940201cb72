//! Killing a process that writes.

use std::{env, thread, time::Duration};

use contexture_testkit::block_on;

use crate::{
    check,
    writer::{Answer, Writer},
};

/// How often to kill; `CTX_KILL_ROUNDS` says otherwise.
const ROUNDS: usize = 30;

#[test]
fn nothing_acknowledged_is_lost_when_a_writer_is_killed() {
    let rounds = env::var("CTX_KILL_ROUNDS").map_or(ROUNDS, |rounds| rounds.parse().unwrap());
    let directory = tempfile::tempdir().unwrap();
    let store = directory.path().join("store");
    let mut total = 0;
    for round in 0..rounds {
        // Alone and crowded, in one row and in parts.
        let (tasks, bytes) = [("8", "500"), ("1", "20000"), ("3", "300000")][round % 3];
        let head = format!("kill/{round}");
        let mut writer = Writer::start(&store, &head, &["loop", "0", tasks, bytes]);
        let mut answers: Vec<_> = (0..round * 7 % 40).map_while(|_| writer.answer()).collect();
        // Not to wait for anything, but so that the kill does not always follow an answer.
        thread::sleep(Duration::from_micros(round as u64 * 997 % 9000));
        answers.extend(writer.kill());
        let acknowledged: Vec<_> = answers.iter().filter_map(Answer::ack).collect();
        assert_eq!(acknowledged.len(), answers.len(), "{answers:?}");
        total += acknowledged.len();
        block_on(check::assert_kept(&store, &head, &acknowledged));
        // A check reads everything, so it is left to some of the rounds.
        if round % 10 == 9 || round + 1 == rounds {
            block_on(check::assert_whole(&store));
        }
    }
    assert!(total > rounds * 5, "only {total} commits in {rounds} rounds show little");
}
