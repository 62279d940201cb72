//! Flags that say who made a commit, where, and for what.

use clap::Args;
use contexture::core::{Machine, Principal, Provenance, RuntimeSessionId, Template, Thread, Ticket};

use crate::{environment::Environment, error::Result};

/// Who made a commit, where, and for what.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Provenance")]
pub(crate) struct ProvenanceArgs {
    /// The role of the agent, such as `reviewer` [env: CTX_TEMPLATE] [default: that of the commit before]
    #[arg(long, value_name = "T")]
    template: Option<Template>,
    /// Who runs the agent [env: CTX_PRINCIPAL] [default: user@host]
    #[arg(long, value_name = "P")]
    pub(crate) principal: Option<Principal>,
    /// Where the agent runs [env: CTX_MACHINE] [default: the host's name]
    #[arg(long, value_name = "M")]
    machine: Option<Machine>,
    /// The run of the agent
    #[arg(long, value_name = "S")]
    session: Option<RuntimeSessionId>,
    /// The work item
    #[arg(long, value_name = "T")]
    ticket: Option<Ticket>,
    /// The conversation thread; its head `thread/T` moves to the commit
    #[arg(long, value_name = "T")]
    thread: Option<Thread>,
}

impl ProvenanceArgs {
    /// Fills in who and where from the environment.
    pub(crate) fn resolve(self, environment: &Environment) -> Result<Provenance> {
        let Self { template, principal, machine, session, ticket, thread } = self;
        let principal = match principal {
            Some(principal) => principal,
            None => environment.principal()?,
        };
        let machine = match machine {
            Some(machine) => machine,
            None => environment.machine()?,
        };
        let template = match template {
            Some(template) => Some(template),
            None => environment.template()?,
        };
        Ok(Provenance { template, principal: Some(principal), machine: Some(machine), session, ticket, thread })
    }
}
