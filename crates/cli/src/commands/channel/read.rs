//! Showing messages, those that are there and those that come.

use clap::Args;
use contexture::{
    Contexture, MessageOrder, MessageQuery, MessageReference,
    core::{ChannelMessage, MessageSequence},
    wire::MessageDocument,
};

use super::{Names, filter::Which, message_text};
use crate::{
    error::Result,
    output::{Output, Shape},
};

/// Messages that are read at once.
const PER_PAGE: u32 = 200;

/// Messages that are there.
#[derive(Debug, Args)]
pub(super) struct Read {
    /// The channel's name or id
    #[arg(value_name = "CHANNEL")]
    channel: String,
    /// One message, by its place or id
    #[arg(value_name = "MESSAGE")]
    message: Option<MessageReference>,
    /// Only those after this place
    #[arg(long, value_name = "SEQUENCE")]
    after: Option<MessageSequence>,
    /// Only those up to this place
    #[arg(long, value_name = "SEQUENCE")]
    through: Option<MessageSequence>,
    /// Only the last so many
    #[arg(short = 'n', value_name = "N")]
    limit: Option<u32>,
    #[command(flatten)]
    which: Which,
}

/// Messages as they come.
#[derive(Debug, Args)]
pub(super) struct Follow {
    /// The channel's name or id
    #[arg(value_name = "CHANNEL")]
    channel: String,
    /// Begins after this place [default: the last message]
    #[arg(long, value_name = "SEQUENCE")]
    after: Option<u64>,
    /// Ends after so many messages
    #[arg(short = 'n', value_name = "N")]
    limit: Option<u64>,
    #[command(flatten)]
    which: Which,
}

impl Read {
    pub(super) async fn run(self, engine: &Contexture, output: &mut Output) -> Result<()> {
        let names = Names::find(engine, &self.channel).await?;
        let channel = engine.channel(names.channel.id);
        if let Some(message) = &self.message {
            return show(engine, &names, vec![channel.message(message).await?], output).await;
        }
        let filter = self.which.filter(engine, &names)?;
        let mut query = MessageQuery { filter, after: self.after, through: self.through, order: MessageOrder::Oldest };
        if let Some(limit) = self.limit {
            let mut newest = MessageQuery { order: MessageOrder::Newest, ..query.clone() };
            let (mut left, mut first) = (limit, None);
            while left > 0 {
                let page = channel.messages(&newest, left.min(PER_PAGE)).await?;
                let Some(last) = page.messages.last() else { break };
                first = Some(last.record.sequence);
                left -= u32::try_from(page.messages.len()).unwrap_or(left);
                newest.through = MessageSequence::new(last.record.sequence.get() - 1);
                if !page.has_more || newest.through.is_none() {
                    break;
                }
            }
            let Some(first) = first else { return Ok(()) };
            query.after = MessageSequence::new(first.get() - 1).max(query.after);
        }
        loop {
            let page = channel.messages(&query, PER_PAGE).await?;
            let Some(last) = page.messages.last() else { return Ok(()) };
            query.after = Some(last.record.sequence);
            show(engine, &names, page.messages, output).await?;
            if !page.has_more {
                return Ok(());
            }
        }
    }
}

impl Follow {
    pub(super) async fn run(self, engine: &Contexture, output: &mut Output) -> Result<()> {
        let mut names = Names::find(engine, &self.channel).await?;
        let channel = engine.channel(names.channel.id);
        let after = match self.after {
            Some(number) => MessageSequence::new(number),
            None => channel.last_sequence().await?,
        };
        let filter = self.which.filter(engine, &names)?;
        let mut following = channel.follow(filter, after);
        let mut left = self.limit.unwrap_or(u64::MAX);
        while left > 0 {
            let most = u32::try_from(left).unwrap_or(PER_PAGE).min(PER_PAGE);
            let page = tokio::select! {
                page = following.next(most) => page?,
                _ = tokio::signal::ctrl_c() => return Ok(()),
            };
            left -= page.messages.len() as u64;
            // Somebody may have been registered since.
            names.participants = channel.participants().await?;
            show(engine, &names, page.messages, output).await?;
            output.flush()?;
        }
        Ok(())
    }
}

/// Shows messages with who has seen them.
pub(super) async fn show(
    engine: &Contexture,
    names: &Names,
    messages: Vec<ChannelMessage>,
    output: &mut Output,
) -> Result<()> {
    let now = engine.now();
    let seen = engine.channel(names.channel.id).seen_by(&messages).await?;
    for (message, seen) in messages.into_iter().zip(seen) {
        match output.shape() {
            Shape::Json => output.document(MessageDocument::new(message, seen))?,
            Shape::Text => message_text::write(names, &message, &seen, now, output)?,
        }
    }
    Ok(())
}
