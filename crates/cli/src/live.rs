//! Live capture: what hooks, the wrapper, `ctx current` and `ctx doctor` share.

mod bound;
mod event;
mod fired;
mod flush;
mod log;
mod process;
mod recorder;
pub(crate) mod run;

pub(crate) use self::{
    bound::Bound,
    event::{Event, Moment},
    fired::Fired,
    log::{Log, Trouble},
    process::{nearest_agent, own_process},
    recorder::{Recorded, Recorder, Sighting},
};
