//! What the program does, written to standard error for whoever asks with `CTX_LOG`.

use std::{
    ffi::OsStr,
    io::{self, Write as _},
};

use tracing_subscriber::{
    filter::Targets,
    fmt::{self, format::FmtSpan},
    layer::SubscriberExt as _,
    util::SubscriberInitExt as _,
};

use crate::output::{CleanWriter, Passing};

const MISUNDERSTOOD: &str = "warning: CTX_LOG is not understood, so nothing is logged
  hint: give it a level (error, warn, info, debug, trace), or some like contexture=debug,contexture_capture=trace";

/// Starts to log what passes a filter: a level, or modules of this program with levels.
///
/// A filter that is not understood is a warning, because hooks must not fail for it.
pub(crate) fn start(filter: &OsStr) {
    let Some(targets) = filter.to_str().and_then(targets) else {
        // Nobody may be listening there.
        let _ = writeln!(io::stderr(), "{MISUNDERSTOOD}");
        return;
    };
    // Without its own complaints: they would end the program where standard error is closed.
    let passing = Passing { styles: true, line_feeds: true };
    let stderr = move || CleanWriter::new(io::stderr(), passing);
    let lines = fmt::layer().with_writer(stderr).with_span_events(FmtSpan::CLOSE).log_internal_errors(false);
    tracing_subscriber::registry().with(targets).with(lines).init();
}

/// Reads a filter. A word that is no level would name a module, so modules that are not ours are mistakes.
fn targets(filter: &str) -> Option<Targets> {
    let targets: Targets = filter.parse().ok()?;
    targets.iter().all(|(target, _)| target.starts_with("contexture")).then_some(targets)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_is_a_level_or_modules_of_this_program() {
        for filter in
            ["debug", "INFO", "off", "contexture=debug", "warn,contexture_capture::import=trace", "contexture"]
        {
            assert!(targets(filter).is_some(), "{filter}");
        }
        for filter in ["debgu", "contexture=loud", "hyper=debug", "a=b=c"] {
            assert!(targets(filter).is_none(), "{filter}");
        }
    }
}
