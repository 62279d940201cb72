//! `ctx store check`: can the store be used, and how well?

use std::ffi::OsString;

use clap::Args;
use contexture::{
    Contexture, Location,
    inspect::{
        Access, Connections, Database, Durability, Encryption, Inspection, Measures, Obstacle, Presence,
        StoreCondition, Timings,
    },
    private::{ExposedFile, Readers},
    wire::InspectedStore,
};

use crate::{
    commands::stats,
    error::{Error, Result},
    invocation::Invocation,
    output::{self, Output, Shape},
};

const EXAMPLES: &str = "\
Examples:
  ctx store check
  ctx store check postgres://ada@db.example/work
  ctx store check 'postgres://?service=team' --json";

/// Difference between two clocks that is worth a word, in microseconds.
const CLOCK_TOLERANCE: u64 = 1_000_000;

/// Says whether the store can be used, without making or changing anything
///
/// Of a directory: whether it can be written, how large the files in it are, and who else can read them. Of a PostgreSQL server: who it takes
/// you for, whether the way there is encrypted, what it does to keep what it acknowledged, and how fast it answers and
/// commits. To measure that, it is sent messages that go through its log and end up in no table.
///
/// Exits with 0 when the store can be read, even if it cannot be written.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Check {
    /// The place to look at [default: the store]
    #[arg(value_name = "URL")]
    place: Option<OsString>,
}

/// A name and what there is to say under it.
type Field = (&'static str, String);

impl Check {
    pub(crate) async fn run(self, invocation: &Invocation, output: &mut Output) -> Result<()> {
        let location = match &self.place {
            Some(place) => {
                invocation.warn_of_password("the URL", place, output);
                invocation.located("URL", place)?
            }
            None => invocation.location()?,
        };
        let inspection = Contexture::inspect(&location, &invocation.environment.clock()?).await?;
        match output.shape() {
            Shape::Json => {
                let (path, exposed) = (location.to_string(), location.exposed());
                output.document(InspectedStore { path, exposed, inspection: inspection.clone() })?;
            }
            Shape::Text => tell(&location, &inspection, output)?,
        }
        let place = inspection.place();
        match &place.access {
            Access::ReadOnly(obstacle) if !place.is_usable() => {
                Err(Error::NoStore { place: location, obstacle: obstacle.clone() })
            }
            Access::ReadWrite | Access::ReadOnly(_) => Ok(()),
        }
    }
}

/// Writes what was found as a table.
fn tell(location: &Location, inspection: &Inspection, output: &mut Output) -> Result<()> {
    let (fields, warnings) = match inspection {
        Inspection::Sqlite(place) => {
            let mut fields = vec![("directory", location.to_string())];
            fields.extend(of_place(place));
            let exposed = location.exposed().iter().map(describe_exposure).collect();
            (fields, exposed)
        }
        Inspection::Postgres(database) => {
            let warnings = warnings(&database.durability).into_iter().map(str::to_owned);
            (of_database(database), warnings.collect::<Vec<_>>())
        }
    };
    let strong = output.palette.strong;
    for (name, value) in fields {
        output.line(format_args!("{strong}{name:<12}{strong:#} {}", output::printable(&value)))?;
    }
    let error = output.palette.error;
    for warning in warnings {
        let warning = output::printable(&warning);
        output.line(format_args!("{error}{:<12}{error:#} {warning}", "warning"))?;
    }
    Ok(())
}

/// Returns what every engine tells.
fn of_place(place: &StoreCondition) -> Vec<Field> {
    let obstacle = match &place.access {
        Access::ReadWrite => None,
        Access::ReadOnly(obstacle) => Some(describe_obstacle(obstacle)),
    };
    match (&place.store, obstacle) {
        (Presence::Absent, None) => vec![("store", "none yet; the first command makes it".to_owned())],
        (Presence::Absent, Some(obstacle)) => vec![("store", format!("none, and none can be made: {obstacle}"))],
        (Presence::Present(measures), obstacle) => {
            let access = obstacle.map_or("reading and writing".to_owned(), |obstacle| format!("read-only: {obstacle}"));
            vec![("store", store(measures)), ("access", access), ("files", stats::files(&measures.footprint))]
        }
    }
}

/// Says what a store tells of itself.
pub(in crate::commands) fn store(measures: &Measures) -> String {
    let Measures { version, known_version, spaces, .. } = measures;
    let spaces = output::counted(*spaces, "space");
    if version < known_version {
        format!("{spaces}, schema version {version}; the next command brings it to {known_version}")
    } else {
        format!("{spaces}, schema version {version}")
    }
}

/// Says who can reach a file.
pub(in crate::commands) fn describe_exposure(file: &ExposedFile) -> String {
    let readers = match file.readers {
        Readers::Group => "its group",
        Readers::Everybody => "everybody on this machine",
    };
    format!("{} ({}) is open to {readers}; `ctx doctor --fix` closes it", file.path.display(), file.mode)
}

/// Says why a place cannot be written.
pub(in crate::commands) fn describe_obstacle(obstacle: &Obstacle) -> String {
    match obstacle {
        Obstacle::Files => "the files cannot be changed".to_owned(),
        Obstacle::Standby => "the server follows another one".to_owned(),
        Obstacle::ReadOnlyTransactions => "the server makes this user's transactions read-only".to_owned(),
        Obstacle::Rights { grant } => format!("this user needs `{grant}`"),
    }
}

fn of_database(database: &Database) -> Vec<Field> {
    let Database { server, server_address, server_version, user, .. } = database;
    let address = match server_address {
        Some(address) if address != server => format!("{server} ({address})"),
        Some(_) | None => server.clone(),
    };
    let mut fields = vec![
        ("server", format!("PostgreSQL {server_version} at {address}")),
        ("user", user.clone()),
        ("database", database.database.clone()),
        ("schema", database.schema.clone()),
        ("encryption", encryption(database.encryption.as_ref())),
    ];
    fields.extend(of_place(&database.place));
    fields.push(("durability", durability(&database.durability)));
    let Connections { used, max } = database.connections;
    fields.push(("connections", format!("{} of {} in use", output::count(used), output::count(max))));
    fields.push(("speed", speed(&database.timings)));
    fields.extend(clock(database.clock_ahead_micros).map(|difference| ("clock", difference)));
    fields
}

fn encryption(encryption: Option<&Encryption>) -> String {
    match encryption {
        None => "none".to_owned(),
        Some(Encryption { protocol, cipher, verified: true }) => {
            format!("{protocol} ({cipher}); the server proved its name")
        }
        Some(Encryption { protocol, cipher, verified: false }) => {
            format!("{protocol} ({cipher}); `sslmode=verify-full` would make the server prove its name")
        }
    }
}

fn durability(durability: &Durability) -> String {
    let word = |is_on| if is_on { "on" } else { "off" };
    let Durability { fsync, full_page_writes, synchronous_commit, data_checksums } = durability;
    let note = if synchronous_commit == "off" { " (ctx turns it on for itself)" } else { "" };
    format!(
        "fsync {}, full_page_writes {}, synchronous_commit {synchronous_commit}{note}, data_checksums {}",
        word(*fsync),
        word(*full_page_writes),
        word(*data_checksums)
    )
}

/// Says what endangers what the server has acknowledged.
pub(in crate::commands) fn warnings(durability: &Durability) -> Vec<&'static str> {
    let fsync = "fsync is off: if the server's machine crashes, everything may be lost";
    let pages = "full_page_writes is off: if the server's machine crashes, the store may be damaged";
    [(durability.fsync, fsync), (durability.full_page_writes, pages)]
        .into_iter()
        .filter_map(|(is_on, warning)| (!is_on).then_some(warning))
        .collect()
}

fn speed(timings: &Timings) -> String {
    let Timings { connect_micros, round_trip_micros, commit_micros } = timings;
    let (connect, answer) = (output::span(*connect_micros), output::span(*round_trip_micros));
    match commit_micros {
        Some(commit) => format!("connects in {connect}, answers in {answer}, commits in {}", output::span(*commit)),
        None => format!("connects in {connect}, answers in {answer}"),
    }
}

/// Returns how far the server's clock is from the one here, if that is far.
fn clock(ahead_micros: i64) -> Option<String> {
    let distance = ahead_micros.unsigned_abs();
    let side = if ahead_micros > 0 { "ahead of" } else { "behind" };
    (distance > CLOCK_TOLERANCE).then(|| format!("the server's is {} {side} the one here", output::span(distance)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_that_agree_within_a_second_are_not_worth_a_word() {
        assert_eq!([0, 1_000_000, -1_000_000].map(clock), [None, None, None]);
        assert_eq!(clock(1_000_001).unwrap(), "the server's is 1 second ahead of the one here");
        assert_eq!(clock(-7_300_000_000).unwrap(), "the server's is 2 hours behind the one here");
    }

    #[test]
    fn what_endangers_the_store_is_warned_of() {
        let count = |fsync, full_page_writes| {
            let synchronous_commit = "on".to_owned();
            warnings(&Durability { fsync, full_page_writes, synchronous_commit, data_checksums: false }).len()
        };
        assert_eq!([count(true, true), count(false, true), count(true, false), count(false, false)], [0, 1, 1, 2]);
    }
}
