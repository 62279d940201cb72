//! The command line of Codex: where it is told to work without a terminal.

use std::ffi::OsString;

/// Options that are followed by a value, as of `codex exec --help` and `codex --help`.
const WITH_VALUE: &[&str] = &[
    "-c",
    "--config",
    "--enable",
    "--disable",
    "-i",
    "--image",
    "-m",
    "--model",
    "--local-provider",
    "-p",
    "--profile",
    "-s",
    "--sandbox",
    "-a",
    "--ask-for-approval",
    "-C",
    "--cd",
    "--add-dir",
    "--thread-source",
    "--cyber-access-program",
    "--output-schema",
    "--color",
    "-o",
    "--output-last-message",
];

/// Returns where Codex is told to work without a terminal.
pub(super) fn position(arguments: &[OsString]) -> Option<usize> {
    let first = positional(arguments, 0);
    let is_exec = arguments.get(first).is_some_and(|word| word == "exec" || word == "e");
    is_exec.then_some(first)
}

/// Returns where the words belong that resume a session.
pub(super) fn resume_at(arguments: &[OsString]) -> usize {
    // The options stay with `exec`: what follows does not take all of them.
    position(arguments).map_or(0, |exec| positional(arguments, exec + 1))
}

/// Returns where the first word is that is neither an option nor the value of one.
fn positional(arguments: &[OsString], from: usize) -> usize {
    let mut place = from;
    while let Some(word) = arguments.get(place) {
        let word = word.to_string_lossy();
        if !word.starts_with('-') || word == "--" || word == "-" {
            break;
        }
        place += if WITH_VALUE.contains(&&*word) { 2 } else { 1 };
    }
    place.min(arguments.len())
}
