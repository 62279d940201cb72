//! A conversation in the shape that every model's API wants: turns that alternate, calls and results in pairs.

mod calls;
mod losses;

use std::collections::{HashMap, HashSet};

use contexture_core::{Entry, EntryPart, Role, Timestamp};

pub use self::losses::{LossCount, LossKind, Losses};

use self::calls::Calls;
use crate::runtime_note::is_runtime_note;

/// What stands for a result that never came.
const NO_RESULT: &str = "[no result: the call was interrupted]";
/// What opens a conversation that would start with an answer.
const OPENING: &str = "[the conversation starts here]";

/// A conversation without loose ends.
///
/// Turns alternate and a user's comes first, unless it goes on with another one. Each call of an assistant's turn is answered once, at the start of the next
/// turn, and nothing else is answered there. No turn is empty.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Dialogue {
    /// Instructions that stand above the conversation.
    pub system: Vec<String>,
    /// The turns.
    pub turns: Vec<Turn>,
    /// What did not fit into this shape.
    pub losses: Losses,
}

/// What one side says before the other does.
#[derive(Debug, Clone, PartialEq)]
pub struct Turn {
    /// Who speaks.
    pub speaker: Speaker,
    /// What is said. A user's turn begins with the results of tools, in the order of the calls.
    pub parts: Vec<EntryPart>,
    /// The model that speaks.
    pub model: Option<String>,
    /// When the turn began.
    pub at: Option<Timestamp>,
    /// Whether the runtime put it there and nobody typed any of it.
    pub is_meta: bool,
}

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Speaker {
    /// The person or program that asks; tools answer here too.
    User,
    /// The model.
    Assistant,
}

/// Where a conversation begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Opening {
    /// With the first entry.
    Here,
    /// Before it, in what is not at hand.
    Before,
}

impl Dialogue {
    /// Brings entries into shape, in their order.
    pub fn of(entries: Vec<Entry>) -> Self {
        let mut dialogue = Self::part(entries);
        dialogue.open();
        dialogue
    }

    /// Brings entries into shape for a session of a runtime, which tells its model of itself in its own way: what another
    /// runtime has told of itself is left out.
    pub fn for_session(entries: Vec<Entry>) -> Self {
        let mut dialogue = Self::default();
        for entry in entries {
            dialogue.take_for_session(entry, Opening::Here);
        }
        dialogue.pair();
        dialogue.open();
        dialogue
    }

    /// Brings entries into shape that others come before: an answer may be the first of them.
    pub fn part(entries: Vec<Entry>) -> Self {
        let mut dialogue = Self::default();
        for entry in entries {
            dialogue.take(entry, Opening::Here);
        }
        dialogue.pair();
        dialogue
    }

    /// Brings entries into shape that come in a session after what was said before: an answer may come first, no
    /// instructions stand above, and what another runtime has told of itself is left out.
    pub fn going_on(entries: Vec<Entry>) -> Self {
        let mut dialogue = Self::default();
        for entry in entries {
            dialogue.take_for_session(entry, Opening::Before);
        }
        dialogue.pair();
        dialogue
    }

    fn take_for_session(&mut self, mut entry: Entry, opening: Opening) {
        if entry.flags.meta {
            let told = entry.parts.len();
            entry.parts.retain(|part| !is_runtime_note(part));
            self.losses.add_many(LossKind::NativePart, (told - entry.parts.len()) as u64);
        }
        self.take(entry, opening);
    }

    fn take(&mut self, entry: Entry, opening: Opening) {
        let Entry { role, model, at, parts, flags, .. } = entry;
        if flags.synthetic {
            self.losses.add(LossKind::SyntheticMessage);
            return;
        }
        let mut parts: Vec<EntryPart> = parts.into_iter().filter(|part| !is_empty(part)).collect();
        if parts.is_empty() {
            return;
        }
        let speaker = match role {
            Role::Assistant => Speaker::Assistant,
            Role::User | Role::Tool => Speaker::User,
            Role::System if self.turns.is_empty() && opening == Opening::Here => {
                self.system.extend(parts.into_iter().filter_map(into_text));
                return;
            }
            Role::System => {
                self.losses.add(LossKind::SystemAsUser);
                parts = parts.into_iter().filter_map(into_text).map(EntryPart::text).collect();
                Speaker::User
            }
        };
        if speaker == Speaker::User {
            parts = parts.into_iter().map(|part| self.without_call(part)).collect();
        }
        let is_meta = flags.meta || role == Role::System;
        match self.turns.last_mut() {
            Some(last) if last.speaker == speaker => {
                last.parts.extend(parts);
                last.model = last.model.take().or(model);
                last.is_meta &= is_meta;
            }
            _ => self.turns.push(Turn { speaker, parts, model, at, is_meta }),
        }
    }

    /// Only models call tools; what else looks like a call becomes text.
    fn without_call(&mut self, part: EntryPart) -> EntryPart {
        if !matches!(part, EntryPart::ToolCall { .. }) {
            return part;
        }
        self.losses.add(LossKind::NativePart);
        EntryPart::text(text_of(&[part]))
    }

    /// Moves each result to the start of the turn after its call, and repairs what has no counterpart.
    fn pair(&mut self) {
        let mut results = self.take_results();
        let mut turns = Vec::with_capacity(self.turns.len());
        for turn in std::mem::take(&mut self.turns) {
            let mut called = HashSet::new();
            let answers: Vec<EntryPart> = turn
                .parts
                .iter()
                .filter_map(|part| match part {
                    EntryPart::ToolCall { id, .. } if called.insert(id.clone()) => Some(id),
                    _ => None,
                })
                .map(|id| {
                    results.remove(id).unwrap_or_else(|| {
                        self.losses.add(LossKind::ResultInvented);
                        let content = vec![EntryPart::text(NO_RESULT)];
                        EntryPart::ToolResult { call: id.clone(), content, is_error: Some(true) }
                    })
                })
                .collect();
            let (model, at) = (None, turn.at);
            push(&mut turns, turn);
            if !answers.is_empty() {
                push(&mut turns, Turn { speaker: Speaker::User, parts: answers, model, at, is_meta: false });
            }
        }
        self.turns = turns;
    }

    /// Takes the results that answer a call out of their turns; the others become text where they are.
    fn take_results(&mut self) -> HashMap<String, EntryPart> {
        let mut results = HashMap::new();
        let mut calls = Calls::default();
        for turn in &mut self.turns {
            let mut kept = Vec::with_capacity(turn.parts.len());
            for part in turn.parts.drain(..) {
                match part {
                    EntryPart::ToolCall { id, name, input } => {
                        let Some(distinct) = calls.call(&id, &name, &input) else { continue };
                        if distinct != id {
                            self.losses.add(LossKind::IdChanged);
                        }
                        kept.push(EntryPart::ToolCall { id: distinct, name, input });
                    }
                    EntryPart::ToolResult { call, content, is_error } => {
                        // The last counts: an early one says that the tool is still at it.
                        if let Some(call) = calls.answer(&call) {
                            results.insert(call.clone(), EntryPart::ToolResult { call, content, is_error });
                        } else {
                            self.losses.add(LossKind::ResultAsText);
                            kept.push(EntryPart::text(format!("[result of a tool]\n{}", text_of(&content))));
                        }
                    }
                    other => kept.push(other),
                }
            }
            turn.parts = kept;
        }
        self.turns.retain(|turn| !turn.parts.is_empty());
        results
    }

    fn open(&mut self) {
        if self.turns.first().is_some_and(|turn| turn.speaker == Speaker::Assistant) {
            self.losses.add(LossKind::OpeningInvented);
            let parts = vec![EntryPart::text(OPENING)];
            self.turns.insert(0, Turn { speaker: Speaker::User, parts, model: None, at: None, is_meta: true });
        }
    }
}

/// Adds a turn, or adds to the last one when the same side speaks on.
fn push(turns: &mut Vec<Turn>, turn: Turn) {
    match turns.last_mut() {
        Some(last) if last.speaker == turn.speaker => {
            last.parts.extend(turn.parts);
            last.is_meta &= turn.is_meta;
        }
        _ => turns.push(turn),
    }
}

fn is_empty(part: &EntryPart) -> bool {
    match part {
        EntryPart::Text { text } | EntryPart::Summary { text } => text.trim().is_empty(),
        EntryPart::Thinking { text, seal } => text.is_empty() && seal.is_none(),
        _ => false,
    }
}

fn into_text(part: EntryPart) -> Option<String> {
    match part {
        EntryPart::Text { text } | EntryPart::Summary { text } => Some(text),
        _ => None,
    }
}

/// Returns the readable text of some parts, with notes where there is none.
pub fn text_of(parts: &[EntryPart]) -> String {
    let text = |part: &EntryPart| match part {
        EntryPart::Text { text } | EntryPart::Summary { text } | EntryPart::Thinking { text, .. } => text.clone(),
        EntryPart::ToolCall { name, .. } => format!("[calls {name}]"),
        EntryPart::ToolResult { content, .. } => text_of(content),
        EntryPart::Blob { media_type, .. } => format!("[{media_type}]"),
        EntryPart::Native { kind, .. } => format!("[{kind}]"),
    };
    parts.iter().map(text).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use contexture_core::{Flags, ToolInput};
    use proptest::{collection::vec, prelude::*};

    use super::*;

    fn call(id: &str) -> EntryPart {
        EntryPart::ToolCall { id: id.into(), name: "run".into(), input: ToolInput::Json(serde_json::json!({})) }
    }

    fn result(call: &str) -> EntryPart {
        EntryPart::ToolResult {
            call: call.into(),
            content: vec![EntryPart::text(format!("{call} done"))],
            is_error: None,
        }
    }

    /// Writes a dialogue in one line: speakers, texts, `+call` and `-result`.
    fn line(dialogue: &Dialogue) -> String {
        let part = |part: &EntryPart| match part {
            EntryPart::ToolCall { id, .. } => format!("+{id}"),
            EntryPart::ToolResult { call, is_error: Some(true), .. } => format!("-{call}!"),
            EntryPart::ToolResult { call, .. } => format!("-{call}"),
            other => text_of(std::slice::from_ref(other)),
        };
        let turn = |turn: &Turn| {
            let speaker = if turn.speaker == Speaker::User { "u" } else { "a" };
            format!("{speaker}({})", turn.parts.iter().map(part).collect::<Vec<_>>().join(" "))
        };
        dialogue.turns.iter().map(turn).collect::<Vec<_>>().join(" ")
    }

    fn user(parts: Vec<EntryPart>) -> Entry {
        Entry::new(Role::User, parts)
    }

    fn assistant(parts: Vec<EntryPart>) -> Entry {
        Entry::new(Role::Assistant, parts)
    }

    #[test]
    fn what_one_side_says_in_a_row_is_one_turn() {
        let entries = vec![
            user(vec![EntryPart::text("q")]),
            assistant(vec![EntryPart::text("a")]),
            assistant(vec![EntryPart::text("b")]),
            user(vec![EntryPart::text("c")]),
        ];
        assert_eq!(line(&Dialogue::of(entries)), "u(q) a(a b) u(c)");
    }

    #[test]
    fn results_follow_their_calls_however_late_and_interleaved_they_were_written() {
        let entries = vec![
            user(vec![EntryPart::text("q")]),
            assistant(vec![call("1")]),
            user(vec![result("1")]),
            assistant(vec![call("2"), call("3")]),
            user(vec![result("3")]),
            user(vec![EntryPart::text("hurry"), result("2")]),
            assistant(vec![EntryPart::text("done")]),
        ];
        assert_eq!(line(&Dialogue::of(entries)), "u(q) a(+1) u(-1) a(+2 +3) u(-2 -3 hurry) a(done)");
    }

    #[test]
    fn a_call_without_a_result_gets_one_and_a_result_without_a_call_becomes_text() {
        let entries = vec![user(vec![result("0"), EntryPart::text("q")]), assistant(vec![call("1")])];
        let dialogue = Dialogue::of(entries);
        assert_eq!(line(&dialogue), "u([result of a tool]\n0 done q) a(+1) u(-1!)");
        let losses: Vec<_> = dialogue.losses.counts().iter().map(|count| (count.loss, count.count)).collect();
        assert_eq!(losses, [(LossKind::ResultAsText, 1), (LossKind::ResultInvented, 1)]);
    }

    #[test]
    fn calls_with_one_id_are_as_many_as_there_are() {
        let ask = |id: &str, what: &str| EntryPart::ToolCall {
            id: id.into(),
            name: "run".into(),
            input: ToolInput::Json(serde_json::json!({ "what": what })),
        };
        let entries = vec![
            user(vec![EntryPart::text("q")]),
            assistant(vec![ask("0", "a"), ask("0", "a")]),
            user(vec![result("0"), result("0")]),
            assistant(vec![ask("0", "b"), ask("0", "c")]),
            user(vec![result("0"), result("0")]),
            assistant(vec![ask("0", "c")]),
            user(vec![result("0")]),
        ];
        let dialogue = Dialogue::of(entries);
        // One that is written twice before its answer comes is one.
        assert_eq!(line(&dialogue), "u(q) a(+0) u(-0) a(+0_2 +0_3) u(-0_2 -0_3) a(+0_4) u(-0_4)");
        let losses: Vec<_> = dialogue.losses.counts().iter().map(|count| (count.loss, count.count)).collect();
        assert_eq!(losses, [(LossKind::IdChanged, 3)]);
    }

    #[test]
    fn instructions_stand_above_or_become_text_and_synthetic_messages_go() {
        let synthetic = Flags { synthetic: true, ..Flags::default() };
        let entries = vec![
            Entry::new(Role::System, vec![EntryPart::text("be brief")]),
            Entry { flags: synthetic, ..assistant(vec![EntryPart::text("API error")]) },
            assistant(vec![EntryPart::text("a")]),
            Entry::new(Role::System, vec![EntryPart::text("be kind")]),
        ];
        let dialogue = Dialogue::of(entries);
        assert_eq!(dialogue.system, ["be brief"]);
        assert_eq!(line(&dialogue), "u([the conversation starts here]) a(a) u(be kind)");
    }

    fn any_part() -> impl Strategy<Value = EntryPart> {
        let id = || prop::sample::select(&["1", "2", "3"]);
        prop_oneof![id().prop_map(call), id().prop_map(result), "[a-z ]{0,2}".prop_map(EntryPart::text)]
    }

    proptest! {
        #[test]
        fn whatever_comes_in_the_shape_holds(
            entries in vec((prop::sample::select(&[Role::User, Role::Assistant, Role::Tool, Role::System]), vec(any_part(), 0..4)), 0..12)
        ) {
            let dialogue = Dialogue::of(entries.into_iter().map(|(role, parts)| Entry::new(role, parts)).collect());
            let mut asked: Vec<&str> = Vec::new();
            for (n, turn) in dialogue.turns.iter().enumerate() {
                let expected = if n % 2 == 0 { Speaker::User } else { Speaker::Assistant };
                prop_assert_eq!(turn.speaker, expected);
                prop_assert!(!turn.parts.is_empty());
                let answered: Vec<&str> = turn.parts.iter().filter_map(|part| match part {
                    EntryPart::ToolResult { call, .. } => Some(call.as_str()),
                    _ => None,
                }).collect();
                prop_assert_eq!(&answered, &asked);
                let is_result = |part: &EntryPart| matches!(part, EntryPart::ToolResult { .. });
                prop_assert!(turn.parts[..answered.len()].iter().all(is_result));
                asked = turn.parts.iter().filter_map(|part| match part {
                    EntryPart::ToolCall { id, .. } => Some(id.as_str()),
                    _ => None,
                }).collect();
            }
            prop_assert!(asked.is_empty());
        }
    }
}
