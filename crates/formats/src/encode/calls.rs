//! Calls of tools in a form that a target accepts.

use std::{borrow::Cow, collections::HashMap};

use contexture_core::{ArtifactId, EntryPart, ToolInput};
use serde_json::{Map, Value};

use crate::dialogue::{LossKind, Losses, Turn};

/// What a provider accepts in ids and names besides letters, digits, `_` and `-`: nothing, and not too many of them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// Longest id of a call.
    pub(super) id: usize,
    /// Longest name of a tool.
    pub(super) name: usize,
}

impl Limits {
    /// Returns the id that a call or a result has in the target. The same id always becomes the same one.
    pub(super) fn id<'i>(&self, id: &'i str) -> Cow<'i, str> {
        if is_plain(id, self.id) {
            return Cow::Borrowed(id);
        }
        let digest = ArtifactId::of(id.as_bytes());
        let bits = u128::from_be_bytes(*digest.as_bytes().first_chunk().expect("a digest has 32 bytes"));
        Cow::Owned(format!("call_{bits:032x}"))
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

/// Returns what a tool is given as an object, and notes it if it was none.
pub(super) fn object_input<'i>(input: &'i ToolInput, losses: &mut Losses) -> Cow<'i, Value> {
    let inner = match input {
        ToolInput::Json(object @ Value::Object(_)) => return Cow::Borrowed(object),
        ToolInput::Json(Value::Null) => return Cow::Owned(Value::Object(Map::new())),
        ToolInput::Json(value) => value.clone(),
        ToolInput::Text(text) => Value::String(text.clone()),
    };
    losses.add(LossKind::InputWrapped);
    Cow::Owned(Value::Object(Map::from_iter([("input".to_owned(), inner)])))
}

/// What a tool answered.
#[derive(Debug, Clone, Copy)]
pub(super) struct Answer<'d> {
    pub(super) content: &'d [EntryPart],
    pub(super) is_error: bool,
}

/// Returns what the turn after some calls answers, by the ids of the calls.
pub(super) fn answers(next: Option<&Turn>) -> HashMap<&str, Answer<'_>> {
    let answers = next.into_iter().flat_map(|turn| &turn.parts).filter_map(|part| match part {
        EntryPart::ToolResult { call, content, is_error } => {
            Some((call.as_str(), Answer { content, is_error: *is_error == Some(true) }))
        }
        _ => None,
    });
    answers.collect()
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

    const LIMITS: Limits = Limits { id: 40, name: 64 };

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
}
