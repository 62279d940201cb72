//! The parts of `ctx run`: a program is run as it is, and what it says is captured beside it.

mod desk;
mod rhythm;
mod scribe;
mod socket;
mod tap;
mod terminal;
mod wrapper;

pub(crate) use self::{
    rhythm::{Every, Rhythm},
    scribe::{Made, Missing, Plan, Resumed, Scribe, Started},
    socket::{Answer, Socket, ask},
    tap::Tap,
    wrapper::{Ended, Outlet, Wrapper},
};
