//! Live capture: what hooks, wrappers, whoever asks for the current context and whoever checks all of it share.

mod bound_session;
mod current;
mod declared_session;
mod flush;
mod hook;
mod hook_event;
mod hook_seen;
mod log;
pub(crate) mod process;
mod recorder;
mod session_lookup;
mod watchdog;

pub use self::{
    bound_session::BoundSession,
    current::{CurrentRequest, current},
    declared_session::DeclaredSession,
    hook::HookCaller,
    hook_event::HookInput,
    hook_seen::HookSeen,
    log::{Trouble, TroubleLog},
    process::{nearest_agent, own_process},
    recorder::{Deadline, KeptSession, Recorded, Recorder, Sighting},
    session_lookup::SessionLookup,
    watchdog::Watchdog,
};
