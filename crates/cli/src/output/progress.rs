//! Progress bars, on a terminal only. A bar leaves the screen when it is dropped.

use std::io::{self, Read, Seek, SeekFrom, Write};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressFinish, ProgressStyle};

/// Less than this is done before anybody could look.
const WORTH_SHOWING_BYTES: u64 = 8 * 1024 * 1024;

/// How far some work has come.
pub(crate) struct Progress {
    bar: ProgressBar,
}

/// A stream whose bytes count as progress.
pub(crate) struct Tracked<S> {
    stream: S,
    passed_bytes: u64,
    bar: ProgressBar,
}

impl Progress {
    pub(super) fn hidden() -> Self {
        Self { bar: ProgressBar::hidden() }
    }

    pub(super) fn shown(action: &'static str, total: Option<u64>) -> Self {
        let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::stderr());
        Self { bar: bar.with_finish(ProgressFinish::AndClear).with_prefix(action) }
    }

    /// Shows how far the work has come with something, of how much.
    pub(crate) fn advance(&self, thing: &'static str, done: u64, total: u64) {
        if self.bar.length() != Some(total) {
            self.bar.set_style(style("{prefix} {msg} [{bar:30}] {human_pos} of {human_len}"));
            self.bar.set_length(total);
        }
        self.bar.set_message(thing);
        self.bar.set_position(done);
    }

    /// Shows how many bytes are done, of how many.
    pub(crate) fn counter(self) -> Counter {
        self.bar.set_style(style("{prefix} [{bar:30}] {bytes} of {total_bytes}, {bytes_per_sec}, {eta} left"));
        Counter { bar: self.bar }
    }

    /// Counts the bytes of a stream.
    pub(crate) fn track<S>(self, stream: S) -> Tracked<S> {
        self.bar.set_style(match self.bar.length() {
            Some(_) => style("{prefix} [{bar:30}] {bytes} of {total_bytes}, {bytes_per_sec}"),
            None => style("{prefix} {bytes}, {bytes_per_sec}"),
        });
        Tracked { stream, passed_bytes: 0, bar: self.bar }
    }
}

/// Bytes that are done.
pub(crate) struct Counter {
    bar: ProgressBar,
}

impl Counter {
    pub(crate) fn set(&self, done: u64) {
        if done >= WORTH_SHOWING_BYTES {
            self.bar.set_position(done);
        }
    }
}

impl<S> Tracked<S> {
    fn pass(&mut self, bytes: usize) {
        self.passed_bytes += bytes as u64;
        if self.passed_bytes >= WORTH_SHOWING_BYTES {
            self.bar.set_position(self.passed_bytes);
        }
    }
}

impl<S: Read> Read for Tracked<S> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.stream.read(buffer)?;
        self.pass(count);
        Ok(count)
    }
}

impl<S: Write> Write for Tracked<S> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.stream.write(bytes)?;
        self.pass(count);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

impl<S: Seek> Seek for Tracked<S> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.passed_bytes = self.stream.seek(to)?;
        Ok(self.passed_bytes)
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).expect("the templates are constants").progress_chars("=> ")
}
