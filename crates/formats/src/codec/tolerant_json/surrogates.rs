//! Half characters: JavaScript writes a text that was cut inside one as a surrogate without a partner.

/// Returns the JSON with `\ufffd` in the place of every surrogate that has no partner, if there is one.
pub(super) fn without_lone_surrogates(json: &[u8]) -> Option<Vec<u8>> {
    let mut repaired: Option<Vec<u8>> = None;
    let mut at = 0;
    while at < json.len() {
        at += match (json[at], surrogate(&json[at..])) {
            (b'\\', None) => 2,
            (_, None) => 1,
            (_, Some(0xD800..=0xDBFF)) if matches!(surrogate(&json[at + 6..]), Some(0xDC00..)) => 12,
            (_, Some(_)) => {
                repaired.get_or_insert_with(|| json.to_vec())[at + 2..at + 6].copy_from_slice(b"fffd");
                6
            }
        };
    }
    repaired
}

/// Returns the surrogate whose escape the bytes begin with.
fn surrogate(bytes: &[u8]) -> Option<u16> {
    let digits = bytes.strip_prefix(b"\\u")?.get(..4)?;
    let hex = |unit: u16, digit: &u8| Some(unit << 4 | u16::try_from(char::from(*digit).to_digit(16)?).ok()?);
    digits.iter().try_fold(0, hex).filter(|unit| (0xD800..=0xDFFF).contains(unit))
}
