//! `ctx hook`: an agent tells what happens in its session.

use std::{
    ffi::OsString,
    io::{self, IsTerminal as _, Read as _},
    panic::{self, AssertUnwindSafe},
    path::{Path, PathBuf},
    process,
    time::Duration,
};

use clap::Args;
use contexture::core::{GivenSessionId, SpaceName, Trigger};
use contexture_capture::{
    self as capture, CaptureReason, Deadline, HookInput, HookMoment, HookSeen, KeptSession, LiveSession, OpenCall,
    Recorded, Recorder, Runtime, SessionFile, Sighting, Trouble, TroubleLog,
};

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

/// Longest event that is read: some hold what a tool has answered.
const MAX_EVENT_BYTES: u64 = 256 * 1024 * 1024;
/// How long a runtime may take to write down what it has just told.
const FLUSH_LIMIT: Duration = Duration::from_millis(400);
/// How long the store may take.
const STORE_LIMIT: Duration = Duration::from_secs(2);

/// Takes in what has just happened in an agent's session
///
/// Agents call this; `ctx init` has them do so. It reads the event from standard input and takes in what the session's
/// file has come to hold. It never disturbs the agent: it prints nothing, takes a bounded time and always succeeds. When the
/// store cannot be used, what is new is kept in a spool on disk, and the next one that can takes it in. What goes wrong
/// is written down for `ctx doctor`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Hook {
    /// The agent that calls
    #[arg(value_name = "RUNTIME", value_parser = values::runtime())]
    runtime: Runtime,
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
        words.next().is_none().then_some((globals, Self { runtime }))
    }

    /// Takes in what has happened. Whatever goes wrong in it, even a panic, is no business of the agent's.
    pub(crate) fn run(&self, invocation: &Invocation) {
        if io::stdin().is_terminal() {
            eprintln!("Reading an event from standard input; agents call this command.");
        }
        panic::set_hook(Box::new(|_| {}));
        let problem = match panic::catch_unwind(AssertUnwindSafe(|| self.listen(invocation))) {
            Ok(Ok(())) => return,
            Ok(Err(error)) => error.told(),
            Err(_) => "the program failed".to_owned(),
        };
        write_down(invocation, format!("hook {}", self.runtime), None, problem, false);
    }

    fn listen(&self, invocation: &Invocation) -> Result<()> {
        let mut text = Vec::new();
        let unread = |source| Error::Read { input: Input::Stdin, source };
        io::stdin().take(MAX_EVENT_BYTES).read_to_end(&mut text).map_err(unread)?;
        let event: HookInput = serde_json::from_slice(&text).map_err(|source| unread(source.into()))?;
        let during = format!("hook {} {}", self.runtime, event.hook_event_name);
        let seen = HookSeen { at: invocation.now()?, event: event.hook_event_name.clone() };
        seen.note(&invocation.environment.state_directory()?, self.runtime)?;
        let (problem, is_spooled) = match self.hear(invocation, &event) {
            Ok(Some(Recorded::Spooled { problem })) => (problem, true),
            Ok(Some(Recorded::Stored { .. }) | None) => return Ok(()),
            Err(error) => (error.told(), false),
        };
        write_down(invocation, during, Some(event.session_id), problem, is_spooled);
        Ok(())
    }

    /// Does what an event asks for. Returns what became of the session, if it was to be taken in.
    fn hear(&self, invocation: &Invocation, event: &HookInput) -> Result<Option<Recorded>> {
        let recorder = invocation.recorder()?;
        let moment = event.moment(self.runtime);
        if moment == HookMoment::Start {
            recorder.close_crashed(STORE_LIMIT)?;
        }
        let homes = &invocation.environment.homes;
        let named = event.transcript_path.clone().filter(|path| !path.as_os_str().is_empty());
        let Some(path) = named.or_else(|| capture::find_session(self.runtime, homes, &event.session_id)) else {
            // Codex has no file before the first answer.
            return Ok(None);
        };
        let file = SessionFile::of_runtime(
            self.runtime,
            &path,
            &invocation.environment.import_settings(self.runtime.as_str())?,
        );
        let agent_file = event.agent_file(&file.path);
        let directory = event.cwd.clone().unwrap_or_else(|| PathBuf::from("/"));
        let of = Sighting { id: &event.session_id, file: &file, directory: &directory };
        let agent = capture::nearest_agent();
        let note = |session: &mut LiveSession| {
            session.agent = agent.clone().or(session.agent.take());
            session.event.clone_from(&event.hook_event_name);
            note_calls(session, event, moment, agent_file.as_deref());
        };
        let reason = match moment {
            HookMoment::Question | HookMoment::Call => {
                recorder.hear(&of, note)?;
                return Ok(None);
            }
            HookMoment::Start => {
                let session = recorder.hear(&of, note)?;
                if session.captured == 0 && recorder.spool.waiting() == 0 {
                    return Ok(None);
                }
                CaptureReason::live(Trigger::TurnBoundary)
            }
            HookMoment::Checkpoint(trigger) => CaptureReason::live(trigger),
            HookMoment::End => {
                let reason = event.reason.as_deref().filter(|reason| !reason.is_empty()).unwrap_or("exit");
                CaptureReason { is_live: true, ..CaptureReason::ended(reason) }
            }
        };
        let session = recorder.peek(&of, note);
        // Claude Code sums up by an agent that has no file.
        let is_written = agent_file.as_ref().is_none_or(|file| file.exists());
        if let Some(text) = event.awaited().filter(|_| is_written) {
            Recorder::wait_for(&session, agent_file.as_deref(), text, FLUSH_LIMIT);
        }
        let deadline = Deadline::OrEnd { limit: STORE_LIMIT, end: || process::exit(0) };
        let recorded = recorder.record(&session, &reason, deadline)?;
        if moment == HookMoment::End {
            recorder.strike(of.id)?;
        } else {
            let kept = match &recorded {
                Recorded::Stored { kept, .. } => kept.clone(),
                Recorded::Spooled { .. } => KeptSession::default(),
            };
            let note_all = |session: &mut LiveSession| {
                note(session);
                kept.tell(session);
            };
            recorder.hear(&of, note_all)?;
        }
        Ok(Some(recorded))
    }
}

/// Notes which calls of tools are under way after an event.
fn note_calls(session: &mut LiveSession, event: &HookInput, moment: HookMoment, agent_file: Option<&Path>) {
    if let Some(file) = agent_file.filter(|file| file.exists()) {
        session.agents.entry(file.to_owned()).or_insert(0);
    }
    match (moment, &event.tool_use_id) {
        (HookMoment::Call, Some(id)) => {
            session.calls.push(OpenCall { id: id.clone(), file: agent_file.map(Path::to_owned) });
        }
        (HookMoment::Checkpoint(Trigger::ToolCall), Some(id)) => session.calls.retain(|call| call.id != *id),
        // Whoever has said all has no call under way; what is left of them was broken off. Others may still be at work.
        (HookMoment::Question | HookMoment::Checkpoint(Trigger::ToolCall | Trigger::TurnBoundary), None) => {
            session.calls.retain(|call| call.file.as_deref() != agent_file);
        }
        (HookMoment::Start | HookMoment::End, _) => session.calls.clear(),
        _ => {}
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
