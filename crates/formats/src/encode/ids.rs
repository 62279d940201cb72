//! Ids and names that a target accepts, the same ones every time.

use std::{borrow::Cow, collections::HashSet};

use contexture_core::ArtifactId;

use crate::{
    NativePrefix,
    dialogue::{LossKind, Losses},
    summary,
};

/// Longest id of a call and longest name of a tool that every provider takes.
const MAX_BYTES: usize = 64;

/// Hands out ids for the records of a session, derived from the session's id and a counter.
#[derive(Debug)]
pub(super) struct Ids<'a> {
    session: &'a str,
    count: u64,
    short: HashSet<String>,
    /// The records before, whose ids are not handed out again.
    prefix: Option<&'a NativePrefix>,
}

impl<'a> Ids<'a> {
    pub(super) fn new(session: &'a str) -> Self {
        Self { session, count: 0, short: HashSet::new(), prefix: None }
    }

    /// Hands out ids for what follows records that are there.
    pub(super) fn after(session: &'a str, prefix: &'a NativePrefix) -> Self {
        Self { prefix: Some(prefix), ..Self::new(session) }
    }

    pub(super) fn uuid(&mut self) -> String {
        loop {
            let id = self.derive();
            if !self.is_taken(&id) {
                return id;
            }
        }
    }

    /// Returns eight hex digits that no other short id has.
    pub(super) fn short(&mut self) -> String {
        loop {
            let id = self.derive()[..8].to_owned();
            if !self.is_taken(&id) && self.short.insert(id.clone()) {
                return id;
            }
        }
    }

    fn derive(&mut self) -> String {
        self.count += 1;
        summary::uuid(&ArtifactId::of(format!("{}/{}", self.session, self.count).as_bytes()))
    }

    fn is_taken(&self, id: &str) -> bool {
        self.prefix.is_some_and(|prefix| prefix.ids().contains(id))
    }
}

/// Returns the id of a call as providers take it. The same id always becomes the same one.
pub(super) fn call_id(id: &str) -> Cow<'_, str> {
    if is_plain(id) {
        return Cow::Borrowed(id);
    }
    let hash = summary::uuid(&ArtifactId::of(id.as_bytes()));
    Cow::Owned(format!("call_{}", hash.replace('-', "")))
}

/// Returns the name of a tool as providers take it.
pub(super) fn tool_name(name: &str) -> Cow<'_, str> {
    if is_plain(name) {
        return Cow::Borrowed(name);
    }
    let plain = |c: char| if is_plain_char(c) { c } else { '_' };
    let name: String = name.chars().take(MAX_BYTES).map(plain).collect();
    Cow::Owned(if name.is_empty() { "tool".to_owned() } else { name })
}

/// Returns the id and the name of a call as providers take them, and notes what had to change.
pub(super) fn call<'a>(id: &'a str, name: &'a str, losses: &mut Losses) -> (Cow<'a, str>, Cow<'a, str>) {
    let (plain_id, plain_name) = (call_id(id), tool_name(name));
    losses.add_many(LossKind::IdChanged, u64::from(plain_id != id));
    losses.add_many(LossKind::ToolRenamed, u64::from(plain_name != name));
    (plain_id, plain_name)
}

fn is_plain(text: &str) -> bool {
    (1..=MAX_BYTES).contains(&text.len()) && text.chars().all(is_plain_char)
}

fn is_plain_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_follow_from_the_session() {
        let (mut one, mut same, mut other) = (Ids::new("s1"), Ids::new("s1"), Ids::new("s2"));
        let first = one.uuid();
        assert_eq!(first, same.uuid());
        assert_ne!(first, other.uuid());
        assert_ne!(first, one.uuid());
        assert_eq!(one.short().len(), 8);
    }

    #[test]
    fn what_providers_refuse_is_changed_and_noted() {
        let mut losses = Losses::default();
        assert_eq!(call("call_1", "read-file", &mut losses), ("call_1".into(), "read-file".into()));
        assert_eq!(losses.counts(), []);
        let (id, name) = call("call_1|fc_2", "mcp.wiki/ask é", &mut losses);
        assert_eq!(name, "mcp_wiki_ask__");
        assert!(is_plain(&id) && id == call_id("call_1|fc_2") && id != call_id("call_1|fc_3"));
        assert_eq!(losses.counts().len(), 2);
        for text in [String::new(), "x".repeat(65), "é".repeat(65)] {
            assert!(is_plain(&call_id(&text)) && is_plain(&tool_name(&text)), "{text}");
        }
    }
}
