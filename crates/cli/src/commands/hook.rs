//! `ctx hook`: an agent tells what happens in its session.

use std::{
    ffi::OsString,
    io::{self, BufRead as _, IsTerminal as _, Read as _},
    panic::{self, AssertUnwindSafe},
    process,
};

use clap::Args;
use contexture::core::{GivenSessionId, SpaceName, Template};
use contexture_capture::{
    self as capture, CheckpointInterval, HookCaller, HookInput, HookSeen, ImportSettings, Recorded, Runtime, Trouble,
    TroubleLog, Watchdog,
};
use serde::Deserialize as _;

use crate::{
    args::Globals,
    error::{Error, Result},
    input::Input,
    invocation::Invocation,
    values,
};

const EXAMPLES: &str = "\
Examples:
  ctx init
      has your agents call this at each turn, tool call, compaction and end
  echo '{\"hook_event_name\":\"Stop\",\"session_id\":\"0c3f\",\"transcript_path\":\"0c3f.jsonl\"}' | ctx hook claude-code
      what an agent does
  ctx doctor
      shows whether hooks are called, and what went wrong in them";

/// Longest event that is read: some hold what a tool has answered, which is passed over.
const MAX_EVENT_BYTES: u64 = 256 * 1024 * 1024;

/// What a text in UTF-8 may begin with.
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// Takes in what has just happened in an agent's session
///
/// Agents call this; `ctx init` has them do so. It reads the event from standard input and takes in what the session's
/// file has come to hold. It never disturbs the agent: it prints nothing, ends within two seconds (or what `CTX_HOOK_LIMIT`
/// says, such as `500ms`), and always succeeds. When the store cannot be used, what is new is kept in a spool on disk, and
/// the next one that can takes it in. What goes wrong is written down for `ctx doctor`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Hook {
    /// The agent that calls
    #[arg(value_name = "RUNTIME", value_parser = values::runtime())]
    runtime: Runtime,
    /// The role that the agent has [env: CTX_TEMPLATE]
    #[arg(long, value_name = "NAME")]
    template: Option<Template>,
    /// When to take in what has happened: at each turn and tool `call`, at each `turn`, every so many, such as '5 turns', at
    /// `significant` events only (compactions and the end), or no more often than a time such as 30s [env: CTX_EVERY]
    /// [default: what the configuration says, or call]
    #[arg(long, value_name = "call|turn|'N turns'|significant|TIME")]
    every: Option<CheckpointInterval>,
}

impl Hook {
    /// Reads a command line that is only a hook, as `ctx init` writes it. An agent waits for it, and making up the whole
    /// grammar takes longer than all that a hook does.
    pub(crate) fn spot(mut words: impl Iterator<Item = OsString>) -> Option<(Globals, Self)> {
        let mut globals = Globals::default();
        loop {
            let word = words.next()?;
            match word.to_str()? {
                "--store" => globals.store = Some(words.next()?),
                "--space" => globals.space = Some(SpaceName::new(words.next()?.to_str()?).ok()?),
                "hook" => break,
                _ => return None,
            }
        }
        let name = words.next()?;
        let runtime = Runtime::hooked().find(|runtime| name == runtime.as_str())?;
        let mut hook = Self { runtime, template: None, every: None };
        while let Some(word) = words.next() {
            match word.to_str()? {
                "--template" => hook.template = Some(Template::new(words.next()?.to_str()?).ok()?),
                "--every" => hook.every = Some(words.next()?.to_str()?.parse().ok()?),
                _ => return None,
            }
        }
        Some((globals, hook))
    }

    /// Takes in what has happened. Whatever goes wrong in it, even a panic, is no business of the agent's.
    pub(crate) fn run(&self, invocation: &Invocation) {
        if io::stdin().is_terminal() {
            eprintln!("Reading an event from standard input; agents call this command.");
        }
        panic::set_hook(Box::new(|_| {}));
        let watchdog = self.watchdog(invocation);
        let problem = match panic::catch_unwind(AssertUnwindSafe(|| self.listen(invocation, &watchdog))) {
            Ok(Ok(())) => return,
            Ok(Err(error)) => error.in_one_line(),
            Err(_) => "the program failed".to_owned(),
        };
        write_down(invocation, format!("hook {}", self.runtime), None, problem, false);
    }

    /// Starts to watch over the hook: at its limit it is over, whatever it waits for.
    fn watchdog(&self, invocation: &Invocation) -> Watchdog {
        let (limit, theirs, runtime) = (invocation.environment.hook_limit(), invocation.clone(), self.runtime);
        let duty = move || {
            let problem = format!("standard input, the session's file or a lock kept it waiting for {limit:?}");
            write_down(&theirs, format!("hook {runtime}"), None, problem, false);
        };
        Watchdog::start(limit, duty, || process::exit(0))
    }

    fn listen(&self, invocation: &Invocation, watchdog: &Watchdog) -> Result<()> {
        let unread = |source| Error::Read { input: Input::Stdin, source };
        // An event is over with its last bracket, whoever keeps the pipe open, and what is not asked for is not held.
        let mut stdin = io::stdin().lock();
        // Cursor begins with a byte order mark.
        if stdin.fill_buf().map_err(unread)?.starts_with(BYTE_ORDER_MARK) {
            stdin.consume(BYTE_ORDER_MARK.len());
        }
        let mut events = serde_json::Deserializer::from_reader(stdin.take(MAX_EVENT_BYTES));
        let event = HookInput::deserialize(&mut events).map_err(|source| unread(source.into()))?;
        if !event.has_usual_lengths() {
            return Err(unread(io::Error::other("its names are longer than names are")));
        }
        let during = format!("hook {} {}", self.runtime, event.hook_event_name);
        let seen = HookSeen { at: invocation.now()?, event: event.hook_event_name.clone() };
        seen.note(&invocation.environment.state_directory()?, self.runtime)?;
        let (problem, is_spooled) = match self.hear(invocation, &event, watchdog) {
            Ok(Some(Recorded::Spooled { problem })) => (problem, true),
            Ok(Some(Recorded::Stored { .. }) | None) => return Ok(()),
            Err(error) => (error.in_one_line(), false),
        };
        write_down(invocation, during, Some(event.session().clone()), problem, is_spooled);
        Ok(())
    }

    /// Does what an event asks for. Returns what became of the session, if it was to be taken in.
    fn hear(&self, invocation: &Invocation, event: &HookInput, watchdog: &Watchdog) -> Result<Option<Recorded>> {
        let environment = &invocation.environment;
        let settings = environment.import_settings(self.runtime.as_str())?;
        let settings = ImportSettings { role: self.template.clone().or(settings.role), ..settings };
        // A setting that is not understood must not keep anything from being captured.
        let every = invocation.interval(self.every).unwrap_or_else(|error| {
            let session = Some(event.session().clone());
            write_down(invocation, format!("hook {}", self.runtime), session, error.in_one_line(), false);
            CheckpointInterval::default()
        });
        let caller = HookCaller {
            runtime: self.runtime,
            every,
            homes: &environment.homes,
            settings: &settings,
            agent: capture::nearest_agent(),
            watchdog: watchdog.clone(),
        };
        Ok(invocation.recorder()?.take_event(event, &caller)?)
    }
}

/// Writes down what went wrong where nobody can be told, which needs less than recording does.
fn write_down(
    invocation: &Invocation,
    during: String,
    session: Option<GivenSessionId>,
    problem: String,
    is_spooled: bool,
) {
    if let (Ok(state), Ok(at)) = (invocation.environment.state_directory(), invocation.now()) {
        TroubleLog::in_state(&state).write(&Trouble { at, during, session, problem, is_spooled });
    }
}
