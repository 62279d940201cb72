//! Rules: what topics beyond the usual ones come to. They are checked when they are configured.

use std::collections::HashMap;

use contexture_core::vocabulary;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::{STATE_TOPIC, STATE_TOPICS};
use crate::{
    mistake::{Mistake, MistakeKind},
    reader::{Reader, array, line, positive, word},
};

/// Names that parts of every state have.
const TAKEN: [&str; 5] = ["task", "plan", "progress", "validation", "debug"];
/// Topics that states and metrics are published under.
const OWN_TOPICS: [&str; 2] = [STATE_TOPIC, "CONTEXT_METRICS"];
/// Rules that a channel may have.
const MAX_RULES: usize = 64;
/// Parts that a list keeps where nobody says.
const DEFAULT_KEEP: u64 = 10;
/// Parts that a list may keep.
const MAX_KEEP: u64 = 100;

vocabulary! {
    /// What messages of a topic come to.
    TopicReducer {
        /// The last one.
        Last = "last",
        /// A list of the last ones.
        Append = "append",
        /// How many there were.
        Count = "count",
        /// What each sender said last.
        MapBySender = "map_by_sender",
        /// An object that each changes as JSON Merge Patch (RFC 7396) says.
        MergePatch = "merge_patch",
    }
}

/// What the messages of one topic come to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct StateReducer {
    /// The topic.
    pub topic: String,
    /// What the state calls it.
    pub name: String,
    /// What becomes of the messages.
    pub reduce: TopicReducer,
    /// How many parts a list keeps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keep: Option<u64>,
}

/// What the topics of a channel come to, beyond the usual ones.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct StateRules {
    reducers: Vec<StateReducer>,
}

impl StateRules {
    /// Reads rules, which are an object with a list of `reducers`; every mistake is named by its place.
    pub fn parse(document: Value) -> Result<Self, Vec<Mistake>> {
        let mut reader = Reader::default();
        let rules = read(&mut reader, document);
        reader.finish(rules)
    }

    /// Tells whether something follows from messages of a topic.
    pub fn concerns(&self, topic: &str) -> bool {
        STATE_TOPICS.contains(&topic) || self.reducers(topic).next().is_some()
    }

    /// Returns the topics from which something follows.
    pub fn topics(&self) -> impl Iterator<Item = &str> {
        STATE_TOPICS.into_iter().chain(self.reducers.iter().map(|reducer| reducer.topic.as_str()))
    }

    pub(super) fn reducers(&self, topic: &str) -> impl Iterator<Item = &StateReducer> {
        self.reducers.iter().filter(move |reducer| reducer.topic == topic)
    }
}

fn read(reader: &mut Reader, document: Value) -> Option<StateRules> {
    let mut fields = reader.document(document)?;
    let values = reader.required(&mut fields, "reducers", array).unwrap_or_default();
    reader.nothing_else(&fields);
    if values.len() > MAX_RULES {
        reader.add("reducers", MistakeKind::TooMany { max: MAX_RULES });
        return None;
    }
    let mut first_uses: HashMap<String, String> = HashMap::new();
    let mut reducers = Vec::with_capacity(values.len());
    for (index, value) in values.into_iter().enumerate() {
        let path = format!("reducers[{index}]");
        let Some(reducer) = reducer(reader, &path, value) else { continue };
        if let Some(first) = first_uses.insert(reducer.name.clone(), path.clone()) {
            reader.add(format!("{path}.name"), MistakeKind::Taken { what: "name", first });
        }
        reducers.push(reducer);
    }
    Some(StateRules { reducers })
}

fn reducer(reader: &mut Reader, path: &str, value: Value) -> Option<StateReducer> {
    let mut fields = reader.object(path, value)?;
    let topic = reader.required(&mut fields, "topic", topic);
    let name = reader.optional(&mut fields, "name", name);
    let reduce = reader.required(&mut fields, "reduce", word::<TopicReducer>);
    let has_keep = fields.has("keep");
    let keep = reader.optional(&mut fields, "keep", keep);
    if has_keep && reduce.is_some_and(|reduce| reduce != TopicReducer::Append) {
        reader.add(format!("{path}.keep"), MistakeKind::OnlyFor { word: TopicReducer::Append.as_str() });
    }
    reader.nothing_else(&fields);
    let (topic, reduce) = (topic?, reduce?);
    let keep = (reduce == TopicReducer::Append).then(|| keep.unwrap_or(DEFAULT_KEEP));
    Some(StateReducer { name: name.unwrap_or_else(|| topic.clone()), topic, reduce, keep })
}

fn topic(value: Value) -> Result<String, MistakeKind> {
    let topic = line(value)?;
    if STATE_TOPICS.contains(&topic.as_str()) || OWN_TOPICS.contains(&topic.as_str()) {
        Err(MistakeKind::Reserved { what: "topic" })
    } else {
        Ok(topic)
    }
}

fn name(value: Value) -> Result<String, MistakeKind> {
    let name = line(value)?;
    if TAKEN.contains(&name.as_str()) { Err(MistakeKind::Reserved { what: "name" }) } else { Ok(name) }
}

fn keep(value: Value) -> Result<u64, MistakeKind> {
    let number = positive(value.clone())?;
    if number <= MAX_KEEP { Ok(number) } else { Err(MistakeKind::mistyped("a whole number from 1 to 100", value)) }
}
