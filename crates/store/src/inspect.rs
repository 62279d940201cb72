//! A look at the place of a store before anybody relies on it.

use contexture_core::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Error, Location, Result, postgres, sqlite, stats::Footprint};

/// What a look found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "engine", rename_all = "kebab-case")]
pub enum Inspection {
    /// A directory of this machine.
    Sqlite(StoreCondition),
    /// A schema of a PostgreSQL database.
    Postgres(Box<Database>),
}

/// What every place tells.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StoreCondition {
    /// Whether there is a store.
    pub store: Presence,
    /// What may be done there.
    pub access: Access,
}

/// Whether there is a store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "state", rename_all = "kebab-case")]
pub enum Presence {
    /// There is one.
    Present(Measures),
    /// There is none. Whoever opens it first makes one, if access allows it.
    Absent,
}

/// What a store tells of itself at a glance.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Measures {
    /// Version of its tables.
    pub version: u64,
    /// Version of the tables that this program makes. It brings an older store there when it opens it.
    pub known_version: u64,
    /// How many tenants it has.
    pub spaces: u64,
    /// What it takes on disk.
    #[serde(flatten)]
    pub footprint: Footprint,
}

/// What may be done at a place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "mode", rename_all = "kebab-case")]
pub enum Access {
    /// Everything.
    ReadWrite,
    /// Reading, if there is a store.
    ReadOnly(Obstacle),
}

/// Why a place cannot be written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "because", rename_all = "kebab-case")]
pub enum Obstacle {
    /// The files or their directory cannot be changed.
    Files,
    /// The server follows another one.
    Standby,
    /// The user's transactions are read-only unless they ask not to be.
    ReadOnlyTransactions,
    /// The user has too few rights.
    Rights {
        /// The statement that gives them.
        grant: String,
    },
}

/// What a PostgreSQL server tells.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Database {
    /// What every place tells.
    #[serde(flatten)]
    pub place: StoreCondition,
    /// The server's address, as the URL has it.
    pub server: String,
    /// The server's version, in its own words.
    pub server_version: String,
    /// The server's address as it sees itself. Over a local socket it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_address: Option<String>,
    /// Whom the server takes the user for.
    pub user: String,
    /// The database.
    pub database: String,
    /// The schema. Documents have a field of that name already, about themselves.
    #[serde(rename = "database_schema")]
    pub schema: String,
    /// How the connection is encrypted, if it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub encryption: Option<Encryption>,
    /// What the server does to keep what it acknowledged.
    pub durability: Durability,
    /// How many connections there may be and are.
    pub connections: Connections,
    /// How long things take.
    pub timings: Timings,
    /// How far the server's clock is ahead of the one here; less than nothing when it is behind.
    pub clock_ahead_micros: i64,
}

/// How a connection is encrypted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Encryption {
    /// The protocol, such as `TLSv1.3`.
    pub protocol: String,
    /// The cipher.
    pub cipher: String,
    /// Whether the server proved its name.
    pub verified: bool,
}

/// What a server does to keep what it acknowledged, by the names of its settings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Durability {
    /// Whether it waits for the disk. Without that, a crash of its machine may destroy everything.
    pub fsync: bool,
    /// Whether a page that a crash left half written can be restored. Without that, a crash may damage the store.
    pub full_page_writes: bool,
    /// What a commit waits for, as the server would have it. Where that is `off`, sessions of a store turn it on.
    pub synchronous_commit: String,
    /// Whether the server notices when the disk gives back something else than it was given.
    pub data_checksums: bool,
}

/// How many connections there may be and are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Connections {
    /// How many the server takes.
    pub max: u64,
    /// How many it has, this one included.
    pub used: u64,
}

/// How long things take, in microseconds: the middle one of a few tries.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Timings {
    /// To connect, tried once.
    pub connect_micros: u64,
    /// To be answered.
    pub round_trip_micros: u64,
    /// To commit durably, the way there and back included. Not known where nothing can be written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit_micros: Option<u64>,
}

impl Inspection {
    /// Returns what every place tells.
    pub fn place(&self) -> &StoreCondition {
        match self {
            Self::Sqlite(place) => place,
            Self::Postgres(database) => &database.place,
        }
    }
}

impl StoreCondition {
    /// Tells whether a store is there or can be made.
    pub fn is_usable(&self) -> bool {
        matches!(self.store, Presence::Present(_)) || self.access == Access::ReadWrite
    }
}

/// Looks at the place of a store. Nothing is made or changed there.
///
/// Fails as opening would when what is there cannot even be read. `clock` is compared with that of a server.
pub async fn look(location: &Location, clock: &(dyn Fn() -> Timestamp + Send + Sync)) -> Result<Inspection> {
    match location {
        Location::Directory(directory) => {
            let directory = directory.clone();
            let looked = tokio::task::spawn_blocking(move || sqlite::inspect::look(&directory)).await;
            Ok(Inspection::Sqlite(looked.map_err(|_| Error::Closed)??))
        }
        Location::Postgres(url) => Ok(Inspection::Postgres(Box::new(postgres::inspect::look(url, clock).await?))),
    }
}
