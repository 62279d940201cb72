//! What a query returns: rows of values, read by column or one column after the other.

use super::Param;
use crate::{Error, Result};

/// A value that a query returned.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(crate) enum Value {
    /// SQL `NULL`.
    #[default]
    Null,
    /// A whole number.
    Integer(i64),
    /// Text.
    Text(String),
    /// Bytes.
    Blob(Vec<u8>),
}

/// One row of a query's answer.
#[derive(Debug)]
pub(crate) struct Row(Vec<Value>);

/// Reads a row one column after the other.
pub(crate) struct RowReader<'r> {
    row: &'r mut Row,
    column: usize,
}

impl Row {
    pub(crate) fn new(values: Vec<Value>) -> Self {
        Self(values)
    }

    /// Starts to read at a column.
    pub(crate) fn reader(&mut self, column: usize) -> RowReader<'_> {
        RowReader { row: self, column }
    }

    pub(crate) fn integer(&self, column: usize) -> Result<i64> {
        match self.0.get(column) {
            Some(Value::Integer(number)) => Ok(*number),
            other => Err(mismatch(column, "a number", other)),
        }
    }

    pub(crate) fn optional_integer(&self, column: usize) -> Result<Option<i64>> {
        if matches!(self.0.get(column), Some(Value::Null)) { Ok(None) } else { self.integer(column).map(Some) }
    }

    pub(crate) fn text(&self, column: usize) -> Result<&str> {
        match self.0.get(column) {
            Some(Value::Text(text)) => Ok(text),
            other => Err(mismatch(column, "text", other)),
        }
    }

    pub(crate) fn optional_text(&self, column: usize) -> Result<Option<&str>> {
        if matches!(self.0.get(column), Some(Value::Null)) { Ok(None) } else { self.text(column).map(Some) }
    }

    pub(crate) fn blob(&self, column: usize) -> Result<&[u8]> {
        match self.0.get(column) {
            Some(Value::Blob(bytes)) => Ok(bytes),
            other => Err(mismatch(column, "bytes", other)),
        }
    }

    pub(crate) fn optional_blob(&self, column: usize) -> Result<Option<&[u8]>> {
        if matches!(self.0.get(column), Some(Value::Null)) { Ok(None) } else { self.blob(column).map(Some) }
    }
}

impl RowReader<'_> {
    pub(crate) fn integer(&mut self) -> Result<i64> {
        let column = self.next();
        self.row.integer(column)
    }

    pub(crate) fn unsigned(&mut self) -> Result<u64> {
        self.integer().map(i64::cast_unsigned)
    }

    pub(crate) fn optional_integer(&mut self) -> Result<Option<i64>> {
        let column = self.next();
        self.row.optional_integer(column)
    }

    pub(crate) fn text(&mut self) -> Result<&str> {
        let column = self.next();
        self.row.text(column)
    }

    pub(crate) fn optional_text(&mut self) -> Result<Option<&str>> {
        let column = self.next();
        self.row.optional_text(column)
    }

    pub(crate) fn blob(&mut self) -> Result<&[u8]> {
        let column = self.next();
        self.row.blob(column)
    }

    pub(crate) fn optional_blob(&mut self) -> Result<Option<&[u8]>> {
        let column = self.next();
        self.row.optional_blob(column)
    }

    /// Moves bytes out of the row; `NULL` is no bytes.
    pub(crate) fn take_blob(&mut self) -> Result<Option<Vec<u8>>> {
        let column = self.next();
        match self.row.0.get_mut(column).map(std::mem::take) {
            Some(Value::Null) => Ok(None),
            Some(Value::Blob(bytes)) => Ok(Some(bytes)),
            other => Err(mismatch(column, "bytes", other.as_ref())),
        }
    }

    fn next(&mut self) -> usize {
        let column = self.column;
        self.column += 1;
        column
    }
}

fn mismatch(column: usize, expected: &str, found: Option<&Value>) -> Error {
    let found = match found {
        None => "nothing",
        Some(Value::Null) => "NULL",
        Some(Value::Integer(_)) => "a number",
        Some(Value::Text(_)) => "text",
        Some(Value::Blob(_)) => "bytes",
    };
    Error::damaged(format!("column {column} of a row holds {found} where {expected} belongs"))
}

impl From<Param<'_>> for Value {
    fn from(param: Param<'_>) -> Self {
        match param {
            Param::Null => Self::Null,
            Param::Integer(number) => Self::Integer(number),
            Param::Text(text) => Self::Text(text.to_owned()),
            Param::Blob(bytes) => Self::Blob(bytes.to_vec()),
        }
    }
}
