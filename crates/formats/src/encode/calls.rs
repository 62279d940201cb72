//! Calls of tools in a form that a target accepts.

use std::{borrow::Cow, collections::HashMap};

use contexture_core::{ArtifactId, EntryPart, ToolInput};
use serde_json::{Map, Value};

use crate::{
    dialogue::{LossKind, Losses, Turn},
    summary,
};

/// What every provider takes, which is what sessions of runtimes hold: one of them goes on with any provider.
pub(super) const SESSION: CallLimits =
    CallLimits { id: 64, name: 64, new_id: |digest| summary::uuid(digest).replace('-', "") };

/// What a target accepts in ids and names besides letters, digits, `_` and `-`: nothing, and not too many of them.
#[derive(Debug, Clone, Copy)]
pub(super) struct CallLimits {
    /// Longest id of a call.
    pub(super) id: usize,
    /// Longest name of a tool.
    pub(super) name: usize,
    /// Makes an id of the digest of one that is not accepted.
    pub(super) new_id: fn(&ArtifactId) -> String,
}

impl CallLimits {
    /// Expects what the API of a provider accepts.
    pub(super) const fn of_api(id: usize, name: usize) -> Self {
        Self { id, name, new_id: hex_of_first_half }
    }

    /// Returns the id that a call or a result has in the target. The same id always becomes the same one.
    pub(super) fn id<'i>(&self, id: &'i str) -> Cow<'i, str> {
        if is_plain(id, self.id) {
            return Cow::Borrowed(id);
        }
        Cow::Owned(format!("call_{}", (self.new_id)(&ArtifactId::of(id.as_bytes()))))
    }

    /// Returns the id of a call and the name of its tool, and notes what had to change.
    pub(super) fn call<'c>(&self, id: &'c str, name: &'c str, losses: &mut Losses) -> (Cow<'c, str>, Cow<'c, str>) {
        let (legal_id, legal_name) = (self.id(id), self.name(name));
        losses.add_many(LossKind::IdChanged, u64::from(legal_id != id));
        losses.add_many(LossKind::ToolRenamed, u64::from(legal_name != name));
        (legal_id, legal_name)
    }

    fn name<'n>(&self, name: &'n str) -> Cow<'n, str> {
        if is_plain(name, self.name) {
            return Cow::Borrowed(name);
        }
        let plain = |c: char| if is_plain_char(c) { c } else { '_' };
        let name: String = name.chars().take(self.name).map(plain).collect();
        Cow::Owned(if name.is_empty() { "tool".to_owned() } else { name })
    }
}

/// Returns what a tool is given as an object, and notes it if it was none. No input is an object without fields.
pub(super) fn object_input<'i>(input: &'i ToolInput, losses: &mut Losses) -> Cow<'i, Value> {
    match input {
        ToolInput::Json(object @ Value::Object(_)) => Cow::Borrowed(object),
        ToolInput::Json(Value::Null) => Cow::Owned(Value::Object(Map::new())),
        _ => Cow::Owned(Value::Object(named_input(input, losses))),
    }
}

/// Returns what a tool is given as named values; what has no names becomes the only one, and that is noted.
pub(super) fn named_input(input: &ToolInput, losses: &mut Losses) -> Map<String, Value> {
    let value = match input {
        ToolInput::Json(Value::Object(object)) => return object.clone(),
        ToolInput::Json(value) => value.clone(),
        ToolInput::Text(text) => Value::String(text.clone()),
    };
    losses.add(LossKind::InputWrapped);
    Map::from_iter([("input".to_owned(), value)])
}

/// What a tool answered.
#[derive(Debug, Clone, Copy)]
pub(super) struct CallAnswer<'d> {
    pub(super) content: &'d [EntryPart],
    pub(super) is_error: bool,
}

/// Returns what the turn after some calls answers, by the ids of the calls.
pub(super) fn answers(next: Option<&Turn>) -> HashMap<&str, CallAnswer<'_>> {
    let answers = next.into_iter().flat_map(|turn| &turn.parts).filter_map(|part| match part {
        EntryPart::ToolResult { call, content, is_error } => {
            Some((call.as_str(), CallAnswer { content, is_error: *is_error == Some(true) }))
        }
        _ => None,
    });
    answers.collect()
}

fn hex_of_first_half(digest: &ArtifactId) -> String {
    let bits = u128::from_be_bytes(*digest.as_bytes().first_chunk().expect("a digest has 32 bytes"));
    format!("{bits:032x}")
}

fn is_plain(text: &str, max_len: usize) -> bool {
    (1..=max_len).contains(&text.len()) && text.chars().all(is_plain_char)
}

const fn is_plain_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-')
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const LIMITS: CallLimits = CallLimits::of_api(40, 64);

    #[test]
    fn ids_and_names_change_only_if_they_must() {
        let mut losses = Losses::default();
        assert_eq!(LIMITS.call("toolu_1-a", "mcp__x", &mut losses), ("toolu_1-a".into(), "mcp__x".into()));
        assert_eq!(losses.counts(), []);
        let (id, name) = LIMITS.call("call_1|fc_2", "a.b é", &mut losses);
        assert_eq!(name, "a_b__");
        assert!(is_plain(&id, 40) && id == LIMITS.id("call_1|fc_2") && id != LIMITS.id("call_1|fc_3"));
        assert_eq!(
            losses.counts().iter().map(|count| count.loss).collect::<Vec<_>>(),
            [LossKind::IdChanged, LossKind::ToolRenamed]
        );
        for text in [String::new(), "x".repeat(65), "é".repeat(65)] {
            let (id, name) = LIMITS.call(&text, &text, &mut losses);
            assert!(is_plain(&id, 40) && is_plain(&name, 64), "{text}");
        }
    }

    #[test]
    fn what_is_no_object_becomes_a_field_of_one() {
        let mut losses = Losses::default();
        let mut object = |input| object_input(&input, &mut losses).into_owned();
        assert_eq!(object(ToolInput::Json(json!({"a": 1}))), json!({"a": 1}));
        assert_eq!(object(ToolInput::Json(Value::Null)), json!({}));
        assert_eq!(object(ToolInput::Json(json!([1]))), json!({"input": [1]}));
        assert_eq!(object(ToolInput::Text("*** Begin".into())), json!({"input": "*** Begin"}));
        assert_eq!(losses.counts()[0].count, 2);
    }

    #[test]
    fn what_providers_refuse_is_changed_and_noted() {
        let mut losses = Losses::default();
        assert_eq!(SESSION.call("call_1", "read-file", &mut losses), ("call_1".into(), "read-file".into()));
        assert_eq!(losses.counts(), []);
        let (id, name) = SESSION.call("call_1|fc_2", "mcp.wiki/ask é", &mut losses);
        assert_eq!(name, "mcp_wiki_ask__");
        assert!(is_plain(&id, 64) && id == SESSION.id("call_1|fc_2") && id != SESSION.id("call_1|fc_3"));
        assert_eq!(losses.counts().len(), 2);
        for text in [String::new(), "x".repeat(65), "é".repeat(65)] {
            assert!(is_plain(&SESSION.id(&text), 64) && is_plain(&SESSION.name(&text), 64), "{text}");
        }
    }
}
