//! The store under measurement.

use std::sync::Arc;

use contexture::{
    Checkpoint, CheckpointContent, Contexture, Location, Options, SecretMeans,
    core::{
        Actor, CommitId, Format, HeadName, Machine, Principal, Provenance, RuntimeSessionId, SpaceName, Template,
        Timestamp, Trigger,
    },
};

use crate::{Result, payload::Payloads};

/// The principal of every commit.
pub(crate) const PRINCIPAL: &str = "bench@machine";

/// Opens a store.
pub(crate) async fn open(location: impl Into<Location>) -> Result<Contexture> {
    let options = Options {
        location: location.into(),
        space: SpaceName::new("default")?,
        actor: Actor::new(PRINCIPAL)?,
        clock: Arc::new(|| Timestamp::from(jiff::Timestamp::now())),
        secrets: SecretMeans::without_keys(|bytes| getrandom::fill(bytes).expect("the system has random bytes")),
    };
    Ok(Contexture::open(options).await?)
}

/// Describes a checkpoint as a hook would make it: with everything that is known filled in.
pub(crate) fn checkpoint(head: Option<&str>, parent: Option<CommitId>) -> Result<Checkpoint> {
    Ok(Checkpoint {
        provenance: Provenance {
            template: Some(Template::new("claude-code/2.1")?),
            principal: Some(Principal::new(PRINCIPAL)?),
            machine: Some(Machine::new("machine")?),
            session: Some(RuntimeSessionId::new("4f1c2a9e-1b1d-4a53-9a1e-0d7b1f6f9a11")?),
            ..Provenance::default()
        },
        trigger: Trigger::TurnBoundary,
        parent,
        head: head.map(HeadName::new).transpose()?,
        ..Checkpoint::new(Format::new("claude-code-v1")?)
    })
}

/// Grows a chain on one head by so many commits, with many writers at once so that it does not take all day.
pub(crate) async fn grow(
    store: &Contexture,
    head: &str,
    payloads: &Arc<Payloads>,
    from: u64,
    count: u64,
) -> Result<()> {
    const WRITERS: u64 = 64;
    let mut tasks = tokio::task::JoinSet::new();
    for writer in 0..WRITERS {
        let (store, head, payloads) = (store.clone(), head.to_owned(), Arc::clone(payloads));
        tasks.spawn(async move {
            for n in (writer..count).step_by(usize::try_from(WRITERS)?) {
                let request = checkpoint(Some(&head), None)?;
                store.checkpoint(request, CheckpointContent::Bytes(payloads.line(from + n))).await?;
            }
            Result::Ok(())
        });
    }
    while let Some(done) = tasks.join_next().await {
        done??;
    }
    Ok(())
}
