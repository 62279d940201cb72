//! Attribution: who speaks to whom, as a viewer sees it.

use std::collections::{HashMap, HashSet};

use contexture_core::{ChannelMessage, Participant, ParticipantKey, ParticipantKind};

use super::ViewRole;

/// Characters of an unknown key that are shown.
const KEY_CHARS: usize = 8;

/// Everybody who can be named, and who looks.
#[derive(Debug)]
pub(super) struct Cast<'c> {
    viewer: &'c Participant,
    known: HashMap<&'c ParticipantKey, &'c Participant>,
    /// Whether users are to be told apart, because more than one is registered.
    has_several_users: bool,
}

impl<'c> Cast<'c> {
    pub(super) fn new(viewer: &'c Participant, participants: &'c [Participant]) -> Self {
        let known = participants.iter().map(|participant| (&participant.key, participant)).collect();
        let users = participants.iter().filter(|participant| participant.kind == ParticipantKind::User);
        Self { viewer, known, has_several_users: users.count() > 1 }
    }

    /// Says who speaks. In a block of missed messages everybody is named.
    pub(super) fn of_message(&self, message: &ChannelMessage, in_block: bool) -> (ViewRole, Option<String>) {
        if message.record.header.sender == self.viewer.key {
            return (ViewRole::Assistant, None);
        }
        self.of_other(message, in_block)
    }

    /// Says who speaks in the message to answer, which may be the viewer's own.
    pub(super) fn of_trigger(&self, message: &ChannelMessage) -> (ViewRole, Option<String>) {
        if message.record.header.sender == self.viewer.key {
            return (ViewRole::Other, Some(format!("💬 You ({})", self.viewer.shown_name())));
        }
        self.of_other(message, false)
    }

    fn of_other(&self, message: &ChannelMessage, in_block: bool) -> (ViewRole, Option<String>) {
        let record = &message.record;
        let targets = self.targets(message);
        match self.known.get(&record.header.sender).map(|sender| sender.kind) {
            Some(ParticipantKind::User) => {
                let are_several = self.has_several_users;
                let is_elsewhere = targets.is_some() && !record.header.addresses(&self.viewer.key);
                let name = if are_several { self.speaker(&record.header.sender) } else { "🟢 USER".to_owned() };
                let is_named = in_block || are_several || is_elsewhere;
                (ViewRole::User, is_named.then(|| directed(&name, targets.filter(|_| is_elsewhere || in_block))))
            }
            Some(ParticipantKind::Agent) | None => {
                (ViewRole::Other, Some(directed(&self.speaker(&record.header.sender), targets)))
            }
        }
    }

    /// Names somebody who speaks.
    pub(super) fn speaker(&self, key: &ParticipantKey) -> String {
        match self.known.get(key) {
            Some(known) if known.kind == ParticipantKind::User => format!("🟢 USER {}", known.shown_name()),
            Some(known) => format!("💬 {}", known.shown_name()),
            None => format!("💬 Unknown ({})", short(key)),
        }
    }

    /// Names those to whom a message is said; nobody where it is said to all.
    fn targets(&self, message: &ChannelMessage) -> Option<String> {
        let header = &message.record.header;
        let named = header.receiver.key().into_iter().chain(header.mentions.as_slice());
        let mut once = HashSet::new();
        let mut named: Vec<&ParticipantKey> =
            named.filter(|key| **key != header.sender && once.insert((*key).clone())).collect();
        if named.is_empty() {
            return None;
        }
        // Whoever looks comes first: it matters most whether one is meant.
        named.sort_by_key(|key| **key != self.viewer.key);
        let name = |key: &ParticipantKey| match self.known.get(key) {
            _ if *key == self.viewer.key => "you".to_owned(),
            Some(known) => format!("@{}", known.shown_name()),
            None => format!("@{}", short(key)),
        };
        Some(named.into_iter().map(name).collect::<Vec<_>>().join(", "))
    }
}

fn directed(speaker: &str, targets: Option<String>) -> String {
    targets.map_or_else(|| speaker.to_owned(), |targets| format!("{speaker} → {targets}"))
}

fn short(key: &ParticipantKey) -> String {
    key.as_str().chars().take(KEY_CHARS).collect()
}
