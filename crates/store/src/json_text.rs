//! JSON that is kept as it is.

use serde::{Deserialize, Serialize, de::IgnoredAny};

/// A JSON document, byte for byte as it was given and short enough for a row of its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct JsonText(String);

/// Says why a text is not such a document.
#[derive(Debug, thiserror::Error)]
pub enum JsonTextError {
    /// It is too long.
    #[error("a record of {bytes} bytes is too long: {} fit", JsonText::MAX_BYTES)]
    TooLong {
        /// How long it is.
        bytes: usize,
    },
    /// It is not JSON.
    #[error("a record is not JSON")]
    NotJson(#[from] serde_json::Error),
}

impl JsonText {
    /// Longest document in bytes.
    pub const MAX_BYTES: usize = 256 * 1024;

    /// Takes a text that is JSON.
    pub fn new(text: impl Into<String>) -> Result<Self, JsonTextError> {
        let text = text.into();
        if text.len() > Self::MAX_BYTES {
            return Err(JsonTextError::TooLong { bytes: text.len() });
        }
        serde_json::from_str::<IgnoredAny>(&text)?;
        Ok(Self(text))
    }

    /// Borrows the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for JsonText {
    type Error = JsonTextError;

    fn try_from(text: String) -> Result<Self, JsonTextError> {
        Self::new(text)
    }
}

impl From<JsonText> for String {
    fn from(text: JsonText) -> Self {
        text.0
    }
}

impl std::str::FromStr for JsonText {
    type Err = JsonTextError;

    fn from_str(text: &str) -> Result<Self, JsonTextError> {
        Self::new(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_json_within_the_bound_is_taken() {
        let spaced = " {\"b\": 1, \"a\": [2.50]}\n";
        assert_eq!(JsonText::new(spaced).unwrap().as_str(), spaced);
        for text in ["", "{", "{} {}", "{\"a\":\"\0\"}"] {
            assert!(matches!(JsonText::new(text), Err(JsonTextError::NotJson(_))), "{text:?}");
        }
        let longest = format!("\"{}\"", "a".repeat(JsonText::MAX_BYTES - 2));
        assert!(JsonText::new(longest.as_str()).is_ok());
        let longer = JsonText::new(format!("{longest} "));
        assert!(matches!(longer, Err(JsonTextError::TooLong { bytes }) if bytes == JsonText::MAX_BYTES + 1));
    }
}
