//! Ids that stand for several messages or calls, as where somebody has put one word in the place of all that look secret.

use std::collections::HashSet;

use serde_json::Value;

/// Gives each message, and each call, an id that no other one has: the first keeps its own. Returns the ids of messages that
/// were repeated.
pub(super) fn make_distinct(messages: &mut [Value]) -> HashSet<String> {
    let (mut of_messages, mut of_calls) = (DistinctIds::default(), DistinctIds::default());
    for message in messages {
        if let Some(id) = message.pointer_mut("/info/id") {
            of_messages.take(id);
        }
        let parts = message.get_mut("parts").and_then(Value::as_array_mut);
        parts.into_iter().flatten().filter_map(|part| part.get_mut("callID")).for_each(|id| of_calls.take(id));
    }
    of_messages.repeated
}

#[derive(Default)]
struct DistinctIds {
    seen: HashSet<String>,
    repeated: HashSet<String>,
    /// How many ids were changed, which numbers the next one.
    changed: usize,
}

impl DistinctIds {
    fn take(&mut self, id: &mut Value) {
        let Value::String(id) = id else { return };
        if self.seen.insert(id.clone()) {
            return;
        }
        self.repeated.insert(id.clone());
        // The count grows with each change, so a document of one id takes time by its length only.
        while !self.seen.insert(format!("{id}_{}", self.changed + 2)) {
            self.changed += 1;
        }
        *id = format!("{id}_{}", self.changed + 2);
        self.changed += 1;
    }
}
