//! The user's own terminal while keys are read one by one: it neither echoes nor waits for lines nor makes signals.

use std::io;

use rustix::termios::{self, OptionalActions, Termios};

/// That mode, until it is dropped.
pub(crate) struct RawMode {
    before: Termios,
}

impl RawMode {
    /// Begins it for the terminal that standard input is.
    pub(crate) fn begin() -> io::Result<Self> {
        let before = termios::tcgetattr(io::stdin())?;
        let mut raw = before.clone();
        raw.make_raw();
        termios::tcsetattr(io::stdin(), OptionalActions::Now, &raw)?;
        Ok(Self { before })
    }
}

impl Drop for RawMode {
    fn drop(&mut self) {
        // A terminal that is gone needs no mode.
        _ = termios::tcsetattr(io::stdin(), OptionalActions::Now, &self.before);
    }
}
