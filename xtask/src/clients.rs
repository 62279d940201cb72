//! The agent clients that the tests run.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::{newest_clients, run};

/// Which clients, at which versions.
const SOURCE: &str = "crates/testkit/clients";
/// The same with all that they need.
pub(crate) const PINNED: &str = "crates/testkit/clients/package-lock.json";

/// Installs the clients, or only writes down which the newest are.
pub(crate) fn run_task(arguments: &[String]) -> Result<(), String> {
    match arguments {
        [] => install(),
        [option] if option == "--refresh" => newest_clients::refresh().and_then(|()| install()),
        _ => Err(format!("`cargo xtask clients` takes `--refresh` or nothing, not {}", arguments.join(" "))),
    }
}

/// Installs the pinned clients and the newest ones.
pub(crate) fn install() -> Result<(), String> {
    install_pinned()?;
    newest_clients::install()
}

/// Installs the clients where the tests look for them, unless those versions are there already.
///
/// Without npm it says so and does nothing; the tests then skip what needs a client.
fn install_pinned() -> Result<(), String> {
    let place = target_directory()?.join("clients");
    let lock = read(Path::new(PINNED))?;
    let installed = place.join("installed.json");
    if fs::read(&installed).is_ok_and(|installed| installed == lock) {
        return Ok(());
    }
    if !has_npm() {
        eprintln!("WARNING: there is no npm, so the tests with real agent clients will be skipped.");
        return Ok(());
    }
    eprintln!("Installing agent clients for the tests: about 1.2 GB in {}.", place.display());
    fs::create_dir_all(&place).map_err(|error| format!("cannot create {}: {error}", place.display()))?;
    // What is there is no installation any more once npm has begun.
    if installed.exists() {
        fs::remove_file(&installed).map_err(|error| format!("cannot remove {}: {error}", installed.display()))?;
    }
    write(&place.join("package.json"), &read(&Path::new(SOURCE).join("package.json"))?)?;
    write(&place.join("package-lock.json"), &lock)?;
    // The packages' own scripts would compile what no test needs.
    let mut npm = Command::new("npm");
    npm.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]).current_dir(&place);
    run(&mut npm)?;
    write(&installed, &lock)
}

pub(crate) fn has_npm() -> bool {
    let status = Command::new("npm").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

/// Cargo marks the directory that it builds in, and this program was built there.
pub(crate) fn target_directory() -> Result<PathBuf, String> {
    let program = env::current_exe().map_err(|error| format!("cannot find this program: {error}"))?;
    let marked = program.ancestors().find(|directory| directory.join("CACHEDIR.TAG").exists());
    marked.map(Path::to_owned).ok_or_else(|| format!("{} was not built by cargo", program.display()))
}

pub(crate) fn read(path: &Path) -> Result<Vec<u8>, String> {
    fs::read(path).map_err(|error| format!("cannot read {}: {error}", path.display()))
}

pub(crate) fn write(path: &Path, content: &[u8]) -> Result<(), String> {
    fs::write(path, content).map_err(|error| format!("cannot write {}: {error}", path.display()))
}
