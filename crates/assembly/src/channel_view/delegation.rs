//! Delegation: work that somebody was given in a thread of its own. Others are told its result.

use std::collections::HashSet;

use contexture_core::{ChannelMessage, MessageSequence, ParticipantVisibility, Thread};

use super::{ABORTED_TOPIC, COMPLETION_TOPIC, ChannelView, attribution::Cast, said, tools};

/// Threads in which somebody works who is shown nothing else.
#[derive(Debug)]
pub(super) struct Delegations<'d> {
    view: &'d ChannelView<'d>,
    threads: HashSet<&'d Thread>,
}

/// What a delegation came to.
#[derive(Debug)]
pub(super) struct DelegationResult {
    pub(super) text: String,
    /// The messages of the thread that it brings along.
    pub(super) with: Vec<MessageSequence>,
}

impl<'d> Delegations<'d> {
    pub(super) fn of(view: &'d ChannelView<'d>) -> Self {
        let threads = view.participants.iter().filter_map(|participant| match &participant.sees {
            ParticipantVisibility::Thread(thread) => Some(thread),
            ParticipantVisibility::All => None,
        });
        // Whoever works in a thread is told all of it.
        let own = match &view.viewer.sees {
            ParticipantVisibility::Thread(thread) => Some(thread),
            ParticipantVisibility::All => None,
        };
        Self { view, threads: threads.filter(|thread| Some(*thread) != own).collect() }
    }

    fn thread_of<'m>(&self, message: &'m ChannelMessage) -> Option<&'m Thread> {
        message.record.header.thread.as_ref().filter(|thread| self.threads.contains(thread))
    }

    /// Tells whether a message is part of work that somebody else was given.
    pub(super) fn hide(&self, message: &ChannelMessage) -> bool {
        let header = &message.record.header;
        let is_mine = header.sender == self.view.viewer.key || header.addresses(&self.view.viewer.key);
        self.thread_of(message).is_some() && !is_mine && !ends(message)
    }

    /// Returns what is told of the message that ends a delegation, if it is one.
    pub(super) fn result(&self, message: &ChannelMessage, cast: &Cast<'_>) -> Option<DelegationResult> {
        let thread = self.thread_of(message).filter(|_| ends(message))?;
        let header = &message.record.header;
        let (word, reason) = if header.topic.as_str() == ABORTED_TOPIC {
            let data = message.body.as_ref().and_then(|body| body.data.as_ref());
            let reason = data.and_then(|data| data.get("reason")?.as_str());
            ("ABORTED", reason.map(|reason| format!("**Reason:** {reason}\n")).unwrap_or_default())
        } else {
            ("COMPLETED", String::new())
        };
        let said = said::text(message).unwrap_or_default();
        let mut text = format!(
            "# DELEGATION {word}\n[Delegation to {} in {thread}]\n{reason}{said}",
            cast.speaker(&header.sender)
        );
        let (transcript, with) = self.transcript(message, thread, cast);
        if !transcript.is_empty() {
            text.push_str("\n\n### Transcript:\n");
            text.push_str(&transcript.join("\n"));
        }
        Some(DelegationResult { text, with })
    }

    /// Returns the newest messages of a thread before its end that there is room for, and their places.
    fn transcript(
        &self,
        end: &ChannelMessage,
        thread: &Thread,
        cast: &Cast<'_>,
    ) -> (Vec<String>, Vec<MessageSequence>) {
        let view = self.view;
        let before = view.messages.partition_point(|message| message.record.sequence < end.record.sequence);
        let in_thread = view.messages[..before]
            .iter()
            .rev()
            .take_while(|message| !(ends(message) && message.record.header.thread.as_ref() == Some(thread)))
            .filter(|message| message.record.header.thread.as_ref() == Some(thread));
        let mut room = view.delegation_chars;
        let (mut lines, mut with, mut left_out) = (Vec::new(), Vec::new(), 0u64);
        for message in in_thread.filter(|message| self.hide(message) && message.record.header.replay.is_replayable()) {
            let Some(text) = said::text(message).filter(|_| !tools::is_traffic(message)) else { continue };
            let line = format!("{}: {}", cast.speaker(&message.record.header.sender), text.replace('\n', "\n  "));
            let chars = line.chars().count();
            if left_out > 0 || chars > room {
                left_out += 1;
                continue;
            }
            room -= chars;
            lines.push(line);
            with.push(message.record.sequence);
        }
        if left_out > 0 && view.delegation_chars > 0 {
            lines.push(format!("[{left_out} earlier messages of this delegation left out]"));
        }
        lines.reverse();
        with.reverse();
        (lines, with)
    }
}

fn ends(message: &ChannelMessage) -> bool {
    matches!(message.record.header.topic.as_str(), COMPLETION_TOPIC | ABORTED_TOPIC)
}
