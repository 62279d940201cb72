//! Which messages are meant.

use clap::Args;
use contexture::{
    Contexture, MessageFilter,
    core::{ConversationPhase, ParticipantKey, Thread, Topic},
};

use super::Names;
use crate::{error::Result, time::When};

/// What messages have in common.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Which messages")]
pub(super) struct Which {
    /// Only those about this
    #[arg(long)]
    topic: Option<Topic>,
    /// Only those of this sender
    #[arg(long, value_name = "WHO")]
    from: Option<ParticipantKey>,
    /// Only those that are for this participant alone
    #[arg(long, value_name = "WHO")]
    to: Option<ParticipantKey>,
    /// Only those that name this participant
    #[arg(long, value_name = "WHO")]
    mention: Option<ParticipantKey>,
    /// Only those of this thread
    #[arg(long)]
    thread: Option<Thread>,
    /// Only those of this phase
    #[arg(long)]
    phase: Option<ConversationPhase>,
    /// Only those sent since then, such as `2h` or `2026-11-15`
    #[arg(long, value_name = "TIME")]
    since: Option<When>,
    /// Only those sent before then
    #[arg(long, value_name = "TIME")]
    until: Option<When>,
}

impl Which {
    pub(super) fn filter(self, engine: &Contexture, names: &Names) -> Result<MessageFilter> {
        let Self { topic, from, to, mention, thread, phase, since, until } = self;
        let key = |typed: Option<ParticipantKey>| typed.map(|typed| names.key(&typed));
        let time = |when: Option<When>| when.map(|when| when.resolve(engine.now())).transpose();
        Ok(MessageFilter {
            topic,
            sender: key(from),
            receiver: key(to),
            mention: key(mention),
            thread,
            phase,
            since: time(since)?,
            until: time(until)?,
            replay: None,
        })
    }
}
