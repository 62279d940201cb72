//! What belongs to what is to be purged.

use std::collections::BTreeSet;

use contexture_assembly::envelope::Envelope;
use contexture_core::{ArtifactId, CommitId, EnvelopeId, HeadName, RuntimeSessionId};
use contexture_store::{
    Error as StoreError, Tx,
    artifact::{self, ArtifactReader},
    commit::{self, ArtifactUse, CommitPlace, LineSegment, PageAfter},
    envelope, head, source,
};
use futures_util::FutureExt as _;

use super::{HeadReach, PurgePlan, PurgeTarget, PurgeWork, PurgedFile};
use crate::{
    Contexture, Error, Result,
    lines::{Reach, reach},
};

/// Rows that are read at once.
const PAGE: u32 = 512;

impl Contexture {
    /// Finds what goes with a commit, the commits of a head or session, or an artifact.
    pub(super) async fn content_work(&self, target: &PurgeTarget) -> Result<PurgeWork> {
        let reading = self.store.read(self.scope(), target.clone(), |tx, target| named(tx, target).boxed());
        let Named { artifacts, kept } = reading.await?;
        let mut work = self.work_on(artifacts.clone()).await?;
        work.plan.kept_commits = kept;
        let mut named = artifacts;
        // A whole that consists of what was named goes with it.
        let reading =
            self.store.read(self.scope(), named.clone(), |tx, named| artifact::wholes_with(tx, named).boxed());
        let wholes = reading.await?;
        if !wholes.is_empty() {
            named.extend(wholes);
            work = PurgeWork {
                plan: PurgePlan { kept_commits: kept, ..PurgePlan::default() },
                ..self.work_on(named).await?
            };
        }
        let purged: BTreeSet<CommitId> = work.commits.iter().map(|used| used.commit).collect();
        let envelopes = self.envelopes_from(&purged).await?;
        let mut attached = BTreeSet::new();
        for (id, artifacts) in envelopes {
            work.plan.envelopes.push(id);
            attached.extend(artifacts);
        }
        // What commits hold that are not purged is theirs.
        let reading = self.store.read(self.scope(), attached.clone(), |tx, ids| commit::users(tx, ids).boxed());
        for used in reading.await? {
            attached.remove(&used.artifact);
        }
        work.whole.extend(attached);
        let places: BTreeSet<CommitPlace> = work.commits.iter().map(|used| used.place).collect();
        let reading = self.store.read(self.scope(), places, |tx, places| copies(tx, places).boxed());
        work.whole.extend(reading.await?);
        let whole: BTreeSet<ArtifactId> = work.whole.drain(..).collect();
        for id in whole {
            let located = self.store.read(self.scope(), id, |tx, id| artifact::locate(tx, id).boxed()).await;
            match located {
                Ok(located) if located.is_gone() => {}
                Ok(located) => {
                    work.plan.bytes += located.size;
                    work.whole.push(id);
                }
                Err(StoreError::NoArtifact(_)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        work.plan.artifacts = work.whole.len() as u64;
        let gone: BTreeSet<ArtifactId> = work.whole.iter().copied().collect();
        work.commits.retain(|used| gone.contains(&used.artifact));
        let named_commits = self.named_commits(target).await?;
        let sharing = work.commits.iter().map(|used| used.commit).filter(|commit| !named_commits.contains(commit));
        work.plan.sharing_commits = sharing.collect();
        self.concern(&mut work).await?;
        Ok(work)
    }

    /// Begins the work on artifacts with the commits that they belong to.
    pub(super) async fn work_on(&self, artifacts: BTreeSet<ArtifactId>) -> Result<PurgeWork> {
        let reading = self.store.read(self.scope(), artifacts.clone(), |tx, ids| commit::users(tx, ids).boxed());
        let commits = reading.await?;
        Ok(PurgeWork { whole: artifacts.into_iter().collect(), commits, ..PurgeWork::default() })
    }

    /// Says whom the work concerns: commits, heads and files.
    pub(super) async fn concern(&self, work: &mut PurgeWork) -> Result<()> {
        work.plan.commits = work.commits.iter().map(|used| used.commit).collect();
        let args = (work.commits.clone(), [work.whole.clone(), work.masked.iter().map(|masked| masked.id).collect()]);
        let reading = self.store.read(self.scope(), args, |tx, (commits, artifacts)| {
            async move {
                let mut files = BTreeSet::new();
                for id in artifacts.iter().flatten() {
                    let found = source::of_artifact(tx, id).await?;
                    files.extend(found.into_iter().map(|(machine, path)| PurgedFile { machine, path }));
                }
                let heads = heads_over(tx, commits).await?;
                Ok::<_, StoreError>((heads, files.into_iter().collect()))
            }
            .boxed()
        });
        (work.plan.heads, work.plan.files) = reading.await?;
        Ok(())
    }

    async fn named_commits(&self, target: &PurgeTarget) -> Result<BTreeSet<CommitId>> {
        let reading = self.store.read(self.scope(), target.clone(), |tx, target| {
            async move { Ok::<_, Error>(commits_of(tx, target).await?.0.into_iter().map(|(id, _)| id).collect()) }
                .boxed()
        });
        reading.await
    }

    /// Returns the envelopes that were made from commits, with the artifacts of each.
    async fn envelopes_from(&self, commits: &BTreeSet<CommitId>) -> Result<Vec<(EnvelopeId, Vec<ArtifactId>)>> {
        let mut found = Vec::new();
        let mut after = 0;
        while !commits.is_empty() {
            let reading = self.store.read(self.scope(), after, |tx, after| envelope::after(tx, *after, PAGE).boxed());
            let page = reading.await?;
            let Some((last, _)) = page.last() else { break };
            after = last.seq;
            for (stored, _) in page {
                let mut bytes = Vec::new();
                let reading = async {
                    let mut reader = ArtifactReader::open(&self.store, &self.scope(), stored.document).await?;
                    while let Some(piece) = reader.next().await? {
                        bytes.extend_from_slice(&piece);
                    }
                    Ok(())
                };
                match reading.await {
                    Ok(()) => {}
                    Err(StoreError::Withheld(_) | StoreError::NoArtifact(_) | StoreError::DamagedArtifact(_)) => {
                        continue;
                    }
                    Err(error) => return Err(error.into()),
                }
                if names(&bytes, stored.commit, commits) {
                    let mut artifacts = self.envelopes().artifacts(stored.id).await?;
                    artifacts.push(stored.document);
                    found.push((stored.id, artifacts));
                }
            }
        }
        Ok(found)
    }
}

/// Returns what files of sessions hold beside commits, of those sessions that go on from any of some commits: one that was
/// written to be resumed repeats them.
async fn copies(tx: &mut Tx<'_>, places: &BTreeSet<CommitPlace>) -> Result<BTreeSet<ArtifactId>, StoreError> {
    let mut found = BTreeSet::new();
    let mut after: Option<(String, String)> = None;
    loop {
        let from = after.as_ref().map(|(machine, path)| (machine.as_str(), path.as_str()));
        let page = source::list(tx, from, PAGE).await?;
        let Some(last) = page.last() else { break };
        after = Some((last.machine.to_string(), last.path.clone()));
        for known in page {
            if goes_on_from(tx, &known.state, places).await? {
                found.extend(source::artifacts(tx, &known.machine, &known.path).await?);
            }
        }
    }
    // What commits hold is theirs, whether or not they are purged.
    for used in commit::users(tx, &found).await? {
        found.remove(&used.artifact);
    }
    Ok(found)
}

/// Tells whether any of some commits lead to those that the state of a source names.
async fn goes_on_from(tx: &mut Tx<'_>, state: &str, places: &BTreeSet<CommitPlace>) -> Result<bool, StoreError> {
    const LENGTH: usize = CommitId::PREFIX.len() + 2 * CommitId::LEN;
    let named = state.match_indices(CommitId::PREFIX);
    let named: BTreeSet<CommitId> = named.filter_map(|(at, _)| state.get(at..at + LENGTH)?.parse().ok()).collect();
    for id in named {
        let Some(place) = commit::find_place(tx, &id).await? else { continue };
        for segment in commit::segments(tx, place).await? {
            let at = |position| CommitPlace { line: segment.line, position };
            if places.range(at(segment.first)..=at(segment.last)).next().is_some() {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// Tells whether the document of an envelope has items of some commits.
fn names(document: &[u8], made_from: Option<CommitId>, commits: &BTreeSet<CommitId>) -> bool {
    match serde_json::from_slice::<Envelope>(document) {
        Ok(envelope) => {
            envelope.items.iter().any(|item| item.origin.commit.is_some_and(|commit| commits.contains(&commit)))
        }
        // Somebody else's envelope says in its own way what it was made from.
        Err(_) => made_from.is_some_and(|commit| commits.contains(&commit)),
    }
}

/// What was named.
struct Named {
    artifacts: BTreeSet<ArtifactId>,
    /// Commits that stay because others lead to them.
    kept: u64,
}

async fn named(tx: &mut Tx<'_>, target: &PurgeTarget) -> Result<Named> {
    if let PurgeTarget::Artifact(id) = target {
        return Ok(Named { artifacts: BTreeSet::from([*id]), kept: 0 });
    }
    let (commits, kept) = commits_of(tx, target).await?;
    Ok(Named { artifacts: commits.into_iter().map(|(_, artifact)| artifact).collect(), kept })
}

/// Returns the commits that are named, with their artifacts, and how many stay because others lead to them.
async fn commits_of(tx: &mut Tx<'_>, target: &PurgeTarget) -> Result<(Vec<(CommitId, ArtifactId)>, u64)> {
    match target {
        PurgeTarget::Commit(id) => Ok((vec![(*id, commit::show(tx, id).await?.commit.artifact)], 0)),
        PurgeTarget::Session(session) => Ok((of_session(tx, session).await?, 0)),
        PurgeTarget::Head { name, reach } => of_head(tx, name, *reach).await,
        PurgeTarget::Artifact(_) | PurgeTarget::Secret(_) => Ok((Vec::new(), 0)),
    }
}

async fn of_session(tx: &mut Tx<'_>, session: &RuntimeSessionId) -> Result<Vec<(CommitId, ArtifactId)>> {
    let filter = commit::Filter { session: Some(session.clone()), ..commit::Filter::default() };
    let mut found = Vec::new();
    let mut after = None;
    loop {
        let page = commit::list(tx, &filter, after, PAGE).await?;
        after = page.last().map(|last| PageAfter { created_at: last.commit.created_at, seq: last.seq });
        let is_last = page.len() < PAGE as usize;
        found.extend(page.into_iter().map(|stored| (stored.id, stored.commit.artifact)));
        if is_last {
            return Ok(found);
        }
    }
}

async fn of_head(tx: &mut Tx<'_>, name: &HeadName, how_far: HeadReach) -> Result<(Vec<(CommitId, ArtifactId)>, u64)> {
    let tip = head::find(tx, name).await?.ok_or_else(|| StoreError::NoHead(name.clone()))?;
    let place = commit::require(tx, &tip).await?;
    let others = match how_far {
        HeadReach::All => Reach::new(),
        HeadReach::Own => {
            let others: Vec<CommitId> =
                all_heads(tx).await?.into_iter().filter(|(other, _)| other != name).map(|(_, commit)| commit).collect();
            reach(tx, &others).await?
        }
    };
    let (mut found, mut kept) = (Vec::new(), 0);
    for LineSegment { line, first, last } in commit::segments(tx, place).await? {
        let own = others.get(&line).map_or(first, |reached| (reached + 1).max(first));
        kept += (own.min(last + 1) - first).cast_unsigned();
        let mut left = LineSegment { line, first: own, last };
        while left.first <= last {
            let page = commit::page_forward(tx, left, PAGE).await?;
            let Some(end) = page.last() else { break };
            left.first = end.place.position + 1;
            found.extend(page.into_iter().map(|stored| (stored.id, stored.commit.artifact)));
        }
    }
    Ok((found, kept))
}

async fn all_heads(tx: &mut Tx<'_>) -> Result<Vec<(HeadName, CommitId)>, StoreError> {
    let mut heads: Vec<(HeadName, CommitId)> = Vec::new();
    loop {
        let page = head::list(tx, "", heads.last().map(|(name, _)| name), PAGE).await?;
        let is_last = page.len() < PAGE as usize;
        heads.extend(page.into_iter().map(|head| (head.name, head.commit)));
        if is_last {
            return Ok(heads);
        }
    }
}

/// Returns the heads that lead to any of some commits.
async fn heads_over(tx: &mut Tx<'_>, commits: &[ArtifactUse]) -> Result<Vec<HeadName>, StoreError> {
    let places: BTreeSet<CommitPlace> = commits.iter().map(|used| used.place).collect();
    let mut found = Vec::new();
    for (name, commit) in all_heads(tx).await? {
        let place = commit::require(tx, &commit).await?;
        let hits = |segment: &LineSegment| {
            let at = |position| CommitPlace { line: segment.line, position };
            places.range(at(segment.first)..=at(segment.last)).next().is_some()
        };
        if commit::segments(tx, place).await?.iter().any(hits) {
            found.push(name);
        }
    }
    Ok(found)
}
