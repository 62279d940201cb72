//! The store against a naive model: random operations, reopened and crashed on the way, on every engine.

mod compare;
mod play;
mod step;

use contexture_testkit::{Backend, SqliteBackend, block_on, postgres::PostgresBackend};
use play::Play;
use proptest::{collection::vec, prelude::*};
use step::Step;

fn play<B: Backend>(steps: Vec<Step>) {
    block_on(async {
        let mut play = Play::<B>::start().await;
        for (n, step) in steps.into_iter().enumerate() {
            play.take(step).await;
            if n % 12 == 11 {
                play.compare().await;
            }
        }
        play.crash(b"torn").await;
        play.compare().await;
    });
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, max_shrink_iters: 2000, ..ProptestConfig::default() })]

    #[test]
    fn sqlite_does_what_the_model_does_and_survives_crashes(steps in vec(step::step(), 1..48)) {
        play::<SqliteBackend>(steps);
    }
}

proptest! {
    // Every statement goes over a socket, so there are fewer.
    #![proptest_config(ProptestConfig { cases: 12, max_shrink_iters: 200, ..ProptestConfig::default() })]

    #[test]
    fn postgres_does_what_the_model_does_and_survives_lost_connections(steps in vec(step::step(), 1..48)) {
        play::<PostgresBackend>(steps);
    }
}
