//! Channels: one ordered log for many, however many write and follow.

use contexture::{
    AppendedMessage, Channel, ChannelError, ChannelFilter, Contexture, Error, ExpectLast, Inserted, MessageFilter,
    MessageOrder, MessageQuery, MessageReference, PurgeTarget, StoreError, StoredChannel,
};
use contexture_core::{
    ChannelName, ChannelState, CommitId, ConversationPhase, JournalKind, Mentions, MessageBody, MessageDraft,
    MessageId, MessageReceiver, MessageSequence, ParticipantKey, ReplayPolicy, SpaceName, Thread, Topic,
};
use futures_util::future;

use crate::{Backend, Harness, assert_sound, instant, journal, noise};

const WRITERS: u64 = 40;
const FOLLOWERS: usize = 8;
const EACH: u64 = 5;

fn key(text: &str) -> ParticipantKey {
    ParticipantKey::new(text).unwrap()
}

fn place(number: u64) -> MessageSequence {
    MessageSequence::new(number).unwrap()
}

fn draft(sender: &str, topic: &str, text: &str) -> MessageDraft {
    MessageDraft::text(key(sender), Topic::new(topic).unwrap(), text)
}

fn called(id: &str, draft: MessageDraft) -> MessageDraft {
    MessageDraft { id: Some(MessageId::new(id).unwrap()), ..draft }
}

async fn create(store: &Contexture, name: &str) -> StoredChannel {
    store.channels().create(ChannelName::new(name).unwrap()).await.unwrap()
}

async fn append(channel: Channel<'_>, drafts: Vec<MessageDraft>) -> Vec<AppendedMessage> {
    channel.append(drafts, ExpectLast::Anything).await.unwrap()
}

async fn texts(channel: Channel<'_>, query: MessageQuery) -> Vec<String> {
    let page = channel.messages(&query, 1000).await.unwrap();
    page.messages.iter().map(|message| message.text().unwrap().to_owned()).collect()
}

fn refusal(error: Error) -> ChannelError {
    match error {
        Error::Store(StoreError::Channel(refusal)) => refusal,
        other => panic!("{other:?}"),
    }
}

pub async fn a_channel_is_made_found_listed_and_closed<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let release = create(&store, "team/release").await;
    let other = create(&store, "other").await;
    let taken = store.channels().create(ChannelName::new("other").unwrap()).await.unwrap_err();
    assert!(matches!(refusal(taken), ChannelError::NameTaken { channel, .. } if channel == other.id));
    let id = release.id.to_string();
    for text in ["team/release", &id, &id[..12], &id[4..12]] {
        assert_eq!(store.channels().find(text).await.unwrap(), release, "{text}");
    }
    for text in ["nothing", "chn-00", "chn-0000000000", ""] {
        let error = refusal(store.channels().find(text).await.unwrap_err());
        assert_eq!(error, ChannelError::NoSuchName(text.to_owned()));
    }
    let channel = store.channel(release.id);
    append(channel, vec![draft("ada", "chat", "one"), draft("ada", "chat", "two")]).await;
    let listed = store.channels().list(ChannelFilter::default(), None, 10).await.unwrap();
    let shown: Vec<_> = listed.iter().map(|one| (one.channel.id, one.last)).collect();
    assert_eq!(shown, [(other.id, None), (release.id, Some(place(2)))]);
    assert!(channel.set_state(ChannelState::Archived).await.unwrap());
    assert!(!channel.set_state(ChannelState::Archived).await.unwrap());
    assert_eq!(store.channels().list(ChannelFilter::default(), None, 10).await.unwrap().len(), 1);
    let all = ChannelFilter { with_archived: true };
    assert_eq!(store.channels().list(all, Some(other.seq), 10).await.unwrap().len(), 1);
    let error = channel.append(vec![draft("ada", "chat", "late")], ExpectLast::Anything).await.unwrap_err();
    assert!(matches!(refusal(error), ChannelError::Closed { state: ChannelState::Archived, .. }));
    assert_eq!(channel.last_sequence().await.unwrap(), Some(place(2)));
    let kinds: Vec<_> = journal(&store).await.into_iter().map(|record| record.kind).collect();
    let expected = [
        JournalKind::SpaceCreated,
        JournalKind::ChannelCreated,
        JournalKind::ChannelCreated,
        JournalKind::MessageAppended,
        JournalKind::MessageAppended,
        JournalKind::ChannelChanged,
    ];
    assert_eq!(kinds, expected);
    assert_sound(&store, &SpaceName::new("default").unwrap()).await;
}

pub async fn the_same_message_is_kept_once_and_another_under_its_id_is_refused<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let id = create(&store, "c").await.id;
    let channel = store.channel(id);
    let first = append(channel, vec![called("e1", draft("ada", "chat", "Go."))]).await;
    harness.clock.advance(std::time::Duration::from_mins(1));
    let again = append(channel, vec![called("e1", draft("ada", "chat", "Go."))]).await;
    assert_eq!((again[0].inserted, &again[0].record), (Inserted::AlreadyThere, &first[0].record));
    for other in [
        draft("ada", "chat", "Stop."),
        draft("bob", "chat", "Go."),
        draft("ada", "plan", "Go."),
        MessageDraft { at: Some(instant(7)), ..draft("ada", "chat", "Go.") },
    ] {
        let error = channel.append(vec![called("e1", other)], ExpectLast::Anything).await.unwrap_err();
        assert!(matches!(refusal(error), ChannelError::MessageConflict { sequence, .. } if sequence == place(1)));
    }
    let both = vec![called("e2", draft("ada", "chat", "Two.")), called("e2", draft("ada", "chat", "Two."))];
    let both = append(channel, both).await;
    assert_eq!((both[0].inserted, both[1].inserted), (Inserted::New, Inserted::AlreadyThere));
    // The same words without an id are said twice.
    append(channel, vec![draft("ada", "chat", "Go."), draft("ada", "chat", "Go.")]).await;
    assert_eq!(texts(channel, MessageQuery::default()).await, ["Go.", "Two.", "Go.", "Go."]);
    // Another channel knows nothing of it.
    let other = create(&store, "d").await.id;
    assert_eq!(append(store.channel(other), vec![called("e1", draft("x", "y", "z"))]).await[0].inserted, Inserted::New);
}

pub async fn a_batch_is_appended_whole_or_not_at_all<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let id = create(&store, "c").await.id;
    let channel = store.channel(id);
    append(channel, vec![called("e1", draft("ada", "chat", "one"))]).await;
    let batch = vec![draft("ada", "chat", "two"), called("e1", draft("ada", "chat", "other")), draft("a", "b", "c")];
    channel.append(batch, ExpectLast::Anything).await.unwrap_err();
    let large = MessageBody { text: Some("x".repeat(contexture_core::MAX_MESSAGE_BYTES)), ..MessageBody::default() };
    let batch = vec![draft("ada", "chat", "two"), MessageDraft { body: large, ..draft("ada", "chat", "") }];
    let error = channel.append(batch, ExpectLast::Anything).await.unwrap_err();
    assert!(matches!(refusal(error), ChannelError::LargeMessage { .. }));
    let many = (0..1001).map(|_| draft("ada", "chat", "x")).collect();
    let error = channel.append(many, ExpectLast::Anything).await.unwrap_err();
    assert!(matches!(refusal(error), ChannelError::LargeBatch { messages: 1001, .. }));
    assert_eq!(append(channel, Vec::new()).await, []);
    assert_eq!(channel.count(&MessageQuery::default()).await.unwrap(), 1);
    let batch: Vec<_> = (0..200).map(|number| draft("ada", "chat", &number.to_string())).collect();
    let places: Vec<u64> = append(channel, batch).await.iter().map(|one| one.record.sequence.get()).collect();
    assert_eq!(places, (2..=201).collect::<Vec<_>>());
    assert_eq!(texts(channel, MessageQuery { after: Some(place(1)), ..MessageQuery::default() }).await.len(), 200);
}

pub async fn an_append_may_ask_where_the_channel_ends<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let (store, other) = (harness.open().await, harness.open().await);
    let id = create(&store, "c").await.id;
    let (one, two) = (store.channel(id), other.channel(id));
    let error = one.append(vec![draft("a", "b", "c")], ExpectLast::At(place(1))).await.unwrap_err();
    assert!(matches!(refusal(error), ChannelError::Moved { expected: 1, last: 0, .. }));
    one.append(vec![called("e1", draft("a", "b", "c"))], ExpectLast::Nothing).await.unwrap();
    let race = || vec![draft("a", "b", "race")];
    let outcomes =
        future::join(one.append(race(), ExpectLast::At(place(1))), two.append(race(), ExpectLast::At(place(1)))).await;
    let outcomes = [outcomes.0, outcomes.1];
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1, "{outcomes:?}");
    // A retry is safe though the channel has gone on.
    one.append(vec![called("e1", draft("a", "b", "c"))], ExpectLast::Nothing).await.unwrap();
    assert_eq!(one.last_sequence().await.unwrap(), Some(place(2)));
}

pub async fn messages_are_found_by_what_they_are<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let id = create(&store, "c").await.id;
    let channel = store.channel(id);
    let mut drafts: Vec<MessageDraft> = (1..=6).map(|number| draft("ada", "chat", &number.to_string())).collect();
    drafts[1].header.topic = Topic::new("plan").unwrap();
    drafts[1].header.sender = key("bob");
    drafts[2].header.receiver = MessageReceiver::Participant(key("dev"));
    drafts[2].header.reply_to = Some(MessageId::new("e1").unwrap());
    drafts[3].header.mentions = Mentions::new(vec![key("dev"), key("qa")]).unwrap();
    drafts[3].header.thread = Some(Thread::new("t").unwrap());
    drafts[4].header.phase = Some(ConversationPhase::new("plan").unwrap());
    drafts[4].header.context_id = Some(CommitId::from_bytes([3; 16]));
    drafts[5].header.replay = ReplayPolicy::Raw;
    for (number, draft) in drafts.iter_mut().enumerate() {
        draft.at = Some(instant(10 - i64::try_from(number).unwrap()));
    }
    let appended = append(channel, drafts.clone()).await;
    let filter = MessageFilter::default;
    let cases = [
        (MessageFilter { topic: Some(Topic::new("chat").unwrap()), ..filter() }, "1 3 4 5 6"),
        (MessageFilter { sender: Some(key("bob")), ..filter() }, "2"),
        (MessageFilter { receiver: Some(key("dev")), ..filter() }, "3"),
        (MessageFilter { mention: Some(key("qa")), ..filter() }, "4"),
        (MessageFilter { mention: Some(key("ada")), ..filter() }, ""),
        (MessageFilter { thread: Some(Thread::new("t").unwrap()), ..filter() }, "4"),
        (MessageFilter { phase: Some(ConversationPhase::new("plan").unwrap()), ..filter() }, "5"),
        (MessageFilter { replay: Some(ReplayPolicy::Replayable), ..filter() }, "1 2 3 4 5"),
        (MessageFilter { since: Some(instant(8)), ..filter() }, "1 2 3"),
        (MessageFilter { until: Some(instant(8)), ..filter() }, "4 5 6"),
        (MessageFilter { mention: Some(key("dev")), topic: Some(Topic::new("chat").unwrap()), ..filter() }, "4"),
    ];
    for (filter, expected) in cases {
        let query = MessageQuery { filter: filter.clone(), ..MessageQuery::default() };
        assert_eq!(texts(channel, query.clone()).await.join(" "), expected, "{filter:?}");
        let count = expected.split_whitespace().count() as u64;
        assert_eq!(channel.count(&query).await.unwrap(), count, "{filter:?}");
        let last = channel.last(filter).await.unwrap();
        assert_eq!(last.as_ref().and_then(|last| last.text()), expected.split_whitespace().last());
    }
    let between = MessageQuery { after: Some(place(1)), through: Some(place(4)), ..MessageQuery::default() };
    assert_eq!(texts(channel, between.clone()).await, ["2", "3", "4"]);
    let newest = MessageQuery { order: MessageOrder::Newest, ..between };
    let page = channel.messages(&newest, 2).await.unwrap();
    assert_eq!((page.messages.len(), page.has_more, page.messages[0].record.sequence), (2, true, place(4)));
    for (text, expected) in [("3", 3), (appended[2].record.id.as_str(), 3)] {
        let message = channel.message(&text.parse::<MessageReference>().unwrap()).await.unwrap();
        assert_eq!((message.record.sequence, &message.record), (place(expected), &appended[2].record));
        assert_eq!((message.record.header, message.body), (drafts[2].header.clone(), Some(drafts[2].body.clone())));
    }
    for text in ["7", "e1"] {
        let error = channel.message(&text.parse::<MessageReference>().unwrap()).await.unwrap_err();
        assert!(matches!(refusal(error), ChannelError::NoMessage { message, .. } if message == text));
    }
}

pub async fn what_is_said_is_content_like_any_other<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let id = create(&store, "c").await.id;
    let channel = store.channel(id);
    let long = noise("long", 3_000_000);
    let data =
        serde_json::json!({"zero": 0, "no": false, "empty": "", "big": 9_007_199_254_740_993_u64, "list": [null]});
    let body = MessageBody { text: Some(long.clone()), data: Some(data), ..MessageBody::default() };
    let secret = "postgres://ada:correct-horse-7f3a9c@db.example.com/orders";
    let drafts = vec![
        MessageDraft { body: body.clone(), ..draft("ada", "chat", "") },
        draft("ada", "chat", secret),
        draft("ada", "chat", "to be purged"),
        draft("ada", "chat", "to be lost"),
    ];
    let appended = append(channel, drafts).await;
    let read = channel.messages(&MessageQuery::default(), 10).await.unwrap().messages;
    assert!(read[0].body.as_ref() == Some(&body), "a large body comes back as it was");
    let shown = read[1].text().unwrap();
    assert!(!shown.contains("correct-horse-7f3a9c"), "{shown}");
    let exact = store.exact().await.unwrap();
    assert_eq!(exact.channel(id).message(&MessageReference::Place(place(2))).await.unwrap().text(), Some(secret));
    let target = PurgeTarget::Artifact(appended[2].record.content);
    store.purge(&target, "asked for", &mut |_| {}).await.unwrap();
    let purged = channel.message(&MessageReference::Place(place(3))).await.unwrap();
    assert_eq!((purged.record, purged.body), (appended[2].record.clone(), None));
    assert_sound(&store, &SpaceName::new("default").unwrap()).await;
    let report = store.fsck(&mut |_| {}).await.unwrap();
    assert_eq!((report.checked.channels, report.checked.messages), (1, 4));
    assert_eq!(report.unreferenced.unwrap().artifacts, 0, "what messages hold is referred to");
    harness.backend.lose_artifact(appended[3].record.content).await;
    let problems = store.fsck(&mut |_| {}).await.unwrap().problems;
    assert!(problems.iter().any(|problem| problem.to_string().contains("message 4 of chn-")), "{problems:?}");
}

pub async fn every_follower_sees_every_message_once_and_in_order<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let (one, other) = (harness.open().await, harness.open().await);
    let id = create(&one, "c").await.id;
    let total = WRITERS * EACH;
    let followers = (0..FOLLOWERS).map(|number| {
        let store = if number % 2 == 0 { one.clone() } else { other.clone() };
        tokio::spawn(async move {
            let mut following = store.channel(id).follow(MessageFilter::default(), None);
            let mut seen = Vec::new();
            while (seen.len() as u64) < total {
                let page = following.next(7).await.unwrap();
                seen.extend(page.messages.into_iter().map(|message| (message.record.sequence, message.record.id)));
            }
            seen
        })
    });
    let followers: Vec<_> = followers.collect();
    let writers = (0..WRITERS).map(|writer| {
        let store = if writer % 2 == 0 { one.clone() } else { other.clone() };
        tokio::spawn(async move {
            for number in 0..EACH {
                let message = draft(&format!("w{writer}"), "chat", &format!("{writer}/{number}"));
                append(store.channel(id), vec![called(&format!("{writer}/{number}"), message)]).await;
            }
        })
    });
    for writer in writers.collect::<Vec<_>>() {
        writer.await.unwrap();
    }
    let all = one.channel(id).messages(&MessageQuery::default(), 1000).await.unwrap().messages;
    let expected: Vec<_> = all.into_iter().map(|message| (message.record.sequence, message.record.id)).collect();
    assert_eq!(
        expected.iter().map(|(sequence, _)| sequence.get()).collect::<Vec<_>>(),
        (1..=total).collect::<Vec<_>>()
    );
    for follower in followers {
        assert_eq!(follower.await.unwrap(), expected);
    }
}
