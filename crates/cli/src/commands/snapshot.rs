//! `ctx snapshot`: a point where materialization may start.

use clap::Args;
use contexture::{Reference, Snapshot as Request, core::HeadName};

use super::checkpoint::print_made;
use crate::{error::Result, invocation::Invocation, output::Output, provenance::ProvenanceArgs};

const EXAMPLES: &str = "\
Examples:
  ctx snapshot main
      `main` moves to a commit that holds the whole conversation";

/// Stores the whole conversation of a commit in one new commit
///
/// It reads the same as before; getting it back no longer walks what came before.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Snapshot {
    /// The commit to take it of; a head moves to the snapshot
    #[arg(value_name = "ID|HEAD")]
    commit: Reference,
    /// The head to move to the snapshot [default: the head that was named]
    #[arg(long, value_name = "NAME")]
    head: Option<HeadName>,
    #[command(flatten)]
    provenance: ProvenanceArgs,
}

impl Snapshot {
    pub(crate) async fn run(self, invocation: &Invocation, output: &mut Output) -> Result<()> {
        let engine = invocation.open_as(self.provenance.principal.as_ref()).await?;
        let (commit, named) = engine.find_with_head(&self.commit).await?;
        let request = Request {
            commit,
            provenance: self.provenance.resolve(&invocation.environment)?,
            head: self.head.or(named),
            annotations: Vec::new(),
        };
        print_made(&engine.snapshot(request).await?, output)
    }
}
