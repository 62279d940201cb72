//! Whether records of the Agent Context standard are what they claim to be, and what they are good for.
//!
//! The standard has schemas that accept nearly everything and no levels. [`check`] takes records of anybody and says
//! which [`Level`] they reach and what stands against each level above it. How an export of our own reaches each is
//! described at [`Export`](crate::standard::Export).

mod path;
mod report;
mod tree;

mod input;
mod references;

mod lifecycle;
mod readable;
mod replay;
mod trace;

use std::collections::BTreeMap;

use crate::standard::Object;

pub use report::{CheckReport, Fault, FaultKind, Level, Strictness};

/// Checks a file: one record, a JSON array of records, records one a line, or an
/// [`Export`](crate::standard::Export).
///
/// Records that do not come with the name of their kind are known by their ids and required fields. Whatever the bytes
/// are, there is a report.
pub fn check(bytes: &[u8], strictness: Strictness) -> CheckReport {
    let mut findings = report::Findings::new(strictness);
    let document = input::read(bytes, &mut findings);
    if document.entries.is_empty() && findings.allow(Level::Readable) {
        findings.fault(Level::Readable, "$", FaultKind::NoRecords);
    }
    readable::check(&document, &mut findings);
    let index = references::Index::new(&document);
    trace::check(&document, &index, &mut findings);
    lifecycle::check(&document, &index, &mut findings);
    replay::check(&document, &index, &mut findings);

    let mut records: BTreeMap<Object, u64> = BTreeMap::new();
    for entry in &document.entries {
        *records.entry(entry.object).or_default() += 1;
    }
    findings.into_report(records)
}
