//! `ctx store`: the store itself.

use clap::{Args, Subcommand};
use contexture::Location;
use serde::Serialize;

use crate::{
    error::{Error, Result},
    invocation::Invocation,
    output::{Output, Shape},
};

const EXAMPLES: &str = "\
Examples:
  ctx store path
  du -sh \"$(ctx store path)\"";

/// Tells about the store itself
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Store {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Prints where the store is, or would be
    Path,
}

/// Where the store is, as `--json` tells it.
#[derive(Debug, Serialize)]
struct Place {
    path: String,
}

impl Store {
    pub(crate) fn run(self, invocation: &Invocation, output: &mut Output) -> Result<()> {
        let Action::Path = self.action;
        let location = invocation.location()?;
        if output.shape() == Shape::Json {
            return output.document(Place { path: location.to_string() });
        }
        let Location::Directory(path) = location;
        // The bytes of the path, whatever encoding they are in, so that a script can use them.
        let bytes = path.as_os_str().as_encoded_bytes();
        output.data().write_all(bytes).and_then(|()| output.data().write_all(b"\n")).map_err(Error::Stdout)
    }
}
