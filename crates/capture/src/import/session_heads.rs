//! Where the heads of a session go when several files tell of it: its own, copies of it, and older states of either.

use contexture_core::{CommitId, HeadName};
use contexture_store::{
    Tx,
    commit::{self, StoredCommit},
    head,
};

use crate::{
    Result,
    steps::{HeadAuthority, HeadClaim},
};

/// Moves a head to where a file says that it belongs, unless the head is further already.
///
/// Which files come first makes no difference: the head ends at the newest of what they hold, and what is not part of that
/// keeps a name of its own.
pub(super) async fn settle(tx: &mut Tx<'_>, claim: &HeadClaim) -> Result<()> {
    let HeadClaim { name, before, target, authority } = claim;
    let Some(at) = head::find(tx, name).await? else {
        return Ok(head::advance(tx, name, None, *target).await?);
    };
    if at == *target {
        return Ok(());
    }
    let goes_on = *before == Some(at) && *authority != HeadAuthority::Rewritten;
    if goes_on || is_ancestor(tx, &at, target).await? {
        return Ok(head::advance(tx, name, Some(at), *target).await?);
    }
    if *authority == HeadAuthority::Passing || is_ancestor(tx, target, &at).await? {
        return Ok(());
    }
    let (claimed, known) = (commit::show(tx, target).await?, commit::show(tx, &at).await?);
    let is_newer = match authority {
        HeadAuthority::Rewritten => claimed.commit.created_at >= known.commit.created_at,
        HeadAuthority::Passing | HeadAuthority::Ending => age(&claimed) > age(&known),
    };
    let left = if is_newer { at } else { *target };
    if is_newer {
        head::advance(tx, name, Some(at), *target).await?;
    }
    keep(tx, name, left).await
}

async fn is_ancestor(tx: &mut Tx<'_>, older: &CommitId, newer: &CommitId) -> Result<bool> {
    let (older, newer) = (commit::require(tx, older).await?, commit::require(tx, newer).await?);
    Ok(commit::ancestry(tx, newer, older).await?.is_some())
}

/// Returns what orders two states of a session of which neither continues the other: a turn that was cut off has the same
/// beginning as the whole one, and fewer records.
fn age(state: &StoredCommit) -> impl Ord + use<> {
    (state.commit.created_at, state.depth, state.commit.message_count, state.id)
}

/// Gives a name to a state of a session that its head does not lead to.
async fn keep(tx: &mut Tx<'_>, name: &HeadName, left: CommitId) -> Result<()> {
    let short = left.short();
    let digits = short.rsplit('-').next().unwrap_or(&short);
    // A name that has no room for more is of a session with a very long id; its state can be found by its commit.
    let Ok(copy) = HeadName::new(format!("{name}/copy-{digits}")) else { return Ok(()) };
    if head::find(tx, &copy).await?.is_none() {
        head::advance(tx, &copy, None, left).await?;
    }
    Ok(())
}
