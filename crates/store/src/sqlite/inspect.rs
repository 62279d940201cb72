//! A look at a directory that leaves no trace.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use super::{DATABASE_FILE, connection::SqliteConnection, footprint, schema};
use crate::{
    Error, Result,
    inspect::{Access, Measures, Obstacle, Presence, StoreCondition},
};

/// Looks at the store in a directory, or at where it would be made.
pub(crate) fn look(directory: &Path) -> Result<StoreCondition> {
    let open_error = |source| Error::Open { path: directory.to_owned(), source };
    let nearest = nearest(directory).map_err(open_error)?;
    let file = directory.join(DATABASE_FILE);
    let store = if file.try_exists().map_err(open_error)? { read(directory, &file)? } else { Presence::Absent };
    let access = match store {
        // Where nothing can be made, the system's own words say why.
        Presence::Absent => try_directory(&nearest).map(|()| Access::ReadWrite).map_err(open_error)?,
        Presence::Present(_) => match try_directory(directory).and_then(|()| try_file(&file)) {
            Ok(()) => Access::ReadWrite,
            Err(_) => Access::ReadOnly(Obstacle::Files),
        },
    };
    Ok(StoreCondition { store, access })
}

fn read(directory: &Path, file: &Path) -> Result<Presence> {
    let mut connection = SqliteConnection::open_to_look(file)?;
    match schema::version(&mut connection, directory, file)? {
        0 => Ok(Presence::Absent),
        version => Ok(Presence::Present(Measures {
            version: version as u64,
            known_version: schema::NEWEST as u64,
            spaces: connection.count("SELECT count(*) FROM spaces")?,
            footprint: footprint(file)?,
        })),
    }
}

/// Returns the directory, or the nearest one above it that exists.
fn nearest(directory: &Path) -> io::Result<PathBuf> {
    for place in directory.ancestors() {
        // What is above a relative path is the current directory.
        let place = if place.as_os_str().is_empty() { Path::new(".") } else { place };
        match fs::metadata(place) {
            Ok(found) if found.is_dir() => return Ok(place.to_owned()),
            Ok(_) => return Err(io::ErrorKind::NotADirectory.into()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::ErrorKind::NotFound.into())
}

/// Makes a file without a name, which goes away at once: the log needs room beside the database.
fn try_directory(directory: &Path) -> io::Result<()> {
    tempfile::tempfile_in(directory).map(drop)
}

fn try_file(file: &Path) -> io::Result<()> {
    fs::OpenOptions::new().write(true).open(file).map(drop)
}
