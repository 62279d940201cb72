//! Repairing what can be repaired.

use contexture::wire::{FileOutcome, RepairedCapture};

use super::SessionCompleteness;
use crate::{Capture, Recorder, RescuedSessions, Result, SessionCandidate, SessionOwner};

impl Capture<'_> {
    /// Takes in what waits in the spool, what crashed agents left, and what sessions hold that the store does not.
    /// Progress is told in bytes of those sessions.
    pub async fn repair(
        self,
        recorder: &Recorder,
        owner: &SessionOwner,
        sessions: &SessionCompleteness,
        progress: &(dyn Fn(u64) + Sync),
    ) -> Result<RepairedCapture> {
        let rescued = recorder.rescue(self.engine).await?;
        let mut candidates: Vec<SessionCandidate> = Vec::new();
        for (candidate, is_different) in sessions.to_import() {
            if is_different {
                self.doubt_source(&owner.machine, &candidate.path).await?;
            }
            candidates.push(candidate.clone());
        }
        let RescuedSessions { spool, closed } = rescued;
        let mut repaired = RepairedCapture { spool, closed, sessions: 0, new_commits: 0 };
        // What cannot be read is told by the comparison that follows.
        for file in self.import_found(&candidates, owner, progress).await?.into_iter().flatten() {
            repaired.sessions += u64::from(file.outcome != FileOutcome::Unchanged);
            repaired.new_commits += file.new_commits;
        }
        if repaired.new_commits > 0 || rescued != RescuedSessions::default() {
            self.link_sessions().await?;
        }
        Ok(repaired)
    }
}
