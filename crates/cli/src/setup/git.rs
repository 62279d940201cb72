//! Hooks in a git repository.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use contexture_capture::Untraced;

use super::{
    change::{ChangePlan, ChangeStep, ChangeTarget, FileKind},
    program::Program,
};
use crate::{
    error::{Error, Result, Unprepared},
    input::Input,
    invocation::Invocation,
};

/// The hooks, each with what git hands to it.
const HOOKS: [(&str, &str); 2] = [("prepare-commit-msg", " \"$@\""), ("post-commit", "")];
/// By this a script is known to be ours.
const MARKER: &str = "# Written by `ctx init --git`; `ctx init --remove` takes it away and puts back what was here.";

/// What stands where a hook belongs.
enum There {
    Nothing,
    Ours(String),
    Other,
}

/// Plans to have the program called by the repository around a directory.
///
/// Commits name the agent too if they should.
pub(crate) fn register(directory: &Path, program: &Program, names_agent: bool) -> Result<Vec<ChangePlan>> {
    let hooks = Invocation::git().repository(directory)?.ok_or(Untraced::NoRepository)?.hooks()?;
    let plan = |(name, arguments): (&str, &str)| {
        let place = hooks.join(name);
        let flag = if names_agent && !arguments.is_empty() { " --assisted-by" } else { "" };
        let after = script(name, &format!("{flag}{arguments}"), program);
        let write =
            |before| ChangeStep::Write { path: place.clone(), before, after: after.clone(), kind: FileKind::Script };
        let steps = match there(&place)? {
            There::Nothing => vec![write(None)],
            There::Ours(text) if text == after => Vec::new(),
            There::Ours(text) => vec![write(Some(text))],
            There::Other => {
                let aside = aside(&place);
                if fs::symlink_metadata(&aside).is_ok() {
                    return Err(Unprepared::Occupied { path: place, aside }.into());
                }
                vec![ChangeStep::Move { from: place.clone(), to: aside }, write(None)]
            }
        };
        Ok(ChangePlan { target: ChangeTarget::Git, place, steps })
    };
    HOOKS.into_iter().map(plan).collect()
}

/// Plans to put the hooks of the repository around a directory back as they were; nothing outside of repositories, or
/// without git.
pub(crate) fn unregister(directory: &Path) -> Result<Vec<ChangePlan>> {
    let Ok(Some(repository)) = Invocation::git().repository(directory) else { return Ok(Vec::new()) };
    let hooks = repository.hooks()?;
    let plan = |(name, _): (&str, &str)| {
        let place = hooks.join(name);
        let mut steps = Vec::new();
        if let There::Ours(before) = there(&place)? {
            steps.push(ChangeStep::Delete { path: place.clone(), before, root: hooks.clone() });
            let aside = aside(&place);
            if fs::symlink_metadata(&aside).is_ok() {
                steps.push(ChangeStep::Move { from: aside, to: place.clone() });
            }
        }
        Ok(ChangePlan { target: ChangeTarget::Git, place, steps })
    };
    HOOKS.into_iter().map(plan).collect()
}

fn script(name: &str, arguments: &str, program: &Program) -> String {
    let line = program.git_line(name);
    format!(
        "#!/bin/sh\n{MARKER}\n\
         before=\"$(dirname \"$0\")/{name}.before-ctx\"\n\
         if [ -x \"$before\" ]; then\n    \"$before\" \"$@\" || exit\nfi\n\
         # What goes wrong here is no reason to stop a commit.\n\
         {line}{arguments} >&2 || :\n"
    )
}

/// Returns where the hook that was there before is kept.
fn aside(place: &Path) -> PathBuf {
    let mut name = place.as_os_str().to_owned();
    name.push(".before-ctx");
    name.into()
}

fn there(place: &Path) -> Result<There> {
    match contexture::read_found(place) {
        // A hook of others may be a program, so it need not be text.
        Ok(bytes) => Ok(match String::from_utf8(bytes) {
            Ok(text) if text.lines().nth(1) == Some(MARKER) => There::Ours(text),
            Ok(_) | Err(_) => There::Other,
        }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(There::Nothing),
        Err(source) => Err(Error::Read { input: Input::File(place.to_owned()), source }),
    }
}
