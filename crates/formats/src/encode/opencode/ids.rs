//! Ids as OpenCode makes them: a prefix, a moment in twelve hex digits, and fourteen letters or digits.

use contexture_core::{ArtifactId, Timestamp};

use crate::encode::times;

/// The digits of base 62, in the order of their code points.
const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/// How many ids OpenCode can tell apart within a millisecond.
const PER_MILLISECOND: u64 = 1 << 12;
/// How far before the present the ids of a session begin, in ids: none is newer than what OpenCode adds.
const ROOM: u64 = 1 << 28;
/// The moment in an id has 48 bits.
const MOMENT: u64 = (1 << 48) - 1;

/// Hands out ids that follow from the session, each greater than the one before.
///
/// OpenCode sorts by ids, and the moments in them come around every two years; so they are counted towards the present
/// and are not the times of what they name.
#[derive(Debug)]
pub(super) struct OpencodeIds<'a> {
    session: &'a str,
    first: u64,
    count: u64,
}

impl<'a> OpencodeIds<'a> {
    pub(super) fn new(session: &'a str, now: Timestamp) -> Self {
        Self { session, first: moment(now).saturating_sub(ROOM), count: 0 }
    }

    /// Returns the id of the session: the one that it has, if that is one of OpenCode's. There the newest comes first.
    pub(super) fn of_session(session: &str, now: Timestamp) -> String {
        if session.starts_with("ses_") { session.to_owned() } else { id("ses_", !moment(now), session) }
    }

    pub(super) fn next(&mut self, prefix: &str) -> String {
        self.count += 1;
        id(prefix, self.first + self.count, &format!("{}/{}", self.session, self.count))
    }
}

fn moment(at: Timestamp) -> u64 {
    u64::try_from(times::epoch_millis(at)).unwrap_or_default() * PER_MILLISECOND
}

fn id(prefix: &str, moment: u64, of: &str) -> String {
    let digest = ArtifactId::of(of.as_bytes());
    let mut bits = u128::from_be_bytes(*digest.as_bytes().first_chunk().expect("a digest has 32 bytes"));
    let mut id = format!("{prefix}{:012x}", moment & MOMENT);
    for _ in 0..14 {
        id.push(char::from(DIGITS[(bits % 62) as usize]));
        bits /= 62;
    }
    id
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_grow_and_stay_below_what_comes_later() {
        let now: Timestamp = "2026-11-15T10:00:00Z".parse().unwrap();
        let later: Timestamp = "2026-11-15T10:00:01Z".parse().unwrap();
        let mut ids = OpencodeIds::new("s", now);
        let (one, two) = (ids.next("msg_"), ids.next("msg_"));
        assert_eq!(one.len(), "msg_".len() + 26);
        assert!(one < two && two < id("msg_", moment(later), "x"), "{one} {two}");
        assert_eq!(OpencodeIds::new("s", now).next("msg_"), one);
        assert_ne!(OpencodeIds::new("t", now).next("msg_"), one);
        assert!(OpencodeIds::of_session("a", later) < OpencodeIds::of_session("a", now));
        assert_eq!(OpencodeIds::of_session("ses_1", now), "ses_1");
    }
}
