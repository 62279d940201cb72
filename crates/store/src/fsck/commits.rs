//! Checks commits: each is what its id says and lies after the commit that its place says.

mod fault;
mod site;

use contexture_core::{ChainDigest, Commit, JournalKind, Mutation};

pub use fault::CommitFault;

use super::{
    FsckProblem, LineFault, Phase,
    checker::{self, Found, MAX_DOUBLINGS},
    journal::{self, Journaled},
    problem,
};
use crate::{
    Result, artifact,
    commit::{self, CommitPlace, StoredCommit, commit_id},
    sql::{Row, Tx},
    table::{Table, TableRow as _},
};
use site::{Carried, CommitSite, DemandedParent, Origin};

/// The first column that is not read as a [`StoredCommit`], and those after it.
const ARTIFACT_KEY: usize = StoredCommit::COLUMNS.len();
const LINE_SPACE: usize = ARTIFACT_KEY + 1;
const FORK: usize = LINE_SPACE + 1;
const ARTIFACT_DIGEST: usize = FORK + 2;
const JOURNAL: usize = ARTIFACT_DIGEST + 1;

/// A place before every commit: keys of lines start at 1.
pub(super) const START: CommitPlace = CommitPlace { line: 0, position: 0 };

/// Returns a place further on: first along the line, then along the lines.
pub(super) fn stride(from: CommitPlace, doublings: u32) -> CommitPlace {
    let along_line = MAX_DOUBLINGS / 2;
    if doublings < along_line {
        CommitPlace { position: from.position.saturating_add(1 << doublings), ..from }
    } else {
        CommitPlace { line: from.line.saturating_add(1 << (doublings - along_line)), position: -1 }
    }
}

#[derive(Clone)]
pub(super) struct Scan {
    after: CommitPlace,
    /// The commit there; nothing when it was not read.
    site: Option<CommitSite>,
}

impl Default for Scan {
    fn default() -> Self {
        Self { after: START, site: None }
    }
}

impl checker::Scan for Scan {
    const PHASE: Phase = Phase::Commits;
    const TABLE: &'static Table = &commit::COMMITS;

    async fn page(&mut self, tx: &mut Tx<'_>, limit: u32, found: &mut Found) -> Result<usize> {
        // The sum keeps SQLite from choosing an index that starts with the space and sorting all of it for each page.
        let columns = StoredCommit::columns();
        let sql = format!(
            "SELECT c.*, l.space, l.fork_line, l.fork_position, a.digest, j.kind, j.subject, j.digest FROM \
             (SELECT {columns}, artifact_key FROM commits WHERE space + 0 = ?1 AND (line, position) > (?2, ?3) \
             ORDER BY line, position LIMIT ?4) c LEFT JOIN lines l ON l.key = c.line \
             LEFT JOIN artifacts a ON a.key = c.artifact_key AND a.space = ?1 \
             LEFT JOIN journal j ON j.space = ?1 AND j.seq = c.seq ORDER BY c.line, c.position"
        );
        let (space, CommitPlace { line, position }) = (tx.space, self.after);
        let mut rows = tx.rows(&sql, &[space.into(), line.into(), position.into(), i64::from(limit).into()]).await?;
        for row in &mut rows {
            found.checked.commits += 1;
            let place = CommitPlace { line: row.integer(0)?, position: row.integer(1)? };
            let origin = self.origin(tx, row, place, found).await?;
            let site = check(tx, row, place, &origin, found).await?;
            *self = Self { after: place, site: Some(site) };
        }
        Ok(rows.len())
    }

    fn key(&self) -> String {
        self.after.to_string()
    }

    fn stride(&self, doublings: u32) -> Option<Self> {
        Some(Self { after: stride(self.after, doublings), site: None })
    }
}

impl Scan {
    /// Returns what comes before a place, noting what is wrong with the line on the way there.
    async fn origin(&self, tx: &mut Tx<'_>, row: &Row, place: CommitPlace, found: &mut Found) -> Result<Origin> {
        let CommitPlace { line, position } = place;
        let starts_line = line != self.after.line;
        let expected = if starts_line { 0 } else { self.after.position + 1 };
        let listed_in = row.optional_integer(LINE_SPACE)?;
        if starts_line && listed_in != Some(tx.space) {
            let fault = if listed_in.is_some() { LineFault::OtherSpace } else { LineFault::Missing };
            found.problems.push(FsckProblem::Line { line, fault });
        }
        if position != expected {
            let fault = LineFault::Gap { first: expected, last: position - 1 };
            found.problems.push(FsckProblem::Line { line, fault });
            return Ok(Origin::Unknown);
        }
        if !starts_line {
            return Ok(self.site.map_or(Origin::Unknown, Origin::Commit));
        }
        match (row.optional_integer(FORK)?, row.optional_integer(FORK + 1)?) {
            (None, None) if listed_in.is_some() => Ok(Origin::Nothing),
            (Some(line), Some(position)) => fork_point(tx, CommitPlace { line, position }).await,
            // The check of the lines says that such a fork point is none.
            (None, _) | (Some(_), None) => Ok(Origin::Unknown),
        }
    }
}

async fn fork_point(tx: &mut Tx<'_>, place: CommitPlace) -> Result<Origin> {
    let sql = "SELECT id, depth, reset_line, reset_position FROM commits WHERE line = ?1 AND position = ?2";
    let Some(row) = tx.row(sql, &[place.line.into(), place.position.into()]).await? else {
        return Ok(Origin::Unknown);
    };
    Ok(Origin::Commit(CommitSite {
        id: commit_id(row.blob(0)?).ok(),
        depth: Carried::sure(row.integer(1)?),
        reset: Carried::sure(commit::place(&row, 2)?),
    }))
}

/// Checks a commit and returns what the next one takes over from it.
async fn check(
    tx: &mut Tx<'_>,
    row: &mut Row,
    place: CommitPlace,
    origin: &Origin,
    found: &mut Found,
) -> Result<CommitSite> {
    let stored_depth = row.integer(19)?;
    let (depth, wrong_depth) = origin.depth().unwrap_or(Carried::sure(stored_depth)).compared_with(stored_depth);
    let mut site =
        CommitSite { id: commit_id(row.blob(2)?).ok(), depth, reset: Carried::sure(commit::place(row, 20)?) };
    let mut faults = Vec::new();
    faults.extend(wrong_depth.map(|expected| CommitFault::WrongDepth { found: stored_depth, expected }));
    let unreadable = match StoredCommit::of(row) {
        Ok(stored) => {
            let digest = stored.commit.digest();
            let intact = Commit::id_of(&digest) == stored.id;
            if intact {
                faults.extend(reset_fault(&stored, origin, &mut site));
            } else {
                faults.push(CommitFault::Altered { computed: Commit::id_of(&digest) });
            }
            record_faults(&stored, origin, &mut faults);
            reference_faults(tx, row, &stored, &mut faults).await?;
            faults.extend(journal_fault(row, &stored, ChainDigest(digest))?);
            None
        }
        Err(error) => Some(error),
    };
    match (site.id, unreadable) {
        (Some(_), Some(error)) => faults.push(CommitFault::Unreadable { what: problem::reason(error) }),
        (None, Some(error)) => found.row(Phase::Commits, place.to_string(), error),
        (_, None) => {}
    }
    if let Some(commit) = site.id {
        found.problems.extend(faults.into_iter().map(|fault| FsckProblem::Commit { commit, fault }));
    }
    Ok(site)
}

/// Checks the reset of a commit whose kind can be trusted.
fn reset_fault(stored: &StoredCommit, origin: &Origin, site: &mut CommitSite) -> Option<CommitFault> {
    let belongs = if stored.commit.kind.is_reset() { Some(Carried::sure(Some(stored.place))) } else { origin.reset() };
    let (reset, wrong) = belongs?.compared_with(stored.reset);
    site.reset = reset;
    wrong.map(|expected| CommitFault::WrongReset { found: stored.reset, expected })
}

fn record_faults(stored: &StoredCommit, origin: &Origin, faults: &mut Vec<CommitFault>) {
    if let Err(error) = stored.commit.check() {
        faults.push(CommitFault::Invalid { what: error.to_string() });
    }
    let found = stored.commit.parent;
    if let Some(DemandedParent(expected)) = origin.parent()
        && found != expected
    {
        faults.push(CommitFault::WrongParent { found, expected });
    }
}

/// Checks that what a commit refers to is there.
async fn reference_faults(
    tx: &mut Tx<'_>,
    row: &Row,
    stored: &StoredCommit,
    faults: &mut Vec<CommitFault>,
) -> Result<()> {
    let artifact = stored.commit.artifact;
    if row.optional_blob(ARTIFACT_DIGEST)? != Some(artifact.as_bytes()) {
        let elsewhere = artifact::exists(tx, &artifact).await?;
        faults.push(if elsewhere {
            CommitFault::WrongArtifactKey { artifact }
        } else {
            CommitFault::NoArtifact { artifact }
        });
    }
    for merged in &stored.commit.merges {
        if commit::find_place(tx, merged).await?.is_none() {
            faults.push(CommitFault::NoMerged { merged: *merged });
        }
    }
    Ok(())
}

/// Compares a commit with its journal record.
fn journal_fault(row: &Row, stored: &StoredCommit, digest: ChainDigest) -> Result<Option<CommitFault>> {
    let said = Mutation { kind: JournalKind::CommitCreated, subject: stored.id.to_string(), digest };
    let seq = stored.seq;
    Ok(match journal::compare(row, JOURNAL, &said)? {
        Journaled::Same => None,
        Journaled::Not => Some(CommitFault::NotJournaled { seq }),
        // A record that does not have its id cannot have its digest either; that is reported already.
        Journaled::Otherwise if Commit::id_of(&digest.0) != stored.id => None,
        Journaled::Otherwise => Some(CommitFault::JournaledOtherwise { seq }),
    })
}
