//! Where something is in a document.

use std::fmt;

/// A way from the root of a document to a value in it, such as `records[3].record.ordered_blocks[0].hash`.
///
/// It is a chain of borrowed steps, so walking a document costs nothing until something is found.
#[derive(Debug, Clone, Copy)]
pub(super) struct Path<'p> {
    before: Option<&'p Path<'p>>,
    step: Step<'p>,
}

#[derive(Debug, Clone, Copy)]
enum Step<'p> {
    Root(&'p str),
    Field(&'p str),
    Item(usize),
}

impl<'p> Path<'p> {
    /// Starts at a place that has a name already; an empty one is the document.
    pub(super) const fn root(name: &'p str) -> Self {
        Self { before: None, step: Step::Root(name) }
    }

    /// Goes on to a field.
    pub(super) const fn field<'q>(&'q self, name: &'q str) -> Path<'q> {
        Path { before: Some(self), step: Step::Field(name) }
    }

    /// Goes on to an item of a list.
    pub(super) const fn item(&self, index: usize) -> Path<'_> {
        Path { before: Some(self), step: Step::Item(index) }
    }

    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(before) = self.before {
            before.write(f)?;
        }
        let is_plain = |name: &str| !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        match self.step {
            Step::Root(name) => f.write_str(name),
            Step::Field(name) if is_plain(name) => {
                let is_first = self.before.is_some_and(Self::is_document);
                write!(f, "{}{name}", if is_first { "" } else { "." })
            }
            Step::Field(name) => write!(f, "[{name:?}]"),
            Step::Item(index) => write!(f, "[{index}]"),
        }
    }

    const fn is_document(&self) -> bool {
        matches!(self.step, Step::Root(name) if name.is_empty())
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_document() { f.write_str("$") } else { self.write(f) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_written_as_people_write_them() {
        let document = Path::root("");
        let records = document.field("records");
        let record = records.item(3);
        let strange = record.field("a b\u{1b}");
        let line = Path::root("line 3");
        let paths = [document, records, record, record.field("hash"), strange, document.item(0), line.field("x")];
        let written = paths.map(|path| path.to_string());
        let expected =
            ["$", "records", "records[3]", "records[3].hash", "records[3][\"a b\\u{1b}\"]", "[0]", "line 3.x"];
        assert_eq!(written, expected);
    }
}
