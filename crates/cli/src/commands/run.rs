//! `ctx run`: runs an agent and captures what it says while it does.

mod line;
mod terminal;
mod wrapper;

use std::{
    env,
    ffi::OsString,
    fs,
    io::{self, IsTerminal as _},
    os::unix::process::ExitStatusExt as _,
    path::{Path, PathBuf},
    process::ExitStatus,
    time::{Duration, SystemTime},
};

use clap::Args;
use contexture::{
    Location, Reference,
    core::{GivenSessionId, RuntimeSessionId, Template, Thread, Ticket},
};
use contexture_capture::{
    self as capture, Capture, CheckpointInterval, CheckpointSchedule, Dialect, MadeCheckpoint, NoCheckpoint,
    ResumePoint, ResumedRun, RunPlan, RunRecorder, RunSocket, RunStart, Runtime, Tap,
};
use tokio::{process::Command, time::Instant};
use uuid::Uuid;

use self::{
    line::Line,
    wrapper::{Ended, Outlet, Wrapper},
};
use super::materialize;
use crate::{
    environment::Environment,
    error::{Error, Result},
    input::Input,
    invocation::Invocation,
    output::Output,
    shell,
    values::{self, StartPoint},
};

const EXAMPLES: &str = "\
Examples:
  ctx run -- claude -p 'Fix the test.' --output-format stream-json --verbose
      prints what Claude Code prints, and makes a commit at each tool call and turn
  ctx run --ticket ENG-42 -- codex exec --json 'Fix the test.'
      what is captured belongs to a ticket
  ctx run --from main -- claude -p 'Go on.' --output-format stream-json --verbose
      goes on where the head ends, in any agent; the head moves along
  ctx run -- claude
      with the terminal to itself; its session is captured as it grows
  ctx run -- ./my-agent.sh
      any program: what it prints is the session, and `ctx current` in it names what it has said so far";

/// The times of files are behind the clock by up to this.
const FILE_TICK: Duration = Duration::from_millis(20);

/// Runs an agent and captures what it says
///
/// The program's input, output and exit code are its own: what it prints is handed on as it comes. Beside that, checkpoints are
/// made of the session that the agent keeps, or of what it prints if it keeps none, and a last one with how it ended.
/// What the program starts finds the run in CTX_SESSION and CTX_SOCKET, so `ctx current`, hooks and git name its context.
/// When the store cannot be used, what was said is kept in a spool on disk, and the next run takes it in.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Run {
    /// The agent that the command starts [default: what its name says]
    #[arg(long = "in", value_name = "RUNTIME", value_parser = values::runtime())]
    runtime: Option<Runtime>,
    /// What to go on from, or `none` for a fresh start [default: none]. A head moves on with the session as long as nobody
    /// else moves it
    #[arg(long, value_name = "ID|HEAD|none")]
    from: Option<StartPoint>,
    /// The ticket that is worked on [env: CTX_TICKET]
    #[arg(long, value_name = "T")]
    ticket: Option<Ticket>,
    /// The thread that the work belongs to; its head `thread/T` moves along [env: CTX_THREAD]
    #[arg(long, value_name = "T")]
    pub(super) thread: Option<Thread>,
    /// The role that the agent has, such as `reviewer` [env: CTX_TEMPLATE] [default: that of the commit it goes on from]
    #[arg(long, value_name = "NAME")]
    pub(super) template: Option<Template>,
    /// When to make checkpoints: at each turn and tool `call`, at each `turn`, every so many, such as '5 turns', at
    /// `significant` events only (compactions and the end), or no more often than a time such as 30s [env: CTX_EVERY]
    /// [default: what the configuration says, or call]
    #[arg(long, value_name = "call|turn|'N turns'|significant|TIME")]
    every: Option<CheckpointInterval>,
    /// The command, after `--`
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
    /// Where it works, if not here.
    #[arg(skip)]
    directory: Option<PathBuf>,
}

impl Run {
    /// Runs a command that starts an agent in a directory, from nothing.
    pub(super) fn fresh(runtime: Runtime, command: Vec<OsString>, directory: PathBuf) -> Self {
        Self {
            runtime: Some(runtime),
            from: None,
            ticket: None,
            thread: None,
            template: None,
            every: None,
            command,
            directory: Some(directory),
        }
    }

    pub(crate) async fn run(self, invocation: &Invocation, output: &mut Output) -> Result<()> {
        let run = format!("ses-{}", Uuid::new_v4().simple());
        let mut inner = self.inside(invocation, &run)?;
        if inner.names_store() && inner.location()?.is_secret() {
            output.status(
                "What this starts is not told the password of the store; `ctx store --help` says where to keep it for hooks.",
            );
        }
        let every = inner.interval(self.every)?;
        let recorder = inner.recorder()?;
        let unreadable = |source| Error::Read { input: Input::File(".".into()), source };
        let chosen = self.directory.clone().map_or_else(env::current_dir, Ok);
        let directory = chosen.and_then(fs::canonicalize).map_err(unreadable)?;
        let started = RunStart { at: inner.now()?, on_disk: SystemTime::now() - FILE_TICK };
        let line = Line::new(self.command, self.runtime);
        let (line, resumed) = match &self.from {
            Some(StartPoint::At(from)) => {
                let (line, resumed) = resume(line, from, &mut inner, &directory, output).await?;
                (line, Some(resumed))
            }
            Some(StartPoint::Nothing) | None => (line, None),
        };
        let (program, runtime, dialect) = (line.program(), line.runtime(), line.dialect());
        let plan = RunPlan {
            run: GivenSessionId::new(run.as_str()),
            runtime,
            program: program.clone(),
            directory: directory.clone(),
            resumed,
            is_ephemeral: line.is_ephemeral(),
            settings: inner
                .environment
                .import_settings(runtime.map_or(program.as_str(), |runtime| runtime.as_str()))?,
            wrapper: capture::own_process(),
            started,
        };
        let words = line.into_words();
        let tap = Tap::new(recorder.place_of_run(&run)?, inner.environment.clock()?, command_text(&words), dialect);
        let is_silent = runtime.is_some() && dialect.is_none();
        let outlet = outlet(is_silent, dialect);
        let tap = match (is_silent, outlet) {
            (true, Outlet::Inherited) => tap.of_text().closed(),
            (true, _) => tap.of_text(),
            (false, _) => tap,
        };
        let mut run_recorder = RunRecorder::new(recorder, inner.environment.homes.clone(), plan);
        run_recorder.list(&tap.printed())?;
        // Without one, `ctx current` finds its way by the list.
        let socket = inner.environment.run_directories().find_map(|place| RunSocket::open(&place).ok());
        let mut command = command(&words, &inner, &run, socket.as_ref())?;
        command.current_dir(&directory);
        let wrapper = Wrapper::new(tap, run_recorder, CheckpointSchedule::new(every, Instant::now()), socket);
        let wrapper = if is_silent { wrapper.watching() } else { wrapper };
        let started = wrapper.run(command, outlet).await;
        let ended = started.map_err(|source| Error::Spawn { program: program.clone(), source })?;
        tell(&ended, &program, output);
        match code(ended.status) {
            0 => Ok(()),
            code => Err(Error::Passed { program, code }),
        }
    }

    /// Returns the invocation that the program and all it starts belong to.
    fn inside(&self, invocation: &Invocation, run: &str) -> Result<Invocation> {
        let environment = Environment {
            session: Some(run.into()),
            ticket: self.ticket.as_ref().map(|ticket| ticket.as_str().into()).or(invocation.environment.ticket.clone()),
            thread: self.thread.as_ref().map(|thread| thread.as_str().into()).or(invocation.environment.thread.clone()),
            every: self.every.map(|every| every.to_string().into()).or(invocation.environment.every.clone()),
            template: self
                .template
                .as_ref()
                .map(|role| role.as_str().into())
                .or(invocation.environment.template.clone()),
            ..invocation.environment.clone()
        };
        let mut globals = invocation.globals.clone();
        if invocation.names_store() {
            // The program may work elsewhere.
            globals.store = match invocation.location()? {
                Location::Directory(path) => {
                    let unreadable = |source| Error::Read { input: Input::File(path.clone()), source };
                    Some(std::path::absolute(&path).map_err(unreadable)?.into())
                }
                // The wrapper goes on knowing the password; what it starts is not told.
                Location::Postgres(_) => globals.store.or(environment.store.clone()),
            };
        }
        Ok(Invocation { environment, globals })
    }
}

/// Writes a session for the agent and returns the command line that goes on with it.
async fn resume(
    line: Line,
    from: &Reference,
    invocation: &mut Invocation,
    directory: &Path,
    output: &mut Output,
) -> Result<(Line, ResumedRun)> {
    let runtime = line.runtime().ok_or_else(|| Error::NoAgent { program: line.program() })?;
    let engine = invocation.open().await?;
    let ResumePoint { commit, head } = Capture::new(&engine).resume_point(from, None).await?;
    let environment = &mut invocation.environment;
    if environment.template.is_none() {
        environment.template = Capture::new(&engine).role_at(commit).await?.map(|role| role.as_str().into());
    }
    let settings = environment.import_settings(runtime.as_str())?;
    let session = RuntimeSessionId::new(Uuid::new_v4()).expect("a UUID can be an id");
    let (directory, arguments) = (directory.to_owned(), line.arguments().to_vec());
    let request = capture::ResumeRequest { commit, head, runtime, session, directory, arguments };
    let written = Capture::new(&engine).resume(&request, &invocation.environment.homes, &settings).await?;
    for line in materialize::describe(&written.report) {
        output.remark(line);
    }
    let line = line.resuming(runtime, written.command.arguments);
    Ok((line, ResumedRun { session: request.session.into(), path: written.path, from: commit }))
}

/// Prepares the program with what it and all it starts need to know.
fn command(words: &[OsString], inner: &Invocation, run: &str, socket: Option<&RunSocket>) -> Result<Command> {
    let Invocation { environment, globals } = inner;
    let (program, arguments) = words.split_first().expect("the grammar wants a command");
    let mut command = Command::new(program);
    command.args(arguments).env("CTX_SESSION", run).env("CTX_PRINCIPAL", environment.principal()?.as_str());
    // What an agent around this one says of itself is not true of what is started here.
    let told = Runtime::ALL
        .iter()
        .flat_map(|runtime| runtime.session_variables().iter().copied().chain(runtime.call_variable()));
    for variable in told {
        command.env_remove(variable);
    }
    match socket {
        Some(socket) => command.env("CTX_SOCKET", socket.path()),
        None => command.env_remove("CTX_SOCKET"),
    };
    let store = match (&globals.store, inner.location()?) {
        (Some(_), Location::Postgres(url)) => Some(url.address().into()),
        (store, _) => store.clone(),
    };
    let named = [
        ("CTX_TICKET", &environment.ticket),
        ("CTX_THREAD", &environment.thread),
        ("CTX_TEMPLATE", &environment.template),
        ("CTX_EVERY", &environment.every),
        ("CTX_STORE", &store),
    ];
    for (variable, value) in named {
        if let Some(value) = value {
            command.env(variable, value);
        }
    }
    if let Some(space) = &globals.space {
        command.env("CTX_SPACE", space.as_str());
    }
    Ok(command)
}

/// Chooses how a program prints. One that is used at a terminal finds one.
fn outlet(is_silent: bool, dialect: Option<Dialect>) -> Outlet {
    let is_used_at_terminal = io::stdin().is_terminal() && io::stdout().is_terminal() && io::stderr().is_terminal();
    match dialect {
        // An agent whose session is captured from its file has the user's own.
        None if is_silent && io::stdout().is_terminal() => Outlet::Inherited,
        None if is_used_at_terminal => Outlet::Terminal,
        _ => Outlet::Piped,
    }
}

/// Writes a command line as a person would.
fn command_text(words: &[OsString]) -> String {
    let words = words.iter().map(|word| shell::quoted(&word.to_string_lossy()));
    words.collect::<Vec<_>>().join(" ")
}

/// Tells what became of what a program said, where that is not what was to be expected.
fn tell(ended: &Ended, program: &str, output: &mut Output) {
    match &ended.made {
        Ok(MadeCheckpoint { commit: Ok(commit), .. }) => output.remark(format_args!("What {program} said is {commit}")),
        Ok(MadeCheckpoint { commit: Err(NoCheckpoint::Nothing), .. }) => {
            output.remark(format_args!("{program} has said nothing that can be captured."));
        }
        Ok(MadeCheckpoint { commit: Err(NoCheckpoint::Spooled { problem }), .. }) => output.status(format_args!(
            "What {program} said is kept in the spool, because it cannot be stored now: {problem}. The next run takes it in."
        )),
        Err(error) => output.status(format_args!("What {program} said could not be captured: {}.", error.in_one_line())),
    }
    if let Some(problem) = &ended.problem {
        output.status(format_args!("Not all that {program} printed could be kept: {problem}."));
    }
}

/// Returns the exit code that tells how a program ended, as a shell does.
fn code(status: ExitStatus) -> u8 {
    let code = status.code().or(status.signal().map(|signal| 128 + signal));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
}
