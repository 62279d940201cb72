//! The newest released clients: what the pinned ones are compared with.
//!
//! Which they are is pinned too, so a release changes nothing until somebody looks. The programs carry nearly all that
//! they need, so each package is unpacked alone.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::{
    clients::{PINNED, has_npm, read, target_directory, write},
    run,
};

/// Which packages, at which versions.
const LOCK: &str = "crates/testkit/clients-newest/packages.lock";
const HEADING: &str = "\
# The newest released clients, as `cargo xtask clients --refresh` found them: directory, package and digest.
";

/// Tells in which directory the program for a platform is, and which package holds it.
type ProgramPackage = fn(platform: &str, version: &str) -> (String, String);

/// A client's package.
struct Released {
    package: &'static str,
    /// Where the programs are, unless there is one for all platforms.
    programs: Option<ProgramPackage>,
    /// A package that the program does not carry.
    needs: Option<&'static str>,
}

const CLIENTS: [Released; 4] = [
    Released {
        package: "@anthropic-ai/claude-code",
        programs: Some(|platform, version| {
            let package = format!("@anthropic-ai/claude-code-{platform}");
            (package.clone(), format!("{package}@{version}"))
        }),
        needs: None,
    },
    Released {
        package: "@openai/codex",
        programs: Some(|platform, version| {
            (format!("@openai/codex-{platform}"), format!("@openai/codex@{version}-{platform}"))
        }),
        needs: None,
    },
    Released { package: "@google/gemini-cli", programs: None, needs: None },
    Released { package: "@earendil-works/pi-coding-agent", programs: None, needs: Some("jiti") },
];

const PLATFORMS: [&str; 4] = ["linux-x64", "linux-arm64", "darwin-x64", "darwin-arm64"];

/// A line of the lock.
struct LockedPackage<'l> {
    directory: &'l str,
    package: &'l str,
    digest: &'l str,
}

/// Looks which versions are the newest and writes them into the lock.
pub(crate) fn refresh() -> Result<(), String> {
    let mut lines = vec![HEADING.to_owned()];
    for Released { package, programs, needs } in CLIENTS {
        let version = ask(package, "version")?;
        let mut packages = vec![(package.to_owned(), format!("{package}@{version}"))];
        packages.extend(programs.iter().flat_map(|program| PLATFORMS.map(|platform| program(platform, &version))));
        if let Some(needed) = needs {
            let version = ask(&format!("{package}@{version}"), &format!("dependencies.{needed}"))?;
            packages.push((needed.to_owned(), format!("{needed}@{version}")));
        }
        for (directory, package) in packages {
            let digest = ask(&package, "dist.integrity")?;
            lines.push(format!("{directory} {package} {digest}\n"));
        }
        eprintln!("{package} {version}");
    }
    write(Path::new(LOCK), lines.concat().as_bytes())
}

/// Installs the clients beside the pinned ones, unless those versions are there already.
///
/// Where they cannot be had it says so and does nothing; the tests then skip what needs them.
pub(crate) fn install() -> Result<(), String> {
    let place = target_directory()?.join("clients-newest");
    let lock = read(Path::new(LOCK))?;
    let installed = place.join("installed.lock");
    if fs::read(&installed).is_ok_and(|installed| installed == lock) || !has_npm() {
        return Ok(());
    }
    if place.exists() {
        fs::remove_dir_all(&place).map_err(|error| format!("cannot remove {}: {error}", place.display()))?;
    }
    eprintln!("Installing the newest agent clients for the tests in {}.", place.display());
    let text = String::from_utf8(lock.clone()).map_err(|error| format!("{LOCK}: {error}"))?;
    if let Err(failure) = fetch(&place, &text) {
        eprintln!("WARNING: the newest agent clients are not there, so only the pinned ones are tested: {failure}");
        return Ok(());
    }
    write(&installed, &lock)
}

fn fetch(place: &Path, lock: &str) -> Result<(), String> {
    let pinned = String::from_utf8_lossy(&read(Path::new(PINNED))?).into_owned();
    for locked in lock.lines().filter(|line| !line.starts_with('#')) {
        let LockedPackage { directory, package, digest } = LockedPackage::of(locked)?;
        let target = place.join("node_modules").join(directory);
        let is_other = PLATFORMS.iter().any(|platform| directory.ends_with(platform) && *platform != this_platform());
        if is_other {
            continue;
        }
        if pinned.contains(digest) {
            let same = target_directory()?.join("clients/node_modules").join(directory);
            link(&same, &target)?;
            continue;
        }
        unpack(package, digest, &target)?;
    }
    Ok(())
}

impl<'l> LockedPackage<'l> {
    fn of(line: &'l str) -> Result<Self, String> {
        let mut words = line.split(' ');
        match (words.next(), words.next(), words.next(), words.next()) {
            (Some(directory), Some(package), Some(digest), None) => Ok(Self { directory, package, digest }),
            _ => Err(format!("{LOCK}: {line:?} is no directory, package and digest")),
        }
    }
}

fn this_platform() -> String {
    let system = if cfg!(target_os = "macos") { "darwin" } else { "linux" };
    let processor = if cfg!(target_arch = "aarch64") { "arm64" } else { "x64" };
    format!("{system}-{processor}")
}

/// A package that is pinned at the same version need not be there twice.
fn link(same: &Path, target: &Path) -> Result<(), String> {
    let parent = target.parent().unwrap_or(target);
    fs::create_dir_all(parent)
        .and_then(|()| std::os::unix::fs::symlink(same, target))
        .map_err(|error| format!("cannot link {} to {}: {error}", target.display(), same.display()))
}

/// Puts what is in a package into a directory.
fn unpack(package: &str, digest: &str, target: &Path) -> Result<(), String> {
    fs::create_dir_all(target).map_err(|error| format!("cannot create {}: {error}", target.display()))?;
    let mut pack = Command::new("npm");
    pack.args(["pack", package, "--json", "--ignore-scripts", "--loglevel=error", "--pack-destination"]).arg(target);
    let packed = pack.stderr(Stdio::inherit()).output().map_err(|error| format!("{pack:?}: {error}"))?;
    let told = String::from_utf8_lossy(&packed.stdout);
    if !packed.status.success() {
        return Err(format!("{pack:?} ended with {}", packed.status));
    }
    if !told.contains(digest) {
        return Err(format!("{package} is not what it was when {LOCK} was written"));
    }
    let archive = archive_in(target)?;
    let mut tar = Command::new("tar");
    run(tar.arg("-xzf").arg(&archive).arg("--strip-components=1").arg("-C").arg(target))?;
    fs::remove_file(&archive).map_err(|error| format!("cannot remove {}: {error}", archive.display()))
}

fn archive_in(directory: &Path) -> Result<PathBuf, String> {
    let entries = fs::read_dir(directory).map_err(|error| format!("cannot list {}: {error}", directory.display()))?;
    let mut paths = entries.flatten().map(|entry| entry.path());
    let archive = paths.find(|path| path.extension().is_some_and(|extension| extension == "tgz"));
    archive.ok_or_else(|| format!("npm has packed nothing into {}", directory.display()))
}

/// Asks npm's registry for a field of a package.
fn ask(package: &str, field: &str) -> Result<String, String> {
    let mut npm = Command::new("npm");
    npm.args(["view", package, field, "--loglevel=error"]).stderr(Stdio::inherit());
    let answer = npm.output().map_err(|error| format!("{npm:?}: {error}"))?;
    let text = String::from_utf8_lossy(&answer.stdout).trim().to_owned();
    if !answer.status.success() || text.is_empty() || text.contains(char::is_whitespace) {
        return Err(format!("{npm:?} ended with {} and said {text:?}", answer.status));
    }
    Ok(text)
}
