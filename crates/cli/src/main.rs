//! `ctx`: version control for what LLM agents know.
//!
//! Standard output is data, everything else goes to standard error, and the exit code says what kind of ending it was.

mod args;
mod commands;
mod environment;
mod error;
mod invocation;
mod keys;

mod commit_text;
mod configuration;
mod conversation;
mod destination;
#[cfg(test)]
mod documents;
mod input;
mod last_session;
mod log;
mod origin;
mod output;
mod postgres_variables;
mod private_file;
mod provenance;
mod raw_mode;
mod recipes;
mod session_choice;
mod session_text;
mod sessions;
mod setup;
mod shell;
mod time;
mod turn_text;
mod values;

use std::{
    env,
    io::{self, IsTerminal as _},
    process::ExitCode,
};

use crate::{
    args::{Args, Globals},
    commands::hook::Hook,
    environment::Environment,
    error::{Error, Exit},
    invocation::Invocation,
    output::{Output, Shape},
};

fn main() -> ExitCode {
    if let Some((globals, hook)) = Hook::spot(env::args_os().skip(1)) {
        hook.run(&invocation(globals));
        return Exit::Done.into();
    }
    let args = match Args::read() {
        Ok(args) => args,
        Err(refusal) => {
            let json = env::args_os().any(|argument| argument == "--json");
            let refused = error::refuse(refusal, if json { Shape::Json } else { Shape::Text });
            // To some agents a hook that was not understood is a veto.
            let is_hook = env::args_os().any(|argument| argument == "hook") && !io::stdin().is_terminal();
            return if is_hook { Exit::Done.into() } else { refused };
        }
    };
    let Args { globals, command } = args;
    let mut output = Output::standard(&globals);
    let invocation = invocation(globals);
    if let Some(flag) = &invocation.globals.store
        && !command.is_hook()
    {
        invocation.warn_of_password("--store", flag, &mut output);
    }
    let ended = run(&invocation, command, &mut output);
    match ended.and(output.finish()) {
        Ok(()) => Exit::Done.into(),
        Err(error) if error.is_closed_pipe() => Exit::Done.into(),
        Err(error) if error.is_reported() => error.exit().into(),
        Err(error) => {
            output.failure(&error);
            error.exit().into()
        }
    }
}

/// Reads the environment, and from now on logs what it asks for.
fn invocation(globals: Globals) -> Invocation {
    let environment = Environment::read();
    if let Some(filter) = &environment.log {
        log::start(filter);
    }
    Invocation { environment, globals }
}

fn run(invocation: &Invocation, command: args::Command, output: &mut Output) -> Result<(), Error> {
    contexture::block_on(command.run(invocation, output)).map_err(Error::Runtime)?
}
