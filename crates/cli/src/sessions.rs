//! What `ctx import`, `ctx doctor` and `ctx watch` share: the sessions that somebody asks for, and telling what became of
//! those that were left behind.

use std::io;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use contexture::{
    Contexture,
    core::Format,
    formats,
    wire::{Drained, SkippedFile},
};
use contexture_capture::{
    Capture, ImportedFile, RescuedSessions, Runtime, SessionCandidate, SkipReason, SkippedSession, WantedSessions,
};

use crate::{
    environment::Environment,
    error::Result,
    invocation::Invocation,
    output::{self, Output},
};

/// Accepts the names of runtimes and formats.
pub(crate) fn runtime_or_format() -> impl TypedValueParser<Value = WantedSessions> {
    let formats = formats::known().iter().map(|known| known.name);
    let readable = formats.filter(|name| Format::new(*name).is_ok_and(|format| formats::codec(&format).is_some()));
    let names: Vec<&'static str> = runtimes().chain(readable).collect();
    PossibleValuesParser::new(names).map(|name| WantedSessions::named(&name))
}

/// Accepts the names of runtimes.
pub(crate) fn runtime() -> impl TypedValueParser<Value = WantedSessions> {
    PossibleValuesParser::new(runtimes()).map(|name| WantedSessions::named(&name))
}

fn runtimes() -> impl Iterator<Item = &'static str> {
    Runtime::ALL.iter().map(|runtime| runtime.as_str())
}

/// Takes in files. Returns what became of each, in their order. Progress is told in bytes of all of them.
pub(crate) async fn take_in(
    engine: &Contexture,
    environment: &Environment,
    candidates: &[SessionCandidate],
    progress: &(dyn Fn(u64) + Sync),
) -> Result<Vec<io::Result<ImportedFile>>> {
    Ok(Capture::new(engine).import_found(candidates, &environment.session_owner()?, progress).await?)
}

/// Tells of a file that was left out, with the flag that left it out.
pub(crate) fn left_out(skipped: &SkippedSession) -> SkippedFile {
    match &skipped.reason {
        SkipReason::Unwanted { found, wanted } => SkippedFile {
            path: skipped.path.clone(),
            reason: format!("it is {found}, and --runtime asks for {wanted}"),
        },
        SkipReason::Unreadable(_) | SkipReason::NoSession(_) => skipped.into(),
    }
}

/// Tells whether something was left behind.
pub(crate) fn is_rescue_needed(invocation: &Invocation) -> Result<bool> {
    Ok(invocation.recorder_if_any()?.is_some_and(|recorder| recorder.is_rescue_needed()))
}

/// Takes in what waits in the spool and the rest of the sessions whose agents are gone.
pub(crate) async fn rescue(engine: &Contexture, invocation: &Invocation) -> Result<RescuedSessions> {
    match invocation.recorder_if_any()? {
        Some(recorder) => Ok(recorder.rescue(engine).await?),
        None => Ok(RescuedSessions::default()),
    }
}

/// Tells a person what was left behind and is in order now, if there was anything.
pub(crate) fn tell_rescued(rescued: RescuedSessions, output: &mut Output) {
    let RescuedSessions { spool: Drained { taken, kept }, closed } = rescued;
    if taken > 0 {
        output.status(format_args!("Took in {} from the spool.", entries(taken)));
    }
    if kept > 0 {
        output.status(format_args!(
            "Kept {} of the spool aside, because their sessions were rewritten; `ctx doctor` says where.",
            entries(kept)
        ));
    }
    if closed > 0 {
        let sessions = output::counted(closed, "session");
        output.status(format_args!("Closed {sessions} whose agent had gone without a word."));
    }
}

fn entries(number: u64) -> String {
    if number == 1 { "1 entry".to_owned() } else { format!("{} entries", output::count(number)) }
}
