//! Channels: one ordered log for many agents.

mod append;
mod follow;
mod handle;
mod metrics;
mod read;
mod state;
mod turns;

pub use follow::Following;
pub use handle::{Channel, Channels};
pub use read::MessagePage;
pub use turns::SeenBy;

pub(crate) use follow::ChannelNews;
