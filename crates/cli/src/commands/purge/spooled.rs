//! What waits in the spool of this machine and is purged too, so that it is not taken in later.

use std::path::Path;

use contexture::{Contexture, PurgePlan, PurgeTarget};
use contexture_capture::SpooledPiece;

use crate::{
    error::{Error, Result},
    invocation::Invocation,
    output::{self, Output},
};

/// Returns the entries of a purged session, and those that hold a purged secret. Of other targets it says which may hold
/// some of it.
pub(super) async fn holding(
    engine: &Contexture,
    invocation: &Invocation,
    target: &PurgeTarget,
    plan: &PurgePlan,
    output: &mut Output,
) -> Result<Vec<SpooledPiece>> {
    let pieces = match invocation.recorder() {
        Ok(recorder) => recorder.spool.pieces(),
        Err(Error::NoHome) => Vec::new(),
        Err(error) => return Err(error),
    };
    let files: Vec<&Path> = plan.files.iter().map(|file| Path::new(&file.path)).collect();
    let mut holding = Vec::new();
    for piece in pieces {
        let is_meant = match target {
            PurgeTarget::Session(session) => piece.is_of(&files, Some(session.as_str())),
            PurgeTarget::Secret(fingerprint) => {
                let bytes = piece.bytes().map_err(|source| unusable(&piece, source))?;
                let found = engine.secrets().fingerprints_of(&bytes).await?;
                found.iter().any(|(_, found)| found == fingerprint)
            }
            PurgeTarget::Commit(_) | PurgeTarget::Head { .. } | PurgeTarget::Artifact(_) => {
                if piece.is_of(&files, None) {
                    let path = piece.path.display().to_string();
                    let path = output::printable(&path);
                    output.status(format_args!("{path} waits in the spool, is of the same session and stays."));
                }
                false
            }
        };
        if is_meant {
            holding.push(piece);
        }
    }
    Ok(holding)
}

/// Removes entries.
pub(super) fn remove(pieces: &[SpooledPiece]) -> Result<()> {
    pieces.iter().try_for_each(|piece| piece.remove().map_err(|source| unusable(piece, source)))
}

/// Returns where entries are.
pub(super) fn paths(pieces: &[SpooledPiece]) -> Vec<String> {
    pieces.iter().map(|piece| piece.path.display().to_string()).collect()
}

fn unusable(piece: &SpooledPiece, source: std::io::Error) -> Error {
    Error::Write { path: piece.path.clone(), source }
}
