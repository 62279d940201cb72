//! A whole transaction in one statement: what a writer that knows its space needs of the server is one answer.

use std::fmt::Write as _;

use super::batch::{Batch, VALUES, table};
use crate::sql::Value;

/// Most rows that go into one statement; more are worth a transaction of several.
const MAX_ROWS: usize = 16;

/// The table whose rows are looked for by rows of the same statement, and the columns by which they are.
///
/// The parts of a statement do not see each other's rows, so a part that looks for them is shown them.
const LOOKED_FOR: (&str, &str) = ("artifacts", "space, digest, key");

/// The last journal record of a space as a transaction takes it to be.
#[derive(Debug, Clone, Copy)]
pub(super) struct Assumption {
    pub(super) space: i64,
    pub(super) seq: i64,
    pub(super) chain: [u8; 32],
}

impl Assumption {
    /// Locks the space and fails, by a division, unless its journal has the record.
    ///
    /// Whether the record is the last one need not be asked by a statement that adds the next: its number can be given once
    /// only.
    pub(super) const GUARD: &str = "SELECT 1 / count(*) FROM (SELECT s.key FROM spaces s \
         JOIN journal j ON j.space = s.key AND j.seq = ?2 AND j.chain = ?3 WHERE s.key = ?1 FOR NO KEY UPDATE OF s) held";

    /// Fails, by a division, unless the journal of the locked space ends with the record.
    pub(super) const CHECK: &str = "SELECT 1 / count(*) FROM journal j WHERE j.space = ?1 AND j.seq = ?2 AND j.chain = ?3 \
         AND NOT EXISTS (SELECT 1 FROM journal n WHERE n.space = ?1 AND n.seq = ?2 + 1)";

    /// Returns the parameters of [`Self::GUARD`] and [`Self::CHECK`].
    pub(super) fn values(&self) -> [Value; 3] {
        [Value::Integer(self.space), Value::Integer(self.seq), Value::Blob(self.chain.to_vec())]
    }
}

/// Tells whether rows can be a transaction of one statement.
///
/// They must come with a record of the journal, because that conflicts with whatever else was written meanwhile.
pub(super) fn suits(batches: &[Batch]) -> bool {
    let is_seen = |later: &Batch, earlier: &Batch| {
        table(&earlier.sql) == LOOKED_FOR.0 || !later.sql.contains(&format!(" FROM {} ", table(&earlier.sql)))
    };
    batches.iter().map(|batch| batch.rows.len()).sum::<usize>() <= MAX_ROWS
        && batches.iter().any(|batch| table(&batch.sql) == "journal")
        && batches.iter().enumerate().all(|(at, later)| batches[..at].iter().all(|earlier| is_seen(later, earlier)))
}

/// Writes the statement that inserts all rows under the guard, whose parameters come first; nothing when a statement is not
/// one that inserts.
pub(super) fn statement(batches: &[Batch]) -> Option<String> {
    let mut parts = Vec::new();
    let mut looked_for = None;
    let mut taken = 3;
    for (at, Batch { sql, rows, .. }) in batches.iter().enumerate() {
        let (head, rest) = sql.split_once(VALUES)?;
        let end = rest.find(") ON CONFLICT ").or_else(|| rest.rfind(')'))?;
        let (values, tail) = (&rest[..end], &rest[end + 1..]);
        let mut lists = Vec::new();
        for row in rows {
            lists.push(format!("({})", numbered(values, taken)));
            taken += row.len();
        }
        let mut part = format!("{head} VALUES {}{tail}", lists.join(", "));
        let (name, columns) = LOOKED_FOR;
        if let Some(source) = looked_for {
            let both = format!(" FROM (SELECT {columns} FROM {name} UNION ALL SELECT {columns} FROM part{source}) ");
            part = part.replace(&format!(" FROM {name} "), &both);
        }
        if table(sql) == name {
            looked_for = Some(at);
            part = format!("{part} RETURNING {columns}");
        }
        parts.push(format!("part{at} AS ({part})"));
    }
    Some(format!("WITH {} {}", parts.join(", "), numbered(Assumption::GUARD, 0)))
}

/// Writes parameters as the server does, the first of them with the number after those that are taken.
fn numbered(sql: &str, taken: usize) -> String {
    let mut pieces = sql.split('?');
    let mut text = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let end = piece.find(|c: char| !c.is_ascii_digit()).unwrap_or(piece.len());
        let number: usize = piece[..end].parse().unwrap_or_default();
        // Writing to a String cannot fail.
        let _written = write!(text, "${}{}", number + taken, &piece[end..]);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{super::batch::Delayed, *};
    use crate::sql::Param;

    const ARTIFACTS: &str = "INSERT INTO artifacts (space, digest) VALUES (?1, ?2) ON CONFLICT (space) DO NOTHING";
    const COMMITS: &str = "INSERT INTO commits (space, key) VALUES (?1, COALESCE(?2, (SELECT a.key FROM artifacts a WHERE a.digest = ?2)))";
    const JOURNAL: &str = "INSERT INTO journal (space, seq) VALUES (?1, ?2)";

    fn batches(statements: &[&str]) -> Vec<Batch> {
        let mut delayed = Delayed::default();
        for sql in statements {
            delayed.add(sql, &[Param::Integer(1), Param::Integer(2)]);
        }
        delayed.take()
    }

    #[test]
    fn rows_of_all_tables_become_one_statement() {
        let batches = batches(&[ARTIFACTS, JOURNAL, COMMITS, JOURNAL]);
        assert!(suits(&batches));
        let expected = [
            "WITH part0 AS (INSERT INTO artifacts (space, digest) VALUES ($4, $5) ON CONFLICT (space) DO NOTHING \
             RETURNING space, digest, key), ",
            "part1 AS (INSERT INTO journal (space, seq) VALUES ($6, $7), ($8, $9)), ",
            "part2 AS (INSERT INTO commits (space, key) VALUES ($10, COALESCE($11, (SELECT a.key FROM (SELECT space, \
             digest, key FROM artifacts UNION ALL SELECT space, digest, key FROM part0) a WHERE a.digest = $11)))) ",
            "SELECT 1 / count(*) FROM (SELECT s.key FROM spaces s JOIN journal j ON j.space = s.key AND j.seq = $2 \
             AND j.chain = $3 WHERE s.key = $1 FOR NO KEY UPDATE OF s) held",
        ];
        assert_eq!(statement(&batches).unwrap(), expected.concat());
    }

    #[test]
    fn rows_that_others_look_for_or_that_no_journal_tells_of_do_not() {
        let looking = "INSERT INTO parts (a, b) VALUES (?1, (SELECT key FROM journal WHERE seq = ?2))";
        assert!(!suits(&batches(&[JOURNAL, looking])));
        assert!(!suits(&batches(&[ARTIFACTS])));
        assert!(!suits(&batches(&[JOURNAL; MAX_ROWS + 1])));
    }
}
