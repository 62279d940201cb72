//! `ctx`: version control for what LLM agents know.
//!
//! Standard output is data, everything else goes to standard error, and the exit code says what kind of ending it was.

mod args;
mod commands;
mod environment;
mod error;
mod invocation;

mod commit_text;
mod conversation;
mod destination;
mod input;
mod output;
mod provenance;
mod recipes;
mod time;
mod values;

use std::{env, process::ExitCode};

use clap::Parser as _;

use crate::{
    args::Args,
    environment::Environment,
    error::{Error, Exit},
    invocation::Invocation,
    output::{Output, Shape},
};

fn main() -> ExitCode {
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(refusal) => {
            let json = env::args_os().any(|argument| argument == "--json");
            return error::refuse(&refusal, if json { Shape::Json } else { Shape::Text });
        }
    };
    let Args { globals, command } = args;
    let mut output = Output::standard(&globals);
    let ended = run(&Invocation { environment: Environment::read(), globals }, command, &mut output);
    match ended.and(output.finish()) {
        Ok(()) => Exit::Done.into(),
        Err(error) if error.is_closed_pipe() => Exit::Done.into(),
        Err(error) => {
            output.failure(&error);
            error.exit().into()
        }
    }
}

fn run(invocation: &Invocation, command: args::Command, output: &mut Output) -> Result<(), Error> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(Error::Runtime)?;
    let ended = runtime.block_on(command.run(invocation, output));
    // A thread may still wait for input that nobody will read.
    runtime.shutdown_background();
    ended
}
