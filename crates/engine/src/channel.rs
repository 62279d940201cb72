//! Channels: one ordered log for many agents.

mod append;
mod follow;
mod handle;
mod metrics;
mod read;
mod state;

pub use follow::Following;
pub use handle::{Channel, Channels};
pub use read::MessagePage;

pub(crate) use follow::ChannelNews;
