//! `ctx resolve`: what somebody understood at a time.

use clap::Args;
use contexture::{Moment, core::Principal, wire::ResolvedCommit};

use crate::{
    error::{Error, Result},
    invocation::Invocation,
    output::{Output, Shape},
    time::When,
};

const EXAMPLES: &str = "\
Examples:
  ctx resolve ada@laptop
      the last commit of ada@laptop
  ctx materialize $(ctx resolve ada@laptop --at '2h ago')
      what it knew two hours ago";

/// Prints the last commit that a principal had made at a time
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Resolve {
    /// Whose commit
    #[arg(value_name = "PRINCIPAL")]
    principal: Principal,
    /// The time; a commit made at exactly this time counts
    #[arg(long, value_name = "TIME", default_value = "now", allow_hyphen_values = true)]
    at: When,
}

impl Resolve {
    pub(crate) async fn run(self, invocation: &Invocation, output: &mut Output) -> Result<()> {
        let engine = invocation.open().await?;
        let moment = Moment { principal: self.principal, at: self.at.resolve(engine.now())? };
        let found = engine.resolve(&moment).await?;
        let Moment { principal, at } = moment;
        match (found, output.shape()) {
            (None, _) => Err(Error::NothingKnown { principal, at }),
            (Some(id), Shape::Text) => output.line(id),
            (Some(id), Shape::Json) => output.document(ResolvedCommit { id, principal, at }),
        }
    }
}
