//! What a check of records found, as programs read it.

use std::collections::BTreeMap;

use contexture_assembly::{
    check::{CheckReport, Fault, Level},
    standard::Object,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a check of records of the Agent Context standard found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CheckedRecords {
    /// Whether what the standard only recommends counts too.
    pub strict: bool,
    /// The level that was demanded.
    pub demanded: Level,
    /// The level that was reached; none where not everything is readable.
    pub level: Option<Level>,
    /// How many records of each kind there are.
    pub records: BTreeMap<Object, u64>,
    /// What stands against each level that was not reached, lowest level first.
    pub faults: Vec<FaultDocument>,
    /// What could be better and stands against no level.
    pub notes: Vec<FaultDocument>,
    /// How many more faults and notes there are.
    pub left_out: u64,
}

/// Something that stands against a level.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FaultDocument {
    /// The level.
    pub level: Level,
    /// Where it is, such as `records[3].record.ordered_blocks[0].hash`; `$` is the whole document.
    pub path: String,
    /// A word that programs may rely on.
    pub code: String,
    /// What is wrong there.
    pub message: String,
}

impl CheckedRecords {
    /// Tells what a check found that demanded a level.
    pub fn of(report: &CheckReport, demanded: Level, strict: bool) -> Self {
        let CheckReport { level, records, faults, notes, left_out } = report;
        let documents = |faults: &[Fault]| faults.iter().map(FaultDocument::from).collect();
        Self {
            strict,
            demanded,
            level: *level,
            records: records.clone(),
            faults: documents(faults),
            notes: documents(notes),
            left_out: *left_out,
        }
    }
}

impl From<&Fault> for FaultDocument {
    fn from(fault: &Fault) -> Self {
        let Fault { level, path, problem } = fault;
        Self { level: *level, path: path.clone(), code: problem.code().to_owned(), message: problem.to_string() }
    }
}
