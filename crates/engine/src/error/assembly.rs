//! What cannot be used for an assembly, or be read of one that was made.

use contexture_assembly::{UnknownCounter, recipe::TargetSpec, standard::EmptyId};
use contexture_core::{ArtifactId, EnvelopeId, MissingId};

/// Why something cannot be assembled, or an assembly not be looked at.
#[derive(Debug, thiserror::Error)]
pub enum AssemblyProblem {
    /// What was given as items is none.
    #[error("the items are not usable: {0}")]
    Items(#[from] GivenItemsProblem),
    /// Two items have the same id.
    #[error("two items are called {id:?}")]
    SameItem {
        /// The id.
        id: String,
    },
    /// An item is for a segment that the recipe does not have.
    #[error("item {item:?}: the recipe has no segment {segment:?}")]
    NoSegment {
        /// The item.
        item: String,
        /// The segment.
        segment: String,
    },
    /// A topic has no message, and the recipe wants one.
    #[error("no message of the topic {topic} is there, and the recipe fails without one")]
    NoMessageOf {
        /// The topic.
        topic: String,
    },
    /// An item has an id that is none.
    #[error(transparent)]
    ItemId(#[from] EmptyId),
    /// No counter has the name that a recipe or an envelope says.
    #[error(transparent)]
    Counter(#[from] UnknownCounter),
    /// The tokens of an envelope were counted in a way that this program does not know.
    #[error("{envelope} was counted by {name} {counted}; this program has version {known}")]
    CounterVersion {
        /// The envelope.
        envelope: EnvelopeId,
        /// The counter.
        name: String,
        /// Its version when the envelope was made.
        counted: u32,
        /// Its version now.
        known: u32,
    },
    /// An envelope has nothing for a target.
    #[error("{envelope} was not made for {target}")]
    NotMadeFor {
        /// The envelope.
        envelope: EnvelopeId,
        /// The target.
        target: TargetSpec,
    },
    /// An envelope was made for a target that its recipe does not have.
    #[error("{envelope} has no target {target} in its recipe")]
    NotInRecipe {
        /// The envelope.
        envelope: EnvelopeId,
        /// The target.
        target: TargetSpec,
    },
    /// What is stored as an envelope is none.
    #[error("{envelope} cannot be read: {source}")]
    Envelope {
        /// The envelope.
        envelope: EnvelopeId,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// What is stored as missing context is none.
    #[error("{missing} cannot be read: {source}")]
    Missing {
        /// The missing context.
        missing: MissingId,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// What is stored as the inputs of an envelope is none.
    #[error("the inputs {artifact} cannot be read: {source}")]
    Inputs {
        /// The inputs.
        artifact: ArtifactId,
        /// What is wrong with them.
        source: serde_json::Error,
    },
    /// What is stored as a record of the standard is none.
    #[error("a record cannot be read: {0}")]
    Record(#[source] serde_json::Error),
    /// An injection says of something else that it is an artifact.
    #[error("{text} is no artifact")]
    NoArtifactId {
        /// What it says.
        text: String,
    },
}

/// What is wrong with JSON that was given as items.
#[derive(Debug, thiserror::Error)]
pub enum GivenItemsProblem {
    /// It is no JSON.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// It is a single value.
    #[error("they are neither an array nor an object")]
    Scalar,
    /// One of them has other fields than items have.
    #[error("items[{index}]: {source}")]
    Item {
        /// Which one, from 0.
        index: usize,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// One of them says nothing.
    #[error("items[{index}] has neither `content` nor `artifact`")]
    NoContent {
        /// Which one, from 0.
        index: usize,
    },
    /// One of them says two things.
    #[error("items[{index}] has both `content` and `artifact`")]
    TwoContents {
        /// Which one, from 0.
        index: usize,
    },
}

#[cfg(test)]
mod tests {
    use crate::{Error, GivenItems};

    use super::*;

    fn refused(json: &str) -> (GivenItemsProblem, String) {
        let error = GivenItems::parse(json.as_bytes()).unwrap_err();
        let message = error.to_string();
        match error {
            Error::Assembly(AssemblyProblem::Items(problem)) => (problem, message),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn items_that_cannot_be_used_are_told_apart_and_by_number() {
        let (problem, message) = refused("3");
        assert!(matches!(problem, GivenItemsProblem::Scalar), "{problem:?}");
        assert_eq!(message, "the items are not usable: they are neither an array nor an object");
        let (problem, message) = refused(r#"[{"content": "a"}, {"id": "b"}]"#);
        assert!(matches!(problem, GivenItemsProblem::NoContent { index: 1 }), "{problem:?}");
        assert_eq!(message, "the items are not usable: items[1] has neither `content` nor `artifact`");
        let (problem, message) = refused(r#"{"items": [{"contents": "a"}]}"#);
        assert!(matches!(problem, GivenItemsProblem::Item { index: 0, .. }), "{problem:?}");
        assert!(message.starts_with("the items are not usable: items[0]: unknown field `contents`"), "{message}");
        let (problem, message) = refused("[");
        assert!(matches!(problem, GivenItemsProblem::Json(_)), "{problem:?}");
        assert!(message.starts_with("the items are not usable: EOF while parsing a list"), "{message}");
    }
}
