//! What can be wrong with the records that belong to envelopes: injections, missing context and events.

use contexture_core::EnvelopeId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::journal::Journaled;

/// What is wrong with a record that belongs to an envelope.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, thiserror::Error)]
#[serde(tag = "fault", rename_all = "snake_case")]
pub enum RecordFault {
    /// Its row cannot be read.
    #[error("cannot be read: {what}")]
    Unreadable {
        /// What is wrong with the row.
        what: String,
    },
    /// Its id does not follow from what it says.
    #[error("says something else than its id stands for")]
    OtherId,
    /// It belongs to an envelope that does not exist.
    #[error("belongs to {envelope}, which does not exist")]
    NoEnvelope {
        /// The envelope.
        envelope: EnvelopeId,
    },
    /// The journal has no such record.
    #[error("is not in the journal")]
    NotJournaled,
    /// The journal tells something else.
    #[error("is not what the journal says")]
    JournaledOtherwise,
}

impl RecordFault {
    /// Returns what is wrong when the journal does not tell of a record as it is.
    pub(super) fn of(journaled: Journaled) -> Option<Self> {
        match journaled {
            Journaled::Same => None,
            Journaled::Not => Some(Self::NotJournaled),
            Journaled::Otherwise => Some(Self::JournaledOtherwise),
        }
    }
}
