//! `ctx init`: agents and git are told to call this program, and what agents have kept is taken in.

mod earlier;
mod ending;
mod summary;

use std::{
    env,
    path::{self, Path},
};

use clap::Args;
use contexture::{Location, wire::SetUpPlace};
use contexture_capture::{CheckpointInterval, Runtime};

use self::{earlier::EarlierSessions, summary::SetupSummary};
use crate::{
    configuration,
    error::{Error, Result, Unprepared},
    input::Input,
    invocation::Invocation,
    output::{self, Output, Shape},
    setup::{self, ChangePlan, ChangeStep, HookPlace, Program, SetupScope, git},
    values,
};

const EXAMPLES: &str = "\
Examples:
  ctx init
      says what it would change for the agents of this machine, asks, changes it,
      and offers to take in the sessions that are there
  ctx init --runtime codex --dry-run --diff
      only shows it, line by line, for one agent
  ctx init --project --yes
      for this project only, without asking
  ctx init --every turn
      what happens is taken in when a turn ends, and not at each tool call
  ctx init --git
      git commits made here will also name the context they come from
  ctx --store /srv/team/store --space web init
      what happens will be kept there
  ctx init --remove
      takes out what was added, and nothing else";

/// Has every turn of your agents kept from now on
///
/// Adds hooks to the settings of Claude Code, Codex, Gemini CLI, pi and Copilot CLI, through which they tell `ctx hook`
/// what they do, and takes in the sessions that they have kept. Says what it would change and asks before it does. What
/// is in the settings stays there, and `--remove` takes out no more than what was added.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Init {
    /// The agents to set up [default: all that are on this machine]
    #[arg(long = "runtime", value_name = "RUNTIME", value_parser = values::runtime())]
    runtimes: Vec<Runtime>,
    /// Changes the settings of this project instead of the user's
    #[arg(long)]
    project: bool,
    /// Takes out what was added, also from the git repository around this directory
    #[arg(long)]
    remove: bool,
    /// Writes into the configuration how often sessions are captured: at each turn and tool `call`, at each `turn`, every so
    /// many, such as '5 turns', at `significant` events only, or no more often than a time such as 30s
    #[arg(long, value_name = "INTERVAL", conflicts_with_all = ["project", "remove"])]
    every: Option<CheckpointInterval>,
    #[command(flatten)]
    beside: BesideAgents,
    #[command(flatten)]
    consent: Consent,
}

/// What is done beside the agents' settings.
#[derive(Debug, Args)]
struct BesideAgents {
    /// Adds hooks to the git repository around this directory too; hooks that are there go on working
    #[arg(long)]
    git: bool,
    /// Has commits of that repository name the agent, too: `Assisted-by: Codex`
    #[arg(long, requires = "git")]
    assisted_by: bool,
    /// Leaves the sessions that agents have kept so far where they are
    #[arg(long)]
    no_import: bool,
}

/// How changes are shown, and whether they are made.
#[derive(Debug, Args)]
struct Consent {
    /// Shows each change line by line
    #[arg(long)]
    diff: bool,
    /// Shows the changes and makes none
    #[arg(long, conflicts_with = "yes")]
    dry_run: bool,
    /// Makes the changes and takes in earlier sessions without asking
    #[arg(short, long)]
    yes: bool,
}

/// What is to be done to all settings.
struct SetupPlan {
    changes: Vec<ChangePlan>,
    /// A line for each agent, and one for git.
    summaries: Vec<SetupSummary>,
}

impl Init {
    pub(crate) async fn run(self, invocation: &Invocation, output: &mut Output) -> Result<()> {
        let unreadable = |source| Error::Read { input: Input::File(".".into()), source };
        let here = env::current_dir().map_err(unreadable)?;
        let project = Invocation::git().project_around(here.clone());
        let program = program(invocation, self.remove)?;
        let plan = self.plan(invocation, &program, &here, &project, output)?;
        self.show(&plan, output)?;
        if !plan.is_idle() && !self.consent.dry_run && !self.consent.is_given(&plan, output)? {
            output.status("Nothing was changed.");
            return Ok(());
        }
        self.make(&plan, output)?;
        if plan.is_idle() {
            output.status("Nothing to change.");
        }
        let installed = setup::installed(&invocation.environment.homes, &project, &program);
        if self.remove {
            if !self.consent.dry_run {
                ending::tell_rest(&installed, invocation, output);
            }
            return Ok(());
        }
        if !self.consent.dry_run {
            ending::tell_state(&installed, invocation, output);
        }
        self.offer_sessions(invocation, output).await?;
        if self.consent.dry_run {
            return Ok(());
        }
        self.offer_git(&here, &program, output)?;
        if installed.is_empty() {
            return Ok(());
        }
        ending::tell_commands(self.has_sessions(invocation).await?, invocation, output)
    }

    fn plan(
        &self,
        invocation: &Invocation,
        program: &Program,
        here: &Path,
        project: &Path,
        output: &mut Output,
    ) -> Result<SetupPlan> {
        let mut plan = SetupPlan { changes: Vec::new(), summaries: Vec::new() };
        let shown = |path: &Path| invocation.environment.shown(path);
        for place in self.places(invocation, project)? {
            let path = shown(&place.path);
            if self.remove {
                let change = place.unregister()?;
                plan.summaries.push(SetupSummary::of_removal(&place, &change, &path));
                plan.changes.push(change);
                continue;
            }
            let change = place.register(program);
            let by_hand = matches!(change, Err(Error::Unprepared(Unprepared::Settings { .. }))) && self.consent.diff;
            if by_hand && output.shape() == Shape::Text {
                output.lines(place.by_hand(program).trim_end())?;
            }
            let change = change?;
            let before = place.state(program);
            plan.summaries.push(SetupSummary::of_registration(&place, before.as_ref(), &change, &path));
            plan.changes.push(change);
        }
        let git = if self.remove && (self.beside.git || self.runtimes.is_empty()) {
            git::unregister(here)?
        } else if self.beside.git {
            git::register(here, program, self.beside.assisted_by)?
        } else {
            Vec::new()
        };
        plan.summaries.extend(SetupSummary::of_git(&git, self.remove, shown));
        plan.changes.extend(git);
        let removes_all = self.remove && self.runtimes.is_empty() && !self.project;
        if let Some(directory) = invocation.environment.config_directory.as_deref()
            && (self.every.is_some() || removes_all)
        {
            let change = setup::interval::plan(directory, self.every)?;
            plan.summaries.extend(SetupSummary::of_interval(&change, self.every, &shown(&change.place)));
            plan.changes.extend(Some(change).filter(|change| self.every.is_some() || !change.steps.is_empty()));
        }
        Ok(plan)
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
        if places.is_empty() && !self.beside.git && !self.remove {
            Err(Unprepared::NoAgents.into())
        } else {
            Ok(places)
        }
    }

    fn show(&self, plan: &SetupPlan, output: &mut Output) -> Result<()> {
        if output.shape() == Shape::Json {
            return Ok(());
        }
        if self.consent.diff {
            plan.show_changes(output)?;
        }
        let lines: Vec<_> = plan.summaries.iter().map(|summary| summary.line(&output.palette)).collect();
        lines.iter().try_for_each(|line| output.line(line))
    }

    fn make(&self, plan: &SetupPlan, output: &mut Output) -> Result<()> {
        for change in &plan.changes {
            if !self.consent.dry_run {
                change.steps.iter().try_for_each(ChangeStep::make)?;
            }
            if output.shape() == Shape::Json {
                output.document(SetUpPlace {
                    target: change.target.as_str().to_owned(),
                    path: change.place.clone(),
                    effect: change.effect(),
                    done: !self.consent.dry_run,
                })?;
            }
        }
        Ok(())
    }

    /// Takes in what agents have kept until now, if that is wanted.
    async fn offer_sessions(&self, invocation: &Invocation, output: &mut Output) -> Result<()> {
        // Those of a project are not told apart from others.
        if self.project || self.beside.no_import {
            return Ok(());
        }
        // Hooks keep what they hear until the store can be used, so it need not be there yet.
        let Ok(earlier) = EarlierSessions::find(invocation, &self.runtimes, output).await else {
            output.status(
                "The store cannot be used yet: `ctx store check` says why, and `ctx import` takes in earlier sessions.",
            );
            return Ok(());
        };
        if !earlier.are_any() {
            return Ok(());
        }
        let (found, them) = (earlier.tell(), earlier.pronoun());
        if self.consent.yes {
            output.status(format_args!("{found}."));
            return earlier.take_in(invocation, output).await;
        }
        let is_asked = !self.consent.dry_run && output.can_ask();
        if is_asked && output.confirms(&format!("{found}: take {them} in?"))? {
            return earlier.take_in(invocation, output).await;
        }
        output.status(format_args!("{found}: `ctx import` takes {them} in."));
        Ok(())
    }

    /// Offers the hooks of git in a repository that has none of ours.
    fn offer_git(&self, here: &Path, program: &Program, output: &mut Output) -> Result<()> {
        if self.beside.git {
            return Ok(());
        }
        // Outside of repositories, and where hooks cannot be, there is nothing to offer.
        let Ok(changes) = git::register(here, program, self.beside.assisted_by) else { return Ok(()) };
        // Hooks of ours stay as somebody has asked for them.
        let is_ours = |step: &ChangeStep| matches!(step, ChangeStep::Write { before: Some(_), .. });
        let is_set_up = |change: &ChangePlan| change.steps.is_empty() || change.steps.iter().any(is_ours);
        if changes.iter().all(is_set_up) {
            return Ok(());
        }
        if self.consent.yes || !output.can_ask() {
            output.status("`ctx init --git` has git commits made here name the conversation behind them.");
            return Ok(());
        }
        let hooks = output::counted(changes.len() as u64, "git hook");
        if output.confirms(&format!("Add {hooks}, so that commits name the conversation behind them?"))? {
            changes.iter().flat_map(|change| &change.steps).try_for_each(ChangeStep::make)?;
        }
        Ok(())
    }

    /// Tells whether there is anything to look at.
    async fn has_sessions(&self, invocation: &Invocation) -> Result<bool> {
        match invocation.location()? {
            Location::Directory(directory) if directory.exists() => {
                Ok(invocation.open().await?.journal_tip().await? > 0)
            }
            Location::Directory(_) => Ok(false),
            // A server may be away; what was set up is set up all the same.
            Location::Postgres(_) => match invocation.open().await {
                Ok(engine) => Ok(engine.journal_tip().await? > 0),
                Err(_) => Ok(false),
            },
        }
    }
}

impl SetupPlan {
    fn is_idle(&self) -> bool {
        self.changes.iter().all(|change| change.steps.is_empty())
    }

    /// Shows each change line by line.
    fn show_changes(&self, output: &mut Output) -> Result<()> {
        let steps = self.changes.iter().flat_map(|change| &change.steps);
        let lines: Vec<_> = steps.flat_map(|step| step.shown(&output.palette)).collect();
        lines.iter().try_for_each(|line| output.line(line))
    }
}

impl Consent {
    /// Asks whether to go on, unless that was said already.
    fn is_given(&self, plan: &SetupPlan, output: &mut Output) -> Result<bool> {
        if self.yes {
            return Ok(true);
        }
        loop {
            match &*output.ask("Make these changes? [y/N, d shows them] ")?.to_lowercase() {
                "y" | "yes" => return Ok(true),
                "d" | "diff" => plan.show_changes(output)?,
                _ => return Ok(false),
            }
        }
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
