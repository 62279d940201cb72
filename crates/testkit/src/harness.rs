//! A store under test and the clock it sees.

use contexture::{Contexture, Options};
use contexture_core::{Actor, SpaceName};

use crate::{Backend, TestClock, known_secrets};

/// A store under test: opened as often as a test likes, always the same one.
pub struct Harness<B> {
    /// What holds the store.
    pub backend: B,
    /// What every handle takes for the time.
    pub clock: TestClock,
}

impl<B: Backend> Harness<B> {
    /// Makes a place for a store; the clock stands still.
    pub async fn new() -> Self {
        Self { backend: B::create().await, clock: TestClock::fixed() }
    }

    /// Opens the store as `tester` in the space `default`.
    pub async fn open(&self) -> Contexture {
        self.open_as("tester", "default").await
    }

    /// Opens the store as somebody in some space.
    pub async fn open_as(&self, actor: &str, space: &str) -> Contexture {
        let options = Options {
            location: self.backend.location(),
            space: SpaceName::new(space).unwrap(),
            actor: Actor::new(actor).unwrap(),
            clock: self.clock.reader(),
            secrets: known_secrets(),
        };
        B::open(options).await.unwrap()
    }
}
