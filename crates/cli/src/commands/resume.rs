//! `ctx resume`: an agent goes on where a chain ends.

use std::{
    env,
    ffi::OsString,
    fs, io,
    path::PathBuf,
    process::{Command, ExitStatus},
};

use clap::Args;
use contexture::{
    Disclosure, Reference, Stop,
    core::{RuntimeSessionId, Template, Thread},
    wire::ResumableSession,
};
use contexture_capture::{Capture, ImportSettings, ResumeCommand, ResumePoint, ResumeRequest, Runtime};
use uuid::Uuid;

use super::{materialize, run::Run};
use crate::{
    error::{Error, Result},
    input::Input,
    invocation::Invocation,
    last_session::or_last,
    output::{self, Output, Shape},
    session_choice,
    shell::quoted,
    values::{self, StartPoint},
};

const EXAMPLES: &str = "\
Examples:
  ctx resume
      at a terminal, has you choose one of the sessions here; otherwise the last one goes on
  ctx resume main
      goes on in the agent that the chain comes from
  ctx resume session/0c3f… --in codex
      the same conversation, text, tool calls and results, in another agent
  ctx resume main --at main~2 --print
      writes the session as it was two steps back and prints the command that goes on with it
  ctx fork main --head try/other && ctx resume try/other
      a session of its own: neither sees what the other says from here on
  ctx resume none --in codex
      a fresh start: the same command from no commit
  ctx resume main --in claude-code -- --print 'Go on.'
      what follows `--` is handed to the agent";

/// Goes on with a conversation in an agent
///
/// Writes a new session where the agent looks for its sessions, starts the agent's own resume command there, and takes
/// what the agent has added onto the chain when it ends. Sessions that exist are never changed. In the agent that the chain
/// comes from, the session is the stored bytes with a new session id; in another one it is translated.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Resume {
    /// What to go on from [default: the last session here, or at a terminal the one that is chosen]. A head moves on with
    /// the session as long as nobody else moves it. With `none` the agent starts afresh
    #[arg(value_name = "ID|HEAD|SESSION|none")]
    commit: Option<StartPoint>,
    /// The agent that goes on [default: the one that the last commit comes from; from none, it has to be named]
    #[arg(long = "in", value_name = "RUNTIME", value_parser = values::runtime())]
    runtime: Option<Runtime>,
    /// Where on the chain to go on: at its `last` commit, or at an earlier one
    #[arg(long, value_name = "last|ID", default_value = "last")]
    at: values::At,
    /// The directory to work in [default: the one that the chain names, if it is here, else this one]
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,
    /// The role that the agent has [env: CTX_TEMPLATE] [default: that of the commit it goes on from]
    #[arg(long, value_name = "NAME")]
    template: Option<Template>,
    /// The thread that the work belongs to; its head `thread/ID` moves along [env: CTX_THREAD]
    #[arg(long, value_name = "T")]
    thread: Option<Thread>,
    /// Writes the session and prints the command instead of running it
    #[arg(long)]
    print: bool,
    /// What to hand to the agent beside its resume command
    #[arg(last = true, value_name = "ARGUMENT")]
    arguments: Vec<OsString>,
}

impl Resume {
    pub(crate) async fn run(self, invocation: &Invocation, output: &mut Output) -> Result<()> {
        let named = match self.commit.clone() {
            Some(StartPoint::Nothing) => return self.start_afresh(invocation, output).await,
            Some(StartPoint::At(reference)) => Some(reference),
            None => None,
        };
        let engine = invocation.open().await?;
        let capture = Capture::new(&engine);
        let at = match &self.at {
            values::At::Last => None,
            values::At::Commit(reference) => Some(reference),
        };
        let named = match named {
            None if output.can_choose() => {
                let Some(session) = session_choice::choose(&engine, invocation, output).await? else {
                    output.status("Nothing was chosen.");
                    return Ok(());
                };
                Reference::of_session(&session)
            }
            named => or_last(named, &engine, output).await?,
        };
        let ResumePoint { commit, head } = capture.resume_point(&named, at).await?;
        let runtime = match self.runtime {
            Some(runtime) => runtime,
            None => capture.resuming_runtime(commit).await?,
        };
        let directory = self.directory(capture.working_directory(commit).await?)?;
        let session = RuntimeSessionId::new(Uuid::new_v4()).expect("a UUID can be an id");
        let settings = invocation.environment.import_settings(runtime.as_str())?;
        let role = match self.template.or(settings.role) {
            Some(role) => Some(role),
            None => capture.role_at(commit).await?,
        };
        let settings = ImportSettings { role, thread: self.thread.or(settings.thread), ..settings };
        let request = ResumeRequest { commit, head, runtime, session, directory, arguments: self.arguments };
        let written = capture.resume(&request, &invocation.environment.homes, &settings).await?;
        let secrets = engine.secrets().in_chain(commit, Stop::Root).await?;
        if secrets > 0 && written.disclosure == Disclosure::Masked {
            let found = output::counted(secrets, "secret");
            output
                .status(format_args!("{found} masked: the conversation comes from another agent or another machine."));
        }
        let ResumeRequest { session, directory, arguments: added, .. } = request;
        let ResumeCommand { program, mut arguments } = written.command;
        arguments.extend(added);
        let line = command_line(program, &arguments);
        if self.print || output.shape() == Shape::Json {
            if output.shape() == Shape::Json {
                let words = std::iter::once(program.to_owned());
                let command = words.chain(arguments.iter().map(|word| word.to_string_lossy().into_owned())).collect();
                return output.document(ResumableSession {
                    runtime: runtime.as_str().to_owned(),
                    session: Some(session),
                    commit: Some(commit),
                    path: Some(written.path),
                    cwd: directory,
                    command,
                    report: Some(written.report),
                });
            }
            output.status(format_args!("Session {session} of {} is at {}", runtime.title(), written.path.display()));
            for line in materialize::describe(&written.report) {
                output.status(line);
            }
            return output.line(format_args!("cd {} && {line}", quoted(&directory.to_string_lossy())));
        }
        for line in materialize::describe(&written.report) {
            output.status(line);
        }
        output.status(format_args!("Starting {}: {line}", runtime.title()));
        let mut command = Command::new(program);
        command.args(&arguments).current_dir(&directory);
        command.envs(settings.thread.as_ref().map(|thread| ("CTX_THREAD", thread.as_str())));
        command.envs(settings.role.as_ref().map(|role| ("CTX_TEMPLATE", role.as_str())));
        command.envs(invocation.inherited_store()?.map(|address| ("CTX_STORE", address)));
        let ended = run(command).await.map_err(|source| Error::Start {
            program,
            line: format!("cd {} && {line}", quoted(&directory.to_string_lossy())),
            source,
        })?;
        // The agent may have ended badly after it did much; what it has written is kept in any case.
        let taken = capture.import_session(&written.path, runtime.format(), &settings, &mut |_| {}).await?;
        // Its hooks may have taken in what it added while it ran.
        let turns = match taken.tip {
            Some(tip) => capture.turns_of(&session, tip).await?,
            None => 0,
        };
        output.status(match turns {
            0 => format!("{} has added nothing.", runtime.title()),
            turns => format!("Took in {} from {}.", output::counted(turns, "turn"), runtime.title()),
        });
        if ended.success() { Ok(()) } else { Err(Error::Ended { program, status: ended }) }
    }

    /// Runs the agent from nothing, as `ctx run` does: there is no session to write, and what it begins is captured.
    async fn start_afresh(self, invocation: &Invocation, output: &mut Output) -> Result<()> {
        let runtime = self.runtime.ok_or(Error::NoFreshAgent)?;
        let program = runtime.program().ok_or(Error::NoFreshAgent)?;
        let directory = self.directory(None)?;
        let line = command_line(program, &self.arguments);
        if output.shape() == Shape::Json {
            let words = self.arguments.iter().map(|word| word.to_string_lossy().into_owned());
            return output.document(ResumableSession {
                runtime: runtime.as_str().to_owned(),
                session: None,
                commit: None,
                path: None,
                cwd: directory,
                command: std::iter::once(program.to_owned()).chain(words).collect(),
                report: None,
            });
        }
        if self.print {
            return output.line(format_args!("cd {} && {line}", quoted(&directory.to_string_lossy())));
        }
        output.status(format_args!("Starting {}: {line}", runtime.title()));
        let words = std::iter::once(program.into()).chain(self.arguments).collect();
        let mut run = Run::fresh(runtime, words, directory);
        (run.template, run.thread) = (self.template, self.thread);
        Box::pin(run.run(invocation, output)).await
    }

    /// Returns where the agent works: in the directory that was named, else in the one that the chain names, else here.
    fn directory(&self, known: Option<PathBuf>) -> Result<PathBuf> {
        let here = || env::current_dir().map_err(|source| Error::Read { input: Input::File(".".into()), source });
        let chosen = self.cwd.clone().or(known).map_or_else(here, Ok)?;
        let unreadable = |source| Error::Read { input: Input::File(chosen.clone()), source };
        let directory = fs::canonicalize(&chosen).map_err(unreadable)?;
        if directory.is_dir() { Ok(directory) } else { Err(unreadable(io::ErrorKind::NotADirectory.into())) }
    }
}

/// Runs a program at the terminal until it ends. An interrupt is the program's to handle.
async fn run(mut command: Command) -> io::Result<ExitStatus> {
    let mut child = command.spawn()?;
    let mut waiting = tokio::task::spawn_blocking(move || child.wait());
    loop {
        tokio::select! {
            ended = &mut waiting => return ended.unwrap_or_else(|panic| Err(io::Error::other(panic))),
            _ = tokio::signal::ctrl_c() => {}
        }
    }
}

fn command_line(program: &str, arguments: &[OsString]) -> String {
    let words = arguments.iter().map(|word| quoted(&word.to_string_lossy()));
    std::iter::once(program.to_owned()).chain(words).collect::<Vec<_>>().join(" ")
}
