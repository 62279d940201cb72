//! `ctx current`: the commit that is the caller's understanding now.

use std::time::Duration;

use clap::Args;
use contexture::wire::FoundBy;
use contexture_capture::{self as capture, CurrentRequest};

use crate::{
    error::Result,
    invocation::Invocation,
    output::{Output, Shape},
};

const EXAMPLES: &str = "\
Examples:
  ctx current
      from a tool, a hook, an MCP server or a shell that an agent has started: what that agent knows at this call
  gh issue comment 7 --body \"Fixed; see $(ctx current)\"
      whoever reads it can go on from there: `ctx resume ctx-…`
  ctx current --session 0c3f
      of a session that is named";

/// How long the agent may take to write down the call that runs this program.
const FLUSH_LIMIT: Duration = Duration::from_secs(2);

/// How long all of it may take.
const LIMIT: Duration = Duration::from_secs(10);

/// Prints the commit that is the caller's understanding now
///
/// What the agent's session has come to hold is taken in first, so the id stands for the very call that asks for it and not
/// for an earlier checkpoint. The session is the one that the agent names itself, else the one that `CTX_SESSION` names, else
/// that of the agent that has started this program, else that of an agent that works in this directory. Where several
/// remain possible none is chosen: the error names all of them. Where there is none it is the last commit of whoever asks.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Current {
    /// A session: its id or the beginning of it, or what `CTX_SESSION` says in it
    #[arg(long, value_name = "S")]
    session: Option<String>,
}

impl Current {
    pub(crate) async fn run(self, invocation: &Invocation, output: &mut Output) -> Result<()> {
        let principal = invocation.environment.principal()?;
        let request = CurrentRequest { session: self.session, principal: principal.clone(), patience: FLUSH_LIMIT };
        let config = invocation.capture_config()?;
        let asking = tokio::time::timeout(LIMIT, capture::current(&config, &request));
        let late = |_| capture::Error::NotStored { problem: format!("the store did not answer within {LIMIT:?}") };
        let answer = asking.await.map_err(late)??;
        if answer.by == FoundBy::Principal {
            output.remark(format_args!("No agent has started this program; this is the last commit of {principal}."));
        }
        match output.shape() {
            Shape::Json => output.document(answer),
            Shape::Text => output.line(answer.commit),
        }
    }
}
