//! The session that a file is of, before its first record is placed: the first lines of some runtimes name none.

use contexture_core::GivenSessionId;
use contexture_formats::Codec;

use super::ReadingJob;
use crate::{input::SessionInput, lines::Lines};

/// Lines that are looked at for the id of the session.
const MAX_LINES: usize = 256;
/// Bytes of them.
const MAX_BYTES: u64 = 4 * 1024 * 1024;

/// Returns the session that the first record names which names one. What cannot be read tells nothing here.
pub(super) fn first_session(job: &ReadingJob, decoder: &dyn Codec) -> Option<GivenSessionId> {
    let input = match &job.piece {
        Some(piece) if piece.start > 0 => return None,
        Some(piece) => piece.clone().into(),
        None => SessionInput::open(&job.path).ok()?,
    };
    let mut lines = Lines::new(input, 0);
    for _ in 0..MAX_LINES {
        let line = lines.next().ok()??;
        if line.goes_on || line.start > MAX_BYTES {
            return None;
        }
        let named = decoder.outline(line.bytes.trim_ascii()).ok().and_then(|outline| outline.facts.session);
        if let Some(session) = named {
            return Some(GivenSessionId::new(session));
        }
    }
    None
}
