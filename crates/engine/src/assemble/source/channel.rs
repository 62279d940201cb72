//! A channel as an agent is told it: a conversation that is read from its newest end, no further than the budget reaches.

use contexture_assembly::{
    Digest, Hold, Item, ItemContent, ItemOrigin, RunPart, Voice,
    channel_view::{ChannelCompaction, ChannelView, DELEGATION_CHARS, PastTurn, ViewEntry, ViewPart, ViewedChannel},
    envelope::{Inputs, UnreadMessages},
    pipeline,
    recipe::{SourceInput, SourceKind},
    standard::{ContextKind, ItemId},
    topic_block,
};
use contexture_core::{AgentTurn, ChannelId, ChannelMessage, MessageSequence, Participant, TurnMarks};
use contexture_store::channel::{MessageOrder, MessageQuery, MessageReference};

use super::{Gathering, ItemDraft, Placed, origin};
use crate::{
    Contexture, Result,
    assemble::{Assemble, masked},
};

/// Messages that are read at first.
const FIRST_MESSAGES: u64 = 64;
/// How many times as many are read at most when those do not fill the budget.
const GROWTH: u64 = 8;
/// Messages that are looked at in all.
const MAX_MESSAGES: u64 = 100_000;

/// A turn of an agent in a channel, as far as a context is made of it.
#[derive(Debug, Clone)]
pub struct ChannelContext {
    /// The channel.
    pub channel: ChannelId,
    /// Whose turn it is.
    pub viewer: Participant,
    /// Who is registered.
    pub participants: Vec<Participant>,
    /// Which of the agent's turns it is.
    pub number: u64,
    /// What the agent had acknowledged before.
    pub after: Option<MessageSequence>,
    /// The last message that it is offered.
    pub through: MessageSequence,
    /// The message to answer.
    pub trigger: MessageSequence,
    /// Where its last turn had begun and ended.
    pub marks: TurnMarks,
    /// The turns that it acknowledged.
    pub turns: Vec<PastTurn>,
    /// What stands for messages that are not told any more.
    pub compactions: Vec<ChannelCompaction>,
    /// The last message that a session has which goes on: topics give what came after it.
    pub continues_after: Option<MessageSequence>,
}

impl ChannelContext {
    /// Describes a turn.
    pub fn of(turn: &AgentTurn, viewer: Participant, participants: Vec<Participant>, past: &[AgentTurn]) -> Self {
        Self {
            channel: turn.channel,
            viewer,
            participants,
            number: turn.number.get(),
            after: turn.after,
            through: turn.through,
            trigger: turn.trigger,
            marks: turn.marks,
            turns: past.iter().filter_map(PastTurn::of).collect(),
            compactions: Vec::new(),
            continues_after: None,
        }
    }
}

/// A channel of which the newest messages are read.
pub(in crate::assemble) struct ReadChannel {
    answer: ChannelMessage,
    /// In their order.
    messages: Vec<ChannelMessage>,
    /// Whether there are older ones.
    has_more: bool,
}

impl ReadChannel {
    /// Reads the message to answer and, where a recipe tells of the channel, the newest ones.
    pub(in crate::assemble) async fn start(engine: &Contexture, request: &Assemble) -> Result<Option<Self>> {
        let Some(context) = &request.channel else { return Ok(None) };
        let answer = engine.channel(context.channel).message(&MessageReference::Place(context.trigger)).await?;
        let mut read = Self { answer, messages: Vec::new(), has_more: true };
        if request.recipe.has(SourceKind::Channel) {
            read.more(engine, context, FIRST_MESSAGES).await?;
        }
        Ok(Some(read))
    }

    /// Reads until there are so many.
    async fn more(&mut self, engine: &Contexture, context: &ChannelContext, count: u64) -> Result<()> {
        while self.has_more && (self.messages.len() as u64) < count {
            let through = match self.messages.first() {
                None => Some(context.through),
                Some(first) => MessageSequence::new(first.record.sequence.get() - 1),
            };
            let Some(through) = through else {
                self.has_more = false;
                break;
            };
            let query = MessageQuery { through: Some(through), order: MessageOrder::Newest, ..MessageQuery::default() };
            let left = u32::try_from(count - self.messages.len() as u64).unwrap_or(u32::MAX);
            let page = engine.channel(context.channel).messages(&query, left).await?;
            self.has_more = page.has_more && !page.messages.is_empty();
            let older = page.messages.into_iter().rev();
            self.messages.splice(0..0, older);
        }
        Ok(())
    }

    fn view(&self, context: &ChannelContext) -> ViewedChannel {
        ChannelView {
            viewer: &context.viewer,
            participants: &context.participants,
            messages: &self.messages,
            after: context.after,
            through: context.through,
            answer: &self.answer,
            turns: &context.turns,
            compactions: &context.compactions,
            delegation_chars: DELEGATION_CHARS,
        }
        .make()
    }
}

/// Adds a channel to inputs, after all sources that are no conversation.
pub(in crate::assemble) async fn read(
    gathering: &mut Gathering<'_>,
    placed: &Placed<'_>,
    inputs: &mut Inputs,
) -> Result<()> {
    let (engine, request) = (gathering.engine, gathering.request);
    let (Some(context), Some(mut read)) = (&request.channel, gathering.channel.take()) else {
        gathering.gap("channel", "No channel was given that could be told.");
        return Ok(());
    };
    let allowed = match placed.source.input {
        SourceInput::Channel { max_messages: Some(max) } => max.min(MAX_MESSAGES),
        _ => MAX_MESSAGES,
    };
    let others = inputs.items.len();
    let mut count = FIRST_MESSAGES.min(allowed);
    loop {
        read.more(engine, context, count).await?;
        let viewed = read.view(context);
        inputs.items.truncate(others);
        gathering.prepared.truncate(others);
        let told = viewed.entries.iter().filter(|entry| entry.part != ViewPart::Trigger);
        inputs.items.extend(told.map(|entry| item(placed, context, entry)));
        inputs.unread_messages =
            (viewed.unread > 0).then_some(UnreadMessages { segment: placed.segment, messages: viewed.unread });
        if !read.has_more || count >= allowed {
            return Ok(());
        }
        gathering.prepared.update(inputs);
        engine.learn(gathering.counts, &mut gathering.prepared).await?;
        let fill = gathering.prepared.fill(inputs, placed.segment, gathering.counts);
        if fill > pipeline::FULL {
            return Ok(());
        }
        // A quarter more than by the rule of three, because messages differ.
        let enough = count.saturating_mul(pipeline::FULL).saturating_mul(5) / fill.saturating_mul(4).max(1);
        count = enough.max(count + 1).min(count.saturating_mul(GROWTH)).min(allowed);
    }
}

fn item(placed: &Placed<'_>, context: &ChannelContext, entry: &ViewEntry) -> Item {
    let id = entry.id(&context.channel.to_string());
    let content = entry.content();
    let json = serde_json::to_vec(&content).expect("content has text keys");
    let source = placed.source;
    Item {
        kind: source.kind.unwrap_or_else(|| entry.kind()),
        segment: placed.segment,
        place: entry.position.in_segment(),
        part: RunPart::Step(entry.position.number()),
        priority: source.priority,
        title: entry.title().or_else(|| source.title.clone()),
        origin: ItemOrigin {
            kind: "message".to_owned(),
            uri: id.clone(),
            digest: Digest::of(&json),
            hold: Hold::Pinned,
            commit: None,
        },
        id: ItemId::new(id).expect("ids of channels are not empty"),
        visibility: source.visibility.clone(),
        trust: source.trust.clone(),
        redaction: masked::redaction(&json),
        at: entry.at,
        sensitivity: source.sensitivity.clone(),
        media_type: None,
        replaces: None,
        messages: entry.sequences(),
        content,
        compact: None,
    }
}

impl Gathering<'_> {
    /// Returns the message to answer: as part of the channel where that is told, else by what it is about, after which
    /// of the agent's turns it is.
    pub(super) fn channel_trigger(&self, context: &ChannelContext) -> Vec<ItemDraft> {
        let Some(read) = &self.channel else { return Vec::new() };
        if self.request.recipe.has(SourceKind::Channel) {
            let viewed = read.view(context);
            let told = viewed.entries.into_iter().filter(|entry| entry.part == ViewPart::Trigger);
            return told.map(|entry| trigger(context, &entry)).collect();
        }
        let record = &read.answer.record;
        let iteration = format!("Iteration: {}", context.number);
        let iteration = ItemContent::Text { text: iteration, voice: Voice::User, fenced: false };
        let [about, said] = topic_block::trigger_content(&read.answer);
        let parts = [("trigger:iteration", Some(iteration)), ("trigger:about", about), ("trigger", said)];
        let draft = |(id, content): (&str, Option<ItemContent>)| {
            let content = content?;
            let json = serde_json::to_vec(&content).expect("content has text keys");
            let uri = format!("{}#{}", context.channel, record.sequence);
            Some(ItemDraft {
                id: id.to_owned(),
                kind: ContextKind::UserMessage,
                title: None,
                origin: origin("trigger", uri, &json, Hold::Pinned, None),
                content,
                compact: None,
                messages: if id == "trigger" { vec![record.sequence] } else { Vec::new() },
            })
        };
        parts.into_iter().filter_map(draft).collect()
    }
}

fn trigger(context: &ChannelContext, entry: &ViewEntry) -> ItemDraft {
    let id = entry.id(&context.channel.to_string());
    let content = entry.content();
    let json = serde_json::to_vec(&content).expect("content has text keys");
    ItemDraft {
        kind: entry.kind(),
        title: entry.title(),
        origin: origin("message", id.clone(), &json, Hold::Pinned, None),
        id,
        content,
        compact: None,
        messages: entry.sequences(),
    }
}
