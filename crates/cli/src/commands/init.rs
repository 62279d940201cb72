//! `ctx init`: agents and git are told to call this program.

use std::{
    env,
    path::{self, Path},
};

use clap::Args;
use contexture::{Location, wire::SetUpPlace};
use contexture_capture::Runtime;

use crate::{
    configuration,
    error::{Error, Result, Unprepared},
    input::Input,
    invocation::Invocation,
    output::{Output, Shape},
    setup::{self, ChangePlan, ChangeStep, ChangeTarget, HookPlace, Installed, Program, SetupScope, State, git},
    values,
};

const EXAMPLES: &str = "\
Examples:
  ctx init
      shows what it would change for the agents of this machine, asks, and changes it
  ctx init --runtime codex --dry-run
      only shows it, for one agent
  ctx init --project --yes
      for this project only, without asking
  ctx init --git
      git commits made here will also name the context they come from
  ctx --store /srv/team/store --space web init
      what happens will be kept there
  ctx init --remove
      takes out what was added, and nothing else";

/// Has every turn of your agents kept from now on
///
/// Adds hooks to the settings of Claude Code, Codex, Gemini CLI and pi, through which they tell `ctx hook` what they do.
/// Shows each change before it is made. What is in the settings stays there, and `--remove` takes out no more than
/// what was added.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Init {
    /// The agents to set up [default: all that are on this machine]
    #[arg(long = "runtime", value_name = "RUNTIME", value_parser = values::runtime())]
    runtimes: Vec<Runtime>,
    /// Changes the settings of this project instead of the user's
    #[arg(long)]
    project: bool,
    /// Adds hooks to the git repository around this directory too; hooks that are there go on working
    #[arg(long)]
    git: bool,
    /// Takes out what was added, also from the git repository around this directory
    #[arg(long)]
    remove: bool,
    #[command(flatten)]
    consent: Consent,
}

/// Whether changes are made.
#[derive(Debug, Args)]
struct Consent {
    /// Shows the changes and makes none
    #[arg(long, conflicts_with = "yes")]
    dry_run: bool,
    /// Makes the changes without asking
    #[arg(short, long)]
    yes: bool,
}

impl Init {
    pub(crate) fn run(self, invocation: &Invocation, output: &mut Output) -> Result<()> {
        let unreadable = |source| Error::Read { input: Input::File(".".into()), source };
        let here = env::current_dir().map_err(unreadable)?;
        let project = Invocation::git().project_around(here.clone());
        let program = program(invocation, self.remove)?;
        let plans = self.plans(invocation, &program, &here, &project, output)?;
        let is_idle = plans.iter().all(|plan| plan.steps.is_empty());
        if output.shape() == Shape::Text {
            let steps = plans.iter().flat_map(|plan| &plan.steps);
            let lines: Vec<_> = steps.flat_map(|step| step.shown(&output.palette)).collect();
            lines.iter().try_for_each(|line| output.line(line))?;
        }
        if !is_idle && !self.consent.dry_run && !self.consent.is_given(output)? {
            output.status("Nothing was changed.");
            return Ok(());
        }
        for plan in &plans {
            if !self.consent.dry_run {
                plan.steps.iter().try_for_each(ChangeStep::make)?;
            }
            if output.shape() == Shape::Json {
                let ChangePlan { target, place, .. } = plan;
                output.document(SetUpPlace {
                    target: target.as_str().to_owned(),
                    path: place.clone(),
                    effect: plan.effect(),
                    done: !self.consent.dry_run,
                })?;
            }
        }
        if is_idle {
            output.status("Nothing to change.");
        }
        if !self.consent.dry_run {
            let installed = setup::installed(&invocation.environment.homes, &project, &program);
            self.report(&plans, &installed, output);
            if !self.remove && !installed.is_empty() {
                let place = invocation.location()?;
                output.status(format_args!(
                    "Secrets in them are kept masked, in the store at {place}: `ctx secrets list`."
                ));
            }
        }
        Ok(())
    }

    fn plans(
        &self,
        invocation: &Invocation,
        program: &Program,
        here: &Path,
        project: &Path,
        output: &mut Output,
    ) -> Result<Vec<ChangePlan>> {
        let mut plans = Vec::new();
        for place in self.places(invocation, project)? {
            if self.remove {
                plans.push(place.unregister()?);
                continue;
            }
            let plan = place.register(program);
            if matches!(plan, Err(Error::Unprepared(Unprepared::Settings { .. }))) && output.shape() == Shape::Text {
                output.line(place.by_hand(program).trim_end())?;
            }
            plans.push(plan?);
        }
        if self.remove && (self.git || self.runtimes.is_empty()) {
            plans.extend(git::unregister(here)?);
        } else if self.git {
            plans.extend(git::register(here, program)?);
        }
        Ok(plans)
    }

    /// Returns the settings to change.
    fn places(&self, invocation: &Invocation, project: &Path) -> Result<Vec<HookPlace>> {
        let homes = &invocation.environment.homes;
        let scope = if self.project { SetupScope::Project } else { SetupScope::User };
        let place = |runtime: Runtime| HookPlace::of(runtime, scope, homes, project);
        if !self.runtimes.is_empty() {
            let named = |runtime: &Runtime| place(*runtime).ok_or(Unprepared::NoSettings { runtime: *runtime }.into());
            return self.runtimes.iter().map(named).collect();
        }
        // What was set up may be gone since, and can be taken out all the same.
        let search = invocation.environment.programs.as_deref();
        let is_meant = |runtime: &Runtime| self.remove || setup::is_here(*runtime, homes, search);
        let places: Vec<_> = Runtime::hooked().filter(is_meant).filter_map(place).collect();
        if places.is_empty() && !self.git && !self.remove { Err(Unprepared::NoAgents.into()) } else { Ok(places) }
    }

    /// Tells what the settings say now, as they are read.
    fn report(&self, plans: &[ChangePlan], installed: &[Installed], output: &mut Output) {
        if self.remove {
            for plan in plans.iter().filter(|plan| !plan.steps.is_empty()) {
                output.status(format_args!("{}: hooks taken out of {}.", plan.target.title(), plan.place.display()));
            }
        }
        for Installed { place, state } in installed {
            let (title, path) = (place.runtime.title(), place.path.display());
            output.status(match state {
                State::Complete => format!("{title}: hooks in {path}."),
                State::Partial { missing } => {
                    format!("{title}: hooks in {path}, but none for {}.", missing.join(", "))
                }
                State::OtherProgram { path: other } => format!("{title}: hooks in {path} for {}.", other.display()),
            });
            if self.remove {
                let project = if place.scope == SetupScope::Project { " --project" } else { "" };
                let runtime = place.runtime.as_str();
                output.status(format_args!("  `ctx init --remove{project} --runtime {runtime}` takes them out."));
            } else if let Some(caution) = place.caution() {
                output.status(format_args!("  {caution}"));
            }
        }
        if self.remove {
            return;
        }
        for plan in plans.iter().filter(|plan| plan.target == ChangeTarget::Git) {
            output.status(format_args!("git: calls {}.", plan.place.display()));
        }
        if !installed.is_empty() {
            output.status(
                "Every turn of your agents is now a commit: `ctx log --graph` shows them, `ctx doctor` proves it.",
            );
        }
    }
}

impl Consent {
    /// Asks whether to go on, unless that was said already.
    fn is_given(&self, output: &mut Output) -> Result<bool> {
        if self.yes {
            return Ok(true);
        }
        output.confirms("Make these changes?")
    }
}

/// Returns the command to register: this very program, with the store and the space that were named on its command line.
fn program(invocation: &Invocation, removes: bool) -> Result<Program> {
    let file = env::current_exe().map_err(Unprepared::NoProgram)?;
    let path = Program::stable_path(file, invocation.environment.programs.as_deref());
    if path.to_str().is_none() {
        return Err(Unprepared::NotText { what: "the path of this program" }.into());
    }
    let mut options = Vec::new();
    if let Some(flag) = &invocation.globals.store {
        let store = match invocation.located("--store", flag)? {
            // Agents work in other directories.
            Location::Directory(directory) => path::absolute(&directory)
                .map_err(|source| Error::Read { input: Input::File(directory), source })?
                .into_os_string(),
            // Who takes hooks out need not know the password.
            Location::Postgres(url) if url.is_secret() && !removes => {
                let configuration = invocation.environment.config_directory.clone().unwrap_or_default();
                return Err(
                    Unprepared::PasswordInAddress { configuration: configuration.join(configuration::FILE) }.into()
                );
            }
            Location::Postgres(url) => url.address().into(),
        };
        let store = store.into_string().map_err(|_| Unprepared::NotText { what: "the path of the store" })?;
        options.extend(["--store".to_owned(), store]);
    }
    if let Some(space) = &invocation.globals.space {
        options.extend(["--space".to_owned(), space.to_string()]);
    }
    Ok(Program { path, options })
}
