//! A naive model of the product, written without regard to how the store works.

mod body;
mod tree;
mod world;

pub use body::Body;
pub use tree::{Conversation, Node, Tree};
pub use world::{Seen, World, WorldRefusal};
