//! How the checks go through the tables: in pages, around what cannot be read, counting as they go.

use futures_util::FutureExt as _;

use super::{CheckedCounts, FsckProblem, FsckReport, Phase, Progress, passages, problem};
use crate::{Error, Result, Scope, Store, artifact::LocatedArtifact, sql::Tx, table::Table};

/// How often the search for readable rows behind unreadable ones doubles its stride before it takes the rest for lost.
pub(super) const MAX_DOUBLINGS: u32 = 40;

/// A pass over one table in key order; the value is how far it has come and what it must remember of that.
///
/// Each table that is checked implements it once and [`StoreChecker`] calls it. An implementation must never read more than
/// `limit` rows of its table for one page, nor keep anything that grows with the table.
pub(super) trait Scan: Clone + Send + Sync + 'static {
    /// What this pass is to those who watch.
    const PHASE: Phase;
    /// The table, whose rows are of spaces.
    const TABLE: &'static Table;
    /// Which of its rows are gone over, as a condition.
    const ROWS: &'static str = "space = ?1";
    /// Rows in a page.
    const PAGE_ROWS: u32 = 512;

    /// Checks up to `limit` further rows, moves behind them and returns how many there were.
    fn page(&mut self, tx: &mut Tx<'_>, limit: u32, found: &mut Found) -> impl Future<Output = Result<usize>> + Send;

    /// Returns the key of the last row checked, as people read it.
    fn key(&self) -> String;

    /// Moves on by a number of keys without looking; nothing when keys of this table cannot be counted.
    fn stride(&self, doublings: u32) -> Option<Self>;
}

/// What a page yielded.
#[derive(Default)]
pub(super) struct Found {
    pub(super) checked: CheckedCounts,
    pub(super) problems: Vec<FsckProblem>,
    /// Artifacts whose bytes are to be read once the transaction is over.
    pub(super) unread: Vec<LocatedArtifact>,
}

/// A check under way.
pub(super) struct StoreChecker<'c> {
    pub(super) store: &'c Store,
    pub(super) scope: &'c Scope,
    progress: &'c mut (dyn FnMut(Progress) + Send),
    now: Progress,
    pub(super) report: FsckReport,
    /// Artifacts of the last page whose bytes are still to be read.
    pub(super) unread: Vec<LocatedArtifact>,
}

/// Whether a table may have further rows.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Further {
    Rows,
    Nothing,
}

struct Page<S> {
    scan: S,
    found: Found,
    rows: usize,
}

impl Found {
    /// Notes a row that does not say which thing it is.
    pub(super) fn row(&mut self, phase: Phase, key: String, error: Error) {
        self.problems.push(FsckProblem::Row { phase, key, what: problem::reason(error) });
    }
}

impl<'c> StoreChecker<'c> {
    pub(super) fn new(store: &'c Store, scope: &'c Scope, progress: &'c mut (dyn FnMut(Progress) + Send)) -> Self {
        let now = Progress { phase: Phase::Engine, done: 0, total: 1 };
        Self { store, scope, progress, now, report: FsckReport::default(), unread: Vec::new() }
    }

    pub(super) fn into_report(self) -> FsckReport {
        self.report
    }

    /// Runs the engine's own check.
    pub(super) async fn engine(&mut self) -> Result<()> {
        // Whether the space can be entered decides between damage, which is reported, and a store that cannot be read.
        self.store.read(self.scope.clone(), (), |_, ()| async { Result::Ok(()) }.boxed()).await?;
        self.begin(Phase::Engine, 1);
        match self.store.integrity_problems().await {
            Ok(found) => found.into_iter().for_each(|what| self.report.add(FsckProblem::Engine { what })),
            Err(error) if is_damage(&error) => self.report.add(FsckProblem::Engine { what: problem::reason(error) }),
            Err(error) => return Err(error),
        }
        self.advance(1);
        Ok(())
    }

    /// Checks that the index that searches ask is not ahead of the journal.
    pub(super) async fn index(&mut self) -> Result<()> {
        match self.store.read(self.scope.clone(), (), |tx, ()| passages::cursor(tx).boxed()).await {
            Ok(found) => found.into_iter().for_each(|problem| self.report.add(problem)),
            Err(error) if is_damage(&error) => self.report.add(FsckProblem::Engine { what: problem::reason(error) }),
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Checks a whole table.
    pub(super) async fn run<S: Scan>(&mut self, mut scan: S) -> Result<()> {
        self.begin_table::<S>().await?;
        while self.next(&mut scan).await? == Further::Rows {}
        Ok(())
    }

    /// Starts the pass over a table.
    pub(super) async fn begin_table<S: Scan>(&mut self) -> Result<()> {
        let counting = self.store.read(self.scope.clone(), (), |tx, ()| {
            let space = tx.space;
            let count = async move {
                let sql = format!("SELECT count(*) FROM {} WHERE {}", S::TABLE.name, S::ROWS);
                Ok(tx.one(&sql, &[space.into()]).await?.integer(0)?.cast_unsigned())
            };
            count.boxed()
        });
        let total = match counting.await {
            Ok(total) => total,
            // Only the total is lost; the pass itself meets the same damage and reports it.
            Err(error) if is_damage(&error) => 0,
            Err(error) => return Err(error),
        };
        self.begin(S::PHASE, total);
        Ok(())
    }

    /// Checks the next page of a table. When it cannot be read whole it is read row by row.
    pub(super) async fn next<S: Scan>(&mut self, scan: &mut S) -> Result<Further> {
        match self.read(scan, S::PAGE_ROWS).await {
            Ok(page) => Ok(self.accept(scan, page, S::PAGE_ROWS)),
            Err(error) if is_damage(&error) => {
                for _ in 0..S::PAGE_ROWS {
                    if self.next_row(scan).await? == Further::Nothing {
                        return Ok(Further::Nothing);
                    }
                }
                Ok(Further::Rows)
            }
            Err(error) => Err(error),
        }
    }

    async fn next_row<S: Scan>(&mut self, scan: &mut S) -> Result<Further> {
        let error = match self.read(scan, 1).await {
            Ok(page) => return Ok(self.accept(scan, page, 1)),
            Err(error) if is_damage(&error) => error,
            Err(error) => return Err(error),
        };
        let rows =
            |until| FsckProblem::Rows { phase: S::PHASE, after: scan.key(), until, what: problem::reason(error) };
        for doublings in 0..MAX_DOUBLINGS {
            let Some(beyond) = scan.stride(doublings) else {
                break;
            };
            match self.read(&beyond, 1).await {
                Ok(page) => {
                    self.report.add(rows(Some(beyond.key())));
                    return Ok(self.accept(scan, page, 1));
                }
                Err(error) if is_damage(&error) => {}
                Err(error) => return Err(error),
            }
        }
        self.report.add(rows(None));
        Ok(Further::Nothing)
    }

    async fn read<S: Scan>(&self, scan: &S, limit: u32) -> Result<Page<S>> {
        let reading = self.store.read(self.scope.clone(), (scan.clone(), limit), |tx, (scan, limit)| {
            let mut scan = scan.clone();
            let check = async move {
                let mut found = Found::default();
                let rows = scan.page(tx, *limit, &mut found).await?;
                Ok(Page { scan, found, rows })
            };
            check.boxed()
        });
        reading.await
    }

    fn accept<S: Scan>(&mut self, scan: &mut S, page: Page<S>, limit: u32) -> Further {
        let Page { scan: moved, found, rows } = page;
        self.report.checked += found.checked;
        found.problems.into_iter().for_each(|problem| self.report.add(problem));
        self.unread.extend(found.unread);
        self.advance(rows as u64);
        // Text that is not UTF-8 reads as other text than it is, so a key made of it may not lead past its row.
        let stuck = rows > 0 && moved.key() == scan.key();
        if stuck {
            let what = "its key is not text".to_owned();
            self.report.add(FsckProblem::Rows { phase: S::PHASE, after: scan.key(), until: None, what });
        }
        *scan = moved;
        if stuck || rows < limit as usize { Further::Nothing } else { Further::Rows }
    }

    pub(super) fn begin(&mut self, phase: Phase, total: u64) {
        self.now = Progress { phase, done: 0, total };
        (self.progress)(self.now);
    }

    pub(super) fn advance(&mut self, rows: u64) {
        self.now.done += rows;
        self.now.total = self.now.total.max(self.now.done);
        (self.progress)(self.now);
    }
}

/// Tells damage to what is stored from a store that cannot be used now.
pub(super) fn is_damage(error: &Error) -> bool {
    matches!(error, Error::Damaged { .. } | Error::DamagedArtifact(_) | Error::Database { .. } | Error::Disk { .. })
}
