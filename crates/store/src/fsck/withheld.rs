//! Checks artifacts whose content is not here: why is known and journaled, and nothing of it is left.

use super::{
    ArtifactFault,
    journal::{self, Journaled},
};
use crate::{
    Result,
    artifact::{LocatedArtifact, withheld_mutation},
    sql::Tx,
};

/// Returns the first thing that is wrong with an artifact without content.
pub(super) async fn fault(tx: &mut Tx<'_>, located: &LocatedArtifact) -> Result<Option<ArtifactFault>> {
    let Some(cause) = located.cause() else { return Ok(None) };
    let key = located.key();
    let sql = "SELECT 1 FROM artifacts WHERE key = ?1 AND body IS NOT NULL \
               UNION ALL SELECT 1 FROM parts WHERE artifact = ?1 LIMIT 1";
    if tx.row(sql, &[key.into()]).await?.is_some() {
        return Ok(Some(ArtifactFault::StillHere));
    }
    let sql = "SELECT w.reason, w.substitute, s.encoding, j.kind, j.subject, j.digest \
               FROM withheld w LEFT JOIN artifacts s ON s.key = w.substitute AND s.space = ?1 \
               LEFT JOIN journal j ON j.space = ?1 AND j.seq = w.seq WHERE w.artifact = ?2";
    let space = tx.space;
    let Some(withheld) = tx.row(sql, &[space.into(), key.into()]).await? else {
        return Ok(Some(ArtifactFault::Unexplained));
    };
    let said = withheld_mutation(&located.id, cause, withheld.text(0)?);
    if journal::compare(&withheld, 3, &said)? != Journaled::Same {
        return Ok(Some(ArtifactFault::NotJournaled));
    }
    let is_shown = withheld.optional_text(2)?.is_some_and(|encoding| !["withheld", "absent"].contains(&encoding));
    let lacks_substitute = withheld.optional_integer(1)?.is_some() && !is_shown;
    Ok(lacks_substitute.then_some(ArtifactFault::NoSubstitute))
}
