//! Checks artifacts in parts: the parts join, and together they have the digest.

use contexture_core::ArtifactId;
use futures_util::FutureExt as _;

use super::{ArtifactFault, checker, problem};
use crate::{
    Error, Result, Scope, Store,
    artifact::{ArtifactReader, PartRow},
    sql::{Row, Tx},
    table::TableRow as _,
};

/// Parts that are looked at in one query.
const PARTS_PER_PAGE: u32 = 1024;

/// An artifact in parts.
#[derive(Clone, Copy)]
pub(super) struct Large {
    pub(super) key: i64,
    pub(super) id: ArtifactId,
    pub(super) size: u64,
}

/// Returns the first thing that is wrong with an artifact in parts.
pub(super) async fn fault(store: &Store, scope: &Scope, large: Large) -> Result<Option<ArtifactFault>> {
    let check = async {
        match joint_fault(store, scope, large).await? {
            Some(fault) => Ok(Some(fault)),
            None => content_fault(store, scope, large.id).await,
        }
    };
    match check.await {
        // It went between two looks; the caller asks whether it is still there.
        Err(Error::NoArtifact(_)) => Ok(Some(ArtifactFault::NoPart { start: 0 })),
        Err(error) if checker::is_damage(&error) => {
            Ok(Some(ArtifactFault::Unreadable { what: problem::reason(error) }))
        }
        outcome => outcome,
    }
}

/// Looks where the parts lie.
async fn joint_fault(store: &Store, scope: &Scope, large: Large) -> Result<Option<ArtifactFault>> {
    let (mut end, mut after) = (0, -1);
    loop {
        let reading = store.read(scope.clone(), (large.key, after), |tx, &(key, after)| parts(tx, key, after).boxed());
        let page = reading.await?;
        for &(start, size) in &page {
            if start != end {
                return Ok(Some(ArtifactFault::PartsApart { start: end }));
            }
            let Some(size) = size else {
                return Ok(Some(ArtifactFault::NoPart { start }));
            };
            (end, after) = (end.saturating_add(size), start.cast_signed());
        }
        if page.is_empty() {
            let expected = large.size;
            return Ok((end != expected).then_some(ArtifactFault::PartsSize { found: end, expected }));
        }
    }
}

/// Returns where the next parts start and, when they are stored, their size.
async fn parts(tx: &mut Tx<'_>, artifact: i64, after: i64) -> Result<Vec<(u64, Option<u64>)>> {
    let columns = PartRow::columns_of("p");
    let sql = format!(
        "SELECT {columns}, a.size FROM parts p LEFT JOIN artifacts a ON a.key = p.part AND a.space = ?1 \
         WHERE p.artifact = ?2 AND p.start > ?3 ORDER BY p.start LIMIT ?4"
    );
    let space = tx.space;
    let params = [space.into(), artifact.into(), after.into(), i64::from(PARTS_PER_PAGE).into()];
    let part = |row: &mut Row| {
        let row = &mut row.reader(0);
        Ok((PartRow::decode(row)?.start, row.optional_integer()?.map(i64::cast_unsigned)))
    };
    tx.rows(&sql, &params).await?.iter_mut().map(part).collect()
}

/// Reads every byte.
async fn content_fault(store: &Store, scope: &Scope, id: ArtifactId) -> Result<Option<ArtifactFault>> {
    let mut reader = ArtifactReader::open(store, scope, id).await?;
    loop {
        match reader.next().await {
            Ok(Some(_)) => {}
            Ok(None) => return Ok(None),
            Err(Error::DamagedArtifact(damaged)) if damaged == id => return Ok(Some(ArtifactFault::Damaged)),
            Err(Error::DamagedArtifact(part)) => return Ok(Some(ArtifactFault::PartDamaged { part })),
            Err(error) => return Err(error),
        }
    }
}
