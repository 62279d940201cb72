//! What a commit takes over from the one before it, and how far that can be trusted.

use contexture_core::CommitId;

use crate::commit::CommitPlace;

/// What the next commit derives its own from.
#[derive(Clone, Copy)]
pub(super) struct CommitSite {
    pub(super) id: Option<CommitId>,
    pub(super) depth: Carried<i64>,
    pub(super) reset: Carried<Option<CommitPlace>>,
}

/// What comes before a commit.
pub(super) enum Origin {
    /// Nothing: it is a root.
    Nothing,
    /// This commit.
    Commit(CommitSite),
    /// Something that is missing or cannot be read.
    Unknown,
}

/// A value that each commit derives from the one before.
///
/// Where what is stored is not what was expected, the next commit may agree with either; so one wrong value is one
/// problem and not as many as commits follow.
#[derive(Clone, Copy)]
pub(super) struct Carried<T> {
    expected: T,
    stored: T,
}

impl Origin {
    /// Returns the depth that belongs here; nothing when it cannot be known.
    pub(super) fn depth(&self) -> Option<Carried<i64>> {
        match self {
            Self::Nothing => Some(Carried::sure(0)),
            Self::Commit(CommitSite { depth, .. }) => {
                Some(Carried { expected: depth.expected.saturating_add(1), stored: depth.stored.saturating_add(1) })
            }
            Self::Unknown => None,
        }
    }

    /// Returns the nearest reset of what comes before; nothing when it cannot be known.
    pub(super) fn reset(&self) -> Option<Carried<Option<CommitPlace>>> {
        match self {
            Self::Nothing => Some(Carried::sure(None)),
            Self::Commit(site) => Some(site.reset),
            Self::Unknown => None,
        }
    }

    /// Returns the parent that belongs here; nothing when it cannot be known.
    pub(super) fn parent(&self) -> Option<DemandedParent> {
        match self {
            Self::Nothing => Some(DemandedParent(None)),
            Self::Commit(site) => site.id.map(|id| DemandedParent(Some(id))),
            Self::Unknown => None,
        }
    }
}

/// The parent that a place demands: a commit, or none at a root.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct DemandedParent(pub(super) Option<CommitId>);

impl<T: Copy + PartialEq> Carried<T> {
    pub(super) const fn sure(value: T) -> Self {
        Self { expected: value, stored: value }
    }

    /// Takes note of what is stored; returns what was expected when it is neither of the two.
    pub(super) fn compared_with(self, stored: T) -> (Self, Option<T>) {
        if stored == self.expected || stored == self.stored {
            (Self::sure(stored), None)
        } else {
            (Self { expected: self.expected, stored }, Some(self.expected))
        }
    }
}
