//! One store on PostgreSQL and many who use it: their order, and what is left when connections and servers go away.

mod cuts;
mod order;
mod processes;
mod psql;
mod restart;
mod tls;
#[path = "../process/writer.rs"]
#[allow(dead_code, reason = "the tests of processes on SQLite ask more of it")]
mod writer;

use contexture::{Contexture, Options};
use contexture_core::{Actor, SpaceName};
use contexture_testkit::TestClock;

/// Opens a store as `tester` in the space `default`.
async fn open(url: &str) -> Contexture {
    let options = Options {
        location: url.parse().unwrap(),
        space: SpaceName::new("default").unwrap(),
        actor: Actor::new("tester").unwrap(),
        clock: TestClock::fixed().reader(),
        secrets: contexture_testkit::known_secrets(),
    };
    Contexture::open(options).await.unwrap()
}
