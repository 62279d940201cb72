//! The commits of a conversation by turn.

use contexture_core::{CommitId, packed};
use serde::{Deserialize, Serialize, Serializer};

/// Commits that are known when the rest of a file is taken in another time.
const MAX_KEPT: usize = 256;
/// Bytes of a turn and its commit where they are kept.
const PACKED_BYTES: usize = size_of::<u32>() + CommitId::LEN;

/// The first and the last commit of each turn, in their order. A turn may have hundreds, one for each call of a tool, and
/// nobody goes back to those between.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Form")]
pub(super) struct Turns(Vec<(u32, CommitId)>);

impl Turns {
    /// Begins after a turn that was taken from elsewhere.
    pub(super) fn after(turn: u32, commit: Option<CommitId>) -> Self {
        Self(commit.map(|commit| (turn, commit)).into_iter().collect())
    }

    /// Adds the next commit.
    pub(super) fn add(&mut self, turn: u32, commit: CommitId) {
        match &mut *self.0 {
            [.., (first, _), (last, known)] if (*first, *last) == (turn, turn) => *known = commit,
            _ => self.0.push((turn, commit)),
        }
    }

    /// Returns the turn of the last commit.
    pub(super) fn newest(&self) -> Option<u32> {
        self.0.last().map(|(turn, _)| *turn)
    }

    /// Returns the commit that a turn began with.
    pub(super) fn first_of(&self, turn: u32) -> Option<CommitId> {
        self.0.iter().find(|(at, _)| *at == turn).map(|(_, commit)| *commit)
    }

    /// Returns the commit that a turn ended with, or the one before it if it has none.
    pub(super) fn last_until(&self, turn: u32) -> Option<CommitId> {
        self.0.iter().rev().find(|(at, _)| *at <= turn).map(|(_, commit)| *commit)
    }

    /// Forgets the oldest beyond what is kept.
    pub(super) fn forget_oldest(&mut self) {
        self.0.drain(..self.0.len().saturating_sub(MAX_KEPT));
    }
}

impl Serialize for Turns {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let packed = self.0.iter().map(|(turn, commit)| {
            let mut bytes = [0; PACKED_BYTES];
            let (head, tail) = bytes.split_at_mut(size_of::<u32>());
            head.copy_from_slice(&turn.to_le_bytes());
            tail.copy_from_slice(commit.as_bytes());
            bytes
        });
        serializer.serialize_str(&packed::pack(packed))
    }
}

/// How they are written: packed, or each by itself.
#[derive(Deserialize)]
#[serde(untagged)]
enum Form {
    Packed(String),
    Listed(Vec<(u32, CommitId)>),
}

impl TryFrom<Form> for Turns {
    type Error = &'static str;

    fn try_from(form: Form) -> Result<Self, Self::Error> {
        let packed = match form {
            Form::Packed(text) => packed::unpack::<PACKED_BYTES>(&text).ok_or("these are no turns")?,
            Form::Listed(listed) => return Ok(Self(listed)),
        };
        let turn = |bytes: [u8; PACKED_BYTES]| {
            let (turn, commit) = bytes.split_first_chunk().expect("a turn is shorter than both");
            let commit = commit.try_into().expect("the rest is a commit");
            (u32::from_le_bytes(*turn), CommitId::from_bytes(commit))
        };
        Ok(Self(packed.into_iter().map(turn).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commit(number: u8) -> CommitId {
        CommitId::from_bytes([number; CommitId::LEN])
    }

    #[test]
    fn a_turn_of_many_commits_takes_no_more_room_than_one_of_two() {
        let mut turns = Turns::after(3, Some(commit(1)));
        for number in 2..=250 {
            turns.add(4, commit(number));
        }
        turns.add(5, commit(251));
        assert_eq!(turns.0, [(3, commit(1)), (4, commit(2)), (4, commit(250)), (5, commit(251))]);
        assert_eq!((turns.first_of(4), turns.last_until(4)), (Some(commit(2)), Some(commit(250))));
        assert_eq!((turns.newest(), turns.last_until(2)), (Some(5), None));
    }

    #[test]
    fn turns_survive_their_text_and_the_oldest_are_forgotten() {
        let mut turns = Turns::default();
        for turn in 0..1000 {
            turns.add(turn, commit(7));
        }
        turns.forget_oldest();
        assert_eq!((turns.first_of(743), turns.first_of(744)), (None, Some(commit(7))));
        let text = serde_json::to_string(&turns).unwrap();
        assert_eq!(serde_json::from_str::<Turns>(&text).unwrap(), turns);
        let listed = serde_json::to_string(&turns.0).unwrap();
        assert_eq!(serde_json::from_str::<Turns>(&listed).unwrap(), turns);
        assert!(serde_json::from_str::<Turns>("\"AAAA\"").is_err());
    }
}
