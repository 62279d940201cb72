//! Many short values in one text, for JSON that would be mostly brackets.

use base64::{Engine as _, engine::general_purpose::STANDARD_NO_PAD};

/// Joins values of one length into one text.
pub fn pack<const N: usize>(values: impl IntoIterator<Item = [u8; N]>) -> String {
    STANDARD_NO_PAD.encode(values.into_iter().collect::<Vec<_>>().as_flattened())
}

/// Takes the values out of a text again; nothing when it is none that holds values of this length.
pub fn unpack<const N: usize>(text: &str) -> Option<Vec<[u8; N]>> {
    let bytes = STANDARD_NO_PAD.decode(text).ok()?;
    let (values, rest) = bytes.as_chunks();
    rest.is_empty().then(|| values.to_vec())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn values_survive_their_text(values: Vec<[u8; 5]>) {
            prop_assert_eq!(unpack(&pack(values.clone())), Some(values));
        }
    }

    #[test]
    fn values_of_another_length_are_refused() {
        assert_eq!(unpack::<3>(&pack([[1, 2], [3, 4]])), None);
        assert_eq!(unpack::<3>("not a text of ours"), None);
    }
}
