//! Names that somebody may have meant.

/// How alike two names must be, from 0 to 1, for one to be offered in place of the other.
const ALIKE: f64 = 0.8;

/// Returns the known name that is most like one that is not known.
pub(crate) fn nearest<'n>(name: &str, known: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let alike = known.into_iter().map(|known| (strsim::jaro_winkler(name, known), known));
    alike.filter(|(alike, _)| *alike > ALIKE).max_by(|left, right| left.0.total_cmp(&right.0)).map(|(_, known)| known)
}

/// Returns the words that offer a name, to stand behind the one that is not known.
pub(crate) fn hint(name: Option<&str>) -> String {
    name.map(|name| format!(" (did you mean {name}?)")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_mistyped_is_found() {
        let names = ["chars4", "claude-estimate", "o200k"];
        let found = ["char4", "o200k_base", "claude", "200k", "gpt", ""].map(|name| nearest(name, names));
        assert_eq!(found, [Some("chars4"), Some("o200k"), Some("claude-estimate"), Some("o200k"), None, None]);
    }
}
