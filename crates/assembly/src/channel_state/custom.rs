//! What topics come to that the rules of a channel name.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{
    StateChange, StateEvent,
    bounded::{StateReceipt, one_line},
    rules::{StateReducer, TopicReducer},
};
use crate::digest::Digest;

/// Bytes of JSON that a message may add to a state; of a larger one there is a receipt.
const MAX_VALUE: usize = 4096;
/// Bytes of JSON that a patched object may have.
const MAX_PATCHED: usize = 65_536;
/// Senders that a map remembers.
const MAX_SENDERS: usize = 64;
/// Characters of a line that tells of it.
const MAX_LINE: usize = 200;

/// What the messages of a topic come to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "reduce", rename_all = "snake_case")]
pub enum CustomState {
    /// The last one.
    Last(ReducedValue),
    /// The last ones.
    Append {
        /// They, the oldest first.
        items: Vec<ReducedValue>,
        /// What came before them; its digest is that of the receipt before and the message that went.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        omitted: Option<StateReceipt>,
    },
    /// How many there were.
    Count {
        /// The number.
        count: u64,
    },
    /// What each sender said last.
    MapBySender {
        /// By sender.
        senders: BTreeMap<String, ReducedValue>,
        /// How many senders are forgotten.
        #[serde(default)]
        forgotten: u64,
    },
    /// What all changes come to.
    MergePatch {
        /// The object.
        value: Value,
        /// How many changes were left out, because the object would have become too large.
        #[serde(default)]
        refused: u64,
    },
}

/// What a message said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReducedValue {
    /// Who.
    pub sender: String,
    /// The place of the message.
    pub sequence: u64,
    /// Its data, or else its text; nothing where that is too large.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub value: Value,
    /// How many bytes it has, where it is too large.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub omitted: Option<StateReceipt>,
}

/// Folds a message into what a topic comes to.
pub(super) fn apply(
    states: &mut BTreeMap<String, CustomState>,
    reducer: &StateReducer,
    event: &StateEvent<'_>,
) -> StateChange {
    let before = states.get(&reducer.name);
    let after = reduced(before, reducer, event);
    if before.is_some_and(|before| before.says_the_same(&after)) {
        return StateChange::Same;
    }
    states.insert(reducer.name.clone(), after);
    StateChange::Changed
}

fn reduced(before: Option<&CustomState>, reducer: &StateReducer, event: &StateEvent<'_>) -> CustomState {
    let said = || ReducedValue::of(event);
    match (reducer.reduce, before) {
        (TopicReducer::Last, _) => CustomState::Last(said()),
        (TopicReducer::Append, before) => {
            let (mut items, mut omitted) = match before {
                Some(CustomState::Append { items, omitted }) => (items.clone(), omitted.clone()),
                _ => (Vec::new(), None),
            };
            items.push(said());
            let keep = reducer.keep.map_or(usize::MAX, |keep| usize::try_from(keep).unwrap_or(usize::MAX));
            while items.len() > keep {
                omitted = Some(chained(omitted.as_ref(), &items.remove(0)));
            }
            CustomState::Append { items, omitted }
        }
        (TopicReducer::Count, Some(CustomState::Count { count })) => CustomState::Count { count: count + 1 },
        (TopicReducer::Count, _) => CustomState::Count { count: 1 },
        (TopicReducer::MapBySender, before) => {
            let (mut senders, mut forgotten) = match before {
                Some(CustomState::MapBySender { senders, forgotten }) => (senders.clone(), *forgotten),
                _ => (BTreeMap::new(), 0),
            };
            let said = said();
            // Who says the same again is where he was.
            if senders.get(event.sender).is_none_or(|known| known.value != said.value || known.omitted != said.omitted)
            {
                senders.insert(event.sender.to_owned(), said);
            }
            if senders.len() > MAX_SENDERS {
                let silent = senders.iter().min_by_key(|(_, value)| value.sequence).map(|(sender, _)| sender.clone());
                forgotten += u64::from(silent.and_then(|silent| senders.remove(&silent)).is_some());
            }
            CustomState::MapBySender { senders, forgotten }
        }
        (TopicReducer::MergePatch, before) => {
            let (value, refused) = match before {
                Some(CustomState::MergePatch { value, refused }) => (value.clone(), *refused),
                _ => (Value::Object(Map::new()), 0),
            };
            let Some(patch) = event.data.filter(|data| data.is_object()) else {
                return CustomState::MergePatch { value, refused };
            };
            let mut patched = value.clone();
            merge(&mut patched, patch);
            if json_bytes(&patched) > MAX_PATCHED {
                CustomState::MergePatch { value, refused: refused + 1 }
            } else {
                CustomState::MergePatch { value: patched, refused }
            }
        }
    }
}

/// Changes a value as JSON Merge Patch says.
fn merge(value: &mut Value, patch: &Value) {
    let Value::Object(changes) = patch else {
        value.clone_from(patch);
        return;
    };
    if !value.is_object() {
        *value = Value::Object(Map::new());
    }
    let Value::Object(fields) = value else { return };
    for (name, change) in changes {
        if change.is_null() {
            fields.remove(name);
        } else {
            merge(fields.entry(name.clone()).or_insert(Value::Null), change);
        }
    }
}

fn chained(before: Option<&StateReceipt>, gone: &ReducedValue) -> StateReceipt {
    let json = serde_json::to_vec(gone).expect("a value has text keys");
    match before {
        None => StateReceipt { count: 1, digest: Digest::of(&json) },
        Some(StateReceipt { count, digest }) => {
            let chain = [digest.as_bytes().as_slice(), &json].concat();
            StateReceipt { count: count + 1, digest: Digest::of(&chain) }
        }
    }
}

fn json_bytes(value: &Value) -> usize {
    serde_json::to_vec(value).expect("a value has text keys").len()
}

impl ReducedValue {
    fn of(event: &StateEvent<'_>) -> Self {
        let value = event.data.cloned().or_else(|| event.text.map(Value::from)).unwrap_or_default();
        let json = serde_json::to_vec(&value).expect("a value has text keys");
        let receipt = StateReceipt { count: json.len() as u64, digest: Digest::of(&json) };
        let (value, omitted) = if json.len() > MAX_VALUE { (Value::Null, Some(receipt)) } else { (value, None) };
        Self { sender: event.sender.to_owned(), sequence: event.sequence, value, omitted }
    }
}

impl CustomState {
    fn says_the_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Last(one), Self::Last(two)) => {
                (&one.sender, &one.value, &one.omitted) == (&two.sender, &two.value, &two.omitted)
            }
            _ => self == other,
        }
    }

    /// Says it in a line.
    pub(super) fn to_line(&self) -> String {
        let told = |value: &ReducedValue| match (&value.value, &value.omitted) {
            (_, Some(receipt)) => format!("{} bytes of {}", receipt.count, value.sender),
            (Value::String(text), None) => one_line(text),
            (value, None) => value.to_string(),
        };
        let line = match self {
            Self::Last(value) => told(value),
            Self::Append { items, omitted } => {
                let all = items.len() as u64 + omitted.as_ref().map_or(0, |receipt| receipt.count);
                format!("{all}, the last: {}", items.last().map(told).unwrap_or_default())
            }
            Self::Count { count } => count.to_string(),
            Self::MapBySender { senders, .. } => senders
                .iter()
                .map(|(sender, value)| format!("{sender}: {}", told(value)))
                .collect::<Vec<_>>()
                .join("; "),
            Self::MergePatch { value, .. } => value.to_string(),
        };
        let cut = line.chars().count() > MAX_LINE;
        if cut { line.chars().take(MAX_LINE - 3).chain("...".chars()).collect() } else { line }
    }
}
