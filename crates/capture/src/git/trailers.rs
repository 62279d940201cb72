//! The trailers that say where a commit comes from, wherever in a message they stand.
//!
//! Whoever squashes commits puts their messages one after the other, so their trailers are no trailers to git any more.

/// The line of a commit's message that says which context it was made in.
pub const CONTEXT_TRAILER: &str = "Context-Id";
/// The line of a commit's message that names a context which it may have been made in, where several are possible.
pub const AMBIGUOUS_TRAILER: &str = "Context-Ambiguous";
/// The line of a commit's message that says which agent had a part in it.
pub const ASSISTED_TRAILER: &str = "Assisted-by";
/// Longest value that is kept.
const MAX_VALUE: usize = 256;

/// A line of a message that says where a commit comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct OriginTrailer {
    pub(super) key: &'static str,
    pub(super) value: String,
}

/// Returns what a message says of where its commit comes from, each thing once.
///
/// What git has commented out counts where it is to be kept: a message that a fixup leaves out.
pub(super) fn origin_trailers(message: &str, with_comments: bool) -> Vec<OriginTrailer> {
    let mut found: Vec<OriginTrailer> = Vec::new();
    for line in message.lines() {
        let line = line.trim();
        let line = line.strip_prefix('#').filter(|_| with_comments).map_or(line, str::trim);
        let Some(trailer) = OriginTrailer::of(line) else { continue };
        if !found.contains(&trailer) {
            found.push(trailer);
        }
    }
    found
}

impl OriginTrailer {
    fn of(line: &str) -> Option<Self> {
        let (key, value) = line.split_once(':')?;
        let keys = [CONTEXT_TRAILER, AMBIGUOUS_TRAILER, ASSISTED_TRAILER];
        let key = keys.into_iter().find(|known| known.eq_ignore_ascii_case(key))?;
        let value = value.trim();
        let is_context = key == ASSISTED_TRAILER || value.starts_with("ctx-") && !value.contains(char::is_whitespace);
        let is_fit = is_context && !value.is_empty() && value.len() <= MAX_VALUE;
        is_fit.then(|| Self { key, value: value.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_that_were_put_together_keep_what_each_of_them_says() {
        let message = "Add a client (#7)\n\n* Add it\n\nContext-Id: ctx-1\nAssisted-by: Codex\n\n* Mend it\n\n    \
                       context-id: ctx-2 \nContext-Id: ctx-1\n# Context-Ambiguous: ctx-3\nContext-Id: see ctx-4 there\n";
        let values = |with_comments| -> Vec<String> {
            let found = origin_trailers(message, with_comments);
            found.into_iter().map(|trailer| format!("{} {}", trailer.key, trailer.value)).collect()
        };
        assert_eq!(values(false), ["Context-Id ctx-1", "Assisted-by Codex", "Context-Id ctx-2"]);
        assert_eq!(values(true)[3..], ["Context-Ambiguous ctx-3"]);
    }
}
