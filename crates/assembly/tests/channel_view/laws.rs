//! What holds of every view.

use std::collections::BTreeSet;

use contexture_assembly::channel_view::{ViewEntry, ViewOrigin, ViewPart, ViewedChannel};
use contexture_core::{ConversationPhase, MessageSequence};
use proptest::{bool, collection::vec, option, prelude::*, prop_assert, prop_assert_eq, sample::select};
use serde_json::json;

use crate::room::{Room, in_thread, is_raw, only_to};

/// What happens in a channel.
#[derive(Debug, Clone)]
enum Event {
    /// Somebody says something.
    Said { sender: &'static str, to: Option<&'static str>, how: u8, phase: Option<&'static str> },
    /// The viewer has a turn for the last message, answers so many times, and acknowledges it or not.
    Turn { answers: usize, during: usize, is_acknowledged: bool },
}

fn event() -> impl Strategy<Value = Event> {
    let said = (
        select(vec!["ada", "planner", "dev", "tester", "stranger"]),
        option::weighted(0.3, select(vec!["dev", "planner"])),
        0u8..8,
        option::weighted(0.2, select(vec!["plan", "execute"])),
    )
        .prop_map(|(sender, to, how, phase)| Event::Said { sender, to, how, phase });
    let turn = (0usize..3, 0usize..3, bool::weighted(0.8)).prop_map(|(answers, during, is_acknowledged)| Event::Turn {
        answers,
        during,
        is_acknowledged,
    });
    prop_oneof![4 => said, 1 => turn]
}

/// Has the events happen; returns what the viewer, dev, was told in each turn, and whether it was acknowledged.
fn happened(events: &[Event]) -> (Room, Vec<(ViewedChannel, u64, u64, bool)>) {
    let mut room = Room::new();
    room.limit_to("tester", "t1");
    let mut views = Vec::new();
    for event in events {
        match event {
            Event::Said { sender, to, how, phase } => {
                let number = room.messages.len();
                let message = match how {
                    0 => room.data(sender, "TOOL_CALL", None, json!({"call": format!("c{number}"), "name": "read"})),
                    1 => room.data(
                        sender,
                        "TOOL_RESULT",
                        None,
                        json!({"call": format!("c{}", number.saturating_sub(1)), "content": "r"}),
                    ),
                    2 => room.data(sender, "COMPLETION", Some("done"), json!({"n": number})),
                    3 => room.say(sender, " "),
                    _ => room.tell(sender, to.as_slice(), &format!("text {number}")),
                };
                match how {
                    4 => is_raw(message),
                    5 => in_thread(message, "t1"),
                    6 if to.is_some() => only_to(message, "planner"),
                    _ => {}
                }
                message.record.header.phase = phase.map(|phase| ConversationPhase::new(phase).unwrap());
            }
            Event::Turn { answers, during, is_acknowledged } => {
                let last = room.messages.len() as u64;
                let after = room.turns.last().map(|turn| turn.through.get());
                if last <= after.unwrap_or(0) {
                    continue;
                }
                views.push((room.view_of("dev", last, last), last, last, *is_acknowledged));
                for n in 0..*during {
                    room.say("planner", &format!("meanwhile {n}"));
                }
                for n in 0..*answers {
                    room.say("dev", &format!("answer {n}"));
                }
                if *is_acknowledged {
                    room.done(after, last, last);
                }
            }
        }
    }
    (room, views)
}

/// What an entry says to a model, and where it stands.
fn told(entry: &ViewEntry) -> String {
    let ViewEntry { position, .. } = entry;
    format!("{position:?} {:?} {:?} {:?} {}", entry.kind(), entry.title(), entry.content(), entry.id("c"))
}

fn sequences(viewed: &ViewedChannel) -> Vec<MessageSequence> {
    viewed.entries.iter().flat_map(ViewEntry::sequences).collect()
}

proptest! {
    /// No message is told twice, each is told or left out with a reason, and the one to answer is the last.
    #[test]
    fn every_message_is_told_once_or_left_out_with_a_reason(events in vec(event(), 1..40)) {
        let (_, views) = happened(&events);
        for (viewed, through, trigger, _) in views {
            let told = sequences(&viewed);
            let once: BTreeSet<_> = told.iter().copied().collect();
            prop_assert_eq!(once.len(), told.len(), "{:?}", viewed);
            let omitted: BTreeSet<_> = viewed.omitted.iter().map(|omission| omission.sequence).collect();
            prop_assert_eq!(omitted.len(), viewed.omitted.len(), "{:?}", viewed);
            let all: BTreeSet<u64> = once.union(&omitted).map(|sequence| sequence.get()).collect();
            prop_assert_eq!(all, (1..=through).collect::<BTreeSet<_>>());
            let last = viewed.entries.last().unwrap();
            prop_assert_eq!(last.part, ViewPart::Trigger);
            let is_trigger = matches!(&last.origin, ViewOrigin::Message { sequence, .. } if sequence.get() == trigger);
            prop_assert!(is_trigger, "{:?}", last);
        }
    }

    /// The entries stand at places that grow, and no two have the same id.
    #[test]
    fn the_places_of_entries_grow(events in vec(event(), 1..40)) {
        for (viewed, ..) in happened(&events).1 {
            prop_assert!(viewed.entries.is_sorted_by(|one, two| one.position < two.position), "{:?}", viewed);
            let ids: BTreeSet<String> = viewed.entries.iter().map(|entry| entry.id("c")).collect();
            prop_assert_eq!(ids.len(), viewed.entries.len());
        }
    }

    /// What an agent is told begins with what it was told in the turn before that it acknowledged.
    #[test]
    fn a_view_begins_with_the_one_before(events in vec(event(), 1..60)) {
        let mut before: Vec<String> = Vec::new();
        for (viewed, _, _, is_acknowledged) in happened(&events).1 {
            let now: Vec<String> = viewed.entries.iter().map(told).collect();
            prop_assert!(now.starts_with(&before), "{:#?} does not begin with {:#?}", now, before);
            if is_acknowledged {
                before = now;
            }
        }
    }

    /// Whoever reads only the newest messages is told the end of what whoever reads all is told.
    #[test]
    fn less_that_is_read_is_the_end_of_more(events in vec(event(), 1..60), first in 1u64..40) {
        let (room, _) = happened(&events);
        let last = room.messages.len() as u64;
        let after = room.turns.last().map_or(0, |turn| turn.through.get());
        prop_assume!(first <= last && after < last);
        let name = |entry: &ViewEntry| entry.id("c");
        let is_message = |entry: &&ViewEntry| !matches!(entry.origin, ViewOrigin::Phase { .. });
        let all: Vec<String> = room.view_of("dev", last, last).entries.iter().filter(is_message).map(name).collect();
        let viewed = room.view_from("dev", first, last, last);
        let some: Vec<String> = viewed.entries.iter().filter(is_message).map(name).collect();
        // A block that was not read whole has its edges, and no hole in it.
        let inside: Vec<&String> = some.iter().filter(|id| !id.ends_with(":away:begin")).collect();
        let all: Vec<&String> = all.iter().filter(|id| !id.ends_with(":away:begin")).collect();
        prop_assert!(all.ends_with(&inside), "{:#?} does not end with {:#?}", all, inside);
    }
}
