//! What runtimes and git are told so that they call this program.
//!
//! Each runtime has its own settings, and they belong to the user: what is there stays there, and what was added can be
//! taken out again.

mod change;
mod diff;
pub(crate) mod git;
mod hooks;
pub(crate) mod interval;
mod json;
mod program;

use std::{
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
};

use contexture_capture::{Homes, HookRegistration, Runtime, RuntimeHooks};

use crate::{
    error::{Error, Result, Unprepared},
    output,
};
use change::FileKind;
pub(crate) use change::{ChangePlan, ChangeStep, ChangeTarget};
pub(crate) use hooks::Misfit;
pub(crate) use program::Program;

/// Whose settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SetupScope {
    /// The user's, for all projects.
    User,
    /// A project's.
    Project,
}

/// Where a runtime reads its hooks from.
#[derive(Debug, Clone)]
pub(crate) struct HookPlace {
    pub(crate) runtime: Runtime,
    pub(crate) scope: SetupScope,
    pub(crate) path: PathBuf,
    /// The directory that stays, even if nothing is left in it.
    root: PathBuf,
    hooks: &'static RuntimeHooks,
}

/// Hooks that are there.
#[derive(Debug)]
pub(crate) struct Installed {
    pub(crate) place: HookPlace,
    pub(crate) state: State,
}

/// What becomes of a runtime's events.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// All are told to this program.
    Complete,
    /// Some are not.
    Partial { missing: Vec<&'static str> },
    /// They are told to another program of the same name, which may not be there any more.
    OtherProgram { path: PathBuf },
}

impl HookPlace {
    /// Returns where a runtime reads its hooks from; nothing, if it has no home.
    pub(crate) fn of(runtime: Runtime, scope: SetupScope, homes: &Homes, project: &Path) -> Option<Self> {
        let hooks = runtime.hooks()?;
        let (root, path) = match scope {
            SetupScope::User => (homes.of(runtime)?, hooks.in_home),
            SetupScope::Project => (project, hooks.in_project),
        };
        Some(Self { runtime, scope, path: root.join(path), root: root.to_owned(), hooks })
    }

    /// Plans to have the program told of all that happens.
    pub(crate) fn register(&self, program: &Program) -> Result<ChangePlan> {
        let before = change::read(&self.path)?;
        let after = match (&self.hooks.registration, before.as_deref().map(str::trim)) {
            (HookRegistration::Extension(extension), Some(text)) if !text.is_empty() && !(extension.is_ours)(text) => {
                return Err(Unprepared::NotOurs { path: self.path.clone() }.into());
            }
            (HookRegistration::Extension(_), _)
            | (HookRegistration::Settings(_) | HookRegistration::HookFile(_), None | Some("")) => self.by_hand(program),
            (HookRegistration::Settings(_) | HookRegistration::HookFile(_), Some(_)) => {
                let text = before.as_deref().unwrap_or_default();
                hooks::add(text, self.runtime, program).map_err(|source| self.misfit(source))?
            }
        };
        Ok(self.plan(self.write(before, after)))
    }

    /// Plans to have no program of ours told of anything.
    pub(crate) fn unregister(&self) -> Result<ChangePlan> {
        let Some(before) = change::read(&self.path)? else { return Ok(self.plan(None)) };
        let after = match &self.hooks.registration {
            HookRegistration::Extension(extension) => (!(extension.is_ours)(&before)).then(|| before.clone()),
            HookRegistration::Settings(_) | HookRegistration::HookFile(_) => match hooks::remove(&before, self.runtime)
            {
                Ok(after) => after,
                // What cannot be read is no concern of ours, unless it may hold something of ours.
                Err(source) if before.contains(&format!("hook {}", self.runtime.as_str())) => {
                    return Err(self.misfit(source));
                }
                Err(_) => Some(before.clone()),
            },
        };
        let is_link = fs::symlink_metadata(&self.path).is_ok_and(|metadata| metadata.is_symlink());
        let step = match after {
            Some(after) => self.write(Some(before), after),
            // The link is the user's, and so is the name of the file it leads to.
            None if is_link && matches!(self.hooks.registration, HookRegistration::Settings(_)) => {
                self.write(Some(before), "{}\n".to_owned())
            }
            None => Some(ChangeStep::Delete { path: self.path.clone(), before, root: self.root.clone() }),
        };
        Ok(self.plan(step))
    }

    /// Returns what a person has to do before the runtime reads its hooks there.
    pub(crate) fn caution(&self) -> Option<&'static str> {
        match self.scope {
            SetupScope::User => self.hooks.caution,
            SetupScope::Project => self.hooks.project_caution,
        }
    }

    /// Returns what a person who adds the hooks by hand has to write.
    pub(crate) fn by_hand(&self, program: &Program) -> String {
        match &self.hooks.registration {
            HookRegistration::Extension(extension) => (extension.write)(&program.hook_words(self.runtime)),
            HookRegistration::Settings(_) | HookRegistration::HookFile(_) => hooks::alone(self.runtime, program),
        }
    }

    fn plan(&self, step: Option<ChangeStep>) -> ChangePlan {
        ChangePlan {
            target: ChangeTarget::Runtime(self.runtime),
            place: self.path.clone(),
            steps: step.into_iter().collect(),
        }
    }

    fn write(&self, before: Option<String>, after: String) -> Option<ChangeStep> {
        let is_new = before.as_ref() != Some(&after);
        is_new.then(|| ChangeStep::Write { path: self.path.clone(), before, after, kind: FileKind::Text })
    }

    fn misfit(&self, source: Misfit) -> Error {
        Unprepared::Settings { path: self.path.clone(), runtime: self.runtime, source }.into()
    }

    /// Returns the events that a runtime is to tell of.
    pub(crate) fn events(&self) -> Vec<&'static str> {
        self.hooks.registration.events()
    }

    /// Tells whether the runtime is told by a program of ours, instead of by entries of its settings.
    pub(crate) fn is_extension(&self) -> bool {
        matches!(self.hooks.registration, HookRegistration::Extension(_))
    }

    /// Says what becomes of the runtime's events; nothing, if no hook of ours is there.
    pub(crate) fn state(&self, program: &Program) -> Option<State> {
        // Settings that cannot be read hold nothing that the runtime could read.
        let text = change::read(&self.path).ok().flatten()?;
        let present: Vec<_> = match &self.hooks.registration {
            HookRegistration::Extension(extension) => {
                let command = (extension.is_ours)(&text).then(|| (extension.command)(&text)).flatten()?;
                let called = program::called_for(self.runtime, &command)?;
                let present = extension.events.iter().filter(|event| (extension.tells_of)(&text, event));
                present.map(|event| (event.to_string(), called.clone())).collect()
            }
            HookRegistration::Settings(_) | HookRegistration::HookFile(_) => {
                hooks::present(&text, self.runtime).ok()?
            }
        };
        present.first()?;
        if let Some((_, other)) = present.iter().find(|(_, path)| *path != program.path) {
            return Some(State::OtherProgram { path: other.clone() });
        }
        let is_missing = |event: &&'static str| present.iter().all(|(name, _)| name != event);
        let missing: Vec<_> = self.events().into_iter().filter(is_missing).collect();
        Some(if missing.is_empty() { State::Complete } else { State::Partial { missing } })
    }
}

/// Returns the hooks that are there, for the user and in a project.
pub(crate) fn installed(homes: &Homes, project: &Path, program: &Program) -> Vec<Installed> {
    let places = Runtime::hooked().flat_map(|runtime| {
        [SetupScope::User, SetupScope::Project]
            .into_iter()
            .filter_map(move |scope| HookPlace::of(runtime, scope, homes, project))
    });
    let state = |place: HookPlace| Some(Installed { state: place.state(program)?, place });
    places.filter_map(state).collect()
}

/// Says whether a store's password stands in the commands that settings ask for.
pub(crate) fn tells_password(settings: &Path) -> bool {
    let Ok(Some(text)) = change::read(settings) else { return false };
    let tells = |(at, _): (usize, &str)| {
        let words = &text[at..];
        let words = &words[..words.find(" hook ").unwrap_or(words.len())];
        output::without_passwords(words) != words
    };
    text.match_indices("--store").any(tells)
}

/// Says whether a runtime is on this machine: it has a home here, or its program is found.
pub(crate) fn is_here(runtime: Runtime, homes: &Homes, search: Option<&OsStr>) -> bool {
    homes.of(runtime).is_some_and(Path::is_dir)
        || runtime.program().is_some_and(|program| program::is_on_path(program, search))
}
