//! Findings: where secrets are in the bytes of artifacts.

use contexture_core::{
    ArtifactId, Fingerprint, Format, JournalKind, Machine, Mutation, RuleId, SecretCover, SecretFinding,
};

use crate::{
    Error, Result,
    artifact::{ARTIFACTS, is_withheld, require},
    commit::LineSegment,
    journal, rendering,
    space::stored,
    sql::{Param, Row, RowReader, Tx},
    table::{Column, RowOwner, Table, TableRow},
};

/// The table of findings.
pub(crate) static FINDINGS: Table = Table {
    name: "findings",
    owner: RowOwner::Row { table: &ARTIFACTS, column: "artifact" },
    key: &["artifact", "start"],
    columns: &[
        Column::number("artifact"),
        Column::number("start"),
        Column::number("length"),
        Column::text("rule"),
        Column::bytes("fingerprint"),
        Column::text("cover"),
    ],
};

impl TableRow for SecretFinding {
    const TABLE: &'static Table = &FINDINGS;
    const COLUMNS: &'static [&'static str] = &["start", "length", "rule", "fingerprint", "cover"];

    fn decode(row: &mut RowReader<'_>) -> Result<Self> {
        Ok(Self {
            start: row.unsigned()?,
            length: row.unsigned()?,
            rule: stored::<RuleId>(row.text()?)?,
            fingerprint: fingerprint(row.blob()?)?,
            cover: stored::<SecretCover>(row.text()?)?,
        })
    }
}

/// Records what was found in an artifact that is stored. Returns how many findings are new: where content is not here,
/// there are none.
pub async fn add(tx: &mut Tx<'_>, id: &ArtifactId, findings: &[SecretFinding]) -> Result<u64> {
    if findings.is_empty() {
        return Ok(0);
    }
    let artifact = require(tx, id).await?;
    if is_withheld(tx, artifact).await? {
        return Ok(0);
    }
    let mut new = 0;
    for SecretFinding { start, length, rule, fingerprint, cover } in findings {
        let sql = "INSERT INTO findings (artifact, start, length, rule, fingerprint, cover) \
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT (artifact, start) DO NOTHING";
        let params = [
            artifact.into(),
            start.cast_signed().into(),
            length.cast_signed().into(),
            rule.as_str().into(),
            Param::Blob(fingerprint.as_bytes()),
            cover.as_str().into(),
        ];
        new += tx.execute(sql, &params).await?;
    }
    if new > 0 {
        tx.post("UPDATE artifacts SET has_findings = 1 WHERE key = ?1", &[artifact.into()]).await?;
        journal::append(tx, Mutation::new(JournalKind::SecretsFound, id.to_string(), &findings)).await?;
        rendering::forget_all(tx).await?;
    }
    Ok(new)
}

/// Returns what was found in an artifact, in the order of the places.
pub async fn of(tx: &mut Tx<'_>, id: &ArtifactId) -> Result<Vec<SecretFinding>> {
    let artifact = require(tx, id).await?;
    of_artifact(tx, artifact).await
}

pub(crate) async fn of_artifact(tx: &mut Tx<'_>, artifact: i64) -> Result<Vec<SecretFinding>> {
    let sql = format!("SELECT {} FROM findings WHERE artifact = ?1 ORDER BY start", SecretFinding::columns());
    tx.rows_of(&sql, &[artifact.into()]).await
}

/// A secret that occurs in a space.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundSecret {
    /// Which one.
    pub fingerprint: Fingerprint,
    /// What recognised it.
    pub rule: RuleId,
    /// In how many artifacts it is.
    pub artifacts: u64,
    /// How often it occurs in them.
    pub places: u64,
}

/// Returns up to `limit` secrets of the space after a fingerprint, in the order of the fingerprints.
pub async fn secrets(tx: &mut Tx<'_>, after: Option<Fingerprint>, limit: u32) -> Result<Vec<FoundSecret>> {
    let sql = "SELECT f.fingerprint, min(f.rule), count(DISTINCT f.artifact), count(*) \
               FROM findings f JOIN artifacts a ON a.key = f.artifact \
               WHERE a.space = ?1 AND f.fingerprint > ?2 GROUP BY f.fingerprint ORDER BY f.fingerprint LIMIT ?3";
    let after = after.map(|after| after.as_bytes().to_vec()).unwrap_or_default();
    let decode = |row: &mut Row| {
        let row = &mut row.reader(0);
        Ok(FoundSecret {
            fingerprint: fingerprint(row.blob()?)?,
            rule: stored::<RuleId>(row.text()?)?,
            artifacts: row.unsigned()?,
            places: row.unsigned()?,
        })
    };
    let space = tx.space;
    let mut rows = tx.rows(sql, &[space.into(), Param::Blob(&after), i64::from(limit).into()]).await?;
    rows.iter_mut().map(decode).collect()
}

/// Returns the artifacts of the space that a secret is in, at most `limit` after one of them, in the order of their ids.
pub async fn artifacts_with(
    tx: &mut Tx<'_>,
    fingerprint: Fingerprint,
    after: Option<ArtifactId>,
    limit: u32,
) -> Result<Vec<ArtifactId>> {
    let sql = "SELECT DISTINCT a.digest FROM findings f JOIN artifacts a ON a.key = f.artifact \
               WHERE a.space = ?1 AND f.fingerprint = ?2 AND a.digest > ?3 ORDER BY a.digest LIMIT ?4";
    let after = after.map(|after| after.as_bytes().to_vec()).unwrap_or_default();
    let params = [tx.space.into(), Param::Blob(fingerprint.as_bytes()), Param::Blob(&after), i64::from(limit).into()];
    tx.rows(sql, &params).await?.iter().map(|row| crate::artifact::artifact_id(row.blob(0)?)).collect()
}

/// Returns which secrets are in the content of the commits of a stretch.
pub async fn fingerprints_in(tx: &mut Tx<'_>, segment: LineSegment) -> Result<Vec<Fingerprint>> {
    let sql = "SELECT DISTINCT f.fingerprint FROM commits c JOIN artifacts a ON a.key = c.artifact_key \
               JOIN findings f ON f.artifact = a.key \
               WHERE c.line = ?1 AND c.position BETWEEN ?2 AND ?3 AND a.has_findings <> 0";
    let rows = tx.rows(sql, &[segment.line.into(), segment.first.into(), segment.last.into()]).await?;
    rows.iter().map(|row| fingerprint(row.blob(0)?)).collect()
}

/// Returns which secrets are in some artifacts.
pub async fn fingerprints_of(tx: &mut Tx<'_>, artifacts: &[ArtifactId]) -> Result<Vec<Fingerprint>> {
    let keys: Vec<&[u8]> = artifacts.iter().map(|id| id.as_bytes().as_slice()).collect();
    let one = "SELECT f.fingerprint FROM findings f JOIN artifacts a ON a.key = f.artifact \
               WHERE a.space = ?1 AND a.digest =";
    let rows = tx.look_up(one, tx.space.into(), &keys).await?;
    rows.iter().map(|row| fingerprint(row.blob(0)?)).collect()
}

/// Returns in which formats and on which machines the commits of a stretch were made in which something was found.
pub async fn origins(tx: &mut Tx<'_>, segment: LineSegment) -> Result<Vec<(Format, Option<Machine>)>> {
    let sql = "SELECT DISTINCT c.format, c.machine FROM commits c JOIN artifacts a ON a.key = c.artifact_key \
               WHERE c.line = ?1 AND c.position BETWEEN ?2 AND ?3 AND a.has_findings <> 0";
    let rows = tx.rows(sql, &[segment.line.into(), segment.first.into(), segment.last.into()]).await?;
    let decode =
        |row: &Row| Ok((stored::<Format>(row.text(0)?)?, row.optional_text(1)?.map(stored::<Machine>).transpose()?));
    rows.iter().map(decode).collect()
}

fn fingerprint(bytes: &[u8]) -> Result<Fingerprint> {
    let bytes = bytes.try_into().map_err(|_| Error::damaged("the fingerprint of a secret has the wrong length"))?;
    Ok(Fingerprint::from_bytes(bytes))
}
