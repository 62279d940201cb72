//! The native prefix of a session: records that its runtime wrote itself and that a written conversation comes after.

use std::collections::HashSet;

use contexture_core::{Entry, EntryPart, Format};

use crate::{
    Codec, Framing, KnownFormat, RawRecord, Splitter,
    codec::{
        Effect, Link, RecordMark,
        codex::{RolloutPosition, Task},
    },
};

/// What must be known of records to write a conversation after them.
#[derive(Debug, Clone, Default)]
pub struct NativePrefix {
    ids: HashSet<String>,
    calls: HashSet<String>,
    /// Those that a tool has answered.
    answered: HashSet<String>,
    /// Those that wait for an answer.
    open: HashSet<String>,
    last: Option<String>,
    is_asked: bool,
    /// Records that say something and follow none, where a runtime finds records by the one that follows them.
    roots: u64,
    place: RolloutPosition,
}

impl NativePrefix {
    /// Looks at the lines that come next. What is no record of the format tells nothing.
    pub fn follow(&mut self, format: &Format, content: &[u8]) {
        let Some(&KnownFormat { codec: Some(codec), is_linked, position, .. }) = KnownFormat::named(format) else {
            return;
        };
        let mut splitter = Splitter::new(Framing::Lines, 0);
        let mut take = |record: RawRecord<'_>| {
            let is_root = self.record(codec, record.bytes);
            self.roots += u64::from(is_linked && is_root);
            if let Some(position) = position {
                self.go_on_to(position(record.bytes));
            }
        };
        // Lines can always be told apart.
        let _ = splitter.push(content, &mut take).and_then(|()| splitter.finish(&mut take));
    }

    /// Adds what was learned of the lines that come next.
    pub fn extend(&mut self, next: Self) {
        let Self { ids, calls, answered, open, last, is_asked, roots, place } = next;
        self.ids.extend(ids);
        self.calls.extend(calls);
        self.answered.extend(answered);
        self.open.extend(open);
        self.last = last.or(self.last.take());
        self.is_asked |= is_asked;
        self.roots += roots;
        self.go_on_to(place);
    }

    /// Tells whether a tool was called and has not answered yet.
    pub fn has_open_call(&self) -> bool {
        !self.open.is_empty()
    }

    /// Tells whether they are a session that goes on: somebody asks something, and its runtime finds all of it.
    pub fn can_go_on(&self) -> bool {
        self.is_asked && self.roots <= 1
    }

    /// Returns the ids of its records.
    pub fn ids(&self) -> &HashSet<String> {
        &self.ids
    }

    /// Tells whether entries name a call that was made here.
    pub fn is_called_by(&self, entries: &[Entry]) -> bool {
        entries.iter().flat_map(|entry| &entry.parts).any(|part| match part {
            EntryPart::ToolCall { id, .. } | EntryPart::ToolResult { call: id, .. } => self.calls.contains(id),
            _ => false,
        })
    }

    /// Returns the record that the next one follows, where records name the one before.
    pub(crate) fn last(&self) -> Option<&str> {
        self.last.as_deref()
    }

    /// Returns the number of the next record, where records are numbered.
    pub(crate) fn next_ordinal(&self) -> Option<u64> {
        self.place.ordinal.map(|last| last.saturating_add(1))
    }

    /// Returns the turn that has begun and is not over, where a runtime notes both.
    pub(crate) fn open_task(&self) -> Option<&str> {
        match &self.place.task {
            Some(Task::Begun(id)) => Some(id),
            Some(Task::Over) | None => None,
        }
    }

    fn go_on_to(&mut self, next: RolloutPosition) {
        let RolloutPosition { ordinal, task } = std::mem::take(&mut self.place);
        self.place = RolloutPosition { ordinal: next.ordinal.or(ordinal), task: next.task.or(task) };
    }

    /// Takes a record and tells whether it says something and follows none that it names.
    fn record(&mut self, codec: &dyn Codec, record: &[u8]) -> bool {
        let mut is_root = false;
        if let Ok(outline) = codec.outline(record) {
            self.is_asked |= matches!(outline.mark, RecordMark::Turn(_));
            is_root = outline.lane.is_none() && !matches!(outline.link, Link::To(_));
            self.ids.extend(outline.id.clone());
            if outline.lane.is_none() {
                self.last = outline.id.or(self.last.take());
            }
        }
        let Ok(step) = codec.step(record) else { return false };
        if matches!(step.effect, Effect::Boundary(_) | Effect::Replace(_)) {
            self.open.clear();
        }
        is_root &= !step.entries.is_empty();
        for entry in step.entries {
            self.ids.extend(entry.id);
            for part in entry.parts {
                match part {
                    EntryPart::ToolCall { id, .. } => {
                        // Some runtimes write a call again with every change.
                        if !self.answered.contains(&id) {
                            self.open.insert(id.clone());
                        }
                        self.calls.insert(id);
                    }
                    EntryPart::ToolResult { call, .. } => {
                        self.open.remove(&call);
                        self.answered.insert(call);
                    }
                    _ => {}
                }
            }
        }
        is_root
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn format(name: &str) -> Format {
        Format::new(name).unwrap()
    }

    fn prefix(name: &str, lines: &[&str]) -> NativePrefix {
        let mut prefix = NativePrefix::default();
        for line in lines {
            prefix.follow(&format(name), format!("{line}\n").as_bytes());
        }
        prefix
    }

    const CALL: &str = r#"{"type":"assistant","uuid":"a1","parentUuid":"u1","message":{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"run","input":{}}]}}"#;
    const RESULT: &str = r#"{"type":"user","uuid":"u2","parentUuid":"a1","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"done"}]}}"#;

    #[test]
    fn a_call_is_open_until_its_tool_has_answered() {
        assert!(prefix("claude-code-v1", &[CALL]).has_open_call());
        let mut whole = prefix("claude-code-v1", &[CALL, RESULT]);
        assert!(!whole.has_open_call());
        whole.follow(&format("claude-code-v1"), CALL.as_bytes());
        assert!(!whole.has_open_call(), "a call that is there twice is one call");
        let result = EntryPart::ToolResult { call: "c1".into(), content: Vec::new(), is_error: None };
        assert!(whole.is_called_by(&[Entry::new(contexture_core::Role::Tool, vec![result])]));
        let boundary = r#"{"type":"system","subtype":"compact_boundary","uuid":"b","parentUuid":null}"#;
        assert!(!prefix("claude-code-v1", &[CALL, boundary]).has_open_call());
    }

    #[test]
    fn the_next_record_follows_the_last_of_the_main_chain() {
        let side = r#"{"type":"user","uuid":"s1","parentUuid":null,"isSidechain":true,"agentId":"x","message":{"role":"user","content":"Do it"}}"#;
        let note = r#"{"type":"mode","uuid":"n1","mode":"plan"}"#;
        let known = prefix("claude-code-v1", &[CALL, RESULT, side, note, "no record"]);
        assert_eq!((known.last(), known.can_go_on()), (Some("u2"), false));
        let entries = [
            r#"{"type":"session","id":"s","version":3}"#,
            r#"{"type":"message","id":"1","parentId":null,"message":{"role":"user","content":"Go"}}"#,
            r#"{"type":"model_change","id":"2","parentId":"1","modelId":"m"}"#,
        ];
        let mut known = prefix("pi-v1", &entries[..2]);
        assert_eq!((known.last(), known.can_go_on()), (Some("1"), true));
        known.extend(prefix("pi-v1", &entries[2..]));
        assert_eq!((known.last(), known.can_go_on()), (Some("2"), true));
        assert!(known.ids().contains("1") && known.ids().contains("2") && !known.ids().contains("s"));
    }

    #[test]
    fn records_that_their_runtime_would_not_find_do_not_go_on() {
        let asked = r#"{"type":"user","uuid":"u1","parentUuid":null,"message":{"role":"user","content":"Go"}}"#;
        assert!(prefix("claude-code-v1", &[asked, CALL, r#"{"type":"mode"}"#]).can_go_on());
        let loose = r#"{"type":"assistant","uuid":"a2","message":{"role":"assistant","content":"Gone"}}"#;
        assert!(!prefix("claude-code-v1", &[asked, loose]).can_go_on());
        let mut two = prefix("claude-code-v1", &[asked]);
        two.extend(prefix("claude-code-v1", &[asked]));
        assert!(!two.can_go_on(), "of two sessions the runtime finds the last");
        let old = r#"{"type":"message","message":{"role":"user","content":"Go"}}"#;
        assert!(!prefix("pi-v1", &[r#"{"type":"session","id":"s"}"#, old, old]).can_go_on());
        let gemini = r#"{"id":"u1","type":"user","content":[{"text":"Go"}]}"#;
        assert!(prefix("gemini-v1", &[gemini]).can_go_on(), "there the order of lines is enough");
    }

    #[test]
    fn a_turn_of_codex_is_open_until_it_is_over() {
        let event = |kind: &str| {
            format!(
                r#"{{"timestamp":"t","ordinal":7,"type":"event_msg","payload":{{"type":"{kind}","turn_id":"t1"}}}}"#
            )
        };
        let (started, complete) = (event("task_started"), event("task_complete"));
        let mut known = prefix("codex-v1", &[&started]);
        assert_eq!(known.open_task(), Some("t1"));
        known.extend(prefix("codex-v1", &[&event("token_count")]));
        assert_eq!(known.open_task(), Some("t1"));
        known.extend(prefix("codex-v1", &[&complete]));
        assert_eq!((known.open_task(), known.next_ordinal()), (None, Some(8)));
        assert_eq!(prefix("codex-v1", &["{}"]).next_ordinal(), None);
        assert_eq!(prefix("gemini-v1", &[&started]).open_task(), None);
    }
}
