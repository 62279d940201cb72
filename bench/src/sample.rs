//! Timings and what they come to.

use std::time::Duration;

/// Durations of one kind of operation.
#[derive(Debug, Clone, Default)]
pub(crate) struct Samples(Vec<Duration>);

impl Samples {
    pub(crate) fn push(&mut self, duration: Duration) {
        self.0.push(duration);
    }

    /// Returns the duration below which a share of the samples lies, in microseconds.
    pub(crate) fn percentile(&self, percent: usize) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_unstable();
        let at = (sorted.len().saturating_sub(1)) * percent / 100;
        sorted.get(at).map_or(f64::NAN, |duration| duration.as_secs_f64() * 1e6)
    }

    /// Returns the middle, in microseconds.
    pub(crate) fn median(&self) -> f64 {
        self.percentile(50)
    }
}

/// Returns the middle of some numbers.
pub(crate) fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers.get(numbers.len() / 2).copied().unwrap_or(f64::NAN)
}
