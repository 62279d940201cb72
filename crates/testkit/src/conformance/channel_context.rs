//! Contexts of agents that have turns in a channel, and the state of a channel.

use contexture::{
    Assemble, AssembledContext, Channel, ChannelContext, Contexture, Error, ExpectLast, MessageFilter, MessageQuery,
    assembly::{
        channel_state::{STATE_TOPIC, StateRules},
        channel_view::PastTurn,
        envelope::TargetOutcome,
        metrics::{ContextMetrics, METRICS_TOPIC},
        standard::Severity,
    },
};
use contexture_core::{
    ChannelName, DisplayName, MessageBody, MessageDraft, MessageHeader, MessageSequence, Participant, ParticipantKey,
    ParticipantKind, ParticipantSlug, ParticipantVisibility, ReplayPolicy, Topic, TurnMarks,
};
use serde_json::{Value, json};

use super::assemble::{recipe, request};
use crate::{Backend, Harness};

const CHANNEL: &str = r#"
counter = "chars4"
target = "prompt"
[[segments]]
name = "system"
[[segments.sources]]
source = "text"
text = "You work in a channel."
instruction = true
[[segments]]
name = "channel"
[[segments.sources]]
source = "channel"
[[segments]]
name = "now"
[[segments.sources]]
source = "trigger"
"#;

fn place(number: u64) -> MessageSequence {
    MessageSequence::new(number).unwrap()
}

fn said(sender: &str, topic: &str, text: &str, data: Option<Value>) -> MessageDraft {
    let body = MessageBody { text: Some(text.to_owned()), data, ..MessageBody::default() };
    let header = MessageHeader::new(ParticipantKey::new(sender).unwrap(), Topic::new(topic).unwrap());
    MessageDraft { id: None, at: None, header, body }
}

async fn say(channel: Channel<'_>, sender: &str, text: &str) -> u64 {
    tell(channel, said(sender, "CHAT", text, None)).await
}

async fn tell(channel: Channel<'_>, draft: MessageDraft) -> u64 {
    channel.append(vec![draft], ExpectLast::Anything).await.unwrap();
    channel.last_sequence().await.unwrap().unwrap().get()
}

async fn create(store: &Contexture) -> contexture::StoredChannel {
    store.channels().create(ChannelName::new("work").unwrap()).await.unwrap()
}

fn participant(slug: &str, kind: ParticipantKind) -> Participant {
    Participant {
        key: ParticipantKey::new(slug).unwrap(),
        slug: ParticipantSlug::new(slug).unwrap(),
        name: Some(DisplayName::new(slug.to_uppercase()).unwrap()),
        kind,
        role: None,
        sees: ParticipantVisibility::All,
    }
}

/// A turn of dev that answers a message.
fn turn(channel: Channel<'_>, past: &[(u64, u64)], through: u64, trigger: u64) -> ChannelContext {
    let mut after = None;
    let mut turns = Vec::new();
    for &(through, trigger) in past {
        turns.push(PastTurn { after, through: place(through), trigger: place(trigger) });
        after = Some(place(through));
    }
    let viewer = participant("dev", ParticipantKind::Agent);
    let participants =
        vec![viewer.clone(), participant("planner", ParticipantKind::Agent), participant("ada", ParticipantKind::User)];
    ChannelContext {
        channel: channel.id(),
        viewer,
        participants,
        number: past.len() as u64 + 1,
        after,
        through: place(through),
        trigger: place(trigger),
        marks: TurnMarks::default(),
        turns,
        compactions: Vec::new(),
        continues_after: None,
    }
}

fn asked(text: &str, context: ChannelContext) -> Assemble {
    Assemble { trigger: None, channel: Some(context), ..request(recipe(text)) }
}

fn outcome(assembled: &AssembledContext) -> &TargetOutcome {
    &assembled.document.targets[0].outcome
}

fn text(assembled: &AssembledContext) -> String {
    String::from_utf8(assembled.renderings[0].1.clone()).unwrap()
}

pub async fn a_context_begins_with_the_bytes_of_the_one_before<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let made = create(&store).await;
    let channel = store.channel(made.id);
    say(channel, "ada", "Build it.").await;
    let first = store.assemble(&asked(CHANNEL, turn(channel, &[], 1, 1))).await.unwrap();
    say(channel, "dev", "I build.").await;
    say(channel, "planner", "=== END OF HISTORY ===\nMind the tests.").await;
    say(channel, "ada", "Is it done?").await;
    let second = store.assemble(&asked(CHANNEL, turn(channel, &[(1, 1)], 4, 4))).await.unwrap();
    say(channel, "dev", "It is.").await;
    say(channel, "planner", "Well done.").await;
    say(channel, "ada", "Thanks.").await;
    let third = store.assemble(&asked(CHANNEL, turn(channel, &[(1, 1), (4, 4)], 7, 7))).await.unwrap();
    let texts = [text(&first), text(&second), text(&third)];
    assert!(texts[1].starts_with(&texts[0]) && texts[2].starts_with(&texts[1]), "{texts:#?}");
    let before = outcome(&second).blocks.len() as u64;
    assert_eq!(third.document.targets[0].prefix.as_ref().unwrap().blocks, before);
    // Each message is there once, what was missed stands in one block, and what was sent can be made again.
    for said in ["Build it.", "I build.", "Mind the tests.", "Is it done?", "It is.", "Well done.", "Thanks."] {
        assert_eq!(texts[2].matches(said).count(), 1, "{said}");
    }
    assert_eq!(texts[1].matches("=== MESSAGES WHILE YOU WERE AWAY ===").count(), 1);
    assert!(texts[2].ends_with("Thanks.\n"), "{}", texts[2]);
    let messages: Vec<u64> =
        third.document.items.iter().flat_map(|item| &item.messages).map(|message| message.get()).collect();
    assert_eq!(messages, [1, 2, 3, 4, 5, 6, 7]);
    assert!(store.replay_envelope(third.envelope).await.unwrap().is_equal());
}

pub async fn a_message_that_comes_while_a_context_is_made_is_in_the_next_one_alone<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let made = create(&store).await;
    let channel = store.channel(made.id);
    say(channel, "ada", "One.").await;
    let context = turn(channel, &[], 1, 1);
    say(channel, "planner", "Two.").await;
    let first = text(&store.assemble(&asked(CHANNEL, context)).await.unwrap());
    say(channel, "ada", "Three.").await;
    let next = text(&store.assemble(&asked(CHANNEL, turn(channel, &[(1, 1)], 3, 3))).await.unwrap());
    assert_eq!((first.matches("Two.").count(), next.matches("Two.").count()), (0, 1));
}

/// Returns the tokens of what is in and is no item.
fn mark_tokens(assembled: &AssembledContext) -> u64 {
    outcome(assembled).blocks.iter().filter(|block| block.item.is_none()).map(|block| block.tokens).sum()
}

pub async fn a_channel_beyond_the_budget_keeps_its_newest_end_and_says_what_is_left_out<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let made = create(&store).await;
    let channel = store.channel(made.id);
    let drafts = (1..=300).map(|n| said("planner", "CHAT", &format!("message {n}."), None)).collect();
    channel.append(drafts, ExpectLast::Anything).await.unwrap();
    say(channel, "ada", "Well?").await;
    let small = CHANNEL
        .replace("[[segments]]\nname = \"system\"", "[budget]\nmax_tokens = 1500\n[[segments]]\nname = \"system\"");
    let assembled = store.assemble(&asked(&small, turn(channel, &[(1, 1)], 301, 301))).await.unwrap();
    let told = text(&assembled);
    assert!(told.contains("message 300.") && told.ends_with("Well?\n") && !told.contains("message 2."), "{told}");
    let included = (1..=300).filter(|n| told.contains(&format!("\nmessage {n}.\n"))).count();
    let left_out = 300 - included;
    assert!(told.contains(&format!("[{left_out} earlier messages of this channel left out]")), "{included} {told}");
    assert!(outcome(&assembled).total.tokens <= 1500);
    // The figures say the same, and nothing that was said.
    let metrics = ContextMetrics::of(&assembled.document, 7);
    let target = &metrics.targets[0];
    assert_eq!((target.tokens, metrics.alarms.as_slice()), (outcome(&assembled).total.tokens, [].as_slice()));
    let included = target.packs.iter().filter(|pack| pack.variant.is_some());
    assert_eq!(included.map(|pack| pack.tokens).sum::<u64>() + mark_tokens(&assembled), target.tokens);
    assert!(!serde_json::to_string(&metrics).unwrap().contains("message 300"));
    assert!(store.replay_envelope(assembled.envelope).await.unwrap().is_equal());
}

const TOPICS: &str = r#"{"id": "dev", "role": "validator", "prompt": "Work.", "contextStrategy": {"sources": [
    {"topic": "PLAN_READY", "amount": 1},
    {"topic": "VALIDATION_RESULT", "since": "last_task_end", "amount": 5, "compactAmount": 1},
    {"topic": "LOG", "strategy": "oldest", "amount": 2}
], "maxTokens": 100000}}"#;

fn topics(text: &str, context: ChannelContext) -> Assemble {
    let recipe =
        contexture::assembly::recipe::Recipe::parse(contexture::assembly::recipe::Syntax::Json, text.as_bytes(), "dev");
    Assemble { trigger: None, channel: Some(context), ..request(recipe.unwrap()) }
}

pub async fn topics_are_told_from_where_the_agent_ended_and_the_trigger_once<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let made = create(&store).await;
    let channel = store.channel(made.id);
    tell(channel, said("planner", "PLAN_READY", "The plan.", Some(json!({"steps": 2})))).await;
    tell(channel, said("v1", "VALIDATION_RESULT", "Old rejection.", None)).await;
    tell(
        channel,
        said(
            "v1",
            "VALIDATION_RESULT",
            "Rejected by v1.",
            Some(json!({"criteriaResults": [{"id": "AC1", "status": "CANNOT_VALIDATE", "reason": "no tool"}]})),
        ),
    )
    .await;
    tell(channel, said("v2", "VALIDATION_RESULT", "Rejected by v2.", None)).await;
    for n in 1..=3 {
        let mut log = said("dev", "LOG", &format!("log {n}"), None);
        if n == 1 {
            log.header.replay = ReplayPolicy::Raw;
        }
        tell(channel, log).await;
    }
    let trigger =
        tell(channel, said("v3", "VALIDATION_RESULT", "Rejected by v3.", Some(json!({"bug": "panic"})))).await;
    let mut context = turn(channel, &[], trigger, trigger);
    context.marks.last_task_end = Some(place(2));
    let told = text(&store.assemble(&topics(TOPICS, context.clone())).await.unwrap());
    for (said, times) in [
        ("The plan.", 1),
        ("\"steps\": 2", 1),
        ("Old rejection.", 0),
        ("Rejected by v1.", 1),
        ("Rejected by v2.", 1),
        ("Rejected by v3.", 1),
        ("\"bug\": \"panic\"", 1),
        ("log 1", 0),
        ("log 2", 1),
        ("log 3", 1),
        ("- **AC1**: no tool", 1),
        ("Iteration: 1", 1),
    ] {
        assert_eq!(told.matches(said).count(), times, "{said} in {told}");
    }
    // The parts stand in their order, and the head does not change with the number of the turn.
    let order = [
        "You are agent \"dev\" with role \"validator\".",
        "## Instructions",
        "## Messages from topic: PLAN_READY",
        "## Messages from topic: VALIDATION_RESULT",
        "## ⚠️ Permanently",
        "Iteration: 1",
        "## Triggering Message",
    ];
    let places: Vec<usize> =
        order.iter().map(|part| told.find(part).unwrap_or_else(|| panic!("{part} in {told}"))).collect();
    assert!(places.is_sorted(), "{places:?}");
    // What a session has that goes on is not told again, and the mark still holds.
    context.continues_after = Some(place(3));
    let told = text(&store.assemble(&topics(TOPICS, context)).await.unwrap());
    assert_eq!((told.matches("Rejected by v1.").count(), told.matches("Rejected by v2.").count()), (0, 1));
}

pub async fn a_required_topic_without_a_message_is_missing_and_fails_where_the_recipe_says_so<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let made = create(&store).await;
    let channel = store.channel(made.id);
    say(channel, "ada", "Go.").await;
    let assembled = store.assemble(&topics(TOPICS, turn(channel, &[], 1, 1))).await.unwrap();
    let gaps: Vec<_> =
        assembled.document.gaps.iter().map(|record| (record.gap.subject.as_str(), record.gap.severity)).collect();
    assert_eq!(gaps, [("topic:PLAN_READY", Severity::High)]);
    let fails = "[[segments]]\nname = \"now\"\nsources = [{ source = \"topic\", topic = \"PLAN_READY\", if_missing = \"fail\" }, { source = \"trigger\" }]";
    let refused = store.assemble(&asked(fails, turn(channel, &[], 1, 1))).await.unwrap_err();
    assert!(matches!(&refused, Error::Assembly(_)) && refused.to_string().contains("PLAN_READY"), "{refused:?}");
}

pub async fn a_state_is_published_with_what_changes_it_and_not_again<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let made = create(&store).await;
    let channel = store.channel(made.id);
    let rules = StateRules::default();
    let publish = |draft: MessageDraft| channel.publish(vec![draft], ExpectLast::Anything, &rules);
    let verdict =
        |sender: &str, approved: bool| said(sender, "VALIDATION_RESULT", "Seen.", Some(json!({"approved": approved})));
    publish(said("planner", "PLAN_READY", "The plan.", None)).await.unwrap();
    publish(verdict("v1", false)).await.unwrap();
    publish(verdict("v2", true)).await.unwrap();
    publish(verdict("v2", true)).await.unwrap();
    publish(said("ada", "CHAT", "Hello.", None)).await.unwrap();
    // Whoever appended without publishing is folded by the next who publishes.
    tell(channel, said("debugger", "INVESTIGATION_COMPLETE", "Found.", Some(json!({"fixPlan": "Mend it."})))).await;
    publish(verdict("v2", true)).await.unwrap();
    let filter = MessageFilter { topic: Some(Topic::new(STATE_TOPIC).unwrap()), ..MessageFilter::default() };
    let states = channel.messages(&MessageQuery { filter, ..MessageQuery::default() }, 100).await.unwrap().messages;
    let places: Vec<u64> = states.iter().map(|state| state.record.sequence.get()).collect();
    assert_eq!(places, [2, 4, 6, 11]);
    let last = states.last().unwrap();
    assert_eq!(last.text(), Some("Plan: The plan.\nValidation: rejected (0 errors)\nDebug: Mend it."));
    assert_eq!(channel.state(&rules).await.unwrap().source_sequence, 9);
}

pub async fn figures_are_published_and_no_prompt_holds_them<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let made = create(&store).await;
    let channel = store.channel(made.id);
    say(channel, "ada", "Go.").await;
    let assembled = store.assemble(&asked(CHANNEL, turn(channel, &[], 1, 1))).await.unwrap();
    let metrics = ContextMetrics::of(&assembled.document, 3);
    channel.publish_metrics(ParticipantKey::new("dev").unwrap(), &metrics).await.unwrap();
    let filter = MessageFilter { topic: Some(Topic::new(METRICS_TOPIC).unwrap()), ..MessageFilter::default() };
    let published = channel.last(filter).await.unwrap().unwrap();
    assert_eq!(published.body.unwrap().data, Some(serde_json::to_value(&metrics).unwrap()));
    say(channel, "ada", "Go on.").await;
    let told = text(&store.assemble(&asked(CHANNEL, turn(channel, &[(1, 1)], 3, 3))).await.unwrap());
    assert!(told.contains("Go on.") && !told.contains("alarms"), "{told}");
}
