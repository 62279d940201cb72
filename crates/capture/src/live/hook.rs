//! Doing what an event of a hook asks for.

use std::{io, path::Path, time::Duration};

use contexture_core::Trigger;

use super::{Deadline, HookInput, KeptSession, Recorded, Recorder, Sighting, Watchdog};
use crate::{
    CaptureReason, CheckpointInterval, Error, Homes, HookMoment, ImportSettings, LiveSession, OpenCall, Process,
    Result, Runtime, SessionFile,
    detect::{Recognition, recognise},
    find_session,
    interval::{Uncaptured, elapsed},
};

/// How long a runtime may take to write down what it has just told.
const FLUSH_LIMIT: Duration = Duration::from_millis(400);
/// Who calls a hook, and how long that may take.
#[derive(Clone)]
pub struct HookCaller<'h> {
    /// The runtime whose hook it is.
    pub runtime: Runtime,
    /// Where runtimes keep their sessions, because not all events name the file.
    pub homes: &'h Homes,
    /// Whose the session is.
    pub settings: &'h ImportSettings,
    /// How often the session is captured.
    pub every: CheckpointInterval,
    /// The agent's process, if that is known.
    pub agent: Option<Process>,
    /// Who ends the program when it takes too long.
    pub watchdog: Watchdog,
}

impl Recorder {
    /// Does what an event asks for. Returns what became of the session, if it was to be taken in.
    ///
    /// This waits on the thread that calls, which must not be one of an async runtime.
    pub fn take_event(&self, event: &HookInput, caller: &HookCaller<'_>) -> Result<Option<Recorded>> {
        let HookCaller { runtime, homes, settings, every, agent, watchdog } = caller;
        let (moment, id) = (event.moment(*runtime), event.session());
        if moment == HookMoment::Start {
            // Those that are left over must not take all the time.
            self.close_crashed(watchdog.limit() / 4)?;
        }
        let named = event.transcript_path.clone().filter(|path| !path.as_os_str().is_empty());
        let Some(path) = named.or_else(|| find_session(*runtime, homes, id)) else {
            // Codex has no file before the first answer.
            return Ok(None);
        };
        let directory = event.directory().unwrap_or(Path::new("/"));
        let told = event.directory().filter(|_| runtime.leaves_out_directory());
        let told = told.and_then(Path::to_str).map(str::to_owned);
        let settings = ImportSettings { directory: told, ..(*settings).clone() };
        let file = SessionFile::of_runtime(*runtime, &path, &settings);
        match recognise(&file.path, &file.format) {
            // Runtimes begin it with the first answer.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Ok(Recognition::Session) => {}
            Ok(Recognition::Nothing) => return Ok(None),
            Ok(Recognition::Other) => {
                // Cursor calls the hooks of Claude Code too, and says that it is Cursor.
                let is_its =
                    |other: &Runtime| recognise(&file.path, &other.format()).is_ok_and(Recognition::is_session);
                let teller = event.cursor_version.as_ref().and_then(|_| Runtime::hooked().find(is_its));
                let Some(runtime) = teller else {
                    return Err(Error::NotATranscript { path: file.path, runtime: *runtime });
                };
                let settings = ImportSettings { runtime: runtime.as_str().to_owned(), ..settings };
                return self.take_event(event, &HookCaller { runtime, settings: &settings, ..caller.clone() });
            }
            Err(source) => return Err(Error::Unreadable { path: file.path, source }),
        }
        let agent_file = event.agent_file(&file.path);
        let agent_file = agent_file.filter(|file| !recognise(file, &runtime.format()).is_ok_and(Recognition::is_other));
        let of = Sighting { id, file: &file, directory };
        let ends_turn = runtime.hooks().is_some_and(|hooks| hooks.rests_after == event.hook_event_name);
        let note = |session: &mut LiveSession| {
            session.turns = session.turns.saturating_add(u32::from(ends_turn));
            session.agent = agent.clone().or(session.agent.take());
            session.event.clone_from(&event.hook_event_name);
            note_calls(session, event, moment, agent_file.as_deref());
        };
        let reason = match moment {
            HookMoment::Question | HookMoment::Call => {
                self.hear(&of, note)?;
                return Ok(None);
            }
            HookMoment::Start => {
                let session = self.hear(&of, note)?;
                if session.captured == 0 && self.spool.waiting() == 0 {
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
        let session = self.peek(&of, note);
        // Whoever captures the next time takes in what is left now; so does the end of the session, whoever tells of it.
        if matches!(moment, HookMoment::Checkpoint(_)) && !every.is_due(reason.trigger, uncaptured(&session)) {
            self.hear(&of, note)?;
            return Ok(None);
        }
        // Claude Code sums up by an agent that has no file.
        let is_written = agent_file.as_ref().is_none_or(|file| file.exists());
        if let Some(text) = event.awaited(*runtime).filter(|_| is_written) {
            Self::wait_for(&session, agent_file.as_deref(), &text, FLUSH_LIMIT);
        }
        let recorded = self.record(&session, &reason, Deadline::OrEnd(watchdog.clone()))?;
        if moment == HookMoment::End {
            self.strike(of.id)?;
        } else {
            let kept = match &recorded {
                Recorded::Stored { kept, .. } => kept.clone(),
                Recorded::Spooled { .. } => KeptSession::default(),
            };
            let note_all = |session: &mut LiveSession| {
                note(session);
                (session.turns, session.captured_at) = (0, Some(session.heard_at));
                kept.tell(session);
            };
            self.hear(&of, note_all)?;
        }
        Ok(Some(recorded))
    }
}

/// Returns what was not captured of a session when it was heard of.
fn uncaptured(session: &LiveSession) -> Uncaptured {
    Uncaptured { turns: session.turns, since: session.captured_at.map(|at| elapsed(at, session.heard_at)) }
}

/// Notes which calls of tools are under way after an event.
fn note_calls(session: &mut LiveSession, event: &HookInput, moment: HookMoment, agent_file: Option<&Path>) {
    let hooks = Runtime::named(&session.file.settings.runtime).and_then(Runtime::hooks);
    let is_agent = |tool: &str| hooks.is_some_and(|hooks| hooks.agent_tools.contains(&tool));
    if let Some(file) = agent_file.filter(|file| file.exists()) {
        session.agents.entry(file.to_owned()).or_insert(0);
    }
    match (moment, &event.tool_use_id) {
        (HookMoment::Call, Some(id)) => {
            let starts_agent = event.tool_name.as_deref().is_some_and(is_agent);
            session.calls.push(OpenCall { id: id.clone(), file: agent_file.map(Path::to_owned), starts_agent });
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
