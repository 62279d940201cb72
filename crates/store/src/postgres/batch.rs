//! Rows that wait to be inserted: many rows of one statement cost the server little more than one.

use std::collections::HashMap;

use tokio_postgres::types::Type;

use crate::sql::{Param, Value};

/// Bytes that may wait before they are sent.
const MAX_BYTES: usize = 1024 * 1024;
/// Rows that may wait before they are sent.
const MAX_ROWS: usize = 2048;

/// Rows that were posted and not sent yet, by statement, in the order in which the statements came first.
///
/// Rows of different tables do not know of each other, so a row may go before rows of other tables that were posted
/// earlier; [`Delayed::take_first`] tells when it may not.
#[derive(Default)]
pub(super) struct Delayed {
    batches: Vec<Batch>,
    bytes: usize,
    rows: usize,
}

/// The rows of one statement.
pub(super) struct Batch {
    pub(super) sql: Box<str>,
    pub(super) rows: Vec<Vec<Value>>,
    /// Where the rows of a statement are that replaces rows, by what tells them apart.
    places: HashMap<Vec<Value>, usize>,
}

impl Delayed {
    /// Tells whether a statement inserts one row and nothing else, so that its rows can wait for each other.
    pub(super) fn suits(sql: &str) -> bool {
        sql.starts_with("INSERT INTO ") && sql.contains(VALUES) && !sql.contains(" RETURNING ")
    }

    /// Tells whether what waits must be sent before a row of this statement may wait too.
    pub(super) fn take_first(&self, sql: &str) -> bool {
        if self.bytes > MAX_BYTES || self.rows > MAX_ROWS {
            return true;
        }
        let mut later = self.batches.iter().skip_while(|batch| &*batch.sql != sql).skip(1);
        let looks_for = |batch: &Batch| sql.contains(&format!(" FROM {} ", table(&batch.sql)));
        // It would go before rows that it looks for, or before rows of its own table.
        sql.contains("(SELECT ") && later.any(looks_for)
            || self.batches.iter().any(|batch| table(&batch.sql) == table(sql) && &*batch.sql != sql)
    }

    pub(super) fn add(&mut self, sql: &str, params: &[Param<'_>]) {
        let row: Vec<Value> = params.iter().map(|param| Value::from(*param)).collect();
        self.bytes += row.iter().map(size).sum::<usize>();
        self.rows += 1;
        let place = self.batches.iter().position(|batch| &*batch.sql == sql).unwrap_or_else(|| {
            self.batches.push(Batch { sql: sql.into(), rows: Vec::new(), places: HashMap::new() });
            self.batches.len() - 1
        });
        let Batch { rows, places, .. } = &mut self.batches[place];
        // A statement may change a row once only, so of those that replace each other the last one counts.
        if let Some(key) = replacing_key(sql) {
            let place = *places.entry(row[..key].to_vec()).or_insert(rows.len());
            if let Some(earlier) = rows.get_mut(place) {
                *earlier = row;
                return;
            }
        }
        rows.push(row);
    }

    /// Returns everything that waits.
    pub(super) fn batches(&self) -> &[Batch] {
        &self.batches
    }

    /// Hands over everything that waits.
    pub(super) fn take(&mut self) -> Vec<Batch> {
        (self.bytes, self.rows) = (0, 0);
        std::mem::take(&mut self.batches)
    }
}

pub(super) const VALUES: &str = " VALUES (";

fn size(value: &Value) -> usize {
    match value {
        Value::Null | Value::Integer(_) => 8,
        Value::Text(text) => text.len(),
        Value::Blob(bytes) => bytes.len(),
    }
}

/// Returns the table that a statement inserts into.
pub(super) fn table(sql: &str) -> &str {
    sql.strip_prefix("INSERT INTO ").and_then(|rest| rest.split(' ').next()).unwrap_or_default()
}

/// Returns how many of the first columns tell the rows of a statement apart that replaces rows.
fn replacing_key(sql: &str) -> Option<usize> {
    let (columns, rest) = sql.split_once(" ON CONFLICT (")?.1.split_once(')')?;
    rest.starts_with(" DO UPDATE ").then(|| columns.split(',').count())
}

/// Turns a statement that inserts one row into one that inserts as many as its parameters, which are arrays, hold.
///
/// The planner must not see the arrays: it would make a plan for each length, which takes longer than the plan saves.
pub(super) fn many(sql: &str, kinds: &[Type]) -> Option<String> {
    let (head, rest) = sql.split_once(VALUES)?;
    let (values, tail) = match rest.find(") ON CONFLICT ") {
        Some(end) => rest.split_at(end),
        None => rest.split_at(rest.rfind(')')?),
    };
    let values = values.replace('?', "v.c");
    let arrays: Vec<String> =
        (1..).zip(kinds).map(|(number, kind)| format!("(SELECT ${number}::{}[])", kind.name())).collect();
    let names: Vec<String> = (1..=kinds.len()).map(|number| format!("c{number}")).collect();
    let (arrays, names, tail) = (arrays.join(", "), names.join(", "), &tail[1..]);
    Some(format!("{head} SELECT {values} FROM unnest({arrays}) AS v ({names}){tail}"))
}

/// Turns rows into columns.
pub(super) fn columns(rows: Vec<Vec<Value>>) -> Vec<Vec<Value>> {
    let width = rows.first().map_or(0, Vec::len);
    let mut columns: Vec<Vec<Value>> = (0..width).map(|_| Vec::with_capacity(rows.len())).collect();
    for row in rows {
        columns.iter_mut().zip(row).for_each(|(column, value)| column.push(value));
    }
    columns
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADS: &str = "INSERT INTO heads (space, name, target) VALUES (?1, ?2, ?3) \
                         ON CONFLICT (space, name) DO UPDATE SET target = excluded.target";
    const ROWS: &str = "INSERT INTO rows (a, b) VALUES (?1, COALESCE(?2, (SELECT key FROM heads WHERE name = ?1)))";

    #[test]
    fn a_statement_of_one_row_becomes_one_of_many() {
        assert_eq!(
            many(HEADS, &[Type::INT8, Type::TEXT, Type::BYTEA]).unwrap(),
            "INSERT INTO heads (space, name, target) SELECT v.c1, v.c2, v.c3 \
             FROM unnest((SELECT $1::int8[]), (SELECT $2::text[]), (SELECT $3::bytea[])) AS v (c1, c2, c3) \
             ON CONFLICT (space, name) DO UPDATE SET target = excluded.target"
        );
        assert_eq!(
            many(ROWS, &[Type::TEXT, Type::INT8]).unwrap(),
            "INSERT INTO rows (a, b) SELECT v.c1, COALESCE(v.c2, (SELECT key FROM heads WHERE name = v.c1)) \
             FROM unnest((SELECT $1::text[]), (SELECT $2::int8[])) AS v (c1, c2)"
        );
    }

    #[test]
    fn of_rows_that_replace_each_other_the_last_one_counts() {
        let mut delayed = Delayed::default();
        for (name, target) in [("a", "x"), ("b", "y"), ("a", "z")] {
            delayed.add(HEADS, &[Param::Integer(1), Param::Text(name), Param::Text(target)]);
        }
        let batches = delayed.take();
        let targets: Vec<&Value> = batches[0].rows.iter().map(|row| &row[2]).collect();
        assert_eq!(targets, [&Value::Text("z".into()), &Value::Text("y".into())]);
    }

    #[test]
    fn a_row_does_not_overtake_what_it_looks_for() {
        let mut delayed = Delayed::default();
        delayed.add(HEADS, &[Param::Integer(1), Param::Text("a"), Param::Null]);
        delayed.add(ROWS, &[Param::Text("a"), Param::Null]);
        assert!(!delayed.take_first(ROWS), "its rows go after those of the other");
        let mut delayed = Delayed::default();
        delayed.add(ROWS, &[Param::Text("a"), Param::Null]);
        delayed.add(HEADS, &[Param::Integer(1), Param::Text("b"), Param::Null]);
        assert!(delayed.take_first(ROWS), "one more would go before the head that it looks for");
    }
}
