//! Spans: what each turn of a viewer covered.

use contexture_core::{AgentTurn, MessageSequence, TurnState};

use super::ChannelView;

/// A turn that a viewer has acknowledged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PastTurn {
    /// What was acknowledged before it.
    pub after: Option<MessageSequence>,
    /// The last message that it acknowledged.
    pub through: MessageSequence,
    /// The message that it answered.
    pub trigger: MessageSequence,
}

impl PastTurn {
    /// Returns what a turn covered; nothing where it was not acknowledged.
    pub fn of(turn: &AgentTurn) -> Option<Self> {
        match turn.state {
            TurnState::Acknowledged { through, .. } => Some(Self { after: turn.after, through, trigger: turn.trigger }),
            TurnState::Open | TurnState::Failed { .. } | TurnState::Expired { .. } => None,
        }
    }
}

/// Messages that were offered in one turn.
#[derive(Debug, Clone, Copy)]
pub(super) struct Span {
    pub(super) after: Option<MessageSequence>,
    pub(super) through: MessageSequence,
    pub(super) trigger: Option<MessageSequence>,
    /// Whether the viewer had no turn before: all is history, and nothing was missed.
    pub(super) is_first: bool,
    /// Whether it is the turn that the view is for.
    pub(super) is_current: bool,
    /// Whether its oldest messages were not read.
    pub(super) is_partial: bool,
}

impl Span {
    pub(super) fn holds(&self, sequence: MessageSequence) -> bool {
        Some(sequence) > self.after && sequence <= self.through
    }
}

/// Returns the spans of a view, the oldest first: each begins where the one before ends, and the last is the current one.
pub(super) fn of(view: &ChannelView<'_>) -> Vec<Span> {
    let first_read = view.messages.first().map(|message| message.record.sequence);
    let is_partial = |after: Option<MessageSequence>| {
        first_read.is_some_and(|first| first.get() > MessageSequence::number(after) + 1)
    };
    let mut turns: Vec<&PastTurn> = view.turns.iter().collect();
    turns.sort_by_key(|turn| (turn.through, turn.after));
    let mut spans = vec![Span {
        after: view.after,
        through: view.through,
        trigger: Some(view.answer.record.sequence),
        is_first: view.after.is_none(),
        is_current: true,
        is_partial: is_partial(view.after),
    }];
    let mut limit = view.after;
    // From the newest to the oldest, as far as they were read. What was set back is cut off.
    for turn in turns.into_iter().rev() {
        let Some(end) = limit.filter(|limit| turn.after < Some(*limit)) else { continue };
        if turn.through < end || first_read > Some(end) {
            continue;
        }
        spans.push(Span {
            after: turn.after,
            through: end,
            trigger: Some(turn.trigger).filter(|trigger| *trigger <= end),
            is_first: turn.after.is_none(),
            is_current: false,
            is_partial: is_partial(turn.after),
        });
        limit = turn.after;
    }
    // What was acknowledged in turns that nobody knows of is told as it was said.
    if let Some(end) = limit.filter(|end| first_read <= Some(*end)) {
        let (after, through) = (None, end);
        let is_partial = is_partial(None);
        spans.push(Span { after, through, trigger: None, is_first: true, is_current: false, is_partial });
    }
    spans.reverse();
    spans
}
