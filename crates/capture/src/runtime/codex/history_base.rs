//! What a forked rollout says of the one that it continues.

use contexture_core::GivenSessionId;
use serde::Deserialize;

use crate::fork::ContinuedPrefix;

#[derive(Deserialize)]
struct ForkedRollout {
    payload: ForkedMeta,
}

#[derive(Deserialize)]
struct ForkedMeta {
    history_base: Option<HistoryBase>,
}

#[derive(Deserialize)]
struct HistoryBase {
    thread_id: GivenSessionId,
    #[serde(default)]
    end_ordinal_exclusive: Option<u64>,
    #[serde(default)]
    end_byte_offset: Option<u64>,
}

#[derive(Deserialize)]
struct NumberedRecord {
    ordinal: u64,
}

/// Reads in the first line of a rollout which part of another one it continues.
pub(super) fn read(first_line: &[u8]) -> Option<ContinuedPrefix> {
    let base = serde_json::from_slice::<ForkedRollout>(first_line).ok()?.payload.history_base?;
    Some(ContinuedPrefix {
        session: base.thread_id,
        end_ordinal: base.end_ordinal_exclusive,
        end_offset: base.end_byte_offset,
        ordinal_of,
    })
}

fn ordinal_of(line: &[u8]) -> Option<u64> {
    serde_json::from_slice::<NumberedRecord>(line).ok().map(|record| record.ordinal)
}
