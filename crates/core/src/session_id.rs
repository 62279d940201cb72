//! Ids of sessions as files and hooks of runtimes give them.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::RuntimeSessionId;

/// An id of a session as a runtime's file or hook gives it.
///
/// Nearly always it is a [`RuntimeSessionId`]. What others write may be anything, though, and a session with an absurd id
/// is kept like any other and found again by the same text; only its commits name no session.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct GivenSessionId(String);

impl GivenSessionId {
    /// Takes a text as it is given.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Borrows the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the id that commits can name, if the text can be one.
    pub fn checked(&self) -> Option<RuntimeSessionId> {
        RuntimeSessionId::new(self.0.as_str()).ok()
    }
}

impl From<RuntimeSessionId> for GivenSessionId {
    fn from(id: RuntimeSessionId) -> Self {
        Self(id.as_str().to_owned())
    }
}

impl fmt::Display for GivenSessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl fmt::Debug for GivenSessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_given_stays_as_it_is_and_only_a_legal_id_can_be_named_by_commits() {
        let absurd = ["", " s", "a\u{0}b", "line\nline", &"x".repeat(513)];
        for text in absurd {
            let given = GivenSessionId::new(text);
            assert_eq!((given.as_str(), given.checked()), (text, None));
            let json = serde_json::to_string(&given).unwrap();
            assert_eq!(json, serde_json::to_string(text).unwrap());
            assert_eq!(serde_json::from_str::<GivenSessionId>(&json).unwrap(), given);
        }
        let id = RuntimeSessionId::new("4f1c2a9e-1b1d-4a53-9a1e-0d7b1f6f9a11").unwrap();
        assert_eq!(GivenSessionId::from(id.clone()).checked(), Some(id));
    }
}
