//! PostgreSQL's programs, which the tests start servers from.

use std::process::{Command, Stdio};

use crate::run;

const FIND: &str = "ls /usr/lib/postgresql/*/bin/initdb || command -v initdb";

/// The package makes a database cluster of its own and starts it, unless it is told not to while it is installed.
const INSTALL: &str = "\
set -e
export DEBIAN_FRONTEND=noninteractive
settings=/etc/postgresql-common/createcluster.d/contexture-tests.conf
mkdir -p \"${settings%/*}\"
trap 'rm -f \"$settings\"' EXIT
echo 'create_main_cluster = false' >\"$settings\"
apt-get update
apt-get install --yes --no-install-recommends postgresql";

/// Installs PostgreSQL's server if it is not there.
pub(crate) fn install() -> Result<(), String> {
    if succeeds(FIND) {
        return Ok(());
    }
    if !succeeds("command -v apt-get") {
        return Err("the tests need PostgreSQL 15 or newer: install its server, with initdb on the path".to_owned());
    }
    eprintln!("Installing PostgreSQL's server for the tests.");
    if succeeds("test \"$(id -u)\" = 0") {
        run(Command::new("sh").args(["-c", INSTALL]))
    } else {
        run(Command::new("sudo").args(["sh", "-c", INSTALL]))
    }
}

/// Tells whether a script of the shell ends well.
pub(crate) fn succeeds(script: &str) -> bool {
    let status = Command::new("sh").args(["-c", script]).stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}
