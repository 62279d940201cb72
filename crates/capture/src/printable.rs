//! Foreign text that is told to people.

/// Replaces what would steer a terminal.
pub(crate) fn printable(text: &str) -> String {
    text.replace(|letter: char| letter.is_control() && letter != '\n' && letter != '\t', "\u{fffd}")
}
