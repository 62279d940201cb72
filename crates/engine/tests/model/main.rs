//! The store against a naive model: random operations, reopened and crashed on the way.

mod compare;
mod play;
mod step;

use contexture_testkit::block_on;
use play::Play;
use proptest::{collection::vec, prelude::*};

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, max_shrink_iters: 2000, ..ProptestConfig::default() })]

    #[test]
    fn the_store_does_what_the_model_does_and_survives_crashes(steps in vec(step::step(), 1..48)) {
        block_on(async {
            let mut play = Play::start().await;
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
}
