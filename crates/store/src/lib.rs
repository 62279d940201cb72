//! Durable storage of Contexture.
//!
//! A [`Store`] runs jobs in transactions on one space; the modules below are the tables that such jobs work with.

mod durable_file;
mod error;
mod job;
mod json_text;
mod known;
mod location;
mod pool;
mod postgres;
mod reachable;
mod sql;
mod sqlite;
mod store;
pub mod withheld_text;

pub mod annotation;
pub mod artifact;
pub mod channel;
pub mod collect;
pub mod commit;
pub mod envelope;
pub mod event;
pub mod finding;
pub mod fsck;
pub mod head;
pub mod injection;
pub mod inspect;
pub mod journal;
pub mod missing;
pub mod private;
pub mod rendering;
pub mod request;
pub mod search;
pub mod secret_policy;
pub mod session;
pub mod source;
mod space;
pub mod spaces {
    //! The tenants of a store.
    pub use crate::space::{Space, list};
}
pub mod stats;
pub mod table;
pub mod token_count;

pub use durable_file::{DurableFile, FileAccess, NameTaken};
pub use error::{Cause, Error, Result};
pub use job::JobFn;
pub use json_text::{JsonText, JsonTextError};
pub use known::Foresight;
pub use location::{Location, LocationError};
pub use postgres::{AddressDefaults, Password, PasswordFile, PostgresService, PostgresUrl, UrlError};
pub use sql::{Disclosure, OpenSealed, Scope, Tx};
pub use store::{Erasure, Store};
