//! Topics: messages of a channel by what they are about.

use contexture_assembly::{
    Hold, ItemContent, Priority,
    recipe::{IfMissing, Since, TopicEnd, TopicMark},
    standard::{ContextKind, Severity},
    topic_block::{self, VALIDATION_TOPIC},
};
use contexture_core::{ChannelMessage, MessageSequence, ParticipantKey, ReplayPolicy, Topic};
use contexture_store::channel::{MessageFilter, MessageOrder, MessageQuery};

use super::{ChannelContext, Gathering, ItemDraft, Placed, origin};
use crate::{AssemblyProblem, Result};

/// Messages that a source has at most.
const MAX_MESSAGES: u64 = 1000;
/// The newest results of validators in which is looked for what cannot be checked.
const MAX_RESULTS: u64 = 200;

/// Which messages a source takes.
pub(super) struct TopicSelection<'s> {
    pub(super) topic: &'s str,
    pub(super) sender: Option<&'s str>,
    pub(super) since: Option<Since>,
    /// With and without room: which end, and how many.
    pub(super) full: (TopicEnd, Option<u64>),
    pub(super) compact: (TopicEnd, u64),
    pub(super) if_missing: IfMissing,
}

impl TopicSelection<'_> {
    /// Says what comes of a topic that has no message.
    fn without_messages(&self) -> Result<Vec<ItemDraft>> {
        match self.if_missing {
            IfMissing::Note => Ok(Vec::new()),
            IfMissing::Fail => Err(AssemblyProblem::NoMessageOf { topic: self.topic.to_owned() }.into()),
        }
    }
}

impl Gathering<'_> {
    /// Returns the messages of a topic, and fewer of them for when there is little room.
    pub(super) async fn topic(
        &mut self,
        placed: &Placed<'_>,
        selection: &TopicSelection<'_>,
    ) -> Result<Vec<ItemDraft>> {
        let subject = format!("topic:{}", selection.topic);
        let priority = placed.source.priority;
        let Some(context) = &self.request.channel else {
            self.gap_of(&subject, "No channel was given that it could come from.", severity(priority));
            return selection.without_messages();
        };
        let Some(filter) = filter(selection) else {
            self.gap_of(&subject, "That cannot be a topic and its sender.", severity(priority));
            return selection.without_messages();
        };
        let after = context.after_mark(selection.since);
        let (end, amount) = selection.full;
        let full = self.select(context, &filter, after, end, amount.unwrap_or(MAX_MESSAGES)).await?;
        let (end, amount) = selection.compact;
        let compact = self.select(context, &filter, after, end, amount).await?;
        let Some(content) = topic_block::topic_content(selection.topic, &full) else {
            if priority == Priority::Required {
                self.gap_of(&subject, "It is required, and no message of it is there.", Severity::High);
            }
            return selection.without_messages();
        };
        let compact = topic_block::topic_content(selection.topic, &compact).filter(|compact| *compact != content);
        let messages = full.iter().map(|message| message.record.sequence).collect();
        Ok(vec![draft(format!("{subject}:{}", placed.name()), subject, content, compact, messages)])
    }

    /// Returns what validators found to be beyond what can be checked.
    pub(super) async fn skip_hints(&self, placed: &Placed<'_>) -> Result<Vec<ItemDraft>> {
        let Some(context) = &self.request.channel else { return Ok(Vec::new()) };
        let topic = Some(Topic::new(VALIDATION_TOPIC).expect("it is written as a topic"));
        let filter = MessageFilter { topic, replay: Some(ReplayPolicy::Replayable), ..MessageFilter::default() };
        let results = self.select(context, &filter, None, TopicEnd::Latest, MAX_RESULTS).await?;
        let Some(content) = topic_block::skip_hints(&results) else { return Ok(Vec::new()) };
        let messages = results.iter().map(|message| message.record.sequence).collect();
        Ok(vec![draft(format!("skip_hints:{}", placed.name()), "skip_hints".to_owned(), content, None, messages)])
    }

    /// Returns messages, the oldest first. The one to answer is told by itself, and takes the place of none.
    async fn select(
        &self,
        context: &ChannelContext,
        filter: &MessageFilter,
        after: Option<MessageSequence>,
        end: TopicEnd,
        amount: u64,
    ) -> Result<Vec<ChannelMessage>> {
        let order = match end {
            TopicEnd::Latest => MessageOrder::Newest,
            TopicEnd::Oldest | TopicEnd::All => MessageOrder::Oldest,
        };
        let query = MessageQuery { filter: filter.clone(), after, through: Some(context.through), order };
        let amount = amount.min(MAX_MESSAGES);
        let limit = u32::try_from(amount + 1).unwrap_or(u32::MAX);
        let found = self.engine.channel(context.channel).messages(&query, limit).await?.messages;
        let is_told = |message: &ChannelMessage| {
            message.record.sequence != context.trigger && message.record.header.is_visible_to(&context.viewer)
        };
        let mut found: Vec<ChannelMessage> = found.into_iter().filter(is_told).collect();
        found.truncate(usize::try_from(amount).unwrap_or(usize::MAX));
        found.sort_by_key(|message| message.record.sequence);
        Ok(found)
    }
}

impl ChannelContext {
    /// Returns the message after which something is new since a mark, and since what a session that goes on has.
    fn after_mark(&self, since: Option<Since>) -> Option<MessageSequence> {
        let mark = match since {
            Some(Since::Mark(TopicMark::LastTaskEnd)) => self.marks.last_task_end,
            Some(Since::Mark(TopicMark::LastAgentStart)) => self.marks.last_agent_start,
            Some(Since::Mark(TopicMark::ClusterStart) | Since::Time(_)) | None => None,
        };
        mark.max(self.continues_after)
    }
}

fn filter(selection: &TopicSelection<'_>) -> Option<MessageFilter> {
    let sender = selection.sender.map(ParticipantKey::new).transpose().ok()?;
    let since = match selection.since {
        Some(Since::Time(time)) => Some(time),
        Some(Since::Mark(_)) | None => None,
    };
    // What prompts may not hold is in nobody's place.
    let replay = Some(ReplayPolicy::Replayable);
    Some(MessageFilter {
        topic: Some(Topic::new(selection.topic).ok()?),
        sender,
        since,
        replay,
        ..MessageFilter::default()
    })
}

fn severity(priority: Priority) -> Severity {
    if priority == Priority::Required { Severity::High } else { Severity::Medium }
}

fn draft(
    id: String,
    uri: String,
    content: ItemContent,
    compact: Option<ItemContent>,
    messages: Vec<MessageSequence>,
) -> ItemDraft {
    let json = serde_json::to_vec(&content).expect("content has text keys");
    ItemDraft {
        id,
        kind: ContextKind::PeerAgentMessage,
        title: None,
        origin: origin("topic", uri, &json, Hold::Live, None),
        content,
        compact,
        messages,
    }
}
