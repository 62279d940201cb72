//! What a misspelt word was meant to be.

/// Letters of a word that is only begun, from which it is recognised.
const LEAST_BEGUN: usize = 4;

/// Returns the known word that is nearest to a text, where one is near enough to be meant.
pub fn nearest<'k>(text: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    let text = text.to_lowercase();
    let most_edits = (text.chars().count() / 3).max(1);
    let edits = |word: &str| {
        let word = word.to_lowercase();
        // A word that is only begun, or goes on too long, is as good as one with a wrong letter.
        let goes_on = text.len() >= LEAST_BEGUN && (word.starts_with(&text) || text.starts_with(&word));
        if goes_on { 1 } else { strsim::osa_distance(&text, &word) }
    };
    let near = known.into_iter().map(|word| (edits(word), word)).filter(|(edits, _)| *edits <= most_edits);
    near.min_by_key(|(edits, _)| *edits).map(|(_, word)| word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_near_when_a_third_of_it_at_most_is_wrong() {
        let known = ["priority", "max_tokens", "max_turns", "ui"];
        let meant = |text| nearest(text, known);
        assert_eq!(meant("prioritty"), Some("priority"));
        assert_eq!(meant("pirority"), Some("priority"));
        assert_eq!(meant("maxTokens"), Some("max_tokens"));
        assert_eq!(meant("MAX_TURNS"), Some("max_turns"));
        assert_eq!(meant("iu"), Some("ui"));
        assert_eq!((meant("order"), meant("")), (None, None));
    }
}
