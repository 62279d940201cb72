//! The id of a session inside its records: what changes when a runtime's own records go on under another id.

use std::{borrow::Cow, collections::HashMap, ops::Range};

use contexture_core::Format;
use serde_json::value::RawValue;

use crate::KnownFormat;

/// Writes another session id into the records of a session and changes nothing else.
#[derive(Debug)]
pub struct Renamer<'s> {
    rule: Option<RenameRule>,
    session: &'s str,
    is_head_done: bool,
}

/// Which records carry the id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RenameRule {
    /// Every line.
    Claude,
    /// The first of the lines that describe a session; later ones are those of the sessions it was forked from.
    Codex,
    /// The lines that describe the session, and those that change what it is called.
    Gemini,
    /// The first line.
    Pi,
}

impl<'s> Renamer<'s> {
    /// Prepares to write an id into records of a format. Records of a format without such ids stay as they are.
    pub fn new(format: &Format, session: &'s str) -> Self {
        let rule = KnownFormat::named(format).and_then(|known| known.rename_rule);
        Self { rule, session, is_head_done: false }
    }

    /// Returns a record with the id. What is no record stays as it is.
    pub fn rename<'r>(&mut self, record: &'r [u8]) -> Cow<'r, [u8]> {
        let Some(rule) =
            self.rule.filter(|rule| !self.is_head_done || matches!(rule, RenameRule::Claude | RenameRule::Gemini))
        else {
            return Cow::Borrowed(record);
        };
        let mut places: Vec<Range<usize>> = places(rule, record).unwrap_or_default();
        if places.is_empty() {
            return Cow::Borrowed(record);
        }
        self.is_head_done = true;
        places.sort_unstable_by_key(|place| place.start);
        let mut renamed = Vec::with_capacity(record.len() + self.session.len());
        let mut from = 0;
        for place in places {
            renamed.extend_from_slice(&record[from..place.start]);
            renamed.push(b'"');
            renamed.extend_from_slice(self.session.as_bytes());
            renamed.push(b'"');
            from = place.end;
        }
        renamed.extend_from_slice(&record[from..]);
        Cow::Owned(renamed)
    }

    /// Tells whether the description of the session has passed, without which a runtime does not know it. One that its
    /// runtime cannot read any more does not count.
    pub fn has_head(&self) -> bool {
        self.is_head_done || matches!(self.rule, Some(RenameRule::Claude))
    }
}

/// What Codex must be told of a session before it reads the rest. The first versions wrote another head, and no version
/// of today reads that.
const CODEX_NEEDS: [&str; 5] = ["id", "timestamp", "cwd", "originator", "cli_version"];

type RenamedObject<'r> = HashMap<Cow<'r, str>, &'r RawValue>;

/// Returns where in a record the id of its session stands.
fn places(rule: RenameRule, record: &[u8]) -> Option<Vec<Range<usize>>> {
    let object: RenamedObject<'_> = serde_json::from_slice(record).ok()?;
    let is = |name: &str, word: &str| object.get(name).is_some_and(|value| value.get().trim_matches('"') == word);
    let place = |value: &RawValue| {
        let text = value.get();
        let start = text.as_ptr().addr().checked_sub(record.as_ptr().addr())?;
        text.starts_with('"').then(|| start..start + text.len())
    };
    let own = |name: &str| object.get(name).copied().and_then(place).into_iter().collect();
    Some(match rule {
        RenameRule::Claude => own("sessionId"),
        RenameRule::Gemini if object.contains_key("projectHash") => own("sessionId"),
        RenameRule::Gemini if object.contains_key("$set") => {
            let update: RenamedObject<'_> = serde_json::from_str(object.get("$set")?.get()).ok()?;
            update.get("sessionId").copied().and_then(place).into_iter().collect()
        }
        RenameRule::Pi if is("type", "session") => own("id"),
        RenameRule::Codex if is("type", "session_meta") => {
            let payload: RenamedObject<'_> = serde_json::from_str(object.get("payload")?.get()).ok()?;
            if !CODEX_NEEDS.iter().all(|name| payload.get(*name).is_some_and(|value| value.get().starts_with('"'))) {
                return None;
            }
            ["id", "session_id"].iter().filter_map(|name| payload.get(*name).copied().and_then(place)).collect()
        }
        RenameRule::Codex | RenameRule::Gemini | RenameRule::Pi => Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn renamed(format: &str, records: &[&str]) -> Vec<String> {
        let format = Format::new(format).unwrap();
        let mut renamer = Renamer::new(&format, "new");
        records
            .iter()
            .map(|record| String::from_utf8(renamer.rename(record.as_bytes()).into_owned()).unwrap())
            .collect()
    }

    #[test]
    fn only_the_id_of_the_session_changes() {
        let lines = [
            r#"{ "a":1.50,"sessionId" : "old","message":{"sessionId":"old","text":"\"sessionId\":\"old\""}}"#,
            "no record",
            r#"{"type":"summary"}"#,
        ];
        assert_eq!(
            renamed("claude-code-v1", &lines),
            [
                r#"{ "a":1.50,"sessionId" : "new","message":{"sessionId":"old","text":"\"sessionId\":\"old\""}}"#,
                lines[1],
                lines[2],
            ]
        );
        let head = r#"{"type":"session_meta","payload":{"session_id":"old","id":"old","timestamp":"t","cwd":"/","originator":"o","cli_version":"1"}}"#;
        let lines = [head, r#"{"type":"session_meta","payload":{"id":"older","timestamp":"t"}}"#];
        assert_eq!(renamed("codex-v1", &lines), [&*head.replace("old", "new"), lines[1]]);
        let lines = [
            r#"{"sessionId":"old","projectHash":"h"}"#,
            r#"{"id":"m","type":"user"}"#,
            r#"{"$set":{"summary":"s","sessionId":"old"}}"#,
        ];
        let expected = [lines[0].replace("old", "new"), lines[1].to_owned(), lines[2].replace("old", "new")];
        assert_eq!(renamed("gemini-v1", &lines), expected);
        let lines = [r#"{"type":"session","id":"old"}"#, r#"{"type":"message","id":"m"}"#];
        assert_eq!(renamed("pi-v1", &lines), [r#"{"type":"session","id":"new"}"#, lines[1]]);
        assert_eq!(renamed("jsonl", &lines), lines);
    }

    #[test]
    fn a_head_that_codex_does_not_read_is_none() {
        let heads = [
            r#"{"id":"old","timestamp":"t","instructions":null}"#,
            r#"{"type":"session_meta","payload":{"id":"old","cwd":"/","cli_version":"1"}}"#,
            r#"{"type":"session_meta","payload":{"id":"old","timestamp":"t","cwd":"/","originator":null,"cli_version":"1"}}"#,
        ];
        for head in heads {
            let format = Format::new("codex-v1").unwrap();
            let mut renamer = Renamer::new(&format, "new");
            assert_eq!(renamer.rename(head.as_bytes()), head.as_bytes());
            assert!(!renamer.has_head(), "{head}");
        }
    }
}
