//! Injections: where an envelope became visible.

use contexture_core::{EnvelopeId, InjectionId, JournalKind, Mutation, Timestamp};
use serde::{Deserialize, Serialize};

use crate::{
    Error, JsonText, Result,
    commit::Inserted,
    envelope, journal,
    space::{stored, time},
    sql::{Param, RowReader, Tx},
    table::{Column, RowOwner, RowReference, Table, TableRow},
};

/// An injection of an envelope.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Injection {
    /// Of what.
    pub envelope: EnvelopeId,
    /// When it was recorded.
    pub created_at: Timestamp,
    /// What is known of it.
    pub document: JsonText,
}

/// An injection as the store holds it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StoredInjection {
    /// Its id.
    pub id: InjectionId,
    /// Sequence number of its creation in the journal of its space.
    pub seq: u64,
    /// What it is.
    #[serde(flatten)]
    pub injection: Injection,
}

impl Injection {
    /// Returns its id, which follows from its envelope and its document.
    pub fn id(&self) -> InjectionId {
        InjectionId::of(&self.envelope, self.document.as_str().as_bytes())
    }

    pub(crate) fn mutation(&self) -> Mutation {
        Mutation::new(JournalKind::InjectionCreated, self.id().to_string(), self)
    }
}

/// The table of injections.
pub(crate) static INJECTIONS: Table = Table {
    name: "injections",
    owner: RowOwner::Space,
    key: &["space", "seq"],
    columns: &[
        Column::number("space"),
        Column::number("seq").to(RowReference::JournalRecord),
        Column::bytes("id"),
        Column::bytes("envelope").to(RowReference::Envelope),
        Column::number("created_at"),
        Column::text("document"),
        Column::bytes("withheld").optional(),
    ],
};

/// Stores an injection of an envelope that is here. One with the same document stays as it is.
pub async fn put(tx: &mut Tx<'_>, injection: &Injection) -> Result<(InjectionId, Inserted)> {
    let (id, space) = (injection.id(), tx.space);
    let sql = "SELECT seq FROM injections WHERE space = ?1 AND id = ?2";
    if tx.row(sql, &[space.into(), Param::Blob(id.as_bytes())]).await?.is_some() {
        return Ok((id, Inserted::AlreadyThere));
    }
    envelope::show(tx, &injection.envelope).await?;
    let seq = journal::append(tx, injection.mutation()).await?;
    let sql = "INSERT INTO injections (space, seq, id, envelope, created_at, document) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    let params = [
        space.into(),
        seq.cast_signed().into(),
        Param::Blob(id.as_bytes()),
        Param::Blob(injection.envelope.as_bytes()),
        injection.created_at.as_micros().into(),
        injection.document.as_str().into(),
    ];
    tx.post(sql, &params).await?;
    Ok((id, Inserted::New))
}

/// Returns up to `limit` injections of an envelope after a sequence number, oldest first.
pub async fn list(tx: &mut Tx<'_>, envelope: &EnvelopeId, after: u64, limit: u32) -> Result<Vec<StoredInjection>> {
    let space = tx.space;
    let sql = format!("{} AND envelope = ?2 AND seq > ?3 ORDER BY seq LIMIT ?4", StoredInjection::select());
    let after = i64::try_from(after).unwrap_or(i64::MAX);
    let params = [space.into(), Param::Blob(envelope.as_bytes()), after.into(), i64::from(limit).into()];
    tx.rows_of(&sql, &params).await
}

impl TableRow for StoredInjection {
    const TABLE: &'static Table = &INJECTIONS;
    const COLUMNS: &'static [&'static str] = &["id", "seq", "envelope", "created_at", "document"];

    fn decode(row: &mut RowReader<'_>) -> Result<Self> {
        Ok(Self {
            id: injection_id(row.blob()?)?,
            seq: row.unsigned()?,
            injection: Injection {
                envelope: envelope::envelope_id(row.blob()?)?,
                created_at: time(row.integer()?)?,
                document: stored::<JsonText>(row.text()?)?,
            },
        })
    }
}

pub(crate) fn injection_id(bytes: &[u8]) -> Result<InjectionId> {
    bytes.try_into().map_err(|_| Error::damaged("an injection id has the wrong length"))
}
