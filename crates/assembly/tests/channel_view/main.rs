//! What an agent is told of a channel.

mod laws;
mod phases;
mod roles;
mod room;
mod routing;
