//! What a person is told once agents are set up: what is theirs to do, and what to type next.

use contexture_capture::HookSeen;

use crate::{
    error::Result,
    invocation::Invocation,
    output::Output,
    setup::{Installed, SetupScope, State},
};

/// Commands that work as soon as there are sessions, with what each does.
const WITH_SESSIONS: [(&str, &str); 3] = [
    ("ctx sessions --all", "what your agents did, newest first"),
    ("ctx log --all", "the same, turn by turn"),
    ("ctx doctor", "proves that all of it is kept"),
];
/// Commands that work before there is anything.
const WITHOUT_SESSIONS: [(&str, &str); 3] = [
    ("ctx demo", "shows what there will be, in a throw-away store"),
    ("ctx sessions", "what your agents did, once they have"),
    ("ctx doctor", "proves that all of it is kept"),
];

/// Tells how the hooks are now where that is not what was planned, and what a person must do before they are called.
pub(super) fn tell_state(installed: &[Installed], invocation: &Invocation, output: &mut Output) {
    let state = invocation.environment.state_directory.as_deref();
    let mut to_do = Vec::new();
    for Installed { place, state: hooks } in installed {
        let (title, path) = (place.runtime.title(), invocation.environment.shown(&place.path));
        match hooks {
            State::Complete => {}
            State::Partial { missing } => {
                output.status(format_args!("{title}: hooks in {path}, but none for {}.", missing.join(", ")));
            }
            State::OtherProgram { path: other } => {
                output.status(format_args!("{title}: hooks in {path} for {}.", other.display()));
            }
        }
        // Hooks that were called need nothing any more.
        let was_called = state.is_some_and(|state| HookSeen::last(state, place.runtime).is_some());
        to_do.extend(place.caution().filter(|_| !was_called));
    }
    to_do.dedup();
    if !to_do.is_empty() {
        output.status("Left for you to do:");
        for caution in to_do {
            output.status(format_args!("  {caution}"));
        }
    }
}

/// Tells which hooks are there still, after some were taken out.
pub(super) fn tell_rest(installed: &[Installed], invocation: &Invocation, output: &mut Output) {
    for Installed { place, .. } in installed {
        let (title, path) = (place.runtime.title(), invocation.environment.shown(&place.path));
        let project = if place.scope == SetupScope::Project { " --project" } else { "" };
        let runtime = place.runtime.as_str();
        output.status(format_args!(
            "{title}: hooks in {path} stay; `ctx init --remove{project} --runtime {runtime}` takes them out."
        ));
    }
}

/// Says where everything is kept, and three commands that work now.
pub(super) fn tell_commands(has_sessions: bool, invocation: &Invocation, output: &mut Output) -> Result<()> {
    let place = invocation.location()?.to_string();
    let place = invocation.environment.shown(place.as_ref());
    output.status(format_args!("Every turn is kept from now on, secrets masked, in {place}."));
    output.status("Try:");
    let commands = if has_sessions { WITH_SESSIONS } else { WITHOUT_SESSIONS };
    for (command, does) in commands {
        output.status(format_args!("  {command:<20} {does}"));
    }
    Ok(())
}
