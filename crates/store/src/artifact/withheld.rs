//! Artifacts whose content is not here any more, or never was: their ids and sizes stay.
//!
//! Another artifact may stand for one of them, so that what was said around a purged secret can be read. Whoever locates
//! the one finds the bytes of the other, which are proved by their own digest.

use std::fmt;

use contexture_core::{Actor, ArtifactId, JournalKind, Mutation, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ARTIFACTS, Encoding, LocatedArtifact, insert, replacements, require};
use crate::{
    Result,
    commit::{Inserted, LineSegment},
    journal,
    known::Noun,
    rendering,
    space::{stored, time},
    sql::{RowReader, Tx},
    table::{Column, RowOwner, RowReference, Table, TableRow},
};

/// The table of artifacts without content.
pub(crate) static WITHHELD: Table = Table {
    name: "withheld",
    owner: RowOwner::Row { table: &ARTIFACTS, column: "artifact" },
    key: &["artifact"],
    columns: &[
        Column::number("artifact"),
        Column::number("seq"),
        Column::text("reason"),
        Column::text("actor"),
        Column::number("at"),
        Column::number("substitute").optional().to(RowReference::ArtifactKey),
    ],
};

/// Whether a transaction knows of content of the space that is not here.
struct Withholdings;

impl Noun for Withholdings {
    type Key = ();
    type State = bool;
    const IS_JOURNALED: bool = true;
}

/// Why the content of an artifact is not here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Withheld {
    /// The record of the journal that tells of it.
    pub seq: u64,
    /// Why.
    pub reason: String,
    /// Who asked for it.
    pub actor: Actor,
    /// When.
    pub at: Timestamp,
    /// The key of the artifact that is shown for it.
    pub(crate) substitute: Option<i64>,
}

/// Content that is not here, as those are told who ask for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WithheldContent {
    /// Whose content it is.
    pub artifact: ArtifactId,
    /// What became of it.
    pub cause: WithheldCause,
    /// Why.
    pub reason: String,
    /// Who asked for it.
    pub by: Actor,
    /// When.
    pub at: Timestamp,
    /// Whether only some of it is not here, and the rest is shown.
    pub is_partial: bool,
}

/// What became of content that is not here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WithheldCause {
    /// It was removed for good.
    Purged,
    /// It did not come along.
    LeftOut,
}

/// An artifact that comes without its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// Its id.
    pub id: ArtifactId,
    /// The size of its content.
    pub size: u64,
    /// Why.
    pub reason: String,
    /// What is shown for it; it is stored already.
    pub substitute: Option<ArtifactId>,
}

/// What is left of an artifact whose content was removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Removed {
    /// The keys of the parts that it had.
    pub parts: Vec<i64>,
    /// What was shown for it before and is shown for nothing now.
    pub shown: Option<ArtifactId>,
}

/// What the journal binds.
#[derive(Serialize)]
struct WithheldChange<'w> {
    cause: WithheldCause,
    reason: &'w str,
}

/// Removes the content of an artifact that is here, for good. `substitute`, which is stored already, is shown for it.
///
/// The parts that it had stay, for others may need them; [`remove_unused`](super::remove_unused) tells. So does what was
/// shown for it before.
pub async fn withhold(
    tx: &mut Tx<'_>,
    id: &ArtifactId,
    reason: &str,
    substitute: Option<&ArtifactId>,
) -> Result<Removed> {
    let key = require(tx, id).await?;
    let shown = of_artifact(tx, key).await?.and_then(|row| row.substitute);
    let parts = tx.rows("SELECT part FROM parts WHERE artifact = ?1", &[key.into()]).await?;
    let parts = parts.iter().map(|row| row.integer(0)).collect::<Result<Vec<_>>>()?;
    let sql = "UPDATE artifacts SET encoding = ?2, body = NULL, has_findings = 0 WHERE key = ?1";
    tx.post(sql, &[key.into(), Encoding::Withheld.as_str().into()]).await?;
    for table in ["parts", "findings", "sealed_originals"] {
        tx.post(&format!("DELETE FROM {table} WHERE artifact = ?1"), &[key.into()]).await?;
    }
    note(tx, key, id, WithheldCause::Purged, reason, substitute).await?;
    let shown = match shown {
        Some(shown) => {
            let sql = "SELECT digest FROM artifacts WHERE key = ?1 \
                       AND NOT EXISTS (SELECT 1 FROM withheld w WHERE w.substitute = ?1)";
            let row = tx.row(sql, &[shown.into()]).await?;
            row.map(|row| super::artifact_id(row.blob(0)?)).transpose()?
        }
        None => None,
    };
    Ok(Removed { parts, shown })
}

/// Stores what is known of an artifact that comes without its content. One that is here stays as it is.
///
/// The content is taken in when it comes after all.
pub async fn leave_out(tx: &mut Tx<'_>, artifact: &LeftOut) -> Result<Inserted> {
    let LeftOut { id, size, reason, substitute } = artifact;
    if super::exists(tx, id).await? || insert(tx, id, *size, Encoding::Absent, None).await? == Inserted::AlreadyThere {
        return Ok(Inserted::AlreadyThere);
    }
    let key = require(tx, id).await?;
    note(tx, key, id, WithheldCause::LeftOut, reason, substitute.as_ref()).await?;
    Ok(Inserted::New)
}

/// Has everything that an artifact stands for show another one, or nothing.
pub async fn supersede(tx: &mut Tx<'_>, id: &ArtifactId, substitute: Option<&ArtifactId>) -> Result<()> {
    let (key, substitute) = (require(tx, id).await?, key_of(tx, substitute).await?);
    let sql = "UPDATE withheld SET substitute = CAST(?2 AS BIGINT) WHERE substitute = ?1";
    tx.post(sql, &[key.into(), substitute.into()]).await
}

async fn key_of(tx: &mut Tx<'_>, id: Option<&ArtifactId>) -> Result<Option<i64>> {
    match id {
        Some(id) => require(tx, id).await.map(Some),
        None => Ok(None),
    }
}

async fn note(
    tx: &mut Tx<'_>,
    key: i64,
    id: &ArtifactId,
    cause: WithheldCause,
    reason: &str,
    substitute: Option<&ArtifactId>,
) -> Result<()> {
    let substitute = key_of(tx, substitute).await?;
    let seq = journal::append(tx, mutation(id, cause, reason)).await?;
    rendering::forget_all(tx).await?;
    tx.known.learn::<Withholdings>((), true);
    let sql = "INSERT INTO withheld (artifact, seq, reason, actor, at, substitute) \
               VALUES (?1, ?2, ?3, ?4, ?5, CAST(?6 AS BIGINT)) \
               ON CONFLICT (artifact) DO UPDATE SET seq = excluded.seq, reason = excluded.reason, \
               actor = excluded.actor, at = excluded.at, substitute = excluded.substitute";
    let (actor, now) = (tx.scope.actor.as_str(), tx.scope.now.as_micros());
    let params = [key.into(), seq.cast_signed().into(), reason.into(), actor.into(), now.into(), substitute.into()];
    tx.post(sql, &params).await
}

/// Returns what the journal says of an artifact whose content is not here.
pub(crate) fn mutation(id: &ArtifactId, cause: WithheldCause, reason: &str) -> Mutation {
    Mutation::new(JournalKind::ArtifactWithheld, id.to_string(), &WithheldChange { cause, reason })
}

/// Tells whether content of the space is not here: hardly ever, so that whoever stores some need not ask about each piece.
pub(super) async fn any_in_space(tx: &mut Tx<'_>) -> Result<bool> {
    if let Some(known) = tx.known.get::<Withholdings>(&()) {
        return Ok(*known);
    }
    let sql = "SELECT 1 FROM withheld w JOIN artifacts a ON a.key = w.artifact WHERE a.space = ?1 LIMIT 1";
    let space = tx.space;
    let found = tx.row(sql, &[space.into()]).await?.is_some();
    tx.known.learn::<Withholdings>((), found);
    Ok(found)
}

/// Returns how many of these artifacts were purged.
pub async fn count_purged(tx: &mut Tx<'_>, ids: &[ArtifactId]) -> Result<u64> {
    let keys: Vec<&[u8]> = ids.iter().map(|id| id.as_bytes().as_slice()).collect();
    let one = "SELECT key FROM artifacts WHERE space = ?1 AND encoding = 'withheld' AND digest =";
    let space = tx.space;
    Ok(tx.look_up(one, space.into(), &keys).await?.len() as u64)
}

/// Tells whether the content of one of these artifacts is not here.
pub async fn any_withheld(tx: &mut Tx<'_>, ids: &[ArtifactId]) -> Result<bool> {
    let keys: Vec<&[u8]> = ids.iter().map(|id| id.as_bytes().as_slice()).collect();
    let one = "SELECT key FROM artifacts WHERE space = ?1 AND encoding IN ('withheld', 'absent') AND digest =";
    let space = tx.space;
    Ok(!tx.look_up(one, space.into(), &keys).await?.is_empty())
}

/// Tells whether the content of one of the commits of a stretch is not here.
pub async fn any_withheld_in(tx: &mut Tx<'_>, segment: LineSegment) -> Result<bool> {
    let sql = "SELECT 1 FROM commits c JOIN artifacts a ON a.key = c.artifact_key \
               WHERE c.line = ?1 AND c.position BETWEEN ?2 AND ?3 AND a.encoding IN ('withheld', 'absent') LIMIT 1";
    Ok(tx.row(sql, &[segment.line.into(), segment.first.into(), segment.last.into()]).await?.is_some())
}

/// Returns why the content of an artifact is not here; nothing when it is.
pub async fn withheld(tx: &mut Tx<'_>, id: &ArtifactId) -> Result<Option<WithheldContent>> {
    let key = require(tx, id).await?;
    let row = tx.one("SELECT encoding FROM artifacts WHERE key = ?1", &[key.into()]).await?;
    let cause = match stored::<Encoding>(row.text(0)?)? {
        Encoding::Raw | Encoding::Lz4 | Encoding::Parts => return Ok(None),
        Encoding::Withheld => WithheldCause::Purged,
        Encoding::Absent => WithheldCause::LeftOut,
    };
    Ok(of_artifact(tx, key).await?.map(|row| row.content(*id, cause)))
}

/// Tells whether the content of an artifact is not here.
pub(crate) async fn is_withheld(tx: &mut Tx<'_>, key: i64) -> Result<bool> {
    let row = tx.one("SELECT encoding FROM artifacts WHERE key = ?1", &[key.into()]).await?;
    Ok(match stored::<Encoding>(row.text(0)?)? {
        Encoding::Raw | Encoding::Lz4 | Encoding::Parts => false,
        Encoding::Withheld | Encoding::Absent => true,
    })
}

async fn of_artifact(tx: &mut Tx<'_>, key: i64) -> Result<Option<Withheld>> {
    let sql = format!("SELECT {} FROM withheld WHERE artifact = ?1", Withheld::columns());
    tx.row_of(&sql, &[key.into()]).await
}

/// Returns what is read for an artifact: itself, or what stands for it when its content is not here.
pub(super) async fn stand_in(tx: &mut Tx<'_>, located: LocatedArtifact) -> Result<LocatedArtifact> {
    let Some(cause) = located.cause() else { return Ok(located) };
    // Without its row it is damaged, which whoever reads it is told.
    let Some(row) = of_artifact(tx, located.key).await? else { return Ok(located) };
    let content = row.content(located.id, cause);
    let Some(key) = row.substitute else { return Ok(located.standing_for(content)) };
    let sql = format!("SELECT {} FROM artifacts WHERE key = ?1", LocatedArtifact::columns());
    let substitute: Option<LocatedArtifact> = tx.row_of(&sql, &[key.into()]).await?;
    let Some(mut substitute) = substitute.filter(|substitute| !substitute.is_gone()) else { return Ok(located) };
    if substitute.has_findings {
        let id = substitute.id;
        substitute.replace(replacements(tx, key, &id).await?);
    }
    Ok(substitute.standing_for(content))
}

impl Withheld {
    fn content(&self, artifact: ArtifactId, cause: WithheldCause) -> WithheldContent {
        let Self { reason, actor, at, substitute, .. } = self;
        let (reason, by) = (reason.clone(), actor.clone());
        WithheldContent { artifact, cause, reason, by, at: *at, is_partial: substitute.is_some() }
    }
}

impl WithheldContent {
    /// Says what became of the content, without naming the artifact.
    pub fn fate(&self) -> String {
        let Self { cause, reason, by, at, is_partial, .. } = self;
        let what = match (cause, is_partial) {
            (WithheldCause::Purged, false) => "was purged",
            (WithheldCause::Purged, true) => "was purged in part",
            (WithheldCause::LeftOut, false) => "did not come along",
            (WithheldCause::LeftOut, true) => "came along in part",
        };
        format!("{what} by {by} at {at}: {reason}")
    }
}

impl fmt::Display for WithheldContent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the content of {} {}", self.artifact, self.fate())
    }
}

impl TableRow for Withheld {
    const TABLE: &'static Table = &WITHHELD;
    const COLUMNS: &'static [&'static str] = &["seq", "reason", "actor", "at", "substitute"];

    fn decode(row: &mut RowReader<'_>) -> Result<Self> {
        Ok(Self {
            seq: row.unsigned()?,
            reason: row.text()?.to_owned(),
            actor: stored::<Actor>(row.text()?)?,
            at: time(row.integer()?)?,
            substitute: row.optional_integer()?,
        })
    }
}
