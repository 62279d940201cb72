//! Checks the journal: no record left out, the chain unbroken, what each record tells of still there.

use contexture_core::{
    ArtifactId, ChainDigest, ChannelId, CommitId, JournalKind, JournalRecord, MissingId, Mutation, TurnId,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    FsckProblem, Phase,
    checker::{self, Found},
    problem,
};
use crate::{
    Result, artifact, channel, commit, envelope, event, injection, journal, missing, secret_policy,
    sql::{Param, Row, Tx},
    table::{Table, TableRow as _},
};

/// What is wrong with a record of the journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, thiserror::Error)]
#[serde(tag = "fault", rename_all = "snake_case")]
pub enum JournalFault {
    /// Its row cannot be read.
    #[error("cannot be read: {what}")]
    Unreadable {
        /// What is wrong with the row.
        what: String,
    },
    /// It or the record before it was changed.
    #[error("does not continue the chain of the record before it")]
    ChainBroken,
    /// What it tells of is not there.
    #[error("tells of {kind} {subject}, of which there is nothing")]
    NoSubject {
        /// What the record says happened.
        kind: JournalKind,
        /// To what.
        subject: String,
    },
}

#[derive(Clone)]
pub(super) struct Scan {
    after: i64,
    /// The chain up to there; nothing when the record there is missing or cannot be read.
    chain: Option<ChainDigest>,
}

impl Default for Scan {
    fn default() -> Self {
        Self { after: 0, chain: Some(ChainDigest::GENESIS) }
    }
}

impl checker::Scan for Scan {
    const PHASE: Phase = Phase::Journal;
    const TABLE: &'static Table = &journal::JOURNAL;

    async fn page(&mut self, tx: &mut Tx<'_>, limit: u32, found: &mut Found) -> Result<usize> {
        let sql = format!("{} AND seq > ?2 ORDER BY seq LIMIT ?3", JournalRecord::select());
        let space = tx.space;
        let mut rows = tx.rows(&sql, &[space.into(), self.after.into(), i64::from(limit).into()]).await?;
        for row in &mut rows {
            found.checked.journal_records += 1;
            self.record(tx, row, found).await?;
        }
        Ok(rows.len())
    }

    fn key(&self) -> String {
        format!("record {}", self.after)
    }

    fn stride(&self, doublings: u32) -> Option<Self> {
        Some(Self { after: self.after.saturating_add(1 << doublings), chain: None })
    }
}

impl Scan {
    async fn record(&mut self, tx: &mut Tx<'_>, row: &mut Row, found: &mut Found) -> Result<()> {
        let seq = row.integer(0)?;
        if seq != self.after + 1 {
            found.problems.push(FsckProblem::JournalGap { first: self.after + 1, last: seq - 1 });
            self.chain = None;
        }
        let previous = self.chain;
        *self = Self { after: seq, chain: row.blob(6)?.try_into().ok().map(ChainDigest) };
        let record = match JournalRecord::of(row) {
            Ok(record) => record,
            Err(error) => {
                let fault = JournalFault::Unreadable { what: problem::reason(error) };
                found.problems.push(FsckProblem::Journal { seq, fault });
                return Ok(());
            }
        };
        if previous.is_some_and(|previous| record.link(&tx.scope.space, previous) != record.chain) {
            found.problems.push(FsckProblem::Journal { seq, fault: JournalFault::ChainBroken });
        }
        if !has_subject(tx, &record).await? {
            let fault = JournalFault::NoSubject { kind: record.kind, subject: record.subject };
            found.problems.push(FsckProblem::Journal { seq, fault });
        }
        Ok(())
    }
}

/// Tells whether what a record tells of is there.
async fn has_subject(tx: &mut Tx<'_>, record: &JournalRecord) -> Result<bool> {
    let (space, seq) = (tx.space, record.seq.cast_signed());
    let subject = record.subject.as_str();
    match record.kind {
        JournalKind::SpaceCreated => Ok(subject == tx.scope.space.as_str()),
        JournalKind::CommitCreated | JournalKind::AnnotationWithheld => match subject.parse::<CommitId>() {
            Ok(id) => commit::exists(tx, &id).await,
            Err(_) => Ok(false),
        },
        JournalKind::CommitAnnotated => {
            let Ok(id) = subject.parse::<CommitId>() else {
                return Ok(false);
            };
            let Some(place) = commit::find_place(tx, &id).await? else {
                return Ok(false);
            };
            let sql = "SELECT 1 FROM annotations WHERE line = ?1 AND position = ?2 AND seq = ?3";
            Ok(tx.row(sql, &[place.line.into(), place.position.into(), seq.into()]).await?.is_some())
        }
        JournalKind::HeadMoved | JournalKind::HeadDeleted => {
            let sql = "SELECT 1 FROM reflog WHERE space = ?1 AND head = ?2 AND seq = ?3";
            Ok(tx.row(sql, &[space.into(), subject.into(), seq.into()]).await?.is_some())
        }
        JournalKind::ArtifactStored | JournalKind::ArtifactWithheld => match subject.parse::<ArtifactId>() {
            Ok(id) => artifact::exists(tx, &id).await,
            Err(_) => Ok(false),
        },
        // What secrets were found in may have been removed since because nothing referred to it.
        JournalKind::SecretsFound => match subject.parse::<ArtifactId>() {
            Ok(id) => {
                Ok(artifact::exists(tx, &id).await? || has_later(tx, seq, JournalKind::ArtifactsCollected).await?)
            }
            Err(_) => Ok(false),
        },
        JournalKind::EnvelopeCreated => has_row(tx, &envelope::ENVELOPES, seq).await,
        JournalKind::InjectionCreated => has_row(tx, &injection::INJECTIONS, seq).await,
        JournalKind::MissingCreated => has_row(tx, &missing::MISSING, seq).await,
        // Of the states, only the newest is kept.
        JournalKind::MissingChanged => match subject.parse::<MissingId>() {
            Ok(id) => {
                let sql = "SELECT 1 FROM missing WHERE space = ?1 AND id = ?2";
                Ok(tx.row(sql, &[space.into(), Param::Blob(id.as_bytes())]).await?.is_some())
            }
            Err(_) => Ok(false),
        },
        JournalKind::ChannelCreated => has_row(tx, &channel::CHANNELS, seq).await,
        // Of the states, only the newest is kept.
        JournalKind::ChannelChanged => match subject.parse::<ChannelId>() {
            Ok(id) => Ok(channel::find_channel(tx, &id).await?.is_some()),
            Err(_) => Ok(false),
        },
        JournalKind::MessageAppended => has_row(tx, &channel::MESSAGES, seq).await,
        JournalKind::TurnBegun => has_row(tx, &channel::TURNS, seq).await,
        JournalKind::TurnChanged => match subject.parse::<TurnId>() {
            Ok(id) => {
                let sql = "SELECT 1 FROM turns WHERE space = ?1 AND id = ?2";
                Ok(tx.row(sql, &[space.into(), Param::Blob(id.as_bytes())]).await?.is_some())
            }
            Err(_) => Ok(false),
        },
        JournalKind::ParticipantRegistered => {
            has_row_of_channel(tx, &channel::PARTICIPANTS, "participant", subject).await
        }
        JournalKind::CursorMoved => has_row_of_channel(tx, &channel::CURSORS, "agent", subject).await,
        JournalKind::SecretPolicyChanged => has_one_row(tx, &secret_policy::SECRET_POLICIES).await,
        // Nothing is left of what they tell of but the record itself.
        JournalKind::ContentRevealed | JournalKind::ArtifactsCollected => Ok(true),
        JournalKind::Event(_) => has_row(tx, &event::EVENTS, seq).await,
    }
}

/// Tells whether the journal has a record of a kind after another record.
async fn has_later(tx: &mut Tx<'_>, seq: i64, kind: JournalKind) -> Result<bool> {
    let space = tx.space;
    let sql = "SELECT 1 FROM journal WHERE space = ?1 AND seq > ?2 AND kind = ?3 LIMIT 1";
    Ok(tx.row(sql, &[space.into(), seq.into(), kind.as_str().into()]).await?.is_some())
}

/// Tells whether a table has a row that a record of the journal made.
async fn has_row(tx: &mut Tx<'_>, table: &Table, seq: i64) -> Result<bool> {
    let space = tx.space;
    let sql = format!("SELECT 1 FROM {} WHERE space = ?1 AND seq = ?2", table.name);
    Ok(tx.row(&sql, &[space.into(), seq.into()]).await?.is_some())
}

/// Tells whether a table has the row of a channel and of whoever a column names.
async fn has_row_of_channel(tx: &mut Tx<'_>, table: &Table, column: &str, subject: &str) -> Result<bool> {
    let Some((id, key)) = subject.split_once('/') else { return Ok(false) };
    let Ok(id) = id.parse::<ChannelId>() else { return Ok(false) };
    let Some(channel) = channel::find_channel(tx, &id).await? else { return Ok(false) };
    let sql = format!("SELECT 1 FROM {} WHERE channel = ?1 AND {column} = ?2", table.name);
    Ok(tx.row(&sql, &[channel.key.into(), key.into()]).await?.is_some())
}

/// Tells whether a table that holds one row a space has it.
async fn has_one_row(tx: &mut Tx<'_>, table: &Table) -> Result<bool> {
    let space = tx.space;
    Ok(tx.row(&format!("SELECT 1 FROM {} WHERE space = ?1", table.name), &[space.into()]).await?.is_some())
}

/// Whether the journal tells of a change.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Journaled {
    /// As it was made.
    Same,
    /// As something else.
    Otherwise,
    /// Not at all.
    Not,
}

/// Compares a change with the kind, subject and digest of its journal record, which start at a column of a row.
pub(super) fn compare(row: &Row, column: usize, said: &Mutation) -> Result<Journaled> {
    let Some(kind) = row.optional_text(column)? else {
        return Ok(Journaled::Not);
    };
    let same =
        kind == said.kind.as_str() && row.text(column + 1)? == said.subject && row.blob(column + 2)? == said.digest.0;
    Ok(if same { Journaled::Same } else { Journaled::Otherwise })
}
