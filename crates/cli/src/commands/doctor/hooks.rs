//! Whether agents tell of their work.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use contexture::{
    core::Timestamp,
    wire::{HookCall, HookHealth},
};
use contexture_capture::{HookSeen, Runtime, SessionCandidate};

use super::problem::{Check, Problem};
use crate::{
    environment::Environment,
    error::Result,
    invocation::Invocation,
    output,
    setup::{self, Installed, Program, State},
};

/// How long after its hook was last heard of a runtime may go on writing, in microseconds.
const TOLERANCE_MICROS: i64 = 10 * 60 * 1_000_000;
/// What installs hooks.
const INSTALL: &str = "ctx init";

/// The hooks of the runtimes that are here.
#[derive(Debug)]
pub(super) struct Hooks {
    all: Vec<Hook>,
}

/// The hook of a runtime.
#[derive(Debug)]
struct Hook {
    runtime: Runtime,
    /// The settings that ask for it.
    settings: Option<PathBuf>,
    /// Events that are not told.
    missing: Vec<&'static str>,
    /// The program that is told of them, when it is not there.
    lost_program: Option<PathBuf>,
    /// Whether the settings name a store with its password.
    tells_password: bool,
    /// When it was last called.
    fired: Option<HookSeen>,
    /// Whether sessions went on without it.
    is_silent: bool,
}

impl From<&Hook> for HookHealth {
    fn from(hook: &Hook) -> Self {
        let Hook { runtime, settings, missing, lost_program, tells_password: _, fired, is_silent } = hook;
        Self {
            runtime: runtime.as_str().to_owned(),
            settings: settings.clone(),
            missing: missing.iter().map(|event| (*event).to_owned()).collect(),
            lost_program: lost_program.clone(),
            fired: fired.as_ref().map(|call| HookCall { at: call.at, event: call.event.clone() }),
            is_silent: *is_silent,
        }
    }
}

impl Hooks {
    pub(super) fn of(environment: &Environment, sessions: &[SessionCandidate]) -> Result<Self> {
        let state = environment.state_directory()?;
        let here = Runtime::hooked().filter(|runtime| setup::is_here(*runtime, &environment.homes, None));
        let mut installed = installed(environment);
        let hook = |runtime: Runtime| {
            // The user's come before those of the project.
            let at = installed.iter().position(|installed| installed.place.runtime == runtime);
            let own = sessions.iter().filter(|session| session.runtime == runtime.as_str());
            let last_written = own.filter_map(|session| session.written).max();
            let fired = HookSeen::last(&state, runtime);
            Hook::new(runtime, at.map(|at| installed.remove(at)), fired, last_written)
        };
        Ok(Self { all: here.map(hook).collect() })
    }

    /// Tells programs of them.
    pub(super) fn document(&self) -> Vec<HookHealth> {
        self.all.iter().map(HookHealth::from).collect()
    }

    pub(super) fn line(&self, now: Timestamp) -> String {
        if self.all.is_empty() {
            return "no agent that has hooks is here".to_owned();
        }
        let (mut called, mut waiting, mut missing) = (Vec::new(), Vec::new(), Vec::new());
        for Hook { runtime, settings, fired, .. } in &self.all {
            match (settings, fired) {
                (None, _) => missing.push(runtime.to_string()),
                (Some(_), None) => waiting.push(runtime.to_string()),
                (Some(_), Some(fired)) => called.push(format!("{runtime} {}", output::relative(now, fired.at))),
            }
        }
        let groups = [("called", called), ("not called yet", waiting), ("not installed", missing)];
        let named = groups.into_iter().filter(|(_, runtimes)| !runtimes.is_empty());
        named.map(|(how, runtimes)| format!("{how}: {}", runtimes.join(", "))).collect::<Vec<_>>().join("; ")
    }

    pub(super) fn problems(&self) -> Vec<Problem> {
        let missing: Vec<&str> =
            self.all.iter().filter(|hook| hook.settings.is_none()).map(|hook| hook.runtime.title()).collect();
        let verb = if missing.len() == 1 { "does not tell of its work" } else { "do not tell of their work" };
        let missing = (!missing.is_empty()).then(|| format!("{} {verb}", missing.join(", ")));
        let others = self.all.iter().filter_map(Hook::problem);
        missing.into_iter().chain(others).map(|what| Problem::new(Check::Hooks, what, INSTALL)).collect()
    }
}

impl Hook {
    fn new(
        runtime: Runtime,
        installed: Option<Installed>,
        fired: Option<HookSeen>,
        last_written: Option<Timestamp>,
    ) -> Self {
        let settings = installed.as_ref().map(|installed| installed.place.path.clone());
        let (missing, lost_program) = match installed.map(|installed| installed.state) {
            None | Some(State::Complete) => (Vec::new(), None),
            Some(State::Partial { missing }) => (missing, None),
            // A bare name is looked up where the agent runs.
            Some(State::OtherProgram { path }) => {
                (Vec::new(), Some(path).filter(|it| it.is_absolute() && !it.exists()))
            }
        };
        // Who was never called may have been installed only a moment ago.
        let asked = settings.as_deref().and_then(written);
        let heard = fired.as_ref().map(|fired| fired.at).max(asked);
        let is_silent = last_written
            .zip(heard)
            .is_some_and(|(written, heard)| written.as_micros().saturating_sub(heard.as_micros()) > TOLERANCE_MICROS);
        let tells_password = settings.as_deref().is_some_and(setup::tells_password);
        Self { runtime, settings, missing, lost_program, tells_password, fired, is_silent }
    }

    /// Says what is wrong with a hook that is there.
    fn problem(&self) -> Option<String> {
        let settings = self.settings.as_ref()?;
        let title = self.runtime.title();
        if self.tells_password {
            let path = settings.display();
            return Some(format!(
                "a password stands in {path}; keep it as `ctx store --help` says, and set hooks up anew"
            ));
        }
        if let Some(program) = &self.lost_program {
            return Some(format!("{title} calls {}, which is not there", program.display()));
        }
        if !self.missing.is_empty() {
            return Some(format!("{title} does not tell of {}", self.missing.join(", ")));
        }
        let note = self.runtime.hooks().map_or("", |hooks| hooks.silent_while);
        self.is_silent.then(|| format!("{title} works without calling its hook{note}"))
    }
}

/// Returns the hooks that are there, for the user and in the project around this directory.
fn installed(environment: &Environment) -> Vec<Installed> {
    let project = Invocation::git().project_around(env::current_dir().unwrap_or_default());
    let file = env::current_exe().unwrap_or_else(|_| "ctx".into());
    let path = Program::stable_path(file, environment.programs.as_deref());
    setup::installed(&environment.homes, &project, &Program { path, options: Vec::new() })
}

fn written(file: &Path) -> Option<Timestamp> {
    let time = fs::metadata(file).ok()?.modified().ok()?;
    jiff::Timestamp::try_from(time).ok().map(Timestamp::from)
}
