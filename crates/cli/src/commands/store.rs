//! `ctx store`: the store itself.

pub(super) mod check;

use clap::{Args, Subcommand};
use contexture::{Location, wire::StorePath};

use crate::{
    error::{Error, Result},
    invocation::Invocation,
    output::{Output, Shape},
};
use check::Check;

macro_rules! examples {
    () => {
        "\
Examples:
  ctx store path
  du -sh \"$(ctx store path)\"
  ctx store check
  ctx store check postgres://ada@db.example/work
  export CTX_STORE='postgres://ada@db.example/work?schema=agents&sslmode=verify-full'
      makes a store on PostgreSQL the one that every command uses"
    };
}

const MANUAL: &str = concat!(
    "\
Stores on PostgreSQL:
  postgres://USER@HOST[:PORT]/DATABASE[?SETTING=VALUE[&SETTING=VALUE]...]

  schema=NAME              holds the store (default: contexture)
  sslmode=MODE             disable, prefer, require or verify-full
                           (default: verify-full; prefer for a server of this machine)
  sslrootcert=FILE         vouches for the server's name (default: whom the system trusts)
  connect_timeout=SECONDS  how long the server may take to answer (default: 10)
  retry=SECONDS            how long a connection that was lost is tried again (default: 60)

  service=NAME             has the rest from the service file: postgres://?service=NAME

  In names and passwords, @ : / ? and % are written %40 %3A %2F %3F and %25.

Where a password can be kept, in files of mode 0600:
  ~/.config/contexture/config.toml
      store = \"postgres://USER:PASSWORD@HOST/DATABASE\", the store of every command that is told of none
  ~/.pgpass, or what PGPASSFILE names
      HOST:PORT:DATABASE:USER:PASSWORD, a line each
  ~/.pg_service.conf, or what PGSERVICEFILE names
      [NAME] and lines like host=HOST, dbname=DATABASE, user=USER and password=PASSWORD, for service=NAME or PGSERVICE
  PGPASSWORD, and an address with a password in CTX_STORE or --store, count for one command and are kept nowhere.
  Others on the machine can see a command line, and with it the password in --store.

",
    examples!()
);

/// Tells about the store itself
///
/// A store is a directory of this machine, or a schema of a PostgreSQL database that many machines share. It is made
/// by the first command that uses it.
#[derive(Debug, Args)]
#[command(after_help = examples!(), after_long_help = MANUAL)]
pub(crate) struct Store {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Prints where the store is, or would be
    Path,
    Check(Check),
}

impl Store {
    pub(crate) async fn run(self, invocation: &Invocation, output: &mut Output) -> Result<()> {
        match self.action {
            Action::Path => path(&invocation.location()?, output),
            Action::Check(command) => command.run(invocation, output).await,
        }
    }
}

fn path(location: &Location, output: &mut Output) -> Result<()> {
    if output.shape() == Shape::Json {
        return output.document(StorePath { path: location.to_string() });
    }
    let Location::Directory(path) = location else {
        return output.line(location);
    };
    // The bytes of the path, whatever encoding they are in, so that a script can use them.
    let bytes = path.as_os_str().as_encoded_bytes();
    output.data().write_all(bytes).and_then(|()| output.data().write_all(b"\n")).map_err(Error::Stdout)
}
