//! The scanners of others that the detector of secrets is compared with.

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
};

use crate::{clients::target_directory, run};

/// Which scanners, at which versions.
const PACKAGES: [&str; 2] = ["detect-secrets==1.5.0", "kingfisher-bin==2.14.0"];

/// Installs the scanners where the tests look for them, unless those versions are there already.
///
/// Without Python or a network it says so and does nothing; the tests then skip the comparison.
pub(crate) fn install() -> Result<(), String> {
    let place = target_directory()?.join("oracles");
    let installed = place.join("installed");
    let wanted = PACKAGES.join("\n");
    if fs::read_to_string(&installed).is_ok_and(|installed| installed == wanted) {
        return Ok(());
    }
    let status =
        Command::new("python3").args(["-m", "venv"]).arg(&place).stdout(Stdio::null()).stderr(Stdio::null()).status();
    if !status.is_ok_and(|status| status.success()) {
        eprintln!("WARNING: there is no python3 with venv, so secrets are not compared with other scanners.");
        return Ok(());
    }
    if let Err(failure) = fetch(&place) {
        eprintln!("WARNING: secrets are not compared with other scanners: {failure}");
        return Ok(());
    }
    fs::write(&installed, wanted).map_err(|error| format!("cannot write {}: {error}", installed.display()))
}

fn fetch(place: &Path) -> Result<(), String> {
    let mut pip = Command::new(place.join("bin/pip"));
    run(pip.args(["install", "--quiet", "--disable-pip-version-check"]).args(PACKAGES))
}
