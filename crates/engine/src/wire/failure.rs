//! Failures as programs read them.

use std::error::Error;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Coded, ErrorCode};

/// Why something was not done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FailureDocument {
    /// What failed and why.
    pub error: FailureBody,
}

/// What failed and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FailureBody {
    /// A word that programs may rely on.
    pub code: ErrorCode,
    /// What failed.
    pub message: String,
    /// What led to it, nearest first.
    pub causes: Vec<String>,
    /// What to do next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl<E: Coded + Error> From<&E> for FailureDocument {
    /// Tells of an error, without a hint: what helps depends on how its reader has asked.
    fn from(error: &E) -> Self {
        Self {
            error: FailureBody { code: error.code(), message: error.to_string(), causes: causes(error), hint: None },
        }
    }
}

/// Returns what led to an error, nearest first, without what was said already.
pub fn causes(error: &dyn Error) -> Vec<String> {
    let mut causes = Vec::new();
    let mut said = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let text = cause.to_string();
        if !said.contains(&text) {
            said.clone_from(&text);
            causes.push(text);
        }
        source = cause.source();
    }
    causes
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;
    use crate::{AssemblyProblem, Error as EngineError};

    #[test]
    fn a_failure_is_told_with_its_code_and_what_led_to_it() {
        let error = EngineError::Io { attempt: "read the bundle", source: io::Error::other("no such device") };
        let body = FailureBody {
            code: ErrorCode::InputOutput,
            message: "cannot read the bundle".to_owned(),
            causes: vec!["no such device".to_owned()],
            hint: None,
        };
        assert_eq!(FailureDocument::from(&error), FailureDocument { error: body });
    }

    #[test]
    fn a_cause_that_the_message_holds_is_not_told_again() {
        let source = serde_json::from_str::<u8>("x").unwrap_err();
        assert_eq!(causes(&EngineError::from(AssemblyProblem::Record(source))), Vec::<String>::new());
    }
}
