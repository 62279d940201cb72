//! `ctx doctor`: is everything that agents have said in the store, and will it go on so?

mod agents;
mod completeness;
mod exposure;
mod fix;
mod hooks;
mod problem;
mod render;
mod retention;
mod spool;
mod store;
mod troubles;

use clap::Args;
use contexture::{
    Contexture,
    core::Timestamp,
    private::ExposedFile,
    wire::{AgentsHealth, DoctorReport, LoggedTrouble, RetentionHealth, SpoolHealth},
};
use contexture_capture::{ComparisonTerms, Depth, OpenSessions, SessionCompleteness, SessionSearch};

use self::{
    hooks::Hooks,
    problem::{Check, Mark, Problem},
    store::StoreState,
};
use crate::{
    error::{Error, Result},
    invocation::Invocation,
    output::{Output, Shape},
};

const EXAMPLES: &str = "\
Examples:
  ctx doctor
      compares every session on disk with the store, byte for byte
  ctx doctor --fix
      takes in what is missing, then looks again
  ctx doctor --quick && echo 'all is well'
      looks only at how long each session is and at its end
  ctx doctor --json | jq '.problems'";

/// Proves that all that agents have said is in the store, or says what to do
///
/// It looks at the store, at every session that the agents of this user have on disk, at the hooks by which agents tell of
/// their work, at what waits in the spool, at agents that are gone without a word, at what is about to be deleted, and
/// at what went wrong. Every problem comes with the command that solves it. Nothing is changed without --fix.
///
/// Exits with 0 when all is well and with 1 when problems are left.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Doctor {
    /// Takes in what is missing, empties the spool, closes what was left open and what others can read, then looks again
    #[arg(long)]
    fix: bool,
    /// Compares only how long each session is, and its end
    #[arg(long)]
    quick: bool,
}

/// Everything that was looked at.
#[derive(Debug)]
struct Examination {
    now: Timestamp,
    depth: Depth,
    store: StoreState,
    sessions: SessionCompleteness,
    hooks: Hooks,
    spool: SpoolHealth,
    agents: AgentsHealth,
    retention: RetentionHealth,
    log: Vec<LoggedTrouble>,
    /// What others can read of the store and of what live capture keeps.
    exposed: Vec<ExposedFile>,
}

impl Doctor {
    pub(crate) async fn run(self, invocation: &Invocation, output: &mut Output) -> Result<()> {
        let depth = if self.quick { Depth::End } else { Depth::Whole };
        if self.fix {
            exposure::close(invocation, output)?;
        }
        let (mut examination, engine) = examine(invocation, depth, output).await?;
        let mut fixed = None;
        if self.fix && examination.store.is_writable() {
            let engine = match engine {
                Some(engine) => engine,
                None => invocation.open().await?,
            };
            let made = fix::fix(&engine, invocation, &examination.sessions, output).await?;
            fix::tell(&made, output);
            (examination, _) = examine(invocation, depth, output).await?;
            fixed = Some(made);
        }
        let problems = examination.problems();
        match output.shape() {
            Shape::Json => {
                output.document(DoctorReport { fixed, ..examination.document(problems.clone()) })?;
            }
            Shape::Text => render::show(&examination, &problems, output)?,
        }
        if problems.is_empty() { Ok(()) } else { Err(Error::Unwell { problems: problems.len() as u64 }) }
    }
}

/// Looks at everything. Returns the store too, if there is one.
async fn examine(invocation: &Invocation, depth: Depth, output: &Output) -> Result<(Examination, Option<Contexture>)> {
    let (now, environment) = (invocation.now()?, &invocation.environment);
    let recorder = invocation.recorder()?;
    let (store, engine) = StoreState::of(invocation).await?;
    let open = OpenSessions::of(&recorder);
    let found = SessionSearch::default().everywhere(&environment.homes);
    let hooks = Hooks::of(environment, &found.candidates)?;
    let sessions = match (&engine, store.is_usable()) {
        (Some(engine), _) => {
            let machine = environment.machine()?;
            let terms = ComparisonTerms { machine: &machine, depth, open: &open };
            completeness::compare(engine, found, terms, output).await
        }
        (None, true) => SessionCompleteness::of_empty_store(found, &open),
        (None, false) => SessionCompleteness::unknown(found),
    };
    let spool = recorder.spool.health();
    let retention = sessions.retention(&environment.homes, now);
    let log = recorder.log.examine(now, &spool, &sessions);
    let agents = open.agents;
    let exposed = exposure::of(invocation)?;
    Ok((Examination { now, depth, store, sessions, hooks, spool, agents, retention, log, exposed }, engine))
}

impl Examination {
    /// Tells programs of everything.
    fn document(&self, problems: Vec<Problem>) -> DoctorReport {
        DoctorReport {
            healthy: problems.is_empty(),
            problems,
            store: self.store.document(),
            sessions: self.sessions.document(),
            hooks: self.hooks.document(),
            spool: self.spool.clone(),
            agents: self.agents.clone(),
            retention: self.retention.clone(),
            log: self.log.clone(),
            fixed: None,
        }
    }

    fn mark(&self, check: Check, problems: &[Problem]) -> Mark {
        let is_known = match check {
            Check::Sessions | Check::Retention => self.store.is_usable(),
            Check::Store | Check::Hooks | Check::Spool | Check::Agents | Check::Log => true,
        };
        let is_unwell = problems.iter().any(|problem| problem.check == check);
        if is_unwell || check == Check::Log && !troubles::is_safe(&self.log) {
            Mark::Unwell
        } else if is_known {
            Mark::Well
        } else {
            Mark::Unknown
        }
    }

    fn problems(&self) -> Vec<Problem> {
        let mut problems = self.store.problems();
        problems.extend(exposure::problems(&self.exposed));
        problems.extend(retention::problems(&self.retention));
        problems.extend(completeness::problems(&self.sessions));
        problems.extend(self.hooks.problems());
        problems.extend(spool::problems(&self.spool, self.now));
        problems.extend(agents::problems(&self.agents));
        problems.extend(troubles::problems(&self.log));
        problems
    }
}
