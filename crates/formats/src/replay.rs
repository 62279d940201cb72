//! Replay: from the records of a session to what a model would see next.

use std::collections::{HashMap, HashSet};

use contexture_core::{Entry, EntryPart, Role};

use crate::codec::{Effect, Keep, RecordStep, Rewind};

/// Entries among which one is looked for that was written before the one that it follows.
const MAX_AHEAD: usize = 64;

/// A conversation as it stands after the records so far.
#[derive(Debug, Clone, Default)]
pub struct Replay {
    entries: Vec<Entry>,
    /// Where each entry came from first.
    origins: Vec<usize>,
    /// Where the entries with ids are.
    places: HashMap<String, usize>,
    /// What a boundary keeps, until the summary has come.
    held: Vec<KeptEntries>,
    /// The ids of what comes before and is not here; nothing when all is here.
    before: Option<HashSet<String>>,
    reaches_back: bool,
}

/// An entry and where it came from first.
type KeptEntries = (Entry, usize);

impl Replay {
    /// Starts with nothing, after entries with these ids that stay as they are.
    pub fn after(ids: HashSet<String>) -> Self {
        Self { before: Some(ids), ..Self::default() }
    }

    /// Tells whether a record did something to what comes before. Then what is here is not the rest of the conversation.
    pub fn reaches_back(&self) -> bool {
        self.reaches_back
    }

    /// Does to the conversation what a record says.
    pub fn take(&mut self, step: RecordStep) {
        self.take_from(0, step);
    }

    /// Does to the conversation what a record says that comes from somewhere.
    pub fn take_from(&mut self, origin: usize, step: RecordStep) {
        let RecordStep { effect, entries } = step;
        let entries = entries.into_iter().map(|entry| (entry, origin));
        match effect {
            Effect::Nothing => {}
            Effect::Append => entries.for_each(|said| self.append_in_order(said)),
            Effect::Continue => entries.for_each(|entry| self.go_on(entry)),
            Effect::Upsert => entries.for_each(|entry| self.upsert(entry)),
            Effect::Boundary(keep) => self.held = self.cut(&keep),
            Effect::Replace(keep) => {
                let kept = self.cut(&keep);
                self.append_all(entries);
                self.append_all(kept);
            }
            Effect::Rewind(rewind) => {
                self.rewind(&rewind);
                self.append_all(entries);
            }
        }
    }

    /// Returns what a model would see.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Returns what a model would see.
    pub fn into_entries(self) -> Vec<Entry> {
        self.entries
    }

    /// Returns what a model would see, each entry with where it came from first.
    pub fn into_entries_from(self) -> impl Iterator<Item = (usize, Entry)> {
        self.origins.into_iter().zip(self.entries)
    }

    fn append_all(&mut self, entries: impl IntoIterator<Item = KeptEntries>) {
        for entry in entries {
            self.append(entry);
        }
    }

    /// Adds an entry, unless one with its id is there: runtimes write some lines twice.
    fn append(&mut self, said: KeptEntries) {
        let end = self.entries.len();
        self.insert(end, said);
    }

    /// Adds an entry before what was written before it and says that it follows it.
    fn append_in_order(&mut self, said: KeptEntries) {
        let place = said.0.id.as_deref().map_or(self.entries.len(), |id| self.place_of(id));
        self.insert(place, said);
    }

    fn insert(&mut self, place: usize, (entry, origin): KeptEntries) {
        if let Some(id) = &entry.id {
            if self.places.contains_key(id) || self.is_before(id) {
                return;
            }
            let moved = self.entries[place..].iter().zip(place + 1..);
            for (id, at) in moved.filter_map(|(entry, at)| Some((entry.id.clone()?, at))) {
                self.places.insert(id, at);
            }
            self.places.insert(id.clone(), place);
        }
        self.entries.insert(place, entry);
        self.origins.insert(place, origin);
        if !self.held.is_empty() {
            let held = std::mem::take(&mut self.held);
            self.append_all(held);
        }
    }

    /// Returns where an entry belongs: at the end, or before what says that it follows it. Programs that write at the same
    /// time may write the result of a call before the call.
    fn place_of(&self, id: &str) -> usize {
        let from = self.entries.len().saturating_sub(MAX_AHEAD);
        let follows = |entry: &Entry| entry.parent.as_deref() == Some(id);
        self.entries[from..].iter().position(follows).map_or(self.entries.len(), |at| from + at)
    }

    fn go_on(&mut self, (entry, origin): KeptEntries) {
        match self.entries.last_mut() {
            Some(last) if last.role == entry.role => {
                let mut parts = entry.parts.into_iter();
                match (last.parts.last_mut(), parts.next()) {
                    (Some(EntryPart::Text { text }), Some(EntryPart::Text { text: more })) => text.push_str(&more),
                    (_, first) => last.parts.extend(first),
                }
                last.parts.extend(parts);
            }
            _ => self.append((entry, origin)),
        }
    }

    fn upsert(&mut self, (entry, origin): KeptEntries) {
        self.reaches_back |= entry.id.as_deref().is_some_and(|id| self.is_before(id));
        match entry.id.as_ref().and_then(|id| self.places.get(id)) {
            Some(&place) => self.entries[place] = entry,
            None => self.append((entry, origin)),
        }
    }

    fn is_before(&self, id: &str) -> bool {
        self.before.as_ref().is_some_and(|ids| ids.contains(id))
    }

    /// Empties the conversation and returns what is kept of it.
    fn cut(&mut self, keep: &Keep) -> Vec<KeptEntries> {
        self.reaches_back |= self.before.is_some();
        let before = std::mem::take(&mut self.entries).into_iter().zip(std::mem::take(&mut self.origins));
        self.places.clear();
        match keep {
            Keep::Nothing => Vec::new(),
            Keep::From(id) => before.skip_while(|(entry, _)| entry.id.as_ref() != Some(id)).collect(),
            Keep::Ids(ids) => {
                let ids: HashSet<&String> = ids.iter().collect();
                before.filter(|(entry, _)| entry.id.as_ref().is_some_and(|id| ids.contains(id))).collect()
            }
            Keep::Outside { first, last } => {
                let number = |entry: &Entry| entry.id.as_ref().and_then(|id| id.parse::<u64>().ok());
                before.filter(|(entry, _)| number(entry).is_none_or(|it| !(*first..=*last).contains(&it))).collect()
            }
            Keep::Users => before.filter(|(entry, _)| is_turn(entry)).collect(),
        }
    }

    fn rewind(&mut self, rewind: &Rewind) {
        let left = match rewind {
            Rewind::Before(id) => self.places.get(id).copied(),
            Rewind::Turns(0) => return,
            Rewind::Turns(turns) => {
                let starts = self.entries.iter().enumerate().filter(|(_, entry)| is_turn(entry));
                let back = usize::try_from(turns - 1).unwrap_or(usize::MAX);
                starts.rev().nth(back).map(|(place, _)| place)
            }
        };
        self.reaches_back |= left.is_none() && self.before.is_some();
        let left = left.unwrap_or(0);
        self.entries.truncate(left);
        self.origins.truncate(left);
        self.places.retain(|_, place| *place < left);
    }
}

/// Tells whether somebody asks here.
fn is_turn(entry: &Entry) -> bool {
    entry.role == Role::User && !entry.flags.meta && !entry.flags.compact_summary && !entry.text().is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(role: Role, id: &str) -> Entry {
        Entry { id: Some(id.to_owned()), ..Entry::new(role, vec![EntryPart::text(id)]) }
    }

    fn conversation(words: &str) -> Replay {
        let mut replay = Replay::default();
        for word in words.split_whitespace() {
            let role = if word.starts_with('u') { Role::User } else { Role::Assistant };
            replay.take(RecordStep::append(entry(role, word)));
        }
        replay
    }

    fn after(words: &str, effect: Effect, more: &[&str]) -> String {
        let mut replay = conversation(words);
        replay.take(RecordStep { effect, entries: more.iter().map(|word| entry(Role::User, word)).collect() });
        replay.entries().iter().map(Entry::text).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_line_that_is_there_twice_counts_once() {
        assert_eq!(after("u1 a1", Effect::Append, &["u1", "u2"]), "u1 a1 u2");
    }

    #[test]
    fn what_was_written_before_what_it_follows_comes_after_it() {
        let mut replay = Replay::default();
        for (n, (id, parent)) in [("u1", ""), ("r1", "a1"), ("a1", "u1"), ("a2", "r1")].into_iter().enumerate() {
            let said = Entry { parent: Some(parent.to_owned()), ..entry(Role::Assistant, id) };
            replay.take_from(n, RecordStep::append(said));
        }
        replay.take(RecordStep {
            effect: Effect::Upsert,
            entries: vec![Entry { parent: None, ..entry(Role::User, "r1") }],
        });
        let found: Vec<_> = replay.into_entries_from().map(|(origin, entry)| (origin, entry.text())).collect();
        assert_eq!(found, [(0, "u1".into()), (2, "a1".into()), (1, "r1".into()), (3, "a2".into())]);
    }

    #[test]
    fn an_update_keeps_its_place() {
        let mut replay = conversation("u1 a1 a2");
        let changed = Entry { id: Some("a1".into()), ..Entry::new(Role::Assistant, vec![EntryPart::text("new")]) };
        replay.take(RecordStep { effect: Effect::Upsert, entries: vec![changed] });
        assert_eq!(replay.entries().iter().map(Entry::text).collect::<Vec<_>>(), ["u1", "new", "a2"]);
    }

    #[test]
    fn what_comes_in_pieces_is_put_together() {
        assert_eq!(after("u1", Effect::Continue, &["u2"]), "u1u2");
        assert_eq!(after("u1 a1", Effect::Continue, &["u2", "u3"]), "u1 a1 u2u3");
        assert_eq!(after("", Effect::Continue, &["u1"]), "u1");
    }

    #[test]
    fn a_compaction_keeps_what_it_says() {
        assert_eq!(after("u1 a1 u2 a2", Effect::Replace(Keep::Nothing), &["s"]), "s");
        assert_eq!(after("u1 a1 u2 a2", Effect::Replace(Keep::From("u2".into())), &["s"]), "s u2 a2");
        assert_eq!(after("u1 a1 u2 a2", Effect::Replace(Keep::Ids(vec!["a1".into()])), &["s"]), "s a1");
        assert_eq!(after("u1 a1 u2 a2", Effect::Replace(Keep::Users), &["s"]), "s u1 u2");
    }

    #[test]
    fn what_a_boundary_keeps_follows_the_summary() {
        let mut replay = conversation("u1 a1 u2 a2");
        replay.take(RecordStep {
            effect: Effect::Boundary(Keep::Ids(vec!["u2".into(), "a2".into()])),
            entries: Vec::new(),
        });
        for word in ["s", "u3"] {
            replay.take(RecordStep::append(entry(Role::User, word)));
        }
        assert_eq!(replay.entries().iter().map(Entry::text).collect::<Vec<_>>(), ["s", "u2", "a2", "u3"]);
    }

    #[test]
    fn what_comes_before_is_not_touched_unnoticed() {
        let rest = |effect: Effect, ids: &[&str]| {
            let mut replay = Replay::after(["u1", "a1"].map(str::to_owned).into());
            for word in ["u2", "a2"] {
                let role = if word.starts_with('u') { Role::User } else { Role::Assistant };
                replay.take(RecordStep::append(entry(role, word)));
            }
            replay.take(RecordStep { effect, entries: ids.iter().map(|id| entry(Role::User, id)).collect() });
            let said = replay.entries().iter().map(Entry::text).collect::<Vec<_>>().join(" ");
            if replay.reaches_back() { "reaches back".to_owned() } else { said }
        };
        assert_eq!(rest(Effect::Append, &["u1", "u3"]), "u2 a2 u3", "a line that is there twice counts once");
        assert_eq!(rest(Effect::Upsert, &["u2"]), "u2 a2");
        assert_eq!(rest(Effect::Rewind(Rewind::Turns(1)), &[]), "");
        assert_eq!(rest(Effect::Rewind(Rewind::Before("a2".into())), &["u3"]), "u2 u3");
        let far = [
            (Effect::Upsert, "a1"),
            (Effect::Rewind(Rewind::Turns(2)), "u3"),
            (Effect::Rewind(Rewind::Before("a1".into())), "u3"),
            (Effect::Boundary(Keep::Nothing), ""),
            (Effect::Replace(Keep::Users), "u3"),
        ];
        for (effect, id) in far {
            assert_eq!(rest(effect.clone(), &[id]), "reaches back", "{effect:?}");
        }
    }

    #[test]
    fn going_back_forgets_what_came_after() {
        assert_eq!(after("u1 a1 u2 a2", Effect::Rewind(Rewind::Before("u2".into())), &["u3"]), "u1 a1 u3");
        assert_eq!(after("u1 a1 u2 a2", Effect::Rewind(Rewind::Turns(1)), &[]), "u1 a1");
        assert_eq!(after("u1 a1 u2 a2", Effect::Rewind(Rewind::Turns(9)), &[]), "");
        assert_eq!(after("u1 a1", Effect::Rewind(Rewind::Turns(0)), &[]), "u1 a1");
        assert_eq!(after("u1 a1", Effect::Rewind(Rewind::Before("x".into())), &["u2"]), "u2");
    }
}
