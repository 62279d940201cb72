//! Checks annotations: each can be read, is about a commit, and is what the journal says.

use contexture_core::CommitId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    FsckProblem, Phase,
    checker::{self, Found},
    commits,
    journal::{self, Journaled},
    problem,
};
use crate::{
    Result,
    annotation::{self, AnnotationRow},
    commit::{CommitPlace, commit_id},
    sql::{Row, Tx},
    table::{Table, TableRow as _},
};

/// What is wrong with an annotation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, thiserror::Error)]
#[serde(tag = "fault", rename_all = "snake_case")]
pub enum AnnotationFault {
    /// It is about no commit of this space.
    #[error("is about {place}, where no commit is")]
    NoCommit {
        /// Where the commit should be.
        place: CommitPlace,
    },
    /// Its row cannot be read.
    #[error("about {commit} cannot be read: {what}")]
    Unreadable {
        /// The commit.
        commit: CommitId,
        /// What is wrong with the row.
        what: String,
    },
    /// The journal has no such record.
    #[error("about {commit} is not in the journal")]
    NotJournaled {
        /// The commit.
        commit: CommitId,
    },
    /// The journal tells something else.
    #[error("about {commit} is not what the journal says")]
    JournaledOtherwise {
        /// The commit.
        commit: CommitId,
    },
}

/// The first column that is not read as an [`AnnotationRow`], and those after it.
const SEQ: usize = AnnotationRow::COLUMNS.len();
const COMMIT: usize = SEQ + 1;
const JOURNAL: usize = COMMIT + 1;

#[derive(Clone)]
pub(super) struct Scan {
    after: (CommitPlace, i64),
}

impl Default for Scan {
    fn default() -> Self {
        Self { after: (commits::START, 0) }
    }
}

impl checker::Scan for Scan {
    const PHASE: Phase = Phase::Annotations;
    const TABLE: &'static Table = &annotation::ANNOTATIONS;

    async fn page(&mut self, tx: &mut Tx<'_>, limit: u32, found: &mut Found) -> Result<usize> {
        let columns = AnnotationRow::columns_of("n");
        let sql = format!(
            "SELECT {columns}, n.seq, c.id, j.kind, j.subject, j.digest FROM annotations n \
             LEFT JOIN commits c ON c.line = n.line AND c.position = n.position AND c.space = n.space \
             LEFT JOIN journal j ON j.space = n.space AND j.seq = n.seq \
             WHERE n.space = ?1 AND (n.line, n.position, n.seq) > (?2, ?3, ?4) \
             ORDER BY n.line, n.position, n.seq LIMIT ?5"
        );
        let (space, (place, seq)) = (tx.space, self.after);
        let params = [space.into(), place.line.into(), place.position.into(), seq.into(), i64::from(limit).into()];
        let mut rows = tx.rows(&sql, &params).await?;
        for row in &mut rows {
            found.checked.annotations += 1;
            let place = CommitPlace { line: row.integer(0)?, position: row.integer(1)? };
            let seq = row.integer(SEQ)?;
            self.after = (place, seq);
            if let Some(fault) = fault(row, place)? {
                found.problems.push(FsckProblem::Annotation { seq, fault });
            }
        }
        Ok(rows.len())
    }

    fn key(&self) -> String {
        let (place, seq) = self.after;
        format!("{place}, record {seq}")
    }

    fn stride(&self, doublings: u32) -> Option<Self> {
        let (place, _) = self.after;
        Some(Self { after: (commits::stride(place, doublings), i64::MAX) })
    }
}

fn fault(row: &mut Row, place: CommitPlace) -> Result<Option<AnnotationFault>> {
    let Some(commit) = row.optional_blob(COMMIT)? else {
        return Ok(Some(AnnotationFault::NoCommit { place }));
    };
    let commit = commit_id(commit)?;
    let (noted, withheld) = match AnnotationRow::of(row) {
        Ok(AnnotationRow { noted, withheld, .. }) => (noted, withheld),
        Err(error) => return Ok(Some(AnnotationFault::Unreadable { commit, what: problem::reason(error) })),
    };
    let mut said = annotation::mutation(&commit, &noted);
    said.digest = withheld.unwrap_or(said.digest);
    Ok(match journal::compare(row, JOURNAL, &said)? {
        Journaled::Same => None,
        Journaled::Not => Some(AnnotationFault::NotJournaled { commit }),
        Journaled::Otherwise => Some(AnnotationFault::JournaledOtherwise { commit }),
    })
}
