//! Checks channels and their messages: each can be read, is what the journal says, and no message is left out.

use contexture_core::{ArtifactId, ChannelId, MessageSequence, ParticipantKey};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    FsckProblem, Phase,
    checker::{self, Found},
    journal::{self, Journaled},
    problem,
};
use crate::{
    Result,
    channel::{self, MentionRow, MessageRow, StoredChannel, channel_id},
    sql::{Row, Tx},
    table::{Table, TableRow as _},
};

/// What is wrong with a channel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, thiserror::Error)]
#[serde(tag = "fault", rename_all = "snake_case")]
pub enum ChannelFault {
    /// Its row cannot be read.
    #[error("cannot be read: {what}")]
    Unreadable {
        /// What is wrong with the row.
        what: String,
    },
    /// Its id does not follow from how it came to be.
    #[error("has the record of {expected}")]
    OtherId {
        /// The id that follows.
        expected: ChannelId,
    },
    /// What it forks off is not there, or does not come before it.
    #[error("has no past: {what}")]
    NoPast {
        /// What is wrong.
        what: String,
    },
    /// The journal has no such record.
    #[error("is not in the journal")]
    NotJournaled,
    /// The journal tells something else.
    #[error("is not what the journal says")]
    JournaledOtherwise,
}

/// What is wrong with a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, thiserror::Error)]
#[serde(tag = "fault", rename_all = "snake_case")]
pub enum MessageFault {
    /// The message before it is not there.
    #[error("comes after a message that is not there")]
    Gap,
    /// Its content is not stored.
    #[error("has the content {artifact}, which is not in the store")]
    NoContent {
        /// The content.
        artifact: ArtifactId,
    },
    /// It names somebody and is not found by that.
    #[error("names {participant} and is not listed for it")]
    NotListed {
        /// Who is named.
        participant: ParticipantKey,
    },
    /// The journal has no such record.
    #[error("is not in the journal")]
    NotJournaled,
    /// The journal tells something else.
    #[error("is not what the journal says")]
    JournaledOtherwise,
}

/// The first column that is not read as a [`StoredChannel`]: its creation in the journal, and then its last change.
const CREATED: usize = StoredChannel::COLUMNS.len();
const CHANGED: usize = CREATED + 3;

#[derive(Clone, Default)]
pub(super) struct Scan {
    after: i64,
}

impl checker::Scan for Scan {
    const PHASE: Phase = Phase::Channels;
    const TABLE: &'static Table = &channel::CHANNELS;

    async fn page(&mut self, tx: &mut Tx<'_>, limit: u32, found: &mut Found) -> Result<usize> {
        let columns = StoredChannel::columns_of("c");
        let sql = format!(
            "SELECT {columns}, j.kind, j.subject, j.digest, k.kind, k.subject, k.digest FROM channels c \
             LEFT JOIN journal j ON j.space = c.space AND j.seq = c.seq \
             LEFT JOIN journal k ON k.space = c.space AND k.seq = c.changed_seq \
             WHERE c.space + 0 = ?1 AND c.key > ?2 ORDER BY c.key LIMIT ?3"
        );
        let space = tx.space;
        let mut rows = tx.rows(&sql, &[space.into(), self.after.into(), i64::from(limit).into()]).await?;
        for row in &mut rows {
            self.after = row.integer(0)?;
            found.checked.channels += 1;
            let id = match channel_id(row.blob(1)?) {
                Ok(id) => id,
                Err(error) => {
                    found.row(Self::PHASE, self.key(), error);
                    continue;
                }
            };
            let fault = |fault| FsckProblem::Channel { channel: id, fault };
            match StoredChannel::of(row) {
                Err(error) => found.problems.push(fault(ChannelFault::Unreadable { what: problem::reason(error) })),
                Ok(stored) => found.problems.extend(channel_faults(tx, row, &stored).await?.into_iter().map(fault)),
            }
        }
        Ok(rows.len())
    }

    fn key(&self) -> String {
        format!("channel {}", self.after)
    }

    fn stride(&self, doublings: u32) -> Option<Self> {
        Some(Self { after: self.after.saturating_add(1 << doublings) })
    }
}

async fn channel_faults(tx: &mut Tx<'_>, row: &Row, stored: &StoredChannel) -> Result<Vec<ChannelFault>> {
    let mut faults = Vec::new();
    let expected = stored.record.id();
    if stored.id != expected {
        faults.push(ChannelFault::OtherId { expected });
    }
    match channel::stretches(tx, stored).await {
        Ok(_) => {}
        Err(error) if checker::is_damage(&error) => {
            faults.push(ChannelFault::NoPast { what: problem::reason(error) });
        }
        Err(error) => return Err(error),
    }
    let created = journal::compare(row, CREATED, &channel::creation(&stored.record))?;
    // Until something changes, the last change is the creation.
    let is_unchanged = row.optional_text(CHANGED)? == row.optional_text(CREATED)?;
    let changed = if is_unchanged { Journaled::Same } else { journal::compare(row, CHANGED, &stored.change())? };
    match (created, changed) {
        (Journaled::Not, _) | (_, Journaled::Not) => faults.push(ChannelFault::NotJournaled),
        // What is wrong already is what the journal says otherwise.
        (Journaled::Otherwise, _) | (_, Journaled::Otherwise) if faults.is_empty() => {
            faults.push(ChannelFault::JournaledOtherwise);
        }
        (Journaled::Same | Journaled::Otherwise, Journaled::Same | Journaled::Otherwise) => {}
    }
    Ok(faults)
}

/// The columns that are not read as a [`MessageRow`].
const CHANNEL: usize = MessageRow::COLUMNS.len();
const FORK: usize = CHANNEL + 1;
const ARTIFACT: usize = CHANNEL + 2;
const BEFORE: usize = CHANNEL + 3;
const JOURNAL: usize = CHANNEL + 4;
const SEQ: usize = JOURNAL + 3;

/// The pass over messages.
#[derive(Clone, Default)]
pub(super) struct MessageScan {
    after: i64,
}

impl checker::Scan for MessageScan {
    const PHASE: Phase = Phase::Messages;
    const TABLE: &'static Table = &channel::MESSAGES;

    async fn page(&mut self, tx: &mut Tx<'_>, limit: u32, found: &mut Found) -> Result<usize> {
        let columns = MessageRow::columns_of("m");
        let sql = format!(
            "SELECT {columns}, c.id, c.fork_through, a.key, \
             (SELECT b.sequence FROM messages b WHERE b.channel = m.channel AND b.sequence = m.sequence - 1), \
             j.kind, j.subject, j.digest, m.seq FROM messages m \
             LEFT JOIN channels c ON c.key = m.channel LEFT JOIN artifacts a ON a.key = m.content_key \
             LEFT JOIN journal j ON j.space = m.space AND j.seq = m.seq \
             WHERE m.space = ?1 AND m.seq > ?2 ORDER BY m.seq LIMIT ?3"
        );
        let space = tx.space;
        let mut rows = tx.rows(&sql, &[space.into(), self.after.into(), i64::from(limit).into()]).await?;
        for row in &mut rows {
            self.after = row.integer(SEQ)?;
            found.checked.messages += 1;
            match message_faults(tx, row).await {
                Ok(problems) => found.problems.extend(problems),
                Err(error) if checker::is_damage(&error) => found.row(Self::PHASE, self.key(), error),
                Err(error) => return Err(error),
            }
        }
        Ok(rows.len())
    }

    fn key(&self) -> String {
        format!("record {}", self.after)
    }

    fn stride(&self, doublings: u32) -> Option<Self> {
        Some(Self { after: self.after.saturating_add(1 << doublings) })
    }
}

async fn message_faults(tx: &mut Tx<'_>, row: &mut Row) -> Result<Vec<FsckProblem>> {
    let stored = MessageRow::of(row)?;
    let key = stored.channel;
    let channel = channel_id(row.blob(CHANNEL)?)?;
    let record = stored.record(channel);
    let mut faults = Vec::new();
    if row.optional_integer(ARTIFACT)?.is_none() {
        faults.push(MessageFault::NoContent { artifact: record.content });
    }
    let first = row.optional_integer(FORK)?.unwrap_or(0) + 1;
    if record.sequence.get().cast_signed() != first && row.optional_integer(BEFORE)?.is_none() {
        faults.push(MessageFault::Gap);
    }
    for participant in record.header.mentions.as_slice() {
        let sql = format!(
            "SELECT {} FROM message_mentions WHERE channel = ?1 AND participant = ?2 AND sequence = ?3",
            MentionRow::columns()
        );
        let params = [key.into(), participant.as_str().into(), record.sequence.get().cast_signed().into()];
        let listed = tx.row_of::<MentionRow>(&sql, &params).await?;
        if listed.is_none_or(|listed| listed.sequence != record.sequence.get().cast_signed()) {
            faults.push(MessageFault::NotListed { participant: participant.clone() });
        }
    }
    match journal::compare(row, JOURNAL, &channel::appended(&record))? {
        Journaled::Not => faults.push(MessageFault::NotJournaled),
        Journaled::Otherwise => faults.push(MessageFault::JournaledOtherwise),
        Journaled::Same => {}
    }
    let sequence: MessageSequence = record.sequence;
    Ok(faults.into_iter().map(|fault| FsckProblem::Message { channel, sequence, fault }).collect())
}
