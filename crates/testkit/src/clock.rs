//! A clock that a test sets.

use std::{
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use contexture::Clock;
use contexture_core::Timestamp;

/// 2026-01-01T00:00:00Z in microseconds.
const START: i64 = 1_767_225_600_000_000;

/// A clock that stands still or ticks with every look at it. Clones show the same time.
#[derive(Clone)]
pub struct TestClock {
    micros: Arc<AtomicI64>,
    tick: i64,
}

impl TestClock {
    /// Stands still at the start of 2026.
    pub fn fixed() -> Self {
        Self { micros: Arc::new(AtomicI64::new(START)), tick: 0 }
    }

    /// Moves on by a microsecond with every look.
    pub fn ticking() -> Self {
        Self { tick: 1, ..Self::fixed() }
    }

    /// Returns the time and lets the clock tick.
    pub fn now(&self) -> Timestamp {
        Timestamp::from_micros(self.micros.fetch_add(self.tick, Ordering::Relaxed)).expect("a test ends before 9999")
    }

    /// Moves the clock on.
    pub fn advance(&self, by: Duration) {
        let by = i64::try_from(by.as_micros()).expect("a test ends before 9999");
        self.micros.fetch_add(by, Ordering::Relaxed);
    }

    /// Returns what a store takes as its clock.
    pub fn reader(&self) -> Clock {
        let clock = self.clone();
        Arc::new(move || clock.now())
    }
}
