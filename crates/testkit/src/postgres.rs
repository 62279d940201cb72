//! PostgreSQL for tests: a private server, and a proxy that cuts its connections.

mod backend;
mod guard;
mod programs;
mod proxy;
mod server;

pub use backend::PostgresBackend;
pub use proxy::Proxy;
pub use server::{GUARDED_PASSWORD, PostgresServer, Shutdown};
