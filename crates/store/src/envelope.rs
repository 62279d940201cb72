//! Envelopes: what was assembled once, in order, never overwritten.

use contexture_core::{ArtifactId, CommitId, EnvelopeId, JournalKind, Mutation, RecipeName, Stream, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Error, Result, artifact,
    commit::{self, CommitPlace, Inserted, commit_id},
    journal,
    space::{stored, time},
    sql::{Param, RowReader, Tx},
    table::{Column, RowOwner, RowReference, Table, TableRow},
};

/// An envelope and where what belongs to it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EnvelopeRecord {
    /// Its JSON.
    pub document: ArtifactId,
    /// What it follows others in.
    pub stream: Stream,
    /// What it was made by.
    pub recipe: RecipeName,
    /// The commit that it was made from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<CommitId>,
    /// When it was made.
    pub created_at: Timestamp,
    /// Frozen inputs and renderings, in the order in which they were given.
    pub artifacts: Vec<ArtifactId>,
}

/// An envelope as lists show it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StoredEnvelope {
    /// Its id.
    pub id: EnvelopeId,
    /// Sequence number of its creation in the journal of its space, which is its place among others.
    pub seq: u64,
    /// What it follows others in.
    pub stream: Stream,
    /// What it was made by.
    pub recipe: RecipeName,
    /// The commit that it was made from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<CommitId>,
    /// When it was made.
    pub created_at: Timestamp,
    /// Its JSON.
    pub document: ArtifactId,
}

/// Which envelopes to list. An empty filter lists all.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Only those of this stream.
    pub stream: Option<Stream>,
    /// Only those made from this commit.
    pub commit: Option<CommitId>,
    /// Only those made by this recipe.
    pub recipe: Option<RecipeName>,
}

impl EnvelopeRecord {
    /// Returns its id, which follows from its document alone.
    pub fn id(&self) -> EnvelopeId {
        EnvelopeId::of_artifact(&self.document)
    }

    pub(crate) fn mutation(&self) -> Mutation {
        Mutation::new(JournalKind::EnvelopeCreated, self.id().to_string(), self)
    }
}

impl StoredEnvelope {
    /// Adds the artifacts that belong to it.
    pub fn with_artifacts(self, artifacts: Vec<ArtifactId>) -> EnvelopeRecord {
        let Self { stream, recipe, commit, created_at, document, .. } = self;
        EnvelopeRecord { document, stream, recipe, commit, created_at, artifacts }
    }
}

/// Most artifacts that belong to one envelope beside its document.
pub const MAX_ARTIFACTS: usize = 8192;

/// The table of envelopes.
pub(crate) static ENVELOPES: Table = Table {
    name: "envelopes",
    owner: RowOwner::Space,
    key: &["space", "seq"],
    columns: &[
        Column::number("space"),
        Column::number("seq").to(RowReference::JournalRecord),
        Column::bytes("id"),
        Column::text("stream"),
        Column::text("recipe"),
        Column::bytes("commit_id").optional().to(RowReference::Commit),
        Column::number("created_at"),
        Column::bytes("document").to(RowReference::ArtifactDigest),
    ],
};

/// The table of the artifacts that belong to envelopes.
pub(crate) static ENVELOPE_ARTIFACTS: Table = Table {
    name: "envelope_artifacts",
    owner: RowOwner::Space,
    key: &["space", "envelope", "position"],
    columns: &[
        Column::number("space"),
        Column::number("envelope").to(RowReference::EnvelopeRecord),
        Column::number("position"),
        Column::bytes("artifact").to(RowReference::ArtifactDigest),
    ],
};

/// Returns the envelopes that an artifact belongs to, oldest first. It goes over all envelopes of the space.
pub async fn with_artifact(tx: &mut Tx<'_>, artifact: &ArtifactId) -> Result<Vec<EnvelopeId>> {
    let sql = "SELECT e.id FROM envelopes e WHERE e.space = ?1 AND (e.document = ?2 OR EXISTS (SELECT 1 \
               FROM envelope_artifacts x WHERE x.space = e.space AND x.envelope = e.seq AND x.artifact = ?2)) \
               ORDER BY e.seq";
    let params = [tx.space.into(), Param::Blob(artifact.as_bytes())];
    tx.rows(sql, &params).await?.iter().map(|row| envelope_id(row.blob(0)?)).collect()
}

/// Stores an envelope whose artifacts are already stored. One with the same document stays as it is.
pub async fn put(tx: &mut Tx<'_>, envelope: &EnvelopeRecord) -> Result<(EnvelopeId, Inserted)> {
    let id = envelope.id();
    if find(tx, &id).await?.is_some() {
        return Ok((id, Inserted::AlreadyThere));
    }
    if let Some(commit) = &envelope.commit {
        commit::require(tx, commit).await?;
    }
    if envelope.artifacts.len() > MAX_ARTIFACTS {
        return Err(Error::TooManyArtifacts { envelope: id, count: envelope.artifacts.len() });
    }
    let mut needed = vec![envelope.document];
    needed.extend(&envelope.artifacts);
    artifact::require_all(tx, &needed).await?;
    let seq = journal::append(tx, envelope.mutation()).await?.cast_signed();
    let space = tx.space;
    let sql = "INSERT INTO envelopes (space, seq, id, stream, recipe, commit_id, created_at, document) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
    let params = [
        space.into(),
        seq.into(),
        Param::Blob(id.as_bytes()),
        envelope.stream.as_str().into(),
        envelope.recipe.as_str().into(),
        envelope.commit.as_ref().map(|commit| commit.as_bytes().as_slice()).into(),
        envelope.created_at.as_micros().into(),
        Param::Blob(envelope.document.as_bytes()),
    ];
    tx.post(sql, &params).await?;
    for (artifact, position) in envelope.artifacts.iter().zip(0..) {
        let sql = "INSERT INTO envelope_artifacts (space, envelope, position, artifact) VALUES (?1, ?2, ?3, ?4)";
        let params = [space.into(), seq.into(), Param::Integer(position), Param::Blob(artifact.as_bytes())];
        tx.post(sql, &params).await?;
    }
    Ok((id, Inserted::New))
}

/// Returns an envelope, if it is here.
pub async fn find(tx: &mut Tx<'_>, id: &EnvelopeId) -> Result<Option<StoredEnvelope>> {
    let space = tx.space;
    let sql = format!("{} AND id = ?2", StoredEnvelope::select());
    tx.row_of(&sql, &[space.into(), Param::Blob(id.as_bytes())]).await
}

/// Returns an envelope, or the error that says there is none.
pub async fn show(tx: &mut Tx<'_>, id: &EnvelopeId) -> Result<StoredEnvelope> {
    find(tx, id).await?.ok_or(Error::NoEnvelope(*id))
}

/// Returns the artifacts that belong to an envelope beside its document, in the order in which they were given.
pub async fn artifacts(tx: &mut Tx<'_>, id: &EnvelopeId) -> Result<Vec<ArtifactId>> {
    let seq = show(tx, id).await?.seq;
    artifacts_of(tx, seq.cast_signed()).await
}

pub(crate) async fn artifacts_of(tx: &mut Tx<'_>, seq: i64) -> Result<Vec<ArtifactId>> {
    let space = tx.space;
    let sql = format!("{} AND envelope = ?2 ORDER BY position", EnvelopeArtifactRow::select());
    let rows = tx.rows_of::<EnvelopeArtifactRow>(&sql, &[space.into(), seq.into()]).await?;
    Ok(rows.into_iter().map(|row| row.artifact).collect())
}

/// Returns the envelopes whose ids lie in a range, at most `limit`: how an abbreviated id is looked up.
pub async fn ids_between(
    tx: &mut Tx<'_>,
    first: &EnvelopeId,
    last: &EnvelopeId,
    limit: u32,
) -> Result<Vec<EnvelopeId>> {
    let space = tx.space;
    let sql = "SELECT id FROM envelopes WHERE space = ?1 AND id BETWEEN ?2 AND ?3 ORDER BY id LIMIT ?4";
    let params = [space.into(), Param::Blob(first.as_bytes()), Param::Blob(last.as_bytes()), i64::from(limit).into()];
    tx.rows(sql, &params).await?.iter().map(|row| envelope_id(row.blob(0)?)).collect()
}

/// Returns the latest envelope of a stream, or the latest of those before a given envelope.
pub async fn latest(tx: &mut Tx<'_>, stream: &Stream, before: Option<&EnvelopeId>) -> Result<Option<StoredEnvelope>> {
    let before = match before {
        Some(id) => Some(show(tx, id).await?.seq),
        None => None,
    };
    let filter = Filter { stream: Some(stream.clone()), ..Filter::default() };
    Ok(list(tx, &filter, before, 1).await?.pop())
}

/// Returns up to `limit` envelopes that pass the filter, newest first, those before a sequence number.
pub async fn list(tx: &mut Tx<'_>, filter: &Filter, before: Option<u64>, limit: u32) -> Result<Vec<StoredEnvelope>> {
    let conditions = [
        ("stream =", filter.stream.as_ref().map(|stream| stream.as_str().into())),
        ("recipe =", filter.recipe.as_ref().map(|recipe| recipe.as_str().into())),
        ("commit_id =", filter.commit.as_ref().map(|commit| Param::Blob(commit.as_bytes()))),
        ("seq <", before.map(|seq| i64::try_from(seq).unwrap_or(i64::MAX).into())),
    ];
    tx.newest(conditions, limit).await
}

/// Returns up to `limit` envelopes after a sequence number, oldest first, each with where its commit lies.
pub async fn after(tx: &mut Tx<'_>, seq: u64, limit: u32) -> Result<Vec<(StoredEnvelope, Option<CommitPlace>)>> {
    let space = tx.space;
    // Not a join: PostgreSQL, which knows nothing of a young table, would compare each envelope with all commits.
    let columns = StoredEnvelope::columns_of("e");
    let sql = format!(
        "SELECT {columns}, (SELECT c.line FROM commits c WHERE c.space = e.space AND c.id = e.commit_id), \
         (SELECT c.position FROM commits c WHERE c.space = e.space AND c.id = e.commit_id) \
         FROM envelopes e WHERE e.space = ?1 AND e.seq > ?2 ORDER BY e.seq LIMIT ?3"
    );
    let seq = i64::try_from(seq).unwrap_or(i64::MAX);
    let mut rows = tx.rows(&sql, &[space.into(), seq.into(), i64::from(limit).into()]).await?;
    let place = StoredEnvelope::COLUMNS.len();
    rows.iter_mut().map(|row| Ok((StoredEnvelope::of(row)?, commit::place(row, place)?))).collect()
}

impl TableRow for StoredEnvelope {
    const TABLE: &'static Table = &ENVELOPES;
    const COLUMNS: &'static [&'static str] = &["id", "seq", "stream", "recipe", "commit_id", "created_at", "document"];

    fn decode(row: &mut RowReader<'_>) -> Result<Self> {
        Ok(Self {
            id: envelope_id(row.blob()?)?,
            seq: row.unsigned()?,
            stream: stored::<Stream>(row.text()?)?,
            recipe: stored::<RecipeName>(row.text()?)?,
            commit: row.optional_blob()?.map(commit_id).transpose()?,
            created_at: time(row.integer()?)?,
            document: artifact::artifact_id(row.blob()?)?,
        })
    }
}

/// An artifact that belongs to an envelope.
pub(crate) struct EnvelopeArtifactRow {
    /// Sequence number of the envelope.
    pub(crate) envelope: i64,
    pub(crate) artifact: ArtifactId,
}

impl TableRow for EnvelopeArtifactRow {
    const TABLE: &'static Table = &ENVELOPE_ARTIFACTS;
    const COLUMNS: &'static [&'static str] = &["envelope", "artifact"];

    fn decode(row: &mut RowReader<'_>) -> Result<Self> {
        Ok(Self { envelope: row.integer()?, artifact: artifact::artifact_id(row.blob()?)? })
    }
}

pub(crate) fn envelope_id(bytes: &[u8]) -> Result<EnvelopeId> {
    bytes.try_into().map_err(|_| Error::damaged("an envelope id has the wrong length"))
}
