//! A channel of a test.

use contexture_assembly::channel_view::{
    ChannelCompaction, ChannelView, DELEGATION_CHARS, PastTurn, ViewEntry, ViewPart, ViewedChannel,
};
use contexture_core::{
    ArtifactId, ChannelId, ChannelMessage, Mentions, MessageBody, MessageHeader, MessageId, MessageReceiver,
    MessageRecord, MessageSequence, Participant, ParticipantKey, ParticipantKind, ParticipantSlug,
    ParticipantVisibility, ReplayPolicy, Thread, Timestamp, Topic,
};
use serde_json::Value;

/// Messages and who is registered, as tests write them.
#[derive(Debug, Clone)]
pub(crate) struct Room {
    pub(crate) participants: Vec<Participant>,
    pub(crate) messages: Vec<ChannelMessage>,
    pub(crate) turns: Vec<PastTurn>,
    pub(crate) compactions: Vec<ChannelCompaction>,
}

pub(crate) fn at(sequence: u64) -> MessageSequence {
    MessageSequence::new(sequence).unwrap()
}

pub(crate) fn key(text: &str) -> ParticipantKey {
    ParticipantKey::new(text).unwrap()
}

fn participant(slug: &str, kind: ParticipantKind) -> Participant {
    let name = format!("{}{}", slug[..1].to_uppercase(), &slug[1..]);
    Participant {
        key: key(slug),
        slug: ParticipantSlug::new(slug).unwrap(),
        name: Some(contexture_core::DisplayName::new(name).unwrap()),
        kind,
        role: None,
        sees: ParticipantVisibility::All,
    }
}

impl Room {
    /// A user, ada, and the agents planner, dev and tester.
    pub(crate) fn new() -> Self {
        let agents = ["planner", "dev", "tester"].map(|slug| participant(slug, ParticipantKind::Agent));
        let participants = [participant("ada", ParticipantKind::User)].into_iter().chain(agents).collect();
        Self { participants, messages: Vec::new(), turns: Vec::new(), compactions: Vec::new() }
    }

    pub(crate) fn register(&mut self, slug: &str, kind: ParticipantKind) -> &mut Self {
        self.participants.push(participant(slug, kind));
        self
    }

    pub(crate) fn limit_to(&mut self, slug: &str, thread: &str) -> &mut Self {
        let known = self.participants.iter_mut().find(|known| known.slug.as_str() == slug).unwrap();
        known.sees = ParticipantVisibility::Thread(Thread::new(thread).unwrap());
        self
    }

    pub(crate) fn say(&mut self, sender: &str, text: &str) -> &mut ChannelMessage {
        self.push(sender, "CHAT", MessageBody { text: Some(text.to_owned()), ..MessageBody::default() })
    }

    pub(crate) fn tell(&mut self, sender: &str, mentions: &[&str], text: &str) -> &mut ChannelMessage {
        let message = self.say(sender, text);
        message.record.header.mentions = Mentions::new(mentions.iter().map(|slug| key(slug)).collect()).unwrap();
        message
    }

    pub(crate) fn data(&mut self, sender: &str, topic: &str, text: Option<&str>, data: Value) -> &mut ChannelMessage {
        self.push(
            sender,
            topic,
            MessageBody { text: text.map(str::to_owned), data: Some(data), ..MessageBody::default() },
        )
    }

    fn push(&mut self, sender: &str, topic: &str, body: MessageBody) -> &mut ChannelMessage {
        let sequence = at(self.messages.len() as u64 + 1);
        let header = MessageHeader::new(key(sender), Topic::new(topic).unwrap());
        let record = MessageRecord {
            channel: ChannelId::of(b"room"),
            sequence,
            id: MessageId::new(format!("m{sequence}")).unwrap(),
            at: Timestamp::from_micros(i64::try_from(sequence.get()).unwrap() * 1_000_000).unwrap(),
            header,
            content: ArtifactId::of(&body.encode()),
        };
        self.messages.push(ChannelMessage { record, body: Some(body) });
        self.messages.last_mut().unwrap()
    }

    /// Acknowledges a turn of the viewer that answered a message.
    pub(crate) fn done(&mut self, after: Option<u64>, through: u64, trigger: u64) -> &mut Self {
        self.turns.push(PastTurn { after: after.map(at), through: at(through), trigger: at(trigger) });
        self
    }

    /// Shows what an agent is told that answers the last message.
    pub(crate) fn view(&self, slug: &str) -> ViewedChannel {
        let last = self.messages.len() as u64;
        self.view_of(slug, last, last)
    }

    pub(crate) fn view_of(&self, slug: &str, through: u64, trigger: u64) -> ViewedChannel {
        self.view_from(slug, 1, through, trigger)
    }

    /// Shows it where only the messages from one on were read.
    pub(crate) fn view_from(&self, slug: &str, first: u64, through: u64, trigger: u64) -> ViewedChannel {
        let viewer = self.participants.iter().find(|known| known.slug.as_str() == slug).unwrap();
        let after = self.turns.last().map(|turn| turn.through);
        ChannelView {
            viewer,
            participants: &self.participants,
            messages: &self.messages[usize::try_from(first).unwrap() - 1..usize::try_from(through).unwrap()],
            after,
            through: at(through),
            answer: &self.messages[usize::try_from(trigger).unwrap() - 1],
            turns: &self.turns,
            compactions: &self.compactions,
            delegation_chars: DELEGATION_CHARS,
        }
        .make()
    }
}

/// Tells a view in lines: part, role, attribution, text.
pub(crate) fn lines(viewed: &ViewedChannel) -> Vec<String> {
    viewed.entries.iter().map(line).collect()
}

fn line(entry: &ViewEntry) -> String {
    let part = match entry.part {
        ViewPart::History => "",
        ViewPart::Away => "away ",
        ViewPart::Trigger => "trigger ",
    };
    let attribution = entry.attribution.as_ref().map(|by| format!(" [{by}]")).unwrap_or_default();
    let text = entry.text();
    let text = text.lines().next().unwrap_or_default();
    format!("{part}{}{attribution}: {text}", entry.role)
}

pub(crate) fn is_raw(message: &mut ChannelMessage) {
    message.record.header.replay = ReplayPolicy::Raw;
}

pub(crate) fn only_to(message: &mut ChannelMessage, slug: &str) {
    message.record.header.receiver = MessageReceiver::Participant(key(slug));
}

pub(crate) fn in_thread(message: &mut ChannelMessage, thread: &str) {
    message.record.header.thread = Some(Thread::new(thread).unwrap());
}
