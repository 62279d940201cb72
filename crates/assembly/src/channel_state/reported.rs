//! Reports: who said something last, and what each said who reports about it.

use std::collections::BTreeMap;

use contexture_core::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{StateChange, StateEvent};

/// How many senders a part of a state remembers; the one who was silent longest is forgotten.
const MAX_SENDERS: usize = 64;

/// What somebody said, and when.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Reported<T> {
    /// Who.
    pub sender: String,
    /// The place of the message.
    pub sequence: u64,
    /// When.
    pub updated_at: Timestamp,
    /// What.
    #[serde(flatten)]
    pub said: T,
}

/// What several said about the same.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BySender<T> {
    /// What it comes to.
    #[serde(flatten)]
    pub together: Reported<T>,
    /// What each said last.
    pub by_sender: BTreeMap<String, Reported<T>>,
    /// How many others are forgotten, because there were too many.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub forgotten: u64,
}

impl<T> Reported<T> {
    fn new(said: T, event: &StateEvent<'_>) -> Self {
        Self { sender: event.sender.to_owned(), sequence: event.sequence, updated_at: event.at, said }
    }
}

/// Takes what a message says for what was said before.
pub(super) fn replace<T: PartialEq>(
    part: &mut Option<Reported<T>>,
    said: Option<T>,
    event: &StateEvent<'_>,
) -> StateChange {
    let Some(said) = said else { return StateChange::Same };
    if part.as_ref().is_some_and(|known| known.said == said && known.sender == event.sender) {
        return StateChange::Same;
    }
    *part = Some(Reported::new(said, event));
    StateChange::Changed
}

/// Takes what a message says for what its sender said before.
pub(super) fn of_sender<T: PartialEq + Clone>(
    part: &mut Option<BySender<T>>,
    said: Option<T>,
    event: &StateEvent<'_>,
    together: impl Fn(&BTreeMap<String, Reported<T>>, &T) -> T,
) -> StateChange {
    let Some(said) = said else { return StateChange::Same };
    let newest = Reported::new(said, event);
    let Some(known) = part else {
        let by_sender = BTreeMap::from([(event.sender.to_owned(), newest.clone())]);
        let together = Reported { said: together(&by_sender, &newest.said), ..newest };
        *part = Some(BySender { together, by_sender, forgotten: 0 });
        return StateChange::Changed;
    };
    if known.by_sender.get(event.sender).is_some_and(|before| before.said == newest.said) {
        return StateChange::Same;
    }
    known.by_sender.insert(event.sender.to_owned(), newest.clone());
    if known.by_sender.len() > MAX_SENDERS {
        let silent = known.by_sender.iter().min_by_key(|(_, report)| report.sequence).map(|(sender, _)| sender.clone());
        if let Some(silent) = silent {
            known.by_sender.remove(&silent);
            known.forgotten += 1;
        }
    }
    known.together = Reported { said: together(&known.by_sender, &newest.said), ..newest };
    StateChange::Changed
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature is serde's")]
fn is_nothing(number: &u64) -> bool {
    *number == 0
}
