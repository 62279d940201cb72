//! Turns: what was offered is frozen, what is acknowledged is done once, and nothing is lost on the way.

use std::time::Duration;

use contexture::{
    ChannelError, Contexture, Error, ExpectLast, MessageReference, NewTurn, StoreError,
    core::{
        AgentTurn, ChannelId, ChannelName, Mentions, MessageDraft, MessageReceiver, MessageSequence, MessageSession,
        Participant, ParticipantKey, ParticipantKind, ParticipantSlug, ParticipantVisibility, ReplayPolicy,
        RuntimeName, RuntimeSessionId, SpaceName, SummaryText, Thread, Topic, TurnEnding, TurnPlace, TurnRefusal,
    },
};

use crate::{Backend, Harness, assert_sound, journal};

const HOUR: Duration = Duration::from_hours(1);

fn key(text: &str) -> ParticipantKey {
    ParticipantKey::new(text).unwrap()
}

fn place(number: u64) -> MessageSequence {
    MessageSequence::new(number).unwrap()
}

fn participant(name: &str, kind: ParticipantKind) -> Participant {
    let slug = ParticipantSlug::new(name).unwrap();
    Participant { key: key(name), slug, name: None, kind, role: None, sees: ParticipantVisibility::All }
}

async fn room(store: &Contexture, name: &str) -> ChannelId {
    let id = store.channels().create(ChannelName::new(name).unwrap()).await.unwrap().id;
    let users = [participant("ada", ParticipantKind::User)];
    let agents = ["dev", "qa"].map(|name| participant(name, ParticipantKind::Agent));
    for one in users.into_iter().chain(agents) {
        assert!(store.channel(id).register(one.clone()).await.unwrap());
        assert!(!store.channel(id).register(one).await.unwrap());
    }
    id
}

fn draft(sender: &str, text: &str) -> MessageDraft {
    MessageDraft::text(key(sender), Topic::new("chat").unwrap(), text)
}

async fn say(store: &Contexture, channel: ChannelId, sender: &str, text: &str) {
    store.channel(channel).append(vec![draft(sender, text)], ExpectLast::Anything).await.unwrap();
}

fn turn_of(channel: ChannelId, agent: &str) -> NewTurn {
    NewTurn { channel, agent: key(agent), trigger: None, place: None, session: None, lifetime: HOUR }
}

async fn begin(store: &Contexture, channel: ChannelId, agent: &str) -> AgentTurn {
    store.begin_turn(turn_of(channel, agent)).await.unwrap().turn
}

async fn view(store: &Contexture, turn: &AgentTurn) -> Vec<String> {
    let channel = store.channel(turn.channel);
    let mut texts: Vec<String> = Vec::new();
    let mut after = None;
    loop {
        let page = channel.offered(turn, after, 3).await.unwrap();
        after = page.messages.last().map(|last| last.record.sequence);
        texts.extend(page.messages.iter().map(|message| message.text().unwrap().to_owned()));
        if !page.has_more || after.is_none() {
            break;
        }
    }
    let trigger = channel.message(&MessageReference::Place(turn.trigger)).await.unwrap();
    texts.push(format!("> {}", trigger.text().unwrap()));
    texts
}

fn refusal(error: Error) -> ChannelError {
    match error {
        Error::Store(StoreError::Channel(refusal)) => refusal,
        other => panic!("{other:?}"),
    }
}

fn turn_refusal(error: Error) -> TurnRefusal {
    match refusal(error) {
        ChannelError::Refused(refusal) => *refusal,
        other => panic!("{other:?}"),
    }
}

fn ack() -> TurnEnding {
    TurnEnding::Acknowledge { through: None }
}

fn fail() -> TurnEnding {
    TurnEnding::Fail { reason: SummaryText::new("no answer").unwrap() }
}

pub async fn participants_are_who_is_registered<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let id = room(&store, "c").await;
    let channel = store.channel(id);
    let taken = Participant { key: key("other"), ..participant("dev", ParticipantKind::User) };
    let error = channel.register(taken).await.unwrap_err();
    assert!(matches!(refusal(error), ChannelError::SlugTaken { by, .. } if by == key("dev")));
    let slug = ParticipantSlug::new("developer").unwrap();
    let changed = Participant { slug, ..participant("dev", ParticipantKind::Agent) };
    assert!(channel.register(changed.clone()).await.unwrap());
    let all = channel.participants().await.unwrap();
    assert_eq!(all.iter().map(|one| one.slug.as_str()).collect::<Vec<_>>(), ["ada", "developer", "qa"]);
    say(&store, id, "ada", "Go.").await;
    let error = store.begin_turn(turn_of(id, "stranger")).await.unwrap_err();
    assert!(matches!(refusal(error), ChannelError::NotParticipant { key: named, .. } if named == key("stranger")));
    let error = store.begin_turn(turn_of(id, "ada")).await.unwrap_err();
    assert!(matches!(refusal(error), ChannelError::NotAnAgent { .. }));
    assert_sound(&store, &SpaceName::new("default").unwrap()).await;
}

pub async fn a_turn_offers_what_is_new_and_is_acknowledged_once<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let id = room(&store, "c").await;
    let error = store.begin_turn(turn_of(id, "dev")).await.unwrap_err();
    assert!(matches!(refusal(error), ChannelError::NothingToAnswer { .. }));
    for (sender, text) in [("ada", "one"), ("qa", "two"), ("dev", "mine"), ("ada", "three")] {
        say(&store, id, sender, text).await;
    }
    let first = begin(&store, id, "dev").await;
    assert_eq!((first.trigger, first.through, first.after, first.delivery.get()), (place(4), place(4), None, 1));
    // What is said meanwhile belongs to the next turn.
    say(&store, id, "qa", "late").await;
    assert_eq!(view(&store, &first).await, ["one", "two", "> three"]);
    let before = store.channel(id).cursor(key("dev")).await.unwrap();
    assert_eq!((before.offered, before.injected, before.acknowledged), (Some(place(4)), None, None));
    let ended = store.finish_turn(first.id, ack()).await.unwrap();
    let records = journal(&store).await.len();
    assert_eq!(store.finish_turn(first.id, ack()).await.unwrap(), ended);
    assert_eq!(journal(&store).await.len(), records, "to end it once more changes nothing");
    assert!(matches!(turn_refusal(store.finish_turn(first.id, fail()).await.unwrap_err()), TurnRefusal::Over { .. }));
    let second = begin(&store, id, "dev").await;
    assert_eq!((second.after, second.delivery.get()), (Some(place(4)), 1));
    assert_eq!(second.marks.last_agent_start, Some(place(4)));
    assert_eq!(second.marks.last_task_end, Some(place(5)));
    assert_eq!(view(&store, &second).await, ["> late"]);
    store.finish_turn(second.id, ack()).await.unwrap();
    let again = NewTurn { trigger: Some(MessageReference::Place(place(4))), ..turn_of(id, "dev") };
    assert!(matches!(turn_refusal(store.begin_turn(again).await.unwrap_err()), TurnRefusal::Acknowledged { .. }));
    assert!(matches!(
        refusal(store.begin_turn(turn_of(id, "dev")).await.unwrap_err()),
        ChannelError::NothingToAnswer { .. }
    ));
    // The other agent has seen nothing yet.
    assert_eq!(view(&store, &begin(&store, id, "qa").await).await, ["one", "mine", "> three"]);
    let messages = store.channel(id).messages(&contexture::MessageQuery::default(), 10).await.unwrap().messages;
    let seen = store.channel(id).seen_by(&messages).await.unwrap();
    assert_eq!(
        (seen[0].offered_to.clone(), seen[0].acknowledged_by.clone()),
        (vec![key("dev"), key("qa")], vec![key("dev")])
    );
    assert_eq!(seen[1].offered_to, [key("dev")], "nobody is offered what it said");
    assert_sound(&store, &SpaceName::new("default").unwrap()).await;
}

pub async fn a_turn_is_held_until_it_ends_or_expires<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let (store, other) = (harness.open().await, harness.open_as("other", "default").await);
    let id = room(&store, "c").await;
    say(&store, id, "ada", "one").await;
    let first = begin(&store, id, "dev").await;
    let held = turn_refusal(other.begin_turn(turn_of(id, "dev")).await.unwrap_err());
    assert!(
        matches!(held, TurnRefusal::Held { turn, ref holder, .. } if turn == first.id && holder.as_str() == "tester")
    );
    let patience = Duration::from_millis(150);
    assert!(matches!(
        turn_refusal(other.begin_turn_within(turn_of(id, "dev"), patience).await.unwrap_err()),
        TurnRefusal::Held { .. }
    ));
    begin(&store, id, "qa").await;
    harness.clock.advance(HOUR);
    say(&store, id, "ada", "two").await;
    let begun = other.begin_turn(turn_of(id, "dev")).await.unwrap();
    assert_eq!(begun.expired.map(|turn| turn.id), Some(first.id));
    assert_eq!((begun.turn.delivery.get(), begun.turn.after, begun.turn.through), (2, None, place(2)));
    assert_eq!(view(&other, &begun.turn).await, ["one", "> two"]);
    assert_eq!(store.turn(first.id).await.unwrap().state.as_str(), "expired");
    assert!(matches!(turn_refusal(store.finish_turn(first.id, ack()).await.unwrap_err()), TurnRefusal::Over { .. }));
    // Who waits goes on as soon as it can.
    let waiting = tokio::spawn({
        let (store, new) = (store.clone(), turn_of(id, "dev"));
        async move { store.begin_turn_within(new, Duration::from_mins(1)).await }
    });
    other.finish_turn(begun.turn.id, fail()).await.unwrap();
    let third = waiting.await.unwrap().unwrap().turn;
    assert_eq!((third.delivery.get(), third.marks.last_agent_start), (3, None));
    // An expired turn that nobody replaced can still be finished.
    harness.clock.advance(HOUR * 2);
    assert_eq!(store.finish_turn(third.id, ack()).await.unwrap().state.as_str(), "acknowledged");
    assert_sound(&store, &SpaceName::new("default").unwrap()).await;
}

pub async fn a_cursor_goes_no_further_than_what_was_offered_and_back_with_a_reason<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let id = room(&store, "c").await;
    for text in ["one", "two", "three"] {
        say(&store, id, "ada", text).await;
    }
    let turn = begin(&store, id, "dev").await;
    say(&store, id, "ada", "four").await;
    let beyond = TurnEnding::Acknowledge { through: Some(place(4)) };
    assert!(matches!(
        turn_refusal(store.finish_turn(turn.id, beyond).await.unwrap_err()),
        TurnRefusal::NotOffered { .. }
    ));
    store.finish_turn(turn.id, TurnEnding::Acknowledge { through: Some(place(2)) }).await.unwrap();
    let turn = begin(&store, id, "dev").await;
    assert_eq!((view(&store, &turn).await, turn.delivery.get()), (vec!["three".to_owned(), "> four".to_owned()], 2));
    let reason = SummaryText::new("look again").unwrap();
    let channel = store.channel(id);
    let held = channel.rewind(key("dev"), Some(place(1)), &reason).await.unwrap_err();
    assert!(matches!(turn_refusal(held), TurnRefusal::Held { .. }));
    store.finish_turn(turn.id, ack()).await.unwrap();
    let forward = channel.rewind(key("dev"), Some(place(4)), &reason).await.unwrap_err();
    assert!(matches!(turn_refusal(forward), TurnRefusal::NotBack { .. }));
    let cursor = channel.rewind(key("dev"), Some(place(1)), &reason).await.unwrap();
    assert_eq!(cursor.rewound.map(|rewound| rewound.reason), Some(reason));
    let turn = begin(&store, id, "dev").await;
    assert_eq!(view(&store, &turn).await, ["two", "three", "> four"]);
    assert_sound(&store, &SpaceName::new("default").unwrap()).await;
}

pub async fn a_turn_is_about_what_is_for_the_agent<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let id = room(&store, "c").await;
    let thread = Thread::new("delegation").unwrap();
    let delegate = Participant {
        sees: ParticipantVisibility::Thread(thread.clone()),
        ..participant("delegate", ParticipantKind::Agent)
    };
    store.channel(id).register(delegate).await.unwrap();
    let mut drafts = ["mentioned", "whisper", "threaded", "raw", "plain"].map(|text| draft("ada", text));
    drafts[0].header.mentions = Mentions::new(vec![key("dev")]).unwrap();
    drafts[1].header.receiver = MessageReceiver::Participant(key("qa"));
    drafts[2].header.thread = Some(thread);
    drafts[3].header.replay = ReplayPolicy::Raw;
    store.channel(id).append(drafts.to_vec(), ExpectLast::Anything).await.unwrap();
    assert_eq!(view(&store, &begin(&store, id, "dev").await).await, ["threaded", "plain", "> mentioned"]);
    assert_eq!(view(&store, &begin(&store, id, "qa").await).await, ["mentioned", "threaded", "plain", "> whisper"]);
    assert_eq!(view(&store, &begin(&store, id, "delegate").await).await, ["> threaded"]);
    let error = store
        .begin_turn(NewTurn { trigger: Some(MessageReference::Place(place(2))), ..turn_of(id, "delegate") })
        .await
        .unwrap_err();
    assert!(matches!(refusal(error), ChannelError::NotForAgent { .. }));
    let unknown = NewTurn { trigger: Some(MessageReference::Place(place(9))), ..turn_of(id, "dev") };
    assert!(matches!(refusal(store.begin_turn(unknown).await.unwrap_err()), ChannelError::NoMessage { .. }));
}

pub async fn a_session_belongs_to_one_agent_channel_and_place<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let (one, two) = (room(&store, "one").await, room(&store, "two").await);
    let runtime = RuntimeName::new("claude-code").unwrap();
    let at = |directory: &str| TurnPlace { runtime: runtime.clone(), directory: SummaryText::new(directory).unwrap() };
    let session = |id: &str| RuntimeSessionId::new(id).unwrap();
    let naming = |id: &str| {
        let mut named = draft("ada", id);
        named.header.session = Some(MessageSession { runtime: runtime.clone(), id: session(id) });
        vec![named]
    };
    let run = async |channel: ChannelId, agent: &str, directory: &str, given: Option<&str>| {
        let new = NewTurn { place: Some(at(directory)), session: given.map(session), ..turn_of(channel, agent) };
        let turn = store.begin_turn(new).await?.turn;
        store.finish_turn(turn.id, ack()).await?;
        Ok::<_, Error>(turn.session.map(|session| session.as_str().to_owned()))
    };
    let elsewhere = |outcome: Result<Option<String>, Error>| {
        assert!(matches!(refusal(outcome.unwrap_err()), ChannelError::SessionElsewhere { .. }));
    };
    store.channel(one).append(naming("s1"), ExpectLast::Anything).await.unwrap();
    assert_eq!(run(one, "dev", "/src", None).await.unwrap().as_deref(), Some("s1"));
    say(&store, one, "ada", "next").await;
    assert_eq!(run(one, "dev", "/src", Some("s1")).await.unwrap().as_deref(), Some("s1"), "absent leaves it");
    // Another agent is about the same message, whose session is not its own.
    let new =
        NewTurn { place: Some(at("/src")), trigger: Some(MessageReference::Place(place(1))), ..turn_of(one, "qa") };
    elsewhere(store.begin_turn(new).await.map(|_| None));
    store.channel(one).append(naming("s2"), ExpectLast::Anything).await.unwrap();
    elsewhere(run(one, "dev", "/src", Some("s1")).await);
    assert_eq!(run(one, "dev", "/src", Some("s2")).await.unwrap().as_deref(), Some("s2"), "a newer one replaces it");
    say(&store, one, "ada", "elsewhere").await;
    elsewhere(run(one, "dev", "/other", Some("s2")).await);
    assert_eq!(run(one, "dev", "/other", None).await.unwrap(), None);
    store.channel(two).append(naming("s2"), ExpectLast::Anything).await.unwrap();
    elsewhere(run(two, "dev", "/src", None).await);
}

pub async fn of_many_that_begin_at_once_one_does<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let (one, other) = (harness.open().await, harness.open().await);
    let id = room(&one, "c").await;
    for round in 0..5 {
        say(&one, id, "ada", &format!("{round}")).await;
        let racing = (0..16).map(|number| {
            let store = if number % 2 == 0 { one.clone() } else { other.clone() };
            tokio::spawn(async move { store.begin_turn(turn_of(id, "dev")).await })
        });
        let mut begun = Vec::new();
        for outcome in racing.collect::<Vec<_>>() {
            match outcome.await.unwrap() {
                Ok(started) => begun.push(started.turn),
                Err(error) => assert!(matches!(turn_refusal(error), TurnRefusal::Held { .. })),
            }
        }
        assert_eq!(begun.len(), 1);
        assert_eq!(view(&one, &begun[0]).await, [format!("> {round}")]);
        other.finish_turn(begun[0].id, ack()).await.unwrap();
    }
    assert_sound(&one, &SpaceName::new("default").unwrap()).await;
}
