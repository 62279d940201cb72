//! Which call an id means, where several have the same one.

use std::collections::{HashMap, HashSet, VecDeque};

use contexture_core::ToolInput;

/// Calls without an answer that one is compared with.
const MAX_COMPARED: usize = 64;

/// The calls of a conversation so far.
#[derive(Debug, Default)]
pub(super) struct Calls {
    by_id: HashMap<String, SameId>,
    /// The ids that calls were given.
    given: HashSet<String>,
}

/// The calls that were written with one id.
#[derive(Debug, Default)]
struct SameId {
    /// Those without an answer, in their order.
    open: VecDeque<WaitingCall>,
    /// The one that was answered last.
    answered: Option<String>,
    count: usize,
}

#[derive(Debug)]
struct WaitingCall {
    given: String,
    name: String,
    input: ToolInput,
}

impl Calls {
    /// Takes a call and returns an id that no other one has; nothing when it is one that waits for its answer and was
    /// written again, as some runtimes do.
    pub(super) fn call(&mut self, id: &str, name: &str, input: &ToolInput) -> Option<String> {
        let same = self.by_id.entry(id.to_owned()).or_default();
        if same.open.iter().rev().take(MAX_COMPARED).any(|call| call.name == name && call.input == *input) {
            return None;
        }
        let mut given = id.to_owned();
        while !self.given.insert(given.clone()) {
            same.count += 1;
            given = format!("{id}_{}", same.count + 1);
        }
        same.open.push_back(WaitingCall { given: given.clone(), name: name.to_owned(), input: input.clone() });
        Some(given)
    }

    /// Returns the id that the call which an answer is for was given: the first that waits, or the last that was answered.
    pub(super) fn answer(&mut self, id: &str) -> Option<String> {
        let same = self.by_id.get_mut(id)?;
        if let Some(call) = same.open.pop_front() {
            same.answered = Some(call.given);
        }
        same.answered.clone()
    }
}
