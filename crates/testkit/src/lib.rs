//! Test-only: clocks, builders, stores under test, the conformance suite, a naive model, agent clients.
//!
//! Everything here panics when it cannot do what a test asks of it.

mod backend;
mod clock;
mod entropy;
mod harness;
mod json_schema;
mod numbers;
mod runtime;
mod sqlite;

mod draft;
mod observe;
mod verify;

pub mod clients;
pub mod conformance;
pub mod fuzzing;
pub mod model;
pub mod model_server;
pub mod postgres;
pub mod requests;

pub use backend::{Backend, EngineColumn};
pub use clock::TestClock;
pub use draft::{Draft, head, instant, noise, say, spoken, text, write};
pub use entropy::known_secrets;
pub use harness::Harness;
pub use json_schema::schema_violation;
pub use numbers::Numbers;
pub use observe::{Observed, artifact, exported, heads, journal, materialized, observe, stored, walked};
pub use runtime::block_on;
pub use sqlite::{LoneSqliteBackend, SqliteBackend};
pub use verify::{assert_sound, assert_whole};
