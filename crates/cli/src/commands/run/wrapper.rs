//! The wrapper: runs a program, hands on what it prints as it comes, and has what it says captured beside that.

use std::{
    io,
    os::unix::process::ExitStatusExt as _,
    process::{ExitStatus, Stdio},
    time::Duration,
};

use contexture::core::Trigger;
use contexture_capture::{
    self as capture, CaptureReason, CheckpointSchedule, CurrentAnswer, CurrentQuestioner, MadeCheckpoint, NoCheckpoint,
    RunCheckpoint, RunRecorder, RunSocket, RunTask, RunTasks, Tap, TaskOutcome,
};
use pty_process::OwnedReadPty;
use rustix::process::{Pid, Signal};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _, Stdout},
    process::{Child, ChildStdout, Command},
    signal::unix::{self, SignalKind},
    task,
    time::{self, Instant, MissedTickBehavior},
};

use super::terminal::Terminal;

const BUFFER_BYTES: usize = 64 * 1024;
/// No pipe holds more.
const MAX_PIPE_BYTES: usize = 1024 * 1024;
/// How often text is written down, and files of programs that tell nothing are looked at.
const TICK: Duration = Duration::from_secs(1);
/// How long a program's children may be silent that print after it has ended.
const SILENCE: Duration = Duration::from_secs(1);
/// Signals that follow each other faster are one.
const INSISTENCE: Duration = Duration::from_millis(500);
/// How long a runtime may take to write down what it has just told.
const PATIENCE: Duration = Duration::from_millis(400);
/// The same when somebody asks what is current.
const ASKED_PATIENCE: Duration = Duration::from_secs(1);

/// A program that is run and captured.
pub(crate) struct Wrapper {
    tap: Tap,
    /// Whether the program's session is to be looked for, because it tells nothing of it.
    watches: bool,
    tasks: RunTasks,
    schedule: CheckpointSchedule,
    socket: Option<RunSocket>,
    /// Who waits to be told what is current.
    asked: Vec<CurrentQuestioner>,
    /// Who will be told when the checkpoint is made that is being made.
    answered_next: Vec<CurrentQuestioner>,
    /// What is to be done once nothing else is, beside checkpoints.
    chores: Chores,
    /// When a signal was passed on.
    signalled: Option<Instant>,
}

#[derive(Default)]
struct Chores {
    list: bool,
    look: bool,
}

/// How it ended.
pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    /// What became of what it said.
    pub(crate) made: capture::Result<MadeCheckpoint>,
    /// Why not all that was printed could be kept.
    pub(crate) problem: Option<io::Error>,
}

/// How the program's output is handed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outlet {
    /// The program has the terminal to itself.
    Inherited,
    /// Through the wrapper.
    Piped,
    /// Through the wrapper, from a terminal of the program's own.
    Terminal,
}

impl Wrapper {
    pub(crate) fn new(
        tap: Tap,
        recorder: RunRecorder,
        schedule: CheckpointSchedule,
        socket: Option<RunSocket>,
    ) -> Self {
        Self {
            tap,
            watches: false,
            tasks: RunTasks::new(recorder),
            schedule,
            socket,
            asked: Vec::new(),
            answered_next: Vec::new(),
            chores: Chores::default(),
            signalled: None,
        }
    }

    /// Has the program's session looked for.
    pub(crate) fn watching(self) -> Self {
        Self { watches: true, ..self }
    }

    /// Runs a program to its end.
    pub(crate) async fn run(mut self, mut command: Command, outlet: Outlet) -> io::Result<Ended> {
        let mut signals = Signals::listen(outlet)?;
        // The terminal is held until the program has ended.
        let (mut child, source, _terminal) = match start(&mut command, outlet) {
            Ok(started) => started,
            Err(error) => {
                self.tasks.abandon();
                return Err(error);
            }
        };
        let mut pipe = Pipe { source, sink: tokio::io::stdout(), buffer: vec![0; BUFFER_BYTES] };
        self.tasks.start(RunTask::CloseCrashed);
        let mut ticks = time::interval_at(Instant::now() + TICK, TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut status = None;
        let mut silent_at = Instant::now();
        while status.is_none() || pipe.source.is_some() {
            tokio::select! {
                read = pipe.read() => {
                    self.hand_on(&mut pipe, read, &mut signals, &child).await;
                    silent_at = Instant::now() + SILENCE;
                }
                // The last of the output comes before the end where both are there.
                waited = child.wait(), if status.is_none() => {
                    status = Some(waited?);
                    silent_at = Instant::now() + SILENCE;
                }
                // Whatever the program has left behind may hold its output open for ever.
                () = time::sleep_until(silent_at), if status.is_some() => pipe.source = None,
                signal = signals.next(), if status.is_none() => self.pass_on(signal, &child),
                asked = next_asked(&mut self.socket) => {
                    // What was printed before the question belongs to the answer.
                    self.drain(&mut pipe, &mut signals, &child).await;
                    self.asked.push(asked);
                }
                done = self.tasks.done() => self.take_done(done),
                () = until(self.schedule.due()), if self.tasks.is_free() => {}
                _ = ticks.tick() => {
                    self.tap.write_lines();
                    self.chores.look = self.watches;
                }
            }
            self.start_next();
        }
        let status = status.expect("the loop ends after the program");
        let made = self.finish(status).await;
        Ok(Ended { status, made, problem: self.tap.into_problem() })
    }

    /// Looks at what was read and writes it to standard output, as it is. What somebody has seen is kept, even if the wrapper
    /// is killed, so that comes first.
    async fn hand_on(&mut self, pipe: &mut Pipe, read: io::Result<usize>, signals: &mut Signals, child: &Child) {
        let length = match read {
            Ok(length) if length > 0 => length,
            _ => {
                pipe.source = None;
                return;
            }
        };
        let Pipe { sink, buffer, source } = pipe;
        let bytes = &buffer[..length];
        let before = self.tap.dialect();
        let now = Instant::now();
        match self.tap.take(bytes) {
            Some(happened) => self.schedule.happened(&happened, now),
            None if self.tap.holds_text() => self.schedule.said(now),
            None => {}
        }
        self.chores.list |= self.tap.dialect() != before;
        let mut writing = Box::pin(async {
            sink.write_all(bytes).await?;
            sink.flush().await
        });
        // Who reads may do so slowly or not at all; signals count all the same.
        let written = loop {
            tokio::select! {
                written = &mut writing => break written,
                signal = signals.next() => self.pass_on(signal, child),
            }
        };
        drop(writing);
        if written.is_err() {
            // Nobody reads any longer, which the program learns as it would without the wrapper.
            *source = None;
        }
    }

    /// Hands on what the program has printed up to now.
    async fn drain(&mut self, pipe: &mut Pipe, signals: &mut Signals, child: &Child) {
        let mut drained = 0;
        while drained < MAX_PIPE_BYTES && pipe.source.is_some() {
            // The question came after what was printed, so both are known to be there.
            let read = task::unconstrained(async {
                tokio::select! {
                    biased;
                    read = pipe.read() => Some(read),
                    () = std::future::ready(()) => None,
                }
            });
            let Some(read) = read.await else { return };
            drained += read.as_ref().copied().unwrap_or(0);
            self.hand_on(pipe, read, signals, child).await;
        }
    }

    /// Starts what is to be done next, if nothing is being done.
    fn start_next(&mut self) {
        if !self.tasks.is_free() {
            return;
        }
        let now = Instant::now();
        if !self.asked.is_empty() {
            self.answered_next = std::mem::take(&mut self.asked);
            self.tap.write_all();
            let awaited = self.tap.take_awaited();
            let trigger = if awaited.is_some() { Trigger::ToolCall } else { Trigger::Explicit };
            self.schedule.made(now);
            let checkpoint = self.checkpoint(awaited, ASKED_PATIENCE, CaptureReason::live(trigger));
            self.tasks.start(RunTask::Checkpoint(checkpoint));
        } else if let Some(trigger) = self.schedule.take_due(now) {
            self.tap.write_lines();
            let awaited = self.tap.take_awaited();
            let checkpoint = self.checkpoint(awaited, PATIENCE, CaptureReason::live(trigger));
            self.tasks.start(RunTask::Checkpoint(checkpoint));
        } else if std::mem::take(&mut self.chores.list) {
            self.tasks.start(RunTask::List(self.tap.printed()));
        } else if std::mem::take(&mut self.chores.look) {
            self.tasks.start(RunTask::Look);
        }
    }

    fn take_done(&mut self, done: TaskOutcome) {
        let waiting = std::mem::take(&mut self.answered_next);
        match done {
            TaskOutcome::Nothing => {}
            TaskOutcome::Looked { turns } => {
                if let Some(turns) = turns {
                    self.schedule.written(turns, Instant::now());
                }
            }
            TaskOutcome::Made(made) => {
                if made.as_ref().is_ok_and(|made| made.is_own_file) {
                    self.tap.give_up_file();
                }
                let answer = answer(&made);
                for asked in waiting {
                    // Who has gone needs no answer.
                    _ = asked.send(answer.clone());
                }
            }
        }
    }

    async fn finish(&mut self, status: ExitStatus) -> capture::Result<MadeCheckpoint> {
        while !self.tasks.is_free() {
            let done = self.tasks.done().await;
            self.take_done(done);
        }
        self.tap.finish();
        let reason = CaptureReason { is_live: true, ..CaptureReason::ended(ending(status)) };
        let checkpoint = RunCheckpoint { settles: true, ..self.checkpoint(None, Duration::ZERO, reason) };
        self.tasks.finish(checkpoint).await
    }

    fn checkpoint(&self, awaited: Option<String>, patience: Duration, reason: CaptureReason) -> RunCheckpoint {
        RunCheckpoint { printed: self.tap.printed(), awaited, patience, reason, settles: false }
    }

    /// Passes a signal on to the program. Who signals again after a while means it.
    fn pass_on(&mut self, signal: Signal, child: &Child) {
        let pid = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        let Some(pid) = pid else { return };
        let first = *self.signalled.get_or_insert_with(Instant::now);
        // A terminal that goes away, and the shell with it, may say so more than once.
        let signal = if first.elapsed() > INSISTENCE { Signal::KILL } else { signal };
        // It may have ended at this very moment.
        _ = rustix::process::kill_process(pid, signal);
    }
}

/// Where a program prints to.
enum Source {
    Pipe(ChildStdout),
    Terminal(OwnedReadPty),
}

/// Starts a program. Returns where it prints to, if that is not where the wrapper would.
fn start(command: &mut Command, outlet: Outlet) -> io::Result<(Child, Option<Source>, Option<Terminal>)> {
    match outlet {
        Outlet::Inherited => Ok((command.spawn()?, None, None)),
        Outlet::Piped => {
            let mut child = command.stdout(Stdio::piped()).spawn()?;
            let source = child.stdout.take().map(Source::Pipe);
            Ok((child, source, None))
        }
        Outlet::Terminal => {
            let (child, prints, terminal) = Terminal::start(command)?;
            Ok((child, Some(Source::Terminal(prints)), Some(terminal)))
        }
    }
}

/// What a program prints, and where that goes.
struct Pipe {
    source: Option<Source>,
    sink: Stdout,
    buffer: Vec<u8>,
}

impl Pipe {
    async fn read(&mut self) -> io::Result<usize> {
        match &mut self.source {
            Some(Source::Pipe(source)) => source.read(&mut self.buffer).await,
            Some(Source::Terminal(source)) => source.read(&mut self.buffer).await,
            None => std::future::pending().await,
        }
    }
}

/// The signals that ask the wrapper to end.
struct Signals {
    /// Those of a terminal reach the program by themselves.
    is_on_terminal: bool,
    interrupt: unix::Signal,
    terminate: unix::Signal,
    hang_up: unix::Signal,
}

impl Signals {
    fn listen(outlet: Outlet) -> io::Result<Self> {
        use std::io::IsTerminal as _;

        let is_on_terminal = match outlet {
            Outlet::Inherited => true,
            Outlet::Piped => io::stdin().is_terminal() || io::stdout().is_terminal() || io::stderr().is_terminal(),
            // The program's own terminal makes its signals.
            Outlet::Terminal => false,
        };
        Ok(Self {
            is_on_terminal,
            interrupt: unix::signal(SignalKind::interrupt())?,
            terminate: unix::signal(SignalKind::terminate())?,
            hang_up: unix::signal(SignalKind::hangup())?,
        })
    }

    /// Waits for one that is to be passed on.
    async fn next(&mut self) -> Signal {
        loop {
            tokio::select! {
                _ = self.interrupt.recv() => if !self.is_on_terminal {
                    return Signal::INT;
                },
                _ = self.terminate.recv() => return Signal::TERM,
                _ = self.hang_up.recv() => return Signal::HUP,
            }
        }
    }
}

/// Returns how a program ended, in words.
fn ending(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit {code}"),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => "exit".to_owned(),
    }
}

fn answer(made: &capture::Result<MadeCheckpoint>) -> CurrentAnswer {
    match made {
        Ok(MadeCheckpoint { session, commit: Ok(commit), .. }) => {
            CurrentAnswer::Known { commit: *commit, session: session.clone() }
        }
        Ok(MadeCheckpoint { commit: Err(NoCheckpoint::Nothing), .. }) => {
            CurrentAnswer::Unknown { error: "nothing was said yet".to_owned() }
        }
        Ok(MadeCheckpoint { commit: Err(NoCheckpoint::Spooled { problem }), .. }) => {
            CurrentAnswer::Unknown { error: problem.clone() }
        }
        Err(error) => CurrentAnswer::Unknown { error: error.in_one_line() },
    }
}

async fn next_asked(socket: &mut Option<RunSocket>) -> CurrentQuestioner {
    match socket {
        Some(socket) => socket.next().await,
        None => std::future::pending().await,
    }
}

async fn until(due: Option<Instant>) {
    match due {
        Some(due) => time::sleep_until(due).await,
        None => std::future::pending().await,
    }
}
