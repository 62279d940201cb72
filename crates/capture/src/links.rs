//! Links between sessions: which turn started the agent that another file tells of.

use std::{
    collections::{BTreeMap, HashSet},
    path::Path,
};

use contexture::{LogStart, read_found};
use contexture_core::{CommitId, GivenSessionId, Machine, RuntimeSessionId};
use contexture_store::{
    commit::{self, Filter, StoredCommit},
    source::{self, TranscriptSource},
};
use futures_util::FutureExt as _;
use memchr::memmem::Finder;
use serde::{Deserialize, Serialize};

use crate::{
    Capture, Result,
    import::note_once,
    steps::{Parent, SPAWNED_BY, State, label},
};

/// Sources that are read at once.
const SOURCES_PER_PAGE: u32 = 256;
/// Commits that are read at once.
const COMMITS_PER_PAGE: u32 = 256;

/// What a search for the turns that started agents has found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Linked {
    /// Chains whose first commit names the turn that started them now.
    pub linked: u64,
    /// Chains whose parent is not here.
    pub without_parent: u64,
}

/// A chain that some turn has started, which is not known.
struct UnlinkedChain {
    source: TranscriptSource,
    state: State,
    parent: Parent,
    first: CommitId,
}

impl Capture<'_> {
    /// Names, on the first commit of each chain that another session has started, the commit of the turn that did.
    ///
    /// Parents come before their agents or after them, so this is done when all files are in. Sessions that were
    /// searched before are searched again only when they have grown.
    pub async fn link_sessions(self) -> Result<Linked> {
        let mut by_parent: BTreeMap<GivenSessionId, Vec<UnlinkedChain>> = BTreeMap::new();
        let mut after: Option<(String, String)> = None;
        loop {
            let paging = self.engine.store().read(self.engine.scope(), after, |tx, from| {
                let list = async move {
                    let after = from.as_ref().map(|(machine, path)| (machine.as_str(), path.as_str()));
                    source::list(tx, after, SOURCES_PER_PAGE).await
                };
                list.boxed()
            });
            let page = paging.await?;
            let Some(last) = page.last() else { break };
            after = Some((last.machine.to_string(), last.path.clone()));
            for loose in page.into_iter().filter_map(UnlinkedChain::of) {
                by_parent.entry(loose.parent.session.clone()).or_default().push(loose);
            }
        }
        self.link_all(by_parent).await
    }

    /// Does the same for the chains of some files only.
    pub async fn link_files(self, machine: &Machine, paths: impl Iterator<Item = &Path>) -> Result<Linked> {
        let mut by_parent: BTreeMap<GivenSessionId, Vec<UnlinkedChain>> = BTreeMap::new();
        for path in paths {
            if let Some(loose) = self.known_source(machine, path).await?.and_then(UnlinkedChain::of) {
                by_parent.entry(loose.parent.session.clone()).or_default().push(loose);
            }
        }
        self.link_all(by_parent).await
    }

    async fn link_all(self, by_parent: BTreeMap<GivenSessionId, Vec<UnlinkedChain>>) -> Result<Linked> {
        let mut linked = Linked::default();
        for (session, loose) in by_parent {
            self.link_to(&session, loose, &mut linked).await?;
        }
        Ok(linked)
    }

    /// Searches one session for the turns that started some agents.
    async fn link_to(self, session: &GivenSessionId, mut loose: Vec<UnlinkedChain>, linked: &mut Linked) -> Result<()> {
        let commits = match session.checked() {
            Some(session) => self.commits_of(session).await?,
            None => Vec::new(),
        };
        // An agent's own records name it too, and carry the session of its parent.
        let mut own = Vec::new();
        for chain in &loose {
            own.push(self.chain_of(&chain.state).await?);
        }
        let others: HashSet<CommitId> = own.iter().flatten().copied().collect();
        let count = commits.iter().filter(|commit| !others.contains(&commit.id)).count() as u64;
        linked.without_parent += if count == 0 { loose.len() as u64 } else { 0 };
        if loose.iter().all(|chain| chain.parent.searched == count) {
            return Ok(());
        }
        let mut found: Vec<Option<(usize, CommitId)>> = vec![None; loose.len()];
        for commit in &commits {
            let Some(content) = self.step_artifact(commit.commit.artifact).await? else { continue };
            for (at, chain) in loose.iter().enumerate().filter(|(at, _)| !own[*at].contains(&commit.id)) {
                let best = found[at].map_or(chain.parent.said.len(), |(rank, _)| rank);
                let said = chain.parent.said.iter().take(best);
                let rank = said.enumerate().find(|(_, word)| Finder::new(word.as_str()).find(&content).is_some());
                found[at] = rank.map(|(rank, _)| (rank, commit.id)).or(found[at]);
            }
        }
        for (chain, found) in loose.iter_mut().zip(found) {
            chain.parent.searched = count;
            chain.parent.is_found = found.is_some();
            linked.linked += u64::from(found.is_some());
            self.save_link(chain, found.map(|(_, commit)| commit)).await?;
        }
        Ok(())
    }

    /// Returns the commits of a session, oldest first.
    async fn commits_of(self, session: RuntimeSessionId) -> Result<Vec<StoredCommit>> {
        let filter = Filter { session: Some(session), ..Filter::default() };
        let (mut commits, mut after) = (Vec::new(), None);
        loop {
            let page = self.engine.list(&filter, after, COMMITS_PER_PAGE).await?;
            let Some(last) = page.last() else { break };
            after = Some(commit::PageAfter { created_at: last.commit.created_at, seq: last.seq });
            commits.extend(page);
        }
        commits.sort_unstable_by_key(|commit| commit.seq);
        Ok(commits)
    }

    /// Returns the commits that a file has become.
    async fn chain_of(self, state: &State) -> Result<HashSet<CommitId>> {
        let mut walk = self.engine.walk(LogStart::Commits(state.tips())).await?;
        let mut chain = HashSet::new();
        loop {
            let page = walk.next(COMMITS_PER_PAGE).await?;
            if page.is_empty() {
                return Ok(chain);
            }
            chain.extend(page.into_iter().map(|commit| commit.id));
        }
    }

    async fn save_link(self, chain: &UnlinkedChain, spawner: Option<CommitId>) -> Result<()> {
        let mut state = chain.state.clone();
        state.parent = Some(chain.parent.clone());
        let state = serde_json::to_string(&state).unwrap_or_else(|_| chain.source.state.clone());
        let (source, mark) = (TranscriptSource { state, ..chain.source.clone() }, chain.source.mark());
        let said = (chain.first, spawner.and_then(|spawner| label(SPAWNED_BY, &spawner.to_string())));
        let saving = self.engine.store().write(
            self.engine.scope(),
            (source, mark, said),
            |tx, (source, mark, (first, said))| {
                let save = async move {
                    if let Some(said) = said {
                        note_once(tx, first, said).await?;
                    }
                    // Who took in more of it meanwhile knows better; the next search will see.
                    if source::mark(tx, &source.machine, &source.path).await? == Some(*mark) {
                        source::save(tx, source, &[]).await?;
                    }
                    Ok(())
                };
                save.boxed()
            },
        );
        saving.await
    }
}

impl UnlinkedChain {
    fn of(source: TranscriptSource) -> Option<Self> {
        let state: State = serde_json::from_str(&source.state).ok()?;
        let parent = state.parent.clone().filter(|parent| !parent.is_found)?;
        let first = parent.first?;
        Some(Self { source, state, parent, first })
    }
}

/// Returns the call by which Claude Code has started the agent of a file, which lies beside it.
pub(crate) fn spawn_call(path: &Path) -> Option<String> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct ChainMeta {
        tool_use_id: Option<String>,
    }
    let bytes = read_found(&path.with_extension("meta.json")).ok()?;
    serde_json::from_slice::<ChainMeta>(&bytes).ok()?.tool_use_id
}
