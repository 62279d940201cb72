//! tmux, the terminal that the tests of agents' screens look at.

use std::process::Command;

use crate::{postgres::succeeds, run};

const INSTALL: &str = "\
export DEBIAN_FRONTEND=noninteractive
apt-get install --yes --no-install-recommends tmux || { apt-get update && apt-get install --yes --no-install-recommends tmux; }";

/// Installs tmux if it is not there. Where it cannot be had it says so; the tests then skip what needs it.
pub(crate) fn install() {
    if succeeds("command -v tmux") {
        return;
    }
    eprintln!("Installing tmux for the tests.");
    let words: &[&str] = if succeeds("test \"$(id -u)\" = 0") { &["sh", "-c"] } else { &["sudo", "sh", "-c"] };
    if let Err(failure) = run(Command::new(words[0]).args(&words[1..]).arg(INSTALL)) {
        eprintln!("WARNING: the screens of agents are not tested: {failure}");
    }
}
